//! `stats.jsonl`: one line per step, with nothing in it that depends on the machine or on the
//! number of threads.

use super::drift::drift;
use meniscus_liquid::StepReport;
use serde::{Deserialize, Serialize};

/// One step of a run, as it stands in `stats.jsonl`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct StepLine {
    /// The frame that the step leads to, from 1.
    pub frame: u32,
    /// Simulated time after the step, in seconds.
    pub time: f64,
    /// Length of the step in seconds.
    pub dt: f64,
    /// How many particles there are.
    pub particles: usize,
    /// Rows of the pressure problem.
    pub unknowns: usize,
    /// Rows that touch a solid.
    pub wall_rows: usize,
    /// Those of them where the liquid leaves the wall.
    pub separated_rows: usize,
    /// Method that solved for the pressure.
    pub solver: String,
    /// How the solve ended.
    pub status: String,
    /// Outer iterations of the solve.
    pub outer_iterations: usize,
    /// Iterations of the linear solves inside, in all.
    pub inner_iterations: usize,
    /// Largest residual of the pressure problem, recomputed from it, in 1/s.
    pub residual: f64,
    /// Volume of the liquid at the start of the step (area in 2D).
    pub volume: f64,
    /// Volume of liquid in sheets and drops below the grid's resolution, which `volume` misses.
    #[serde(default)]
    pub thin_volume: f64,
    /// How far `volume` and `thin_volume` together are from what should be there (what there was at the start, and what
    /// came and went since), as a share; zero between that and what the particles stand for.
    pub volume_drift: f64,
    /// How many times its share of particles the most overfull cell holds, if that is more than three times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crowded: Option<f64>,
    /// Centre of that cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crowded_place: Option<Vec<f64>>,
    /// Volume that emitters added in the step.
    #[serde(default)]
    pub emitted: f64,
    /// Volume that left through drains and open sides in the step.
    #[serde(default)]
    pub drained: f64,
    /// Kinetic energy in joules (per metre in 2D).
    pub kinetic_energy: f64,
    /// Speed of the fastest particle.
    pub max_speed: f64,
    /// Parts of the liquid that no air touches.
    pub pockets: usize,
    /// Volume that solids squeezed out of such parts.
    pub lost_volume: f64,
    /// A place in the part that lost most, if one lost any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub squeezed: Option<Vec<f64>>,
    /// How many times the step was tried again with a shorter one.
    pub retries: usize,
}

impl StepLine {
    /// The line of a step that leads to `frame`.
    pub fn new(frame: u32, report: &StepReport) -> Self {
        StepLine {
            frame,
            time: report.time,
            dt: report.dt,
            particles: report.particles,
            unknowns: report.unknowns,
            wall_rows: report.wall_rows,
            separated_rows: report.separated_rows,
            solver: report.solver.into(),
            status: report.status.to_string(),
            outer_iterations: report.outer_iterations,
            inner_iterations: report.inner_iterations,
            residual: report.residual,
            volume: report.volume,
            thin_volume: report.thin_volume,
            volume_drift: drift(report),
            crowded: report.crowded.as_ref().map(|cell| cell.times),
            crowded_place: report.crowded.as_ref().map(|cell| cell.place.clone()),
            emitted: report.emitted,
            drained: report.drained,
            kinetic_energy: report.kinetic_energy,
            max_speed: report.max_speed,
            pockets: report.pockets,
            lost_volume: report.lost_volume,
            squeezed: report.squeezed.clone(),
            retries: report.retries,
        }
    }
}
