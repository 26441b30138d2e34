//! Sums and norms of vectors, with the same bits for any number of threads.
//!
//! ```
//! use meniscus_lcp::reduce;
//!
//! assert_eq!(reduce::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
//! assert_eq!(reduce::largest(&[1.0, -5.0, 2.0]), 5.0);
//! assert!(reduce::largest(&[1.0, f64::NAN]).is_nan());
//! ```

use crate::split::fold;

/// Independent partial sums of a leaf: enough to keep the adders of one core busy.
const LANES: usize = 8;

/// `a'b`
///
/// # Panics
/// If the lengths differ.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(
        a.len(),
        b.len(),
        "the vectors of a dot product have different lengths"
    );
    fold((a, b), &|_, (a, b)| dot_leaf(a, b), &|low, high| low + high)
}

/// `a'a`
pub fn sum_of_squares(a: &[f64]) -> f64 {
    fold(a, &|_, a| dot_leaf(a, a), &|low, high| low + high)
}

/// `max |a_i|`, zero for an empty vector, NaN if any entry is NaN.
pub fn largest(a: &[f64]) -> f64 {
    fold(a, &|_, a| largest_leaf(a), &larger)
}

/// The larger of two magnitudes, NaN if either is: `f64::max` would lose it.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

fn dot_leaf(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sum_lanes(&lanes) + rest
}

/// Adds up lanes pairwise.
pub(crate) fn sum_lanes(lanes: &[f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5]))
        + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
}

fn largest_leaf(a: &[f64]) -> f64 {
    let mut largest = 0.0_f64;
    let mut nan = false;
    for &value in a {
        largest = largest.max(value.abs());
        nan |= value.is_nan();
    }
    if nan { f64::NAN } else { largest }
}
