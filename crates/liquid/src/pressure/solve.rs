//! Part three of the pressure step: the solve, warm-started from the step before.

mod warm_start;

pub use warm_start::WarmStart;

use meniscus_lcp::{BoxMlcp, InputError, Observer, Report, Rows as _};
use rayon::prelude::*;

use super::projection::SolveBy;
use super::rows::{NO_ROW, Rows};
use super::system::System;
use crate::grid::tiles::{Coord, Tiles};
use crate::growth::Growth;
use crate::multigrid::{self, Coupling};
use crate::settings::{Preconditioner, Settings, Solver};
use crate::solvers::{self, Solution};

/// The displacement that evens out the particles is found to this share of its right-hand side.
const DISPLACEMENT_TOLERANCE: f64 = 0.05;
/// And with no more iterations than this.
const DISPLACEMENT_ITERATIONS: usize = 100;
/// Rounding keeps the residual above this share of the largest entry of `b`; asking for less is asking for luck.
const ROUNDING: f64 = 1e-11;

/// The pressure, and memory for finding it.
pub struct PressureSolver<const D: usize> {
    workspace: solvers::Workspace<D>,
    pressure: Vec<f64>,
    separated: Vec<bool>,
    displacement: Displacement,
    last: Last<D>,
}

#[derive(Default)]
struct Displacement {
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    potential: Vec<f64>,
}

/// The last pressure and where it was.
struct Last<const D: usize> {
    tiles: Tiles<D>,
    rows: Rows,
    pressure: Vec<f64>,
    dt: f64,
}

impl<const D: usize> PressureSolver<D> {
    /// Nothing solved yet.
    pub fn new() -> Self {
        Self {
            workspace: solvers::Workspace::default(),
            pressure: Vec::new(),
            separated: Vec::new(),
            displacement: Displacement::default(),
            last: Last {
                tiles: Tiles::new([1; D]),
                rows: Rows::default(),
                pressure: Vec::new(),
                dt: 0.0,
            },
        }
    }

    /// The pressure of the last solve, one value per row.
    pub fn solution(&self) -> &[f64] {
        &self.pressure
    }

    /// The same, to be changed.
    pub fn pressure_mut(&mut self) -> &mut [f64] {
        &mut self.pressure
    }

    /// Takes the pressures of a solve by other means.
    pub fn set_solution(&mut self, pressure: Vec<f64>) {
        self.pressure = pressure;
    }

    /// Rows that left their wall in the last solve.
    pub fn separated(&self) -> &[bool] {
        &self.separated
    }

    /// Pressure of the last finished step in a cell.
    pub fn pressure(&self, cell: Coord<D>) -> Option<f64> {
        match self.last.rows.of(self.last.tiles.index(cell)) {
            NO_ROW => None,
            row => Some(self.last.pressure[row as usize]),
        }
    }

    /// Keeps the pressure as the start of the next solve.
    pub fn remember(&mut self, tiles: &Tiles<D>, system: &System<D>, dt: f64) {
        self.last.tiles.clone_from(tiles);
        system.rows.copy_to(&mut self.last.rows);
        self.last.pressure.make_room(self.pressure.len());
        self.last.pressure.clone_from(&self.pressure);
        self.last.dt = dt;
    }

    /// Solves the problem; the pressure is kept here.
    pub fn solve(
        &mut self,
        system: &System<D>,
        settings: &Settings<D>,
        dt: f64,
    ) -> Result<Solution, InputError> {
        self.start(system, dt);
        let problem = system.problem.posed()?;
        let largest = problem.rhs().iter().fold(0.0, |m: f64, b| m.max(b.abs()));
        let settings = settings.physics.pressure;
        let tolerance = settings.tolerance.max(ROUNDING * largest);
        let solution = solvers::solve_in_blocks(
            &problem,
            &system.blocks()?,
            &solvers::Settings {
                tolerance,
                ..settings
            },
            &mut self.pressure,
            &mut self.workspace,
            &mut (),
        )?;
        self.mark_separated(system, tolerance);
        Ok(solution)
    }

    /// In place of a solve: no row separates, and the next displacement is found by multigrid.
    pub fn skip(&mut self, system: &System<D>) {
        self.separated.clear();
        self.separated.resize(system.len(), false);
        self.workspace.prefer_multigrid(system.len());
    }

