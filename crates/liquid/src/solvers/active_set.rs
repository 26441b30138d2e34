//! Methods that solve a linear system on each of several faces of the box: `newton`, `pi-pcg`, `pi-mg`, `pe-pcg`, `pe-mg`,
//! `mprgp-mg`.

use meniscus_lcp::methods::{mprgp, newton, penalty, policy};
use meniscus_lcp::{BoxMlcp, Csr, InputError, Observer, Report};

use super::preconditioners::by_cycles;
use super::{Inner, Settings, Workspace};
use crate::settings::Solver;

/// Directions that GMRES keeps.
const RESTART: usize = 50;

/// The preconditioner must be there.
pub(super) fn solve<const D: usize>(
    problem: &BoxMlcp<Csr>,
    solver: Solver,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Report, InputError> {
    let preconditioner = workspace
        .preconditioners
        .of(solver, settings.preconditioner);
    let Settings {
        tolerance,
        max_iterations,
        max_inner_iterations,
        ..
    } = *settings;
    let forcing = settings.forcing(by_cycles(solver));
    match solver {
        Solver::Newton => {
            let settings = newton::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_iterations)
                .max_inner_iterations(max_inner_iterations)
                .forcing(forcing)
                .inner(match settings.inner {
                    Inner::Cg => newton::Inner::Pcg,
                    Inner::Cr => newton::Inner::Cr,
                    Inner::Gmres => newton::Inner::Gmres { restart: RESTART },
                    Inner::Bicgstab => newton::Inner::Bicgstab,
                });
            let memory = &mut workspace.newton;
            newton::solve(problem, &settings, preconditioner, x, memory, observer)
        }
        Solver::PePcg | Solver::PeMg => {
            let settings = penalty::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_iterations)
                .max_inner_iterations(max_inner_iterations)
                .inner_tolerance(forcing);
            let memory = &mut workspace.penalty;
            penalty::solve(problem, &settings, preconditioner, x, memory, observer)
        }
        Solver::MprgpMg => {
            let settings = mprgp::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_inner_iterations);
            let memory = &mut workspace.mprgp;
            mprgp::solve(problem, &settings, preconditioner, x, memory, observer)
        }
        _ => {
            let settings = policy::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_iterations)
                .max_inner_iterations(max_inner_iterations)
                .inner_tolerance(forcing);
            let memory = &mut workspace.policy;
            policy::solve(problem, &settings, preconditioner, x, memory, observer)
        }
    }
}
