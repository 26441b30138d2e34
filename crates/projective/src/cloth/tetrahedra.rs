//! Tetrahedra that fill a shape.
//!
//! Boxes get a lattice that ends at their faces. Other shapes get a body-centred lattice that is cut at their surface after
//! its points near the surface were moved onto it ("isosurface stuffing", Labelle and Shewchuk 2007), which keeps all angles
//! away from zero. What is cut off leaves prisms; the diagonals of their sides begin at the vertex of the least number, so
//! that neighbours agree (Dompierre and others 1999).

use std::collections::BTreeMap;

use meniscus_shapes::{Pose, Shape};
use rayon::prelude::*;

use super::vector::{V3, cross, dot, plus, sub};

/// Share of an edge within which a cut moves the point at its end: along the axes of the lattice, and across.
const NEAR: [f64; 2] = [0.24999, 0.41189];
/// Steps that find a cut.
const BISECTIONS: usize = 30;
/// Volume over that of a cube of the edges, below which an element is left out.
const LEAST_VOLUME: f64 = 1e-5;
/// Most points of a lattice.
const MOST_POINTS: f64 = 2e7;

/// A mesh of tetrahedra with its surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetrahedralMesh {
    /// Vertices, those of the surface first.
    pub vertices: Vec<[f64; 3]>,
    /// Tetrahedra.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Triangles of the surface, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl TetrahedralMesh {
    /// The tetrahedra that fill a shape, with edges of about the given length; `None` if the shape has no bounds or more than
    /// millions of them. There are none in shapes thinner than an edge.
    pub fn of(shape: &Shape<3>, edge: f64) -> Option<Self> {
        match shape {
            Shape::Box { low, high } => of_box(*low, *high, edge),
            Shape::Placed { shape, pose } if matches!(**shape, Shape::Box { .. }) => {
                Some(Self::of(shape, edge)?.placed(pose))
            }
            _ => of_shape(shape, edge),
        }
    }

    fn placed(mut self, pose: &Pose<3>) -> Self {
        for x in &mut self.vertices {
            *x = pose.apply(*x);
        }
        self
    }

    /// Volume of all tetrahedra.
    pub fn volume(&self) -> f64 {
        let volumes = self.tetrahedra.iter().map(|t| self.six_volumes(*t) / 6.0);
        volumes.sum()
    }

    fn six_volumes(&self, corners: [u32; 4]) -> f64 {
        let [a, b, c, d] = corners.map(|v| self.vertices[v as usize]);
        dot(sub(b, a), cross(sub(c, a), sub(d, a)))
    }

    /// The mesh of some tetrahedra, turned to a positive volume, without vertices that none of them has.
    fn new(vertices: Vec<V3>, tetrahedra: Vec<[u32; 4]>, least: f64) -> Self {
        let mut mesh = Self {
            vertices,
            tetrahedra: Vec::with_capacity(tetrahedra.len()),
            triangles: Vec::new(),
        };
        for corners in tetrahedra {
            let [a, b, c, d] = corners;
            let volume = mesh.six_volumes(corners);
            if volume.abs() > 6.0 * least {
                let turned = if volume < 0.0 { [a, c, b, d] } else { corners };
                mesh.tetrahedra.push(turned);
            }
        }
        // Faces of one tetrahedron only.
        let mut faces: BTreeMap<[u32; 3], Option<[u32; 3]>> = BTreeMap::new();
        for &[a, b, c, d] in &mesh.tetrahedra {
            for face in [[b, c, d], [a, d, c], [a, b, d], [a, c, b]] {
                let mut key = face;
                key.sort_unstable();
                faces
                    .entry(key)
                    .and_modify(|face| *face = None)
                    .or_insert(Some(face));
            }
        }
        mesh.triangles = faces.into_values().flatten().collect();
        let mut number: Vec<Option<u32>> = vec![None; mesh.vertices.len()];
        let mut kept = Vec::new();
        let corners = mesh.triangles.iter().flatten();
        for &v in corners.chain(mesh.tetrahedra.iter().flatten()) {
            number[v as usize].get_or_insert_with(|| {
                kept.push(mesh.vertices[v as usize]);
                kept.len() as u32 - 1
            });
        }
        let numbered = |v: &mut u32| *v = number[*v as usize].unwrap_or(*v);
        mesh.triangles.iter_mut().flatten().for_each(numbered);
        mesh.tetrahedra.iter_mut().flatten().for_each(numbered);
        mesh.vertices = kept;
        mesh
    }
}

