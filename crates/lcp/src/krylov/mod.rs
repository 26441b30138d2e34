//! Krylov methods for linear systems.
//!
//! | method | for | module |
//! | --- | --- | --- |
//! | conjugate gradients | `A` symmetric positive semidefinite | [`pcg`] |
//! | conjugate residuals | `A` symmetric, indefinite too | [`cr`] |
//! | GMRES | any `A`, a vector a step | [`gmres`] |
//! | BiCGStab | any `A`, little memory | [`bicgstab`] |

pub mod bicgstab;
pub mod cr;
pub mod gmres;
pub mod pcg;

mod arnoldi;
mod restart;
