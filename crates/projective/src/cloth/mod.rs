//! Cloth and soft bodies: meshes with elastic energies in the same optimisation as the liquid.
//!
//! The energies are those of projective dynamics ([`elastic`]), so that the matrix `H` of inertia and elasticity is constant
//! and factored once per length of step. A round alternates a few local and global steps with a solve for all multipliers:
//! pressures of the liquid, contacts and strain limits see the mesh through `H⁻¹` ([`step`]).

mod contacts;
mod crossing;
mod elastic;
mod factor;
mod grid;
mod mesh;
mod rows;
pub(crate) mod sides;
pub(crate) mod step;
mod swept;
mod tetrahedra;
mod vector;

use std::collections::BTreeMap;

use meniscus_shapes::{Motion, Pose};

use elastic::{Elastic, Material, assemble_free};
use factor::{Entries, Factor};
use vector::{V3, length, plus, sub};

pub use crossing::{Crossing, crossing};
pub use mesh::{MeshFault, Sheet, check};
pub use tetrahedra::TetrahedralMesh;

/// Vertices that a script holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Numbers of the vertices.
    pub vertices: Vec<u32>,
    /// Motion. The vertices move with its frame from where they are at the start, the time of its first keyframe.
    pub motion: Motion<3>,
}

/// Frame of a pin.
#[derive(Clone, Debug)]
struct PinFrame {
    motion: Motion<3>,
    /// Inverse of the pose at the start.
    at_start: Pose<3>,
}

/// An edge of the surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    ends: [u32; 2],
    rest_length: f64,
    /// Longest length over that at rest; infinite without a limit.
    limit: f64,
}

/// Cloth and soft bodies.
#[derive(Clone, Debug)]
pub struct Cloth {
    sheets: Vec<Sheet>,
    /// First vertex of each sheet, and one more.
    first_vertex: Vec<usize>,
    rest: Vec<V3>,
    pub(crate) position: Vec<V3>,
    pub(crate) velocity: Vec<V3>,
    mass: Vec<f64>,
    /// The pin of each vertex.
    pinned: Vec<Option<u32>>,
    pins: Vec<PinFrame>,
    /// Number among the free vertices.
    number: Vec<Option<u32>>,
    free: Vec<u32>,
    elastic: Elastic,
    edges: Vec<Edge>,
    triangles: Vec<[u32; 3]>,
    friction: Vec<f64>,
    thickness: Vec<f64>,
    /// Whether a vertex is on the surface.
    is_surface: Vec<bool>,
    /// Volume of each vertex in densities of the liquid, over that of a particle.
    share: Vec<f64>,
    surface_share: step::SurfaceShare,
    mean_edge: f64,
    /// Multipliers of the strain limits of the edges.
    pub(crate) edge_multiplier: Vec<f64>,
    /// Multipliers of the contacts of the vertices with solids: normal and friction as one vector.
    pub(crate) contact_multiplier: Vec<V3>,
    /// Force of all pins on the cloth over the last step, in N.
    pub(crate) pin_force: V3,
    matrix: Option<Matrix>,
}

/// Matrix of inertia and elasticity for one length of step.
#[derive(Clone, Debug)]
struct Matrix {
    dt: f64,
    factor: Factor,
    /// Diagonal, for all vertices; infinite for pinned ones.
    diagonal: Vec<f64>,
}

/// Largest thickness, in mean edge lengths.
const THICKEST: f64 = 0.25;

/// The length of a step for the matrix: rounded, so that steps that differ by rounding only have the same bits of the matrix.
fn rounded(dt: f64) -> f64 {
    f64::from(dt as f32)
}

