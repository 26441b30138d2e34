//! What every reader of meshes must do with any bytes.

use meniscus_scene::mesh_files::{Format, Limits, parse};
use meniscus_shapes::TriangleMesh;

/// More would only be slower.
const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    vertices: 3000,
    triangles: 1000,
};

/// Reads the bytes; if they are a mesh, its indices are in range, and making a solid of it ends.
pub fn check(format: Format, bytes: &[u8]) {
    let Ok(faces) = parse(format, bytes, &LIMITS) else {
        return;
    };
    assert!(faces.vertices.len() <= LIMITS.vertices && faces.triangles.len() <= LIMITS.triangles);
    assert!(faces.vertices.iter().flatten().all(|c| c.is_finite()));
    let count = faces.vertices.len();
    assert!(
        faces
            .triangles
            .iter()
            .flatten()
            .all(|&v| (v as usize) < count)
    );
    if let Ok((mesh, report)) = TriangleMesh::new(&faces.vertices, &faces.triangles) {
        assert!(report.volume > 0.0);
        let bounds = mesh.bounds();
        for at in [bounds.low, bounds.high, mesh.vertices()[0], [0.0; 3]] {
            assert!(mesh.distance(at).is_finite());
        }
    }
}
