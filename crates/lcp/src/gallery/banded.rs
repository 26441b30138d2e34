//! Symmetric positive definite matrices with constant bands.

use super::{Instance, Random};
use crate::csr::Csr;

/// The smallest eigenvalue of a large matrix.
const SMALLEST_EIGENVALUE: f64 = 0.5;

/// `n` rows, `bands` bands on each side of the diagonal, each with one random value between -1 and 0, and a diagonal that
/// leaves a smallest eigenvalue of 0.5; a share of the entries of the solution is zero.
///
/// `A` is an M-matrix. [Erl13 sec. 7]
pub fn banded(n: usize, bands: usize, zeros: f64, random: &mut Random) -> Instance {
    let weights: Vec<f64> = (0..bands).map(|_| random.unit()).collect();
    // The eigenvalues of a matrix with constant bands lie above the smallest value of its symbol
    // `d - 2 sum_k w_k cos(k t)`, which is at t = 0, and come as close as one likes for large n.
    let diagonal = SMALLEST_EIGENVALUE + 2.0 * weights.iter().sum::<f64>();
    let (mut row_starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..n {
        for column in row.saturating_sub(bands)..(row + bands + 1).min(n) {
            columns.push(column as u32);
            values.push(match row.abs_diff(column) {
                0 => diagonal,
                distance => -weights[distance - 1],
            });
        }
        row_starts.push(columns.len());
    }
    let matrix = Csr::new(n, row_starts, columns, values).expect("bands are rows in order");
    Instance::with_zeros(matrix, zeros, random)
}