impl Cloth {
    /// Cloth from sheets, among particles at a distance of `spacing`.
    ///
    /// # Errors
    /// What is wrong with the mesh of which sheet.
    pub fn new(sheets: Vec<Sheet>, spacing: f64) -> Result<Self, (usize, MeshFault)> {
        let mut cloth = Self {
            sheets: Vec::new(),
            first_vertex: vec![0],
            rest: Vec::new(),
            position: Vec::new(),
            velocity: Vec::new(),
            mass: Vec::new(),
            pinned: Vec::new(),
            pins: Vec::new(),
            number: Vec::new(),
            free: Vec::new(),
            elastic: Elastic::default(),
            edges: Vec::new(),
            triangles: Vec::new(),
            friction: Vec::new(),
            thickness: Vec::new(),
            is_surface: Vec::new(),
            share: Vec::new(),
            surface_share: step::SurfaceShare::new(spacing),
            mean_edge: 0.0,
            edge_multiplier: Vec::new(),
            contact_multiplier: Vec::new(),
            pin_force: [0.0; 3],
            matrix: None,
        };
        for (k, sheet) in sheets.iter().enumerate() {
            cloth.add(sheet).map_err(|fault| (k, fault))?;
        }
        let n = cloth.rest.len();
        for v in 0..n {
            let is_free = cloth.pinned[v].is_none();
            cloth
                .number
                .push(is_free.then_some(cloth.free.len() as u32));
            if is_free {
                cloth.free.push(v as u32);
            }
        }
        let lengths = cloth.edges.iter().map(|edge| edge.rest_length).sum::<f64>();
        cloth.mean_edge = lengths / cloth.edges.len().max(1) as f64;
        cloth.position.clone_from(&cloth.rest);
        cloth.edge_multiplier = vec![0.0; cloth.edges.len()];
        cloth.contact_multiplier = vec![[0.0; 3]; n];
        cloth.share = step::shares(&cloth, spacing);
        cloth.sheets = sheets;
        Ok(cloth)
    }

    fn add(&mut self, sheet: &Sheet) -> Result<(), MeshFault> {
        let first = self.rest.len() as u32;
        let edges = mesh::edges(&sheet.vertices, &sheet.triangles)?;
        self.rest.extend(&sheet.vertices);
        let n = sheet.vertices.len();
        self.velocity.extend(vec![sheet.velocity; n]);
        self.mass.extend(vec![0.0; n]);
        self.pinned.extend(vec![None; n]);
        self.friction.extend(vec![sheet.friction; n]);
        self.is_surface.extend(vec![false; n]);
        let shell = if sheet.tetrahedra.is_empty() {
            sheet.stretch
        } else {
            0.0
        };
        for (k, triangle) in sheet.triangles.iter().enumerate() {
            let triangle = triangle.map(|v| v + first);
            for v in triangle {
                self.is_surface[v as usize] = true;
            }
            if sheet.tetrahedra.is_empty() {
                let area = self
                    .elastic
                    .add_triangle(triangle, &self.rest, shell)
                    .ok_or(MeshFault::NoArea(k))?;
                for v in triangle {
                    self.mass[v as usize] += sheet.density * area / 3.0;
                }
            }
            self.triangles.push(triangle);
        }
        let material = Material {
            stiffness: sheet.stretch,
            poisson_ratio: sheet.poisson_ratio,
        };
        for (k, tetrahedron) in sheet.tetrahedra.iter().enumerate() {
            let tetrahedron = tetrahedron.map(|v| v + first);
            let volume = self
                .elastic
                .add_tetrahedron(tetrahedron, &self.rest, material)
                .ok_or(MeshFault::NoArea(k))?;
            for v in tetrahedron {
                self.mass[v as usize] += sheet.density * volume / 4.0;
            }
        }
        let lengths = edges.iter().map(|edge| {
            let [a, b] = edge.ends.map(|v| sheet.vertices[v as usize]);
            length(sub(b, a))
        });
        let mean = lengths.sum::<f64>() / edges.len().max(1) as f64;
        // What belongs to neighbours is no contact.
        let thickness = sheet.thickness.min(THICKEST * mean);
        self.thickness.extend(vec![thickness; n]);
        let mut opposite = BTreeMap::new();
        for edge in edges {
            let ends = edge.ends.map(|v| v + first);
            let [a, b] = ends.map(|v| self.rest[v as usize]);
            self.edges.push(Edge {
                ends,
                rest_length: length(sub(b, a)),
                limit: sheet
                    .strain_limit
                    .map_or(f64::INFINITY, |limit| 1.0 + limit),
            });
            opposite.insert(ends, edge.opposite);
        }
        if sheet.bend > 0.0 {
            for triangle in &sheet.triangles {
                let corners = triangle.map(|v| v + first);
                let across = std::array::from_fn(|side| {
                    let (a, b) = (corners[side], corners[(side + 1) % 3]);
                    let own = corners[(side + 2) % 3] - first;
                    let [c, d] = opposite[&[a.min(b), a.max(b)]]?;
                    Some(if c == own { d } else { c } + first)
                });
                self.elastic
                    .add_bend(corners, across, &self.rest, sheet.bend);
            }
        }
        for pin in &sheet.pins {
            let start = match &pin.motion {
                Motion::Keyframes { keys, .. } => keys.first().map_or(0.0, |key| key.time),
                _ => 0.0,
            };
            for &v in &pin.vertices {
                if v as usize >= n {
                    return Err(MeshFault::NoSuchVertex);
                }
                self.pinned[(v + first) as usize].get_or_insert(self.pins.len() as u32);
            }
            self.pins.push(PinFrame {
                at_start: pin.motion.world_from_body(start).inverse(),
                motion: pin.motion.clone(),
            });
        }
        if let Some(v) = (0..n).find(|&v| self.mass[first as usize + v] <= 0.0) {
            return Err(MeshFault::Loose(v));
        }
        self.first_vertex.push(self.rest.len());
        Ok(())
    }

