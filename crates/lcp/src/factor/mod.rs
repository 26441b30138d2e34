//! Factorisations: dense Cholesky, dense LU with partial pivoting, dense LDU with row updates, sparse LU by blocks.
//!
//! | type | for | cost |
//! | --- | --- | --- |
//! | [`Cholesky`] | symmetric positive definite matrices | `1/3 n^3` to make, `2 n^2` to solve |
//! | [`Lu`] | any square matrix, singular ones too | `2/3 n^3` to make, `2 n^2` to solve |
//! | [`Ldu`] | the rows and columns of a set that gains and loses members | `2 n^2` to add or remove one, `2 n^2` to solve |
//! | [`BlockLu`] | sparse matrices of small dense blocks | follows the fill |
//! | [`MonotoneLu`] | sparse matrices with a semidefinite symmetric part, singular ones too | follows the fill |

mod block_lu;
mod cholesky;
mod ldu;
mod lu;
mod monotone;

pub use block_lu::{Block, BlockLu};
pub use cholesky::Cholesky;
pub use ldu::Ldu;
pub use lu::Lu;
pub use monotone::MonotoneLu;
