//! Dual contouring of solids: triangles from signed distances on a lattice, a surface in 3D, an area in 2D.

use super::solids::Mesh;
use std::array::from_fn;
use std::collections::HashMap;

/// Solid to triangulate, in body coordinates.
pub struct Sampled<'a, const D: usize> {
    /// Lower corner of the lattice. The surface is cut off at its sides.
    pub low: [f64; D],
    /// Width of its cells.
    pub spacing: f64,
    /// Number of cells along each axis.
    pub cells: [usize; D],
    /// Signed distance, exact within two cells of the surface.
    pub distance: &'a dyn Fn([f64; D]) -> f64,
    /// Unit normal out of the solid.
    pub normal: &'a dyn Fn([f64; D]) -> [f64; D],
}

impl<const D: usize> Sampled<'_, D> {
    fn point(&self, index: [usize; D]) -> [f64; D] {
        from_fn(|axis| self.low[axis] + index[axis] as f64 * self.spacing)
    }

    /// Index of a lattice point; the first axis varies fastest.
    fn number(&self, index: [usize; D]) -> usize {
        (0..D).rev().fold(0, |number, axis| {
            number * (self.cells[axis] + 1) + index[axis]
        })
    }

    fn indices(&self, counts: [usize; D]) -> impl Iterator<Item = [usize; D]> + use<D> {
        let all = counts.iter().product();
        (0..all).map(move |mut number: usize| {
            from_fn(|axis| {
                let index = number % counts[axis];
                number /= counts[axis];
                index
            })
        })
    }

    fn distances(&self) -> Vec<f64> {
        self.indices(self.cells.map(|n| n + 1))
            .map(|index| (self.distance)(self.point(index)))
            .collect()
    }
}

/// Iterations of the search for the point closest to all tangent planes of a cell.
const ROUNDS: usize = 8;
/// Bisections of the crossing on an edge.
const HALVINGS: usize = 9;
/// A vertex takes the normal of the solid if that of its triangle is this close, as a cosine; otherwise it is on a crease.
const SMOOTH: f64 = 0.85;

/// Surface of a solid in 3D: one vertex per cell with a sign change, where its tangent planes meet, so
/// that creases stay sharp.
pub fn surface(solid: &Sampled<'_, 3>) -> Mesh {
    let phi = solid.distances();
    let at = |index: [usize; 3]| phi[solid.number(index)];
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    let mut vertex_of: HashMap<[usize; 3], u32> = HashMap::new();
    for cell in solid.indices(solid.cells) {
        let corner = |i: usize| -> [usize; 3] { from_fn(|axis| cell[axis] + (i >> axis & 1)) };
        let inside = (0..8).filter(|&i| at(corner(i)) < 0.0).count();
        if inside == 0 || inside == 8 {
            continue;
        }
        let mut planes = Vec::with_capacity(12);
        for axis in 0..3 {
            for first in (0..8).filter(|i| i >> axis & 1 == 0) {
                let (a, b) = (corner(first), corner(first | 1 << axis));
                let (here, there) = (at(a), at(b));
                if (here < 0.0) != (there < 0.0) {
                    let x = crossing(solid, axis, (solid.point(a), here), there);
                    planes.push((x, (solid.normal)(x)));
                }
            }
        }
        let low = solid.point(cell);
        vertex_of.insert(cell, vertices.len() as u32);
        vertices.push(meeting_point(&planes, low, solid.spacing));
    }
    let mut corners = Corners::new(solid, vertices);
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut counts = solid.cells.map(|n| n + 1);
        counts[axis] -= 1;
        for start in solid.indices(counts) {
            let mut end = start;
            end[axis] += 1;
            let (here, there) = (at(start) < 0.0, at(end) < 0.0);
            // Edges on the sides of the lattice do not have four cells around them.
            let inner = start[u] > 0
                && start[v] > 0
                && start[u] < solid.cells[u]
                && start[v] < solid.cells[v];
            if here == there || !inner {
                continue;
            }
            let around = [(1, 1), (0, 1), (0, 0), (1, 0)].map(|(a, b)| {
                let mut cell = start;
                cell[u] -= a;
                cell[v] -= b;
                vertex_of.get(&cell).copied()
            });
            let [Some(a), Some(b), Some(c), Some(d)] = around else {
                continue;
            };
            if here {
                corners.quad([a, b, c, d]);
            } else {
                corners.quad([d, c, b, a]);
            }
        }
    }
    corners.mesh
}

