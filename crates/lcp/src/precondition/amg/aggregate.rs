//! Aggregates of strongly coupled rows, and the transfer to them.

use crate::csr::Csr;
use crate::error::InputError;
use crate::hierarchy::Transfer;

/// A row in no aggregate: nothing is strongly coupled to it, and the smoother solves it alone.
pub(super) const ALONE: u32 = u32::MAX;
/// Sweeps that turn a constant into a vector that the matrix nearly annihilates.
const SWEEPS: usize = 4;
/// A diagonal with the weak couplings lumped into it that is smaller than this part of its own is not used.
const LUMPED: f64 = 0.1;

/// `sum_j |A_ij|` of every row.
pub(super) fn sums(matrix: &Csr) -> Vec<f64> {
    let sum = |row| matrix.row(row).1.iter().map(|value| value.abs()).sum();
    (0..matrix.rows()).map(sum).collect()
}

/// Divisors of a Jacobi sweep that converges for every positive definite matrix: the diagonal where it dominates its row,
/// three quarters of the sum of the row at least.
pub(super) fn divisors(matrix: &Csr) -> Vec<f64> {
    let of = |(row, sum): (usize, f64)| {
        let divisor = matrix.get(row, row).max(0.75 * sum);
        if divisor > 0.0 { divisor } else { 1.0 }
    };
    sums(matrix).into_iter().enumerate().map(of).collect()
}

/// A vector that the matrix nearly annihilates: what sweeps leave of another one.
pub(super) fn nearly_null(matrix: &Csr, divisors: &[f64], mut vector: Vec<f64>) -> Vec<f64> {
    for _ in 0..SWEEPS {
        let change = |row: usize| {
            let (columns, values) = matrix.row(row);
            let terms = columns.iter().zip(values);
            let y: f64 = terms.map(|(&j, value)| value * vector[j as usize]).sum();
            vector[row] - y / divisors[row]
        };
        vector = (0..vector.len()).map(change).collect();
    }
    vector
}

/// Whether a coupling is strong.
fn is_strong(value: f64, diagonals: f64, strength: f64) -> bool {
    value * value > strength * strength * diagonals.abs() && value != 0.0
}

/// The aggregate of each row, and the number of aggregates. Rows of an aggregate are connected by strong couplings.
pub(super) fn aggregates(matrix: &Csr, strength: f64) -> (Vec<u32>, usize) {
    let n = matrix.rows();
    let diagonal: Vec<f64> = (0..n).map(|row| matrix.get(row, row)).collect();
    let strong = |row: usize| {
        let (columns, values) = matrix.row(row);
        let diagonal = &diagonal;
        columns.iter().zip(values).filter_map(move |(&j, &value)| {
            let column = j as usize;
            let is = column != row && is_strong(value, diagonal[row] * diagonal[column], strength);
            is.then_some((column, value.abs()))
        })
    };
    let mut of = vec![ALONE; n];
    let mut count = 0;
    // Rows whose neighbours are all free take them.
    for row in 0..n {
        let mut any = false;
        if of[row] != ALONE
            || !strong(row).all(|(j, _)| {
                any = true;
                of[j] == ALONE
            })
            || !any
        {
            continue;
        }
        of[row] = count;
        for (j, _) in strong(row) {
            of[j] = count;
        }
        count += 1;
    }
    // The others join the neighbour they are coupled to most.
    let first = of.clone();
    for row in (0..n).filter(|&row| first[row] == ALONE) {
        let taken = strong(row).filter(|&(j, _)| first[j] != ALONE);
        let most = taken.reduce(|most, next| if next.1 > most.1 { next } else { most });
        if let Some((j, _)) = most {
            of[row] = first[j];
        }
    }
    // What is left has only neighbours that are left, too.
    for row in 0..n {
        if of[row] != ALONE || strong(row).next().is_none() {
            continue;
        }
        of[row] = count;
        for (j, _) in strong(row) {
            if of[j] == ALONE {
                of[j] = count;
            }
        }
        count += 1;
    }
    (of, count as usize)
}

/// The transfer to aggregates: the columns of `P` are the parts of a nearly null vector on them, each of length 1, and what a
/// Jacobi sweep over the strong couplings makes of them if they are smoothed. The lengths are the nearly null vector of the
/// coarse matrix.
pub(super) fn transfer(
    matrix: &Csr,
    (of, count): (&[u32], usize),
    null: &[f64],
    smoothed: Option<f64>,
) -> Result<(Transfer, Vec<f64>), InputError> {
    let n = matrix.rows();
    let mut lengths = vec![0.0; count];
    for (row, &aggregate) in of.iter().enumerate() {
        if aggregate != ALONE {
            lengths[aggregate as usize] += null[row] * null[row];
        }
    }
    for length in &mut lengths {
        *length = length.sqrt();
    }
    let tentative = |row: usize| match of[row] {
        ALONE => None,
        k if lengths[k as usize] > 0.0 => Some((k, null[row] / lengths[k as usize])),
        _ => None,
    };
    let mut entries = Vec::new();
    for row in 0..n {
        let own = tentative(row);
        let Some(strength) = smoothed else {
            entries.extend(own.map(|(k, weight)| (row as u32, k, weight)));
            continue;
        };
        // P = (I - w A_F) P_t, A_F without weak couplings, which count for the diagonal.
        let (columns, values) = matrix.row(row);
        let diagonal = matrix.get(row, row);
        let (mut lumped, mut others) = (diagonal, 0.0);
        let of_row = columns.iter().zip(values);
        let strong = |column: usize, value: f64| {
            is_strong(value, diagonal * matrix.get(column, column), strength)
        };
        for (&j, &value) in of_row.clone().filter(|(j, _)| **j as usize != row) {
            match strong(j as usize, value) {
                true => others += value.abs(),
                false => lumped += value,
            }
        }
        if lumped < LUMPED * diagonal {
            lumped = diagonal;
        }
        let sum = lumped + others;
        let weight = if sum > 0.0 { 4.0 / 3.0 / sum } else { 0.0 };
        entries.extend(own.map(|(k, value)| (row as u32, k, (1.0 - weight * lumped) * value)));
        for (&j, &value) in of_row.filter(|(j, _)| **j as usize != row) {
            if strong(j as usize, value)
                && let Some((k, of_column)) = tentative(j as usize)
            {
                entries.push((row as u32, k, -weight * value * of_column));
            }
        }
    }
    Ok((Transfer::new(n, count, entries, 1.0)?, lengths))
}
