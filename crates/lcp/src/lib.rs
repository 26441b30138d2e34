//! Solvers for linear complementarity problems with box bounds.
//!
//! ```
//! use meniscus_lcp::{BoxMlcp, Csr};
//!
//! // x ≥ 0, y = A x + b ≥ 0, and xᵢ yᵢ = 0 in every row.
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let (b, lower, upper) = ([-1.0, 5.0], [0.0; 2], [f64::INFINITY; 2]);
//! let problem = BoxMlcp::new(&matrix, &b, &lower, &upper)?;
//!
//! let x = meniscus_lcp::solve(&problem)?; // chooses a method; an error if none converges
//! assert_eq!(*x, [0.5, 0.0]);
//! println!("{}: residual {:e}", x.solution.solver, x.solution.report.residual);
//! # Ok::<(), meniscus_lcp::SolveError>(())
//! ```
//!
//! # The problem
//!
//! The box-constrained mixed linear complementarity problem, [`BoxMlcp`]: find `x` with `l ≤ x ≤ u` such that, with
//! `y = A x + b`,
//!
//! ```text
//! xᵢ = lᵢ        ⇒  yᵢ ≥ 0
//! lᵢ < xᵢ < uᵢ   ⇒  yᵢ = 0
//! xᵢ = uᵢ        ⇒  yᵢ ≤ 0          for rows with lᵢ < uᵢ; where lᵢ = uᵢ, yᵢ is free
//! ```
//!
//! Rows without finite bounds are linear equations; `l = 0`, `u = ∞` is the classic LCP. Contact without and with Coulomb
//! friction, free surfaces and separating walls of liquids, obstacle problems and American options are of this form. All
//! methods share one error measure, the largest entry of the natural residual
//!
//! ```text
//! rᵢ = xᵢ − clamp(xᵢ − yᵢ, lᵢ, uᵢ)
//! ```
//!
//! # Methods
//!
//! | family | modules |
//! | --- | --- |
//! | pivoting | [`lemke`](methods::lemke), [`dantzig`](methods::dantzig), [`keller`](methods::keller), [`enumerate`](methods::enumerate) |
//! | splitting | [`jacobi`](methods::jacobi), [`pgs`](methods::pgs), [`psor`](methods::psor), [`spsor`](methods::spsor) |
//! | Newton | [`newton`](methods::newton) (minimum map), [`fischer`](methods::fischer) |
//! | active set | [`policy`](methods::policy), [`penalty`](methods::penalty), [`mprgp`](methods::mprgp) |
//! | interior point | [`interior_point`](methods::interior_point) |
//! | multigrid | [`fas`](methods::fas), [`fmg`](methods::fmg), over a [`Hierarchy`] |
//! | linear | [`linear`](methods::linear) |
//! | coupled bounds | [`pgs_coupled`](methods::pgs_coupled), [`staggered`](methods::staggered) |
//!
//! [`which_method`] compares them; [`registry`] has them by name. Each module under [`methods`] has the same signature:
//!
//! ```text
//! solve(&problem, &settings, &mut preconditioner, &mut x, &mut workspace, &mut observer) -> Result<Report, InputError>
//! ```
//!
//! `x` is the start, and the best iterate on return. An [`InputError`] is a broken contract (sizes, NaN, a setting out of
//! range); a solve that does not converge returns a [`Report`] with its [`Status`]. A solve does not allocate once its
//! workspace is warm, and its result has the same bits for any number of threads of rayon's current pool.
//!
//! # Warm start
//!
//! Keep `x` and the workspace between solves.
//!
//! ```
//! use meniscus_lcp::methods::newton;
//! use meniscus_lcp::precondition::{Mic0, Mic0Settings};
//! use meniscus_lcp::{Blocks, BoxMlcp, Csr, Status};
//!
//! // The obstacle problem: a string over a floor, pulled up at its ends.
//! let n = 100;
//! let mut entries = Vec::new();
//! for i in 0..n as u32 {
//!     entries.push((i, i, 2.0));
//!     if i > 0 {
//!         entries.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
//!     }
//! }
//! let matrix = Csr::from_entries(n, entries)?;
//! let (lower, upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
//! let mut preconditioner = Mic0::new(Mic0Settings::default())?;
//! preconditioner.rebuild(&matrix, &Blocks::single(n))?;
//!
//! let settings = newton::Settings::default().tolerance(1e-10);
//! let mut workspace = newton::Workspace::default();
//! let mut x = vec![0.0; n];
//! let mut iterations = Vec::new();
//! for pull in [5.0, 5.01] {
//!     let mut b = vec![0.01; n];
//!     b[0] -= pull;
//!     b[n - 1] -= pull;
//!     let problem = BoxMlcp::new(&matrix, &b, &lower, &upper)?;
//!     let report = newton::solve(&problem, &settings, &mut preconditioner, &mut x, &mut workspace, &mut ())?;
//!     assert_eq!(report.status, Status::Converged);
//!     iterations.push(report.iterations);
//! }
//! assert!(iterations[1] < iterations[0]);
//! assert_eq!(x[n / 2], 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```
//!
//! # Matrix-free operators
//!
//! Krylov, Newton and active-set methods need products with `A` and its diagonal only: implement [`Operator`].
//!
//! ```
//! use meniscus_lcp::methods::mprgp;
//! use meniscus_lcp::precondition::Identity;
//! use meniscus_lcp::{BoxMlcp, Operator, Status};
//!
//! /// The second difference, −1 2 −1.
//! struct Laplacian(usize);
//!
//! impl Operator for Laplacian {
//!     fn len(&self) -> usize {
//!         self.0
//!     }
//!     fn apply(&self, x: &[f64], y: &mut [f64]) {
//!         for i in 0..x.len() {
//!             let below = if i > 0 { x[i - 1] } else { 0.0 };
//!             y[i] = 2.0 * x[i] - below - x.get(i + 1).unwrap_or(&0.0);
//!         }
//!     }
//!     fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
//!         self.apply(x, y); // symmetric
//!     }
//!     fn diagonal(&self, d: &mut [f64]) {
//!         d.fill(2.0);
//!     }
//! }
//!
//! let (b, lower, upper) = ([-1.0, 3.0, -1.0], [0.0; 3], [f64::INFINITY; 3]);
//! let problem = BoxMlcp::new(&Laplacian(3), &b, &lower, &upper)?;
//! let mut x = [0.0; 3];
//! let report = mprgp::solve(&problem, &Default::default(), &mut Identity, &mut x, &mut Default::default(), &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```
//!
//! # Observers
//!
//! An [`Observer`] sees every iteration and can stop the solve, for example after a time limit.
//!
//! ```
//! use meniscus_lcp::methods::pgs;
//! use meniscus_lcp::{BoxMlcp, Csr, Observer, Progress, Status};
//! use std::ops::ControlFlow;
//!
//! struct AtMost(usize);
//!
//! impl Observer for AtMost {
//!     fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
//!         println!("{}: {:e}", progress.iteration, progress.residual);
//!         if progress.iteration < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
//!     }
//! }
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, -1.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let report = pgs::solve(&problem, &Default::default(), &mut x, &mut Default::default(), &mut AtMost(3))?;
//! assert_eq!((report.status, report.iterations), (Status::Stopped, 3));
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```
//!
//! # Data
//!
//! Matrices are [`Csr`] or [`Dense`]; methods that visit single rows need [`Rows`]. Preconditioners are in
//! [`precondition`], problems with known solutions in [`gallery`], and [`matrix_market`] reads and writes files. A caller
//! that is inside the thread pool already (`ThreadPool::install`) saves the way into it for every pass over the rows.

#[macro_use]
mod settings;

pub mod analysis;
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
