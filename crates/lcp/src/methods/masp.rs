//! Modified proportioning with reduced gradient projections, preconditioned by aggregation multigrid, after Takahashi and Batty
//! (2023).
//!
//! [`mprgp`](super::mprgp) with [`Amg`] on the free rows: the hierarchy is made once, of the whole matrix, and filtered to the
//! rows that are strictly inside their bounds whenever these change. For large sparse symmetric matrices of diffusion and pressure,
//! with a grid or without.
//!
//! ```
//! use meniscus_lcp::methods::masp;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = masp::Settings::default();
//! let report = masp::solve(&problem, &settings, &mut x, &mut Default::default(), &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

pub use super::mprgp::{Settings, Workspace};

use crate::csr::Csr;
use crate::error::InputError;
use crate::precondition::{Amg, AmgSettings};
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report};

/// Solves the problem as [`mprgp::solve`](super::mprgp::solve()) does, with a preconditioner of its own.
///
/// A negative entry of the diagonal is an error.
pub fn solve(
    problem: &BoxMlcp<'_, Csr>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    let mut amg = Amg::new(problem.matrix(), AmgSettings::default())?;
    super::mprgp::solve(problem, settings, &mut amg, x, workspace, observer)
}
