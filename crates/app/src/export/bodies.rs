//! Solids, rigid bodies and cloth of a frame as one triangle mesh, in which every body keeps its number from frame to frame.

use super::Up;
use crate::surface::solids::{self, SolidMesh};
use crate::surface::{Surface, upright};
use meniscus_scene::{MovingMesh, Scene, Texture};
use meniscus_store::cache::{BodyState, Frame};
use std::array::from_fn;
use std::ops::Range;

/// Part of a mesh that belongs to one body.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Number of the body in the scene, from 0: first the solids, then the bodies.
    pub body: i32,
    /// Its name: letters, digits and underscores.
    pub name: String,
    /// Its vertices.
    pub vertices: Range<usize>,
    /// Its triangles.
    pub triangles: Range<usize>,
    /// Texture coordinates of its triangles; none but for cloth.
    pub texture: Texture,
}

/// Meshes of the solids and bodies of a scene, with normals, ready to be placed.
#[derive(Clone, Debug)]
pub struct BodyMeshes {
    meshes: Vec<(SolidMesh, Vec<[f32; 3]>)>,
    moving: MovingMeshes,
}

impl BodyMeshes {
    /// Those of a scene.
    pub fn of<const D: usize>(scene: &Scene<D>) -> Self {
        let meshes = solids::of_scene(scene);
        BodyMeshes {
            moving: MovingMeshes::of(scene),
            meshes: meshes
                .into_iter()
                .map(|mesh| {
                    let normals = vertex_normals(&mesh.positions, &mesh.triangles);
                    (mesh, normals)
                })
                .collect(),
        }
    }

    /// Number of vertices of all of them.
    pub fn vertices(&self) -> usize {
        self.meshes
            .iter()
            .map(|(mesh, _)| mesh.positions.len())
            .sum()
    }

    /// The bodies of a frame at their poses, with the velocities of their vertices. Those that were removed are left out.
    pub fn placed<const D: usize>(
        &self,
        scene: &Scene<D>,
        frame: &Frame<D>,
        up: Up,
    ) -> (Surface, Vec<Part>) {
        let states = scene.match_bodies(&frame.bodies);
        let (mut surface, mut parts) = (Surface::default(), Vec::new());
        for (mesh, normals) in &self.meshes {
            if let Some(state) = states[mesh.solid] {
                parts.push(place(&mut surface, mesh, normals, state, up));
            }
        }
        self.moving.place(&mut surface, &mut parts, frame, up);
        (surface, parts)
    }
}

/// Cloth and soft bodies of a scene.
#[derive(Clone, Debug)]
pub struct MovingMeshes {
    meshes: Vec<MovingMesh>,
    /// Number of the first of them, after the bodies.
    first: usize,
}

impl MovingMeshes {
    /// Those of a scene.
    pub fn of<const D: usize>(scene: &Scene<D>) -> Self {
        Self {
            meshes: scene.moving_meshes(),
            first: scene.solids.len() + scene.bodies.len(),
        }
    }

    /// Those of a frame as one mesh, and its parts.
    pub fn placed<const D: usize>(&self, frame: &Frame<D>, up: Up) -> (Surface, Vec<Part>) {
        let (mut surface, mut parts) = (Surface::default(), Vec::new());
        self.place(&mut surface, &mut parts, frame, up);
        (surface, parts)
    }

    /// Adds those of a frame to a mesh.
    fn place<const D: usize>(
        &self,
        surface: &mut Surface,
        parts: &mut Vec<Part>,
        frame: &Frame<D>,
        up: Up,
    ) {
        for (k, moving) in self.meshes.iter().enumerate() {
            let mesh = frame.meshes.iter().find(|mesh| mesh.name == moving.name);
            let Some(mesh) = mesh.filter(|mesh| mesh.positions.len() == moving.vertices) else {
                continue;
            };
            let (first, from) = (surface.positions.len(), surface.triangles.len());
            let normals = vertex_normals(&mesh.positions, &moving.triangles);
            let lifted = |vectors: &[[f32; 3]]| -> Vec<[f32; 3]> {
                vectors.iter().map(|x| up.vector(*x)).collect()
            };
            surface.positions.extend(lifted(&mesh.positions));
            surface.velocities.extend(lifted(&mesh.velocities));
            surface.normals.extend(lifted(&normals));
            let moved = |triangle: &[u32; 3]| triangle.map(|v| v + first as u32);
            surface.triangles.extend(moving.triangles.iter().map(moved));
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            parts.push(Part {
                body: (self.first + k) as i32,
                name: moving.name.chars().map(plain).collect(),
                vertices: first..surface.positions.len(),
                triangles: from..surface.triangles.len(),
                texture: moving.texture.clone(),
            });
        }
    }
}

/// Adds a body at its pose to a mesh.
fn place<const D: usize>(
    surface: &mut Surface,
    mesh: &SolidMesh,
    normals: &[[f32; 3]],
    state: &BodyState<D>,
    up: Up,
) -> Part {
    let (rotation, translation) = solids::pose(state);
    let (origin, spin) = (upright(state.velocity), spin(state));
    let turned = |x: &[f32; 3]| -> [f64; 3] {
        from_fn(|i| (0..3).map(|j| rotation[i][j] * f64::from(x[j])).sum())
    };
    let single = |x: [f64; 3]| up.vector(x.map(|c| c as f32));
    let first = surface.positions.len();
    for (x, normal) in mesh.positions.iter().zip(normals) {
        let arm = turned(x);
        let velocity = from_fn(|i| origin[i] + cross(spin, arm)[i]);
        let place = from_fn(|i| translation[i] + arm[i]);
        surface.positions.push(single(place));
        surface.velocities.push(single(velocity));
        surface.normals.push(single(turned(normal)));
    }
    let from = surface.triangles.len();
    let moved = |triangle: &[u32; 3]| triangle.map(|v| v + first as u32);
    surface.triangles.extend(mesh.triangles.iter().map(moved));
    Part {
        body: mesh.solid as i32,
        name: mesh.name.clone(),
        vertices: first..surface.positions.len(),
        triangles: from..surface.triangles.len(),
        texture: Texture::default(),
    }
}

/// Angular velocity of a body in 3D, upright: in 2D the plane is that of x and z, so that the axis is -y.
pub fn spin<const D: usize>(state: &BodyState<D>) -> [f64; 3] {
    lifted_axis::<D>(state.angular_velocity)
}

/// An angular velocity or a torque in 3D, upright.
pub fn lifted_axis<const D: usize>(axis: [f64; 3]) -> [f64; 3] {
    match D {
        2 => [0.0, -axis[2], 0.0],
        _ => axis,
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

/// Unit normals of vertices: means over their triangles by area.
pub(crate) fn vertex_normals(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[f32; 3]> {
    let mut sums = vec![[0.0f64; 3]; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize].map(f64::from));
        let normal = cross(from_fn(|i| b[i] - a[i]), from_fn(|i| c[i] - a[i]));
        for &vertex in triangle {
            let sum = &mut sums[vertex as usize];
            *sum = from_fn(|i| sum[i] + normal[i]);
        }
    }
    let unit = |sum: [f64; 3]| {
        let length = sum.iter().map(|c| c * c).sum::<f64>().sqrt();
        match length > 0.0 {
            true => sum.map(|c| (c / length) as f32),
            false => [0.0, 0.0, 1.0],
        }
    };
    sums.into_iter().map(unit).collect()
}
