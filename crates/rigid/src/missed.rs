//! Contacts that the start of a step did not show: bodies that overlap at its end.
//!
//! A row acts along the normal at the start of a step. A corner that comes round an edge meets another face: then the
//! step is solved again with the contacts of its end added, as if they had been known from the start.

use crate::bodies::Bodies;
use crate::collide::{PosedCollider, beyond_planes};
use crate::contact::Contact;
use crate::detect::pair_of;
use crate::linear::{add_scaled, scale, sub};
use crate::rows::point_row;
use crate::solve::{Island, SolveReport};
use crate::step::Prepared;

/// Identity of a contact that was found at the end of a step, beside `known` ones of its pair: rows of the same features
/// from one attempt to the next are different ones, and all are kept.
fn later_id(id: u64, known: usize) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    LATER | id.wrapping_add(known as u64).wrapping_mul(ODD)
}

/// Whether a contact was found at the end of a step.
pub(crate) fn is_later(id: u64) -> bool {
    id & LATER != 0
}

const LATER: u64 = 1 << 63;

/// Growth of an overlap, in gaps at rest, that is left to the correction of positions.
const DEEPER: f64 = 0.05;

impl<const D: usize> Bodies<D> {
    /// Contacts of pairs that overlap at the end of a step more than the solve knew of, as rows of its start. What a solve
    /// short of its tolerance left is not among them.
    pub(crate) fn missed(
        &self,
        prepared: &Prepared<D>,
        (islands, solves): (&[Island<D>], &[SolveReport]),
        ends: &[Contact<D>],
        dt: f64,
    ) -> Vec<Contact<D>> {
        // What the solve knew of: the deepest overlap of a pair at the start, and what is left of the approach of its bodies.
        let mut residual = vec![0.0; self.len()];
        for (island, solve) in islands.iter().zip(solves) {
            for body in island.slots.iter().filter_map(|slot| slot.body) {
                residual[body] = solve.residual.max(residual[body]);
            }
        }
        let known = |a: usize, b: usize| {
            let own = pair_of(&prepared.contacts, (a, b)).iter();
            let own = own.filter(|start| !is_later(start.id));
            let before = own.fold(0.0, |deepest: f64, contact| deepest.min(contact.gap));
            before - dt * f64::max(residual[a], residual[b])
        };
        let apart = |a: usize, b: usize| {
            let own = pair_of(&prepared.contacts, (a, b)).iter();
            own.filter(|start| !is_later(start.id))
                .all(|start| start.gap >= 0.0)
        };
        let as_at_start = |end: &Contact<D>| {
            let half = scale(end.normal, 0.5 * end.gap);
            let back = |body: usize, x: [f64; D]| {
                prepared.poses[body].apply(self.state.bodies[body].pose.apply_inverse(x))
            };
            let on_a = back(end.a, add_scaled(end.point, 1.0, half));
            let on_b = back(end.b, sub(end.point, half));
            let point = add_scaled(on_b, 0.5, sub(on_a, on_b));
            let contact = Contact {
                point,
                id: later_id(end.id, pair_of(&prepared.contacts, (end.a, end.b)).len()),
                ..*end
            };
            let row = point_row((end.a, end.b), &prepared.kinetics, point, end.normal);
            let speed = row.speed(&prepared.kinetics[end.a], Some(&prepared.kinetics[end.b]));
            Contact {
                gap: end.gap - dt * speed,
                ..contact
            }
        };
        let deeper = |end: &&Contact<D>| {
            end.gap < 0.0 && end.gap < known(end.a, end.b) - DEEPER * end.resting_gap
        };
        let mut missed: Vec<Contact<D>> = ends.iter().filter(deeper).map(as_at_start).collect();
        // A row that bodies were beyond at the start, and leave behind, stops nothing: the plane between them does.
        let mut beyond: Vec<(usize, usize)> = (missed.iter())
            .filter(|contact| contact.gap < 0.0 && apart(contact.a, contact.b))
            .map(|contact| (contact.a, contact.b))
            .collect();
        beyond.dedup();
        for pair in beyond {
            let corners = self.beyond_planes(prepared, pair);
            missed.extend(corners.iter().map(as_at_start));
        }
        missed
    }

    /// Contacts of two bodies where they are beyond the planes that separated them before they moved.
    fn beyond_planes(&self, prepared: &Prepared<D>, (a, b): (usize, usize)) -> Vec<Contact<D>> {
        let before = |body: usize| PosedCollider::new(&self.colliders[body], &prepared.poses[body]);
        let after =
            |body: usize| PosedCollider::new(&self.colliders[body], &self.state.bodies[body].pose);
        let found = beyond_planes((&before(a), &before(b)), (&after(a), &after(b)));
        self.pair_contacts((a, b), found)
    }
}
