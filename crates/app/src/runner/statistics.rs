//! `stats.jsonl`: one line per step, independent of the machine and of the
//! number of threads.

use super::drift::drift;
use meniscus_sim::{SolveReport, StepReport};
use serde::{Deserialize, Serialize};

/// Version of the format: 2 since solves are nested.
pub const VERSION: u32 = 2;

/// One step of a run: a line of `stats.jsonl`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct StepLine {
    /// Format version; lines of version 1 have none.
    #[serde(default = "first_version")]
    pub version: u32,
    /// Frame that the step leads to, from 1.
    pub frame: u32,
    /// Simulated time after the step, in seconds.
    pub time: f64,
    /// Length of the step in seconds.
    pub dt: f64,
    /// Number of particles.
    pub particles: usize,
    /// Rows of the pressure problem.
    pub unknowns: usize,
    /// Rows adjacent to a solid.
    pub wall_rows: usize,
    /// Rows at which the liquid separates from the wall.
    pub separated_rows: usize,
    /// Pressure solver.
    pub solver: String,
    /// Status of the solve.
    pub status: String,
    /// Outer iterations of the solve.
    pub outer_iterations: usize,
    /// Total iterations of the inner linear solves.
    pub inner_iterations: usize,
    /// Largest residual of the pressure problem, recomputed from it, in 1/s.
    pub residual: f64,
    /// Volume of the liquid at the start of the step (area in 2D).
    pub volume: f64,
    /// Volume of liquid in sheets and drops below the grid's resolution, which `volume` misses.
    #[serde(default)]
    pub thin_volume: f64,
    /// Deviation of `volume` plus `thin_volume` from the target (the initial volume plus inflow less outflow), as a
    /// fraction; zero between the target and the volume represented by the particles.
    pub volume_drift: f64,
    /// Number of particles in the most crowded cell as a multiple of the regular number, if above three.
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
    /// Number of pockets: parts of the liquid without a free surface.
    pub pockets: usize,
    /// Volume squeezed out of pockets by solids.
    pub lost_volume: f64,
    /// Position in the pocket that lost most, if any lost volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub squeezed: Option<Vec<f64>>,
    /// Number of retries with a shorter step.
    pub retries: usize,
    /// Solves of the step, in order.
    #[serde(default)]
    pub solves: Vec<SolveLine>,
}

fn first_version() -> u32 {
    1
}

/// One solve of a step.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SolveLine {
    /// Unknown that was solved for.
    pub name: String,
    /// Solver.
    pub solver: String,
    /// Status.
    pub status: String,
    /// Number of unknowns.
    pub unknowns: usize,
    /// Iterations.
    pub iterations: usize,
    /// Iterations of inner solvers.
    pub inner_iterations: usize,
    /// Largest natural residual.
    pub residual: f64,
    /// Nested solves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solves: Vec<SolveLine>,
}

impl From<&SolveReport> for SolveLine {
    fn from(report: &SolveReport) -> Self {
        SolveLine {
            name: report.name.into(),
            solver: report.solver.into(),
            status: report.status.to_string(),
            unknowns: report.unknowns,
            iterations: report.iterations,
            inner_iterations: report.inner_iterations,
            residual: report.residual,
            solves: report.solves.iter().map(SolveLine::from).collect(),
        }
    }
}

impl StepLine {
    /// Line of a step that leads to `frame`.
    pub fn new(frame: u32, report: &StepReport) -> Self {
        let measure = |name: &str| report.measure(name).unwrap_or(0.0);
        let count = |name: &str| measure(name) as usize;
        let place = |name: &str| report.place(name).map(<[f64]>::to_vec);
        let solves: Vec<SolveLine> = report.solves.iter().map(SolveLine::from).collect();
        let pressure = report.solve("pressure");
        StepLine {
            version: VERSION,
            frame,
            time: report.time,
            dt: report.dt,
            particles: count("particles"),
            unknowns: count("unknowns"),
            wall_rows: count("wall_rows"),
            separated_rows: count("separated_rows"),
            solver: pressure.map_or("none", |solve| solve.solver).into(),
            status: pressure.map_or(String::new(), |solve| solve.status.to_string()),
            outer_iterations: pressure.map_or(0, |solve| solve.iterations),
            inner_iterations: pressure.map_or(0, |solve| solve.inner_iterations),
            residual: pressure.map_or(0.0, |solve| solve.residual),
            volume: measure("volume"),
            thin_volume: measure("thin_volume"),
            volume_drift: drift(&report.into()),
            crowded: report.measure("crowded"),
            crowded_place: place("crowded"),
            emitted: measure("emitted"),
            drained: measure("drained"),
            kinetic_energy: measure("kinetic_energy"),
            max_speed: measure("max_speed"),
            pockets: count("pockets"),
            lost_volume: measure("lost_volume"),
            squeezed: place("squeezed"),
            retries: report.retries,
            solves,
        }
    }
}
