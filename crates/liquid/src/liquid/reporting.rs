//! Reports of steps, their failures, and the problem behind them.

use meniscus_lcp::{Report, Status};
use rayon::prelude::*;

use super::speeds::fastest;
use super::volume_target::VolumeTarget;
use super::{Liquid, VolumeMeasure, health};
use crate::grid::thick_walls::ThickWalls;
use crate::particles::sources::Exchanged;
use crate::pressure::Weights;
use crate::projection::Projected;
use crate::report::{PressureProblem, StepError, StepFailure, StepReport};
use crate::solids::SolidMotion;
use crate::solvers::Solution;

impl<const D: usize> Liquid<D> {
    /// Sum over fixed runs of particles, so that it does not depend on the number of threads.
    fn kinetic_energy(&self) -> f64 {
        let mass = self.settings.physics.density * self.settings.particle_volume();
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

    /// A step without liquid: time passes, and liquid may come in.
    pub(crate) fn step_without_liquid(
        &mut self,
        solids: &dyn SolidMotion<D>,
        dt: f64,
    ) -> StepReport {
        self.drift = 0.0;
        self.volume_target.get_or_insert(VolumeTarget::EMPTY);
        let solids = ThickWalls::new(solids, self.settings.dx);
        let exchanged = self.pass(&solids, dt);
        StepReport {
            status: Status::Converged,
            volume: 0.0,
            emitted: exchanged.emitted,
            ..self.report_of_solve(Solution::none(), dt)
        }
    }

    /// The report of a step that has succeeded.
    pub(crate) fn report(
        &self,
        projected: Projected,
        correction: Option<Report>,
        volume: VolumeMeasure,
        exchanged: Exchanged,
        dt: f64,
    ) -> StepReport {
        StepReport {
            unknowns: projected.unknowns,
            wall_rows: projected.wall_rows,
            separated_rows: projected.separated_rows,
            separated_volume: projected.separated_volume,
            viscosity_rounds: projected.viscosity_rounds,
            correction,
            volume: volume.volume,
            thin_volume: volume.thin,
            compressed_volume: volume.compressed,
            diluted_volume: volume.diluted,
            recent_drift: volume.drift,
            expected_volume: health::expected_with_thin(volume.expected, volume.own),
            own_volume: volume.own,
            crowded: volume.crowded,
            emitted: exchanged.emitted,
            drained: exchanged.drained,
            pockets: projected.pockets,
            lost_volume: projected.lost_volume,
            squeezed: projected.squeezed,
            ..self.report_of_solve(projected.solution, dt)
        }
    }

    /// The report of a solve alone.
    fn report_of_solve(&self, solution: Solution, dt: f64) -> StepReport {
        StepReport {
            time: self.time,
            dt,
            particles: self.particles.len(),
            unknowns: 0,
            wall_rows: 0,
            separated_rows: 0,
            separated_volume: 0.0,
            solver: solution.solver,
            status: solution.report.status,
            outer_iterations: solution.report.iterations,
            inner_iterations: solution.report.inner_iterations,
            residual: solution.report.residual,
            viscosity_rounds: 0,
            correction: None,
            volume: f64::NAN,
            thin_volume: 0.0,
            compressed_volume: 0.0,
            diluted_volume: 0.0,
            recent_drift: 0.0,
            expected_volume: 0.0,
            own_volume: 0.0,
            crowded: None,
            emitted: 0.0,
            drained: 0.0,
            kinetic_energy: self.kinetic_energy(),
            max_speed: fastest(&self.particles.velocity),
            pockets: 0,
            lost_volume: 0.0,
            squeezed: None,
        }
    }

    /// Full description of a failed step of `dt` seconds.
    pub fn failure(&self, error: StepError, dt: f64) -> Box<StepFailure<D>> {
        let solution = match &error {
            StepError::Unsolved(solution) | StepError::NotFinite(solution) => solution.clone(),
            StepError::TooFast { .. } | StepError::Refused(_) => Solution::none(),
        };
        Box::new(StepFailure {
            error,
            report: StepReport {
                unknowns: self.pressure.unknowns(),
                wall_rows: self.pressure.wall_rows(),
                ..self.report_of_solve(solution, dt)
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
        self.pressure.problem(&weights, &self.settings, dt)
    }
}
