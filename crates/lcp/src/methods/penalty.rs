//! Penalty method. [Lai20 alg. 2]
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `Pi` | 1 on rows whose `x_i` has left its bounds, 0 elsewhere [Lai20 (4.4)] |
//! | `rho` | the penalty, a large number for each row |
//! | `c` | the bound that a row has passed |
//!
//! ```text
//! A x + b = rho Pi (c - x)                [Lai20 (4.3)]
//! (A + rho Pi) x = -b + rho Pi c          [Lai20 (4.5)], with the Pi of the last x
//! ```
//!
//! A solution of the first equation is outside its bounds by `|y_i| / rho_i`. What is returned is moved into the box, and judged by
//! its natural residual like that of any method.
//!
//! ```
//! use meniscus_lcp::methods::penalty;
//! use meniscus_lcp::precondition::Jacobi;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = penalty::Settings::default();
//! let mut workspace = penalty::Workspace::default();
//! let report = penalty::solve(&problem, &settings, &mut Jacobi::new(&matrix)?, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

mod system;

use super::check_tolerance;
use crate::error::{InputError, check_fraction, check_positive};
use crate::krylov::pcg;
use crate::minimum_map;
use crate::monitor::{Best, Monitor};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::report::{Observer, Report, Status};
use system::System;

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Limit on linear systems to solve.
        pub max_iterations: usize = 100,
        /// Numerator of the penalty: `rho_i = penalty A_ii ||y||_inf / tolerance`, with the
        /// `y` of the start. [Lai20 alg. 2]
        ///
        /// DEVIATION [Lai20 alg. 2]: `rho = 1e3 / tolerance` in the paper, where `A` and `y` are of the order of 1.
        /// Ours leaves as much of the tolerance in any units.
        pub penalty: f64 = 1e3,
        /// Relative residual to which a linear system is solved.
        ///
        /// It is tightened whenever the merit did not fall, so that inexact solves cannot make the method cycle.
        pub inner_tolerance: f64 = 0.01,
        /// Limit on conjugate gradient iterations for one system.
        pub max_inner_iterations: usize = 10_000,
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        check_tolerance(self.tolerance)?;
        check_positive("penalty", self.penalty)?;
        check_fraction("inner_tolerance", self.inner_tolerance)
    }
}

/// Smallest inner tolerance: below it rounding dominates.
const SMALLEST_INNER_TOLERANCE: f64 = 1e-13;

/// `rho_i / A_ii` lies between these: below, a penalty is none; above, numbers may overflow.
const PENALTIES: (f64, f64) = (1e3, 1e30);

/// The part of its residual to which a system is solved that shows the way along a null vector.
const NULL_TOLERANCE: f64 = 1e-12;

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    system: System,
    x: Vec<f64>,
    inside: Vec<f64>,
    y: Vec<f64>,
    d: Vec<f64>,
    best: Vec<f64>,
}

/// Solves the problem, starting from the rows on which the given `x` is at or beyond a bound.
///
/// Meant for symmetric positive semidefinite M-matrices, where it always ends. [`Status::Infeasible`] means that without bounds
/// `A` is singular and that no bound is ahead along its null vector: the problem has no solution. The merit is that of the
/// minimum map, with rows at a bound in the units of `y`.
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
    workspace.prepare(problem, x)?;
    let Workspace {
        system,
        x: at,
        inside,
        y,
        d,
        best,
    } = workspace;
    let (least, most) = PENALTIES;
    problem.affine(inside, y);
    let size = reduce::largest(y).max(reduce::largest(problem.rhs()));
    let rho = (settings.penalty * size / settings.tolerance).clamp(least, most);

    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer)
        .keep_best(Best::Merit, best, inside);
    let mut inner_tolerance = settings.inner_tolerance;
    let mut changed = system.start(problem, at);
    let mut endless = false; // whether x can grow along a null vector, by the last system
    let status = loop {
        let state = minimum_map::measure(problem, (inside, y, d));
        let mut stall = (endless && !changed).then_some(Status::Infeasible);
        if state.merit() >= monitor.best() {
            if inner_tolerance > SMALLEST_INNER_TOLERANCE {
                inner_tolerance *= 0.1;
            } else if !changed {
                stall = Some(Status::Stagnated);
            }
        }
        if let Some(status) = monitor.check(state.iterate(inside), stall) {
            break status;
        }
        if changed || monitor.iterations() == 0 {
            preconditioner.restrict(&system.active);
        }
        let limits = pcg::Limits {
            norm: inner_tolerance, // of the residual, see below
            largest: 0.5 * settings.tolerance,
            cap: 0.5,
            iterations: settings.max_inner_iterations,
            null_quotient: pcg::NULL_QUOTIENT,
        };
        system.pose(problem, d, rho, at);
        let mut solved = system.solve(problem, &*preconditioner, &limits, &mut monitor.inner());
        monitor.count(1, solved.iterations);
        endless = solved.status == pcg::Status::Singular;
        if endless {
            // Nothing holds x back in some direction: go that way until a bound does.
            let limits = pcg::Limits {
                norm: NULL_TOLERANCE,
                largest: 0.01 * settings.tolerance,
                null_quotient: 0.0,
                iterations: limits.iterations - solved.iterations.min(limits.iterations),
                ..limits
            };
            system.pose(problem, d, rho, at);
            solved =
                system.solve_shifted(problem, &*preconditioner, d, &limits, &mut monitor.inner());
            monitor.count(0, solved.iterations);
            endless = system.follows_null_vector(problem, 0.5 * settings.tolerance);
        }
        match solved.status {
            pcg::Status::Stopped => break Status::Stopped,
            pcg::Status::Indefinite => break Status::NonDescent,
            pcg::Status::NonFinite => break Status::NonFinite,
            _ => {}
        }
        // [Lai20 (4.4)]
        changed = system.take(problem, at);
        inside.copy_from_slice(at);
        problem.project(inside);
        problem.affine(inside, y);
    };
    Ok(monitor.finish(status, x, |x| problem.natural_residual(x, y)))
}

impl Workspace {
    fn prepare(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        start: &[f64],
    ) -> Result<(), InputError> {
        let n = problem.len();
        let Self {
            x, inside, y, d, ..
        } = self;
        for array in [&mut *x, inside, y, d] {
            array.resize(n, 0.0);
        }
        x.copy_from_slice(start);
        inside.copy_from_slice(start);
        problem.project(inside);
        minimum_map::scales(problem.matrix(), true, d)
    }
}
