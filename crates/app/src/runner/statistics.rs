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
    /// Rows of the pressure problem, or of the contact problems; density constraints of the particle method.
    pub unknowns: usize,
    /// Rows adjacent to a solid.
    pub wall_rows: usize,
    /// Rows at which the liquid separates from the wall.
    pub separated_rows: usize,
    /// Solver of the pressure, of the contacts, or of the density constraints.
    pub solver: String,
    /// Status of the solve.
    pub status: String,
    /// Outer iterations of the solve.
    pub outer_iterations: usize,
    /// Total iterations of the inner linear solves.
    pub inner_iterations: usize,
    /// Largest residual of the pressure problem, recomputed from it, in 1/s; of contact problems in m/s; largest relative
    /// excess of density of the particle method.
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
    /// Rounds of viscosity and velocity, if the liquid is viscous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viscosity_rounds: Option<usize>,
    /// Position in the pocket that lost most, if any lost volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub squeezed: Option<Vec<f64>>,
    /// Measures of rigid bodies, in scenes that have them.
    #[serde(default, skip_serializing_if = "Option::is_none", flatten)]
    pub bodies: Option<BodyMeasures>,
    /// Measures of bodies in liquid, in scenes that have both.
    #[serde(default, skip_serializing_if = "Option::is_none", flatten)]
    pub coupling: Option<CouplingMeasures>,
    /// Names of bodies that left the domain in the step and were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_domain: Vec<String>,
    /// Number of retries with a shorter step.
    pub retries: usize,
    /// Solves of the step, in order.
    #[serde(default)]
    pub solves: Vec<SolveLine>,
}

/// Measures of rigid bodies after a step.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct BodyMeasures {
    /// Number of solids and bodies.
    pub bodies: usize,
    /// Number of contacts.
    pub contacts: usize,
    /// Number of islands of bodies that are connected by contacts and joints.
    pub islands: usize,
    /// Islands whose solve did not reach its tolerance.
    pub unsolved_islands: usize,
    /// Largest residual of these, in m/s.
    #[serde(default)]
    pub unsolved_residual: f64,
    /// Largest amount by which a gap is below the one at rest, in m.
    pub position_error: f64,
    /// Deepest overlap, in m.
    pub penetration: f64,
    /// Change of energy by the correction of positions, in J.
    pub position_work: f64,
    /// Potential energy in J.
    pub potential_energy: f64,
    /// Power of all motors in W.
    pub motor_power: f64,
    /// Number of bodies asleep.
    pub asleep: usize,
    /// Number of bodies removed so far.
    pub removed_bodies: usize,
    /// Number of joints broken so far.
    pub broken_joints: usize,
}

impl BodyMeasures {
    /// Those of a step, if its world has bodies.
    fn of(report: &StepReport) -> Option<Self> {
        let measure = |name: &str| report.measure(name);
        let count = |name: &str| Some(measure(name)? as usize);
        Some(BodyMeasures {
            bodies: count("bodies")?,
            contacts: count("contacts")?,
            islands: count("islands")?,
            unsolved_islands: count("unsolved_islands")?,
            unsolved_residual: measure("unsolved_residual")?,
            position_error: measure("position_error")?,
            penetration: measure("penetration")?,
            position_work: measure("position_work")?,
            potential_energy: measure("potential_energy")?,
            motor_power: measure("motor_power")?,
            asleep: count("asleep")?,
            removed_bodies: count("removed_bodies")?,
            broken_joints: count("broken_joints")?,
        })
    }
}

/// Measures of bodies in liquid after a step.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct CouplingMeasures {
    /// Multigrid cycles of the solves of pressure and contact.
    pub cycles: usize,
    /// Number of these solves: more than one where contacts were missed, or liquid separated from a body.
    pub coupled_solves: usize,
    /// Number of rounds of the scheme `iterative`, or of friction where it did not converge with the pressure.
    #[serde(default)]
    pub rounds: usize,
    /// Number of contact problems solved inside of them.
    pub small_solves: usize,
    /// Volume in m³ (m² in 2D) that opened in the step between walls and liquid that separates from them. It is no liquid.
    pub separated_volume: f64,
    /// Number of free bodies that touch the liquid.
    pub wet_bodies: usize,
    /// Number of these that are so small for the grid that the force on them is inaccurate.
    pub limited_bodies: usize,
    /// Number of bodies whose walls the liquid sees thicker than they are.
    pub thickened_bodies: usize,
    /// Kinetic energy of the bodies in J; `kinetic_energy` is that of the liquid.
    pub body_kinetic_energy: f64,
}

impl CouplingMeasures {
    /// Those of a step, if its world has bodies and liquid.
    fn of(report: &StepReport) -> Option<Self> {
        let measure = |name: &str| report.measure(name);
        let count = |name: &str| Some(measure(name)? as usize);
        Some(CouplingMeasures {
            cycles: count("cycles")?,
            coupled_solves: count("coupled_solves")?,
            rounds: count("rounds")?,
            small_solves: count("small_solves")?,
            separated_volume: measure("separated_volume")?,
            wet_bodies: count("wet_bodies")?,
            limited_bodies: count("limited_bodies")?,
            thickened_bodies: count("thickened_bodies")?,
            body_kinetic_energy: measure("body_kinetic_energy")?,
        })
    }
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
        let main = ["pressure", "contact", "density"];
        let pressure = main.into_iter().find_map(|name| report.solve(name));
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
            viscosity_rounds: report
                .measure("viscosity_rounds")
                .map(|rounds| rounds as usize),
            lost_volume: measure("lost_volume"),
            squeezed: place("squeezed"),
            bodies: BodyMeasures::of(report),
            coupling: CouplingMeasures::of(report),
            left_domain: report.left_domain.clone(),
            retries: report.retries,
            solves,
        }
    }
}
