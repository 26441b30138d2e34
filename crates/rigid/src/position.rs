//! Correction of positions, apart from the velocities.
//!
//! DEVIATION [TB20 (16)]: a term that pushes overlapping bodies apart through their velocities adds energy, and pumps
//! liquid. Here poses alone are corrected, by a few sweeps of a small problem in displacements; what that adds to the energy
//! is reported.

use crate::bodies::Bodies;
use crate::contact::Contact;
use crate::detect::pair_of;
use crate::free_flight::turned;
use crate::islands::Slots;
use crate::joint::position_rows;
use crate::linear::{add, sub};
use crate::missed::is_later;
use crate::report::StepReport;
use crate::rows::point_row;
use crate::solve::{Island, accelerated_sweeps};
use crate::state::Kinetic;
use crate::step::Prepared;

/// Error of a gap, as a share of the one at rest, that is left alone.
const SLOP: f64 = 0.01;
/// Error that a correction leaves, so that bodies at rest are not corrected in every step.
const AIM: f64 = 0.5 * SLOP;
/// Share of an error that is corrected almost at once: as long as bodies do not overlap, and overlap that the step has made.
const QUICK: f64 = 0.8;
/// Correction in a step at most, in gaps at rest.
const MOST: f64 = 5.0;
/// Contacts up to so many gaps at rest apart take part, so that no correction makes a new overlap.
const NEAR: f64 = 3.0;
/// Sweeps.
const SWEEPS: usize = 20;
/// Passes while joints are apart: their equations are not linear.
const PASSES: usize = 3;
/// Error of a joint that is left alone, in m or rad.
const JOINT_SLOP: f64 = 1e-10;

impl<const D: usize> Bodies<D> {
    pub(crate) fn correct_positions(
        &mut self,
        prepared: &Prepared<D>,
        ends: &[Contact<D>],
        islands: &[Island<D>],
        dt: f64,
        report: &mut StepReport<D>,
    ) {
        let near = |contact: &&Contact<D>| contact.gap < NEAR * contact.resting_gap;
        let mut contacts: Vec<Contact<D>> = ends.iter().filter(near).copied().collect();
        for contact in &contacts {
            report.position_error = report.position_error.max(contact.resting_gap - contact.gap);
            report.penetration = report.penetration.max(-contact.gap);
        }
        let joints: Vec<usize> = {
            let mut list: Vec<usize> = islands
                .iter()
                .flat_map(|island| &island.joint_row_ids)
                .copied()
                .collect();
            list.dedup();
            list
        };
        let apart =
            |contact: &Contact<D>| contact.resting_gap - contact.gap > SLOP * contact.resting_gap;
        self.keep_connected(&mut contacts, apart);
        let mut energy = None;
        for pass in 0..PASSES {
            let contacts_wrong =
                pass == 0 && self.settings.position_correction > 0.0 && contacts.iter().any(apart);
            let joints_wrong = self.joint_error(&joints) > JOINT_SLOP;
            if !contacts_wrong && !joints_wrong {
                break;
            }
            energy.get_or_insert_with(|| self.energy());
            self.correct_once(prepared, &contacts, &joints, dt, pass == 0);
        }
        if let Some(before) = energy {
            report.position_work = self.energy() - before;
        }
    }

    /// Keeps the contacts of bodies that contacts and joints connect to one that is `wrong`, or to a joint.
    fn keep_connected(&self, contacts: &mut Vec<Contact<D>>, wrong: impl Fn(&Contact<D>) -> bool) {
        let between: Vec<(usize, usize)> = contacts.iter().map(|c| (c.a, c.b)).collect();
        let free: Vec<bool> = (0..self.len())
            .map(|body| self.bodies[body].is_free(self.state.time))
            .collect();
        let groups = self.connected(&self.state, &free, &between);
        let kept = (groups.iter())
            .filter(|group| {
                !group.joints.is_empty() || group.contacts.iter().any(|&c| wrong(&contacts[c]))
            })
            .flat_map(|group| &group.contacts);
        let mut kept: Vec<usize> = kept.copied().collect();
        kept.sort_unstable();
        *contacts = kept.into_iter().map(|contact| contacts[contact]).collect();
    }

