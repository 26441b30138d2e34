//! The pressure step, in four parts: [`weights`], [`system`], [`solve`], [`mod@apply`].

pub mod apply;
pub mod pockets;
pub mod rows;
pub mod solve;
pub mod system;
pub mod weights;

#[cfg(test)]
mod tests;

pub use apply::apply;
pub use rows::{NO_ROW, Rows};
pub use solve::{Solvers, WarmStart};
pub use system::System;
pub use weights::{Beyond, Weights};