fn of_box(low: V3, high: V3, edge: f64) -> Option<TetrahedralMesh> {
    let size = sub(high, low);
    let wanted = size.map(|side| (side / edge - 1e-6).ceil().max(1.0));
    if wanted.iter().map(|n| n + 1.0).product::<f64>() > MOST_POINTS {
        return None;
    }
    let count = wanted.map(|n| n as usize);
    let mut vertices = Vec::new();
    for k in 0..=count[2] {
        for j in 0..=count[1] {
            for i in 0..=count[0] {
                let at = [i, j, k];
                vertices.push(std::array::from_fn(|axis| {
                    low[axis] + size[axis] * at[axis] as f64 / wanted[axis]
                }));
            }
        }
    }
    let number =
        |i: usize, j: usize, k: usize| ((k * (count[1] + 1) + j) * (count[0] + 1) + i) as u32;
    let mut tetrahedra = Vec::new();
    for k in 0..count[2] {
        for j in 0..count[1] {
            for i in 0..count[0] {
                // Five per cube, mirrored from cube to cube so that diagonals meet.
                let turn = (i + j + k) % 2;
                let corner = |bits: usize| {
                    number(
                        i + ((bits & 1) ^ turn),
                        j + (bits >> 1 & 1),
                        k + (bits >> 2 & 1),
                    )
                };
                for four in [
                    [0, 3, 5, 6],
                    [1, 0, 3, 5],
                    [2, 0, 3, 6],
                    [4, 0, 5, 6],
                    [7, 3, 5, 6],
                ] {
                    tetrahedra.push(four.map(corner));
                }
            }
        }
    }
    let cell: f64 = (0..3).map(|axis| size[axis] / wanted[axis]).product();
    Some(TetrahedralMesh::new(
        vertices,
        tetrahedra,
        LEAST_VOLUME * cell,
    ))
}

/// A lattice of points at the corners of cubes, and then at their middles.
struct Lattice {
    low: V3,
    edge: f64,
    /// Corners along each axis; there is one middle less.
    count: [usize; 3],
}

impl Lattice {
    fn corner(&self, at: [usize; 3]) -> u32 {
        ((at[2] * self.count[1] + at[1]) * self.count[0] + at[0]) as u32
    }

    fn middle(&self, at: [usize; 3]) -> u32 {
        let [m, n, _] = self.count.map(|n| n - 1);
        self.count.iter().product::<usize>() as u32 + ((at[2] * n + at[1]) * m + at[0]) as u32
    }

    fn points(&self) -> Vec<V3> {
        let mut points = Vec::new();
        for half in [0, 1] {
            let count = self.count.map(|n| n - half);
            for k in 0..count[2] {
                for j in 0..count[1] {
                    for i in 0..count[0] {
                        let at = [i, j, k].map(|n| n as f64 + 0.5 * half as f64);
                        points.push(std::array::from_fn(|axis| {
                            self.low[axis] + self.edge * at[axis]
                        }));
                    }
                }
            }
        }
        points
    }

    /// Calls `visit` with every tetrahedron: two middles of cubes with a common face, and two corners with a common edge of
    /// it.
    fn each(&self, mut visit: impl FnMut([u32; 4])) {
        let cubes = self.count.map(|n| n - 1);
        for k in 0..cubes[2] {
            for j in 0..cubes[1] {
                for i in 0..cubes[0] {
                    for axis in 0..3 {
                        let at = [i, j, k];
                        if at[axis] + 1 == cubes[axis] {
                            continue;
                        }
                        let mut other = at;
                        other[axis] += 1;
                        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                        let face = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[p, q]| {
                            let mut corner = other;
                            corner[u] += p;
                            corner[v] += q;
                            self.corner(corner)
                        });
                        for side in 0..4 {
                            let ends = [face[side], face[(side + 1) % 4]];
                            visit([self.middle(at), self.middle(other), ends[0], ends[1]]);
                        }
                    }
                }
            }
        }
    }
}

