//! Policy iteration. [Lai20 alg. 1]
//!
//! A policy determines for each row whether its equation is `y_i = 0` (it is active) or `x_i = bound`. Each iteration
//! takes the policy that the last `x` prefers [Lai20 (4.1)] and solves its linear system [Lai20 (4.2)].
//!
//! ```
//! use meniscus_lcp::methods::policy;
//! use meniscus_lcp::precondition::Jacobi;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = policy::Settings::default();
//! let mut workspace = policy::Workspace::default();
//! let report = policy::solve(&problem, &settings, &mut Jacobi::new(&matrix)?, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert_eq!(x, [0.5, 0.0]);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use super::check_tolerance;
use crate::error::{InputError, check_fraction};
use crate::krylov::pcg;
use crate::minimum_map;
use crate::monitor::{Best, Monitor};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduced_system::{Accuracy, NullSpace, ReducedSystem, SolveContext, add};
use crate::report::{Observer, Report, Status};

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Limit on policies to solve for.
        pub max_iterations: usize = 100,
        /// Residual, relative to `||H||`, to which the linear system of a policy is solved.
        ///
        /// It is tightened whenever the merit did not fall: with exact solves the iteration cannot fail on
        /// M-matrices, with inexact ones it can cycle. A tolerance above 0.1 is also tightened where the
        /// merit falls slowly.
        pub inner_tolerance: f64 = 0.01,
        /// Limit on conjugate gradient iterations for one policy.
        pub max_inner_iterations: usize = 10_000,
        /// Whether bounded rows are scaled to the units of `y` by the diagonal of `A`.
        ///
        /// DEVIATION [Lai20 (4.1)]: the paper compares `x_i` with `y_i` as they are. On rows bounded from both sides
        /// that can make the policies go round in a circle.
        pub scaled: bool = true,
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        check_tolerance(self.tolerance)?;
        check_fraction("inner_tolerance", self.inner_tolerance)
    }
}

/// Smallest inner tolerance: below it rounding dominates.
const SMALLEST_INNER_TOLERANCE: f64 = 1e-13;

/// An inner tolerance so loose that the merit may fall at every iteration, and yet too slowly to get anywhere.
const LOOSE: f64 = 0.1;

/// Reduction of the merit that a loose inner tolerance must reach.
const SLOW: f64 = 0.25;

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    reduced: ReducedSystem,
    best: Vec<f64>,
}

/// Solves the problem, starting from the policy of the given `x`.
///
/// Meant for symmetric positive semidefinite M-matrices, where it always ends. [`Status::Infeasible`] means that a null
/// vector of `A` was found along which `x` can grow without bound: the problem has no solution.
pub fn solve(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    preconditioner: &mut (impl Preconditioner + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    settings.check()?;
    problem.check_start(x)?;
    let Workspace { reduced, best } = workspace;
    reduced.prepare(problem, settings.scaled)?;
    problem.affine(x, &mut reduced.y);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer)
        .keep_best(Best::Merit, best, x);
    let mut inner_tolerance = settings.inner_tolerance;
    let status = loop {
        // [Lai20 (4.1)]
        let state = reduced.select(problem, x);
        let (merit, best_merit) = (state.merit(), monitor.best());
        // A policy does not keep x inside the box; what is returned must be. The map itself is not needed here.
        let confirmed = state.residual > settings.tolerance || {
            reduced.h.copy_from_slice(x);
            problem.project(&mut reduced.h);
            problem.natural_residual(&reduced.h, &mut reduced.r) <= settings.tolerance
        };
        if inner_tolerance > LOOSE && merit > SLOW * best_merit {
            inner_tolerance *= 0.1;
        }
        let mut stall = None;
        if merit >= best_merit {
            if inner_tolerance > SMALLEST_INNER_TOLERANCE {
                inner_tolerance *= 0.1;
            } else if state.changed == 0 && state.jump == 0.0 {
                stall = Some(Status::Stagnated);
            }
        }
        if let Some(status) = monitor.check(state.iterate(x).confirmed(confirmed), stall) {
            break status;
        }
        if monitor.iterations() == 0 || state.changed > 0 {
            preconditioner.restrict(&reduced.active);
        }
        // [Lai20 (4.2)], for the change of x instead of x.
        let accuracy = Accuracy {
            forcing: inner_tolerance,
            enough: 0.5 * settings.tolerance,
            max_iterations: settings.max_inner_iterations,
        };
        let solved = {
            let mut context = SolveContext {
                problem,
                preconditioner: &*preconditioner,
                watch: &mut monitor.inner(),
            };
            reduced.solve(&mut context, x, &state, &accuracy)
        };
        monitor.count(1, solved.iterations);
        match solved.status {
            pcg::Status::Stopped => break Status::Stopped,
            pcg::Status::Indefinite => break Status::NonDescent,
            pcg::Status::NonFinite => break Status::NonFinite,
            _ if solved.null == NullSpace::Unbounded => break Status::Infeasible,
            _ => {}
        }
        add(x, 1.0, &reduced.dx);
        problem.affine(x, &mut reduced.y);
    };
    monitor.restore(x);
    problem.project(x);
    problem.affine(x, &mut reduced.y);
    let merit = minimum_map::measure(problem, (x, &reduced.y, &reduced.d)).merit();
    // The iterate becomes a point of the box only here: it may be a solution where the one outside was not finite.
    let residual = problem.natural_residual(x, &mut reduced.r);
    let status = if residual <= settings.tolerance {
        Status::Converged
    } else {
        status
    };
    Ok(monitor.report(status, residual, merit))
}
