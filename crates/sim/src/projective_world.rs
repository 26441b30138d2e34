//! A liquid of particles with density constraints among scripted solids.

use std::any::Any;
use std::io::{self, Write};

use meniscus_lcp::Status;
use meniscus_projective::{Exchanged, Fluid, Settings, Sources};
use meniscus_rigid::{self as rigid, Bodies};
use meniscus_shapes::{Bounds, ScriptedSolid};

use crate::body_reports::{RigidSetup, add_solves};
use crate::liquid_world::body_state;
use crate::problem::ProblemDump;
use crate::pushed_bodies::PushedBodies;
use crate::report::{SolveReport, StepError, StepFailure, StepReport};
use crate::snapshot::{BodyState, DeformedMesh, Layers, PointLayer, Snapshot};
use crate::world::{Cost, Phases, SavedState, StepLimit, World};

/// A liquid of particles with density constraints among scripted solids.
pub struct ProjectiveWorld<const D: usize> {
    fluid: Fluid<D>,
    sources: Sources<D>,
    /// The solids, and last the sides of the domain.
    solids: Vec<ScriptedSolid<D>>,
    domain: Bounds<D>,
    /// Whether snapshots have identifiers, ages and sources of the particles.
    has_attributes: bool,
    /// Bodies that the liquid moves, with the solids and the sides of the domain.
    rigid: Option<Rigid<D>>,
}

/// Rigid bodies of a world.
struct Rigid<const D: usize> {
    bodies: Bodies<D>,
    setup: RigidSetup<D>,
    /// Number of the first body that is no solid.
    first: usize,
    /// Report of the last step, for [`Snapshot::loads`]. No later step depends on it.
    last: Option<rigid::StepReport<D>>,
}

impl<const D: usize> Rigid<D> {
    /// Bodies that the liquid touches.
    fn wet(&self) -> Vec<usize> {
        let listed = self.first..self.setup.listed;
        listed
            .filter(|&body| !self.bodies.is_removed(body))
            .collect()
    }
}

impl<const D: usize> ProjectiveWorld<D> {
    /// A liquid with its sources, the solids in it, and the sides of its domain, which are not among the bodies of a
    /// snapshot.
    pub fn new(
        fluid: Fluid<D>,
        sources: Sources<D>,
        mut solids: Vec<ScriptedSolid<D>>,
        sides: ScriptedSolid<D>,
        domain: Bounds<D>,
        has_attributes: bool,
    ) -> Self {
        solids.push(sides);
        Self {
            fluid,
            sources,
            solids,
            domain,
            has_attributes,
            rigid: None,
        }
    }

    /// The world with bodies that the liquid moves. `bodies` begin with the solids.
    pub fn with_bodies(mut self, bodies: Bodies<D>, setup: RigidSetup<D>) -> Self {
        self.rigid = Some(Rigid {
            first: self.solids.len() - 1,
            bodies,
            setup,
            last: None,
        });
        self
    }

    /// Parts of a state that [`World::state`] wrote with bodies: these, in the state, and the state of the liquid. `bodies`
    /// are those of the scene at the start.
    ///
    /// # Errors
    /// What is wrong with the state.
    pub fn restored_bodies(
        mut bodies: Bodies<D>,
        state: &[u8],
    ) -> Result<(Bodies<D>, &[u8]), String> {
        let (own, liquid) = divided(state)?;
        bodies.restore(own).map_err(|e| e.to_string())?;
        Ok((bodies, liquid))
    }

    /// Bodies that the liquid moves, if there are any.
    pub fn rigid_bodies(&self) -> Option<&Bodies<D>> {
        self.rigid.as_ref().map(|rigid| &rigid.bodies)
    }

    /// The world itself, if it is a liquid of particles in `D` dimensions.
    pub fn of(world: &dyn World) -> Option<&Self> {
        (world as &dyn Any).downcast_ref()
    }

    /// The liquid.
    pub fn fluid(&self) -> &Fluid<D> {
        &self.fluid
    }

    fn meshes(&self) -> Vec<DeformedMesh> {
        let Some(cloth) = self.fluid.cloth() else {
            return Vec::new();
        };
        let numbers = |vectors: &[[f64; 3]]| vectors.iter().flatten().map(|x| *x as f32).collect();
        let sheets = cloth.sheets().iter().enumerate();
        sheets
            .map(|(k, sheet)| DeformedMesh {
                name: sheet.name.clone(),
                vertex: numbers(cloth.surface_positions(k)),
                velocity: numbers(cloth.surface_velocities(k)),
            })
            .collect()
    }

