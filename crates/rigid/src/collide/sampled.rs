//! Contacts of curved and concave solids: samples of each surface against the distance of the other.

use meniscus_shapes::SurfaceSample;

use super::part::{Kind, PosedPart};
use crate::contact::Touch;
use crate::linear::{add_scaled, dot, sub};

/// A sample counts if its normal and that of the other surface are opposed: the cosine of their angle is below this.
const OPPOSED: f64 = -0.5;
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
        if let Some(touch) = touch(&sample, a, margin, index as u64 | 1 << 40) {
            out.push(touch.reversed());
        }
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
