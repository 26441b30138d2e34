//! Reports and snapshots of rigid bodies, for all worlds that have some.

use meniscus_lcp::Status;
use meniscus_rigid::{self as rigid, Bodies, Wrench};
use meniscus_shapes::{Bounds, Pose};

use crate::report::{SolveReport, StepReport};
use crate::snapshot::{BodyLoad, BodyState};

/// Islands whose solves a report lists, the largest ones.
const LISTED_ISLANDS: usize = 4;
/// Part of a time that is rounding.
const ROUNDING: f64 = 1e-9;

/// Setup of the bodies of a world.
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
    /// External forces, one per body; bodies beyond the end of the list have none.
    pub forces: Vec<Wrench<D>>,
}

impl<const D: usize> RigidSetup<D> {
    /// Sets the external force and torque on a body.
    ///
    /// # Errors
    /// If there is no such body, it is not moved by forces, or a number is missing or not finite.
    pub(crate) fn set_force(
        &mut self,
        bodies: &Bodies<D>,
        name: &str,
        force: &[f64],
        torque: [f64; 3],
    ) -> Result<(), String> {
        let named = (0..self.listed).find(|&body| bodies.body(body).name == name);
        let body = named.ok_or_else(|| format!("there is no body {name:?}"))?;
        if bodies.is_removed(body) || !bodies.is_free(body) {
            return Err(format!(
                "no force moves {name:?}: it is fixed, scripted or removed"
            ));
        }
        let force: [f64; D] = force
            .try_into()
            .map_err(|_| format!("a force has {D} components, not {}", force.len()))?;
        if !force.iter().chain(&torque).all(|number| number.is_finite()) {
            return Err("a force or torque is not finite".into());
        }
        if self.forces.len() <= body {
            self.forces.resize(body + 1, Wrench::ZERO);
        }
        self.forces[body] = Wrench { force, torque };
        Ok(())
    }

    /// Removes bodies whose time has come, and those wholly outside the domain; returns the names of the latter.
    pub(crate) fn remove_bodies(&self, bodies: &mut Bodies<D>) -> Vec<String> {
        let time = bodies.time();
        let due = |&&(_, at): &&(usize, f64)| time >= at - ROUNDING * at.abs().max(1.0);
        let removals: Vec<usize> = (self.removals.iter().filter(due))
            .map(|&(body, _)| body)
            .collect();
        for body in removals {
            if !bodies.is_removed(body) {
                bodies.remove(body);
            }
        }
        let outside: Vec<usize> = (0..self.listed)
            .filter(|&body| !bodies.is_removed(body) && self.is_outside(bodies, body))
            .collect();
        for &body in &outside {
            bodies.remove(body);
        }
        let name = |body: usize| bodies.body(body).name.clone();
        outside.into_iter().map(name).collect()
    }

    fn is_outside(&self, bodies: &Bodies<D>, body: usize) -> bool {
        let Some(own) = bodies.body(body).shape.bounds() else {
            return false;
        };
        let around = own.placed(&bodies.pose(body));
        bodies.is_free(body) && around.intersection(&self.domain).is_empty()
    }

    /// Bodies that are still there.
    fn present(&self, bodies: &Bodies<D>) -> impl Iterator<Item = usize> {
        (0..self.listed).filter(|&body| !bodies.is_removed(body))
    }

    /// Speed of the fastest body.
    pub(crate) fn max_speed(&self, bodies: &Bodies<D>) -> f64 {
        let speed = |body: usize| {
            let twist = bodies.twist(body);
            twist.linear.iter().map(|c| c * c).sum::<f64>().sqrt()
        };
        self.present(bodies).map(speed).fold(0.0, f64::max)
    }

    /// Kinetic energy of all bodies.
    pub(crate) fn kinetic_energy(&self, bodies: &Bodies<D>) -> f64 {
        (0..self.listed).map(|b| kinetic_energy(bodies, b)).sum()
    }

