//! Soft bodies of a scene, and their meshes.

use crate::cloth::{ClothPin, EDGE, MOST_VERTICES, held};
use crate::{Color, Scene};
use meniscus_projective::{Sheet, TetrahedralMesh};
use meniscus_shapes::Shape;

/// A soft body.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftBody {
    /// Name.
    pub name: String,
    /// Shape at rest and at the start.
    pub shape: Shape<3>,
    /// Length of the edges of its tetrahedra, in metres. Default: 0.8 of the spacing of particles.
    pub spacing: Option<f64>,
    /// Mass per volume, in kg/m³. Default: 1000.
    pub density: f64,
    /// Modulus of Young, in Pa. Default: 2e4.
    pub youngs_modulus: f64,
    /// Poisson's ratio. Default: 0.3.
    pub poisson_ratio: f64,
    /// Coefficient of friction with solids. Default: 0.3.
    pub friction: f64,
    /// Velocity at the start, in m/s.
    pub velocity: [f64; 3],
    /// What holds it.
    pub pins: Vec<ClothPin>,
    /// Colour in pictures.
    pub color: Option<Color>,
}

impl SoftBody {
    /// Length of the edges of the tetrahedra, among particles at a distance of `spacing`.
    pub fn edge(&self, spacing: f64) -> f64 {
        self.spacing.unwrap_or(EDGE * spacing)
    }

    /// Whether the mesh has a reasonable number of vertices.
    pub fn is_feasible(&self, spacing: f64) -> bool {
        let edge = self.edge(spacing);
        self.shape.bounds().is_some_and(|bounds| {
            let cells = (0..3).map(|axis| (bounds.high[axis] - bounds.low[axis]) / edge + 1.0);
            2.0 * cells.product::<f64>() <= MOST_VERTICES
        })
    }

    /// The mesh with its material and pins; nothing if it is not feasible.
    pub fn sheet(&self, spacing: f64) -> Sheet {
        let edge = self.edge(spacing);
        let mesh = match self.is_feasible(spacing) {
            true => TetrahedralMesh::of(&self.shape, edge).unwrap_or_default(),
            false => TetrahedralMesh::default(),
        };
        Sheet {
            name: self.name.clone(),
            pins: held(&self.pins, &mesh.vertices, edge),
            vertices: mesh.vertices,
            triangles: mesh.triangles,
            tetrahedra: mesh.tetrahedra,
            density: self.density,
            stretch: self.youngs_modulus,
            poisson_ratio: self.poisson_ratio,
            bend: 0.0,
            strain_limit: None,
            friction: self.friction,
            thickness: 0.25 * edge,
            velocity: self.velocity,
        }
    }
}

impl<const D: usize> Scene<D> {
    /// Distance to the soft bodies at the start.
    pub fn soft_distance(&self, x: [f64; D]) -> f64 {
        let place: [f64; 3] = std::array::from_fn(|axis| if axis < D { x[axis] } else { 0.0 });
        let distances = self.soft.iter().map(|soft| soft.shape.distance(place));
        distances.fold(f64::INFINITY, f64::min)
    }
}
