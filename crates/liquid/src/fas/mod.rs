//! Levels of a pressure problem for multigrid by the full approximation scheme. [Lai20 sec. 4.3]
//!
//! The scheme itself is algebra, [`meniscus_lcp::methods::fas`]; what depends on the grid is here: which cells make a coarse
//! unknown, and what a fine cell takes from which of them.
//!
//! A coarse cell has twice the width, and an unknown for each part of its liquid that hangs together *within* it, so that
//! nothing joins the two sides of a thin solid. A fine cell takes its value from the coarse unknown that it is part of, and
//! from those next to that one along the axes, as long as faces lead there (`transfer.rs`). Where none does, it is solid or
//! air that is in between: solid is left out, and the other weights grow to a sum of one; in the air the pressure is zero,
//! and its weight stays.
//!
//! Which it is, the assembly says: [`StencilRow::air`](crate::stencil::StencilRow::air).

mod coarsen;
mod direct;
mod hierarchy;
mod level;
mod settings;
mod transfer;

pub use hierarchy::Levels;
pub use settings::{Boundaries, Coarse, Interpolation, Settings};
