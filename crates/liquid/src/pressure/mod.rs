//! The pressure step, in four parts: [`weights`], [`system`], [`solve`], [`gradient`]; [`projection`] does all of it.

pub mod gradient;
pub mod pockets;
pub mod projection;
pub mod rows;
pub mod solve;
pub mod system;
pub mod weights;

pub use projection::{PressureProjection, SolveBy};
pub use rows::Rows;
pub use solve::WarmStart;
pub use system::System;
pub use weights::{FaceNeighbour, Weights};
