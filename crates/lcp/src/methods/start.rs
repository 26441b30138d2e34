//! Projected gradient steps that improve the start of a Newton method. [Erl13 sec. 6]
//!
//! Newton methods are at their best near a solution, and how they fare far from one depends on where they begin. These
//! steps cost one or two products with `A` each, need no linear solve, and never make the measure they go down worse.
//!
//! | measure | for | step |
//! | --- | --- | --- |
//! | [`Measure::Energy`] | symmetric positive semidefinite `A` | from `x` towards `clamp(x - y/d)`, to the minimum of `1/2 x'Ax + b'x` on that segment |
//! | [`Measure::Merit`] | any `A` | `clamp(x - t J'F)` for the Fischer-Burmeister map `F`, with a backtracking search |
//!
//! `d` is the diagonal of `A`. The first step never leaves the box, since both of its ends are inside.
//!
//! ```
//! use meniscus_lcp::gallery::{self, Random};
//! use meniscus_lcp::methods::{fischer, start};
//! use meniscus_lcp::precondition::Identity;
//! use meniscus_lcp::Status;
//!
//! let instance = gallery::contact_cone(5, &mut Random::new(1));
//! let problem = instance.problem();
//! let mut x = vec![0.0; problem.len()];
//! let before = problem.residual_inf(&x);
//! let begun = start::solve(&problem, &Default::default(), &mut x, &mut Default::default(), &mut ())?;
//! assert!(begun.status == Status::IterationLimit && begun.residual < before);
//! let mut workspace = fischer::Workspace::default();
//! let report = fischer::solve(&problem, &Default::default(), &mut Identity, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use super::{check_tolerance, fischer};
use crate::error::InputError;
use crate::minimum_map;
use crate::monitor::Monitor;
use crate::operator::Operator;
use crate::precondition::Identity;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::reduced_system::add;
use crate::report::{Observer, Report, Status};
use crate::semismooth::{self, First};
use crate::split::fold;

/// Objective of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measure {
    /// `1/2 x'Ax + b'x`, for symmetric positive semidefinite `A`.
    Energy,
    /// `1/2 F'F` with the Fischer-Burmeister map `F`, for any `A`. [Erl13 (103)]
    Merit,
}

settings! {
    /// Settings of the gradient steps.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual, at which no further step is needed.
        pub tolerance: f64 = 1e-8,
        /// Steps.
        pub max_iterations: usize = 10,
        /// Objective of the steps. [`Measure::Merit`] is safe for every matrix.
        pub measure: Measure = Measure::Merit,
    }
}

/// Scratch memory of the steps, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    d: Vec<f64>,
    y: Vec<f64>,
    dx: Vec<f64>,
    product: Vec<f64>,
    merit: semismooth::Workspace,
}

/// Improves the given `x`, projected onto the box.
///
/// [`Status::IterationLimit`] is the usual end.
pub fn solve(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    check_tolerance(settings.tolerance)?;
    if settings.measure == Measure::Merit {
        let settings = fischer::Settings {
            tolerance: settings.tolerance,
            max_iterations: settings.max_iterations,
            relative: 0.0,
            stagnation: 0.0,
            rescues: 0,
            ..Default::default()
        };
        return semismooth::solve(
            problem,
            (&settings, First::Gradient),
            &mut Identity,
            x,
            &mut workspace.merit,
            observer,
        );
    }
    problem.check_start(x)?;
    descend(problem, settings, x, workspace, observer)
}

fn descend(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    let Workspace {
        d, y, dx, product, ..
    } = workspace;
    for array in [&mut *d, &mut *y, &mut *dx, &mut *product] {
        array.resize(problem.len(), 0.0);
    }
    minimum_map::scales(problem.matrix(), true, d)?;
    problem.project(x);
    problem.affine(x, y);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer);
    let status = loop {
        let state = minimum_map::measure(problem, (x, y, d));
        let mut confirmed = true;
        if state.residual <= settings.tolerance {
            // y was updated by a recursion: what counts is the one of this x.
            problem.affine(x, y);
            let recomputed = minimum_map::measure(problem, (x, y, d));
            confirmed = recomputed.residual <= settings.tolerance;
        }
        if let Some(status) = monitor.check(state.iterate(x).confirmed(confirmed), None) {
            break status;
        }
        let slope = direction(problem, (x, y, d), dx);
        let curvature = problem.matrix().apply_dot(dx, product);
        let step = if curvature > 0.0 {
            (-slope / curvature).min(1.0)
        } else {
            1.0
        };
        let farthest = reduce::largest(x) + reduce::largest(dx);
        if !slope.is_finite() || !step.is_finite() || !farthest.is_finite() {
            break Status::NonFinite;
        }
        if slope >= 0.0 || step <= 0.0 {
            break Status::Stagnated;
        }
        add(x, step, dx);
        problem.project(x); // rounding only
        add(y, step, product);
        monitor.count(1, 0);
    };
    let mut report = monitor.finish(status, x, |x| problem.natural_residual(x, product));
    if status == Status::Converged {
        report.merit = minimum_map::measure(problem, (x, y, d)).merit();
    }
    Ok(report)
}

/// `dx = clamp(x - y/d) - x`; returns `y'dx`, the slope of the energy along it.
fn direction(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    (x, y, d): (&[f64], &[f64], &[f64]),
    dx: &mut [f64],
) -> f64 {
    fold(
        ((x, y, d), (problem.lower(), problem.upper()), dx),
        &|_, ((x, y, d), (lower, upper), dx)| {
            let mut slope = 0.0;
            for i in 0..x.len() {
                dx[i] = (x[i] - y[i] / d[i]).clamp(lower[i], upper[i]) - x[i];
                slope += y[i] * dx[i];
            }
            slope
        },
        &|low, high| low + high,
    )
}
