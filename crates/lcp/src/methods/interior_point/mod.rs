//! Primal-dual interior point method, with predictor and corrector.
//!
//! For monotone problems (`A + A'` positive semidefinite), symmetric or not. Slacks and duals of the finite bounds are
//! kept positive, and the perturbed conditions
//!
//! ```text
//! A x + b = z - w        s = x - l      s z = mu        t = u - x      t w = mu
//! ```
//!
//! are followed to `mu = 0`. Eliminating slacks and duals leaves one system a direction, with a positive diagonal added
//! to the bounded rows:
//!
//! ```text
//! (A + Z/S + W/T) dx = -rho + (sigma mu - s z - c_s) / s - (sigma mu - t w - c_t) / t        rho = A x + b - z + w
//! ```
//!
//! | symbol | is |
//! | --- | --- |
//! | `s`, `t` | slack to the lower and to the upper bound |
//! | `z`, `w` | positive and negative part of `y`: the duals |
//! | `mu` | mean of all `s z` and `t w` |
//! | `sigma` | how much of `mu` the step aims to keep: the cube of what the predictor (`sigma = c = 0`) would leave |
//! | `c` | the product of the predictor's changes of slack and dual, which the linearisation leaves out |
//!
//! `x` and `y` get one step length, since here `y` is a function of `x`. The problem is brought to entries of about 1
//! first, so units do not matter. Rows without finite bounds have no slack; rows with `l = u` are taken out.
//!
//! The method approaches a solution in ten to thirty iterations whatever the problem's size, but never reaches it. So
//! once it is clear which rows are at a bound, that guess is solved exactly, and the result taken if it is better.
//!
//! ```
//! use meniscus_lcp::methods::interior_point;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // Not symmetric, but monotone: A + A' = 2 I.
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, 3.0, -3.0, 1.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = interior_point::Settings::default();
//! let mut workspace = interior_point::Workspace::default();
//! let report = interior_point::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 1.0).abs() < 1e-12 && x[1] == 0.0); // y = (0, 2)
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

mod path;
mod polish;
mod scaled;
mod systems;

use self::path::{Path, Step};
use self::polish::Polish;
use self::scaled::{Proof, Scaled};
use self::systems::{Multigrid, Systems};
use super::check_tolerance;
use crate::error::{InputError, check_fraction};
use crate::monitor::{Iterate, Monitor};
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::report::{InnerProgress, Observer, Report, Status};
use crate::rows::Rows;
use crate::sparse_factor::{Factor, Left};

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Limit on iterations, each of which factorises one matrix, or two with an attempt to finish exactly.
        pub max_iterations: usize = 100,
        /// Fraction of the distance to the boundary that a step covers.
        pub step: f64 = 0.99,
        /// Whether to solve for the inactive rows exactly once the active set is known (crossover).
        ///
        /// Without it the residual is what the path leaves, just below the tolerance.
        pub polish: bool = true,
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        check_tolerance(self.tolerance)?;
        check_fraction("step", self.step)
    }
}

/// Iterations without progress, by the distance from the end of the path as well as by the residual, after which the method
/// has stagnated. The residual of points far from the end may rise for long.
const PATIENCE: usize = 15;
/// An `x` that grows by this factor with an iteration has not come to rest.
const RUNAWAY: f64 = 1.5;
/// Factor by which a residual must be smaller to count as better.
const BETTER: f64 = 0.9;

/// Scratch memory of the method, reused between solves.
///
/// It holds the factorisation, too: a solve with the pattern of the last one reuses order and pattern of the factors, and
/// does not allocate.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    scaled: Scaled,
    factor: Factor,
    path: Path,
    polish: Polish,
    best: Vec<f64>,
    r: Vec<f64>,
}

/// Solves the problem.
///
/// The given `x` is not where the path starts, which has a place of its own inside the box; it is returned if it is a
/// solution, or if nothing better is found.
///
/// Meant for monotone problems, where it finds a solution if there is one. [`Status::Infeasible`] means that a
/// [`certificate`](crate::certificate) was verified that proves there is none, whatever `A` is. Without monotony, and now and
/// then without a solution, it ends in [`Status::Stagnated`].
pub fn solve(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    let mut factor = std::mem::take(&mut workspace.factor);
    let report = solve_by(problem, settings, &mut factor, x, workspace, observer);
    workspace.factor = factor;
    report
}

