//! Contacts that the start of a step did not show: bodies that overlap at its end.
//!
//! A row acts along the normal at the start of a step. A corner that comes round an edge meets another face: then the
//! step is solved again with the contacts of its end added, as if they had been known from the start.

use crate::bodies::Bodies;
use crate::contact::Contact;
use crate::linear::{add_scaled, scale, sub};
use crate::rows::contact_rows;
use crate::step::Prepared;

/// Marks contacts that were found at the end of the step.
const FOUND_LATER: u64 = 1 << 63;

/// Growth of an overlap, in gaps at rest, that is left to the correction of positions.
const DEEPER: f64 = 0.05;

impl<const D: usize> Bodies<D> {
    /// Contacts of pairs that overlap at the end of a step more than at its start, as rows of its start.
    pub(crate) fn missed(
        &self,
        prepared: &Prepared<D>,
        ends: &[Contact<D>],
        dt: f64,
    ) -> Vec<Contact<D>> {
        // The deepest overlap of a pair at the start, zero if there is none.
        let before = |contact: &Contact<D>| {
            let key = (contact.a, contact.b);
            let start = prepared
                .contacts
                .partition_point(|other| (other.a, other.b) < key);
            let own = prepared.contacts[start..]
                .iter()
                .take_while(|other| (other.a, other.b) == key);
            own.fold(0.0, |deepest: f64, other| deepest.min(other.gap))
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
                id: end.id | FOUND_LATER,
                ..*end
            };
            let row = &contact_rows(&contact, &prepared.kinetics, self.settings.cone, dt)[0];
            let speed = row.speed(&prepared.kinetics[end.a], Some(&prepared.kinetics[end.b]));
            Contact {
                gap: end.gap - dt * speed,
                ..contact
            }
        };
        let missed = ends
            .iter()
            .filter(|end| end.gap < 0.0 && end.gap < before(end) - DEEPER * end.resting_gap);
        missed.map(as_at_start).collect()
    }
}
