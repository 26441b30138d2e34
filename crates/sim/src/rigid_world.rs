//! Rigid bodies among fixed and scripted solids.

use std::any::Any;
use std::io::{self, Write};

use meniscus_lcp::Status;
use meniscus_rigid::{self as rigid, Bodies};
use meniscus_shapes::{Bounds, Pose};

use crate::contact_problem::IslandProblems;
use crate::problem::ProblemDump;
use crate::report::{SolveReport, StepError, StepFailure, StepReport};
use crate::snapshot::{BodyLoad, BodyState, Layers, Snapshot};
use crate::world::{Cost, Phases, SavedState, StepLimit, World};

/// Islands whose solves a report lists, the largest ones.
const LISTED_ISLANDS: usize = 4;
/// Part of a step that is not worth another one.
const ROUNDING: f64 = 1e-9;

/// Setup of a [`RigidWorld`].
#[derive(Clone, Debug)]
pub struct RigidSetup<const D: usize> {
    /// Number of the first bodies that snapshots have; the others are the sides of the domain.
    pub listed: usize,
    /// A body that is wholly outside of it is removed.
    pub domain: Bounds<D>,
    /// Longest step in seconds.
    pub max_step: f64,
    /// Times in seconds at which bodies are removed, by their indices.
    pub removals: Vec<(usize, f64)>,
}

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

    /// Removes bodies whose time has come, and those wholly outside the domain; returns the names of the latter.
    fn remove_bodies(&mut self) -> Vec<String> {
        let time = self.bodies.time();
        let due = |&&(_, at): &&(usize, f64)| time >= at - ROUNDING * at.abs().max(1.0);
        let removals: Vec<usize> = (self.setup.removals.iter().filter(due))
            .map(|&(body, _)| body)
            .collect();
        for body in removals {
            if !self.bodies.is_removed(body) {
                self.bodies.remove(body);
            }
        }
        let outside: Vec<usize> = (0..self.setup.listed)
            .filter(|&body| !self.bodies.is_removed(body) && self.is_outside(body))
            .collect();
        for &body in &outside {
            self.bodies.remove(body);
        }
        let name = |body: usize| self.bodies.body(body).name.clone();
        outside.into_iter().map(name).collect()
    }

    fn is_outside(&self, body: usize) -> bool {
        let Some(own) = self.bodies.body(body).shape.bounds() else {
            return false;
        };
        let around = own.placed(&self.bodies.pose(body));
        self.bodies.is_free(body) && around.intersection(&self.setup.domain).is_empty()
    }

    fn kinetic_energy(&self, body: usize) -> f64 {
        let Some(mass) = self
            .bodies
            .body(body)
            .mass
            .filter(|_| self.bodies.is_free(body))
        else {
            return 0.0;
        };
        let twist = self.bodies.twist(body);
        let square = |v: &[f64]| v.iter().map(|c| c * c).sum::<f64>();
        let spin = in_body_axes(&self.bodies.pose(body), twist.angular);
        let turning: f64 = (0..3)
            .map(|i| spin[i] * (0..3).map(|j| mass.inertia[i][j] * spin[j]).sum::<f64>())
            .sum();
        0.5 * mass.mass * square(&twist.linear) + 0.5 * turning
    }

    fn max_speed(&self) -> f64 {
        let speed = |body: usize| {
            let twist = self.bodies.twist(body);
            twist.linear.iter().map(|c| c * c).sum::<f64>().sqrt()
        };
        (0..self.setup.listed)
            .filter(|&body| !self.bodies.is_removed(body))
            .map(speed)
            .fold(0.0, f64::max)
    }

    /// Measures and solves of a step.
    fn report(&self, report: &rigid::StepReport<D>) -> StepReport {
        let mut tree = StepReport::new(self.bodies.time(), report.dt);
        let method = self.bodies.settings().method.word();
        tree.solves
            .push(contact_solve("contact", method, &report.solves));
        if !report.restitution_solves.is_empty() {
            let solves = &report.restitution_solves;
            tree.solves
                .push(contact_solve("restitution", method, solves));
        }
        let kinetic: f64 = (0..self.setup.listed).map(|b| self.kinetic_energy(b)).sum();
        let all = report.solves.iter().chain(&report.restitution_solves);
        let unsolved: Vec<_> = all
            .filter(|solve| solve.status != Status::Converged)
            .map(|solve| finite(solve.residual))
            .collect();
        let gone = (0..self.setup.listed).filter(|&body| self.bodies.is_removed(body));
        let broken = report.joints.iter().filter(|joint| joint.broken);
        let power: f64 = report.joints.iter().map(|joint| joint.motor_power).sum();
        tree.measures = vec![
            ("bodies", self.setup.listed as f64),
            ("unknowns", rows(&report.solves) as f64),
            ("contacts", report.contacts.len() as f64),
            ("islands", report.solves.len() as f64),
            ("unsolved_islands", unsolved.len() as f64),
            (
                "unsolved_residual",
                unsolved.into_iter().fold(0.0, f64::max),
            ),
            ("position_error", report.position_error),
            ("penetration", report.penetration),
            ("position_work", report.position_work),
            ("kinetic_energy", kinetic),
            ("potential_energy", self.bodies.energy() - kinetic),
            ("motor_power", power),
            ("max_speed", self.max_speed()),
            ("asleep", report.asleep as f64),
            ("removed_bodies", gone.count() as f64),
            ("broken_joints", broken.count() as f64),
        ];
        tree
    }

    fn load(&self, body: usize) -> BodyLoad {
        let twist = self.bodies.twist(body);
        let mut load = BodyLoad {
            name: self.bodies.body(body).name.clone(),
            center: self.bodies.center(body).to_vec(),
            velocity: twist.linear.to_vec(),
            contact_force: vec![0.0; D],
            contact_torque: [0.0; 3],
            joint_force: vec![0.0; D],
            joint_torque: [0.0; 3],
            kinetic_energy: self.kinetic_energy(body),
            contacts: 0,
            penetration: 0.0,
            liquid: None,
        };
        if let Some(report) = &self.last {
            let (contact, joint) = (&report.contact_forces[body], &report.joint_forces[body]);
            load.contact_force = contact.force.to_vec();
            load.contact_torque = contact.torque;
            load.joint_force = joint.force.to_vec();
            load.joint_torque = joint.torque;
        }
        load
    }

    /// Forces on the bodies that forces may move.
    fn loads(&self) -> Vec<BodyLoad> {
        let mut loads: Vec<(usize, BodyLoad)> = (0..self.setup.listed)
            .filter(|&body| self.bodies.body(body).mass.is_some() && !self.bodies.is_removed(body))
            .map(|body| (body, self.load(body)))
            .collect();
        let contacts = self.last.iter().flat_map(|report| &report.contacts);
        for touching in contacts.filter(|touching| touching.impulse != [0.0; D]) {
            let contact = &touching.contact;
            for body in [contact.a, contact.b] {
                if let Ok(at) = loads.binary_search_by_key(&body, |(own, _)| *own) {
                    loads[at].1.contacts += 1;
                    let depth = (-contact.gap).max(0.0);
                    loads[at].1.penetration = loads[at].1.penetration.max(depth);
                }
            }
        }
        loads.into_iter().map(|(_, load)| load).collect()
    }
}

