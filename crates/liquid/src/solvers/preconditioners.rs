//! The preconditioners with their memory.

use meniscus_lcp::InputError;
use meniscus_lcp::precondition::{
    Ainv, AinvSettings, Ic0, Identity, Jacobi, Mic0, Preconditioner, Ssor,
};

use super::Posed;
use crate::multigrid::Cycle;
use crate::settings::{Preconditioner as Choice, Solver};

/// Sweeps of the cycle that preconditions conjugate gradients for linear systems.
const LINEAR_SWEEPS: usize = 2;
/// And for those on faces of the box.
const FACE_SWEEPS: usize = 3;

/// All of them; those that are not used are empty.
#[derive(Debug, Default)]
pub(super) struct Preconditioners<const D: usize> {
    mic0: Mic0,
    ic0: Ic0,
    jacobi: Jacobi,
    ssor: Ssor,
    ainv: Option<Ainv>,
    identity: Identity,
    cycle: Cycle<D>,
}

/// Whether a method is preconditioned by a cycle.
pub(super) fn by_cycles(solver: Solver) -> bool {
    matches!(
        solver,
        Solver::MgPcg | Solver::PiMg | Solver::PeMg | Solver::MprgpMg
    )
}

impl<const D: usize> Preconditioners<D> {
    /// Makes the preconditioner of a method.
    pub fn rebuild(
        &mut self,
        posed: &Posed<D>,
        solver: Solver,
        choice: Choice,
    ) -> Result<(), InputError> {
        if by_cycles(solver) {
            let sweeps = if solver == Solver::MgPcg {
                LINEAR_SWEEPS
            } else {
                FACE_SWEEPS
            };
            return self.cycle.rebuild(posed.problem, sweeps);
        }
        let matrix = posed.problem.matrix().matrix();
        match choice {
            Choice::Mic0 => self.mic0.rebuild(matrix, posed.blocks),
            Choice::Ic0 => self.ic0.rebuild(matrix),
            Choice::Jacobi => self.jacobi.rebuild(matrix),
            Choice::Ssor => self.ssor.rebuild(matrix),
            Choice::Ainv => match &mut self.ainv {
                Some(ainv) => ainv.rebuild(matrix),
                none => none
                    .insert(Ainv::new(AinvSettings::default())?)
                    .rebuild(matrix),
            },
            Choice::None => Ok(()),
        }
    }

    /// The preconditioner of a method, as it was made last.
    pub fn of(&mut self, solver: Solver, choice: Choice) -> &mut dyn Preconditioner {
        if by_cycles(solver) {
            return &mut self.cycle;
        }
        match (choice, &mut self.ainv) {
            (Choice::Mic0, _) => &mut self.mic0,
            (Choice::Ic0, _) => &mut self.ic0,
            (Choice::Jacobi, _) => &mut self.jacobi,
            (Choice::Ssor, _) => &mut self.ssor,
            (Choice::Ainv, Some(ainv)) => ainv,
            (Choice::Ainv | Choice::None, _) => &mut self.identity,
        }
    }
}
