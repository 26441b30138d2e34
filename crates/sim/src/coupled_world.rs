//! A liquid and rigid bodies that push each other, among fixed and scripted solids.

use std::any::Any;
use std::io::{self, Write};

use meniscus_coupled::{self as coupled, Coupled};
use meniscus_liquid::spin_pool::spin_if;
use meniscus_liquid::{Liquid, Settings, State};
use meniscus_rigid::Bodies;

use crate::body_reports::{RigidSetup, add_solves};
use crate::liquid_world::{Forward, SHARED, point_layer, report_of};
use crate::problem::ProblemDump;
use crate::projective_world::divided;
use crate::report::{StepError, StepFailure, StepReport};
use crate::snapshot::{BodyLoad, BodyState, Layers, LiquidLoad, Snapshot};
use crate::world::{Cost, Phases, SavedState, StepLimit, World};

/// Part of a step that is not worth another one.
const ROUNDING: f64 = 1e-9;

/// A liquid and rigid bodies that push each other. The solids of the liquid are the bodies, fixed and scripted ones included.
pub struct CoupledWorld<const D: usize> {
    coupled: Coupled<D>,
    setup: RigidSetup<D>,
    /// Report of the last step, for [`Snapshot::loads`]. No later step depends on it.
    last: Option<coupled::StepReport<D>>,
}

impl<const D: usize> CoupledWorld<D> {
    /// A world of liquid and bodies.
    pub fn new(coupled: Coupled<D>, setup: RigidSetup<D>) -> Self {
        Self {
            coupled,
            setup,
            last: None,
        }
    }

    /// The world itself, if it has liquid and bodies in `D` dimensions.
    pub fn of(world: &dyn World) -> Option<&Self> {
        (world as &dyn Any).downcast_ref()
    }

    /// Liquid and bodies.
    pub fn coupled(&self) -> &Coupled<D> {
        &self.coupled
    }

    /// Liquid and bodies from a state that [`World::state`] wrote. `bodies` are those of the scene at the start.
    ///
    /// # Errors
    /// What is wrong with the state.
    pub fn restored_parts(
        settings: Settings<D>,
        mut bodies: Bodies<D>,
        state: &[u8],
    ) -> Result<(Liquid<D>, Bodies<D>), String> {
        let (own, liquid) = divided(state)?;
        bodies.restore(own).map_err(|e| e.to_string())?;
        let liquid = Liquid::restore(settings, liquid).map_err(|e| e.to_string())?;
        if liquid.time() != bodies.time() {
            return Err("liquid and bodies are of different times".into());
        }
        Ok((liquid, bodies))
    }

    fn report(&self, report: &coupled::StepReport<D>) -> StepReport {
        let bodies = self.coupled.bodies();
        let mut tree = report_of(&report.liquid);
        add_solves(&mut tree, bodies.settings().method.word(), &report.bodies);
        let kinetic = self.setup.kinetic_energy(bodies);
        let fastest = self.setup.max_speed(bodies);
        for (name, value) in &mut tree.measures {
            if *name == "max_speed" {
                *value = value.max(fastest);
            }
        }
        let mut of_bodies = self.setup.measures(bodies, &report.bodies);
        if report.unsettled > 0.0 {
            add_unsettled(&mut of_bodies, report.unsettled);
        }
        tree.measures.extend(of_bodies);
        tree.measures.extend([
            ("potential_energy", bodies.energy() - kinetic),
            ("body_kinetic_energy", kinetic),
            ("cycles", report.cycles as f64),
            ("coupled_solves", report.solves as f64),
            ("rounds", report.rounds as f64),
            ("small_solves", report.small_solves as f64),
            // A sum of nothing is negative zero.
            ("separated_volume", report.liquid.separated_volume + 0.0),
            ("wet_bodies", report.wet_bodies as f64),
            ("limited_bodies", report.limited_bodies as f64),
            ("thickened_bodies", report.thickened_bodies as f64),
        ]);
        tree
    }

    fn loads(&self) -> Vec<BodyLoad> {
        let last = self.last.as_ref();
        let bodies = last.map(|last| &last.bodies);
        let loads = self.setup.loads(self.coupled.bodies(), bodies);
        let with_liquid = |(body, mut load): (usize, BodyLoad)| {
            let own = last.map_or(coupled::Load::NONE, |last| last.loads[body]);
            load.liquid = Some(LiquidLoad {
                force: own.liquid.force.to_vec(),
                torque: own.liquid.torque,
                submerged_volume: own.submerged_volume,
                waterline_area: own.waterline_area,
            });
            load
        };
        loads.into_iter().map(with_liquid).collect()
    }
}

