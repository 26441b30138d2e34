//! Full matrices: an attempt without scales and analysis, which would take longer than the solve.

use super::{Attempt, Method, Options, Solution};
use crate::csr::Csr;
use crate::error::InputError;
use crate::methods::block_pivoting::{self, Settings};
use crate::problem::{BoxMlcp, ROUNDING};
use crate::report::{Observer, Report, Status};

/// Reason for the method.
pub(super) const WHY: &str = "a full symmetric matrix";
/// Factorisations, after which a method that needs no definite matrix takes over.
const MOST_ITERATIONS: usize = 30;

/// Whether at least a quarter of the entries is stored.
pub(super) fn is_full(rows: usize, entries: usize) -> bool {
    4 * (entries as u128) >= (rows as u128).pow(2)
}

/// Solves a problem with a full symmetric positive definite matrix by block pivoting, as it is.
///
/// Its solution is exact but for rounding: a point that no scales of rows and columns would make another judgement of. None if the
/// matrix is another one, `x` is then as it was; an attempt that did not converge leaves it, too.
pub(super) fn attempt(
    problem: &BoxMlcp<'_, Csr>,
    options: &Options,
    x: &mut [f64],
    observer: &mut (impl Observer + ?Sized),
) -> Result<Option<Attempt>, InputError> {
    let (rows, entries) = (problem.len(), problem.matrix().nonzeros());
    let is_possible = (1..=super::method::PIVOTABLE).contains(&rows)
        && is_full(rows, entries)
        && options.presolve.is_none()
        && (options.absolute || options.tolerance >= 10.0 * ROUNDING);
    if !is_possible || !looks_symmetric(problem.matrix()) {
        return Ok(None);
    }
    let limit = options.max_iterations.unwrap_or(MOST_ITERATIONS);
    let settings = Settings::default()
        .tolerance(options.tolerance)
        .max_iterations(limit.min(MOST_ITERATIONS));
    let mut workspace = block_pivoting::Workspace::default();
    let mut own = x.to_vec();
    let mut report = block_pivoting::solve(problem, &settings, &mut own, &mut workspace, observer)?;
    if !options.absolute && report.status != Status::Stopped {
        report.status = match workspace.is_exact() {
            true => Status::Converged,
            false if report.status == Status::Converged => Status::Stagnated,
            false => report.status,
        };
    }
    if is_answer(&report) {
        x.copy_from_slice(&own);
    } else if report.iterations == 0 {
        return Ok(None);
    }
    Ok(Some(Attempt {
        solver: Method::BlockPivoting.name(),
        why: WHY,
        report,
    }))
}

/// The first attempt of `auto` alone, in a bounded number of operations: a few dozen dense factorisations at most.
///
/// None, with `x` as it was, if the matrix is not full, symmetric and positive definite, or `auto` would go on to other methods for
/// another reason. Otherwise the solution is that of `auto`.
pub fn solve_full(
    problem: &BoxMlcp<'_, Csr>,
    options: &Options,
    x: &mut [f64],
    observer: &mut (impl Observer + ?Sized),
) -> Result<Option<Solution>, InputError> {
    let answer = attempt(problem, options, x, observer)?.filter(|made| is_answer(&made.report));
    Ok(answer.map(|made| Solution::of(made.solver, made.why, made.report)))
}

/// Whether an attempt ends the solve.
pub(super) fn is_answer(report: &Report) -> bool {
    matches!(report.status, Status::Converged | Status::Stopped)
}

/// Whether the diagonal is positive, and the first row is the first column: the rest is looked at later.
fn looks_symmetric(matrix: &Csr) -> bool {
    let n = matrix.rows();
    let (columns, values) = matrix.row(0);
    let mut mirrored = columns.iter().zip(values);
    mirrored.all(|(&column, &value)| {
        let other = matrix.get(column as usize, 0);
        (value - other).abs() <= 1e-9 * value.abs().max(other.abs())
    }) && (0..n).all(|row| matrix.get(row, row) > 0.0)
}
