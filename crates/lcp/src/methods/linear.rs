//! Linear systems `A x + b = 0`: the box MLCP without a finite bound, by preconditioned conjugate gradients.
//!
//! ```
//! use meniscus_lcp::methods::linear;
//! use meniscus_lcp::precondition::Jacobi;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let (lower, upper) = ([f64::NEG_INFINITY; 2], [f64::INFINITY; 2]);
//! let problem = BoxMlcp::new(&matrix, &[-1.0, -1.0], &lower, &upper)?;
//! let mut x = [0.0; 2];
//! let settings = linear::Settings::default();
//! let mut workspace = linear::Workspace::default();
//! let report = linear::solve(&problem, &settings, &mut Jacobi::new(&matrix)?, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use super::check_tolerance;
use crate::error::InputError;
use crate::krylov::pcg;
use crate::monitor::{Iterate, Monitor};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::report::{Observer, Report, Status};
use crate::split::{first_row, for_each};

settings! {
    /// Stopping criteria.
    pub struct Settings {
        /// Bound on `||A x + b||_inf`.
        pub tolerance: f64 = 1e-8,
        /// Limit on conjugate gradient iterations.
        pub max_iterations: usize = 10_000,
    }
}

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    r: Vec<f64>,
    pcg: pcg::Core,
}

/// Solves `A x + b = 0`, starting from the given `x`.
///
/// `A` must be symmetric and positive semidefinite. A finite bound is an error. The merit is `1/2 ||A x + b||^2`;
/// an outer iteration is one run of conjugate gradients, which the next one restarts from the true residual.
/// [`Status::Infeasible`] means that `A` is singular and `A x + b = 0` has no solution.
pub fn solve(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    preconditioner: &mut (impl Preconditioner + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    check_tolerance(settings.tolerance)?;
    problem.check_start(x)?;
    let bounded = first_row((problem.lower(), problem.upper()), &|_, (lower, upper)| {
        (0..lower.len()).find(|&i| lower[i].is_finite() || upper[i].is_finite())
    });
    if let Some(row) = bounded {
        return Err(InputError::BoundedRow { row });
    }
    let Workspace { r, pcg } = workspace;
    r.resize(problem.len(), 0.0);
    // The limit is one on conjugate gradient iterations.
    let mut monitor = Monitor::new(settings.tolerance, usize::MAX, observer);
    let mut last_residual = f64::INFINITY;
    let mut inner_status = pcg::Status::Converged;
    let status = loop {
        problem.affine(x, r);
        let residual = reduce::largest(r);
        let merit = 0.5 * reduce::sum_of_squares(r);
        let stall = match inner_status {
            pcg::Status::Stopped => Some(Status::Stopped),
            pcg::Status::IterationLimit => Some(Status::IterationLimit),
            pcg::Status::Singular => Some(Status::Infeasible),
            pcg::Status::Indefinite => Some(Status::NonDescent),
            pcg::Status::NonFinite => Some(Status::NonFinite),
            // A restart that gains less than half is at the limit of rounding.
            pcg::Status::Converged if residual >= 0.5 * last_residual => Some(Status::Stagnated),
            pcg::Status::Converged => None,
        };
        if let Some(status) = monitor.check(Iterate::new(x, residual, merit), stall) {
            break status;
        }
        last_residual = residual;
        for_each(&mut r[..], &|_, r| r.iter_mut().for_each(|r| *r = -*r));
        let limits = pcg::Limits {
            norm: 0.0,
            largest: 0.9 * settings.tolerance,
            cap: f64::INFINITY,
            iterations: settings
                .max_iterations
                .saturating_sub(monitor.inner_iterations()),
            null_quotient: pcg::NULL_QUOTIENT,
        };
        let inner = pcg::correct(
            problem.matrix(),
            &*preconditioner,
            &limits,
            x,
            r,
            pcg,
            &mut monitor.inner(),
        );
        inner_status = inner.status;
        monitor.count(1, inner.iterations);
    };
    Ok(monitor.finish(status, x, |x| problem.natural_residual(x, r)))
}
