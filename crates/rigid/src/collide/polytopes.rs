//! Contacts of convex polytopes: separating axes, then clipping of the two faces that look at each other.

use meniscus_shapes::{Polytope, PolytopeFace};

use super::reduce::spread;
use crate::contact::Touch;
use crate::linear::{add_scaled, cross, dot, lower, norm, scale, sub};

/// Contacts between two faces at most.
const MOST_POINTS: usize = 4;
/// Directions of edges closer than this are parallel: the sine of their angle.
const PARALLEL: f64 = 1e-3;

/// The same for axes of two edges, in `bias`: where faces are nearly parallel, one contact in place of four lets a body tip.
const EDGE_BIAS: f64 = 10.0;

/// An axis along which two polytopes are separated the most.
#[derive(Clone, Copy, Debug)]
enum Axis<const D: usize> {
    /// Face of the first polytope.
    FaceOfA(usize),
    /// Face of the second polytope.
    FaceOfB(usize),
    /// Directions of two edges; the unit normal from the second to the first polytope.
    Edges(usize, usize, [f64; D]),
}

/// A lower bound on the distance of two polytopes, which is their depth with a negative sign if they overlap.
pub(super) fn separation<const D: usize>(a: &Polytope<D>, b: &Polytope<D>) -> f64 {
    best_axis(a, b, f64::INFINITY, 0.0).map_or(f64::INFINITY, |(_, separation)| separation)
}

/// Contacts of two polytopes closer than `margin`. Axes that are within `bias` of each other count as equal: faces
/// come before edges, the first polytope before the second, so that the choice is the same from step to step.
pub(super) fn touches<const D: usize>(
    a: &Polytope<D>,
    b: &Polytope<D>,
    margin: f64,
    bias: f64,
    out: &mut Vec<Touch<D>>,
) {
    match best_axis(a, b, margin, bias) {
        None => {}
        Some((Axis::FaceOfA(face), _)) => {
            let start = out.len();
            clip(a, face, b, margin, out);
            for touch in &mut out[start..] {
                *touch = touch.reversed();
                touch.id |= 1 << 62;
            }
        }
        Some((Axis::FaceOfB(face), _)) => clip(b, face, a, margin, out),
        Some((Axis::Edges(i, j, normal), _)) => edges(a, b, (i, j), normal, margin, out),
    }
}

/// Where two polytopes at the end of a motion are beyond the plane that separated them at its start: corners that came round
/// an edge, which the axis of least depth at the end shows as another face's.
pub(super) fn beyond_plane<const D: usize>(
    (a, b): (&Polytope<D>, &Polytope<D>),
    (end_a, end_b): (&Polytope<D>, &Polytope<D>),
    out: &mut Vec<Touch<D>>,
) {
    let start = out.len();
    match best_axis(a, b, f64::INFINITY, 0.0) {
        None => {}
        Some((Axis::FaceOfA(face), _)) => {
            below(&end_a.faces[face], face, end_b, out);
            for touch in &mut out[start..] {
                *touch = touch.reversed();
                touch.id |= 1 << 62;
            }
        }
        Some((Axis::FaceOfB(face), _)) => below(&end_b.faces[face], face, end_a, out),
        Some((Axis::Edges(i, j, before), _)) => {
            let (u, v) = (end_a.edge_directions[i], end_b.edge_directions[j]);
            let across: [f64; D] = lower(cross(u, v));
            let length = norm(across);
            if length >= PARALLEL {
                let sign = 1.0_f64.copysign(dot(across, before));
                edges(end_a, end_b, (i, j), scale(across, sign / length), 0.0, out);
            }
        }
    }
}

/// Corners of a polytope below a face of another one.
fn below<const D: usize>(
    face: &PolytopeFace<D>,
    index: usize,
    other: &Polytope<D>,
    out: &mut Vec<Touch<D>>,
) {
    let start = out.len();
    for (vertex, x) in other.vertices.iter().enumerate() {
        let gap = dot(face.normal, *x) - face.offset;
        if gap < 0.0 {
            out.push(Touch {
                point: add_scaled(*x, -0.5 * gap, face.normal),
                normal: face.normal,
                gap,
                id: 1 << 60 | (index as u64) << 40 | vertex as u64,
            });
        }
    }
    spread(out, start, MOST_POINTS);
}

