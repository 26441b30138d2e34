//! Impulses to start from: those of the last step, carried over to the contacts of this one.

use crate::bodies::{State, WarmContact};
use crate::contact::Contact;
use crate::linear::{add, norm, sub};

/// Distance, in gaps at rest, beyond which the features of a contact say more than its place.
const NEAR: f64 = 25.0;

/// Impulses to start from for the contacts of one pair, on its first body.
///
/// Each impulse of the last step goes to one contact, the nearest: edges that lie on one another let corners come and go, and
/// change what they are called. An impulse that is given to two contacts, or to none, leaves a start that is worse than none.
pub(crate) fn warm_impulses<const D: usize>(
    state: &State<D>,
    contacts: &[Contact<D>],
) -> Vec<[f64; D]> {
    let mut impulses = vec![[0.0; D]; contacts.len()];
    let Some(first) = contacts.first() else {
        return impulses;
    };
    let pair = (first.a, first.b);
    let start = (state.warm).partition_point(|warm| (warm.a, warm.b) < pair);
    let of_pair = (state.warm[start..].iter()).take_while(|warm| (warm.a, warm.b) == pair);
    let pose = &state.bodies[first.a].pose;
    for warm in of_pair {
        if let Some(at) = heir(warm, contacts, |x| pose.apply_inverse(x)) {
            impulses[at] = add(impulses[at], warm.impulse);
        }
    }
    impulses
}

/// The contact that takes over an impulse: the nearest one if it is near, else the one of the same features, as of a ball
/// that rolls, else the nearest one all the same, as when the corner changes that a body stands on.
fn heir<const D: usize>(
    warm: &WarmContact<D>,
    contacts: &[Contact<D>],
    local: impl Fn([f64; D]) -> [f64; D],
) -> Option<usize> {
    let distance = |contact: &Contact<D>| norm(sub(warm.point, local(contact.point)));
    let same = contacts.iter().position(|contact| contact.id == warm.id);
    let mut nearest = same.map(|at| (at, distance(&contacts[at])));
    for (at, contact) in contacts.iter().enumerate() {
        let here = distance(contact);
        if nearest.is_none_or(|(_, least)| here < least) {
            nearest = Some((at, here));
        }
    }
    let (at, least) = nearest?;
    let near = least < NEAR * contacts[at].resting_gap;
    Some(if near { at } else { same.unwrap_or(at) })
}
