//! Restitution.
//!
//! A step moves bodies until they touch, never farther; what is left of their approach is then reversed, at the positions
//! where they touch. [TB20 (9)] The speed of approach is the one at the time of the impact within the step: with gravity acting over
//! the whole step a ball would bounce higher than it fell from.
//!
//! DEVIATION [TB20 (9)]: restitution belongs to the contact, not to each body: with `R` per body two bodies that move
//! together would push each other apart.

use rayon::prelude::*;

use crate::bodies::Bodies;
use crate::contact::Contact;
use crate::islands::Slots;
use crate::linear::{add_scaled, norm, scale, sub};
use crate::report::StepReport;
use crate::rows::contact_rows;
use crate::solve::{self, Island};
use crate::state::Kinetic;
use crate::step::{Prepared, contact_impulse};

/// Approach below which nothing bounces, in speeds that gravity gives in a step.
const SLOWEST: f64 = 2.0;
/// Energy that restitution may gain, as a share of what the impact took: rounding.
const ROUNDING: f64 = 1e-9;

impl<const D: usize> Bodies<D> {
    /// Speed of approach of each contact at its impact; zero for those that do not bounce.
    pub(crate) fn approach_speeds(&self, prepared: &Prepared<D>, dt: f64) -> Vec<f64> {
        let slowest = SLOWEST * norm(self.settings.gravity) * dt;
        let speed_of = |contact: &Contact<D>| {
            if contact.restitution == 0.0 {
                return 0.0;
            }
            let row = &contact_rows(contact, &prepared.kinetics, self.settings.cone, dt)[0];
            let pushed = row.speed(
                &prepared.kinetics[contact.a],
                Some(&prepared.kinetics[contact.b]),
            );
            let before = |body: usize| {
                let kinetic = &prepared.kinetics[body];
                let twist = if kinetic.is_free() {
                    self.state.bodies[body].twist
                } else {
                    kinetic.twist
                };
                Kinetic { twist, ..*kinetic }
            };
            let before = row.speed(&before(contact.a), Some(&before(contact.b)));
            let share = if pushed < 0.0 {
                (row.bias / -pushed).clamp(0.0, 1.0)
            } else {
                1.0
            };
            let approach = -(before + share * (pushed - before));
            if approach > slowest { approach } else { 0.0 }
        };
        prepared.contacts.iter().map(speed_of).collect()
    }

    /// Reverses the approach of contacts that bear an impulse, after the bodies have moved.
    pub(crate) fn bounce(
        &mut self,
        prepared: &Prepared<D>,
        islands: &[Island<D>],
        approach: &[f64],
        dt: f64,
        report: &mut StepReport<D>,
    ) {
        let bounces = |island: &Island<D>, k: usize| {
            island.x[island.normal_row(k)] > 0.0 && approach[island.contact_ids[k]] > 0.0
        };
        let bouncing: Vec<&Island<D>> = islands
            .iter()
            .filter(|island| (0..island.contacts()).any(|k| bounces(island, k)))
            .collect();
        if bouncing.is_empty() {
            return;
        }
        let time = self.state.time;
        let kinetics: Vec<Kinetic<D>> = (0..self.len())
            .map(|body| match prepared.kinetics[body] {
                moved if moved.is_free() => {
                    self.bodies[body].kinetic(&self.state.bodies[body], time, dt)
                }
                scripted => scripted,
            })
            .collect();
        let mut solved: Vec<(Island<D>, solve::SolveReport)> = bouncing
            .par_iter()
            .map(|island| {
                let taken = energy_taken(island, approach);
                let mut island = self.bounce_island(prepared, island, approach, &kinetics, dt);
                let report = solve::solve(&mut island, &self.settings, dt);
                give_back_at_most(&mut island, taken);
                (island, report)
            })
            .collect();
        for (island, solve) in solved.drain(..) {
            for slot in &island.slots {
                if let Some(body) = slot.body.filter(|_| slot.inverse_mass > 0.0) {
                    self.state.bodies[body].twist = slot.twist;
                }
            }
            for (k, &contact) in island.contact_ids.iter().enumerate() {
                let impulse = contact_impulse(&island, k);
                self.add_contact_force(prepared, contact, impulse, dt, report);
                let key = (
                    prepared.contacts[contact].a,
                    prepared.contacts[contact].b,
                    prepared.contacts[contact].id,
                );
                let of = |loaded: &crate::LoadedContact<D>| {
                    (loaded.contact.a, loaded.contact.b, loaded.contact.id)
                };
                if let Ok(at) = report.contacts.binary_search_by_key(&key, of) {
                    report.contacts[at].impulse =
                        crate::linear::add(report.contacts[at].impulse, impulse);
                }
            }
            report.restitution_solves.push(solve);
        }
    }

