//! A liquid among scripted solids.

use std::any::Any;
use std::io::{self, Write};

use meniscus_liquid::spin_pool::spin_if;
use meniscus_liquid::{self as liquid, Liquid, Phases, State, StepError, StepLimit};
use meniscus_shapes::Solids;
use rayon::prelude::*;

use crate::report::{Problem, SolveReport, StepFailure, StepReport};
use crate::snapshot::{BodyState, Layers, PointLayer, Snapshot};
use crate::world::{Cost, SavedState, World};

/// Particles from which on most parts of a step are long enough to be shared, and short enough that threads would fall
/// asleep between two of them.
const SHARED: usize = 50_000;

/// A liquid among scripted solids.
pub struct LiquidWorld<const D: usize> {
    liquid: Liquid<D>,
    solids: Solids<D>,
    unknowns: usize,
}

impl<const D: usize> LiquidWorld<D> {
    /// A liquid and the solids around it.
    pub fn new(liquid: Liquid<D>, solids: Solids<D>) -> Self {
        Self {
            liquid,
            solids,
            unknowns: 0,
        }
    }

    /// The liquid.
    pub fn liquid(&self) -> &Liquid<D> {
        &self.liquid
    }

    /// The solids, walls of the domain included.
    pub fn solids(&self) -> &Solids<D> {
        &self.solids
    }

    /// Volume of the liquid now.
    pub fn volume(&mut self) -> f64 {
        self.liquid.volume(&self.solids)
    }

    fn failure(&self, error: StepError, dt: f64) -> Box<StepFailure> {
        let failure = self.liquid.failure(error, dt);
        Box::new(StepFailure {
            message: failure.to_string(),
            error: failure.error,
            report: report_of(&failure.report),
            problem: Problem::new(failure.problem),
        })
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
        self.liquid.step_limit(&self.solids, time_left)
    }

    fn try_step(
        &mut self,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure>> {
        let is_shared = self.liquid.particles().len() >= SHARED;
        let stepped = spin_if(is_shared, || self.liquid.step(&self.solids, dt, phases));
        match stepped {
            Ok(report) => {
                self.unknowns = report.unknowns;
                Ok(report_of(&report))
            }
            Err(error) => Err(self.failure(error, dt)),
        }
    }

    fn refuse_step(&self, error: StepError, dt: f64) -> Box<StepFailure> {
        self.failure(error, dt)
    }

    fn snapshot(&self, layers: Layers) -> Snapshot {
        let (particles, settings) = (self.liquid.particles(), self.liquid.settings());
        let mut scalars = Vec::new();
        if layers.pressure {
            scalars.push(("pressure", pressures(&self.liquid)));
        }
        if let Some(attributes) = &particles.attributes {
            let now = self.liquid.time();
            let age = |birth: &f32| (now - f64::from(*birth)).max(0.0) as f32;
            scalars.push(("age", attributes.birth.iter().map(age).collect()));
            let source = attributes.source.iter().map(|&source| source as f32);
            scalars.push(("source", source.collect()));
        }
        Snapshot {
            time: self.liquid.time(),
            dimension: D,
            points: vec![PointLayer {
                name: "liquid".into(),
                spacing: settings.particle_volume().powf(1.0 / D as f64),
                position: particles.position.as_flattened().to_vec(),
                velocity: particles.velocity.as_flattened().to_vec(),
                id: particles.attributes.as_ref().map(|kept| kept.id.clone()),
                scalars,
            }],
            bodies: poses(&self.solids, self.liquid.time()),
            meshes: Vec::new(),
        }
    }

    fn state(&self) -> Box<dyn SavedState + '_> {
        Box::new(LiquidState(self.liquid.state()))
    }

    fn problem(&mut self, dt: f64) -> Result<Problem, StepError> {
        let problem = self.liquid.pressure_problem(&self.solids, dt)?;
        Ok(Problem::new(problem))
    }

    fn cost(&self) -> Cost {
        Cost {
            points: self.liquid.particles().len(),
            unknowns: self.unknowns,
            bodies: self.solids.list.len(),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
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

/// Poses of scripted solids.
fn poses<const D: usize>(solids: &Solids<D>, time: f64) -> Vec<BodyState> {
    let pose_of = |body: &meniscus_shapes::ScriptedSolid<D>| {
        let pose = body.motion.world_from_body(time);
        BodyState {
            name: body.name.clone(),
            rotation: pose.rotation.matrix().as_flattened().to_vec(),
            translation: pose.translation.to_vec(),
        }
    };
    solids.list.iter().map(pose_of).collect()
}

/// The report of a liquid's step as solves and measures.
fn report_of(report: &liquid::StepReport) -> StepReport {
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
        ("expected_volume", report.expected_volume),
        ("own_volume", report.own_volume),
        ("emitted", report.emitted),
        ("drained", report.drained),
        ("kinetic_energy", report.kinetic_energy),
        ("max_speed", report.max_speed),
        ("pockets", report.pockets as f64),
        ("lost_volume", report.lost_volume),
    ];
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