/// Crossing of the surface with a lattice edge from a point, given the distances at both ends. Near creases
/// a distance is not linear, so the crossing is bisected.
fn crossing(solid: &Sampled<'_, 3>, axis: usize, from: ([f64; 3], f64), there: f64) -> [f64; 3] {
    let (start, here) = from;
    let at = |share: f64| {
        let mut x = start;
        x[axis] += share * solid.spacing;
        x
    };
    let (mut low, mut high) = (0.0, 1.0);
    let mut share = here / (here - there);
    for _ in 0..HALVINGS {
        if ((solid.distance)(at(share)) < 0.0) == (here < 0.0) {
            low = share;
        } else {
            high = share;
        }
        share = 0.5 * (low + high);
    }
    at(share)
}

/// Point of a cell closest to all planes.
fn meeting_point(planes: &[([f64; 3], [f64; 3])], low: [f64; 3], width: f64) -> [f64; 3] {
    let share = 1.0 / planes.len() as f64;
    let mut x = [0.0; 3];
    for (on, _) in planes {
        x = from_fn(|axis| x[axis] + share * on[axis]);
    }
    // Projections onto one plane after the other: exact where they are orthogonal, as on the edges of a box.
    for _ in 0..ROUNDS {
        for (on, normal) in planes {
            let off: f64 = (0..3).map(|axis| normal[axis] * (on[axis] - x[axis])).sum();
            x = from_fn(|axis| x[axis] + off * normal[axis]);
        }
    }
    from_fn(|axis| x[axis].clamp(low[axis], low[axis] + width))
}

/// Vertices with their normals: one on a crease has several.
struct Corners {
    vertices: Vec<[f64; 3]>,
    smooth: Vec<[f64; 3]>,
    known: HashMap<(u32, [i32; 3]), u32>,
    mesh: Mesh,
}

impl Corners {
    fn new(solid: &Sampled<'_, 3>, vertices: Vec<[f64; 3]>) -> Self {
        Corners {
            smooth: vertices.iter().map(|&x| (solid.normal)(x)).collect(),
            vertices,
            known: HashMap::new(),
            mesh: Mesh::default(),
        }
    }

    fn quad(&mut self, [a, b, c, d]: [u32; 4]) {
        self.triangle([a, b, c]);
        self.triangle([a, c, d]);
    }

    fn triangle(&mut self, corners: [u32; 3]) {
        let [a, b, c] = corners.map(|i| self.vertices[i as usize]);
        let (u, v): ([f64; 3], [f64; 3]) = (from_fn(|i| b[i] - a[i]), from_fn(|i| c[i] - a[i]));
        let across: [f64; 3] =
            from_fn(|i| u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3]);
        let length = across.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length <= 0.0 {
            return;
        }
        let flat = across.map(|x| x / length);
        let triangle = corners.map(|corner| {
            let smooth = self.smooth[corner as usize];
            let cosine: f64 = (0..3).map(|i| smooth[i] * flat[i]).sum();
            let normal = if cosine > SMOOTH { smooth } else { flat };
            let key = (corner, normal.map(|x| (x * 32.0).round() as i32));
            let mesh = &mut self.mesh;
            let position = self.vertices[corner as usize];
            *self.known.entry(key).or_insert_with(|| {
                mesh.positions.push(position.map(|x| x as f32));
                mesh.normals.push(normal.map(|x| x as f32));
                mesh.positions.len() as u32 - 1
            })
        });
        self.mesh.triangles.push(triangle);
    }
}

/// Area of a solid in 2D. Full cells are merged row by row.
pub fn area(solid: &Sampled<'_, 2>) -> Mesh {
    let phi = solid.distances();
    let at = |index: [usize; 2]| phi[solid.number(index)];
    let mut mesh = Mesh::default();
    let [columns, rows] = solid.cells;
    for row in 0..rows {
        let mut full_from = None;
        for column in 0..=columns {
            let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(x, y)| [column + x, row + y]);
            let full = column < columns && corners.iter().all(|&corner| at(corner) < 0.0);
            match (full, full_from) {
                (true, None) => full_from = Some(column),
                (false, Some(first)) => {
                    let ends = [
                        [first, row],
                        [column, row],
                        [column, row + 1],
                        [first, row + 1],
                    ];
                    polygon(&mut mesh, &ends.map(|end| solid.point(end)));
                    full_from = None;
                }
                _ => {}
            }
            if column == columns || full {
                continue;
            }
            let mut outline = Vec::with_capacity(8);
            for side in 0..4 {
                let (a, b) = (corners[side], corners[(side + 1) % 4]);
                let (here, there) = (at(a), at(b));
                let (x, y) = (solid.point(a), solid.point(b));
                if here < 0.0 {
                    outline.push(x);
                }
                if (here < 0.0) != (there < 0.0) {
                    let share = here / (here - there);
                    outline.push(from_fn(|axis| x[axis] + share * (y[axis] - x[axis])));
                }
            }
            polygon(&mut mesh, &outline);
        }
    }
    mesh
}

