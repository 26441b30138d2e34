//! Sheets and what can be wrong with their meshes.

use std::collections::BTreeMap;
use std::fmt;

use super::Pin;
use super::vector::{V3, cross, length, sub};

/// A piece of cloth or a soft body: a mesh and its material.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Name.
    pub name: String,
    /// Vertices at rest and at the start, in metres.
    pub vertices: Vec<[f64; 3]>,
    /// Triangles of the surface; those of a soft body, counter-clockwise seen from outside, name its first vertices only.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra of a soft body; none for cloth.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Mass per area in kg/m²; of a soft body per volume, in kg/m³.
    pub density: f64,
    /// Stiffness against stretch in N/m: force per width over strain. Of a soft body its modulus of Young, in Pa.
    pub stretch: f64,
    /// Poisson's ratio of a soft body, from 0 to below 0.5.
    pub poisson_ratio: f64,
    /// Stiffness against bending, in N m.
    pub bend: f64,
    /// Largest strain of an edge, if there is a limit.
    pub strain_limit: Option<f64>,
    /// Coefficient of friction with solids.
    pub friction: f64,
    /// Least distance to other cloth and, by half, to solids, in metres; at most a quarter of the mean length of the edges.
    pub thickness: f64,
    /// Velocity at the start, in m/s.
    pub velocity: [f64; 3],
    /// Vertices that scripts hold.
    pub pins: Vec<Pin>,
}

impl Sheet {
    /// Number of vertices of the surface, which come first.
    pub fn surface_vertices(&self) -> usize {
        let last = self.triangles.iter().flatten().max();
        last.map_or(0, |last| *last as usize + 1)
    }
}

/// What is wrong with a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeshFault {
    /// A triangle names a vertex that does not exist.
    NoSuchVertex,
    /// A triangle has no area, or a tetrahedron no volume.
    NoArea(usize),
    /// More than two triangles have an edge in common.
    NotManifold([usize; 2]),
    /// A vertex belongs to no element.
    Loose(usize),
    /// A vertex is not at a finite place.
    NotFinite(usize),
}

impl fmt::Display for MeshFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchVertex => f.write_str("a triangle has a corner that is not in the mesh"),
            Self::NoArea(k) => write!(f, "triangle {} has no area", k + 1),
            Self::NotManifold([a, b]) => write!(
                f,
                "more than two triangles meet at the edge from vertex {} to vertex {}",
                a + 1,
                b + 1
            ),
            Self::Loose(v) => write!(f, "vertex {} belongs to no triangle", v + 1),
            Self::NotFinite(v) => write!(f, "vertex {} is not at a finite place", v + 1),
        }
    }
}

impl std::error::Error for MeshFault {}

/// An edge of a mesh.
#[derive(Clone, Copy, Debug)]
pub struct MeshEdge {
    pub ends: [u32; 2],
    /// The other corners of its two triangles; `None` at the border.
    pub opposite: Option<[u32; 2]>,
}

/// Checks that cloth can have a mesh.
///
/// # Errors
/// What is wrong with the mesh.
pub fn check(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<(), MeshFault> {
    edges(vertices, triangles).map(|_| ())
}

/// Edges of a mesh that cloth can have.
pub fn edges(vertices: &[V3], triangles: &[[u32; 3]]) -> Result<Vec<MeshEdge>, MeshFault> {
    let finite = |x: &V3| x.iter().all(|c| c.is_finite());
    if let Some(v) = vertices.iter().position(|x| !finite(x)) {
        return Err(MeshFault::NotFinite(v));
    }
    let mut corners: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    for (k, &triangle) in triangles.iter().enumerate() {
        if triangle.iter().any(|&v| v as usize >= vertices.len()) {
            return Err(MeshFault::NoSuchVertex);
        }
        let [a, b, c] = triangle.map(|v| vertices[v as usize]);
        let sides = [sub(b, a), sub(c, b), sub(a, c)];
        let longest = sides.map(length).into_iter().fold(0.0, f64::max);
        if length(cross(sides[0], sides[1])) <= 1e-8 * longest * longest {
            return Err(MeshFault::NoArea(k));
        }
        for side in 0..3 {
            let (from, to) = (triangle[side], triangle[(side + 1) % 3]);
            let opposite = triangle[(side + 2) % 3];
            corners
                .entry([from.min(to), from.max(to)])
                .or_default()
                .push(opposite);
        }
    }
    let mut edges = Vec::with_capacity(corners.len());
    for (ends, opposite) in corners {
        let opposite = match opposite[..] {
            [_] => None,
            [c, d] => Some([c, d]),
            _ => return Err(MeshFault::NotManifold(ends.map(|v| v as usize))),
        };
        edges.push(MeshEdge { ends, opposite });
    }
    Ok(edges)
}
