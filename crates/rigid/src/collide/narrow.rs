//! Narrow phase: contacts of two bodies.

use super::part::{Kind, PosedCollider, PosedPart};
use super::reduce::{MOST_OF_A_PAIR, by_normal, spread};
use super::round::{Round, round_half_space, round_round, round_solid};
use super::{polytopes, sampled};
use crate::contact::Touch;
use crate::linear::{add_scaled, dot};

/// Contacts of two bodies whose gap is at most `margin`, with normals from the second to the first.
///
/// `bias` is a length that is small against the gap at rest.
pub(crate) fn touches<const D: usize>(
    a: &PosedCollider<'_, D>,
    b: &PosedCollider<'_, D>,
    margin: f64,
    bias: f64,
) -> Vec<Touch<D>> {
    let mut found = Vec::new();
    for (i, x) in a.parts.iter().enumerate() {
        for (j, y) in b.parts.iter().enumerate() {
            if x.bounds.intersection(&y.bounds.expanded(margin)).is_empty() {
                continue;
            }
            let start = found.len();
            part_touches(x, y, margin, bias, &mut found);
            let parts = (i as u64 & 0xff) << 53 | (j as u64 & 0x3f) << 47;
            for touch in &mut found[start..] {
                touch.id ^= parts;
            }
        }
    }
    if found.len() > MOST_OF_A_PAIR {
        by_normal(found)
    } else {
        found
    }
}

/// Where the polytopes of two bodies at the end of a step are beyond the planes that separated them at its start.
pub(crate) fn beyond_planes<const D: usize>(
    (a, b): (&PosedCollider<'_, D>, &PosedCollider<'_, D>),
    (end_a, end_b): (&PosedCollider<'_, D>, &PosedCollider<'_, D>),
) -> Vec<Touch<D>> {
    let mut found = Vec::new();
    for (x, end_x) in a.parts.iter().zip(&end_a.parts) {
        for (y, end_y) in b.parts.iter().zip(&end_b.parts) {
            let polytopes = (&x.polytope, &y.polytope, &end_x.polytope, &end_y.polytope);
            let apart = end_x.bounds.intersection(&end_y.bounds).is_empty();
            if let ((Some(p), Some(q), Some(end_p), Some(end_q)), false) = (polytopes, apart) {
                polytopes::beyond_plane((p, q), (end_p, end_q), &mut found);
            }
        }
    }
    found
}

/// A lower bound on the distance of two bodies, up to the spacing of samples.
pub(super) fn separation<const D: usize>(
    a: &PosedCollider<'_, D>,
    b: &PosedCollider<'_, D>,
) -> f64 {
    let mut least = f64::INFINITY;
    for x in &a.parts {
        for y in &b.parts {
            let between = match (&x.polytope, &y.polytope) {
                (Some(p), Some(q)) => polytopes::separation(p, q),
                _ => {
                    let mut touches = Vec::new();
                    part_touches(x, y, f64::MAX, 0.0, &mut touches);
                    touches
                        .iter()
                        .fold(f64::INFINITY, |least, touch| least.min(touch.gap))
                }
            };
            least = least.min(between);
        }
    }
    least
}

fn part_touches<const D: usize>(
    a: &PosedPart<'_, D>,
    b: &PosedPart<'_, D>,
    margin: f64,
    bias: f64,
    out: &mut Vec<Touch<D>>,
) {
    let start = out.len();
    let flip = |out: &mut Vec<Touch<D>>| {
        out[start..]
            .iter_mut()
            .for_each(|touch| *touch = touch.reversed())
    };
    match (&a.part.kind, &b.part.kind) {
        (Kind::Round { .. }, Kind::Round { .. }) => round_round(&round(a), &round(b), margin, out),
        (Kind::Round { .. }, Kind::HalfSpace { .. }) => {
            let (normal, offset) = plane(b);
            round_half_space(&round(a), normal, offset, margin, out);
        }
        (Kind::HalfSpace { .. }, Kind::Round { .. }) => {
            let (normal, offset) = plane(a);
            round_half_space(&round(b), normal, offset, margin, out);
            flip(out);
        }
        (Kind::Round { .. }, _) => round_solid(&round(a), b, margin, out),
        (_, Kind::Round { .. }) => {
            round_solid(&round(b), a, margin, out);
            flip(out);
        }
        (Kind::Polytope(_), Kind::Polytope(_)) => {
            if let (Some(p), Some(q)) = (&a.polytope, &b.polytope) {
                polytopes::touches(p, q, margin, bias, out);
            }
        }
        (Kind::Polytope(_), Kind::HalfSpace { .. }) => corners(a, plane(b), margin, out),
        (Kind::HalfSpace { .. }, Kind::Polytope(_)) => {
            corners(b, plane(a), margin, out);
            flip(out);
        }
        _ => {
            sampled::touches(a, b, margin, out);
            let mut reduced = by_normal(out.split_off(start));
            sampled::refine(a, b, &mut reduced);
            out.extend(reduced);
        }
    }
}

fn round<const D: usize>(posed: &PosedPart<'_, D>) -> Round<D> {
    match &posed.part.kind {
        Kind::Round { from, to, radius } => Round {
            from: posed.pose.apply(*from),
            to: posed.pose.apply(*to),
            radius: *radius,
        },
        _ => unreachable!("called for balls and capsules only"),
    }
}

/// Normal and offset of a half-space in the world.
fn plane<const D: usize>(posed: &PosedPart<'_, D>) -> ([f64; D], f64) {
    match &posed.part.kind {
        Kind::HalfSpace { normal, offset } => {
            let normal = posed.pose.rotation.apply(*normal);
            (normal, offset + dot(normal, posed.pose.translation))
        }
        _ => unreachable!("called for half-spaces only"),
    }
}

/// The corners of a polytope that are near a half-space.
fn corners<const D: usize>(
    posed: &PosedPart<'_, D>,
    (normal, offset): ([f64; D], f64),
    margin: f64,
    out: &mut Vec<Touch<D>>,
) {
    let start = out.len();
    let vertices = posed
        .polytope
        .iter()
        .flat_map(|polytope| &polytope.vertices);
    for (index, x) in vertices.enumerate() {
        let gap = dot(normal, *x) - offset;
        if gap <= margin {
            out.push(Touch {
                point: add_scaled(*x, -0.5 * gap, normal),
                normal,
                gap,
                id: index as u64,
            });
        }
    }
    spread(out, start, 8);
}
