//! Full multigrid with bounds on the finest level alone: `fmg`.

use meniscus_lcp::methods::fmg;
use meniscus_lcp::{InputError, Observer, Report};

use super::reduced::without_held;
use super::{Posed, Settings, Workspace};
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

pub(super) fn solve<const D: usize>(
    posed: &Posed<D>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Report, InputError> {
    let memory = &mut workspace.fmg;
    without_held(posed.problem, x, |problem, stencil, x| {
        let levels = Levels::new(stencil, &settings.fmg.levels)?;
        let settings = fmg::Settings::default()
            .tolerance(settings.tolerance)
            .max_iterations(settings.max_iterations)
            .sweeps(settings.fmg.sweeps);
        fmg::solve(problem, &settings, &levels, x, memory, observer)
    })
}
