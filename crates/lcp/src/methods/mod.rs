//! Methods for the box MLCP, one module each, all with the same signature.

pub mod block_pivoting;
pub mod dantzig;
pub mod enumerate;
pub mod fas;
pub mod fischer;
pub mod fmg;
pub mod interior_point;
pub mod jacobi;
pub mod keller;
pub mod lemke;
pub mod linear;
pub mod masp;
pub mod mprgp;
pub mod newton;
pub mod newton_coupled;
pub mod pd_amg;
pub mod penalty;
pub mod pgs;
pub mod pgs_coupled;
pub mod policy;
pub mod psor;
pub mod spsor;
pub mod staggered;
pub mod start;

mod pivoting;

use crate::error::InputError;

/// Checks that the tolerance can be met at all.
fn check_tolerance(tolerance: f64) -> Result<(), InputError> {
    crate::error::check_positive("tolerance", tolerance)
}
