//! Volume of a surface: measurement, and matching to that of the particles.

use super::contour::Contour;
use super::field::GAP;
use super::finish::normals;
use super::thickness::ramp;
use super::{cross, dot, sub, upright};
use rayon::prelude::*;

/// Largest offset of a surface, in cells.
pub const FARTHEST: f64 = 0.5;
/// Offset of thin features as a fraction of that of thick liquid: a deficit of thick liquid is small in them, but would be
/// a large part of their thickness.
const THIN_SHARE: f64 = 0.3;
/// Outward offsets, in cells, between which the fraction for thin features rises to one: where particles are that crowded,
/// they are in thin features as well.
const THIN_OFFSET_RANGE: (f64, f64) = (0.1, 0.3);
/// Maximum number of steps of the offset search.
pub const MOST_STEPS: usize = 7;

/// Vertices this close to a solid, in cells, are in contact and fixed.
pub const CONTACT_DISTANCE: f64 = 0.05;

/// Offsets the vertices of a closed surface along their normals until it encloses `target`, and returns the offset in cells,
/// positive outwards. `room` is the distance of every vertex to solids, or a lower bound if that exceeds the largest
/// offset; vertices close to solids are projected out by `settle`. The offset is clamped.
pub fn match_volume<const D: usize>(
    contour: &mut Contour<D>,
    room: &[f64],
    target: f64,
    dx: f64,
    settle: impl Fn([f64; D]) -> [f64; D] + Sync,
) -> f64 {
    let places: Vec<[f64; 3]> = contour.vertices.par_iter().map(|&x| upright(x)).collect();
    let normals = normals(&places, &contour.triangles);
    let is_fixed = |v: usize| room[v] <= CONTACT_DISTANCE * dx;
    let vertices = contour.vertices.par_iter_mut().enumerate();
    vertices.for_each(|(v, x)| {
        if is_fixed(v) {
            *x = settle(*x);
        }
    });
    let moved = |by: f64| -> Vec<[f64; D]> {
        let thin = THIN_SHARE
            + (1.0 - THIN_SHARE) * ramp(by / dx, THIN_OFFSET_RANGE.0, THIN_OFFSET_RANGE.1);
        let one = |(v, &x): (usize, &[f64; D])| -> [f64; D] {
            if is_fixed(v) {
                return x;
            }
            let loose = f64::from(contour.smoothing_weight[v]);
            let distance = (thin + (1.0 - thin) * loose) * by;
            let normal = |a: usize| f64::from(normals[v][if a + 1 == D { 2 } else { a }]);
            let to = std::array::from_fn(|a| x[a] + distance * normal(a));
            // Solids are queried only where they can be: that dominates the cost.
            if room[v] - distance.abs() > 2.0 * GAP * dx {
                to
            } else {
                settle(to)
            }
        };
        contour.vertices.par_iter().enumerate().map(one).collect()
    };
    let enclosed = |vertices: &[[f64; D]]| {
        let places: Vec<[f64; 3]> = vertices.iter().map(|&x| upright(x)).collect();
        enclosed(&places, &contour.triangles)
    };
    // The volume is nearly linear in the offset: secant method.
    let mut at_rest = moved(0.0);
    let (mut last, mut volume) = (0.0, enclosed(&at_rest));
    let mut by = 0.02 * dx * (target - volume).signum();
    for _ in 0..MOST_STEPS {
        let vertices = moved(by);
        let next = enclosed(&vertices);
        let slope = (next - volume) / (by - last);
        (at_rest, last, volume) = (vertices, by, next);
        let better = by + (target - next) / slope;
        if !(slope.is_finite() && slope > 0.0 && better.is_finite()) {
            break;
        }
        by = better.clamp(-FARTHEST * dx, FARTHEST * dx);
        if (by - last).abs() < 1e-4 * dx {
            break;
        }
    }
    contour.vertices = at_rest;
    last / dx
}

/// Enclosed volume of triangles, by the divergence theorem.
pub fn enclosed(places: &[[f64; 3]], triangles: &[[u32; 3]]) -> f64 {
    let corner = |v: u32| places[v as usize];
    let of = |&[a, b, c]: &[u32; 3]| dot(corner(a), cross(corner(b), corner(c))) / 6.0;
    triangles.iter().map(of).sum()
}

/// Area of a contour in 2D.
pub fn area<const D: usize>(contour: &Contour<D>) -> f64 {
    let of = |&[a, b, c]: &[u32; 3]| {
        let [a, b, c] = [a, b, c].map(|v| contour.vertices[v as usize]);
        0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
    };
    contour.triangles.iter().map(of).sum()
}

/// Number of connected pieces of a surface.
pub fn pieces(vertices: usize, triangles: &[[u32; 3]]) -> usize {
    let roots = roots(vertices, triangles);
    (0..vertices).filter(|&v| roots[v] == v as u32).count()
}

/// Removes connected pieces, and cavities, below this volume: a lattice can cut such fragments off a feature.
pub fn remove_fragments<const D: usize>(contour: &mut Contour<D>, least: f64) {
    let roots = roots(contour.vertices.len(), &contour.triangles);
    let places: Vec<[f64; 3]> = contour.vertices.iter().map(|&x| upright(x)).collect();
    let mut volumes = vec![0.0; places.len()];
    for triangle in &contour.triangles {
        let root = roots[triangle[0] as usize] as usize;
        // Relative to the root, to avoid cancellation.
        let corner = |v: u32| sub(places[v as usize], places[root]);
        let [a, b, c] = triangle.map(corner);
        volumes[root] += dot(a, cross(b, c)) / 6.0;
    }
    let kept = |v: usize| volumes[roots[v] as usize].abs() >= least;
    let mut count = 0;
    let numbers: Vec<u32> = (0..places.len())
        .map(|v| {
            let number = count;
            count += u32::from(kept(v));
            number
        })
        .collect();
    let triangles = contour.triangles.iter();
    contour.triangles = triangles
        .filter(|t| kept(t[0] as usize))
        .map(|t| t.map(|v| numbers[v as usize]))
        .collect();
    let mut at = 0..places.len();
    contour.vertices.retain(|_| at.next().is_some_and(kept));
    let mut at = 0..places.len();
    contour
        .smoothing_weight
        .retain(|_| at.next().is_some_and(kept));
}

/// Representative of every vertex, shared by its connected piece.
fn roots(vertices: usize, triangles: &[[u32; 3]]) -> Vec<u32> {
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    let mut parent: Vec<u32> = (0..vertices as u32).collect();
    for &[a, b, c] in triangles {
        for other in [b, c] {
            let (from, to) = (root(&mut parent, a), root(&mut parent, other));
            parent[from.max(to) as usize] = from.min(to);
        }
    }
    (0..vertices as u32).map(|v| root(&mut parent, v)).collect()
}
