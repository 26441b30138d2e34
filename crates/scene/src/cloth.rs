//! Cloth of a scene, and its meshes.

use crate::cloth_mesh::{ClothMesh, Texture};
use crate::{Color, Scene};
use meniscus_projective::{Pin, Sheet};
use meniscus_shapes::Motion;
use std::borrow::Cow;
use std::sync::Arc;

/// Edges of the mesh of cloth over the spacing of particles: liquid passes between vertices that are farther apart.
pub(crate) const EDGE: f64 = 0.8;
/// Thickness over the length of the edges, where the scene has none.
pub(crate) const THICKNESS: f64 = 0.25;
/// Most vertices of a piece of cloth or a soft body.
pub(crate) const MOST_VERTICES: f64 = 1e6;

/// A piece of cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloth {
    /// Name.
    pub name: String,
    /// Its mesh at rest and at the start.
    pub shape: ClothShape,
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

/// Where the mesh of cloth comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ClothShape {
    /// A rectangle.
    Rectangle {
        /// One corner, in metres.
        corner: [f64; 3],
        /// The two sides from that corner, in metres.
        sides: [[f64; 3]; 2],
        /// Length of the edges of its mesh, in metres. Default: 0.8 of the spacing of particles.
        spacing: Option<f64>,
    },
    /// A mesh from a file.
    Mesh(Arc<ClothMesh>),
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

/// Squares of the mesh of a rectangle along both sides.
fn squares(sides: &[[f64; 3]; 2], edge: f64) -> [usize; 2] {
    sides.map(|side| {
        let length = side.iter().map(|c| c * c).sum::<f64>().sqrt();
        (length / edge - 1e-6).ceil().max(1.0) as usize
    })
}

