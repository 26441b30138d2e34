//! Dense factorisations: LU with partial pivoting, and LDU with row updates.
//!
//! | type | for | cost |
//! | --- | --- | --- |
//! | [`Lu`] | any square matrix, singular ones too | `2/3 n^3` to make, `2 n^2` to solve |
//! | [`Ldu`] | the rows and columns of a set that gains and loses members | `2 n^2` to add or remove one, `2 n^2` to solve |

mod ldu;
mod lu;

pub use ldu::Ldu;
pub use lu::Lu;
