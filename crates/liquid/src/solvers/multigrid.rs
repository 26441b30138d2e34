//! Multigrid as a solver: `tn-mg`, `mg`.

use meniscus_lcp::{InputError, Report};

use super::{Task, linear};
use crate::multigrid;
use crate::settings::Solver;

impl<const D: usize> Task<'_, D> {
    pub(super) fn multigrid(self) -> Result<Report, InputError> {
        let problem = self.posed.problem;
        if self.solver == Solver::Mg {
            linear::check(problem)?;
        }
        let settings = multigrid::Settings {
            tolerance: self.settings.tolerance,
            max_iterations: self.settings.max_iterations,
            ..Default::default()
        };
        let memory = &mut self.workspace.multigrid;
        multigrid::solve(problem, &settings, self.x, memory, self.observer)
    }
}
