//! Contacts of a step.

use rayon::prelude::*;

use crate::bodies::{Bodies, State};
use crate::collide::{Extent, Motion, PosedCollider, impact, pairs, touches};
use crate::contact::{Contact, Touch};
use crate::linear::{dot, norm, scale, sub};
use crate::state::Kinetic;
use crate::step::Prepared;

/// Gap at rest, as a share of the shortest side of the smaller body.
const RESTING_SHARE: f64 = 0.002;
/// Motion in a step, as a share of the thinner body's thickness, from which the path is followed.
const FAST: f64 = 0.5;
/// Motion in a step, in gaps at rest, up to which a contact keeps its features.
const SMALL: f64 = 0.5;
/// Share of the gap at rest by which one kind of contact must be better than another to be preferred.
const BIAS: f64 = 0.05;

impl<const D: usize> Bodies<D> {
    /// Gap at rest of a pair of bodies.
    pub fn resting_gap(&self, a: usize, b: usize) -> f64 {
        self.settings.resting_gap.unwrap_or_else(|| {
            let size = self.colliders[a].size.min(self.colliders[b].size);
            if size.is_finite() {
                RESTING_SHARE * size
            } else {
                0.0
            }
        })
    }

    /// Pairs of bodies that may touch within a step, and their contacts in order of bodies and features.
    pub(crate) fn contacts(
        &self,
        state: &State<D>,
        kinetics: &[Kinetic<D>],
        dt: f64,
    ) -> (Vec<(usize, usize)>, Vec<Contact<D>>) {
        let travel: Vec<f64> = (0..self.len())
            .map(|body| self.travel(body, &kinetics[body], dt))
            .collect();
        let candidates = self.candidates(state, kinetics, &travel);
        let posed: Vec<PosedCollider<'_, D>> = self
            .colliders
            .par_iter()
            .zip(&state.bodies)
            .map(|(collider, body)| PosedCollider::new(collider, &body.pose))
            .collect();
        let of_pair = |&(a, b): &(usize, usize)| {
            let resting_gap = self.resting_gap(a, b);
            let margin = 2.0 * resting_gap + travel[a] + travel[b];
            let thickness = self.colliders[a].thickness.min(self.colliders[b].thickness);
            let found = if travel[a] + travel[b] > FAST * thickness {
                self.swept(state, kinetics, (a, b), dt, resting_gap)
            } else {
                None
            };
            let found =
                found.unwrap_or_else(|| touches(&posed[a], &posed[b], margin, BIAS * resting_gap));
            self.pair_contacts((a, b), found)
        };
        let contacts = candidates
            .par_iter()
            .with_min_len(16)
            .flat_map_iter(of_pair)
            .collect();
        (candidates, contacts)
    }

    /// Contacts of a pair with its material, in order of features.
    pub(crate) fn pair_contacts(
        &self,
        (a, b): (usize, usize),
        found: Vec<Touch<D>>,
    ) -> Vec<Contact<D>> {
        let (material, resting_gap) = (self.material(a, b), self.resting_gap(a, b));
        let contact = |touch: Touch<D>| Contact {
            a,
            b,
            point: touch.point,
            normal: touch.normal,
            gap: touch.gap,
            id: touch.id,
            resting_gap,
            friction: material.friction,
            restitution: material.restitution,
        };
        let mut contacts: Vec<Contact<D>> = found.into_iter().map(contact).collect();
        contacts.sort_by_key(|contact| contact.id);
        contacts
    }

    /// Contacts after the bodies have moved: those of before carried along where the motion is small against the gap at
    /// rest, new ones elsewhere. Pairs of bodies that have not `changed` keep their `known` ones.
    pub(crate) fn end_contacts(
        &self,
        prepared: &Prepared<D>,
        known: &[Contact<D>],
        changed: &[bool],
        dt: f64,
    ) -> Vec<Contact<D>> {
        let travel: Vec<f64> = (0..self.len())
            .map(|body| self.travel(body, &prepared.kinetics[body], dt))
            .collect();
        let still = |a: usize, b: usize| travel[a] + travel[b] <= SMALL * self.resting_gap(a, b);
        let mut needed = vec![false; self.len()];
        for &(a, b) in &prepared.pairs {
            if (changed[a] || changed[b]) && !still(a, b) {
                (needed[a], needed[b]) = (true, true);
            }
        }
        let posed: Vec<Option<PosedCollider<'_, D>>> = (0..self.len())
            .into_par_iter()
            .with_min_len(64)
            .map(|body| {
                let pose = &self.state.bodies[body].pose;
                needed[body].then(|| PosedCollider::new(&self.colliders[body], pose))
            })
            .collect();
        let of_pair = |&(a, b): &(usize, usize)| -> Vec<Contact<D>> {
            if !changed[a] && !changed[b] {
                return pair_of(known, (a, b)).to_vec();
            }
            match (&posed[a], &posed[b]) {
                (Some(x), Some(y)) if !still(a, b) => {
                    let resting_gap = self.resting_gap(a, b);
                    let found = touches(x, y, 3.0 * resting_gap, BIAS * resting_gap);
                    self.pair_contacts((a, b), found)
                }
                _ => pair_of(&prepared.contacts, (a, b))
                    .iter()
                    .map(|contact| self.carried(prepared, contact))
                    .collect(),
            }
        };
        prepared
            .pairs
            .par_iter()
            .with_min_len(16)
            .flat_map_iter(of_pair)
            .collect()
    }