fn of_shape(shape: &Shape<3>, edge: f64) -> Option<TetrahedralMesh> {
    let bounds = shape.bounds()?.expanded(1.01 * edge);
    let wanted: [f64; 3] =
        std::array::from_fn(|axis| ((bounds.high[axis] - bounds.low[axis]) / edge).ceil() + 1.0);
    let points: f64 = wanted.iter().product();
    if points.is_nan() || points >= MOST_POINTS {
        return None;
    }
    let lattice = Lattice {
        low: bounds.low,
        edge,
        count: wanted.map(|n| n as usize),
    };
    let mut vertices = lattice.points();
    // Negative inside; zero for points on the surface.
    let mut depth: Vec<f64> = vertices.par_iter().map(|x| shape.distance(*x)).collect();
    let mut tetrahedra = Vec::new();
    lattice.each(|corners| {
        if corners.iter().any(|&v| depth[v as usize] < 0.0) {
            tetrahedra.push(corners);
        }
    });
    let cut_of = |vertices: &[V3], inside: u32, outside: u32| {
        let (mut from, mut to) = (vertices[inside as usize], vertices[outside as usize]);
        for _ in 0..BISECTIONS {
            let middle = plus(from, 0.5, sub(to, from));
            if shape.distance(middle) < 0.0 {
                from = middle;
            } else {
                to = middle;
            }
        }
        plus(from, 0.5, sub(to, from))
    };
    // Edges through the surface: the end inside, the end outside, and the cut.
    let mut cuts: BTreeMap<[u32; 2], V3> = BTreeMap::new();
    for corners in &tetrahedra {
        for &a in corners {
            for &b in corners {
                if depth[a as usize] < 0.0 && depth[b as usize] > 0.0 {
                    cuts.entry([a, b])
                        .or_insert_with(|| cut_of(&vertices, a, b));
                }
            }
        }
    }
    // The nearest cut that is too near a point moves it there.
    let mut moved: BTreeMap<u32, (f64, V3)> = BTreeMap::new();
    for (ends, cut) in &cuts {
        let along = sub(vertices[ends[1] as usize], vertices[ends[0] as usize]);
        let is_short = dot(along, along) < 0.9 * edge * edge;
        for &end in ends {
            let apart = sub(*cut, vertices[end as usize]);
            let share = (dot(apart, apart) / dot(along, along)).sqrt();
            if share < NEAR[usize::from(is_short)] {
                let nearest = moved.entry(end).or_insert((share, *cut));
                if share < nearest.0 {
                    *nearest = (share, *cut);
                }
            }
        }
    }
    for (v, (_, cut)) in moved {
        vertices[v as usize] = cut;
        depth[v as usize] = 0.0;
    }
    let mut number: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    let mut filled = Vec::new();
    for corners in tetrahedra {
        let side = |v: u32| depth[v as usize];
        let inside: Vec<u32> = corners.into_iter().filter(|&v| side(v) < 0.0).collect();
        let outside: Vec<u32> = corners.into_iter().filter(|&v| side(v) > 0.0).collect();
        let on: Vec<u32> = corners.into_iter().filter(|&v| side(v) == 0.0).collect();
        if inside.is_empty() {
            continue;
        }
        let mut cut = |a: u32, b: u32| {
            *number.entry([a, b]).or_insert_with(|| {
                vertices.push(cuts.get(&[a, b]).copied().unwrap_or(vertices[a as usize]));
                vertices.len() as u32 - 1
            })
        };
        match (&inside[..], &on[..], &outside[..]) {
            (_, _, []) => filled.push(corners),
            (&[a], &[b, c], &[d]) => filled.push([a, b, c, cut(a, d)]),
            (&[a], &[b], &[c, d]) => filled.push([a, b, cut(a, c), cut(a, d)]),
            (&[a], [], &[b, c, d]) => filled.push([a, cut(a, b), cut(a, c), cut(a, d)]),
            (&[a, b], &[c], &[d]) => {
                let prism = [a, cut(a, d), c, b, cut(b, d), c];
                filled.extend(divided(prism));
            }
            (&[a, b], [], &[c, d]) => {
                let prism = [a, cut(a, c), cut(a, d), b, cut(b, c), cut(b, d)];
                filled.extend(divided(prism));
            }
            (&[a, b, c], [], &[d]) => {
                let prism = [a, b, c, cut(a, d), cut(b, d), cut(c, d)];
                filled.extend(divided(prism));
            }
            _ => {}
        }
    }
    let least = LEAST_VOLUME * edge.powi(3);
    Some(TetrahedralMesh::new(vertices, filled, least))
}

