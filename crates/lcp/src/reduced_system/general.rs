//! Reduced system by Krylov methods other than conjugate gradients.

use super::{Accuracy, NullSpace, ReducedSystem, SolveContext, Solved, add};
use crate::krylov::{bicgstab, cr, gmres, pcg};
use crate::methods::newton::Inner;
use crate::minimum_map::MeritState;
use crate::operator::{Masked, Operator};
use crate::precondition::{MaskedPreconditioner, Preconditioner};
use crate::reduce;

impl ReducedSystem {
    /// Solves `A_AA dx_A = -y_A - A_AF dx_F` by another method than conjugate gradients.
    ///
    /// Null vectors of non-symmetric matrices prove nothing about the problem, and are not followed.
    pub fn solve_general(
        &mut self,
        context: &mut SolveContext<'_, '_, impl Operator + ?Sized, impl Preconditioner + ?Sized>,
        state: &MeritState,
        accuracy: &Accuracy,
        inner: Inner,
    ) -> Solved {
        self.right_hand_side(context.problem, state);
        let norm = state.squares.sqrt();
        let enough = (accuracy.forcing * norm).max(accuracy.enough.min(0.5 * norm));
        let report = match inner {
            Inner::Gmres { restart } => self.by_gmres(context, enough, accuracy, restart),
            _ => self.by_short_recurrence(context, enough, accuracy, inner),
        };
        Solved {
            status: report.status,
            iterations: report.iterations,
            null: NullSpace::Unmet,
        }
    }

    fn by_gmres(
        &mut self,
        context: &mut SolveContext<'_, '_, impl Operator + ?Sized, impl Preconditioner + ?Sized>,
        norm: f64,
        accuracy: &Accuracy,
        restart: usize,
    ) -> pcg::Report {
        let limits = gmres::Limits {
            norm,
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
        let matrix = Masked::new(context.problem.matrix(), active);
        let preconditioner = MaskedPreconditioner {
            inner: context.preconditioner,
            active,
        };
        let mut watch = |report: &gmres::Report| (context.watch)(&as_pcg(report));
        let report = gmres::correct(&matrix, &preconditioner, &limits, dx, r, gmres, &mut watch);
        as_pcg(&report)
    }

    /// Conjugate residuals or stabilised biconjugate gradients, which need no basis.
    fn by_short_recurrence(
        &mut self,
        context: &mut SolveContext<'_, '_, impl Operator + ?Sized, impl Preconditioner + ?Sized>,
        norm: f64,
        accuracy: &Accuracy,
        inner: Inner,
    ) -> pcg::Report {
        let Self {
            dx,
            r,
            active,
            cr,
            bicgstab,
            rhs,
            correction,
            ..
        } = self;
        rhs.clear();
        rhs.extend_from_slice(r);
        correction.clear();
        correction.resize(rhs.len(), 0.0);
        let before = reduce::sum_of_squares(rhs).sqrt();
        let settings = pcg::Settings {
            relative_tolerance: if before > 0.0 { norm / before } else { 0.0 },
            absolute_tolerance: 0.0,
            max_iterations: accuracy.max_iterations,
        };
        let matrix = Masked::new(context.problem.matrix(), active);
        let preconditioner = MaskedPreconditioner {
            inner: context.preconditioner,
            active,
        };
        let mut watch = |report: &cr::Report| (context.watch)(&short_as_pcg(report));
        let solved = match inner {
            Inner::Bicgstab => bicgstab::solve_watched(
                &matrix,
                rhs,
                &settings,
                &preconditioner,
                correction,
                bicgstab,
                &mut watch,
            ),
            _ => cr::solve_watched(
                &matrix,
                rhs,
                &settings,
                &preconditioner,
                correction,
                cr,
                &mut watch,
            ),
        };
        let Ok(report) = solved else {
            // Only a right-hand side that is not finite breaks their contract.
            return pcg::Report {
                status: pcg::Status::NonFinite,
                iterations: 0,
                norm: before,
                largest: before,
            };
        };
        // What is left, on active rows, of the equation.
        matrix.apply(correction, r);
        for (r, rhs) in r.iter_mut().zip(&*rhs) {
            *r = rhs - *r;
        }
        add(dx, 1.0, correction);
        short_as_pcg(&report)
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

/// The same for the methods with short recurrences.
fn short_as_pcg(report: &cr::Report) -> pcg::Report {
    let status = match report.status {
        cr::Status::Converged => pcg::Status::Converged,
        cr::Status::IterationLimit => pcg::Status::IterationLimit,
        cr::Status::Singular | cr::Status::Breakdown => pcg::Status::Singular,
        cr::Status::NonFinite => pcg::Status::NonFinite,
        cr::Status::Stopped => pcg::Status::Stopped,
    };
    pcg::Report {
        status,
        iterations: report.iterations,
        norm: report.norm,
        largest: report.largest,
    }
}
