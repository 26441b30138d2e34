//! From a contour to a surface: smoothing, projection out of solids, normals and velocities.

use super::contour::Contour;
use super::field::GAP;
use super::particle_lookup::{ParticleLookup, Rows};
use super::volume::{self, CONTACT_DISTANCE};
use super::{Surface, cross, sub, upright};
use meniscus_scene::Scene;
use meniscus_scene::SurfaceSettings;
use meniscus_shapes::PosedSolids;
use meniscus_store::cache::Frame;
use rayon::prelude::*;

/// Taubin's factors: a step shrinks by the first, the next inflates by the second; together they remove short waves and
/// preserve long ones, and the volume.
const SHRINK: f64 = 0.5;
const GROW: f64 = -0.53;
/// Largest displacement of a vertex, in cells.
const NEAR: f64 = 0.6;

/// Makes a surface of a contour. In 3D it is offset along its normals until it encloses `target`; the offset is
/// returned, in cells.
pub fn finish<const D: usize>(
    mut contour: Contour<D>,
    scene: &Scene<D>,
    posed: &PosedSolids<'_, D>,
    frame: &Frame<D>,
    settings: &SurfaceSettings,
    target: f64,
) -> (Surface, f64) {
    let dx = scene.dx();
    if D == 3 && settings.smoothing > 0 {
        smooth(&mut contour, posed, dx, settings.smoothing);
    }
    let settle = |x: [f64; D]| out_of_solids(x, posed, GAP * dx);
    let mut offset = 0.0;
    if D == 3 {
        let room = |x: &[f64; D]| posed.distance_within(*x, NEAR * dx);
        let room: Vec<f64> = contour.vertices.par_iter().map(room).collect();
        offset = volume::match_volume(&mut contour, &room, target, dx, settle);
    } else {
        let vertices = contour.vertices.par_iter_mut();
        vertices.for_each(|x| *x = settle(*x));
    }
    let around = ParticleLookup::new(frame);
    let velocities = contour
        .vertices
        .par_iter()
        .map_init(Rows::default, |rows, &x| {
            upright(around.velocity(x, rows)).map(|v| v as f32)
        })
        .collect();
    let places: Vec<[f64; 3]> = contour.vertices.iter().map(|&x| upright(x)).collect();
    let surface = Surface {
        normals: normals(&places, &contour.triangles),
        positions: places.iter().map(|x| x.map(|x| x as f32)).collect(),
        velocities,
        triangles: contour.triangles,
    };
    (surface, offset)
}

/// The point itself, or the nearest one that is `gap` outside of solids. Between two solids that are
/// too close for that, as far out as possible.
fn out_of_solids<const D: usize>(x: [f64; D], posed: &PosedSolids<'_, D>, gap: f64) -> [f64; D] {
    let mut best = (x, f64::NEG_INFINITY);
    let mut at = x;
    for _ in 0..4 {
        let distance = posed.distance_within(at, 2.0 * gap);
        if distance > best.1 {
            best = (at, distance);
        }
        if distance >= gap {
            break;
        }
        let Some(normal) = posed.normal(at) else {
            break;
        };
        at = std::array::from_fn(|a| at[a] + (gap - distance) * normal[a]);
    }
    best.0
}

/// Taubin smoothing. Vertices in contact with solids are fixed, and so are those of thin features, which would
/// shrink.
fn smooth<const D: usize>(
    contour: &mut Contour<D>,
    posed: &PosedSolids<'_, D>,
    dx: f64,
    passes: u32,
) {
    let neighbours = Neighbours::new(contour.vertices.len(), &contour.triangles);
    let free: Vec<bool> = contour
        .vertices
        .par_iter()
        .map(|&x| posed.distance_within(x, 2.0 * CONTACT_DISTANCE * dx) > CONTACT_DISTANCE * dx)
        .collect();
    for factor in (0..passes).flat_map(|_| [SHRINK, GROW]) {
        let moved = |(v, x): (usize, &[f64; D])| {
            let near = neighbours.of(v);
            if !free[v] || near.is_empty() {
                return *x;
            }
            std::array::from_fn(|a| {
                let sum: f64 = near.iter().map(|&n| contour.vertices[n as usize][a]).sum();
                let loose = f64::from(contour.smoothing_weight[v]);
                x[a] + factor * loose * (sum / near.len() as f64 - x[a])
            })
        };
        contour.vertices = contour.vertices.par_iter().enumerate().map(moved).collect();
    }
}

/// Neighbours of every vertex.
struct Neighbours {
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Neighbours {
    /// On a closed surface every edge has two half-edges, of which one is enough.
    fn new(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let edges = || {
            triangles
                .iter()
                .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
        };
        let mut starts = vec![0u32; vertices + 1];
        for (from, _) in edges() {
            starts[from as usize + 1] += 1;
        }
        for v in 0..vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut all = vec![0; starts[vertices] as usize];
        for (from, to) in edges() {
            all[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        Neighbours { starts, all }
    }

    fn of(&self, vertex: usize) -> &[u32] {
        &self.all[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }
}

/// Area-weighted means of the normals of adjacent triangles.
pub fn normals(places: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<[f32; 3]> {
    let mut sums = vec![[0.0; 3]; places.len()];
    for &triangle in triangles {
        let [a, b, c] = triangle.map(|v| places[v as usize]);
        let normal = cross(sub(b, a), sub(c, a));
        for v in triangle {
            for i in 0..3 {
                sums[v as usize][i] += normal[i];
            }
        }
    }
    let unit = |n: &[f64; 3]| {
        let length = n.iter().map(|c| c * c).sum::<f64>().sqrt();
        if length > 0.0 {
            n.map(|c| (c / length) as f32)
        } else {
            [0.0, 0.0, 1.0]
        }
    };
    sums.par_iter().map(unit).collect()
}
