//! Vertices and triangles of a file, within limits.

use super::{Fault, Place};
use meniscus_shapes::mesh::{MOST_TRIANGLES, MOST_VERTICES};

/// Limits of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file.
    pub bytes: u64,
    /// Vertices in it.
    pub vertices: usize,
    /// Triangles, after polygons were cut.
    pub triangles: usize,
}

impl Default for Limits {
    /// Two gigabytes, and as many vertices and triangles as a mesh can have.
    fn default() -> Self {
        Self {
            bytes: 2_000_000_000,
            vertices: MOST_VERTICES,
            triangles: MOST_TRIANGLES,
        }
    }
}

/// Vertices and triangles of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faces {
    /// Positions of the vertices, in the units of the file.
    pub vertices: Vec<[f64; 3]>,
    /// Indices of the vertices of each triangle, from zero.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates.
    pub texture: Vec<[f32; 2]>,
    /// Indices of the texture coordinates of each triangle; none if some triangle has none.
    pub texture_triangles: Vec<[u32; 3]>,
}

impl Faces {
    pub(super) fn add_vertex(
        &mut self,
        vertex: [f64; 3],
        place: Place,
        limits: &Limits,
    ) -> Result<(), Fault> {
        if vertex.iter().any(|c| !c.is_finite()) {
            return Err(Fault::at(place, "a coordinate is not finite"));
        }
        if self.vertices.len() >= limits.vertices.min(u32::MAX as usize) {
            return Err(too_many("vertices", limits.vertices));
        }
        self.vertices.push(vertex);
        Ok(())
    }

    /// Cuts a polygon into triangles around its first vertex.
    pub(super) fn add_polygon(
        &mut self,
        polygon: &[u32],
        place: Place,
        limits: &Limits,
    ) -> Result<(), Fault> {
        let [_, rest @ ..] = polygon else {
            return Err(Fault::at(place, "a face has no vertices"));
        };
        if rest.len() < 2 {
            return Err(Fault::at(
                place,
                format!("a face has {} vertices, it needs three", polygon.len()),
            ));
        }
        if self.triangles.len() + rest.len() - 1 > limits.triangles {
            return Err(too_many("triangles", limits.triangles));
        }
        self.triangles.extend(fan(polygon));
        Ok(())
    }
}

/// Triangles around the first corner of a polygon.
pub(super) fn fan(polygon: &[u32]) -> impl Iterator<Item = [u32; 3]> + '_ {
    let first = polygon.first().copied().unwrap_or(0);
    let rest = polygon.get(1..).unwrap_or(&[]);
    rest.windows(2).map(move |pair| [first, pair[0], pair[1]])
}

pub(super) fn too_many(what: &str, limit: usize) -> Fault {
    Fault::whole(format!("there are more than {limit} {what}"))
}