/// The axis of largest separation, or `None` if that exceeds `margin`.
fn best_axis<const D: usize>(
    a: &Polytope<D>,
    b: &Polytope<D>,
    margin: f64,
    bias: f64,
) -> Option<(Axis<D>, f64)> {
    let mut best = (Axis::FaceOfA(0), f64::NEG_INFINITY);
    for (index, face) in a.faces.iter().enumerate() {
        let separation = beyond(face, b);
        if separation > margin {
            return None;
        }
        if separation > best.1 {
            best = (Axis::FaceOfA(index), separation);
        }
    }
    let mut most = best.1 + bias;
    for (index, face) in b.faces.iter().enumerate() {
        let separation = beyond(face, a);
        if separation > margin {
            return None;
        }
        if separation > most {
            best = (Axis::FaceOfB(index), separation);
            most = separation;
        }
    }
    let mut most = best.1 + EDGE_BIAS * bias;
    for (i, u) in a.edge_directions.iter().enumerate() {
        for (j, v) in b.edge_directions.iter().enumerate() {
            let axis: [f64; D] = lower(cross(*u, *v));
            let length = norm(axis);
            if length < PARALLEL {
                continue;
            }
            let axis = scale(axis, 1.0 / length);
            let ((low_a, high_a), (low_b, high_b)) = (span(a, axis), span(b, axis));
            // From b to a, on the side where they are farther apart.
            let (separation, axis) = if low_a - high_b > low_b - high_a {
                (low_a - high_b, axis)
            } else {
                (low_b - high_a, scale(axis, -1.0))
            };
            if separation > margin {
                return None;
            }
            if separation > most {
                best = (Axis::Edges(i, j, axis), separation);
                most = separation;
            }
        }
    }
    Some(best)
}

/// How far a whole polytope is beyond a face of another one.
fn beyond<const D: usize>(face: &PolytopeFace<D>, other: &Polytope<D>) -> f64 {
    let least = other
        .vertices
        .iter()
        .fold(f64::INFINITY, |least, x| least.min(dot(face.normal, *x)));
    least - face.offset
}

fn span<const D: usize>(polytope: &Polytope<D>, axis: [f64; D]) -> (f64, f64) {
    polytope
        .vertices
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            let along = dot(axis, *x);
            (low.min(along), high.max(along))
        })
}

/// A corner of the clipped face.
#[derive(Clone, Copy)]
struct Corner<const D: usize> {
    x: [f64; D],
    /// What the side from here to the next corner lies on: a side of the face, or a plane that cut it. No two sides of a polygon
    /// have the same, so that two of them name the corner between.
    side: u64,
}

/// Planes that cut a face are numbered from here, its own sides from zero.
const CUTS: u64 = 1 << 15;

/// The face of `other` that looks at a face of `reference`, clipped to the column above that face. The normal of the
/// contacts is that of the face.
fn clip<const D: usize>(
    reference: &Polytope<D>,
    face: usize,
    other: &Polytope<D>,
    margin: f64,
    out: &mut Vec<Touch<D>>,
) {
    let base = &reference.faces[face];
    let Some(incident) = (0..other.faces.len()).min_by(|&i, &j| {
        let along = |k: usize| dot(other.faces[k].normal, base.normal);
        along(i).total_cmp(&along(j))
    }) else {
        return;
    };
    let mut corners: Vec<Corner<D>> = other.faces[incident]
        .vertices
        .iter()
        .enumerate()
        .map(|(k, &v)| Corner {
            x: other.vertices[v as usize],
            side: k as u64,
        })
        .collect();
    let count = base.vertices.len();
    let mut kept = Vec::with_capacity(corners.len() + count);
    for side in 0..count {
        let start = reference.vertices[base.vertices[side] as usize];
        let end = reference.vertices[base.vertices[(side + 1) % count] as usize];
        let along = sub(end, start);
        // Out of the column.
        let outward: [f64; D] = if D == 2 {
            scale(along, -1.0)
        } else {
            lower(cross(along, base.normal))
        };
        cut(
            &corners,
            outward,
            dot(outward, start),
            CUTS + side as u64,
            &mut kept,
        );
        std::mem::swap(&mut corners, &mut kept);
    }
    let feature = (face as u64) << 40 | (incident as u64) << 32;
    let start = out.len();
    for (k, corner) in corners.iter().enumerate() {
        let before = corners[(k + corners.len() - 1) % corners.len()].side;
        let gap = dot(base.normal, corner.x) - base.offset;
        if gap <= margin {
            out.push(Touch {
                point: add_scaled(corner.x, -0.5 * gap, base.normal),
                normal: base.normal,
                gap,
                id: feature | before << 16 | corner.side,
            });
        }
    }
    spread(out, start, MOST_POINTS);
}

/// The part of a polygon, or of a segment in two dimensions, with `normal . x <= offset`.
fn cut<const D: usize>(
    corners: &[Corner<D>],
    normal: [f64; D],
    offset: f64,
    side: u64,
    kept: &mut Vec<Corner<D>>,
) {
    kept.clear();
    let over = |corner: &Corner<D>| dot(normal, corner.x) - offset;
    let count = corners.len();
    for (k, a) in corners.iter().enumerate() {
        let over_a = over(a);
        if over_a <= 0.0 {
            kept.push(*a);
        }
        if D == 2 && k + 1 == count {
            break;
        }
        let b = &corners[(k + 1) % count];
        let over_b = over(b);
        if (over_a <= 0.0) != (over_b <= 0.0) {
            let share = over_a / (over_a - over_b);
            kept.push(Corner {
                x: add_scaled(a.x, share, sub(b.x, a.x)),
                side: if over_a <= 0.0 { side } else { a.side },
            });
        }
    }
}

