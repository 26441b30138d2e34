//! Multigrid for the pressure problem, with walls that the liquid may leave.
//!
//! The problem is a box MLCP whose matrix couples cells that share a face: symmetric, an M-matrix. Rows with a lower bound
//! that are at it ("active") are Dirichlet cells of an otherwise linear multigrid cycle, *truncated* from all coarse
//! spaces. Each iteration
//!
//! 1. relaxes the bounded rows by projected Gauss-Seidel, which is what releases rows from their bounds,
//! 2. takes the rows at their bounds as active, and brings the coarse levels up to date with what changed,
//! 3. adds the correction of one V-cycle, cut off at the bounds, and shorter if that did not lower the energy.
//!
//! Where that is slow although hardly any row changes sides, the next step also uses the direction of the last.
//!
//! Without bounded rows that is plain multigrid. The cycle works in single precision on a residual in double. Transfer is piecewise
//! constant, coarse faces are averages, so that every level has at most one coupling a face (see `level.rs`
//! for how they are stored), except where thin solids divide a coarse cell into several unknowns.
//!
//! [`Workspace::prepare`] makes the levels of a stencil, and the handle that it returns solves any number of problems with that
//! stencil: the pressure, and then the displacement that corrects positions.
//!
//! Everything follows from the [`Stencil`](crate::stencil::Stencil); the result has the same bits for any number of threads
//! and any width of vectors.

mod chunks;
mod clusters;
mod coarse_weights;
mod coarsen;
mod coarsest;
mod conjugate;
mod cycle;
mod finest;
mod hierarchy;
mod irregular_rows;
mod kernels;
mod level;
mod low_rank;
mod response;
mod reuse;
mod settings;
mod simd;
mod solve;
mod stiffness;
mod sums;

#[cfg(test)]
mod tests;

pub use chunks::SHARED;
pub use cycle::Cycle;
pub use low_rank::{CouplingEntry, FREEDOMS, freedoms};
pub use response::{Coupling, Response};
pub use settings::Settings;
pub use solve::{Prepared, Workspace, solve};
pub use stiffness::{SquareBlock, Stiffness};
