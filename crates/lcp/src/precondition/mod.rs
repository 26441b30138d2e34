//! Approximate inverses.

mod ainv;
mod amg;
mod ic0;
mod jacobi;
mod level_schedule;
mod mic0;
mod ssor;

pub use ainv::{Ainv, AinvPattern, AinvSettings};
pub use amg::{Amg, AmgSettings};
pub use ic0::{Ic0, Ic0Settings};
pub use jacobi::Jacobi;
pub use mic0::{Mic0, Mic0Settings};
pub use ssor::{Ssor, SsorSettings};

use crate::reduce;

/// An approximate inverse `P` of a symmetric positive semidefinite matrix: symmetric and positive definite itself.
///
/// Methods that work on a part of the rows use the masked form `a (P (a r)) + f r` of [ANE17 (42)], with `a` 1 on
/// the active rows and 0 elsewhere, `f = 1 - a`. They announce the active rows first, so that a preconditioner
/// that can follow them does, instead of approximating the inverse of rows that are no longer there.
pub trait Preconditioner: Sync {
    /// `z = P r`
    fn apply(&self, r: &[f64], z: &mut [f64]);

    /// `z = P r`, returns `r'z`, in one pass where the preconditioner can.
    fn apply_dot(&self, r: &[f64], z: &mut [f64]) -> f64 {
        self.apply(r, z);
        reduce::dot(r, z)
    }

    /// `z = a (P (a r)) + f r`, returns `r'z`.
    ///
    /// `active` is the mask of the last call of [`restrict`](Self::restrict).
    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64;

    /// Sets the rows of the masked applications that follow; [`apply`](Self::apply) is unaffected.
    fn restrict(&mut self, active: &[bool]) {
        let _ = active;
    }
}

/// `P = I`
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity;

impl Preconditioner for Identity {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
    }

    fn apply_masked_dot(&self, _: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        self.apply_dot(r, z)
    }
}

/// `a (P (a r)) + f r` as a preconditioner. [ANE17 (42)]
#[derive(Debug)]
pub(crate) struct MaskedPreconditioner<'a, P: Preconditioner + ?Sized> {
    pub(crate) inner: &'a P,
    pub(crate) active: &'a [bool],
}

impl<P: Preconditioner + ?Sized> Preconditioner for MaskedPreconditioner<'_, P> {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.apply_dot(r, z);
    }

    fn apply_dot(&self, r: &[f64], z: &mut [f64]) -> f64 {
        self.inner.apply_masked_dot(self.active, r, z)
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        self.inner.apply_masked_dot(active, r, z)
    }
}