/// The contact of two edges that cross.
fn edges<const D: usize>(
    a: &Polytope<D>,
    b: &Polytope<D>,
    (i, j): (usize, usize),
    normal: [f64; D],
    margin: f64,
    out: &mut Vec<Touch<D>>,
) {
    let support = |polytope: &Polytope<D>, direction: [f64; D], towards: [f64; D]| {
        let ends = |edge: &[u32; 2]| edge.map(|v| polytope.vertices[v as usize]);
        let along = polytope.edges.iter().enumerate().filter(|(_, edge)| {
            let [p, q] = ends(edge);
            let side = sub(q, p);
            dot(side, direction).abs() > (1.0 - 1e-9) * norm(side)
        });
        let height = |edge: &[u32; 2]| {
            let [p, q] = ends(edge);
            dot(towards, p) + dot(towards, q)
        };
        along
            .max_by(|(_, e), (_, f)| height(e).total_cmp(&height(f)))
            .map(|(index, edge)| (index, ends(edge)))
    };
    let (Some((e, [p, p_end])), Some((f, [q, q_end]))) = (
        support(a, a.edge_directions[i], scale(normal, -1.0)),
        support(b, b.edge_directions[j], normal),
    ) else {
        return;
    };
    let (u, v, w) = (sub(p_end, p), sub(q_end, q), sub(p, q));
    let (uu, vv, uv) = (dot(u, u), dot(v, v), dot(u, v));
    let determinant = uu * vv - uv * uv;
    let s = ((uv * dot(v, w) - vv * dot(u, w)) / determinant).clamp(0.0, 1.0);
    let t = ((uv * s + dot(v, w)) / vv).clamp(0.0, 1.0);
    let (x, y) = (add_scaled(p, s, u), add_scaled(q, t, v));
    let gap = dot(normal, sub(x, y));
    if gap <= margin {
        out.push(Touch {
            point: add_scaled(y, 0.5, sub(x, y)),
            normal,
            gap,
            id: 1 << 61 | (e as u64) << 20 | f as u64,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::{Pose, Rotation, Shape};

    fn cube(at: [f64; 3]) -> Polytope<3> {
        let shape = Shape::Box {
            low: [-0.1; 3],
            high: [0.1; 3],
        };
        shape.polytope().unwrap().placed(&Pose::translated(at))
    }

    /// Contacts are told apart by their features, whichever part of a face lies on the other one. Two with the same name once
    /// took each other's impulses, and one of them was dropped when a step was solved again.
    #[test]
    fn no_two_contacts_of_faces_have_the_same_features() {
        let shape = Shape::Box {
            low: [-0.2, -0.1, -0.05],
            high: [0.2, 0.1, 0.05],
        };
        let brick = |turn: f64, at: [f64; 3]| {
            let rotation = Rotation::<3>::exp(&[[0.0, -turn, 0.0], [turn, 0.0, 0.0], [0.0; 3]]);
            let pose = Pose {
                rotation,
                translation: at,
            };
            shape.polytope().unwrap().placed(&pose)
        };
        let lower = brick(0.0, [0.0; 3]);
        for k in 0..200 {
            let angle = 0.37 * k as f64;
            let shift = 0.21 * (k as f64 / 200.0);
            let at = [shift * (1.7 * angle).cos(), 0.5 * shift * angle.sin(), 0.1];
            // Parallel, nearly parallel and turned.
            for turn in [0.0, 1e-9 * angle, angle] {
                let mut found = Vec::new();
                touches(&brick(turn, at), &lower, 0.01, 0.0, &mut found);
                let mut ids: Vec<u64> = found.iter().map(|touch| touch.id).collect();
                ids.sort_unstable();
                ids.dedup();
                assert_eq!(ids.len(), found.len(), "{turn} {at:?}");
                assert!(ids.len() >= 3, "{turn} {at:?}");
            }
        }
    }

    /// A cube comes down on the rim of another one: at the end they are deepest across, but it was above.
    #[test]
    fn bodies_that_were_above_each_other_touch_from_above() {
        let (lower, upper) = (cube([0.0; 3]), cube([0.19, 0.0, 0.205]));
        let end = cube([0.19, 0.0, 0.15]);
        let mut found = Vec::new();
        touches(&end, &lower, 0.0, 0.0, &mut found);
        assert!(!found.is_empty() && found.iter().all(|touch| touch.normal == [1.0, 0.0, 0.0]));
        found.clear();
        beyond_plane((&upper, &lower), (&end, &lower), &mut found);
        assert_eq!(found.len(), 4);
        for touch in found {
            assert_eq!(touch.normal, [0.0, 0.0, 1.0]);
            assert!((touch.gap + 0.05).abs() < 1e-15, "{}", touch.gap);
        }
    }
}
