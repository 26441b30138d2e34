//! Multigrid by the full approximation scheme: `fas-mg`.

use meniscus_lcp::methods::fas;
use meniscus_lcp::{InputError, Observer, Report};

use super::reduced::without_held;
use super::{Posed, Settings, Workspace};
use crate::fas::{self as levels, Levels};

/// Levels and sweeps of `fas-mg`; the defaults are those of the paper but for `bound_sweeps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fas {
    /// Default: barycentric, one-sided at solids, Galerkin.
    pub levels: levels::Settings,
    /// Sweeps before the coarser level is visited, and again after. Default: 2.
    pub sweeps: usize,
    /// Further ones over the rows at walls and their neighbours alone. Default: 2; the paper has none.
    pub bound_sweeps: usize,
}

impl Default for Fas {
    fn default() -> Self {
        Self {
            levels: levels::Settings::default(),
            sweeps: 2,
            bound_sweeps: 2,
        }
    }
}

pub(super) fn solve<const D: usize>(
    posed: &Posed<D>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Report, InputError> {
    let memory = &mut workspace.fas;
    without_held(posed.problem, x, |problem, stencil, x| {
        let levels = Levels::new(stencil, &settings.fas.levels)?;
        let settings = fas::Settings::default()
            .tolerance(settings.tolerance)
            .max_iterations(settings.max_iterations)
            .sweeps_before(settings.fas.sweeps)
            .sweeps_after(settings.fas.sweeps)
            .bound_sweeps(settings.fas.bound_sweeps);
        fas::solve(problem, &settings, &levels, x, memory, observer)
    })
}
