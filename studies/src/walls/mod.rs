//! Pressure problems as runs meet them, and the solvers that the papers compare on them.

mod averages;
mod quartiles;
mod sample;
mod solver_case;
mod watch;

pub use averages::{Averages, averages, mean};
pub use quartiles::Quartiles;
pub use sample::{Choice, Sample, Seen, first_of_frame, scene, visit};
pub use solver_case::{Rules, SolverCase, one_thread, pool_of};
pub use watch::{Outcome, Watch, thinned};

/// Bound on the largest natural residual in the tables of both papers, in 1/s.
pub const TOLERANCE: f64 = 1e-6;
/// CPU seconds after which a solve is stopped.
pub const PATIENCE: f64 = 60.0;
