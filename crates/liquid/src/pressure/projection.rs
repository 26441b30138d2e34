//! Pressure projection: weights, system, solve, gradient.

use meniscus_lcp::{Report, Status};
use rayon::prelude::*;

use super::gradient::{classify_faces, subtract_gradient};
use super::pockets::{self, Pocket};
use super::rows::NO_ROW;
use super::solve::{PressureSolver, WarmStart};
use super::system::System;
use super::weights::Weights;
use crate::grid::cell_set::CellSet;
use crate::grid::tiles::{Coord, Tiles};
use crate::particles::position_correction::excess_density;
use crate::projection::{Faces, Projected, Projection};
use crate::report::{Face, PressureProblem, StepError};
use crate::settings::{Settings, Walls};
use crate::solvers::Solution;

/// The pressure that makes the velocity free of divergence, with walls that may bound it from below.
pub struct PressureProjection<const D: usize> {
    system: System<D>,
    solver: PressureSolver<D>,
}

impl<const D: usize> Default for PressureProjection<D> {
    fn default() -> Self {
        Self {
            system: System::default(),
            solver: PressureSolver::new(),
        }
    }
}

impl<const D: usize> PressureProjection<D> {
    /// Starts its first solve from a saved pressure, on a grid of `size` cells. `None` if a cell is not on that grid, or
    /// listed twice.
    pub(crate) fn from_warm_start(start: WarmStart<D>, size: [usize; D]) -> Option<Self> {
        Some(Self {
            system: System::default(),
            solver: PressureSolver::from_warm_start(start, size)?,
        })
    }

    /// Start of the next solve.
    pub(crate) fn warm_start(&self) -> WarmStart<D> {
        self.solver.warm_start()
    }

    /// Pressure of the last finished step at the centre of a cell.
    pub fn pressure(&self, cell: Coord<D>) -> Option<f64> {
        self.solver.pressure(cell)
    }

    /// Unknowns of the last problem.
    pub(crate) fn unknowns(&self) -> usize {
        self.system.len()
    }

    /// Rows of the last problem that touch a solid.
    pub(crate) fn wall_rows(&self) -> usize {
        self.system.wall.iter().filter(|&&wall| wall).count()
    }

