//! Staggering for bounds that depend on another unknown. [Erl13 (110)-(112)]
//!
//! The rows fall into those with bounds of their own, `n`, and those that follow, `t`. Each iteration solves two box MLCPs:
//!
//! ```text
//! l_n <= x_n <= u_n           complementary to A_nn x_n + (b_n + A_nt x_t)          x_t as it is
//! -mu x_k <= x_t <= mu x_k    complementary to A_tt x_t + (b_t + A_tn x_n)          x_n as it is, and the bounds with it
//! ```
//!
//! until neither changes the other. Both are given to a method of the caller's choice as problems with all rows, of which
//! those that stay as they are have equal bounds. If `A` is symmetric and positive semidefinite, so is the matrix of
//! each; convergence of the iteration is not guaranteed; see the status.
//!
//! DEVIATION [Erl13 (110b)]: the notes bound the tangents by a polyhedral cone, which makes the matrix of the second
//! problem one that is not symmetric; here each tangent has its own box.
//!
//! ```
//! use meniscus_lcp::methods::{mprgp, staggered};
//! use meniscus_lcp::precondition::Jacobi;
//! use meniscus_lcp::{BoxMlcp, Csr, CoupledBound, CoupledBoundMlcp, Status};
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, 0.5, 0.5, 2.0])?;
//! let (lower, upper) = ([0.0, f64::NEG_INFINITY], [f64::INFINITY; 2]);
//! let rest = BoxMlcp::new(&matrix, &[-2.0, -5.0], &lower, &upper)?;
//! let bounds = [CoupledBound { row: 1, of: 0, factor: 0.5 }];
//! let problem = CoupledBoundMlcp::new(rest, &bounds)?;
//!
//! let settings = mprgp::Settings::default().tolerance(1e-10);
//! let (mut jacobi, mut workspace) = (Jacobi::new(&matrix)?, mprgp::Workspace::default());
//! let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
//!     mprgp::solve(part, &settings, &mut jacobi, x, &mut workspace, &mut ())
//! };
//! let mut x = [0.0; 2];
//! let settings = staggered::Settings::default();
//! let report = staggered::solve(&problem, &settings, &mut inner, &mut x, &mut Default::default(), &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 8.0 / 9.0).abs() < 1e-8 && (x[1] - 4.0 / 9.0).abs() < 1e-8);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use super::check_tolerance;
use crate::coupled_bounds::CoupledBoundMlcp;
use crate::error::{InputError, check_not_negative};
use crate::monitor::{Best, Iterate, Monitor};
use crate::operator::Operator;
use crate::problem::BoxMlcp;
use crate::reduce::{self, larger};
use crate::report::{Observer, Report, Status};

settings! {
    /// Stopping criteria.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual, with the bounds as they are at `x`.
        ///
        /// The method inside should be asked for less.
        pub tolerance: f64 = 1e-8,
        /// Change of `x` in an iteration, relative to the largest `|x_i|`, at which the method ends.
        pub stagnation: f64 = 1e-14,
        /// Limit on iterations, two solves each.
        pub max_iterations: usize = 100,
    }
}

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    lower: Vec<f64>,
    upper: Vec<f64>,
    r: Vec<f64>,
    last: Vec<f64>,
    best: Vec<f64>,
}

/// Solves the problem, starting from the given `x`, projected onto its bounds. Discs are an error.
///
/// `inner` solves a box MLCP from where its `x` is, by any method: [`mprgp`](super::mprgp) and [`pgs`](super::pgs) stand
/// the singular matrices that are the rule here. What it stops at short of its tolerance is accepted, but a ray, a
/// number that overflows, or a wish to stop ends the iteration with the same words. The merit is half the sum of squares
/// of the natural residual; an inner iteration is one of `inner`.
pub fn solve<A: Operator + ?Sized>(
    problem: &CoupledBoundMlcp<'_, A>,
    settings: &Settings,
    inner: &mut (impl FnMut(&BoxMlcp<'_, A>, &mut [f64]) -> Result<Report, InputError> + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    check_tolerance(settings.tolerance)?;
    check_not_negative("stagnation", settings.stagnation)?;
    if !problem.discs().is_empty() {
        return Err(InputError::Setting {
            name: "problem",
            must: "without discs, which are no boxes, for staggering",
        });
    }
    problem.rest().check_start(x)?;
    workspace.prepare(problem.len());
    problem.project(x);
    let mut best = std::mem::take(&mut workspace.best);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer)
        .keep_best(Best::Residual, &mut best, x);
    let mut moved = f64::INFINITY;
    let mut ended = None;
    let status = loop {
        let residual = problem.natural_residual(x, &mut workspace.r);
        let merit = 0.5 * reduce::sum_of_squares(&workspace.r);
        let resting = moved <= settings.stagnation * reduce::largest(x);
        let stall = ended.or(resting.then_some(Status::Stagnated));
        if let Some(status) = monitor.check(Iterate::new(x, residual, merit), stall) {
            break status;
        }
        workspace.last.copy_from_slice(x);
        for part in [Part::Own, Part::CoupledBound] {
            // [Erl13 (110)]
            let report = inner(&workspace.freeze(problem, part, x)?, x)?;
            monitor.count(0, report.iterations.max(report.inner_iterations));
            if let Status::Infeasible | Status::NonFinite | Status::NonDescent | Status::Stopped =
                report.status
            {
                ended = Some(report.status);
                break;
            }
        }
        // A method inside that stops early may leave its bounds.
        problem.project(x);
        monitor.count(1, 0);
        moved = x
            .iter()
            .zip(&workspace.last)
            .fold(0.0, |moved, (x, last)| larger(moved, (x - last).abs()));
    };
    let report = monitor.finish(status, x, |x| problem.natural_residual(x, &mut workspace.r));
    workspace.best = best;
    Ok(report)
}

/// The rows that one of the two problems solves for.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// Rows with constant bounds.
    Own,
    /// Rows with coupled bounds.
    CoupledBound,
}

impl Workspace {
    fn prepare(&mut self, n: usize) {
        let Self {
            lower,
            upper,
            r,
            last,
            ..
        } = self;
        for array in [lower, upper, r, last] {
            array.resize(n, 0.0);
        }
    }

    /// The box MLCP of a part, the rows of the other fixed at `x`.
    fn freeze<'a, A: Operator + ?Sized>(
        &'a mut self,
        problem: &CoupledBoundMlcp<'a, A>,
        part: Part,
        x: &[f64],
    ) -> Result<BoxMlcp<'a, A>, InputError> {
        let rest = problem.rest();
        match part {
            Part::Own => {
                self.lower.copy_from_slice(rest.lower());
                self.upper.copy_from_slice(rest.upper());
            }
            Part::CoupledBound => {
                self.lower.copy_from_slice(x);
                self.upper.copy_from_slice(x);
            }
        }
        for bound in problem.coupled_bounds() {
            let i = bound.row;
            (self.lower[i], self.upper[i]) = match part {
                Part::Own => (x[i], x[i]),
                Part::CoupledBound => {
                    let reach = bound.reach(x); // [Erl13 (112)]
                    (-reach, reach)
                }
            };
        }
        BoxMlcp::new(rest.matrix(), rest.rhs(), &self.lower, &self.upper)
    }
}
