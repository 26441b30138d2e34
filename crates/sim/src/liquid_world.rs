//! A liquid among scripted solids.

use std::any::Any;
use std::io::{self, Write};

use meniscus_liquid::spin_pool::spin_if;
use meniscus_liquid::{self as liquid, Liquid, State};
use meniscus_shapes::{ScriptedSolid, Solids};
use rayon::prelude::*;

use crate::problem::ProblemDump;
use crate::report::{SolveReport, StepError, StepFailure, StepReport};
use crate::snapshot::{BodyState, Layers, PointLayer, Snapshot};
use crate::world::{Cost, Phases, SavedState, StepLimit, World};

/// Particles from which on most parts of a step are long enough to be shared, and short enough that threads would fall
/// asleep between two of them.
pub(crate) const SHARED: usize = 50_000;
/// Half the interval over which velocities of scripted solids are measured, in seconds.
const HALF_INTERVAL: f64 = 1e-4;

/// A liquid among scripted solids.
pub struct LiquidWorld<const D: usize> {
    liquid: Liquid<D>,
    /// The solids, and last the sides of the domain.
    solids: Solids<D>,
    unknowns: usize,
}

impl<const D: usize> LiquidWorld<D> {
    /// A liquid, the solids in it, and the sides of its domain, which are not among the bodies of a snapshot.
    pub fn new(
        liquid: Liquid<D>,
        mut solids: Vec<ScriptedSolid<D>>,
        sides: ScriptedSolid<D>,
    ) -> Self {
        solids.push(sides);
        Self {
            liquid,
            solids: Solids::new(solids),
            unknowns: 0,
        }
    }

    /// The world itself, if it is a liquid in `D` dimensions.
    pub fn of(world: &dyn World) -> Option<&Self> {
        (world as &dyn Any).downcast_ref()
    }

    /// The liquid.
    pub fn liquid(&self) -> &Liquid<D> {
        &self.liquid
    }
}

impl<const D: usize> World for LiquidWorld<D> {
    fn dimension(&self) -> usize {
        D
    }

    fn time(&self) -> f64 {
        self.liquid.time()
    }

    fn step_limit(&self, until: f64) -> StepLimit {
        let time_left = until - self.liquid.time();
        let liquid::StepLimit { dt, longest, speed } =
            self.liquid.step_limit(&self.solids, time_left);
        StepLimit { dt, longest, speed }
    }

    fn try_step(
        &mut self,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure>> {
        let is_shared = self.liquid.particles().len() >= SHARED;
        let stepped = spin_if(is_shared, || {
            self.liquid.step(&self.solids, dt, &mut Forward(phases))
        });
        match stepped {
            Ok(report) => {
                self.unknowns = report.unknowns;
                Ok(report_of(&report))
            }
            Err(error) => {
                let is_viscous = self.liquid.settings().physics.is_viscous();
                let failure = self.liquid.failure(error, dt);
                let problem: Option<Box<dyn ProblemDump>> = match is_viscous {
                    true => None,
                    false => Some(Box::new(failure.problem)),
                };
                Err(Box::new(StepFailure {
                    error: failure.error.into(),
                    report: report_of(&failure.report),
                    problem,
                }))
            }
        }
    }

    fn snapshot(&self, layers: Layers) -> Snapshot {
        Snapshot {
            time: self.liquid.time(),
            dimension: D,
            points: vec![point_layer(&self.liquid, layers)],
            bodies: self.bodies(),
            loads: Vec::new(),
            meshes: Vec::new(),
        }
    }

    fn bodies(&self) -> Vec<BodyState> {
        let time = self.liquid.time();
        let (_sides, solids) = self.solids.list.split_last().expect("sides of the domain");
        solids.iter().map(|body| body_state(body, time)).collect()
    }

    fn state(&self) -> Box<dyn SavedState + '_> {
        Box::new(LiquidState(self.liquid.state()))
    }

    fn problem(&mut self, dt: f64) -> Result<Box<dyn ProblemDump>, StepError> {
        if self.liquid.settings().physics.is_viscous() {
            let why = "velocity and pressure of viscous liquid are one linear system, no complementarity problem";
            return Err(StepError::Refused(why.into()));
        }
        let problem = self.liquid.pressure_problem(&self.solids, dt)?;
        Ok(Box::new(problem))
    }

    fn cost(&self) -> Cost {
        Cost {
            points: self.liquid.particles().len(),
            unknowns: self.unknowns,
            bodies: self.solids.list.len(),
        }
    }
}

