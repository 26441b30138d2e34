#![doc = include_str!("../README.md")]
//!
//! ## Methods
//!
//! | family | modules |
//! | --- | --- |
//! | pivoting | [`lemke`](methods::lemke), [`dantzig`](methods::dantzig), [`keller`](methods::keller), [`block_pivoting`](methods::block_pivoting), [`enumerate`](methods::enumerate) |
//! | splitting | [`jacobi`](methods::jacobi), [`pgs`](methods::pgs), [`psor`](methods::psor), [`spsor`](methods::spsor) |
//! | Newton | [`newton`](methods::newton) (minimum map), [`fischer`](methods::fischer) |
//! | active set | [`policy`](methods::policy), [`penalty`](methods::penalty), [`mprgp`](methods::mprgp), [`masp`](methods::masp) |
//! | interior point | [`interior_point`](methods::interior_point), [`pd_amg`](methods::pd_amg) |
//! | multigrid | [`fas`](methods::fas), [`fmg`](methods::fmg), over a [`Hierarchy`] |
//! | linear | [`linear`](methods::linear) |
//! | coupled bounds | [`pgs_coupled`](methods::pgs_coupled), [`newton_coupled`](methods::newton_coupled), [`staggered`](methods::staggered) |
//!
//! [`which_method`] compares them; [`registry`] has them by name; [`Monitor`] has the exits of every iterative method, in
//! one order.
//!
//! ## Data
//!
//! A problem is a [`BoxMlcp`]. Its matrix is a [`Csr`], a [`Dense`] or any [`Operator`]; methods that visit single rows need
//! [`Rows`]. Linear solvers are in [`krylov`], preconditioners in [`precondition`], problems with known solutions in
//! [`gallery`], and [`matrix_market`] reads and writes files. A caller that is inside the thread pool already
//! (`ThreadPool::install`) saves the way into it for every pass over the rows.

#[macro_use]
mod settings;

pub mod analysis;
pub mod certificate;
pub mod factor;
pub mod gallery;
pub mod krylov;
pub mod matrix_market;
pub mod methods;
pub mod precondition;
pub mod reduce;
pub mod registry;

#[doc = include_str!("../docs/which-method.md")]
pub mod which_method {}

mod blocks;
mod colouring;
mod coupled_bounds;
mod csr;
mod dense;
mod error;
mod hierarchy;
mod minimum_map;
mod monitor;
mod operator;
mod problem;
mod rect_csr;
mod reduced_system;
mod report;
mod rows;
mod semismooth;
mod solve;
mod sparse_factor;
mod split;
mod splitting;

pub use blocks::Blocks;
pub use colouring::Colouring;
pub use coupled_bounds::{CoupledBound, CoupledBoundMlcp};
pub use csr::Csr;
pub use dense::Dense;
pub use error::InputError;
pub use hierarchy::{Galerkin, Hierarchy, Transfer};
pub use monitor::{Best, Iterate, Monitor};
pub use operator::{Masked, Operator};
pub use problem::BoxMlcp;
pub use report::{InnerProgress, Observer, Progress, Report, Status, Trace};
pub use rows::Rows;
pub use solve::{SolveError, Solved, solve};
pub use splitting::Order;