/// The mesh of a rectangle.
fn rectangle(corner: &[f64; 3], sides: &[[f64; 3]; 2], edge: f64) -> ClothMesh {
    let [m, n] = squares(sides, edge);
    let mut mesh = ClothMesh {
        vertices: Vec::with_capacity((m + 1) * (n + 1)),
        triangles: Vec::with_capacity(2 * m * n),
        texture: Texture::default(),
    };
    for j in 0..=n {
        for i in 0..=m {
            let [s, t] = [i as f64 / m as f64, j as f64 / n as f64];
            mesh.vertices.push(std::array::from_fn(|axis| {
                corner[axis] + s * sides[0][axis] + t * sides[1][axis]
            }));
            let pair = [i as f32 / m as f32, j as f32 / n as f32];
            mesh.texture.coordinates.push(pair);
        }
    }
    let at = |i: usize, j: usize| (j * (m + 1) + i) as u32;
    for j in 0..n {
        for i in 0..m {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            // Diagonals alternate, so that no direction is special.
            if (i + j) % 2 == 0 {
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                mesh.triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    mesh.texture.triangles.clone_from(&mesh.triangles);
    mesh
}

/// The pins of the vertices that they hold.
pub(crate) fn held(pins: &[ClothPin], vertices: &[[f64; 3]], edge: f64) -> Vec<Pin> {
    let held = |pin: &ClothPin| {
        // A point holds the vertices within half an edge.
        let is_point = pin.low == pin.high;
        let slack = if is_point { 0.5 * edge } else { 1e-9 };
        let numbers = 0..vertices.len() as u32;
        let vertices = numbers.filter(|&v| pin.holds(vertices[v as usize], slack));
        Pin {
            vertices: vertices.collect(),
            motion: pin.motion.clone(),
        }
    };
    pins.iter().map(held).collect()
}

impl ClothShape {
    /// Length of the edges of the mesh, among particles at a distance of `spacing`: the mean one of a mesh from a file.
    pub fn edge(&self, spacing: f64) -> f64 {
        match self {
            Self::Rectangle { spacing: own, .. } => own.unwrap_or(EDGE * spacing),
            Self::Mesh(mesh) => mesh.mean_edge(),
        }
    }

    /// Whether the mesh has a reasonable number of vertices.
    pub fn is_feasible(&self, spacing: f64) -> bool {
        match self {
            Self::Rectangle { sides, .. } => {
                let [m, n] = squares(sides, self.edge(spacing));
                (m as f64 + 1.0) * (n as f64 + 1.0) <= MOST_VERTICES
            }
            Self::Mesh(mesh) => mesh.vertices.len() as f64 <= MOST_VERTICES,
        }
    }

    /// The mesh with its texture coordinates.
    pub fn mesh(&self, spacing: f64) -> Cow<'_, ClothMesh> {
        match self {
            Self::Rectangle { corner, sides, .. } => {
                Cow::Owned(rectangle(corner, sides, self.edge(spacing)))
            }
            Self::Mesh(mesh) => Cow::Borrowed(mesh),
        }
    }
}

impl Cloth {
    /// The mesh with its material and pins.
    pub fn sheet(&self, spacing: f64) -> Sheet {
        let edge = self.shape.edge(spacing);
        let mesh = self.shape.mesh(spacing).into_owned();
        Sheet {
            name: self.name.clone(),
            pins: held(&self.pins, &mesh.vertices, edge),
            vertices: mesh.vertices,
            triangles: mesh.triangles,
            tetrahedra: Vec::new(),
            density: self.density,
            stretch: self.stretch,
            poisson_ratio: 0.0,
            bend: self.bend,
            strain_limit: self.strain_limit,
            friction: self.friction,
            thickness: self.thickness.unwrap_or(THICKNESS * edge),
            velocity: self.velocity,
        }
    }
}

/// A mesh of a scene whose vertices move, as frames have them.
#[derive(Clone, Debug, PartialEq)]
pub struct MovingMesh {
    /// Name in the scene and in frames.
    pub name: String,
    /// Number of vertices.
    pub vertices: usize,
    /// Triangles, counter-clockwise seen from outside those that have an inside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates, if there are any.
    pub texture: Texture,
    /// Colour in pictures.
    pub color: Option<Color>,
}

impl<const D: usize> Scene<D> {
    /// Whether the scene has meshes that take part in the particle method: cloth, soft bodies or thin walls.
    pub fn has_sheets(&self) -> bool {
        !self.cloth.is_empty() || !self.soft.is_empty() || !self.shells.is_empty()
    }

    /// Meshes of the cloth, then of the soft bodies, then of the thin walls, with their materials and pins.
    pub fn sheets(&self) -> Vec<Sheet> {
        let spacing = self.particle_spacing();
        let cloth = self.cloth.iter().map(|cloth| cloth.sheet(spacing));
        let soft = self.soft.iter().map(|soft| soft.sheet(spacing));
        let shells = self.shells.iter().map(|shell| shell.sheet(spacing));
        cloth.chain(soft).chain(shells).collect()
    }

    /// The same meshes without their materials; of soft bodies, the surfaces.
    pub fn moving_meshes(&self) -> Vec<MovingMesh> {
        let spacing = self.particle_spacing();
        let thin = |name: &str, shape: &ClothShape, color: Option<Color>| {
            let mesh = shape.mesh(spacing).into_owned();
            MovingMesh {
                name: name.to_owned(),
                vertices: mesh.vertices.len(),
                triangles: mesh.triangles,
                texture: mesh.texture,
                color,
            }
        };
        let cloth = self.cloth.iter();
        let cloth = cloth.map(|cloth| thin(&cloth.name, &cloth.shape, cloth.color));
        let shells = self.shells.iter();
        let shells = shells.map(|shell| thin(&shell.name, &shell.shape, shell.color));
        let soft = self.soft.iter().map(|soft| {
            let sheet = soft.sheet(spacing);
            MovingMesh {
                name: soft.name.clone(),
                vertices: sheet.surface_vertices(),
                triangles: sheet.triangles,
                texture: Texture::default(),
                color: soft.color,
            }
        });
        cloth.chain(soft).chain(shells).collect()
    }
}