    /// Sheets that it was made of.
    pub fn sheets(&self) -> &[Sheet] {
        &self.sheets
    }

    /// Positions of the vertices of a sheet.
    pub fn positions(&self, sheet: usize) -> &[[f64; 3]] {
        &self.position[self.first_vertex[sheet]..self.first_vertex[sheet + 1]]
    }

    /// Velocities of the vertices of a sheet.
    pub fn velocities(&self, sheet: usize) -> &[[f64; 3]] {
        &self.velocity[self.first_vertex[sheet]..self.first_vertex[sheet + 1]]
    }

    /// Positions of the vertices of the surface of a sheet.
    pub fn surface_positions(&self, sheet: usize) -> &[[f64; 3]] {
        &self.positions(sheet)[..self.sheets[sheet].surface_vertices()]
    }

    /// Velocities of the vertices of the surface of a sheet.
    pub fn surface_velocities(&self, sheet: usize) -> &[[f64; 3]] {
        &self.velocities(sheet)[..self.sheets[sheet].surface_vertices()]
    }

    /// Mass of everything, in kg.
    pub fn mass(&self) -> f64 {
        self.mass.iter().sum()
    }

    /// Force of all pins on the cloth over the last step, in N.
    pub fn pin_force(&self) -> [f64; 3] {
        self.pin_force
    }

    /// Largest stretch of an edge: its length over that at rest.
    pub fn largest_stretch(&self) -> f64 {
        let stretches = self.edges.iter().map(|edge| {
            let [a, b] = edge.ends.map(|v| self.position[v as usize]);
            length(sub(b, a)) / edge.rest_length
        });
        stretches.fold(0.0, f64::max)
    }

    /// Largest speed of a vertex, in m/s; infinite if one is not finite.
    pub fn max_speed(&self) -> f64 {
        let speeds = self.velocity.iter().map(|v| length(*v));
        speeds.fold(0.0, |max, speed| match speed.is_finite() {
            true => speed.max(max),
            false => f64::INFINITY,
        })
    }

    /// Total momentum, in N s.
    pub fn momentum(&self) -> [f64; 3] {
        let moving = self.velocity.iter().zip(&self.mass);
        moving.fold([0.0; 3], |sum, (v, m)| plus(sum, *m, *v))
    }

