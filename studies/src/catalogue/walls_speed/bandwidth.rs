//! Memory bandwidth.

use std::hint::black_box;
use std::time::Instant;

/// Numbers of an array: far more than any cache holds.
const LENGTH: usize = 1 << 24;
const TIMES: usize = 3;

/// GB/s of `a = b + 3 c` on one thread, at best: 24 bytes a number, as is usual to count.
pub fn triad() -> f64 {
    let b = vec![1.0_f64; LENGTH];
    let c = vec![2.0_f64; LENGTH];
    let mut a = vec![0.0_f64; LENGTH];
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let start = Instant::now();
        for ((a, b), c) in a.iter_mut().zip(&b).zip(&c) {
            *a = b + 3.0 * c;
        }
        black_box(&mut a);
        best = best.min(start.elapsed().as_secs_f64());
    }
    24.0 * LENGTH as f64 / best / 1e9
}
