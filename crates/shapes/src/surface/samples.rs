//! Points of a surface with their normals.
//!
//! Corners and edges belong to several faces: they appear once for each, moved a little towards the middle of that face,
//! so that a sample says which face it is on.

use crate::bounds::Bounds;
use crate::mesh::TriangleMesh;
use crate::shape::Shape;
use crate::vector::{add_scaled, direction_or, dot, norm, scale, sub, up};
use std::array::from_fn;

/// Newton steps to the surface.
const TO_SURFACE: usize = 12;
/// Share of the spacing by which samples at corners are moved into their face.
const INSET: f64 = 0.1;

/// A point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceSample<const D: usize> {
    /// The point.
    pub point: [f64; D],
    /// Out of the solid, of length one: the normal of the face that the sample stands for.
    pub normal: [f64; D],
    /// Number of the face. Zero where the surface is not divided into faces.
    pub face: u32,
}

impl<const D: usize> Shape<D> {
    /// Samples of the surface about `spacing` apart, at most `limit` of them by making the spacing wider. Empty for
    /// solids without end.
    pub fn surface_samples(&self, spacing: f64, limit: usize) -> Vec<SurfaceSample<D>> {
        let Some(bounds) = self.bounds().filter(|b| !b.is_empty() && b.is_finite()) else {
            return Vec::new();
        };
        let mut spacing = spacing.max(1e-9);
        loop {
            let samples = match self {
                Self::Mesh(mesh) if D == 3 => of_mesh(mesh, spacing),
                _ => of_distance(self, &bounds, spacing, limit),
            };
            // A mesh has at least a sample for each corner of each face, however wide the spacing.
            if samples.len() <= limit || spacing > norm(sub(bounds.high, bounds.low)) {
                return samples;
            }
            spacing *= 1.3;
        }
    }
}

/// Corners of triangles, moved into them, and points between where triangles are larger than the spacing.
fn of_mesh<const D: usize>(mesh: &TriangleMesh, spacing: f64) -> Vec<SurfaceSample<D>> {
    let mut samples = Vec::new();
    for (face, triangle) in mesh.triangles().iter().enumerate() {
        let corners = triangle.map(|v| mesh.vertices()[v as usize]);
        let [a, b, c] = corners;
        let (u, v) = (sub(b, a), sub(c, a));
        let normal: [f64; 3] = from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            u[j] * v[k] - u[k] * v[j]
        });
        let normal = direction_or(normal, up());
        let middle: [f64; 3] = from_fn(|i| (a[i] + b[i] + c[i]) / 3.0);
        let longest = norm(u).max(norm(v)).max(norm(sub(c, b)));
        let parts = ((longest / spacing).floor() as usize).clamp(1, 64);
        for i in 0..=parts {
            for j in 0..=parts - i {
                let (s, t) = (i as f64 / parts as f64, j as f64 / parts as f64);
                let x = add_scaled(add_scaled(a, s, u), t, v);
                let inward = sub(middle, x);
                let share = (INSET * spacing / norm(inward).max(1e-300)).min(0.5);
                let x = add_scaled(x, share, inward);
                samples.push(SurfaceSample {
                    point: from_fn(|i| x[i.min(2)]),
                    normal: from_fn(|i| normal[i.min(2)]),
                    face: face as u32,
                });
            }
        }
    }
    samples
}

/// Points of a lattice near the surface, moved to it along the gradient of the distance.
fn of_distance<const D: usize>(
    shape: &Shape<D>,
    bounds: &Bounds<D>,
    spacing: f64,
    limit: usize,
) -> Vec<SurfaceSample<D>> {
    let mut samples: Vec<SurfaceSample<D>> = Vec::new();
    let count: [usize; D] =
        from_fn(|i| (((bounds.high[i] - bounds.low[i]) / spacing).ceil() as usize + 1).max(2));
    let total = count.iter().try_fold(1_usize, |n, c| n.checked_mul(*c));
    let Some(total) = total.filter(|n| *n <= 4_000_000) else {
        // Too fine by far: the caller widens the spacing.
        return vec![
            SurfaceSample {
                point: [0.0; D],
                normal: up(),
                face: 0
            };
            limit + 1
        ];
    };
    for index in 0..total {
        let mut rest = index;
        let x: [f64; D] = from_fn(|i| {
            let step = rest % count[i];
            rest /= count[i];
            bounds.low[i] + (bounds.high[i] - bounds.low[i]) * step as f64 / (count[i] - 1) as f64
        });
        if shape.distance_within(x, spacing).abs() > 0.87 * spacing {
            continue;
        }
        let Some(sample) = projected(shape, x, spacing) else {
            continue;
        };
        let near = |other: &SurfaceSample<D>| {
            norm(sub(other.point, sample.point)) < 0.6 * spacing
                && dot(other.normal, sample.normal) > 0.9
        };
        if !samples.iter().any(near) {
            samples.push(sample);
            if samples.len() > limit {
                break;
            }
        }
    }
    samples
}

fn projected<const D: usize>(
    shape: &Shape<D>,
    mut x: [f64; D],
    spacing: f64,
) -> Option<SurfaceSample<D>> {
    let start = x;
    let tolerance = 1e-9 * spacing;
    for _ in 0..TO_SURFACE {
        let distance = shape.distance(x);
        if distance.abs() <= tolerance {
            break;
        }
        x = add_scaled(x, -distance, shape.gradient(x));
    }
    if shape.distance(x).abs() > 1e-6 * spacing || norm(sub(x, start)) > 2.0 * spacing {
        return None;
    }
    // From a little inside, where the gradient is that of one face.
    let normal = shape.gradient(add_scaled(x, -1e-3 * spacing, shape.gradient(x)));
    Some(SurfaceSample {
        point: x,
        normal: scale(normal, 1.0 / norm(normal).max(1e-300)),
        face: 0,
    })
}