    fn report(&self, report: &meniscus_projective::StepReport, exchanged: Exchanged) -> StepReport {
        let mut tree = StepReport::new(report.time, report.dt);
        tree.solves
            .push(solve_report(self.fluid.settings(), report));
        let volume = self.fluid.settings().particle_volume();
        let present = self.fluid.particles().len() as f64;
        tree.measures = vec![
            ("particles", present),
            ("unknowns", report.particles as f64),
            ("volume", present * volume),
            ("expected_volume", present * volume),
            ("own_volume", present * volume),
            ("emitted", exchanged.emitted as f64 * volume),
            ("drained", exchanged.drained as f64 * volume),
            ("kinetic_energy", report.kinetic_energy),
            ("potential_energy", report.potential_energy),
            ("max_speed", report.max_speed),
            ("density_error", report.solve.max_error),
            ("mean_density_error", report.solve.mean_error),
        ];
        if let Some(cloth) = self.fluid.cloth() {
            let force = cloth.pin_force();
            tree.measures.extend([
                ("largest_stretch", cloth.largest_stretch()),
                ("pin_force", force[2]),
                ("cloth_speed", cloth.max_speed()),
            ]);
        }
        if let Some(rigid) = &self.rigid
            && let Some(last) = &rigid.last
        {
            let (bodies, setup) = (&rigid.bodies, &rigid.setup);
            add_solves(&mut tree, bodies.settings().method.word(), last);
            let kinetic = setup.kinetic_energy(bodies);
            for (name, value) in &mut tree.measures {
                match *name {
                    "max_speed" => *value = value.max(setup.max_speed(bodies)),
                    "potential_energy" => *value += bodies.energy() - kinetic,
                    _ => {}
                }
            }
            tree.measures.extend(setup.measures(bodies, last));
            tree.measures.push(("body_kinetic_energy", kinetic));
        }
        tree
    }

    /// A step of the liquid and the bodies that it moves. Returns the report of the liquid; after an error, both are as they
    /// were.
    fn step_all(
        &mut self,
        dt: f64,
        begin: &mut dyn FnMut(&'static str),
    ) -> Result<meniscus_projective::StepReport, StepError> {
        let Some(rigid) = &mut self.rigid else {
            return Ok(self.fluid.step(&self.solids, dt, begin)?);
        };
        begin("contacts");
        // Velocities of both belong to the middle of a step.
        let kick = 0.5 * (self.fluid.last_step() + dt);
        let mut pushed =
            PushedBodies::new(&rigid.bodies, rigid.wet(), dt, kick, &rigid.setup.forces)?;
        let stepped = self
            .fluid
            .step_with(&self.solids, Some(&mut pushed), dt, begin);
        let (bodies, report) = match (stepped, pushed.end()) {
            (Ok(report), Some(Ok((bodies, last)))) => {
                rigid.last = Some(last);
                (bodies, report)
            }
            (_, Some(Err(error))) => return Err(error.into()),
            (Err(error), _) => return Err(error.into()),
            (Ok(_), None) => return Err(StepError::NotFinite),
        };
        rigid.bodies = bodies;
        Ok(report)
    }
}

fn solve_report<const D: usize>(
    settings: &Settings<D>,
    report: &meniscus_projective::StepReport,
) -> SolveReport {
    SolveReport {
        name: "density",
        solver: settings.method.word(),
        status: match report.solve.has_converged {
            true => Status::Converged,
            false => Status::IterationLimit,
        },
        unknowns: report.particles,
        iterations: report.solve.rounds,
        inner_iterations: report.solve.inner_iterations,
        residual: report.solve.max_error,
        solves: Vec::new(),
    }
}

impl<const D: usize> World for ProjectiveWorld<D> {
    fn dimension(&self) -> usize {
        D
    }

    fn time(&self) -> f64 {
        self.fluid.time()
    }

    fn step_limit(&self, until: f64) -> StepLimit {
        let settings = self.fluid.settings();
        let (mut dt, mut speed) = self.fluid.step_limit(&self.solids, &self.domain);
        let time = self.fluid.time();
        let emitted = self.sources.max_speed(&(time..time + settings.max_step));
        if emitted > speed {
            dt = dt.min(settings.cfl * settings.spacing / emitted);
            speed = emitted;
        }
        let mut longest = settings.max_step;
        if let Some(rigid) = &self.rigid {
            longest = longest.min(rigid.setup.max_step);
            let fastest = rigid.setup.max_speed(&rigid.bodies);
            dt = dt.min(longest);
            if fastest > speed {
                dt = dt.min(settings.cfl * settings.spacing / fastest);
                speed = fastest;
            }
        }
        // Steps of equal length up to `until`.
        let left = until - time;
        let mut steps = (left / dt - 1e-9).ceil().max(1.0);
        // Cloth has a factored matrix for each length of step: the last one is used again if it is short enough.
        let last = self.fluid.last_step();
        if self.fluid.cloth().is_some()
            && last > 0.0
            && last <= dt * (1.0 + 1e-9)
            && last > 0.4 * dt
        {
            let whole = (left / last).round();
            if whole >= 1.0 && (left / last - whole).abs() < 1e-6 * whole {
                steps = whole;
            }
        }
        StepLimit {
            dt: left / steps,
            longest: longest.min(left),
            speed,
        }
    }

