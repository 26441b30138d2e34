//! Multigrid as a solver: `tn-mg`, `mg`.

use meniscus_lcp::{InputError, Observer, Report};

use super::{Posed, Settings, Workspace, linear};
use crate::multigrid;
use crate::settings::Solver;

pub(super) fn solve<const D: usize>(
    posed: &Posed<D>,
    solver: Solver,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Report, InputError> {
    if solver == Solver::Mg {
        linear::check(posed.problem)?;
    }
    let settings = multigrid::Settings {
        tolerance: settings.tolerance,
        max_iterations: settings.max_iterations,
        ..Default::default()
    };
    let memory = &mut workspace.multigrid;
    multigrid::solve(posed.problem, &settings, x, memory, observer)
}
