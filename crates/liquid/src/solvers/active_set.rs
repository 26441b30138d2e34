//! Methods that solve a linear system on each of several faces of the box: `newton`, `pi-pcg`, `pi-mg`, `pe-pcg`, `pe-mg`,
//! `mprgp-mg`.

use meniscus_lcp::methods::{mprgp, newton, penalty, policy};
use meniscus_lcp::{InputError, Report};

use super::preconditioners::by_cycles;
use super::{Inner, Settings, Task};
use crate::settings::Solver;

/// Directions that GMRES keeps.
const RESTART: usize = 50;

impl<const D: usize> Task<'_, D> {
    pub(super) fn active_set(mut self) -> Result<Report, InputError> {
        self.make_preconditioner()?;
        let problem = self.posed.with_matrix()?;
        let preconditioner = self
            .workspace
            .preconditioners
            .of(self.solver, self.settings.preconditioner);
        let Settings {
            tolerance,
            max_iterations,
            max_inner_iterations,
            ..
        } = *self.settings;
        let (x, observer) = (self.x, self.observer);
        let forcing = self.settings.forcing(by_cycles(self.solver));
        match self.solver {
            Solver::Newton => {
                let settings = newton::Settings::default()
                    .tolerance(tolerance)
                    .max_iterations(max_iterations)
                    .max_inner_iterations(max_inner_iterations)
                    .forcing(forcing)
                    .inner(match self.settings.inner {
                        Inner::Cg => newton::Inner::Pcg,
                        Inner::Cr => newton::Inner::Cr,
                        Inner::Gmres => newton::Inner::Gmres { restart: RESTART },
                        Inner::Bicgstab => newton::Inner::Bicgstab,
                    });
                let memory = &mut self.workspace.newton;
                newton::solve(&problem, &settings, preconditioner, x, memory, observer)
            }
            Solver::PePcg | Solver::PeMg => {
                let settings = penalty::Settings::default()
                    .tolerance(tolerance)
                    .max_iterations(max_iterations)
                    .max_inner_iterations(max_inner_iterations)
                    .inner_tolerance(forcing);
                let memory = &mut self.workspace.penalty;
                penalty::solve(&problem, &settings, preconditioner, x, memory, observer)
            }
            Solver::MprgpMg => {
                let settings = mprgp::Settings::default()
                    .tolerance(tolerance)
                    .max_iterations(max_inner_iterations);
                let memory = &mut self.workspace.mprgp;
                mprgp::solve(&problem, &settings, preconditioner, x, memory, observer)
            }
            _ => {
                let settings = policy::Settings::default()
                    .tolerance(tolerance)
                    .max_iterations(max_iterations)
                    .max_inner_iterations(max_inner_iterations)
                    .inner_tolerance(forcing);
                let memory = &mut self.workspace.policy;
                policy::solve(&problem, &settings, preconditioner, x, memory, observer)
            }
        }
    }
}
