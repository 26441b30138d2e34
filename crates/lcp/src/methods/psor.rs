//! Projected successive over-relaxation. [Erl13 (53)-(59)]
//!
//! ```text
//! x_i <- clamp(x_i - omega (A x + b)_i / A_ii, l_i, u_i)        for one row after the other
//! ```
//!
//! [Projected Gauss-Seidel](super::pgs) with over-relaxation (`omega > 1`) or under-relaxation of each row.
//!
//! ```
//! use meniscus_lcp::methods::psor;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = psor::Settings::default();
//! let mut workspace = psor::Workspace::default();
//! let report = psor::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report};
use crate::rows::Rows;
use crate::splitting::{self, Kind, Order, Rules, Sweeps};

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Relative change of the merit from one check to the next at which the method ends. [Erl13 (108)] Zero,
        /// which is never met, disables it.
        ///
        /// DEVIATION [Erl13 sec. 6]: 1e-6 in the notes. A sweep converges slowly, and a merit that hardly changes is
        /// no sign that it has: that of the notes is zero at `x = 0`, whatever `y`.
        pub relative: f64 = 0.0,
        /// Change of `x` in a sweep, relative to the largest `|x_i|`, at which the method ends. All that is left at the
        /// default is rounding error.
        ///
        /// DEVIATION [Erl13 (109)]: absolute in the notes, which depends on units.
        pub stagnation: f64 = 1e-15,
        /// Limit on sweeps. The notes use 100, for a coarser tolerance.
        pub max_iterations: usize = 10_000,
        /// Sweeps from one check to the next.
        ///
        /// A check, and with it a call of the observer, costs about as much as a sweep.
        pub check_every: usize = 1,
        /// The order of the rows.
        pub order: Order = Order::Natural,
        /// `omega`, between 0 and 2. The default is the best value in the experiments of the notes.
        pub relaxation: f64 = 1.4,
    }
}

impl Settings {
    pub(super) fn rules(&self) -> Rules {
        Rules {
            tolerance: self.tolerance,
            relative: self.relative,
            stagnation: self.stagnation,
            max_iterations: self.max_iterations,
            check_every: self.check_every,
            relaxation: self.relaxation,
        }
    }
}

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub(super) sweeps: Sweeps,
}

/// Solves the problem, starting from the given `x`, projected onto the box.
///
/// Converges if `A` is symmetric and positive definite [Erl13 (53)-(59)], or an M-matrix, or strictly diagonally
/// dominant (then for `omega <= 1`); if it is merely positive semidefinite, `x` may grow without bound where the problem has no solution.
/// An entry of the diagonal that is not positive is an error, unless the bounds of its row are equal. The merit is
/// `x'|A x + b|` [Erl13 (106)]: on each row the distance from the bound that the sign of `y_i` calls for, or from the
/// only one there is, times `|y_i|`; on free rows `y_i^2 / A_ii`. An iteration is a sweep.
pub fn solve<A, O>(
    problem: &BoxMlcp<'_, A>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut O,
) -> Result<Report, InputError>
where
    A: Rows + ?Sized,
    O: Observer + ?Sized,
{
    splitting::solve(
        problem,
        &settings.rules(),
        Kind::Forward(settings.order),
        x,
        &mut workspace.sweeps,
        observer,
    )
}