    /// Part of the error of a gap that a step corrects: slowly what bodies overlapped `before` it, quickly what the gap at
    /// rest lacks and what the step itself has added.
    fn correction(&self, contact: &Contact<D>, error: f64, before: f64) -> f64 {
        let slow = before.min(error - error.min(contact.resting_gap));
        let correction = QUICK * (error - slow) + self.settings.position_correction * slow;
        correction.min(MOST * contact.resting_gap)
    }

    fn kinetics_at_rest(&self, dt: f64) -> Vec<Kinetic<D>> {
        let at_rest = |body: usize| Kinetic {
            twist: crate::Twist::ZERO,
            ..self.bodies[body].kinetic(&self.state.bodies[body], self.state.time, dt)
        };
        (0..self.len()).map(at_rest).collect()
    }

    fn joint_error(&self, joints: &[usize]) -> f64 {
        let errors = |&joint: &usize| {
            self.joint_equations(joint)
                .errors
                .into_iter()
                .map(f64::abs)
                .fold(0.0, f64::max)
        };
        joints.iter().map(errors).fold(0.0, f64::max)
    }

    fn joint_equations(&self, joint: usize) -> crate::joint::JointRows<D> {
        let own = &self.joints[joint];
        let pose = |body: Option<usize>| {
            body.map_or(meniscus_shapes::Pose::IDENTITY, |b| {
                self.state.bodies[b].pose
            })
        };
        let center = |body: Option<usize>| body.map_or([0.0; D], |b| self.center(b));
        let (a, b) = (Some(own.a), own.b);
        position_rows(
            own,
            &self.frames[joint],
            &self.state.joints[joint],
            [&pose(a), &pose(b)],
            [center(a), center(b)],
        )
    }

    fn correct_once(
        &mut self,
        prepared: &Prepared<D>,
        contacts: &[Contact<D>],
        joints: &[usize],
        dt: f64,
        with_contacts: bool,
    ) {
        let kinetics = self.kinetics_at_rest(dt);
        let mut island = Island::new(self.settings.cone);
        let mut slots = Slots::new(kinetics.len());
        for &joint in joints {
            let made = self.joint_equations(joint);
            for (row, error) in made.rows[..made.equations].iter().zip(&made.errors) {
                let row = crate::Row {
                    bias: *error,
                    ..*row
                };
                slots.add(&mut island, &row, &kinetics, 0.0);
            }
        }
        for contact in contacts {
            let mut row = point_row(
                (contact.a, contact.b),
                &kinetics,
                contact.point,
                contact.normal,
            );
            let spare = contact.gap - (1.0 - AIM) * contact.resting_gap;
            row.bias = if spare >= 0.0 {
                spare
            } else if with_contacts {
                let own = pair_of(&prepared.contacts, (contact.a, contact.b)).iter();
                let before = (own.filter(|start| !is_later(start.id)))
                    .fold(0.0, |depth: f64, start| depth.max(-start.gap));
                -self.correction(contact, -spare, before)
            } else {
                0.0
            };
            row.lower = 0.0;
            slots.add(&mut island, &row, &kinetics, 0.0);
        }
        island.joint_rows = island.rows.len();
        island.begin();
        let enough = 1e-9 * island.scale;
        accelerated_sweeps(&mut island, SWEEPS, enough);
        for slot in &island.slots {
            if let Some(body) = slot.body.filter(|_| slot.inverse_mass > 0.0) {
                let center = add(kinetics[body].center, slot.twist.linear);
                let pose = &mut self.state.bodies[body].pose;
                pose.rotation = turned(&pose.rotation, slot.twist.angular);
                pose.translation = sub(
                    center,
                    pose.rotation.apply(self.bodies[body].local_center()),
                );
            }
        }
    }
}
