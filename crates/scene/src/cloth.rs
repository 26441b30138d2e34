//! Cloth of a scene, and its meshes.

use crate::{Color, Scene};
use meniscus_projective::{Pin, Sheet};
use meniscus_shapes::Motion;

/// Edges of the mesh of cloth over the spacing of particles: liquid passes between vertices that are farther apart.
const EDGE: f64 = 0.8;
/// Most vertices of a piece of cloth.
const MOST_VERTICES: f64 = 1e6;

/// A rectangle of cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloth {
    /// Name.
    pub name: String,
    /// One corner, in metres.
    pub corner: [f64; 3],
    /// The two sides from that corner, in metres.
    pub sides: [[f64; 3]; 2],
    /// Length of the edges of its mesh, in metres. Default: 0.8 of the spacing of particles.
    pub spacing: Option<f64>,
    /// Mass per area, in kg/m². Default: 0.3.
    pub density: f64,
    /// Stiffness against stretch, in N/m. Default: 1e4.
    pub stretch: f64,
    /// Stiffness against bending, in N m. Default: 1e-4.
    pub bend: f64,
    /// Largest strain of an edge. Default: none.
    pub strain_limit: Option<f64>,
    /// Coefficient of friction with solids. Default: 0.3.
    pub friction: f64,
    /// Least distance to other cloth, in metres. Default: a quarter of the edges.
    pub thickness: Option<f64>,
    /// Velocity at the start, in m/s.
    pub velocity: [f64; 3],
    /// What holds it.
    pub pins: Vec<ClothPin>,
    /// Colour in pictures.
    pub color: Option<Color>,
}

/// A part of the space whose vertices a script holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ClothPin {
    /// Lower corner of the box that holds the vertices, in metres.
    pub low: [f64; 3],
    /// Upper corner.
    pub high: [f64; 3],
    /// Motion from the place at the start.
    pub motion: Motion<3>,
}

impl ClothPin {
    fn holds(&self, x: [f64; 3], slack: f64) -> bool {
        (0..3).all(|axis| x[axis] >= self.low[axis] - slack && x[axis] <= self.high[axis] + slack)
    }
}

impl Cloth {
    /// Length of the edges of the mesh, among particles at a distance of `spacing`.
    pub fn edge(&self, spacing: f64) -> f64 {
        self.spacing.unwrap_or(EDGE * spacing)
    }

    /// Squares of the mesh along both sides.
    fn squares(&self, spacing: f64) -> [usize; 2] {
        let edge = self.edge(spacing);
        self.sides.map(|side| {
            let length = side.iter().map(|c| c * c).sum::<f64>().sqrt();
            (length / edge - 1e-6).ceil().max(1.0) as usize
        })
    }

    /// Number of vertices of the mesh.
    pub fn vertices(&self, spacing: f64) -> usize {
        let [m, n] = self.squares(spacing);
        (m + 1) * (n + 1)
    }

    /// Whether the mesh has a reasonable number of vertices.
    pub fn is_feasible(&self, spacing: f64) -> bool {
        let [m, n] = self.squares(spacing);
        (m as f64 + 1.0) * (n as f64 + 1.0) <= MOST_VERTICES
    }

    /// The mesh with its material and pins.
    pub fn sheet(&self, spacing: f64) -> Sheet {
        let [m, n] = self.squares(spacing);
        let edge = self.edge(spacing);
        let mut sheet = Sheet {
            name: self.name.clone(),
            vertices: Vec::with_capacity((m + 1) * (n + 1)),
            triangles: Vec::with_capacity(2 * m * n),
            tetrahedra: Vec::new(),
            density: self.density,
            stretch: self.stretch,
            bend: self.bend,
            strain_limit: self.strain_limit,
            friction: self.friction,
            thickness: self.thickness.unwrap_or(0.25 * edge),
            velocity: self.velocity,
            pins: Vec::new(),
        };
        for j in 0..=n {
            for i in 0..=m {
                let [s, t] = [i as f64 / m as f64, j as f64 / n as f64];
                sheet.vertices.push(std::array::from_fn(|axis| {
                    self.corner[axis] + s * self.sides[0][axis] + t * self.sides[1][axis]
                }));
            }
        }
        let at = |i: usize, j: usize| (j * (m + 1) + i) as u32;
        for j in 0..n {
            for i in 0..m {
                let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                // Diagonals alternate, so that no direction is special.
                if (i + j) % 2 == 0 {
                    sheet.triangles.extend([[a, b, c], [a, c, d]]);
                } else {
                    sheet.triangles.extend([[a, b, d], [b, c, d]]);
                }
            }
        }
        for pin in &self.pins {
            // A point holds the vertices within half an edge.
            let slack = if pin.low == pin.high {
                0.5 * edge
            } else {
                1e-9
            };
            let numbers = 0..sheet.vertices.len() as u32;
            let vertices = numbers.filter(|&v| pin.holds(sheet.vertices[v as usize], slack));
            sheet.pins.push(Pin {
                vertices: vertices.collect(),
                motion: pin.motion.clone(),
            });
        }
        sheet
    }

    /// Texture coordinates of the vertices: from 0 to 1 along both sides.
    pub fn texture(&self, spacing: f64) -> Vec<[f32; 2]> {
        let [m, n] = self.squares(spacing);
        let mut found = Vec::with_capacity((m + 1) * (n + 1));
        for j in 0..=n {
            for i in 0..=m {
                found.push([i as f32 / m as f32, j as f32 / n as f32]);
            }
        }
        found
    }
}

impl<const D: usize> Scene<D> {
    /// Meshes of the cloth, with their materials and pins.
    pub fn sheets(&self) -> Vec<Sheet> {
        let spacing = self.particle_spacing();
        self.cloth
            .iter()
            .map(|cloth| cloth.sheet(spacing))
            .collect()
    }
}
