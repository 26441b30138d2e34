//! Conjugate gradients for problems without bounds: `cg`, `mg-pcg`.

use meniscus_lcp::methods::{linear, policy};
use meniscus_lcp::{BoxMlcp, Csr, InputError, Observer, Operator, Report};

use super::{Settings, Task, Workspace};
use crate::settings::Solver;

/// Rows must be free or held.
pub(super) fn check(problem: &BoxMlcp<impl Operator>) -> Result<(), InputError> {
    let rows = problem.lower().iter().zip(problem.upper());
    let bounded = |(l, u): (&f64, &f64)| l != u && (l.is_finite() || u.is_finite());
    match rows.into_iter().position(bounded) {
        Some(row) => Err(InputError::BoundedRow { row }),
        None => Ok(()),
    }
}

impl<const D: usize> Task<'_, D> {
    pub(super) fn linear(mut self) -> Result<Report, InputError> {
        self.make_preconditioner()?;
        check(self.posed.problem)?;
        let problem = self.posed.with_matrix()?;
        let Task {
            solver,
            settings,
            x,
            workspace,
            observer,
            ..
        } = self;
        solve_held(&problem, solver, settings, false, x, workspace, observer)
    }
}

/// Rows that are held at a value take the form of policy iteration that has one policy only, and so does the whole system if
/// policy iteration is wanted anyway.
pub(super) fn solve_held<const D: usize>(
    problem: &BoxMlcp<Csr>,
    solver: Solver,
    settings: &Settings,
    policy_wanted: bool,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Report, InputError> {
    let preconditioner = workspace
        .preconditioners
        .of(solver, settings.preconditioner);
    if !policy_wanted && problem.lower().iter().all(|l| l.is_infinite()) {
        let settings = linear::Settings::default()
            .tolerance(settings.tolerance)
            .max_iterations(settings.max_inner_iterations);
        let memory = &mut workspace.linear;
        linear::solve(problem, &settings, preconditioner, x, memory, observer)
    } else {
        let settings = policy::Settings::default()
            .tolerance(settings.tolerance)
            .max_inner_iterations(settings.max_inner_iterations);
        let memory = &mut workspace.policy;
        policy::solve(problem, &settings, preconditioner, x, memory, observer)
    }
}
