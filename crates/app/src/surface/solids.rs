//! Triangle meshes of solids in body coordinates, and their poses.

use super::contour::{self, BLOCK, COARSE, Contour, Implicit, Lattice};
use super::upright;
use meniscus_scene::Scene;
use meniscus_shapes::{Bounds, ScriptedSolid, Shape};
use meniscus_store::cache::BodyState;

/// Cells along the longest side of a solid's mesh.
const CELLS: f64 = 48.0;
/// Smallest cell of the mesh, in cells of the simulation.
const FINEST: f64 = 0.25;

/// Mesh of a solid.
#[derive(Clone, Debug)]
pub struct SolidMesh {
    /// Unique name that other programs accept: letters, digits and underscores.
    pub name: String,
    /// Index of the solid in the scene.
    pub solid: usize,
    /// Vertices in body coordinates.
    pub positions: Vec<[f32; 3]>,
    /// Vertex indices.
    pub triangles: Vec<[u32; 3]>,
}

/// Rotation, as rows of a matrix, and translation of a body in 3D, upright.
pub fn pose<const D: usize>(body: &BodyState<D>) -> ([[f64; 3]; 3], [f64; 3]) {
    let axis = |a: usize| if a + 1 == D { 2 } else { a };
    let mut rotation = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for i in 0..D {
        for j in 0..D {
            rotation[axis(i)][axis(j)] = body.rotation[i][j];
        }
    }
    (rotation, upright(body.translation))
}

/// Meshes of the solids of a scene, without the walls of its domain. A container is represented by its inner surface;
/// unbounded solids are clipped to the domain.
pub fn of_scene<const D: usize>(scene: &Scene<D>) -> Vec<SolidMesh> {
    let of_body = |(solid, body): (usize, &ScriptedSolid<D>)| {
        let (positions, triangles) = triangles(&body.shape, scene);
        SolidMesh {
            name: plain(&body.name),
            solid,
            positions,
            triangles,
        }
    };
    let meshes = scene.solids.iter().enumerate().map(of_body);
    let mut meshes: Vec<SolidMesh> = meshes.filter(|mesh| !mesh.triangles.is_empty()).collect();
    for k in 0..meshes.len() {
        let same = meshes[..k]
            .iter()
            .filter(|m| m.name == meshes[k].name)
            .count();
        if same > 0 {
            meshes[k].name = format!("{}_{}", meshes[k].name, k + 1);
        }
    }
    meshes
}

fn triangles<const D: usize>(shape: &Shape<D>, scene: &Scene<D>) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    if let Shape::Mesh(mesh) = shape {
        let place = |x: &[f64; 3]| x.map(|c| c as f32);
        return (
            mesh.vertices().iter().map(place).collect(),
            mesh.triangles().into(),
        );
    }
    let domain = Bounds {
        low: [0.0; D],
        high: scene.domain,
    };
    let mut hollow = shape;
    while let Shape::Inverted(inner) = hollow {
        hollow = inner;
    }
    let bounds = hollow.bounds().unwrap_or(domain.expanded(scene.dx()));
    let sides: [f64; D] = std::array::from_fn(|a| bounds.high[a] - bounds.low[a]);
    let longest = sides.iter().copied().fold(0.0, f64::max);
    if !(longest > 0.0 && longest.is_finite()) {
        return (Vec::new(), Vec::new());
    }
    let width = (longest / CELLS).max(FINEST * scene.dx());
    // A margin of a cell and a half, so that flat sides don't fall on lattice points.
    let lattice = Lattice {
        origin: std::array::from_fn(|a| bounds.low[a] - 1.37 * width),
        width,
        parts: COARSE as i32,
    };
    let solid = Solid {
        shape: hollow,
        bounds,
        lattice,
    };
    let along = sides.map(|side| ((side / width) as i32 + 3 + BLOCK) / BLOCK);
    let count: i32 = along.iter().product();
    let blocks: Vec<[i32; D]> = (0..count)
        .map(|mut k| {
            std::array::from_fn(|a| {
                let digit = k % along[a];
                k /= along[a];
                digit * BLOCK
            })
        })
        .collect();
    let Contour {
        vertices,
        mut triangles,
        ..
    } = contour::contour(&lattice, &blocks, &solid).unwrap_or_default();
    if !std::ptr::eq(hollow, shape) {
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    let place = |x: &[f64; D]| upright(*x).map(|c| c as f32);
    (vertices.iter().map(place).collect(), triangles)
}

struct Solid<'a, const D: usize> {
    shape: &'a Shape<D>,
    bounds: Bounds<D>,
    lattice: Lattice<D>,
}

impl<const D: usize> Implicit<D> for Solid<'_, D> {
    type Local = ();

    fn enter(&self, _block: [i32; D], _local: &mut ()) {}

    fn value(&self, _local: &(), point: [i32; D]) -> f64 {
        let x = self.lattice.place(point);
        let outside = |a: usize| (self.bounds.low[a] - x[a]).max(x[a] - self.bounds.high[a]);
        let end = (0..D).map(outside).fold(f64::NEG_INFINITY, f64::max);
        self.shape.distance(x).max(end)
    }

    fn matters(&self, _local: &(), _cell: [i32; D]) -> bool {
        true
    }
}

/// Removes characters that other programs reject.
fn plain(name: &str) -> String {
    let known = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut plain: String = name.chars().map(known).take(60).collect();
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        plain.insert(0, '_');
    }
    plain
}
