//! Projected Jacobi. [Erl13 sec. 5.2]
//!
//! ```text
//! x <- clamp(x - omega inv(D) (A x + b), l, u)        D = diag(A)
//! ```
//!
//! Every row from the old `x`: all rows in parallel, and slower than [`pgs`](super::pgs) for it.
//!
//! ```
//! use meniscus_lcp::methods::jacobi;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = jacobi::Settings::default();
//! let mut workspace = jacobi::Workspace::default();
//! let report = jacobi::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report};
use crate::rows::Rows;
use crate::splitting::{self, Kind, Rules, Sweeps};

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
        /// A check costs next to nothing: the sweep that follows needs `A x + b`, too.
        pub check_every: usize = 1,
        /// `omega`, between 0 and 2.
        ///
        /// DEVIATION [Erl13 sec. 5.2]: the notes do not damp. Undamped, the method fails on symmetric positive
        /// definite matrices of three rows already.
        pub relaxation: f64 = 2.0 / 3.0,
    }
}

impl Settings {
    fn rules(&self) -> Rules {
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
    sweeps: Sweeps,
}

/// Solves the problem, starting from the given `x`, projected onto the box.
///
/// Converges if `A` is symmetric and all eigenvalues of `inv(D) A` lie between 0 and `2/omega`: they do for symmetric
/// M-matrices, not for all positive definite ones; or if `A` is strictly diagonally dominant and `omega <= 1`. Where it
/// does not converge, `x` overflows or jumps between its bounds, which the status reports.
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
        Kind::Jacobi,
        x,
        &mut workspace.sweeps,
        observer,
    )
}