/// Counts contacts that did not settle with the liquid as one more island that is not solved.
fn add_unsettled(measures: &mut [(&'static str, f64)], velocity: f64) {
    for (name, value) in measures {
        match *name {
            "unsolved_islands" => *value += 1.0,
            "unsolved_residual" => *value = value.max(velocity),
            _ => {}
        }
    }
}

impl<const D: usize> World for CoupledWorld<D> {
    fn dimension(&self) -> usize {
        D
    }

    fn time(&self) -> f64 {
        self.coupled.time()
    }

    fn step_limit(&self, until: f64) -> StepLimit {
        let left = until - self.coupled.time();
        let limit = self.coupled.step_limit(left);
        let longest = limit.longest.min(self.setup.max_step);
        let steps = (left / limit.dt.min(longest) - ROUNDING).ceil().max(1.0);
        StepLimit {
            dt: left / steps,
            longest,
            speed: limit.speed,
        }
    }

    fn try_step(
        &mut self,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure>> {
        let is_shared = self.coupled.liquid().particles().len() >= SHARED;
        let forces = &self.setup.forces;
        let coupled = &mut self.coupled;
        let stepped = spin_if(is_shared, || {
            coupled.step_with(dt, forces, &mut Forward(phases))
        });
        match stepped {
            Ok(report) => {
                let left_domain = self.setup.remove_bodies(self.coupled.bodies_mut());
                let tree = StepReport {
                    left_domain,
                    ..self.report(&report)
                };
                self.last = Some(report);
                Ok(tree)
            }
            Err(error) => {
                let report = match &error {
                    coupled::StepError::Liquid(error) => {
                        let failure = self.coupled.liquid().failure(error.clone(), dt);
                        report_of(&failure.report)
                    }
                    _ => StepReport::new(self.coupled.time(), dt),
                };
                // The state is as it was, so that the problem is the one that was not solved.
                let problem = self.coupled.problem(dt).ok();
                Err(Box::new(StepFailure {
                    error: error.into(),
                    report,
                    problem: problem.map(|problem| Box::new(problem) as Box<dyn ProblemDump>),
                }))
            }
        }
    }

    fn set_force(&mut self, body: &str, force: &[f64], torque: [f64; 3]) -> Result<(), String> {
        self.setup
            .set_force(self.coupled.bodies(), body, force, torque)
    }

    fn snapshot(&self, layers: Layers) -> Snapshot {
        Snapshot {
            time: self.coupled.time(),
            dimension: D,
            points: vec![point_layer(self.coupled.liquid(), layers)],
            bodies: self.bodies(),
            loads: self.loads(),
            meshes: Vec::new(),
        }
    }

    fn bodies(&self) -> Vec<BodyState> {
        self.setup.states(self.coupled.bodies())
    }

    fn state(&self) -> Box<dyn SavedState + '_> {
        Box::new(CoupledState {
            bodies: self.coupled.bodies().save(),
            liquid: self.coupled.liquid().state(),
        })
    }

    fn problem(&mut self, dt: f64) -> Result<Box<dyn ProblemDump>, StepError> {
        Ok(Box::new(self.coupled.problem(dt)?))
    }

    fn cost(&self) -> Cost {
        Cost {
            points: self.coupled.liquid().particles().len(),
            unknowns: self.last.as_ref().map_or(0, |last| last.liquid.unknowns),
            bodies: self.coupled.bodies().len(),
        }
    }
}

impl From<coupled::StepError> for StepError {
    fn from(error: coupled::StepError) -> Self {
        match error {
            coupled::StepError::Liquid(error) => error.into(),
            coupled::StepError::Bodies(error) => error.into(),
            _ => Self::Refused(error.to_string()),
        }
    }
}

/// The length of the state of the bodies in eight bytes, that state, and the state of the liquid.
struct CoupledState<'a, const D: usize> {
    bodies: Vec<u8>,
    liquid: State<'a, D>,
}

impl<const D: usize> SavedState for CoupledState<'_, D> {
    fn len(&self) -> usize {
        8 + self.bodies.len() + self.liquid.len()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&(self.bodies.len() as u64).to_le_bytes())?;
        out.write_all(&self.bodies)?;
        self.liquid.write(out)
    }
}
