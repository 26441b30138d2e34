//! Thin walls of a scene.

use crate::Color;
use crate::cloth::{ClothShape, THICKNESS};
use meniscus_projective::{Pin, Sheet};
use meniscus_shapes::Motion;

/// A wall without thickness that a script moves, with liquid on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    /// Name.
    pub name: String,
    /// Its mesh at the start.
    pub shape: ClothShape,
    /// Motion from the place at the start.
    pub motion: Motion<3>,
    /// Colour in pictures.
    pub color: Option<Color>,
}

impl Shell {
    /// The mesh with its motion: cloth whose vertices are all held.
    pub fn sheet(&self, spacing: f64) -> Sheet {
        let mesh = self.shape.mesh(spacing).into_owned();
        let vertices = (0..mesh.vertices.len() as u32).collect();
        Sheet {
            name: self.name.clone(),
            pins: vec![Pin {
                vertices,
                motion: self.motion.clone(),
            }],
            vertices: mesh.vertices,
            triangles: mesh.triangles,
            tetrahedra: Vec::new(),
            // What is held has no use for a material.
            density: 1.0,
            stretch: 1.0,
            poisson_ratio: 0.0,
            bend: 0.0,
            strain_limit: None,
            friction: 0.0,
            thickness: THICKNESS * self.shape.edge(spacing),
            velocity: [0.0; 3],
        }
    }
}
