//! Sums whose bits do not depend on the number of threads.

use rayon::prelude::*;

use crate::cells::CHUNK;
use crate::real::Real;

/// Scalar product in double precision: chunks of a fixed size, added in order.
pub fn dot<R: Real>(a: &[R], b: &[R]) -> f64 {
    let chunks = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK));
    let sums: Vec<f64> = chunks
        .map(|(a, b)| {
            let mut lanes = [0.0; 8];
            let (a_blocks, b_blocks) = (a.chunks_exact(8), b.chunks_exact(8));
            let rest = a_blocks.remainder().iter().zip(b_blocks.remainder());
            let rest: f64 = rest.map(|(x, y)| x.wide() * y.wide()).sum();
            for (x, y) in a_blocks.zip(b_blocks) {
                for lane in 0..8 {
                    lanes[lane] += x[lane].wide() * y[lane].wide();
                }
            }
            lanes.iter().sum::<f64>() + rest
        })
        .collect();
    sums.iter().sum()
}

/// Sum and maximum of `value(i)` for `i` below `n`; the maximum of nothing is zero.
pub fn sum_and_max(n: usize, value: impl Fn(usize) -> f64 + Sync) -> (f64, f64) {
    let chunks: Vec<(f64, f64)> = (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(n);
            range.fold((0.0, 0.0), |(sum, max), i| {
                let value = value(i);
                // A NaN is kept as the maximum, so that it is noticed.
                let max = if value > max || value.is_nan() {
                    value
                } else {
                    max
                };
                (sum + value, max)
            })
        })
        .collect();
    chunks.iter().fold((0.0, 0.0), |(sum, max), chunk| {
        let max = if chunk.1 > max || chunk.1.is_nan() {
            chunk.1
        } else {
            max
        };
        (sum + chunk.0, max)
    })
}