/// Tetrahedra of a prism with the triangles of the first and last three of its vertices; without those in which a vertex is
/// there twice.
fn divided(prism: [u32; 6]) -> Vec<[u32; 4]> {
    /// The vertices with each of them in the first place.
    const TURNS: [[usize; 6]; 6] = [
        [0, 1, 2, 3, 4, 5],
        [1, 2, 0, 4, 5, 3],
        [2, 0, 1, 5, 3, 4],
        [3, 5, 4, 0, 2, 1],
        [4, 3, 5, 1, 0, 2],
        [5, 4, 3, 2, 1, 0],
    ];
    let least = (0..6).min_by_key(|&k| prism[k]).unwrap_or(0);
    let v = TURNS[least].map(|k| prism[k]);
    let found = if v[1].min(v[5]) < v[2].min(v[4]) {
        [[0, 1, 2, 5], [0, 1, 5, 4], [0, 4, 5, 3]]
    } else {
        [[0, 1, 2, 4], [0, 4, 2, 5], [0, 4, 5, 3]]
    };
    let corners = found.map(|four| four.map(|k| v[k]));
    let is_solid = |four: &[u32; 4]| (0..4).all(|k| !four[..k].contains(&four[k]));
    corners.into_iter().filter(is_solid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mesh: &TetrahedralMesh) {
        super::super::check(&mesh.vertices, &mesh.triangles).expect("a sound surface");
        // Every edge of a closed surface has two triangles that run along it in opposite directions.
        let mut runs = BTreeMap::new();
        for &[a, b, c] in &mesh.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                assert!(runs.insert((from, to), ()).is_none());
            }
        }
        assert!(runs.keys().all(|&(a, b)| runs.contains_key(&(b, a))));
        let surface = mesh.triangles.iter().flatten().max().expect("triangles");
        let used: std::collections::BTreeSet<u32> =
            mesh.triangles.iter().flatten().copied().collect();
        assert_eq!(used.len() as u32, surface + 1);
        // The volume within the surface is that of the tetrahedra.
        let enclosed: f64 = mesh
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
                dot(a, cross(b, c)) / 6.0
            })
            .sum();
        assert!((enclosed - mesh.volume()).abs() < 1e-9 * enclosed);
    }

    #[test]
    fn a_box_is_filled_exactly() {
        let block = Shape::Box {
            low: [0.1, 0.2, 0.3],
            high: [0.5, 0.5, 0.8],
        };
        let mesh = TetrahedralMesh::of(&block, 0.1).expect("bounded");
        check(&mesh);
        assert_eq!(mesh.tetrahedra.len(), 5 * 4 * 3 * 5);
        assert!((mesh.volume() - 0.4 * 0.3 * 0.5).abs() < 1e-12);
        let pose = Pose::translated([1.0, 0.0, 0.0]);
        let moved = TetrahedralMesh::of(&block.placed(pose), 0.1).expect("bounded");
        assert_eq!(moved.tetrahedra, mesh.tetrahedra);
        assert!((moved.vertices[0][0] - mesh.vertices[0][0] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn round_shapes_are_filled_by_sound_tetrahedra() {
        let ball = Shape::Sphere {
            center: [0.03, 0.01, -0.02],
            radius: 0.5,
        };
        let ring = Shape::Torus {
            center: [0.0; 3],
            axis: [0.3, 0.1, 1.0],
            major: 0.5,
            minor: 0.21,
        };
        let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.125;
        for (shape, volume) in [
            (ball, volume),
            (ring, 2.0 * std::f64::consts::PI.powi(2) * 0.5 * 0.21 * 0.21),
        ] {
            let mesh = TetrahedralMesh::of(&shape, 0.08).expect("bounded");
            check(&mesh);
            assert!(
                (mesh.volume() / volume - 1.0).abs() < 0.05,
                "{}",
                mesh.volume() / volume
            );
            let on_surface = mesh.triangles.iter().flatten();
            for &v in on_surface {
                assert!(shape.distance(mesh.vertices[v as usize]).abs() < 1e-6);
            }
            // Angles are bounded: no sliver.
            for corners in &mesh.tetrahedra {
                let longest = (0..4)
                    .flat_map(|i| (0..i).map(move |j| (i, j)))
                    .map(|(i, j)| {
                        let [a, b] = [corners[i], corners[j]].map(|v| mesh.vertices[v as usize]);
                        dot(sub(b, a), sub(b, a)).sqrt()
                    });
                let longest = longest.fold(0.0, f64::max);
                assert!(mesh.six_volumes(*corners) > 0.02 * longest.powi(3));
            }
        }
    }

    #[test]
    fn a_shape_without_bounds_or_room_has_no_tetrahedra() {
        let half = Shape::HalfSpace {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        };
        assert_eq!(TetrahedralMesh::of(&half, 0.1), None);
        let ball = Shape::Sphere {
            center: [0.0; 3],
            radius: 0.5,
        };
        assert_eq!(TetrahedralMesh::of(&ball, 1e-4), None);
    }
}
