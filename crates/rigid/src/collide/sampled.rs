//! Contacts of curved and concave solids: samples of each surface against the distance of the other.

use meniscus_shapes::SurfaceSample;

use super::part::{Kind, PosedPart};
use crate::contact::Touch;
use crate::linear::{add_scaled, dot, sub};

/// A sample counts if its normal and that of the other surface are opposed: the cosine of their angle is below this.
const OPPOSED: f64 = -0.5;
/// Marks contacts of samples of the second part.
const SECOND: u64 = 1 << 40;
/// Steps that refine a contact.
const REFINEMENTS: usize = 12;
/// Share of an edge by which corners of polytopes are moved into their faces.
const INSET: f64 = 0.03;

/// Contacts of two parts, at least one of them curved or concave.
pub(super) fn touches<const D: usize>(
    a: &PosedPart<'_, D>,
    b: &PosedPart<'_, D>,
    margin: f64,
    out: &mut Vec<Touch<D>>,
) {
    for (index, sample) in samples(a).enumerate() {
        if let Some(touch) = touch(&sample, b, margin, index as u64) {
            out.push(touch);
        }
    }
    for (index, sample) in samples(b).enumerate() {
        if let Some(touch) = touch(&sample, a, margin, index as u64 | SECOND) {
            out.push(touch.reversed());
        }
    }
}

/// Moves the point of each contact along the sampled surface to where the other solid is nearest: a wheel rolls on the
/// solid that it is, not on its samples.
pub(super) fn refine<const D: usize>(
    a: &PosedPart<'_, D>,
    b: &PosedPart<'_, D>,
    touches: &mut [Touch<D>],
) {
    for touch in touches {
        let of_b = touch.id & SECOND != 0;
        let (own, other) = if of_b { (b, a) } else { (a, b) };
        if !matches!(own.part.kind, Kind::Sampled(_)) {
            continue;
        }
        let side = own
            .bounds
            .high
            .iter()
            .zip(&own.bounds.low)
            .map(|(h, l)| h - l);
        let mut step = 0.02 * side.fold(0.0, f64::max);
        let normal = if of_b {
            touch.normal.map(|n| -n)
        } else {
            touch.normal
        };
        let mut x = add_scaled(touch.point, 0.5 * touch.gap, normal);
        let mut best = (touch.gap, normal);
        for _ in 0..REFINEMENTS {
            let own_normal = own.normal(x);
            let along = dot(best.1, own_normal);
            // Down the slope of the other's distance, within the surface.
            let slope = add_scaled(best.1.map(|n| -n), along, own_normal);
            let mut trial = add_scaled(x, step, slope);
            for _ in 0..2 {
                trial = add_scaled(trial, -own.distance(trial), own.normal(trial));
            }
            let gap = other.distance(trial);
            if gap < best.0 {
                (x, best, step) = (trial, (gap, other.normal(trial)), 1.5 * step);
            } else {
                step *= 0.4;
            }
        }
        touch.gap = best.0;
        touch.point = add_scaled(x, -0.5 * best.0, best.1);
        touch.normal = if of_b { best.1.map(|n| -n) } else { best.1 };
    }
}

/// The contact of a sample with a solid; the normal is that of the solid.
fn touch<const D: usize>(
    sample: &SurfaceSample<D>,
    solid: &PosedPart<'_, D>,
    margin: f64,
    id: u64,
) -> Option<Touch<D>> {
    if !solid.bounds.expanded(margin).contains(sample.point) {
        return None;
    }
    let gap = solid.distance_within(sample.point, 2.0 * margin);
    if gap > margin {
        return None;
    }
    let normal = solid.normal(sample.point);
    (dot(normal, sample.normal) < OPPOSED).then(|| Touch {
        point: add_scaled(sample.point, -0.5 * gap, normal),
        normal,
        gap,
        id,
    })
}

/// Samples of a part's surface in the world.
fn samples<'a, const D: usize>(
    posed: &'a PosedPart<'_, D>,
) -> Box<dyn Iterator<Item = SurfaceSample<D>> + 'a> {
    match (&posed.part.kind, &posed.polytope) {
        (Kind::Sampled(samples), _) => Box::new(samples.iter().map(|sample| SurfaceSample {
            point: posed.pose.apply(sample.point),
            normal: posed.pose.rotation.apply(sample.normal),
            face: sample.face,
        })),
        (_, Some(polytope)) => Box::new(polytope.faces.iter().enumerate().flat_map(
            move |(index, face)| {
                let count = face.vertices.len() as f64;
                let corner = |v: &u32| polytope.vertices[*v as usize];
                let middle = face
                    .vertices
                    .iter()
                    .fold([0.0; D], |sum, v| add_scaled(sum, 1.0 / count, corner(v)));
                face.vertices.iter().map(move |v| SurfaceSample {
                    point: add_scaled(corner(v), INSET, sub(middle, corner(v))),
                    normal: face.normal,
                    face: index as u32,
                })
            },
        )),
        _ => Box::new(std::iter::empty()),
    }
}
