//! Meshes of cloth with their texture coordinates.

use crate::mesh_files::Faces;
use meniscus_shapes::Pose;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Texture coordinates of a mesh. Triangles have indices of their own, since a vertex at a seam has several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texture {
    /// Coordinates.
    pub coordinates: Vec<[f32; 2]>,
    /// Indices of the coordinates of each triangle; none without coordinates.
    pub triangles: Vec<[u32; 3]>,
}

/// A mesh of cloth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClothMesh {
    /// Vertices, in metres.
    pub vertices: Vec<[f64; 3]>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates, if there are any.
    pub texture: Texture,
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

impl ClothMesh {
    /// The mesh of a file. Vertices at the same place become one, since many programs repeat them at seams.
    pub fn new(faces: Faces) -> Self {
        let mut places: BTreeMap<[u64; 3], u32> = BTreeMap::new();
        let mut vertices = Vec::new();
        let mut number = Vec::with_capacity(faces.vertices.len());
        for x in &faces.vertices {
            // Zero has two signs.
            let key = x.map(|c| (c + 0.0).to_bits());
            let place = places.entry(key).or_insert_with(|| {
                vertices.push(*x);
                vertices.len() as u32 - 1
            });
            number.push(*place);
        }
        let triangles = faces.triangles.iter();
        let triangles = triangles.map(|t| t.map(|v| number[v as usize])).collect();
        let is_finite = faces.texture.iter().flatten().all(|c| c.is_finite());
        let texture = match is_finite && !faces.texture_triangles.is_empty() {
            true => Texture {
                coordinates: faces.texture,
                triangles: faces.texture_triangles,
            },
            false => Texture::default(),
        };
        Self {
            vertices,
            triangles,
            texture,
        }
    }

    /// The mesh, moved and turned.
    pub fn placed(mut self, pose: &Pose<3>) -> Self {
        for x in &mut self.vertices {
            *x = pose.apply(*x);
        }
        self
    }

    /// The mesh with every triangle cut into four at the middles of its edges.
    pub fn subdivided(&self) -> Self {
        let mut fine = Self {
            vertices: self.vertices.clone(),
            triangles: Vec::with_capacity(4 * self.triangles.len()),
            texture: Texture {
                coordinates: self.texture.coordinates.clone(),
                triangles: Vec::with_capacity(4 * self.texture.triangles.len()),
            },
        };
        let middles = &mut BTreeMap::new();
        for &triangle in &self.triangles {
            let cut = quarters(triangle, middles, &mut fine.vertices, |a, b| {
                std::array::from_fn(|k| 0.5 * (a[k] + b[k]))
            });
            fine.triangles.extend(cut);
        }
        let middles = &mut BTreeMap::new();
        for &triangle in &self.texture.triangles {
            let pairs = &mut fine.texture.coordinates;
            let cut = quarters(triangle, middles, pairs, |a, b| {
                std::array::from_fn(|k| 0.5 * (a[k] + b[k]))
            });
            fine.texture.triangles.extend(cut);
        }
        fine
    }

    fn edges(&self) -> impl Iterator<Item = f64> + '_ {
        let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
        let sides = self.triangles.iter().flat_map(sides);
        sides.map(|[a, b]| distance(self.vertices[a as usize], self.vertices[b as usize]))
    }

    /// Mean length of the sides of the triangles.
    pub fn mean_edge(&self) -> f64 {
        self.edges().sum::<f64>() / (3 * self.triangles.len()).max(1) as f64
    }

    /// Length of the longest side of a triangle.
    pub fn longest_edge(&self) -> f64 {
        self.edges().fold(0.0, f64::max)
    }
}

/// The four parts of a triangle, whose new corners `middle` makes, once for each edge.
fn quarters<T: Copy>(
    [a, b, c]: [u32; 3],
    middles: &mut BTreeMap<[u32; 2], u32>,
    points: &mut Vec<T>,
    middle: impl Fn(T, T) -> T,
) -> [[u32; 3]; 4] {
    let [d, e, f] =
        [[a, b], [b, c], [c, a]].map(|[p, q]| match middles.entry([p.min(q), p.max(q)]) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                points.push(middle(points[p as usize], points[q as usize]));
                *new.insert(points.len() as u32 - 1)
            }
        });
    [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh_files::{Format, Limits, parse};

    /// Two squares that meet at an edge where the texture has a seam.
    const SEAM: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\n\
                        vt 0 0\nvt 0.5 0\nvt 0.5 1\nvt 0 1\nvt 0.6 0\nvt 1 0\nvt 1 1\nvt 0.6 1\n\
                        f 1/1 2/2 3/3 4/4\nf 2/5 5/6 6/7 3/8\n";

    fn read(format: Format, text: &str) -> ClothMesh {
        ClothMesh::new(parse(format, text.as_bytes(), &Limits::default()).expect("sound"))
    }

    #[test]
    fn texture_coordinates_are_kept_at_seams() {
        let mesh = read(Format::Obj, SEAM);
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (6, 4));
        assert_eq!(mesh.texture.coordinates.len(), 8);
        assert_eq!(mesh.texture.triangles[2], [4, 5, 6]);
        let fine = mesh.subdivided();
        assert_eq!((fine.vertices.len(), fine.triangles.len()), (15, 16));
        // The middle of the edge at the seam is one vertex with two places in the texture.
        assert_eq!(fine.texture.coordinates.len(), 18);
        assert!((fine.longest_edge() - 0.5 * mesh.longest_edge()).abs() < 1e-12);
        for (triangle, texture) in fine.triangles.iter().zip(&fine.texture.triangles) {
            for (v, pair) in triangle.iter().zip(texture) {
                let [x, y, _] = fine.vertices[*v as usize];
                let [s, t] = fine.texture.coordinates[*pair as usize];
                let expected = if s <= 0.5 {
                    0.5 * x
                } else {
                    0.6 + 0.4 * (x - 1.0)
                };
                assert!((f64::from(s) - expected).abs() < 1e-6 && (f64::from(t) - y).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn vertices_that_a_file_repeats_become_one() {
        let ply = "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\n\
                   property float z\nproperty float s\nproperty float t\nelement face 2\n\
                   property list uchar int vertex_indices\nend_header\n0 0 0 0 0\n1 0 0 1 0\n0 1 0 0 1\n\
                   1 0 0 0.5 0\n1 1 -0 1 1\n0 1 0 0 0.5\n3 0 1 2\n3 3 4 5\n";
        let mesh = read(Format::Ply, ply);
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [1, 3, 2]]);
        assert_eq!(mesh.texture.coordinates.len(), 6);
        assert_eq!(mesh.texture.triangles, [[0, 1, 2], [3, 4, 5]]);
        let bare = read(Format::Obj, &SEAM.replace("1/1", "1").replace("5/6", "5"));
        assert_eq!(bare.texture, Texture::default());
    }
}