/// The particles of a liquid.
pub(crate) fn point_layer<const D: usize>(liquid: &Liquid<D>, layers: Layers) -> PointLayer {
    let (particles, settings) = (liquid.particles(), liquid.settings());
    let mut scalars = Vec::new();
    if layers.pressure {
        scalars.push(("pressure", pressures(liquid)));
    }
    if let Some(attributes) = &particles.attributes {
        let now = liquid.time();
        let age = |birth: &f32| (now - f64::from(*birth)).max(0.0) as f32;
        scalars.push(("age", attributes.birth.iter().map(age).collect()));
        let source = attributes.source.iter().map(|&source| source as f32);
        scalars.push(("source", source.collect()));
    }
    PointLayer {
        name: "liquid".into(),
        spacing: settings.particle_volume().powf(1.0 / D as f64),
        position: particles.position.as_flattened().to_vec(),
        velocity: particles.velocity.as_flattened().to_vec(),
        id: particles.attributes.as_ref().map(|kept| kept.id.clone()),
        scalars,
    }
}

/// Pressure in the cell of each particle in the last step. Cells that had no liquid then, where spray is now, are at the
/// pressure of the air.
fn pressures<const D: usize>(liquid: &Liquid<D>) -> Vec<f32> {
    let dx = liquid.settings().dx;
    let pressure = |x: &[f32; D]| {
        let cell = x.map(|c| (f64::from(c) / dx).floor() as i32);
        liquid.pressure(cell).unwrap_or(0.0) as f32
    };
    let positions = liquid.particles().position.par_iter();
    positions.map(pressure).collect()
}

/// Pose and velocity of a scripted solid.
pub(crate) fn body_state<const D: usize>(body: &ScriptedSolid<D>, time: f64) -> BodyState {
    let pose = body.motion.world_from_body(time);
    let (mut velocity, mut angular_velocity) = ([0.0; D], [0.0; 3]);
    if body.moves() {
        let before = body.motion.world_from_body(time - HALF_INTERVAL);
        let after = body.motion.world_from_body(time + HALF_INTERVAL);
        let rate = 0.5 / HALF_INTERVAL;
        velocity = std::array::from_fn(|a| rate * (after.translation[a] - before.translation[a]));
        let turn = after.rotation.compose(&before.rotation.inverse()).log();
        angular_velocity[2] = rate * turn[1][0];
        if D == 3 {
            angular_velocity[0] = rate * turn[2][1];
            angular_velocity[1] = rate * turn[0][2];
        }
    }
    BodyState {
        name: body.name.clone(),
        rotation: pose.rotation.matrix().as_flattened().to_vec(),
        translation: pose.translation.to_vec(),
        velocity: velocity.to_vec(),
        angular_velocity,
    }
}

/// Forwards phases of the liquid's step.
pub(crate) struct Forward<'a>(pub &'a mut dyn Phases);

impl liquid::Phases for Forward<'_> {
    fn begin(&mut self, phase: &'static str) {
        self.0.begin(phase);
    }
}

impl From<liquid::StepError> for StepError {
    fn from(error: liquid::StepError) -> Self {
        match error {
            liquid::StepError::Unsolved(_) => Self::Unsolved(error.to_string()),
            liquid::StepError::NotFinite(_) => Self::NotFinite,
            liquid::StepError::TooFast { speed } => Self::TooFast { speed },
            _ => Self::Refused(error.to_string()),
        }
    }
}

/// The report of a liquid's step as solves and measures.
pub(crate) fn report_of(report: &liquid::StepReport) -> StepReport {
    let mut tree = StepReport::new(report.time, report.dt);
    let unknowns = report.unknowns;
    tree.solves.push(SolveReport {
        name: "pressure",
        solver: report.solver,
        status: report.status,
        unknowns,
        iterations: report.outer_iterations,
        inner_iterations: report.inner_iterations,
        residual: report.residual,
        solves: Vec::new(),
    });
    if let Some(correction) = &report.correction {
        let solve = SolveReport::new("position-correction", report.solver, unknowns, correction);
        tree.solves.push(solve);
    }
    tree.measures = vec![
        ("particles", report.particles as f64),
        ("unknowns", unknowns as f64),
        ("wall_rows", report.wall_rows as f64),
        ("separated_rows", report.separated_rows as f64),
        ("volume", report.volume),
        ("thin_volume", report.thin_volume),
        ("compressed_volume", report.compressed_volume),
        ("diluted_volume", report.diluted_volume),
        ("recent_drift", report.recent_drift),
        ("expected_volume", report.expected_volume),
        ("own_volume", report.own_volume),
        ("emitted", report.emitted),
        ("drained", report.drained),
        ("kinetic_energy", report.kinetic_energy),
        ("max_speed", report.max_speed),
        ("pockets", report.pockets as f64),
        ("lost_volume", report.lost_volume),
    ];
    if report.viscosity_rounds > 0 {
        let rounds = report.viscosity_rounds as f64;
        tree.measures.push(("viscosity_rounds", rounds));
    }
    if let Some(crowded) = &report.crowded {
        tree.measures.push(("crowded", crowded.times));
        tree.places.push(("crowded", crowded.place.clone()));
    }
    if let Some(place) = &report.squeezed {
        tree.places.push(("squeezed", place.clone()));
    }
    tree
}

struct LiquidState<'a, const D: usize>(State<'a, D>);

impl<const D: usize> SavedState for LiquidState<'_, D> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.0.write(out)
    }
}
