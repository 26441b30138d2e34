//! Pressure projection: weights, system, solve, gradient.

use meniscus_lcp::{InputError, Observer, Report, Rows as _, Status};
use rayon::prelude::*;

use super::gradient::{classify_faces, subtract_gradient};
use super::pockets::{self, Pocket};
use super::rows::NO_ROW;
use super::solve::{PressureSolver, WarmStart};
use super::system::System;
use super::weights::Weights;
use crate::compiled::Compiled;
use crate::grid::cell_set::CellSet;
use crate::grid::tiles::{Coord, Tiles};
use crate::multigrid::Coupling;
use crate::particles::position_correction::excess_density;
use crate::projection::{Faces, Projected, Projection};
use crate::report::{Face, PressureProblem, StepError};
use crate::settings::{Settings, Walls};
use crate::solvers::Solution;
use crate::stencil::StencilProblem;

/// A solve by other means: problem, tolerance and pressures; returns divergences by rows, and its report.
pub type SolveBy<'a, const D: usize> = dyn FnMut(&StencilProblem<D>, f64, &mut [f64]) -> Result<(Vec<(u32, f64)>, Report), InputError>
    + 'a;

/// The pressure that makes the velocity free of divergence, with walls that may bound it from below.
///
/// [`Projection::project`] does all of it. Where solids respond to the pressure, the parts are called one by one:
/// [`assemble`](Self::assemble), then [`solve_coupled`](Self::solve_coupled), then [`apply`](Self::apply).
pub struct PressureProjection<const D: usize> {
    system: System<D>,
    solver: PressureSolver<D>,
    pockets: Vec<Pocket>,
}

