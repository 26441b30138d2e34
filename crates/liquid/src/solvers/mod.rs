//! Every method for pressure problems that lie on a grid, by one name: for scenes, for comparisons and for studies.
//!
//! A problem is a box MLCP whose matrix is a [`Stencil`]: it couples cells that share a face. Rows may be free, have a lower
//! bound, or be held (`l = u`). Methods that need the entries of the matrix make it from the stencil.
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
//! use meniscus_lcp::Status;
//! use meniscus_liquid::analytic::{Sphere, Surface};
//! use meniscus_liquid::solvers;
//!
//! let sphere = Sphere { cells: 16, surface: Surface::Flat, thin: false };
//! let problem = sphere.stencil_problem::<2>()?;
//! for name in ["tn-mg", "pi-mg", "newton:gmres:jacobi"] {
//!     let settings = solvers::Settings { tolerance: 1e-8, ..solvers::Settings::named(name)? };
//!     let mut x = vec![0.0; problem.len()];
//!     let mut workspace = solvers::Workspace::default();
//!     let solution = solvers::solve(&problem.posed()?, &settings, &mut x, &mut workspace, &mut ())?;
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
use crate::settings::Solver;
use crate::stencil::{Stencil, with_matrix};

/// Solves a problem, starting from `x`.
pub fn solve<const D: usize>(
    problem: &BoxMlcp<Stencil<D>>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Solution, InputError> {
    let blocks = Blocks::single(problem.len());
    solve_in_blocks(problem, &blocks, settings, x, workspace, observer)
}

/// [`solve`], with the blocks by colour in which MIC(0) shares its work among threads.
pub fn solve_in_blocks<const D: usize>(
    problem: &BoxMlcp<Stencil<D>>,
    blocks: &Blocks,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Solution, InputError> {
    (Compiled::get().solve)(problem, blocks, settings, x, workspace, observer)
}

pub(crate) fn solve_impl<const D: usize>(
    problem: &BoxMlcp<Stencil<D>>,
    blocks: &Blocks,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Solution, InputError> {
    settings.check()?;
    let posed = Posed { problem, blocks };
    start::begin(&posed, settings, x, &mut workspace.start, observer)?;
    fallback::solve(&posed, settings, x, workspace, observer)
}

/// A problem with all that a method may want to know of it.
#[derive(Clone, Copy)]
struct Posed<'a, const D: usize> {
    problem: &'a BoxMlcp<'a, Stencil<D>>,
    blocks: &'a Blocks,
}

impl<'a, const D: usize> Posed<'a, D> {
    /// The problem with the entries of its matrix.
    fn with_matrix(&self) -> Result<BoxMlcp<'a, Csr>, InputError> {
        with_matrix(self.problem)
    }
}

/// One method on one problem.
struct Task<'a, const D: usize> {
    posed: &'a Posed<'a, D>,
    solver: Solver,
    settings: &'a Settings,
    x: &'a mut [f64],
    workspace: &'a mut Workspace<D>,
    observer: &'a mut dyn Observer,
}

impl<const D: usize> Task<'_, D> {
    /// Runs the method, alone.
    fn run(self) -> Result<Report, InputError> {
        self.workspace.last = Some((self.solver, self.settings.preconditioner));
        match self.solver {
            Solver::Cg | Solver::MgPcg => self.linear(),
            Solver::Mg | Solver::TnMg => self.multigrid(),
            Solver::FasMg => self.fas(),
            Solver::Fmg => self.fmg(),
            Solver::Auto
            | Solver::Newton
            | Solver::PiPcg
            | Solver::PiMg
            | Solver::PePcg
            | Solver::PeMg
            | Solver::MprgpMg => self.active_set(),
        }
    }

    fn make_preconditioner(&mut self) -> Result<(), InputError> {
        let preconditioners = &mut self.workspace.preconditioners;
        preconditioners.rebuild(self.posed, self.solver, self.settings.preconditioner)
    }
}