    /// The problem of an island at the end of a step: contacts that bear an impulse, and equations of joints.
    fn bounce_island(
        &self,
        prepared: &Prepared<D>,
        before: &Island<D>,
        approach: &[f64],
        kinetics: &[Kinetic<D>],
        dt: f64,
    ) -> Island<D> {
        let mut island = Island::new(self.settings.cone);
        let mut slots = Slots::new(kinetics.len());
        let mut joints: Vec<usize> = before.joint_row_ids.clone();
        joints.dedup();
        for joint in joints {
            let made = self.rows_of_joint(joint, &self.state, kinetics, dt);
            for row in &made.rows[..made.equations] {
                slots.add(&mut island, row, kinetics, 0.0);
                island.joint_row_ids.push(joint);
            }
        }
        island.joint_rows = island.rows.len();
        for (k, &contact) in before.contact_ids.iter().enumerate() {
            if before.x[before.normal_row(k)] <= 0.0 {
                continue;
            }
            let own = self.carried(prepared, &prepared.contacts[contact]);
            let mut rows = contact_rows(&own, kinetics, self.settings.cone, dt);
            rows[0].bias = -own.restitution * approach[contact];
            for row in &rows[..D] {
                slots.add(&mut island, row, kinetics, 0.0);
            }
            island.friction.push(own.friction);
            island.contact_ids.push(contact);
        }
        island.begin();
        island
    }

    /// A contact after its bodies have moved: its points go with them, the normal stays.
    pub(crate) fn carried(&self, prepared: &Prepared<D>, contact: &Contact<D>) -> Contact<D> {
        let moved = |body: usize, point: [f64; D]| {
            let (old, state) = (&prepared.poses[body], &self.state.bodies[body]);
            state.pose.apply(old.apply_inverse(point))
        };
        let half = scale(contact.normal, 0.5 * contact.gap);
        let on_a = moved(contact.a, add_scaled(contact.point, 1.0, half));
        let on_b = moved(contact.b, sub(contact.point, half));
        let apart = sub(on_a, on_b);
        Contact {
            point: add_scaled(on_b, 0.5, apart),
            gap: crate::linear::dot(contact.normal, apart),
            ..*contact
        }
    }
}

/// Energy that the normal impulses of a step have taken from the bodies of an island.
fn energy_taken<const D: usize>(island: &Island<D>, approach: &[f64]) -> f64 {
    let of_contact = |k: usize| {
        let n = island.normal_row(k);
        let bias = island.rows[n].bias;
        let (before, after) = (island.start_speed(n) - bias, island.y(n) - bias);
        // Gravity acts for the whole step, the impact is within it.
        let before = match approach[island.contact_ids[k]] {
            approach if approach > 0.0 => before.min(-approach),
            _ => before,
        };
        -0.5 * island.x[n] * (before + after)
    };
    (0..island.contacts()).map(of_contact).sum()
}

/// Scales the impulses of restitution so that they give back at most what was taken. Reversing several approaches at the same
/// time may otherwise gain energy: of two bodies that were moving apart slowly, and are pushed together by a third one.
fn give_back_at_most<const D: usize>(island: &mut Island<D>, taken: f64) {
    // The energy that a share s of the impulses gives is p s + q s^2.
    let (mut p, mut q) = (0.0, 0.0);
    for (i, &x) in island.x.iter().enumerate() {
        let (before, after) = (island.start_speed(i), island.y(i));
        p += x * (before - island.rows[i].bias);
        q += 0.5 * x * (after - before);
    }
    if p + q <= taken * (1.0 + ROUNDING) || q <= 0.0 {
        return;
    }
    let share = (-p + (p * p + 4.0 * q * taken.max(0.0)).sqrt()) / (2.0 * q);
    let x: Vec<f64> = island.x.iter().map(|x| share.clamp(0.0, 1.0) * x).collect();
    island.restart(&x);
}
