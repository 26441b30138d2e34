//! Proofs for methods that find problems infeasible without a certificate.

use super::presolve::AsInner;
use super::scaling::{Scaled, Scaling};
use crate::certificate;
use crate::csr::Csr;
use crate::error::InputError;
use crate::methods::interior_point;
use crate::problem::BoxMlcp;
use crate::report::Observer;

/// Stored entries of a matrix up to which a linear programme is solved for a certificate.
const MOST_ENTRIES: usize = 300_000;

/// Whether a certificate was found, and verified, that a problem has no solution.
pub(super) fn is_proved(
    problem: &BoxMlcp<'_, Csr>,
    observer: &mut (impl Observer + ?Sized),
) -> bool {
    by_sums(problem)
        || (problem.matrix().nonzeros() <= MOST_ENTRIES
            && by_programme(problem, observer).unwrap_or(false))
}

/// By the sums of all rows: where rows that nothing holds are pulled away together, for example pressures without a free surface.
fn by_sums(problem: &BoxMlcp<'_, Csr>) -> bool {
    let n = problem.len();
    [1.0, -1.0].into_iter().any(|sign| {
        let fits = |i: usize| match sign > 0.0 {
            true => problem.upper()[i] == f64::INFINITY,
            false => problem.lower()[i] == f64::NEG_INFINITY,
        };
        (0..n).all(fits) && certificate::proves_infeasible(problem, &vec![sign; n])
    })
}

/// By the linear programme that makes the largest violation of signs of `y = A x + b` as small as possible on the box: its
/// multipliers are a certificate if it is not zero.
///
/// ```text
/// | 0  -A' | | x |   | 0 |
/// | A   0  | | v | + | b |        x in the box, v in the signs of a certificate and of size 1
/// ```
fn by_programme(
    problem: &BoxMlcp<'_, Csr>,
    observer: &mut (impl Observer + ?Sized),
) -> Result<bool, InputError> {
    let Some(scaled) = Scaled::new(problem, Scaling::RowsAndColumns) else {
        return Ok(false);
    };
    let own = scaled.problem()?;
    let n = own.len();
    let mut entries = Vec::with_capacity(2 * own.matrix().nonzeros());
    for row in 0..n {
        let (columns, values) = own.matrix().row(row);
        for (&column, &value) in columns.iter().zip(values) {
            entries.push((column, (n + row) as u32, -value));
            entries.push(((n + row) as u32, column, value));
        }
    }
    let matrix = Csr::from_entries(2 * n, entries)?;
    let rhs = [&vec![0.0; n], own.rhs()].concat();
    let sign = |bound: f64, size: f64| if bound.is_finite() { 0.0 } else { size };
    let below = own.upper().iter().zip(own.lower());
    let (mut lower, mut upper) = (own.lower().to_vec(), own.upper().to_vec());
    // Towards a bound that is not there, y may have either sign.
    for (&u, &l) in below {
        lower.push(sign(l, -1.0));
        upper.push(sign(u, 1.0));
    }
    let programme = BoxMlcp::new(&matrix, &rhs, &lower, &upper)?;
    let mut both = vec![0.0; 2 * n];
    let settings = interior_point::Settings::default().tolerance(1e-10);
    let observer = &mut AsInner(observer);
    let memory = &mut Default::default();
    interior_point::solve(&programme, &settings, &mut both, memory, observer)?;
    Ok(certificate::refine(problem, &mut both[n..], scaled.rows()))
}
