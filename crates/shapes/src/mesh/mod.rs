//! Solids bounded by triangles.

mod groups;
mod lattice;
mod make;
mod nesting;
mod part;
mod patch;
mod report;
mod search;
mod surface;
mod survey;
mod tree;
mod triangle;
mod weld;

pub use report::{MeshError, MeshReport};

use crate::bounds::Bounds;
use crate::vector::{direction_or, norm, scale, sub, up};
use lattice::Lattice;
use search::Nearest;
use std::fmt;
use tree::Tree;

/// Coordinates of vertices are at most this far from zero, in metres.
pub const FARTHEST: f64 = 1e6;
/// A mesh has at most so many triangles.
pub const MOST_TRIANGLES: usize = 10_000_000;
/// A mesh is made of at most so many vertices: three for each triangle, as files without shared vertices have.
pub const MOST_VERTICES: usize = 3 * MOST_TRIANGLES;
/// Nearer to the surface than this share of the diagonal, the normal of the face is taken.
const TOUCHING: f64 = 1e-9;

/// A solid bounded by triangles, with what it takes to ask it for distances.
///
/// The distance is exact, everywhere. A point is inside where the surface winds around it at least once, so that
/// parts that overlap are one solid, though inside of it the distance falls short of the true one, as in a
/// [union](crate::Shape::Union): surfaces count that are inside other parts. Holes are closed when the mesh is made, which
/// makes the number of turns a whole number everywhere: the side can't change but at the surface.
pub struct TriangleMesh {
    tree: Tree,
    lattice: Lattice,
}

impl TriangleMesh {
    /// Checks triangles, mends what can be mended, and prepares for queries.
    ///
    /// A triangle has the indices of its vertices, counter-clockwise seen from outside. Vertices at the same place
    /// become one; faces without area are dropped; faces that disagree with their neighbours, and parts that are
    /// inside out, are turned round, but for hollows in other parts; small holes are closed. The report has it all.
    pub fn new(
        vertices: &[[f64; 3]],
        triangles: &[[u32; 3]],
    ) -> Result<(Self, MeshReport), MeshError> {
        let (tree, report) = make::make(vertices, triangles)?;
        let lattice = Lattice::new(&tree);
        Ok((Self { tree, lattice }, report))
    }

    /// The vertices as they are used.
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.tree.vertices
    }

    /// The triangles as they are used, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.tree.triangles
    }

    /// The area of its surface.
    pub fn area(&self) -> f64 {
        let faces = 0..self.triangles().len() as u32;
        let doubled = faces.map(|face| norm(triangle::doubled_area(self.tree.corners(face))));
        0.5 * doubled.sum::<f64>()
    }

    /// The box around the mesh.
    pub fn bounds(&self) -> Bounds<3> {
        self.tree.bounds()
    }

    /// The signed distance from `x` to the surface, negative inside.
    pub fn distance(&self, x: [f64; 3]) -> f64 {
        self.signed(x, &self.nearest(x))
    }

    /// The signed distance if it is within `band` of the surface; farther away something of the same sign between
    /// `band` and the true distance, which takes no search.
    ///
    /// For grids, where most points are far from the surface by the width of their cells.
    pub fn distance_within(&self, x: [f64; 3], band: f64) -> f64 {
        if let Some(far) = self.lattice.far(x).filter(|far| far.abs() >= band) {
            return far;
        }
        let guess = self.tree.nearest_of(x, self.lattice.guess(x));
        let square = guess.square.min(band * band);
        let nearest = self.tree.nearest(x, Nearest { square, ..guess });
        self.signed(x, &nearest)
    }

    /// The unit vector in which the distance grows: away from the nearest point of the surface outside, toward it
    /// inside. At the surface it is the normal of a face.
    pub fn gradient(&self, x: [f64; 3]) -> [f64; 3] {
        let nearest = self.nearest(x);
        let bounds = self.bounds();
        let touching = TOUCHING * norm(sub(bounds.high, bounds.low));
        if nearest.square <= touching * touching {
            let corners = self.tree.corners(nearest.face);
            return direction_or(triangle::doubled_area(corners), up());
        }
        let away = direction_or(sub(x, nearest.point), up());
        if self.is_inside(x, &nearest) {
            scale(away, -1.0)
        } else {
            away
        }
    }

    /// How often the surface winds around `x`, up to a hundredth or so: one inside, zero outside, more where parts
    /// overlap.
    pub fn winding_number(&self, x: [f64; 3]) -> f64 {
        self.tree.winding_number(x)
    }

    fn nearest(&self, x: [f64; 3]) -> Nearest {
        let guess = self.lattice.guess(x);
        self.tree.nearest(x, self.tree.nearest_of(x, guess))
    }

    fn signed(&self, x: [f64; 3], nearest: &Nearest) -> f64 {
        let distance = nearest.square.sqrt();
        if self.is_inside(x, nearest) {
            -distance
        } else {
            distance
        }
    }

    fn is_inside(&self, x: [f64; 3], nearest: &Nearest) -> bool {
        self.bounds().contains(x)
            && nearest.square > 0.0
            && self
                .lattice
                .side(x, nearest)
                .unwrap_or_else(|| self.tree.winding_number(x) > 0.5)
    }
}

impl PartialEq for TriangleMesh {
    fn eq(&self, other: &Self) -> bool {
        self.vertices() == other.vertices() && self.triangles() == other.triangles()
    }
}

impl fmt::Debug for TriangleMesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TriangleMesh")
            .field("vertices", &self.vertices().len())
            .field("triangles", &self.triangles().len())
            .field("bounds", &self.bounds())
            .finish()
    }
}
