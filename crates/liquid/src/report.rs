//! Step reports and failures.

use std::fmt;

use meniscus_lcp::{Csr, InputError, Report, Status};

use crate::grid::tiles::Coord;
use crate::pressure::FaceNeighbour;
use crate::solvers::Solution;
use crate::stencil::{Stencil, StencilProblem};

/// Progress callback: called when the phases of a step begin, for example to time them.
pub trait Phases {
    /// The phase before, if any, has ended. The name is empty when the step is over.
    fn begin(&mut self, phase: &'static str);
}

impl Phases for () {
    fn begin(&mut self, _phase: &'static str) {}
}

/// Report of one step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// Time after the step, in seconds.
    pub time: f64,
    /// Length of the step.
    pub dt: f64,
    /// Particles.
    pub particles: usize,
    /// Rows of the pressure problem.
    pub unknowns: usize,
    /// Rows that touch a solid.
    pub wall_rows: usize,
    /// Wall rows that left their wall: no pressure, and a divergence above the tolerance.
    pub separated_rows: usize,
    /// Volume that opened in the step between them and their walls: void, not liquid.
    pub separated_volume: f64,
    /// Method that solved it.
    pub solver: &'static str,
    /// How the solve ended.
    pub status: Status,
    /// Iterations of the method.
    pub outer_iterations: usize,
    /// Iterations of the linear solver inside.
    pub inner_iterations: usize,
    /// Largest natural residual of the problem that was solved, recomputed from it, in 1/s.
    pub residual: f64,
    /// Rounds of viscosity and velocity; 0 if the liquid is inviscid.
    pub viscosity_rounds: usize,
    /// Report of the position correction's solve, if there was one.
    pub correction: Option<Report>,
    /// Volume of the liquid outside solids at the start of the step (area in 2D).
    pub volume: f64,
    /// Volume held by particles in sheets and drops below the grid's resolution, which `volume` misses.
    pub thin_volume: f64,
    /// Volume of particles beyond what fits into their cells: what the liquid has lost by piling up.
    pub compressed_volume: f64,
    /// Volume deep inside the liquid that lacks particles: what it has gained by spreading.
    pub diluted_volume: f64,
    /// Mean deviation of the volume from its target over the last hundredths of a second, as a share of it.
    pub recent_drift: f64,
    /// What `volume` and `thin_volume` together should be: what there was at the first step, and what came and went
    /// since.
    pub expected_volume: f64,
    /// Volume that the particles stand for at the start of the step: their number times that of one.
    pub own_volume: f64,
    /// The most overfull cell, if one holds more than three times its share of particles.
    pub crowded: Option<Crowded>,
    /// Volume that the emitters added in the step.
    pub emitted: f64,
    /// Volume that the drains took away in the step.
    pub drained: f64,
    /// Of the particles after the step, in joules.
    pub kinetic_energy: f64,
    /// Fastest particle after the step.
    pub max_speed: f64,
    /// Parts of the liquid without a free surface.
    pub pockets: usize,
    /// Volume pushed into pockets that have no room for it, and so lost.
    pub lost_volume: f64,
    /// A place in the pocket that lost most, if one did.
    pub squeezed: Option<Vec<f64>>,
}

/// A cell that holds too many particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Crowded {
    /// Centre of the cell.
    pub place: Vec<f64>,
    /// How many times its share of particles it holds.
    pub times: f64,
}

/// The pressure problem of a step, for study elsewhere.
#[derive(Clone, Debug)]
pub struct PressureProblem<const D: usize> {
    /// Symmetric, an M-matrix; in 1/(Pa s).
    pub matrix: Csr,
    /// Divergence before the pressure acts, in 1/s.
    pub rhs: Vec<f64>,
    /// Lower bounds of the pressure.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
    /// Cell of each row.
    pub cells: Vec<Coord<D>>,
    /// Faces of each row's cell: for each axis the low and the high one.
    pub faces: Vec<[[Face; 2]; D]>,
    /// Cells of the domain.
    pub size: [usize; D],
    /// Width of a cell.
    pub dx: f64,
    /// Length of the step.
    pub dt: f64,
    /// Density of the liquid.
    pub density: f64,
}

impl<const D: usize> PressureProblem<D> {
    /// The problem by the sides of its cells. An error if the matrix does not belong to the cells.
    pub fn stencil_problem(&self) -> Result<StencilProblem<D>, InputError> {
        let is_air = |face: &Face| matches!(face.beyond, FaceNeighbour::Air { .. });
        let air = |row: usize| {
            let faces = self.faces.get(row).map(|faces| faces.as_flattened());
            let sides = faces.into_iter().flatten().enumerate();
            sides.fold(0, |air, (side, face)| air | u8::from(is_air(face)) << side)
        };
        Ok(StencilProblem {
            stencil: Stencil::from_matrix_and_air(&self.matrix, &self.cells, air)?,
            rhs: self.rhs.clone(),
            lower: self.lower.clone(),
            upper: self.upper.clone(),
        })
    }
}

/// A face of a liquid cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Open share.
    pub open: f64,
    /// What lies beyond.
    pub beyond: FaceNeighbour,
}

/// Why a step failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StepError {
    /// The pressure solver did not converge.
    Unsolved(Solution),
    /// A velocity is not finite after the solve.
    NotFinite(Solution),
    /// The liquid is so fast that the step would be absurdly short.
    TooFast {
        /// Largest speed found.
        speed: f64,
    },
    /// The solver refused the problem.
    Refused(String),
}

impl StepError {
    /// The error of a problem that is not well formed.
    pub fn refused(why: InputError) -> Self {
        Self::Refused(why.to_string())
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsolved(solution) => write!(
                f,
                "the pressure solver {} ended with status {} after {} iterations, residual {:.3e} 1/s",
                solution.solver,
                solution.report.status,
                solution.report.iterations,
                solution.report.residual
            ),
            Self::NotFinite(_) => write!(f, "a velocity is not a finite number"),
            Self::TooFast { speed } => write!(f, "the liquid reached {speed:.3e} m/s"),
            Self::Refused(why) => write!(f, "the pressure problem is not well formed: {why}"),
        }
    }
}

impl std::error::Error for StepError {}

/// A step that failed. The liquid is as it was before the step.
#[derive(Clone, Debug)]
pub struct StepFailure<const D: usize> {
    /// Why it failed.
    pub error: StepError,
    /// Report of the failed solve.
    pub report: StepReport,
    /// The problem that was not solved.
    pub problem: PressureProblem<D>,
}

impl<const D: usize> fmt::Display for StepFailure<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (error, dt) = (&self.error, self.report.dt);
        match error {
            StepError::Unsolved(_) | StepError::NotFinite(_) => {
                write!(f, "{error}, even with a step of {dt:.3e} s")
            }
            StepError::TooFast { .. } => write!(f, "{error}, which needs time steps of {dt:.3e} s"),
            StepError::Refused(_) => error.fmt(f),
        }
    }
}

impl<const D: usize> std::error::Error for StepFailure<D> {}
