//! The system on a face whose matrix is not symmetric.

use super::{Accuracy, Face, Means, NullSpace, Solved};
use crate::krylov::{gmres, pcg};
use crate::minimum_map::Standing;
use crate::operator::{Masked, Operator};
use crate::precondition::{MaskedPreconditioner, Preconditioner};

impl Face {
    /// Solves `A_AA dx_A = -y_A - A_AF dx_F` by GMRES, with so many directions in a cycle.
    ///
    /// What a null vector of a matrix that is not symmetric says about the problem is not known: none is followed.
    pub fn solve_general<A, P>(
        &mut self,
        means: &mut Means<'_, '_, A, P>,
        standing: &Standing,
        accuracy: &Accuracy,
        restart: usize,
    ) -> Solved
    where
        A: Operator + ?Sized,
        P: Preconditioner + ?Sized,
    {
        self.right_hand_side(means.problem, standing);
        let norm = standing.squares.sqrt();
        let limits = gmres::Limits {
            norm: (accuracy.forcing * norm).max(accuracy.enough.min(0.5 * norm)),
            iterations: accuracy.max_iterations,
            restart,
        };
        let Self {
            dx,
            r,
            active,
            gmres,
            ..
        } = self;
        let matrix = Masked::new(means.problem.matrix(), active);
        let preconditioner = MaskedPreconditioner {
            inner: means.preconditioner,
            active,
        };
        let mut watch = |report: &gmres::Report| (means.watch)(&as_pcg(report));
        let report = gmres::correct(&matrix, &preconditioner, &limits, dx, r, gmres, &mut watch);
        Solved {
            status: as_pcg(&report).status,
            iterations: report.iterations,
            null: NullSpace::Unmet,
        }
    }
}

/// The report in the words of conjugate gradients. `||r||_2` bounds `||r||_inf`, which GMRES does not know.
fn as_pcg(report: &gmres::Report) -> pcg::Report {
    let status = match report.status {
        gmres::Status::Converged => pcg::Status::Converged,
        gmres::Status::IterationLimit => pcg::Status::IterationLimit,
        gmres::Status::Singular | gmres::Status::Stagnated => pcg::Status::Singular,
        gmres::Status::NonFinite => pcg::Status::NonFinite,
        gmres::Status::Stopped => pcg::Status::Stopped,
    };
    pcg::Report {
        status,
        iterations: report.iterations,
        norm: report.norm,
        largest: report.norm,
    }
}