/// Solves the problem with conjugate gradients for the systems, preconditioned by aggregation multigrid.
pub(super) fn solve_by_multigrid(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    let multigrid = &mut Multigrid::default();
    solve_by(problem, settings, multigrid, x, workspace, observer)
}

fn solve_by(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    systems: &mut dyn Systems,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    settings.check()?;
    problem.check_start(x)?;
    let Workspace {
        scaled,
        path,
        polish,
        best,
        r,
        ..
    } = workspace;
    problem.project(x);
    r.resize(x.len(), 0.0);
    best.resize(x.len(), 0.0);
    best.copy_from_slice(x);
    let same = scaled.take(problem);
    systems.prepare(&scaled.matrix, same)?;
    path.start(scaled);
    polish.start(x.len());

    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer);
    let mut residual = problem.natural_residual(x, r);
    let mut best_residual = if residual.is_nan() {
        f64::INFINITY
    } else {
        residual
    };
    let mut merit = 0.5 * reduce::sum_of_squares(r);
    let (mut waited, mut last_reach, mut nearest) = (0, 0.0, f64::INFINITY);
    let mut next_proof = 0;
    let mut status = loop {
        let finite = scaled.finite && path.is_finite() && !residual.is_nan();
        let stall = (waited >= PATIENCE).then_some(Status::Stagnated);
        let iterate = Iterate::new(x, residual, merit).finite(finite);
        if let Some(status) = monitor.check(iterate, stall) {
            break status;
        }
        let mut inner = |left: Left| {
            monitor.count(0, 1);
            let done = monitor.inner_iterations();
            monitor.check_inner(&InnerProgress::new(done, left.norm, left.largest))
        };
        let stepped = path.advance(scaled, systems, settings, &mut inner);
        monitor.count(1, 0);
        match stepped {
            Step::Done => {}
            Step::Stopped => break Status::Stopped,
            Step::NonFinite => break Status::NonFinite,
        }
        if monitor.iterations() >= next_proof {
            let seen = [&path.x, &path.dx];
            match scaled.proof(problem, seen) {
                Proof::None => {}
                Proof::Valid => break Status::Infeasible,
                // The farther along the path, the better the direction.
                Proof::Failed => next_proof = 2 * monitor.iterations(),
            }
        }
        scaled.unscale(&path.x, x);
        problem.project(x);
        residual = problem.natural_residual(x, r);
        merit = 0.5 * reduce::sum_of_squares(r);
        // Points that run away are on their way to a proof that there is no solution.
        let reach = reduce::largest(&path.x);
        if reach < RUNAWAY * last_reach {
            waited += 1;
        }
        last_reach = reach;
        if path.distance < BETTER * nearest {
            (nearest, waited) = (path.distance, 0);
        }
        if residual < best_residual {
            if residual < BETTER * best_residual {
                waited = 0;
            }
            best_residual = residual;
            best.copy_from_slice(x);
        }
        if settings.polish && polish.guess(scaled, path, residual <= settings.tolerance) {
            polish.solve(scaled, systems, path);
            scaled.unscale(&polish.x, x);
            polish.pin(problem, x);
            problem.project(x);
            let polished = problem.natural_residual(x, r);
            if polished < best_residual {
                (best_residual, residual, waited) = (polished, polished, 0);
                merit = 0.5 * reduce::sum_of_squares(r);
                best.copy_from_slice(x);
            }
        }
    };
    x.copy_from_slice(best);
    // An attempt at the end of the path may have met the tolerance before the path did anything else.
    if problem.natural_residual(x, r) <= settings.tolerance {
        status = Status::Converged;
    }
    let residual = problem.natural_residual(x, r);
    Ok(monitor.report(status, residual, 0.5 * reduce::sum_of_squares(r)))
}