/// An angular velocity in world axes, in those of a body.
fn in_body_axes<const D: usize>(pose: &Pose<D>, angular: [f64; 3]) -> [f64; 3] {
    if D == 2 {
        return angular;
    }
    let spin = pose
        .rotation
        .apply_inverse(std::array::from_fn(|axis| angular[axis]));
    std::array::from_fn(|axis| spin[axis])
}

fn rows(solves: &[rigid::SolveReport]) -> usize {
    solves.iter().map(|solve| solve.rows).sum()
}

/// The solves of all islands as one, with the largest islands in it.
fn contact_solve(
    name: &'static str,
    method: &'static str,
    solves: &[rigid::SolveReport],
) -> SolveReport {
    let of = |solve: &rigid::SolveReport| SolveReport {
        name: "island",
        solver: method,
        status: solve.status,
        unknowns: solve.rows,
        iterations: solve.rounds,
        inner_iterations: solve.sweeps,
        residual: finite(solve.residual),
        solves: Vec::new(),
    };
    let mut whole = SolveReport {
        name,
        solver: method,
        status: Status::Converged,
        unknowns: rows(solves),
        iterations: 0,
        inner_iterations: 0,
        residual: 0.0,
        solves: Vec::new(),
    };
    for solve in solves {
        whole.iterations = whole.iterations.max(solve.rounds);
        whole.inner_iterations += solve.sweeps;
        whole.residual = whole.residual.max(finite(solve.residual));
        if solve.status != Status::Converged && whole.status == Status::Converged {
            whole.status = solve.status;
        }
    }
    let mut largest: Vec<&rigid::SolveReport> = solves.iter().filter(|s| s.rows > 0).collect();
    largest.sort_by_key(|solve| std::cmp::Reverse(solve.rows));
    let listed = largest.into_iter().take(LISTED_ISLANDS);
    whole.solves = listed.map(of).collect();
    whole
}