    /// Poses and velocities.
    pub(crate) fn states(&self, bodies: &Bodies<D>) -> Vec<BodyState> {
        self.present(bodies)
            .map(|body| {
                let (pose, twist) = (bodies.pose(body), bodies.twist(body));
                let center = bodies.center(body);
                let to_origin = std::array::from_fn(|a| pose.translation[a] - center[a]);
                BodyState {
                    name: bodies.body(body).name.clone(),
                    rotation: pose.rotation.matrix().as_flattened().to_vec(),
                    translation: pose.translation.to_vec(),
                    velocity: twist.at(to_origin).to_vec(),
                    angular_velocity: twist.angular,
                }
            })
            .collect()
    }

    /// Measures of a step besides energies and speeds.
    pub(crate) fn measures(
        &self,
        bodies: &Bodies<D>,
        report: &rigid::StepReport<D>,
    ) -> Vec<(&'static str, f64)> {
        let all = report.solves.iter().chain(&report.restitution_solves);
        let unsolved: Vec<_> = all
            .filter(|solve| solve.status != Status::Converged)
            .map(|solve| finite(solve.residual))
            .collect();
        let gone = (0..self.listed).filter(|&body| bodies.is_removed(body));
        let broken = report.joints.iter().filter(|joint| joint.broken);
        let power: f64 = report.joints.iter().map(|joint| joint.motor_power).sum();
        vec![
            ("bodies", self.listed as f64),
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
            ("motor_power", power),
            ("asleep", report.asleep as f64),
            ("removed_bodies", gone.count() as f64),
            ("broken_joints", broken.count() as f64),
        ]
    }

    /// Forces on the bodies that forces may move, each with its index.
    pub(crate) fn loads(
        &self,
        bodies: &Bodies<D>,
        last: Option<&rigid::StepReport<D>>,
    ) -> Vec<(usize, BodyLoad)> {
        let mut loads: Vec<(usize, BodyLoad)> = self
            .present(bodies)
            .filter(|&body| bodies.body(body).mass.is_some())
            .map(|body| (body, load(bodies, body, last)))
            .collect();
        let contacts = last.iter().flat_map(|report| &report.contacts);
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
        loads
    }
}

fn kinetic_energy<const D: usize>(bodies: &Bodies<D>, body: usize) -> f64 {
    let Some(mass) = bodies.body(body).mass.filter(|_| bodies.is_free(body)) else {
        return 0.0;
    };
    let twist = bodies.twist(body);
    let square = |v: &[f64]| v.iter().map(|c| c * c).sum::<f64>();
    let spin = in_body_axes(&bodies.pose(body), twist.angular);
    let turning: f64 = (0..3)
        .map(|i| spin[i] * (0..3).map(|j| mass.inertia[i][j] * spin[j]).sum::<f64>())
        .sum();
    0.5 * mass.mass * square(&twist.linear) + 0.5 * turning
}

fn load<const D: usize>(
    bodies: &Bodies<D>,
    body: usize,
    last: Option<&rigid::StepReport<D>>,
) -> BodyLoad {
    let twist = bodies.twist(body);
    let mut load = BodyLoad {
        name: bodies.body(body).name.clone(),
        center: bodies.center(body).to_vec(),
        velocity: twist.linear.to_vec(),
        contact_force: vec![0.0; D],
        contact_torque: [0.0; 3],
        joint_force: vec![0.0; D],
        joint_torque: [0.0; 3],
        kinetic_energy: kinetic_energy(bodies, body),
        contacts: 0,
        penetration: 0.0,
        liquid: None,
    };
    if let Some(report) = last {
        let (contact, joint) = (&report.contact_forces[body], &report.joint_forces[body]);
        load.contact_force = contact.force.to_vec();
        load.contact_torque = contact.torque;
        load.joint_force = joint.force.to_vec();
        load.joint_torque = joint.torque;
    }
    load
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

/// Adds the solves of a step of bodies to its report.
pub(crate) fn add_solves<const D: usize>(
    tree: &mut StepReport,
    method: &'static str,
    report: &rigid::StepReport<D>,
) {
    tree.solves
        .push(contact_solve("contact", method, &report.solves));
    if !report.restitution_solves.is_empty() {
        let solves = &report.restitution_solves;
        tree.solves
            .push(contact_solve("restitution", method, solves));
    }
}

/// Rows of some solves.
pub(crate) fn rows(solves: &[rigid::SolveReport]) -> usize {
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
