//! Projected symmetric successive over-relaxation. [Erl13 (53)-(59)]
//!
//! ```text
//! x_i <- clamp(x_i - omega (A x + b)_i / A_ii, l_i, u_i)        for one row after the other, then back again
//! ```
//!
//! [PSOR](super::psor) there and back: no row is favoured by its place, and without bounds the sweep is a symmetric
//! operator.
//!
//! ```
//! use meniscus_lcp::methods::spsor;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = spsor::Settings::default();
//! let mut workspace = spsor::Workspace::default();
//! let report = spsor::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use crate::splitting::{Kind, solve_by_sweeps};

/// The settings of [PSOR](super::psor). A sweep runs forward and backward, so that a check costs about half as much.
pub use super::psor::{Settings, Workspace};

solve_by_sweeps! {
    |settings| Kind::Symmetric(settings.order),
    /// Converges if `A` is symmetric and positive definite [Erl13 (53)-(59)], or an M-matrix, or strictly diagonally
    /// dominant (then for `omega <= 1`); if it is merely positive semidefinite, `x` may grow without bound where the problem has no solution.
}
