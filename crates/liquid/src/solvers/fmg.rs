//! Full multigrid with bounds on the finest level alone: `fmg`.

use meniscus_lcp::methods::fmg;
use meniscus_lcp::{InputError, Report};

use super::reduced::without_held;
use super::{Settings, Task};
use crate::fas::{self, Boundaries, Coarse, Interpolation, Levels};

/// Levels and sweeps of `fmg`; the defaults are those of Chentanez and Mueller (2012). [Lai20 sec. 5]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fmg {
    /// Default: trilinear, solids not looked at, direct discretisation.
    pub levels: fas::Settings,
    /// Sweeps before the coarser level is visited, and again after. Default: 4.
    pub sweeps: usize,
}

impl Default for Fmg {
    fn default() -> Self {
        Self {
            levels: fas::Settings {
                interpolation: Interpolation::Trilinear,
                boundaries: Boundaries::Plain,
                coarse: Coarse::Direct,
            },
            sweeps: 4,
        }
    }
}

impl<const D: usize> Task<'_, D> {
    pub(super) fn fmg(self) -> Result<Report, InputError> {
        let Settings {
            tolerance,
            max_iterations,
            fmg: own,
            ..
        } = *self.settings;
        let memory = &mut self.workspace.fmg;
        without_held(self.posed.problem, self.x, |problem, stencil, x| {
            let levels = Levels::new(stencil, &own.levels)?;
            let settings = fmg::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_iterations)
                .sweeps(own.sweeps);
            fmg::solve(problem, &settings, &levels, x, memory, self.observer)
        })
    }
}