    /// Kinetic energy, in J.
    pub fn kinetic_energy(&self) -> f64 {
        let moving = self.velocity.iter().zip(&self.mass);
        moving
            .map(|(v, m)| 0.5 * m * vector::dot(*v, *v))
            .sum::<f64>()
    }

    /// Elastic energy, in J.
    pub fn elastic_energy(&self) -> f64 {
        self.elastic.energy(&self.position)
    }

    /// Potential energy in the acceleration `gravity` with respect to the origin, in J.
    pub fn potential_energy(&self, gravity: [f64; 3]) -> f64 {
        let placed = self.position.iter().zip(&self.mass);
        -placed
            .map(|(x, m)| m * vector::dot(*x, gravity))
            .sum::<f64>()
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Numbers of the state that later steps depend on.
    fn state_numbers(&self) -> impl Iterator<Item = &f64> {
        let vectors = [&self.position, &self.velocity, &self.contact_multiplier];
        let vectors = vectors.into_iter().flatten().flatten();
        vectors.chain(&self.edge_multiplier)
    }

    /// Length of the state, in bytes.
    pub(crate) fn state_len(&self) -> usize {
        8 * self.state_numbers().count()
    }

    /// The state that later steps depend on.
    pub(crate) fn state(&self) -> Vec<u8> {
        self.state_numbers().flat_map(|x| x.to_le_bytes()).collect()
    }

    /// Sets the state from [`state_len`](Self::state_len) bytes; `None` if a number is not finite.
    pub(crate) fn set_state(&mut self, bytes: &[u8]) -> Option<()> {
        let (chunks, _) = bytes.as_chunks::<8>();
        let mut numbers = chunks.iter().map(|bytes| f64::from_le_bytes(*bytes));
        let vectors = [
            &mut self.position,
            &mut self.velocity,
            &mut self.contact_multiplier,
        ];
        let vectors = vectors.into_iter().flatten().flatten();
        for own in vectors.chain(&mut self.edge_multiplier) {
            *own = numbers.next().filter(|x| x.is_finite())?;
        }
        Some(())
    }

    /// Place of a pinned vertex.
    fn pin_place(&self, vertex: usize, time: f64) -> Option<V3> {
        let pin = &self.pins[self.pinned[vertex]? as usize];
        let placed = pin.at_start.apply(self.rest[vertex]);
        Some(pin.motion.world_from_body(time).apply(placed))
    }

    /// Makes the matrix for steps of `dt` seconds, unless it is there.
    pub(crate) fn prepare(&mut self, dt: f64) {
        let dt = rounded(dt);
        if self.matrix.as_ref().is_some_and(|matrix| matrix.dt == dt) {
            return;
        }
        let mut entries = Entries::new(self.free.len());
        let mut diagonal = vec![f64::INFINITY; self.rest.len()];
        for (number, &v) in self.free.iter().enumerate() {
            let inertia = self.mass[v as usize] / (dt * dt);
            entries.add(number, number, inertia);
            diagonal[v as usize] = inertia;
        }
        assemble_free(&self.elastic, &self.number, &mut entries);
        self.elastic.assemble(1.0, &mut |a, b, value| {
            if a == b && self.number[a as usize].is_some() {
                diagonal[a as usize] += value;
            }
        });
        // Inertia on the diagonal makes it positive definite.
        let factor = Factor::new(&entries).unwrap_or_default();
        self.matrix = Some(Matrix {
            dt,
            factor,
            diagonal,
        });
    }
}

impl Matrix {
    /// `H⁻¹ b` at the free vertices, zero at the pinned ones.
    fn response(&self, free: &[u32], b: &mut [V3], is_pinned: &[Option<u32>]) {
        let mut right: Vec<V3> = free.iter().map(|&v| b[v as usize]).collect();
        self.factor.solve(&mut right);
        for (&v, x) in free.iter().zip(right) {
            b[v as usize] = x;
        }
        for (b, pinned) in b.iter_mut().zip(is_pinned) {
            if pinned.is_some() {
                *b = [0.0; 3];
            }
        }
    }
}
