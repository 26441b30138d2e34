//! Multigrid by the full approximation scheme: `fas-mg`.

use meniscus_lcp::methods::fas;
use meniscus_lcp::{InputError, Report};

use super::reduced::without_held;
use super::{Settings, Task};
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

impl<const D: usize> Task<'_, D> {
    pub(super) fn fas(self) -> Result<Report, InputError> {
        let Settings {
            tolerance,
            max_iterations,
            fas: own,
            ..
        } = *self.settings;
        let memory = &mut self.workspace.fas;
        without_held(self.posed.problem, self.x, |problem, stencil, x| {
            let levels = Levels::new(stencil, &own.levels)?;
            let settings = fas::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_iterations)
                .sweeps_before(own.sweeps)
                .sweeps_after(own.sweeps)
                .bound_sweeps(own.bound_sweeps);
            fas::solve(problem, &settings, &levels, x, memory, self.observer)
        })
    }
}
