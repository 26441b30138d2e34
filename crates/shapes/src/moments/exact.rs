//! Moments by formula: simple solids, and meshes by signed tetrahedra.

use super::Moments;
use crate::mesh::TriangleMesh;
use crate::shape::Shape;
use crate::vector::{add, add_scaled, direction_or, norm, scale, sub, up};
use std::array::from_fn;
use std::f64::consts::PI;

/// Moments of a solid for which there is a formula.
pub(super) fn moments<const D: usize>(shape: &Shape<D>) -> Option<Moments<D>> {
    Some(match shape {
        Shape::Sphere { center, radius } => ball(*center, *radius),
        Shape::Box { low, high } => cuboid(*low, *high),
        Shape::Capsule { from, to, radius } => capsule(*from, *to, *radius),
        Shape::Cylinder { from, to, radius } => frustum(*from, *to, *radius, *radius),
        Shape::Cone {
            from,
            to,
            radius_from,
            radius_to,
        } => frustum(*from, *to, *radius_from, *radius_to),
        Shape::Torus {
            center,
            axis,
            major,
            minor,
        } if major >= minor => torus(*center, *axis, *major, *minor),
        Shape::Mesh(mesh) => lowered(&of_mesh(mesh)),
        Shape::Placed { shape, pose } => moments(shape)?.placed(pose),
        Shape::Rounded { shape, radius } => match &**shape {
            Shape::Sphere { center, radius: r } => ball(*center, r + radius),
            Shape::Capsule {
                from,
                to,
                radius: r,
            } => capsule(*from, *to, r + radius),
            _ => return None,
        },
        Shape::Shell { shape, thickness } => match &**shape {
            Shape::Sphere { center, radius } if 2.0 * radius >= *thickness => {
                let half = 0.5 * thickness;
                Moments::combined(&[
                    (1.0, ball(*center, radius + half)),
                    (-1.0, ball(*center, radius - half)),
                ])
            }
            _ => return None,
        },
        Shape::Union(parts) | Shape::Intersection(parts) if parts.len() == 1 => {
            return moments(&parts[0]);
        }
        _ => return None,
    })
}

/// Volume of the unit ball in `n` dimensions.
fn unit_ball(n: usize) -> f64 {
    match n {
        1 => 2.0,
        2 => PI,
        _ => 4.0 / 3.0 * PI,
    }
}

fn ball<const D: usize>(center: [f64; D], radius: f64) -> Moments<D> {
    let volume = unit_ball(D) * radius.powi(D as i32);
    let second = volume * radius * radius / (D as f64 + 2.0);
    Moments::axial(volume, center, up(), second, second)
}

fn cuboid<const D: usize>(low: [f64; D], high: [f64; D]) -> Moments<D> {
    let size = sub(high, low);
    let volume: f64 = size.iter().product();
    Moments {
        volume,
        centroid: from_fn(|i| 0.5 * (low[i] + high[i])),
        second: from_fn(|i| {
            from_fn(|j| {
                if i == j {
                    volume * size[i] * size[i] / 12.0
                } else {
                    0.0
                }
            })
        }),
    }
}

/// A cylinder between two half balls.
fn capsule<const D: usize>(from: [f64; D], to: [f64; D], radius: f64) -> Moments<D> {
    let (along, length) = axis(from, to);
    let middle = scale(add(from, to), 0.5);
    let caps = unit_ball(D) * radius.powi(D as i32);
    // Distance from the flat side of a half ball to its centroid, over the radius.
    let centroid = if D == 2 { 4.0 / (3.0 * PI) } else { 0.375 };
    let own = radius * radius / (D as f64 + 2.0);
    let caps_along = own + length * centroid * radius + 0.25 * length * length;
    let ends = Moments::axial(caps, middle, along, caps * caps_along, caps * own);
    Moments::combined(&[(1.0, ends), (1.0, frustum(from, to, radius, radius))])
}

/// A cylinder or truncated cone. All integrands along the axis are of degree at most four, for which three Gauss points
/// are exact.
fn frustum<const D: usize>(from: [f64; D], to: [f64; D], r0: f64, r1: f64) -> Moments<D> {
    const GAUSS: [(f64, f64); 3] = [
        (-0.774_596_669_241_483_4, 5.0 / 18.0),
        (0.0, 8.0 / 18.0),
        (0.774_596_669_241_483_4, 5.0 / 18.0),
    ];
    let (along, length) = axis(from, to);
    let [mut volume, mut first, mut second, mut across] = [0.0; 4];
    for (node, weight) in GAUSS {
        let s = 0.5 * (1.0 + node);
        let r = r0 + (r1 - r0) * s;
        let slice = weight * length * unit_ball(D - 1) * r.powi(D as i32 - 1);
        volume += slice;
        first += slice * s * length;
        second += slice * s * s * length * length;
        across += slice * r * r / (D as f64 + 1.0);
    }
    if volume == 0.0 {
        return Moments::ZERO;
    }
    let centroid = first / volume;
    Moments::axial(
        volume,
        add_scaled(from, centroid, along),
        along,
        second - first * centroid,
        across,
    )
}

/// A ring; in two dimensions two discs.
fn torus<const D: usize>(center: [f64; D], axis: [f64; D], major: f64, minor: f64) -> Moments<D> {
    let tube = PI * minor * minor;
    let axis = direction_or(axis, up());
    let along = 0.25 * minor * minor;
    let (volume, across) = if D == 2 {
        (2.0 * tube, along + major * major)
    } else {
        let across = 0.5 * major * major + 0.375 * minor * minor;
        (2.0 * PI * major * tube, across)
    };
    Moments::axial(volume, center, axis, volume * along, volume * across)
}

/// Signed tetrahedra between the triangles and a point near the centroid.
fn of_mesh(mesh: &TriangleMesh) -> Moments<3> {
    let bounds = mesh.bounds();
    let apex: [f64; 3] = from_fn(|i| 0.5 * (bounds.low[i] + bounds.high[i]));
    let mut volume = 0.0;
    let mut first = [0.0; 3];
    let mut second = [[0.0; 3]; 3];
    for face in mesh.triangles() {
        let [a, b, c] = face.map(|v| sub(mesh.vertices()[v as usize], apex));
        let signed = (a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0]))
            / 6.0;
        let sum: [f64; 3] = from_fn(|i| a[i] + b[i] + c[i]);
        volume += signed;
        first = add_scaled(first, 0.25 * signed, sum);
        for i in 0..3 {
            for j in 0..3 {
                let corners = a[i] * a[j] + b[i] * b[j] + c[i] * c[j];
                second[i][j] += signed / 20.0 * (corners + sum[i] * sum[j]);
            }
        }
    }
    let arm = scale(first, 1.0 / volume);
    Moments {
        volume,
        centroid: add(apex, arm),
        second: from_fn(|i| from_fn(|j| second[i][j] - volume * arm[i] * arm[j])),
    }
}

/// Meshes are in three dimensions only; see [`Shape::validate`].
fn lowered<const D: usize>(of: &Moments<3>) -> Moments<D> {
    if D != 3 {
        return Moments::ZERO;
    }
    Moments {
        volume: of.volume,
        centroid: from_fn(|i| of.centroid[i]),
        second: from_fn(|i| from_fn(|j| of.second[i][j])),
    }
}

fn axis<const D: usize>(from: [f64; D], to: [f64; D]) -> ([f64; D], f64) {
    let along = sub(to, from);
    (direction_or(along, up()), norm(along))
}