impl<const D: usize> Default for PressureProjection<D> {
    fn default() -> Self {
        Self {
            system: System::default(),
            solver: PressureSolver::new(),
            pockets: Vec::new(),
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
            pockets: Vec::new(),
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

    /// The assembled problem. Right-hand side and bounds may be changed before it is solved.
    pub fn stencil_problem(&mut self) -> &mut StencilProblem<D> {
        &mut self.system.problem
    }

    /// Grid index of every row's cell.
    pub fn cells(&self) -> &[u32] {
        &self.system.cells
    }

    /// For every row whether it touches a solid.
    pub fn is_wall(&self) -> &[bool] {
        &self.system.wall
    }

    /// For every row whether it has separated from its wall.
    pub fn is_separated(&self) -> &[bool] {
        self.solver.separated()
    }

    /// Pressure of the last solve, one value per row.
    pub fn solution(&self) -> &[f64] {
        self.solver.solution()
    }

    /// Builds the pressure problem.
    pub fn assemble(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<(), StepError> {
        (Compiled::get().assemble)(self, faces, dt)
    }

    pub(crate) fn assemble_impl(
        &mut self,
        faces: &mut Faces<'_, D>,
        dt: f64,
    ) -> Result<(), StepError> {
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
        pockets::prepare(
            &mut self.system,
            Walls::Slip,
            physics.pressure.tolerance,
            &|_| false,
        );
        self.solver.skip(&self.system);
        Ok(())
    }

    /// Takes the pressures of a step that another projection has made: those of cells, by their grid indices.
    pub(crate) fn set_solution(&mut self, pressure: impl Fn(usize) -> f64) {
        let cells = self.system.cells.iter();
        let pressures = cells.map(|&cell| pressure(cell as usize)).collect();
        self.solver.set_solution(pressures);
    }

    /// The last problem, for export.
    pub fn problem(
        &self,
        weights: &Weights<D>,
        settings: &Settings<D>,
        dt: f64,
    ) -> PressureProblem<D> {
        (Compiled::get().export)(self, weights, settings, dt)
    }

    pub(crate) fn problem_impl(
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

    /// Solves the assembled problem: the velocity of every solid is given.
    pub fn solve(&mut self, settings: &Settings<D>, dt: f64) -> Result<Solution, StepError> {
        (Compiled::get().solve_pressure)(self, settings, dt)
    }

    pub(crate) fn solve_impl(
        &mut self,
        settings: &Settings<D>,
        dt: f64,
    ) -> Result<Solution, StepError> {
        self.pockets = pockets::prepare(
            &mut self.system,
            settings.physics.walls,
            settings.physics.pressure.tolerance,
            &|_| false,
        );
        let solution = self
            .solver
            .solve(&self.system, settings, dt)
            .map_err(StepError::refused)?;
        if solution.report.status != Status::Converged {
            return Err(StepError::Unsolved(solution));
        }
        Ok(solution)
    }

    /// Solves the problem with solids that respond to the pressure, from the last step's pressure, or from where the last solve
    /// has ended if `again`. Pockets of liquid without air are left alone if solids give way to their pressure: `gives_way`
    /// gets their rows.
    ///
    /// On return the right-hand side has what the solids that moved add to it.
    pub fn solve_coupled(
        &mut self,
        settings: &Settings<D>,
        coupling: &mut Coupling<'_>,
        gives_way: &dyn Fn(&[u32]) -> bool,
        again: bool,
        observer: &mut dyn Observer,
        dt: f64,
    ) -> Result<Solution, StepError> {
        (Compiled::get().solve_coupled)(self, settings, coupling, gives_way, again, observer, dt)
    }

    pub(crate) fn solve_coupled_impl(
        &mut self,
        settings: &Settings<D>,
        coupling: &mut Coupling<'_>,
        gives_way: &dyn Fn(&[u32]) -> bool,
        again: bool,
        observer: &mut dyn Observer,
        dt: f64,
    ) -> Result<Solution, StepError> {
        let (walls, tolerance) = (settings.physics.walls, settings.physics.pressure.tolerance);
        self.pockets = pockets::prepare(&mut self.system, walls, tolerance, gives_way);
        self.solver
            .solve_coupled(&mut self.system, settings, coupling, again, observer, dt)
            .map_err(StepError::refused)
    }

    /// Finds pockets, and solves the problem by other means: `solve` takes the problem, the tolerance and the pressure to
    /// start from, and returns what solids that move add to the right-hand side, row by row, with its report. Otherwise as
    /// [`solve_coupled`](Self::solve_coupled).
    pub fn solve_by(
        &mut self,
        settings: &Settings<D>,
        solver: &'static str,
        gives_way: &dyn Fn(&[u32]) -> bool,
        again: bool,
        solve: &mut SolveBy<'_, D>,
        dt: f64,
    ) -> Result<Solution, StepError> {
        (Compiled::get().solve_by)(self, settings, solver, gives_way, again, solve, dt)
    }

    pub(crate) fn solve_by_impl(
        &mut self,
        settings: &Settings<D>,
        solver: &'static str,
        gives_way: &dyn Fn(&[u32]) -> bool,
        again: bool,
        solve: &mut SolveBy<'_, D>,
        dt: f64,
    ) -> Result<Solution, StepError> {
        let (walls, tolerance) = (settings.physics.walls, settings.physics.pressure.tolerance);
        self.pockets = pockets::prepare(&mut self.system, walls, tolerance, gives_way);
        let report = self
            .solver
            .solve_by(&mut self.system, settings, again, solve, dt)
            .map_err(StepError::refused)?;
        Ok(Solution::of(solver, "chosen", report))
    }

    /// Subtracts the pressure gradient from the velocity on faces. `solution` is that of the solve.
    pub fn apply(
        &mut self,
        faces: &mut Faces<'_, D>,
        solution: Solution,
        dt: f64,
    ) -> Result<Projected, StepError> {
        (Compiled::get().apply)(self, faces, solution, dt)
    }

    pub(crate) fn apply_impl(
        &mut self,
        faces: &mut Faces<'_, D>,
        solution: Solution,
        dt: f64,
    ) -> Result<Projected, StepError> {
        let settings = faces.settings;
        let pressure = self.solver.pressure_mut();
        let walls = settings.physics.walls;
        pockets::settle(&self.pockets, &self.system, walls, pressure);

        faces.phases.begin("apply");
        let weights = faces.weights();
        let scale = dt / (settings.physics.density * settings.dx);
        subtract_gradient(&weights, &self.system, pressure, scale, faces.velocity);
        classify_faces(&weights, &self.system, faces.state);
        let is_finite = |v: &Vec<f64>| v.par_iter().with_min_len(4096).all(|v| v.is_finite());
        if !faces.velocity.iter().all(is_finite) {
            return Err(StepError::NotFinite(solution));
        }
        Ok(self.projected(faces, solution, dt))
    }

    /// Volume that opens in a step between separated liquid and its walls.
    fn separated_volume(&self, settings: &Settings<D>, dt: f64) -> f64 {
        let (problem, pressure) = (&self.system.problem, self.solver.solution());
        let separated = self.solver.separated().iter().enumerate();
        let rates = separated
            .filter(|(_, separated)| **separated)
            .map(|(row, _)| problem.stencil.row_dot(row, pressure) + problem.rhs[row]);
        rates.sum::<f64>() * settings.dx.powi(D as i32) * dt
    }

    fn projected(&self, faces: &Faces<'_, D>, solution: Solution, dt: f64) -> Projected {
        let pockets = &self.pockets;
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
                Walls::Slip | Walls::Stick => CellSet::default(),
                Walls::Separating => CellSet::of(tiles, |index| match rows.of(index) {
                    NO_ROW => false,
                    row => separated[row as usize],
                }),
            },
            unknowns: self.unknowns(),
            wall_rows: self.wall_rows(),
            separated_rows: separated.iter().filter(|&&s| s).count(),
            separated_volume: self.separated_volume(settings, dt),
            pockets: pockets.len(),
            lost_volume: pockets.iter().map(|pocket| lost(pocket).max(0.0)).sum(),
            squeezed: most.map(|pocket| {
                let cell = pocket.middle(&self.system, tiles);
                cell.map(|c| (c as f64 + 0.5) * settings.dx).to_vec()
            }),
            viscosity_rounds: 0,
            solution,
        }
    }
}

impl<const D: usize> Projection<D> for PressureProjection<D> {
    fn project(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<Projected, StepError> {
        self.assemble_impl(faces, dt)?;
        faces.phases.begin("solve");
        let solution = self.solve_impl(faces.settings, dt)?;
        self.apply_impl(faces, solution, dt)
    }

    fn correct_positions(
        &mut self,
        faces: &mut Faces<'_, D>,
        drift: f64,
        dt: f64,
    ) -> Result<Option<Report>, StepError> {
        (Compiled::get().correct_positions)(self, faces, drift, dt)
    }

    fn accept(&mut self, tiles: &Tiles<D>, dt: f64) {
        (Compiled::get().remember)(self, tiles, dt);
    }
}

impl<const D: usize> PressureProjection<D> {
    pub(crate) fn correct_positions_impl(
        &mut self,
        faces: &mut Faces<'_, D>,
        drift: f64,
        dt: f64,
    ) -> Result<Option<Report>, StepError> {
        faces.phases.begin("position-correction");
        let settings = faces.settings;
        let weights = faces.weights();
        let (system, number_density) = (&self.system, faces.number_density);
        let pockets = &self.pockets;
        let excess = |rhs: &mut Vec<f64>| {
            excess_density(&weights, system, number_density, drift, dt, rhs);
            pockets::balance(pockets, rhs);
        };
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

    pub(crate) fn remember(&mut self, tiles: &Tiles<D>, dt: f64) {
        self.solver.remember(tiles, &self.system, dt);
    }
}
