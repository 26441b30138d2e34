//! `stats.jsonl`: one line per step, with nothing in it that depends on the machine or on the
//! number of threads.

use super::drift::drift;
use meniscus_sim::{SolveReport, StepReport};
use serde::{Deserialize, Serialize};

/// Version of the lines: 2 since solves are nested.
pub const VERSION: u32 = 2;

/// One step of a run, as it stands in `stats.jsonl`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct StepLine {
    /// Version of the line; lines of version 1 have none.
    #[serde(default = "first_version")]
    pub version: u32,
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
    /// What was solved for.
    pub name: String,
    /// Method that solved it.
    pub solver: String,
    /// How it ended.
    pub status: String,
    /// Unknowns.
    pub unknowns: usize,
    /// Iterations of the method.
    pub iterations: usize,
    /// Iterations of the solvers inside.
    pub inner_iterations: usize,
    /// Largest natural residual.
    pub residual: f64,
    /// Solves inside it.
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
    /// The line of a step that leads to `frame`.
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