/// A residual for files, which have finite numbers only.
fn finite(residual: f64) -> f64 {
    if residual.is_finite() {
        residual
    } else {
        f64::MAX
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
            speed: self.max_speed(),
        }
    }

    fn try_step(
        &mut self,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure>> {
        phases.begin("bodies");
        let stepped = self.bodies.step(dt);
        phases.begin("");
        match stepped {
            Ok(report) => {
                let left_domain = self.remove_bodies();
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

    fn snapshot(&self, _: Layers) -> Snapshot {
        Snapshot {
            time: self.bodies.time(),
            dimension: D,
            bodies: World::bodies(self),
            loads: self.loads(),
            ..Snapshot::default()
        }
    }

    fn bodies(&self) -> Vec<BodyState> {
        let present = (0..self.setup.listed).filter(|&body| !self.bodies.is_removed(body));
        present
            .map(|body| {
                let (pose, twist) = (self.bodies.pose(body), self.bodies.twist(body));
                let center = self.bodies.center(body);
                let to_origin = std::array::from_fn(|a| pose.translation[a] - center[a]);
                BodyState {
                    name: self.bodies.body(body).name.clone(),
                    rotation: pose.rotation.matrix().as_flattened().to_vec(),
                    translation: pose.translation.to_vec(),
                    velocity: twist.at(to_origin).to_vec(),
                    angular_velocity: twist.angular,
                }
            })
            .collect()
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
            rigid::StepError::Infeasible { .. } => Self::Unsolved(error.to_string()),
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

#[cfg(test)]
mod tests {
    use meniscus_rigid::{Body, Mass, Settings};
    use meniscus_shapes::{Keyframe, Motion, Rotation, Shape};

    use super::*;
    use crate::advance;

    fn world(bodies: Bodies<3>, listed: usize) -> RigidWorld<3> {
        let domain = Bounds {
            low: [-1.0; 3],
            high: [1.0; 3],
        };
        let setup = RigidSetup {
            listed,
            domain,
            max_step: 0.01,
            removals: Vec::new(),
        };
        RigidWorld::new(bodies, setup)
    }

    fn ball(name: &str, z: f64) -> Body<3> {
        let shape = Shape::Sphere {
            center: [0.0; 3],
            radius: 0.1,
        };
        let mass = Mass::of_density(&shape, 500.0).unwrap();
        Body::free(name, shape, mass).at(Pose::translated([0.0, 0.0, z]))
    }

    fn bytes(world: &dyn World) -> Vec<u8> {
        let mut out = Vec::new();
        world.state().write(&mut out).unwrap();
        out
    }

    #[test]
    fn a_ball_comes_to_rest_and_its_load_is_its_weight() {
        let mut bodies = Bodies::new(Settings::default()).unwrap();
        bodies.add(ball("ball", 0.11)).unwrap();
        let floor = Shape::HalfSpace {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        };
        bodies.add(Body::fixed("floor", floor)).unwrap();
        let mut world = world(bodies, 1);
        let mut last = None;
        while world.time() < 0.5 - 1e-9 {
            last = Some(advance(&mut world, 0.5, &mut ()).unwrap());
        }
        let report = last.unwrap();
        assert_eq!(report.measure("contacts"), Some(1.0));
        assert!(report.measure("kinetic_energy").unwrap() < 1e-6);
        assert_eq!(report.solves[0].status, Status::Converged);
        let snapshot = world.snapshot(Layers::default());
        let [load] = &snapshot.loads[..] else {
            panic!("one load")
        };
        let weight = 500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3 * 9.81;
        assert!(
            (load.contact_force[2] / weight - 1.0).abs() < 1e-6,
            "{load:?}"
        );
        assert_eq!((load.contacts, snapshot.bodies.len()), (1, 1));
        // The restored world continues to the same bytes.
        let saved = bytes(&world);
        let again = |world: &mut RigidWorld<3>| {
            world.restore(&saved).unwrap();
            advance(world, 0.6, &mut ()).unwrap();
            bytes(world)
        };
        assert_eq!(again(&mut world), again(&mut world));
    }

    #[test]
    fn a_body_outside_the_domain_is_removed() {
        let mut bodies = Bodies::new(Settings::default()).unwrap();
        bodies.add(ball("ball", -0.8)).unwrap();
        let mut world = world(bodies, 1);
        let (mut removed, mut left) = (0.0, Vec::new());
        while world.time() < 0.5 - 1e-9 {
            let report = advance(&mut world, 0.5, &mut ()).unwrap();
            removed = report.measure("removed_bodies").unwrap();
            left.extend(report.left_domain);
        }
        assert_eq!(left, ["ball"], "once, by its name");
        let snapshot = world.snapshot(Layers::default());
        assert_eq!(
            (removed, snapshot.bodies.len(), snapshot.loads.len()),
            (1.0, 0, 0)
        );
    }

    #[test]
    fn a_body_that_is_crushed_fails_the_step_and_changes_no_byte() {
        let mut bodies = Bodies::new(Settings::default()).unwrap();
        bodies.add(ball("ball", 0.101)).unwrap();
        let floor = Shape::HalfSpace {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        };
        bodies.add(Body::fixed("floor", floor)).unwrap();
        let key = |time: f64, z: f64| Keyframe {
            time,
            position: [0.0, 0.0, z],
            rotation: Rotation::IDENTITY,
        };
        let press = Shape::Box {
            low: [-0.5, -0.5, 0.0],
            high: [0.5, 0.5, 0.1],
        };
        let motion = Motion::Keyframes {
            keys: vec![key(0.0, 0.3), key(1.0, -0.7)],
            ease: meniscus_shapes::Ease::Linear,
        };
        bodies.add(Body::scripted("press", press, motion)).unwrap();
        let mut world = world(bodies, 3);
        let failure = loop {
            let before = bytes(&world);
            match advance(&mut world, 1.0, &mut ()) {
                Ok(_) => assert!(world.time() < 0.9, "it was crushed without a word"),
                Err(failure) => {
                    assert_eq!(bytes(&world), before);
                    break failure;
                }
            }
        };
        let message = failure.to_string();
        assert!(message.contains("ball") && message.contains("floor") && message.contains("press"));
        let problem = failure.problem.unwrap();
        assert!(problem.unknowns() > 0 && problem.files().contains(&"friction.json"));
    }
}
