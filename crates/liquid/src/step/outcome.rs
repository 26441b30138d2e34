//! What a step reports, how it went wrong, and the problem behind it.

use meniscus_lcp::Status;
use rayon::prelude::*;

use super::Liquid;
use crate::pressure::{System, Weights};
use crate::report::{Face, PressureProblem, StepFailure, StepReport, Trouble};
use crate::solvers::Solution;
use crate::thick_walls::ThickWalls;

impl<const D: usize> Liquid<D> {
    /// Sum over fixed runs of particles, so that it does not depend on the number of threads.
    fn kinetic_energy(&self) -> f64 {
        let mass = self.settings.density * self.settings.particle_volume();
        let runs: Vec<f64> = self
            .particles
            .velocity
            .par_chunks(4096)
            .map(|run| {
                run.iter()
                    .map(|v| v.iter().map(|&c| c as f64 * c as f64).sum::<f64>())
                    .sum()
            })
            .collect();
        0.5 * mass * runs.iter().sum::<f64>()
    }

    /// Time passes, and something may come in.
    pub(super) fn step_of_nothing(&mut self, solids: &ThickWalls<D>, dt: f64) -> StepReport {
        self.drift = 0.0;
        self.system = System::empty();
        let exchanged = self.pass(solids, dt);
        StepReport {
            // The problem that is still here is that of the last liquid there was.
            unknowns: 0,
            wall_rows: 0,
            status: Status::Converged,
            volume: 0.0,
            emitted: exchanged.emitted,
            ..self.report(Solution::none(), dt)
        }
    }

    /// The report of a solve, with nothing yet of what comes after.
    pub(super) fn report(&self, solution: Solution, dt: f64) -> StepReport {
        StepReport {
            time: self.time,
            dt,
            particles: self.particles.len(),
            unknowns: self.system.len(),
            wall_rows: self.system.wall.iter().filter(|&&w| w).count(),
            separated_rows: 0,
            solver: solution.solver,
            status: solution.report.status,
            outer_iterations: solution.report.iterations,
            inner_iterations: solution.report.inner_iterations,
            residual: solution.report.residual,
            volume: f64::NAN,
            thin_volume: 0.0,
            expected_volume: 0.0,
            own_volume: 0.0,
            crowded: None,
            emitted: 0.0,
            drained: 0.0,
            kinetic_energy: self.kinetic_energy(),
            max_speed: self.max_speed(),
            pockets: 0,
            lost_volume: 0.0,
            squeezed: None,
            retries: 0,
        }
    }

    pub(super) fn failure(
        &mut self,
        trouble: Trouble,
        solution: Solution,
        dt: f64,
        retries: usize,
    ) -> Box<StepFailure<D>> {
        Box::new(StepFailure {
            trouble,
            report: StepReport {
                retries,
                ..self.report(solution, dt)
            },
            problem: self.problem(dt),
        })
    }

    pub(super) fn problem(&self, dt: f64) -> PressureProblem<D> {
        let weights = Weights {
            tiles: &self.grid.tiles,
            cut: &self.grid.cut,
            phi: &self.grid.level.phi,
            dx: self.settings.dx,
        };
        let face = |index: usize, axis: usize, high: bool| {
            let beyond = weights.beyond(index, axis, high);
            let open = weights.open_to(beyond, index, axis, high);
            Face { open, beyond }
        };
        let cells = self.system.cells.iter().map(|&index| index as usize);
        PressureProblem {
            matrix: self.system.matrix.clone(),
            rhs: self.system.rhs.clone(),
            lower: self.system.lower.clone(),
            upper: self.system.upper.clone(),
            cells: cells
                .clone()
                .map(|index| self.grid.tiles.coord(index))
                .collect(),
            faces: cells
                .map(|index| std::array::from_fn(|a| [face(index, a, false), face(index, a, true)]))
                .collect(),
            size: self.settings.cells,
            dx: self.settings.dx,
            dt,
            density: self.settings.density,
        }
    }
}
