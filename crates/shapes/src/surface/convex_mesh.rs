//! Convex meshes as polytopes.

use super::polytope::{Polytope, PolytopeFace, in_order};
use crate::mesh::TriangleMesh;
use crate::vector::{dot, norm, scale, sub};
use std::array::from_fn;

/// Meshes with more triangles are not looked at.
const MOST_TRIANGLES: usize = 512;
/// Distances below this share of the diagonal are none.
const FLAT: f64 = 1e-7;

/// The polytope that a mesh is, if it is convex. Triangles in one plane become one face.
pub(super) fn polytope<const D: usize>(mesh: &TriangleMesh) -> Option<Polytope<D>> {
    if mesh.triangles().len() > MOST_TRIANGLES {
        return None;
    }
    let bounds = mesh.bounds();
    let tolerance = FLAT * norm(sub(bounds.high, bounds.low));
    let mut planes: Vec<([f64; 3], f64, Vec<u32>)> = Vec::new();
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|v| mesh.vertices()[v as usize]);
        let (u, v) = (sub(b, a), sub(c, a));
        let normal: [f64; 3] = from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            u[j] * v[k] - u[k] * v[j]
        });
        let area = norm(normal);
        if area <= tolerance * tolerance {
            continue;
        }
        let normal = scale(normal, 1.0 / area);
        let offset = dot(normal, a);
        if mesh
            .vertices()
            .iter()
            .any(|x| dot(normal, *x) > offset + tolerance)
        {
            return None;
        }
        let same = planes.iter_mut().find(|(other, d, _)| {
            dot(*other, normal) > 1.0 - 1e-9 && (d - offset).abs() <= tolerance
        });
        match same {
            Some((.., corners)) => corners.extend(triangle),
            None => planes.push((normal, offset, triangle.to_vec())),
        }
    }
    let vertices: Vec<[f64; D]> = (mesh.vertices().iter())
        .map(|x| from_fn(|i| x[i.min(2)]))
        .collect();
    let faces = planes
        .into_iter()
        .map(|(normal, offset, mut corners)| {
            corners.sort_unstable();
            corners.dedup();
            let corners = in_order(mesh.vertices(), corners, normal);
            PolytopeFace {
                normal: from_fn(|i| normal[i.min(2)]),
                offset,
                vertices: corners.into(),
            }
        })
        .collect();
    Some(Polytope::new(vertices, faces))
}
