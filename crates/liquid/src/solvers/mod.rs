//! Every method for pressure problems that lie on a grid, by one name: for scenes, for comparisons and for studies.
//!
//! A problem is a box MLCP whose matrix couples cells that share a face, and the cells of its rows. Rows may be free, have
//! a lower bound, or be held (`l = u`).
//!
//! | word | method | iterations of its report, and inner ones |
//! | --- | --- | --- |
//! | `cg` | conjugate gradients; linear rows only | runs; iterations |
//! | `mg` | multigrid; linear rows only | V-cycles |
//! | `mg-pcg` | conjugate gradients with a V-cycle; linear rows only | runs; V-cycles |
//! | `newton` | minimum map Newton | Newton steps; Krylov iterations |
//! | `pi-pcg`, `pi-mg` | policy iteration, conjugate gradients inside, with a preconditioner or a V-cycle | policies; iterations |
//! | `pe-pcg`, `pe-mg` | penalty iteration, the same inside | systems; iterations |
//! | `mprgp-mg` | MPRGP with a V-cycle on the free face | steps |
//! | `fas-mg` | multigrid by the full approximation scheme | V-cycles |
//! | `fmg` | full multigrid, bounds on the finest level alone | full cycles |
//! | `tn-mg` | truncated Newton multigrid | V-cycles |
//! | `auto` | what suits the size, and another one should that fail | those of the last |
//!
//! ```
//! use meniscus_lcp::{BoxMlcp, Status};
//! use meniscus_liquid::analytic::{Sphere, Surface};
//! use meniscus_liquid::solvers;
//!
//! let bare = Sphere { cells: 16, surface: Surface::Flat, thin: false }.bare::<2>()?;
//! let upper = vec![f64::INFINITY; bare.rhs.len()];
//! let problem = BoxMlcp::new(&bare.matrix, &bare.rhs, &bare.lower, &upper)?;
//! for name in ["tn-mg", "pi-mg", "newton:gmres:jacobi"] {
//!     let settings = solvers::Settings { tolerance: 1e-8, ..solvers::Settings::named(name)? };
//!     let mut x = vec![0.0; upper.len()];
//!     let mut workspace = solvers::Workspace::default();
//!     let solution = solvers::solve(&problem, &bare.cells, &settings, &mut x, &mut workspace, &mut ())?;
//!     assert_eq!(solution.report.status, Status::Converged);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod active_set;
mod fallback;
mod fas;
mod fmg;
mod linear;
mod multigrid;
mod preconditioners;
mod reduced;
mod registry;
mod settings;
mod start;
mod workspace;

pub use fas::Fas;
pub use fmg::Fmg;
pub use meniscus_lcp::registry::Solution;
pub use registry::register;
pub use settings::{Inner, Settings, Start};
pub use workspace::Workspace;

use meniscus_lcp::{Blocks, BoxMlcp, Csr, InputError, Observer, Report};

use crate::compiled::Compiled;
use crate::grid::tiles::Coord;
use crate::settings::Solver;

/// Solves a problem whose rows belong to `cells`, starting from `x`: coupled rows share a face, no two rows share a cell.
pub fn solve<const D: usize>(
    problem: &BoxMlcp<Csr>,
    cells: &[Coord<D>],
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Solution, InputError> {
    let blocks = Blocks::single(problem.len());
    solve_in_blocks(problem, cells, &blocks, settings, x, workspace, observer)
}

/// [`solve`], with the blocks by colour in which MIC(0) shares its work among threads.
pub fn solve_in_blocks<const D: usize>(
    problem: &BoxMlcp<Csr>,
    cells: &[Coord<D>],
    blocks: &Blocks,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Solution, InputError> {
    (Compiled::get().solve)(problem, cells, blocks, settings, x, workspace, observer)
}

pub(crate) fn solve_impl<const D: usize>(
    problem: &BoxMlcp<Csr>,
    cells: &[Coord<D>],
    blocks: &Blocks,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Solution, InputError> {
    settings.check()?;
    let posed = Posed {
        problem,
        cells,
        blocks,
    };
    start::begin(problem, settings, x, &mut workspace.start, observer)?;
    fallback::solve(&posed, settings, x, workspace, observer)
}

/// A problem with all that a method may want to know of it.
#[derive(Clone, Copy)]
struct Posed<'a, const D: usize> {
    problem: &'a BoxMlcp<'a, Csr>,
    cells: &'a [Coord<D>],
    blocks: &'a Blocks,
}

/// One method, alone.
fn run<const D: usize>(
    posed: &Posed<D>,
    solver: Solver,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Report, InputError> {
    workspace.last = Some((solver, settings.preconditioner));
    match solver {
        Solver::Cg | Solver::MgPcg => {
            workspace
                .preconditioners
                .rebuild(posed, solver, settings.preconditioner)?;
            linear::solve(posed.problem, solver, settings, x, workspace, observer)
        }
        Solver::Mg | Solver::TnMg => {
            multigrid::solve(posed, solver, settings, x, workspace, observer)
        }
        Solver::FasMg => fas::solve(posed, settings, x, workspace, observer),
        Solver::Fmg => fmg::solve(posed, settings, x, workspace, observer),
        Solver::Auto
        | Solver::Newton
        | Solver::PiPcg
        | Solver::PiMg
        | Solver::PePcg
        | Solver::PeMg
        | Solver::MprgpMg => {
            workspace
                .preconditioners
                .rebuild(posed, solver, settings.preconditioner)?;
            active_set::solve(posed.problem, solver, settings, x, workspace, observer)
        }
    }
}
