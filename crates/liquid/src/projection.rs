//! The seam between the liquid and what makes its velocity free of divergence.

use meniscus_lcp::Report;

use crate::grid::cell_set::CellSet;
use crate::grid::cut_cells::CutCells;
use crate::grid::extrapolate::FaceState;
use crate::grid::tiles::Tiles;
use crate::particles::sources::Sources;
use crate::particles::transfer::FaceField;
use crate::particles::{Bins, Particles};
use crate::pressure::Weights;
use crate::report::{Phases, StepError};
use crate::settings::Settings;
use crate::solids::SolidField;
use crate::solvers::Solution;

/// The staggered grid of a step that has begun: geometry to read, and the velocity on faces to change.
pub struct Faces<'a, const D: usize> {
    /// Settings of the liquid.
    pub settings: &'a Settings<D>,
    /// The cells there are.
    pub tiles: &'a Tiles<D>,
    /// Open shares of faces and cells.
    pub cut: &'a CutCells<D>,
    /// Signed distance to the free surface at the centres of cells.
    pub phi: &'a [f32],
    /// Particles around the centres of cells, solids counted as full, as a share of a full cell.
    pub number_density: &'a [f32],
    /// The solids over the step.
    pub solids: &'a dyn SolidField<D>,
    /// Seconds for which gravity has acted on the velocity.
    pub kick: f64,
    /// Velocity on the low faces of cells, gravity included.
    pub velocity: &'a mut FaceField<D>,
    /// State of the velocity on every face.
    pub state: &'a mut [Vec<FaceState>; D],
    /// Displacement of the particles by the position correction, on faces, in metres.
    pub displacement: &'a mut FaceField<D, f32>,
    /// The particles, in the order of cells.
    pub particles: &'a Particles<D>,
    /// Which of them are in which cell.
    pub bins: &'a Bins,
    /// Where liquid comes in.
    pub sources: &'a Sources<D>,
    /// Time at the start of the step.
    pub time: f64,
    /// Progress callback.
    pub phases: &'a mut dyn Phases,
}

impl<'a, const D: usize> Faces<'a, D> {
    /// The geometry of the pressure problem.
    pub fn weights(&self) -> Weights<'a, D> {
        Weights {
            tiles: self.tiles,
            cut: self.cut,
            phi: self.phi,
            dx: self.settings.dx,
        }
    }
}

/// Result of a projection.
#[derive(Clone, Debug)]
pub struct Projected {
    /// Cells with a pressure.
    pub liquid: CellSet,
    /// Those that separate from their wall.
    pub separated: CellSet,
    /// Unknowns of the pressure problem.
    pub unknowns: usize,
    /// Those that touch a solid.
    pub wall_rows: usize,
    /// Those of them that separate.
    pub separated_rows: usize,
    /// Volume that opens in the step between them and their walls: void, not liquid.
    pub separated_volume: f64,
    /// Parts of the liquid without a free surface.
    pub pockets: usize,
    /// Volume pushed into pockets that have no room for it.
    pub lost_volume: f64,
    /// A place in the pocket that lost most, if one did.
    pub squeezed: Option<Vec<f64>>,
    /// Rounds of viscosity and velocity; 0 if the liquid is inviscid.
    pub viscosity_rounds: usize,
    /// Report of the solve.
    pub solution: Solution,
}

/// What makes the velocity on faces free of divergence: pressure alone, pressure and viscosity, or everything at once.
pub trait Projection<const D: usize> {
    /// Projects the velocity on faces. On success the state of every face that a pressure gradient acted on is
    /// [`FaceState::Known`]. A failure changes nothing but fields of the step.
    fn project(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<Projected, StepError>;

    /// Writes the displacement that spreads the particles evenly, with the matrix of the last projection. `drift` is the
    /// recent mean of the volume's relative deviation from its target.
    fn correct_positions(
        &mut self,
        faces: &mut Faces<'_, D>,
        drift: f64,
        dt: f64,
    ) -> Result<Option<Report>, StepError>;

    /// Called when the step has succeeded: the result may be the start of the next solve.
    fn accept(&mut self, tiles: &Tiles<D>, dt: f64);
}
