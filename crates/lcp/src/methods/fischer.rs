//! Fischer-Newton method. [Erl13 sec. 5.5]
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `F` | Fischer-Burmeister map, zero exactly at a solution [Erl13 (84)] |
//! | `phi` | `sqrt(a^2 + b^2) - a - b`, zero exactly where `a >= 0`, `b >= 0`, `a b = 0` |
//! | `J` | `D_p + D_q A`, an element of the generalised Jacobian of `F` [Erl13 (96)] |
//! | `dx` | Newton direction, `J dx = -F` |
//! | `theta` | merit `1/2 F'F` [Erl13 (103)], with the gradient `J'F` |
//! | `xi` | forcing term: how well the Newton equation is solved [Erl13 (105)] |
//!
//! On a row with both bounds `F = phi(x - l, phi(u - x, -y))`; with one bound or none, the remaining part.
//!
//! The method makes no assumption on `A`: it need not be symmetric, nor have anything on its diagonal. It needs
//! products with `A` and, for the gradient of the merit, with its transpose
//! ([`Operator::apply_transposed`]). That it always ends at a solution is known for few matrices (P0 matrices with
//! bounded level sets); elsewhere its status reports where it ended. Beyond the notes it has these remedies:
//!
//! | trouble | remedy |
//! | --- | --- |
//! | `J` is singular, or the Newton step is short or rises | a regularised step, `(J'J + s t D^2) dx = -J'F`, with `t` falling like `||F||` |
//! | that fails, too | the gradient |
//! | the merit falls no more | `phi` is smoothed, then less and less so: [`Settings::rescues`] |
//!
//! ```
//! use meniscus_lcp::methods::fischer;
//! use meniscus_lcp::precondition::Identity;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // Not symmetric, with a zero on its diagonal.
//! let matrix = Csr::new(2, vec![0, 2, 3], vec![0, 1, 0], vec![1.0, 1.0, -1.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-3.0, 2.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = fischer::Settings::default();
//! let mut workspace = fischer::Workspace::default();
//! let report = fischer::solve(&problem, &settings, &mut Identity, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 2.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8); // y = 0
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use super::check_tolerance;
use crate::error::{
    InputError, check_at_least_1, check_fraction, check_not_negative, check_positive, check_setting,
};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report};
use crate::semismooth::{self, First};

pub use crate::semismooth::map::Kink;

/// Linear solver for the Newton equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inner {
    /// GMRES, with the preconditioner given. For large problems.
    Gmres {
        /// Iterations between restarts; one vector is stored for each.
        restart: usize,
    },
    /// Conjugate gradients on the normal equations `J'J dx = -J'F`, without a preconditioner. Slow, but it takes little
    /// memory and finds the shortest step where `J` is singular.
    NormalEquations,
    /// Elimination with row pivoting. For small problems: it stores three matrices with every entry, and takes
    /// time of the order of the cube of the number of rows. An iteration counts as one inner iteration.
    Direct,
}

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Relative change of the merit at which the method ends if it stays so for five iterations.
        /// [Erl13 (108)]
        pub relative: f64 = 1e-6,
        /// Change of `x`, relative to the largest `|x_i|`, at which the method ends if it stays so for five iterations.
        ///
        /// DEVIATION [Erl13 (109)]: absolute in the notes, which depends on units.
        pub stagnation: f64 = 1e-14,
        /// Limit on Newton steps.
        pub max_iterations: usize = 200,
        /// The element of the generalised Jacobian at kinks.
        pub kink: Kink = Kink::Zero,
        /// Linear solver for the Newton equation.
        pub inner: Inner = Inner::Gmres { restart: 100 },
        /// `xi`, forcing term: relative residual to which a Newton equation is solved. [Erl13 (105)]
        ///
        /// It is tightened as `||F||` falls, for fast convergence at the end.
        pub forcing: f64 = 0.01,
        /// Limit on inner iterations for one direction.
        pub max_inner_iterations: usize = 2_000,
        /// Sufficient decrease parameter of the Armijo condition. [Erl13 (83)]
        pub sufficient_decrease: f64 = 1e-4,
        /// Backtracking factor of the line search.
        pub backtracking: f64 = 0.5,
        /// Smallest step length of the line search.
        pub smallest_step: f64 = 1e-9,
        /// Previous merits on whose largest a step must improve: a non-monotone line search. With 1 the merit never rises.
        pub memory: usize = 1,
        /// `s` of the regularised step, as a part of the squared diagonal; without such steps if zero.
        pub regularisation: f64 = 1e-3,
        /// Restarts of a stalled solve with `phi` smoothed.
        pub rescues: usize = 3,
        /// Whether bounded rows are scaled to the units of `y` by the diagonal of `A`, where that is positive.
        ///
        /// DEVIATION [Erl13 (84)]: the notes compare `x_i` with `y_i` as they are.
        pub scaled: bool = true,
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        check_tolerance(self.tolerance)?;
        check_not_negative("relative", self.relative)?;
        check_not_negative("stagnation", self.stagnation)?;
        check_fraction("forcing", self.forcing)?;
        check_fraction("sufficient_decrease", self.sufficient_decrease)?;
        check_fraction("backtracking", self.backtracking)?;
        check_fraction("smallest_step", self.smallest_step)?;
        check_not_negative("regularisation", self.regularisation)?;
        check_at_least_1("memory", self.memory)?;
        if let Inner::Gmres { restart } = self.inner {
            check_at_least_1("restart", restart)?;
        }
        if let Kink::Perturbation { epsilon } = self.kink {
            check_positive("epsilon", epsilon)?;
        }
        check_setting(
            "inner",
            "another than NormalEquations for Kink::Approximation: differences give no transposed product",
            (self.kink, self.inner) != (Kink::Approximation, Inner::NormalEquations),
        )
    }
}

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace(semismooth::Workspace);

/// Solves the problem, starting from the given `x`, projected onto the box.
///
/// For any `A`. The preconditioner approximates `A` on the active rows, and is used by [`Inner::Gmres`] only;
/// [`Identity`](crate::precondition::Identity) will do. If the solve does not converge, `x` is the iterate with the
/// smallest residual.
pub fn solve(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    preconditioner: &mut (impl Preconditioner + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    settings.check()?;
    semismooth::solve(
        problem,
        (settings, First::Fischer),
        preconditioner,
        x,
        &mut workspace.0,
        observer,
    )
}
