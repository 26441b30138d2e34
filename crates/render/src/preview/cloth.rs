//! Cloth: triangles drawn into a depth buffer, which joins the layers of the solids.

use super::camera::Camera;
use super::sphere_tracing::Layer;
use super::vector::{Vec3, cross, dot, normalize, scale, sub};
use meniscus_scene::Material;

/// Colour of cloth without one of its own.
const CLOTH: Vec3 = [0.62, 0.16, 0.10];

/// A mesh to draw.
#[derive(Clone, Debug)]
pub struct Drape {
    /// Positions of the vertices.
    pub positions: Vec<[f32; 3]>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Linear colour.
    pub colour: Option<Vec3>,
}

/// The nearest cloth of every pixel.
pub(super) struct Drapes {
    width: usize,
    /// Depth along the camera's axis, normal and colour.
    nearest: Vec<Option<(f32, Vec3, Vec3)>>,
}

impl Drapes {
    /// Draws meshes.
    pub fn new(meshes: &[Drape], camera: &Camera, size: (usize, usize)) -> Self {
        let mut drapes = Self {
            width: size.0,
            nearest: Vec::new(),
        };
        if meshes.is_empty() {
            return drapes;
        }
        drapes.nearest = vec![None; size.0 * size.1];
        for mesh in meshes {
            let colour = mesh.colour.unwrap_or(CLOTH);
            // Normals of the vertices, so that folds look smooth.
            let mut normals = vec![[0.0; 3]; mesh.positions.len()];
            for triangle in &mesh.triangles {
                let [a, b, c] = triangle.map(|v| mesh.positions[v as usize]);
                let normal = cross(sub(b, a), sub(c, a));
                for &v in triangle {
                    let sum = &mut normals[v as usize];
                    *sum = std::array::from_fn(|k| sum[k] + normal[k]);
                }
            }
            for triangle in &mesh.triangles {
                let corners = triangle.map(|v| mesh.positions[v as usize]);
                let bends = triangle.map(|v| normalize(normals[v as usize]));
                drapes.triangle(corners, bends, colour, camera, size);
            }
        }
        drapes
    }

    fn triangle(
        &mut self,
        corners: [Vec3; 3],
        normals: [Vec3; 3],
        colour: Vec3,
        camera: &Camera,
        size: (usize, usize),
    ) {
        let spots = corners.map(|x| camera.project(x));
        let [Some((a, za)), Some((b, zb)), Some((c, zc))] = spots else {
            return;
        };
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let range = |k: usize, end: usize| {
            let low = a[k].min(b[k]).min(c[k]).floor().max(0.0) as usize;
            let high = a[k].max(b[k]).max(c[k]).ceil().max(0.0) as usize;
            low..(high + 1).min(end)
        };
        for y in range(1, size.1) {
            for x in range(0, size.0) {
                let p = [x as f32 + 0.5, y as f32 + 0.5];
                let side = |u: [f32; 2], v: [f32; 2]| {
                    ((v[0] - u[0]) * (p[1] - u[1]) - (v[1] - u[1]) * (p[0] - u[0])) / area
                };
                let weights = [side(b, c), side(c, a), side(a, b)];
                if weights.iter().any(|w| *w < 0.0) {
                    continue;
                }
                // Depths are linear in their inverses.
                let depth = 1.0 / (weights[0] / za + weights[1] / zb + weights[2] / zc);
                let at = y * self.width + x;
                if self.nearest[at].is_none_or(|(nearest, _, _)| depth < nearest) {
                    let normal = std::array::from_fn(|k| {
                        (0..3)
                            .map(|corner| weights[corner] * normals[corner][k])
                            .sum()
                    });
                    self.nearest[at] = Some((depth, normalize(normal), colour));
                }
            }
        }
    }

    /// The layer of a pixel, for a ray of unit direction.
    pub fn layer(&self, x: usize, y: usize, direction: Vec3, camera: &Camera) -> Option<Layer> {
        let (depth, normal, colour) = (*self.nearest.get(y * self.width + x)?)?;
        let facing = dot(normal, direction);
        Some(Layer {
            t: depth / dot(direction, camera.forward),
            normal: if facing > 0.0 {
                scale(normal, -1.0)
            } else {
                normal
            },
            alpha: 1.0,
            crease: 0.0,
            material: Material::Stone,
            colour: Some(colour),
        })
    }
}