    fn try_step(
        &mut self,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure>> {
        let start = self.fluid.time();
        let begin = &mut |phase| phases.begin(phase);
        match self.step_all(dt, begin) {
            Ok(report) => {
                phases.begin("sources");
                let time = start..self.fluid.time();
                let exchanged = match &mut self.rigid {
                    None => self.sources.exchange(&mut self.fluid, &self.solids, &time),
                    Some(rigid) => {
                        let mut solids = self.solids.clone();
                        solids.extend(rigid.wet().into_iter().map(|body| {
                            let shape = rigid.bodies.body(body).shape.clone();
                            ScriptedSolid::still("body", shape.placed(rigid.bodies.pose(body)))
                        }));
                        self.sources.exchange(&mut self.fluid, &solids, &time)
                    }
                };
                phases.begin("");
                let left_domain = match &mut self.rigid {
                    Some(rigid) => rigid.setup.remove_bodies(&mut rigid.bodies),
                    None => Vec::new(),
                };
                Ok(StepReport {
                    left_domain,
                    ..self.report(&report, exchanged)
                })
            }
            Err(error) => Err(Box::new(StepFailure {
                error,
                report: StepReport::new(start, dt),
                problem: None,
            })),
        }
    }

    fn set_force(&mut self, body: &str, force: &[f64], torque: [f64; 3]) -> Result<(), String> {
        match &mut self.rigid {
            Some(rigid) => rigid.setup.set_force(&rigid.bodies, body, force, torque),
            None => Err(format!("there is no body {body:?}")),
        }
    }

    fn snapshot(&self, layers: Layers) -> Snapshot {
        let (particles, settings) = (self.fluid.particles(), self.fluid.settings());
        let numbers = |vectors: &[meniscus_projective::Vec4<f32>]| -> Vec<f32> {
            vectors.iter().flat_map(|x| x.0[..D].to_vec()).collect()
        };
        let mut scalars = Vec::new();
        if layers.pressure {
            let volume = settings.particle_volume() as f32;
            let pressures = particles.multiplier.iter().map(|l| l / volume);
            scalars.push(("pressure", pressures.collect()));
        }
        if self.has_attributes {
            let now = self.fluid.time();
            let age = |birth: &f32| (now - f64::from(*birth)).max(0.0) as f32;
            scalars.push(("age", particles.birth.iter().map(age).collect()));
            let sources = particles.source.iter().map(|&source| source as f32);
            scalars.push(("source", sources.collect()));
        }
        Snapshot {
            time: self.fluid.time(),
            dimension: D,
            points: vec![PointLayer {
                name: "liquid".into(),
                spacing: settings.spacing,
                position: numbers(&particles.position),
                velocity: numbers(&particles.velocity),
                id: self.has_attributes.then(|| particles.id.clone()),
                scalars,
            }],
            bodies: self.bodies(),
            loads: match &self.rigid {
                Some(rigid) => {
                    let loads = rigid.setup.loads(&rigid.bodies, rigid.last.as_ref());
                    loads.into_iter().map(|(_, load)| load).collect()
                }
                None => Vec::new(),
            },
            meshes: self.meshes(),
        }
    }

    fn bodies(&self) -> Vec<BodyState> {
        if let Some(rigid) = &self.rigid {
            return rigid.setup.states(&rigid.bodies);
        }
        let time = self.fluid.time();
        let (_sides, solids) = self.solids.split_last().expect("sides of the domain");
        solids.iter().map(|solid| body_state(solid, time)).collect()
    }

    fn state(&self) -> Box<dyn SavedState + '_> {
        let liquid = self.fluid.state();
        Box::new(ProjectiveState(match &self.rigid {
            None => liquid,
            Some(rigid) => {
                let own = rigid.bodies.save();
                let length = (own.len() as u64).to_le_bytes();
                [&length[..], &own, &liquid].concat()
            }
        }))
    }

    fn problem(&mut self, _dt: f64) -> Result<Box<dyn ProblemDump>, StepError> {
        Err(StepError::Refused(
            "the particle method has no matrix: its density constraints are solved without one"
                .into(),
        ))
    }

    fn cost(&self) -> Cost {
        let points = self.fluid.particles().len();
        Cost {
            points,
            unknowns: points,
            bodies: self
                .rigid
                .as_ref()
                .map_or(self.solids.len(), |rigid| rigid.bodies.len()),
        }
    }
}

/// Parts of a state with bodies: that of the bodies, whose length is in eight bytes before it, and that of the liquid.
pub(crate) fn divided(state: &[u8]) -> Result<(&[u8], &[u8]), String> {
    const SHORT: &str = "it is too short";
    let (length, rest) = state.split_first_chunk().ok_or(SHORT)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| SHORT)?;
    Ok(rest.split_at_checked(length).ok_or(SHORT)?)
}

impl From<meniscus_projective::StepError> for StepError {
    fn from(error: meniscus_projective::StepError) -> Self {
        match error {
            meniscus_projective::StepError::NotFinite => Self::NotFinite,
            _ => Self::Unsolved(error.to_string()),
        }
    }
}

struct ProjectiveState(Vec<u8>);

impl SavedState for ProjectiveState {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.0)
    }
}
