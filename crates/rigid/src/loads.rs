//! Forces of contacts and joints, for the report of a step.

use crate::bodies::Bodies;
use crate::body::Wrench;
use crate::joint::{JointRows, MOST_ROWS};
use crate::linear::{Angular, add, add_scaled, cross, norm, scale, sub};
use crate::report::{JointReport, StepReport};
use crate::solve::{Island, SolveReport};
use crate::step::{Prepared, contact_impulse, loaded};

/// Impulse of a joint on its first body, and its moment about that body's centre of mass.
pub(crate) fn joint_impulse<const D: usize>(
    made: &JointRows<D>,
    impulses: &[f64; MOST_ROWS],
) -> ([f64; D], Angular) {
    let mut sum = ([0.0; D], [0.0; 3]);
    for (row, x) in made.rows.iter().zip(impulses) {
        sum.0 = add_scaled(sum.0, *x, row.linear);
        sum.1 = add_scaled(sum.1, *x, row.angular_a);
    }
    sum
}

impl<const D: usize> Bodies<D> {
    /// The report of a step after its solves.
    pub(crate) fn loads(
        &self,
        prepared: &Prepared<D>,
        islands: &[Island<D>],
        solves: Vec<SolveReport>,
        dt: f64,
    ) -> StepReport<D> {
        let mut report = StepReport {
            dt,
            contacts: Vec::new(),
            contact_forces: vec![Wrench::ZERO; self.len()],
            joint_forces: vec![Wrench::ZERO; self.len()],
            joints: self.unloaded_joints(prepared),
            solves,
            restitution_solves: Vec::new(),
            asleep: 0,
            position_error: 0.0,
            penetration: 0.0,
            position_work: 0.0,
            energy: 0.0,
        };
        for island in islands {
            for (k, &contact) in island.contact_ids.iter().enumerate() {
                let impulse = contact_impulse(island, k);
                report
                    .contacts
                    .push(loaded(&prepared.contacts[contact], impulse));
                self.add_contact_force(prepared, contact, impulse, dt, &mut report);
            }
            self.add_joint_forces(prepared, island, dt, &mut report);
        }
        report
            .contacts
            .sort_by_key(|loaded| (loaded.contact.a, loaded.contact.b, loaded.contact.id));
        report
    }

    /// Adds the impulse of a contact to the forces on its bodies.
    pub(crate) fn add_contact_force(
        &self,
        prepared: &Prepared<D>,
        contact: usize,
        impulse: [f64; D],
        dt: f64,
        report: &mut StepReport<D>,
    ) {
        let own = &prepared.contacts[contact];
        for (body, sign) in [(own.a, 1.0), (own.b, -1.0)] {
            let force = scale(impulse, sign / dt);
            let arm = sub(own.point, prepared.kinetics[body].center);
            let wrench = &mut report.contact_forces[body];
            wrench.force = add(wrench.force, force);
            wrench.torque = add(wrench.torque, cross(arm, force));
        }
    }

    fn unloaded_joints(&self, prepared: &Prepared<D>) -> Vec<JointReport<D>> {
        let report = |made: &Option<JointRows<D>>| JointReport {
            force: [0.0; D],
            torque: [0.0; 3],
            coordinate: made.as_ref().map_or(0.0, |made| made.coordinate),
            speed: 0.0,
            motor_effort: 0.0,
            motor_power: 0.0,
            broken: made.is_none(),
        };
        prepared.joints.iter().map(report).collect()
    }

    fn add_joint_forces(
        &self,
        prepared: &Prepared<D>,
        island: &Island<D>,
        dt: f64,
        report: &mut StepReport<D>,
    ) {
        let mut k = 0;
        while k < island.joint_rows {
            let joint = island.joint_row_ids[k];
            let Some(made) = &prepared.joints[joint] else {
                unreachable!("a joint with rows is not broken")
            };
            let mut impulses = [0.0; MOST_ROWS];
            impulses[..made.rows.len()].copy_from_slice(&island.x[k..k + made.rows.len()]);
            let (impulse, moment) = joint_impulse(made, &impulses);
            let own = &mut report.joints[joint];
            let center = prepared.kinetics[self.joints[joint].a].center;
            own.force = scale(impulse, 1.0 / dt);
            own.torque = scale(
                sub(moment, cross(sub(made.point, center), impulse)),
                1.0 / dt,
            );
            if let Some(motor) = made.motor {
                own.speed = island.y(k + motor) - island.rows[k + motor].bias;
                own.motor_effort = impulses[motor] / dt;
                own.motor_power = own.motor_effort * own.speed;
            }
            let limit = self.joints[joint].break_force.unwrap_or(f64::INFINITY);
            own.broken = norm(own.force) > limit;
            for (i, row) in made.rows.iter().enumerate() {
                let first = &mut report.joint_forces[row.a];
                first.force = add_scaled(first.force, impulses[i] / dt, row.linear);
                first.torque = add_scaled(first.torque, impulses[i] / dt, row.angular_a);
                if let Some(b) = row.b {
                    let second = &mut report.joint_forces[b];
                    second.force = add_scaled(second.force, -impulses[i] / dt, row.linear);
                    second.torque = add_scaled(second.torque, impulses[i] / dt, row.angular_b);
                }
            }
            k += made.rows.len();
        }
    }
}
