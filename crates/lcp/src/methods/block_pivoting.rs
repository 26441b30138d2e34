//! Block principal pivoting for dense symmetric positive definite matrices (Júdice and Pires 1994).
//!
//! A basis places `x` of every row at a bound or between its bounds. Each iteration solves `y = 0` for the rows between, and
//! then moves all rows at once that are on the wrong side:
//!
//! ```text
//! x_i < l_i     to the lower bound         y_i < 0 at the lower bound     between
//! x_i > u_i     to the upper bound         y_i > 0 at the upper bound     between
//! ```
//!
//! Usually a handful of iterations does, whatever the number of rows. Where the number of such rows does not fall for some
//! iterations, only the last one is moved, by which no basis can come twice (Murty 1974), until it falls again.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `D` | powers of two, for which the diagonal of `D A D` is between 1/2 and 2 |
//! | `L` | the Cholesky factor of the rows and columns between |
//!
//! ```
//! use meniscus_lcp::methods::block_pivoting;
//! use meniscus_lcp::{BoxMlcp, Dense, Status};
//!
//! let matrix = Dense::new(2, vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = block_pivoting::Settings::default();
//! let mut workspace = block_pivoting::Workspace::default();
//! let report = block_pivoting::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert_eq!(x, [0.5, 0.0]);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

mod basis;

use super::pivoting::MOST_ROWS;
use crate::error::{InputError, check_positive};
use crate::monitor::{Best, Iterate, Monitor};
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report, Status};
use crate::rows::Rows;
use basis::Basis;

settings! {
    /// Settings of the method.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        ///
        /// As every pivoting method this one continues to the last basis whatever it is: it decides what counts as converged.
        pub tolerance: f64 = 1e-8,
        /// Limit on factorisations.
        pub max_iterations: usize = 1_000,
    }
}

/// Iterations in which all rows on the wrong side are moved though they do not become fewer.
const PATIENCE: usize = 10;
/// Corrections of the last point.
const REFINEMENTS: usize = 2;

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    basis: Basis,
    best: Vec<f64>,
    point: Vec<f64>,
    residual: Vec<f64>,
    settled: bool,
}

impl Workspace {
    /// Whether the last solve ended with a point whose residual is rounding, in every row alike: then it is a solution in all
    /// units of rows and columns.
    pub(crate) fn is_exact(&mut self) -> bool {
        self.settled && self.basis.is_exact()
    }
}

/// Solves the problem, starting from the basis of the given `x`.
///
/// Takes all bounds and free rows. [`Status::NonDescent`] means that the matrix is not symmetric, or not positive definite on the
/// rows that came to lie between their bounds.
pub fn solve(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    check_positive("tolerance", settings.tolerance)?;
    problem.check_start(x)?;
    if problem.len() > MOST_ROWS {
        return Err(InputError::TooLarge {
            what: "rows",
            limit: MOST_ROWS,
        });
    }
    let Workspace {
        basis,
        best,
        point,
        residual,
        settled,
    } = workspace;
    let n = problem.len();
    point.resize(n, 0.0);
    residual.resize(n, 0.0);
    *settled = false;
    problem.project(x);
    let unusable = basis.load(problem, x);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer)
        .keep_best(Best::Residual, best, x);
    let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
    let status = if let Some(status) = unusable {
        status
    } else {
        loop {
            let is_solved = basis.is_solved();
            let count = basis.find_misplaced();
            *settled = is_solved && count == 0;
            if *settled {
                (0..REFINEMENTS).all(|_| basis.refine());
            }
            basis.back(problem, point);
            let state = basis.state(problem);
            // The start may be a solution as it is.
            let confirmed = *settled || monitor.iterations() == 0;
            let stall = settled.then_some(Status::Stagnated);
            let iterate = Iterate::new(point, state.residual, state.merit()).confirmed(confirmed);
            if let Some(status) = monitor.check(iterate, stall) {
                break status;
            }
            if is_solved {
                let all = count < fewest || patience > 0;
                if count < fewest {
                    (fewest, patience) = (count, PATIENCE);
                } else {
                    patience = patience.saturating_sub(1);
                }
                basis.move_misplaced(all);
            }
            if !basis.solve() {
                break Status::NonDescent;
            }
            monitor.count(1, 0);
        }
    };
    if *settled {
        x.copy_from_slice(point);
    } else {
        monitor.restore(x);
    }
    problem.project(x);
    let norm = problem.natural_residual(x, residual);
    let merit = 0.5 * crate::reduce::sum_of_squares(residual);
    let status = match (status, norm <= settings.tolerance) {
        (Status::Stopped, _) => Status::Stopped,
        (_, true) => Status::Converged,
        (Status::Converged, false) => Status::Stagnated,
        (other, false) => other,
    };
    Ok(monitor.report(status, norm, merit))
}

#[cfg(test)]
mod tests {
    use super::{Settings, Workspace, solve};
    use crate::dense::Dense;
    use crate::problem::BoxMlcp;
    use crate::report::Status;

    /// Whether the solution of a problem of four rows is exact: two blocks with a coupling between them, and another one in each.
    fn is_exact(between: f64, inside: f64, rhs: [f64; 4]) -> bool {
        let matrix = Dense::from_fn(4, |i, j| match (i == j, i / 2 == j / 2) {
            (true, _) => 1.0,
            (false, true) => inside,
            (false, false) => between,
        });
        let problem = BoxMlcp::new(&matrix, &rhs, &[0.0; 4], &[f64::INFINITY; 4]).unwrap();
        let (settings, workspace) = (Settings::default(), &mut Workspace::default());
        let report = solve(&problem, &settings, &mut [0.0; 4], workspace, &mut ()).unwrap();
        assert_eq!(report.status, Status::Converged);
        workspace.is_exact()
    }

    #[test]
    fn exact_are_solutions_that_every_scale_of_rows_and_columns_takes_for_one() {
        let ones = [-1.0; 4];
        assert!(is_exact(0.1, 0.5, ones));
        // Blocks without a coupling have sizes of their own, which are not looked at here.
        assert!(!is_exact(0.0, 0.5, ones));
        // x of 1e6 for right-hand sides of 1: so far away rounding errors may not be small beside these.
        assert!(!is_exact(-1e-3, -1.0 + 2e-3 + 1e-6, ones));
    }
}