    /// Pairs of bodies that are overlapping, with the depth.
    pub(crate) fn overlaps_impl(&self) -> Vec<(usize, usize, f64)> {
        let kinetics: Vec<Kinetic<D>> = (0..self.len())
            .map(|body| self.bodies[body].kinetic(&self.state.bodies[body], self.state.time, 1.0))
            .collect();
        let posed =
            |body: usize| PosedCollider::new(&self.colliders[body], &self.state.bodies[body].pose);
        let still = vec![0.0; self.len()];
        let depth = |(a, b): (usize, usize)| {
            let deepest = touches(&posed(a), &posed(b), 0.0, 0.0)
                .iter()
                .fold(0.0, |d: f64, t| d.max(-t.gap));
            (deepest > 0.0).then_some((a, b, deepest))
        };
        self.candidates(&self.state, &kinetics, &still)
            .into_iter()
            .filter_map(depth)
            .collect()
    }

    /// Bound on the way of the body's points in a step.
    fn travel(&self, body: usize, kinetic: &Kinetic<D>, dt: f64) -> f64 {
        let angular = norm(kinetic.twist.angular);
        let spin = if angular > 0.0 {
            angular * self.colliders[body].reach(self.bodies[body].local_center())
        } else {
            0.0
        };
        dt * (norm(kinetic.twist.linear) + spin)
    }

    fn candidates(
        &self,
        state: &State<D>,
        kinetics: &[Kinetic<D>],
        travel: &[f64],
    ) -> Vec<(usize, usize)> {
        let extents: Vec<Extent<D>> = (0..self.len())
            .filter(|&body| !state.bodies[body].removed)
            .map(|body| {
                let collider = &self.colliders[body];
                let gap = self
                    .settings
                    .resting_gap
                    .unwrap_or(RESTING_SHARE * collider.size.min(f64::MAX));
                let around = if collider.bounds.is_finite() {
                    travel[body] + 2.0 * gap
                } else {
                    0.0
                };
                Extent {
                    body,
                    bounds: collider
                        .bounds
                        .placed(&state.bodies[body].pose)
                        .expanded(around),
                    free: kinetics[body].is_free(),
                }
            })
            .collect();
        let mut apart: Vec<(usize, usize)> = self
            .joints
            .iter()
            .zip(&state.joints)
            .filter(|(joint, own)| !joint.collide && !own.broken)
            .filter_map(|(joint, _)| Some((joint.a.min(joint.b?), joint.a.max(joint.b?))))
            .collect();
        apart.sort_unstable();
        let mut found = pairs(&extents);
        found.retain(|pair| apart.binary_search(pair).is_err());
        found
    }

    /// Contacts of two fast bodies where they meet on their way; `None` if they touch already.
    fn swept(
        &self,
        state: &State<D>,
        kinetics: &[Kinetic<D>],
        (a, b): (usize, usize),
        dt: f64,
        resting_gap: f64,
    ) -> Option<Vec<Touch<D>>> {
        let motion = |body: usize| Motion {
            collider: &self.colliders[body],
            pose: state.bodies[body].pose,
            center: self.bodies[body].local_center(),
            twist: kinetics[body].twist,
        };
        let (first, second) = (motion(a), motion(b));
        let Some(time) = impact(&first, &second, dt, resting_gap) else {
            return Some(Vec::new());
        };
        if time == 0.0 {
            return None;
        }
        let (x, y) = (first.pose_at(time), second.pose_at(time));
        let found = touches(
            &PosedCollider::new(first.collider, &x),
            &PosedCollider::new(second.collider, &y),
            4.0 * resting_gap,
            BIAS * resting_gap,
        );
        if found.is_empty() {
            // Corner meets corner: the speculative contacts at the start of the step have to do.
            return None;
        }
        // The faster body keeps its lever; the gap is the one from which this velocity leads to the one found.
        let leader = if norm(kinetics[a].twist.linear) >= norm(kinetics[b].twist.linear) {
            a
        } else {
            b
        };
        let moved = scale(kinetics[leader].twist.linear, time);
        let back = |touch: Touch<D>| {
            let point = sub(touch.point, moved);
            let speed = dot(
                touch.normal,
                sub(kinetics[a].velocity(point), kinetics[b].velocity(point)),
            );
            Touch {
                point,
                gap: touch.gap - time * speed,
                ..touch
            }
        };
        Some(found.into_iter().map(back).collect())
    }
}

/// The contacts of a pair among all in order of pairs.
pub(crate) fn pair_of<const D: usize>(
    contacts: &[Contact<D>],
    pair: (usize, usize),
) -> &[Contact<D>] {
    let start = contacts.partition_point(|contact| (contact.a, contact.b) < pair);
    let count = contacts[start..].partition_point(|contact| (contact.a, contact.b) == pair);
    &contacts[start..start + count]
}
