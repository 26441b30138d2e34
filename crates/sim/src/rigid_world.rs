//! Rigid bodies among fixed and scripted solids.

use std::any::Any;
use std::io::{self, Write};

use meniscus_rigid::{self as rigid, Bodies};

use crate::body_reports::{RigidSetup, add_solves, rows};
use crate::contact_problem::IslandProblems;
use crate::problem::ProblemDump;
use crate::report::{StepError, StepFailure, StepReport};
use crate::snapshot::{BodyState, Layers, Snapshot};
use crate::world::{Cost, Phases, SavedState, StepLimit, World};

/// Part of a step that is not worth another one.
const ROUNDING: f64 = 1e-9;

/// Rigid bodies among fixed and scripted solids.
pub struct RigidWorld<const D: usize> {
    bodies: Bodies<D>,
    setup: RigidSetup<D>,
    /// Forces of the last step, for [`Snapshot::loads`]. No later step depends on them.
    last: Option<rigid::StepReport<D>>,
    unknowns: usize,
}

impl<const D: usize> RigidWorld<D> {
    /// A world of bodies.
    pub fn new(bodies: Bodies<D>, setup: RigidSetup<D>) -> Self {
        Self {
            bodies,
            setup,
            last: None,
            unknowns: 0,
        }
    }

    /// The world itself, if it has rigid bodies in `D` dimensions.
    pub fn of(world: &dyn World) -> Option<&Self> {
        (world as &dyn Any).downcast_ref()
    }

    /// The bodies.
    pub fn bodies(&self) -> &Bodies<D> {
        &self.bodies
    }

    /// Continues from a state that [`World::state`] wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), rigid::StateError> {
        self.bodies.restore(state)
    }

    /// Measures and solves of a step.
    fn report(&self, report: &rigid::StepReport<D>) -> StepReport {
        let mut tree = StepReport::new(self.bodies.time(), report.dt);
        add_solves(&mut tree, self.bodies.settings().method.word(), report);
        let kinetic = self.setup.kinetic_energy(&self.bodies);
        tree.measures = self.setup.measures(&self.bodies, report);
        tree.measures.extend([
            ("unknowns", rows(&report.solves) as f64),
            ("kinetic_energy", kinetic),
            ("potential_energy", self.bodies.energy() - kinetic),
            ("max_speed", self.setup.max_speed(&self.bodies)),
        ]);
        tree
    }
}

impl<const D: usize> World for RigidWorld<D> {
    fn dimension(&self) -> usize {
        D
    }

    fn time(&self) -> f64 {
        self.bodies.time()
    }

    fn step_limit(&self, until: f64) -> StepLimit {
        let left = until - self.bodies.time();
        let longest = self.setup.max_step;
        // Equal steps up to the frame. The path of fast bodies is followed, so that speed sets no limit.
        let steps = (left / longest - ROUNDING).ceil().max(1.0);
        StepLimit {
            dt: left / steps,
            longest: longest.min(left),
            speed: self.setup.max_speed(&self.bodies),
        }
    }

    fn try_step(
        &mut self,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure>> {
        phases.begin("bodies");
        let stepped = self.bodies.step_with(dt, &self.setup.forces);
        phases.begin("");
        match stepped {
            Ok(report) => {
                let left_domain = self.setup.remove_bodies(&mut self.bodies);
                self.unknowns = rows(&report.solves);
                let tree = StepReport {
                    left_domain,
                    ..self.report(&report)
                };
                self.last = Some(report);
                Ok(tree)
            }
            Err(error) => {
                let problems = self.bodies.contact_problems(dt);
                let problem = problems
                    .ok()
                    .and_then(|islands| IslandProblems::new(&islands).ok());
                Err(Box::new(StepFailure {
                    error: error.into(),
                    report: StepReport::new(self.bodies.time(), dt),
                    problem: problem.map(|problem| Box::new(problem) as Box<dyn ProblemDump>),
                }))
            }
        }
    }

    fn set_force(&mut self, body: &str, force: &[f64], torque: [f64; 3]) -> Result<(), String> {
        self.setup.set_force(&self.bodies, body, force, torque)
    }

    fn snapshot(&self, _: Layers) -> Snapshot {
        let loads = self.setup.loads(&self.bodies, self.last.as_ref());
        Snapshot {
            time: self.bodies.time(),
            dimension: D,
            bodies: World::bodies(self),
            loads: loads.into_iter().map(|(_, load)| load).collect(),
            ..Snapshot::default()
        }
    }

    fn bodies(&self) -> Vec<BodyState> {
        self.setup.states(&self.bodies)
    }

    fn state(&self) -> Box<dyn SavedState + '_> {
        Box::new(RigidState(self.bodies.save()))
    }

    fn problem(&mut self, dt: f64) -> Result<Box<dyn ProblemDump>, StepError> {
        let islands = self.bodies.contact_problems(dt)?;
        let problem =
            IslandProblems::new(&islands).map_err(|e| StepError::Refused(e.to_string()))?;
        Ok(Box::new(problem))
    }

    fn cost(&self) -> Cost {
        Cost {
            points: 0,
            unknowns: self.unknowns,
            bodies: self.bodies.len(),
        }
    }
}

impl From<rigid::StepError> for StepError {
    fn from(error: rigid::StepError) -> Self {
        match error {
            rigid::StepError::Infeasible { .. } | rigid::StepError::Unsettled { .. } => {
                Self::Unsolved(error.to_string())
            }
            rigid::StepError::NonFinite { .. } => Self::NotFinite,
            _ => Self::Refused(error.to_string()),
        }
    }
}

struct RigidState(Vec<u8>);

impl SavedState for RigidState {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.0)
    }
}