/// Adds a convex polygon.
fn polygon(mesh: &mut Mesh, outline: &[[f64; 2]]) {
    if outline.len() < 3 {
        return;
    }
    let first = mesh.positions.len() as u32;
    for x in outline {
        mesh.positions.push([x[0] as f32, x[1] as f32, 0.0]);
        mesh.normals.push([0.0, 0.0, 1.0]);
    }
    for i in 1..outline.len() as u32 - 1 {
        mesh.triangles.push([first, first + i, first + i + 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::Shape;

    fn triangulated<const D: usize, T>(
        shape: &Shape<D>,
        triangulate: impl Fn(&Sampled<'_, D>) -> T,
    ) -> T {
        triangulate(&Sampled {
            low: [-1.0; D],
            spacing: 0.1,
            cells: [20; D],
            distance: &|x| shape.distance(x),
            normal: &|x| shape.gradient(x),
        })
    }

    /// Six times the enclosed volume, by the tetrahedra to the origin, and the area.
    fn measure(mesh: &Mesh) -> (f64, f64) {
        let (mut volume, mut area) = (0.0, 0.0);
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|i| mesh.positions[i as usize].map(f64::from));
            let cross = |u: [f64; 3], v: [f64; 3]| -> [f64; 3] {
                from_fn(|i| u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3])
            };
            let across = cross(from_fn(|i| b[i] - a[i]), from_fn(|i| c[i] - a[i]));
            volume += (0..3).map(|i| a[i] * across[i]).sum::<f64>() / 6.0;
            area += across.iter().map(|x| x * x).sum::<f64>().sqrt() / 2.0;
        }
        (volume, area)
    }

    #[test]
    fn a_sphere_has_the_right_volume_and_outward_normals() {
        let sphere = Shape::Sphere {
            center: [0.0; 3],
            radius: 0.7,
        };
        let mesh = triangulated(&sphere, surface);
        let (volume, area) = measure(&mesh);
        let expected = 4.0 / 3.0 * std::f64::consts::PI * 0.343;
        assert!(
            (volume / expected - 1.0).abs() < 0.02,
            "{volume} {expected}"
        );
        assert!((area / (expected * 3.0 / 0.7) - 1.0).abs() < 0.02, "{area}");
        for (x, n) in mesh.positions.iter().zip(&mesh.normals) {
            let along: f32 = (0..3).map(|i| x[i] * n[i]).sum();
            assert!(along > 0.68, "{x:?} {n:?}");
        }
    }

    #[test]
    fn a_box_has_sharp_edges() {
        let cuboid = Shape::Box {
            low: [-0.43, -0.52, -0.61],
            high: [0.43, 0.52, 0.61],
        };
        let (volume, area) = measure(&triangulated(&cuboid, surface));
        let sides = [0.86, 1.04, 1.22];
        let expected: f64 = sides.iter().product();
        let faces: f64 = (0..3).map(|i| 2.0 * sides[i] * sides[(i + 1) % 3]).sum();
        assert!(
            (volume / expected - 1.0).abs() < 0.01,
            "{volume} {expected}"
        );
        assert!((area / faces - 1.0).abs() < 0.01, "{area} {faces}");
    }

    #[test]
    fn a_disc_and_its_complement_fill_the_domain() {
        let disc = Shape::Sphere {
            center: [0.1, 0.0],
            radius: 0.6,
        };
        let (_, inside) = measure(&triangulated(&disc, area));
        let (_, outside) = measure(&triangulated(&disc.inverted(), area));
        let expected = std::f64::consts::PI * 0.36;
        assert!(
            (inside / expected - 1.0).abs() < 0.02,
            "{inside} {expected}"
        );
        assert!((inside + outside - 4.0).abs() < 1e-6, "{inside} {outside}");
    }
}
