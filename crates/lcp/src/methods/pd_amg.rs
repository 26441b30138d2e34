//! Primal-dual interior point method whose systems are solved by aggregation multigrid, after Takahashi and Batty (2024).
//!
//! [`interior_point`](super::interior_point) with conjugate gradients in place of a factorisation, for sparse symmetric matrices of any
//! size. They are preconditioned by a multigrid cycle over aggregates with constant transfers. The rows of an aggregate are connected
//! by strong couplings, so that what is not coupled (two bodies of liquid, the sides of a wall) stays so on coarse levels. Aggregates
//! are made once: the diagonal that the path adds changes coarse matrices by its sums over them.
//!
//! ```
//! use meniscus_lcp::methods::pd_amg;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = pd_amg::Settings::default();
//! let report = pd_amg::solve(&problem, &settings, &mut x, &mut Default::default(), &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

pub use super::interior_point::{Settings, Workspace};

use crate::csr::Csr;
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report};

/// Solves the problem as [`interior_point::solve`](super::interior_point::solve()) does. A matrix that is not symmetric is an error.
pub fn solve(
    problem: &BoxMlcp<'_, Csr>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    super::interior_point::solve_by_multigrid(problem, settings, x, workspace, observer)
}