    /// The same with solids that respond to the pressure; what they add to the right-hand side is there on return.
    pub fn solve_coupled(
        &mut self,
        system: &mut System<D>,
        settings: &Settings<D>,
        coupling: &mut Coupling<'_>,
        again: bool,
        observer: &mut dyn Observer,
        dt: f64,
    ) -> Result<Solution, InputError> {
        if !again {
            self.start(system, dt);
        }
        let problem = system.problem.posed()?;
        let largest = problem.rhs().iter().fold(0.0, |m: f64, b| m.max(b.abs()));
        let wanted = settings.physics.pressure.tolerance.max(ROUNDING * largest);
        let cycles = multigrid::Settings {
            tolerance: wanted,
            max_iterations: settings.physics.pressure.max_iterations,
            ..Default::default()
        };
        let mut levels = self.workspace.multigrid.prepare(&problem)?;
        let report =
            levels.solve_coupled(&problem, coupling, &cycles, &mut self.pressure, observer)?;
        self.workspace.last = Some((Solver::TnMg, Preconditioner::None));
        coupling.finish::<D>(&self.pressure, &mut system.problem.rhs);
        self.mark_separated(system, wanted);
        Ok(Solution::of(
            Solver::TnMg.name(),
            "solids respond to the pressure",
            report,
        ))
    }

    /// The same by other means.
    pub fn solve_by(
        &mut self,
        system: &mut System<D>,
        settings: &Settings<D>,
        again: bool,
        solve: &mut SolveBy<'_, D>,
        dt: f64,
    ) -> Result<Report, InputError> {
        if !again {
            self.start(system, dt);
        }
        let rhs = &system.problem.rhs;
        let largest = rhs.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
        let wanted = settings.physics.pressure.tolerance.max(ROUNDING * largest);
        let (moved, report) = solve(&system.problem, wanted, &mut self.pressure)?;
        self.workspace.last = Some((Solver::TnMg, Preconditioner::None));
        for (row, divergence) in moved {
            system.problem.rhs[row as usize] += divergence;
        }
        self.mark_separated(system, wanted);
        Ok(report)
    }

    /// Rows at their least pressure whose divergence is above the tolerance.
    fn mark_separated(&mut self, system: &System<D>, tolerance: f64) {
        let (problem, x) = (&system.problem, &self.pressure);
        let is_separated = |row: usize| {
            let lower = problem.lower[row];
            let bounded = lower.is_finite() && lower < problem.upper[row];
            bounded
                && x[row] <= lower
                && problem.stencil.row_dot(row, x) + problem.rhs[row] > tolerance
        };
        self.separated.clear();
        self.separated.make_room(system.len());
        let rows = (0..system.len()).into_par_iter().with_min_len(4096);
        self.separated.par_extend(rows.map(is_separated));
    }

    /// The last step's pressure in every cell that had one, else zero. What carries over is the impulse, pressure
    /// times the length of the step.
    fn start(&mut self, system: &System<D>, dt: f64) {
        let (last, cells) = (&self.last, system.problem.stencil.cells());
        let scale = if last.dt > 0.0 { last.dt / dt } else { 0.0 };
        self.pressure.clear();
        self.pressure.make_room(cells.len());
        self.pressure
            .par_extend(cells.par_iter().with_min_len(4096).map(|&cell| {
                let index = last.tiles.index(cell);
                match last.rows.of(index) {
                    NO_ROW => 0.0,
                    row => scale * last.pressure[row as usize],
                }
            }));
    }

    /// Solves for the potential of the displacement that evens out the particles, with the matrix and
    /// preconditioner of the pressure. It need not be exact, and failing is no harm.
    pub fn displacement(
        &mut self,
        system: &System<D>,
        crowd: impl FnOnce(&mut Vec<f64>),
    ) -> Result<(&[f64], Option<Report>), InputError> {
        let Displacement {
            rhs,
            lower,
            upper,
            potential,
        } = &mut self.displacement;
        crowd(rhs);
        // Of the pressure's bounds only the rows that are held stay; rows that left their wall are open to it, as to
        // air, or evening out would pull the liquid back to a wall that it is leaving.
        for bound in [&mut *lower, upper] {
            bound.clear();
            bound.make_room(system.len());
        }
        let pressure = system.problem.posed()?;
        let rows = pressure.lower().iter().zip(pressure.upper());
        let rows = rows.zip(&self.separated);
        for ((&l, &u), &left) in rows {
            let held = left || l == u;
            lower.push(if held { 0.0 } else { f64::NEG_INFINITY });
            upper.push(if held { 0.0 } else { f64::INFINITY });
        }
        potential.clear();
        potential.resize_closely(system.len(), 0.0);
        let problem = BoxMlcp::new(pressure.matrix(), rhs, lower, upper)?;
        let largest = rhs.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
        let mut report = None;
        if largest > 0.0 {
            report = Some(self.workspace.solve_again(
                &problem,
                &pressure,
                DISPLACEMENT_TOLERANCE * largest,
                DISPLACEMENT_ITERATIONS,
                potential,
            )?);
        }
        Ok((potential, report))
    }
}
