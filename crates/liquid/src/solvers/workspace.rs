//! Workspace of the methods.

use meniscus_lcp::methods::{fas, fmg, linear, mprgp, newton, penalty, policy};
use meniscus_lcp::{BoxMlcp, InputError, Report};

use super::fallback::MANY;
use super::preconditioners::Preconditioners;
use super::{Settings, linear as linear_family, start};
use crate::multigrid;
use crate::settings::{Preconditioner, Solver};
use crate::stencil::{Stencil, with_matrix};

/// Memory of the methods, kept between solves. Those that are not used take none.
#[derive(Debug, Default)]
pub struct Workspace<const D: usize> {
    pub(super) preconditioners: Preconditioners<D>,
    pub(super) start: start::Memory,
    pub(super) linear: linear::Workspace,
    pub(super) newton: newton::Workspace,
    pub(super) policy: policy::Workspace,
    pub(super) penalty: penalty::Workspace,
    pub(super) mprgp: mprgp::Workspace,
    pub(super) fas: fas::Workspace,
    pub(super) fmg: fmg::Workspace,
    pub(crate) multigrid: multigrid::Workspace<D>,
    /// What ran last: its preconditioner is there.
    pub(crate) last: Option<(Solver, Preconditioner)>,
}

impl<const D: usize> Workspace<D> {
    /// Makes [`Workspace::solve_again`] use multigrid where that pays for so many rows, else plain conjugate gradients.
    pub(crate) fn prefer_multigrid(&mut self, rows: usize) {
        self.last = (rows >= MANY).then_some((Solver::Mg, Preconditioner::None));
    }

    /// Solves a linear problem, in which rows may be held, with the stencil of another that was solved before and what was
    /// prepared for that one.
    pub(crate) fn solve_again(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        prepared: &BoxMlcp<Stencil<D>>,
        tolerance: f64,
        limit: usize,
        x: &mut [f64],
    ) -> Result<Report, InputError> {
        let (solver, preconditioner) = self.last.unwrap_or((Solver::Cg, Preconditioner::None));
        let by_cycles = [Solver::TnMg, Solver::Mg, Solver::FasMg, Solver::Fmg];
        if by_cycles.contains(&solver) {
            let settings = multigrid::Settings {
                tolerance,
                max_iterations: limit,
                ..Default::default()
            };
            let mut levels = self.multigrid.prepare(prepared)?;
            levels.solve(problem, &settings, x, &mut ())
        } else {
            let settings = Settings {
                solver,
                preconditioner,
                tolerance,
                max_inner_iterations: limit,
                ..Default::default()
            };
            // With bounds, scratch of the same method serves both.
            let bounded = prepared.lower().iter().any(|l| l.is_finite());
            let problem = with_matrix(problem)?;
            linear_family::solve_held(&problem, solver, &settings, bounded, x, self, &mut ())
        }
    }
}
