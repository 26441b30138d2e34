//! Krylov methods for linear systems.
//!
//! | method | for | module |
//! | --- | --- | --- |
//! | conjugate gradients | `A` symmetric positive semidefinite | [`pcg`] |
//! | conjugate residuals | `A` symmetric, indefinite too | [`cr`] |
//! | GMRES | any `A`, one vector per step | [`gmres`] |
//! | BiCGStab | any `A`, little memory | [`bicgstab`] |

pub mod bicgstab;
pub mod cr;
pub mod gmres;
pub mod pcg;

mod arnoldi;
mod restart;

use crate::error::{InputError, check_finite, check_length};
use crate::operator::Operator;
use crate::split::for_each;

/// Checks the right-hand side and the start of a linear solve.
fn check(matrix: &(impl Operator + ?Sized), c: &[f64], x: &[f64]) -> Result<(), InputError> {
    check_length("c", matrix.len(), c.len())?;
    check_length("x", matrix.len(), x.len())?;
    check_finite("c", c)?;
    check_finite("x", x)
}

/// `r = c - A x`
fn residual(matrix: &(impl Operator + ?Sized), c: &[f64], x: &[f64], r: &mut [f64]) {
    matrix.apply(x, r);
    for_each((&mut *r, c), &|_, (r, c): (&mut [f64], &[f64])| {
        for (r, c) in r.iter_mut().zip(c) {
            *r = c - *r;
        }
    });
}