    /// Builds the pressure problem.
    pub(crate) fn assemble(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<(), StepError> {
        faces.phases.begin("assemble");
        self.system
            .assemble(
                &faces.weights(),
                faces.velocity,
                faces.solids,
                faces.settings,
                dt,
            )
            .map_err(StepError::refused)
    }

    /// Gets ready for the position correction of a step whose velocity another projection made free of divergence.
    pub(crate) fn prepare_correction(
        &mut self,
        faces: &mut Faces<'_, D>,
        dt: f64,
    ) -> Result<(), StepError> {
        self.assemble(faces, dt)?;
        let physics = &faces.settings.physics;
        pockets::prepare(&mut self.system, Walls::Slip, physics.pressure.tolerance);
        self.solver.skip(&self.system);
        Ok(())
    }

    /// The last problem, for export.
    pub(crate) fn problem(
        &self,
        weights: &Weights<D>,
        settings: &Settings<D>,
        dt: f64,
    ) -> PressureProblem<D> {
        let face = |index: usize, axis: usize, high: bool| {
            let beyond = weights.beyond(index, axis, high);
            let open = weights.open_to(beyond, index, axis, high);
            Face { open, beyond }
        };
        let problem = &self.system.problem;
        let cells = self.system.cells.iter().map(|&index| index as usize);
        PressureProblem {
            matrix: problem.stencil.matrix().clone(),
            rhs: problem.rhs.clone(),
            lower: problem.lower.clone(),
            upper: problem.upper.clone(),
            cells: problem.stencil.cells().to_vec(),
            faces: cells
                .map(|index| std::array::from_fn(|a| [face(index, a, false), face(index, a, true)]))
                .collect(),
            size: settings.cells,
            dx: settings.dx,
            dt,
            density: settings.physics.density,
        }
    }

    fn projected(
        &self,
        faces: &Faces<'_, D>,
        solution: Solution,
        pockets: &[Pocket],
        dt: f64,
    ) -> Projected {
        let (tiles, settings) = (faces.tiles, faces.settings);
        let (rows, separated) = (&self.system.rows, self.solver.separated());
        let cell_volume = settings.dx.powi(D as i32);
        let notable = settings.physics.pressure.tolerance * dt * cell_volume;
        let lost = |pocket: &Pocket| -pocket.removed * cell_volume * dt;
        let most = pockets
            .iter()
            .filter(|pocket| pocket.removed < 0.0)
            .min_by(|a, b| a.removed.total_cmp(&b.removed))
            .filter(|pocket| lost(pocket) > notable * pocket.len() as f64);
        Projected {
            liquid: rows.cells().clone(),
            separated: match settings.physics.walls {
                Walls::Slip => CellSet::default(),
                Walls::Separating => CellSet::of(tiles, |index| match rows.of(index) {
                    NO_ROW => false,
                    row => separated[row as usize],
                }),
            },
            unknowns: self.unknowns(),
            wall_rows: self.wall_rows(),
            separated_rows: separated.iter().filter(|&&s| s).count(),
            pockets: pockets.len(),
            lost_volume: pockets.iter().map(|pocket| lost(pocket).max(0.0)).sum(),
            squeezed: most.map(|pocket| {
                let cell = pocket.middle(&self.system, tiles);
                cell.map(|c| (c as f64 + 0.5) * settings.dx).to_vec()
            }),
            solution,
        }
    }
}

impl<const D: usize> Projection<D> for PressureProjection<D> {
    fn project(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<Projected, StepError> {
        self.assemble(faces, dt)?;
        faces.phases.begin("solve");
        let settings = faces.settings;
        let pockets = pockets::prepare(
            &mut self.system,
            settings.physics.walls,
            settings.physics.pressure.tolerance,
        );
        let solution = self
            .solver
            .solve(&self.system, settings, dt)
            .map_err(StepError::refused)?;
        if solution.report.status != Status::Converged {
            return Err(StepError::Unsolved(solution));
        }
        let pressure = self.solver.pressure_mut();
        pockets::settle(&pockets, &self.system, settings.physics.walls, pressure);

        faces.phases.begin("apply");
        let weights = faces.weights();
        let scale = dt / (settings.physics.density * settings.dx);
        subtract_gradient(&weights, &self.system, pressure, scale, faces.velocity);
        classify_faces(&weights, &self.system, faces.state);
        let is_finite = |v: &Vec<f64>| v.par_iter().with_min_len(4096).all(|v| v.is_finite());
        if !faces.velocity.iter().all(is_finite) {
            return Err(StepError::NotFinite(solution));
        }
        Ok(self.projected(faces, solution, &pockets, dt))
    }

    fn correct_positions(
        &mut self,
        faces: &mut Faces<'_, D>,
        drift: f64,
        dt: f64,
    ) -> Result<Option<Report>, StepError> {
        faces.phases.begin("position-correction");
        let settings = faces.settings;
        let weights = faces.weights();
        let (system, number_density) = (&self.system, faces.number_density);
        let excess =
            |rhs: &mut Vec<f64>| excess_density(&weights, system, number_density, drift, dt, rhs);
        let (potential, report) = self
            .solver
            .displacement(system, excess)
            .map_err(StepError::refused)?;
        for displacement in faces.displacement.iter_mut() {
            faces.tiles.reset(displacement, 0.0);
        }
        let scale = dt / (settings.physics.density * settings.dx);
        subtract_gradient(&weights, system, potential, scale * dt, faces.displacement);
        Ok(report)
    }

    fn accept(&mut self, tiles: &Tiles<D>, dt: f64) {
        self.solver.remember(tiles, &self.system, dt);
    }
}
