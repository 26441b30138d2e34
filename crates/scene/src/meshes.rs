//! Meshes in the shapes of a scene.

use super::Scene;
use meniscus_shapes::{Shape, TriangleMesh};
use std::sync::Arc;

/// All meshes in a shape.
pub fn in_shape<const D: usize>(shape: &Shape<D>) -> Vec<&Arc<TriangleMesh>> {
    match shape {
        Shape::Mesh(mesh) => vec![mesh],
        Shape::Union(parts) | Shape::Intersection(parts) => {
            parts.iter().flat_map(in_shape).collect()
        }
        Shape::Difference(whole, parts) => {
            let mut all = in_shape(whole);
            all.extend(parts.iter().flat_map(in_shape));
            all
        }
        Shape::Inverted(shape)
        | Shape::Shell { shape, .. }
        | Shape::Rounded { shape, .. }
        | Shape::Placed { shape, .. } => in_shape(shape),
        _ => Vec::new(),
    }
}

/// Number of triangles of all meshes of a scene, each mesh counted once.
pub fn triangles<const D: usize>(scene: &Scene<D>) -> usize {
    let shapes = scene.shapes().map(|(_, _, shape)| shape);
    let mut meshes: Vec<&Arc<TriangleMesh>> = shapes.flat_map(in_shape).collect();
    meshes.sort_by_key(|mesh| Arc::as_ptr(mesh));
    meshes.dedup_by_key(|mesh| Arc::as_ptr(mesh));
    meshes.iter().map(|mesh| mesh.triangles().len()).sum()
}

/// Surface area of the meshes of a scene's solids, in square metres.
pub fn area_of_solids<const D: usize>(scene: &Scene<D>) -> f64 {
    let meshes = scene.solids.iter().flat_map(|solid| in_shape(&solid.shape));
    meshes.map(|mesh| mesh.area()).sum()
}
