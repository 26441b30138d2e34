//! Complementarity problems with box bounds.
//!
//! Find `x` in `[l, u]` with `y = A x + b` such that, row by row,
//!
//! ```text
//! l_i < u_i:   x_i = l_i => y_i >= 0      l_i < x_i < u_i => y_i = 0      x_i = u_i => y_i <= 0
//! l_i = u_i:   x_i = l_i, y_i free
//! ```
//!
//! Rows without finite bounds are linear equations; rows with `l = 0`, `u = inf` are those of the classic LCP. This is
//! the box MLCP, [`BoxMlcp`]. How far a point is from a solution is told by one number for all methods, the largest
//! entry of the natural residual
//!
//! ```text
//! r_i = x_i - clamp(x_i - y_i, l_i, u_i)
//! ```
//!
//! Every method has the same shape, one module each under [`methods`]:
//!
//! ```text
//! solve(&problem, &settings, &mut preconditioner, &mut x, &mut workspace, &mut observer) -> Result<Report, InputError>
//! ```
//!
//! `x` is where it starts and where it leaves its best point. An error is a broken contract (sizes, NaN, a setting out
//! of range); not converging is a [`Report`] with an honest [`Status`]. The workspace is memory, kept between solves;
//! the observer watches and may stop; the preconditioner is one of [`precondition`], and is told which rows it is used
//! on.
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
//! | bounds that follow another unknown | [`pgs_following`](methods::pgs_following), [`staggered`](methods::staggered) |
//!
//! [`which_method`] says which to take. [`toolbox`] has them all by name, and one that picks.
//!
//! Matrices are [`Csr`], [`Dense`], or anything that is an [`Operator`] (for methods that need products only) or has
//! [`Rows`]. Work is shared by the threads of rayon's current pool, and
//! the result has the same bits for any number of them; a caller who is in the pool already (`ThreadPool::install`)
//! saves the way into it for every pass over the rows. Problems are exchanged as Matrix Market files,
//! [`matrix_market`].
//!
//! ```
//! use meniscus_lcp::methods::newton;
//! use meniscus_lcp::precondition::{Mic0, Mic0Settings};
//! use meniscus_lcp::{Blocks, BoxMlcp, Csr, Status};
//!
//! // A chain of 100 rows whose ends are drawn to 5 and whose middle is drawn below 0, where it may not go.
//! let n = 100;
//! let (mut row_starts, mut columns, mut values) = (vec![0], vec![], vec![]);
//! for i in 0..n as u32 {
//!     for (column, value) in [(i.wrapping_sub(1), -1.0), (i, 2.0), (i + 1, -1.0)] {
//!         if column < n as u32 {
//!             columns.push(column);
//!             values.push(value);
//!         }
//!     }
//!     row_starts.push(columns.len());
//! }
//! let matrix = Csr::new(n, row_starts, columns, values)?;
//! let mut rhs = vec![0.01; n];
//! rhs[0] -= 5.0;
//! rhs[n - 1] -= 5.0;
//! let (lower, upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
//! let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper)?;
//!
//! let mut preconditioner = Mic0::new(Mic0Settings::default())?;
//! preconditioner.rebuild(&matrix, &Blocks::single(n))?;
//! let settings = newton::Settings::default().tolerance(1e-10);
//! let mut workspace = newton::Workspace::default();
//! let mut x = vec![0.0; n];
//! let report = newton::solve(&problem, &settings, &mut preconditioner, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert_eq!(x[n / 2], 0.0);
//! assert!(x[0] > 4.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

#[macro_use]
mod settings;

pub mod factor;
pub mod gallery;
pub mod krylov;
pub mod matrix_market;
pub mod methods;
pub mod precondition;
pub mod reduce;
pub mod survey;
pub mod toolbox;

#[doc = include_str!("../docs/which-method.md")]
pub mod which_method {}

mod blocks;
mod colouring;
mod csr;
mod dense;
mod error;
mod face;
mod following;
mod hierarchy;
mod minimum_map;
mod monitor;
mod operator;
mod problem;
mod rectangle;
mod report;
mod rows;
mod semismooth;
mod sparse_factor;
mod split;
mod sweep;

pub use blocks::Blocks;
pub use colouring::Colouring;
pub use csr::Csr;
pub use dense::Dense;
pub use error::InputError;
pub use following::{Following, FollowingMlcp};
pub use hierarchy::{Galerkin, Hierarchy, Transfer};
pub use monitor::{Best, Iterate, Monitor};
pub use operator::{Masked, Operator};
pub use problem::BoxMlcp;
pub use report::{InnerProgress, Observer, Progress, Report, Status, Trace};
pub use rows::Rows;
pub use sweep::Order;
