//! Complementarity problems with box bounds.
//!
//! Find `x` in `[l, u]` with `y = A x + b` such that, row by row,
//!
//! ```text
//! l_i < u_i:   x_i = l_i => y_i >= 0      l_i < x_i < u_i => y_i = 0      x_i = u_i => y_i <= 0
//! l_i = u_i:   x_i = l_i, y_i free
//! ```

pub mod krylov;
pub mod matrix_market;
pub mod methods;
pub mod precondition;
pub mod reduce;

mod blocks;
mod csr;
mod error;
mod face;
mod minimum_map;
mod operator;
mod problem;
mod report;
mod split;

pub use blocks::Blocks;
pub use csr::Csr;
pub use error::InputError;
pub use operator::{Masked, Operator};
pub use problem::BoxMlcp;
pub use report::{InnerProgress, Observer, Progress, Report, Status, Trace};
