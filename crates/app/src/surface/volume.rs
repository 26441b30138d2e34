//! Volume of a surface: matched to that of the particles, and measured.

use super::contour::Contour;
use super::finish::normals;
use super::{cross, dot, sub, upright};

/// Farthest that a surface is moved outwards, in cells.
const FARTHEST_OUT: f64 = 0.3;
/// Farthest that it is moved inwards.
const FARTHEST_IN: f64 = 0.25;
/// Thin features are moved inwards by this share of that, or their two sides would meet.
const THIN_IN: f64 = 0.3;

/// Moves the free vertices of a closed surface along their normals until it encloses `target`, and returns how far, in cells, outwards
/// if positive. A surface that would have to move farther than is good for it is moved as far as that.
pub fn match_volume<const D: usize>(
    contour: &mut Contour<D>,
    free: &[bool],
    target: f64,
    dx: f64,
) -> f64 {
    let places: Vec<[f64; 3]> = contour.vertices.iter().map(|&x| upright(x)).collect();
    let normals = normals(&places, &contour.triangles);
    let moved = |by: f64| -> Vec<[f64; 3]> {
        let one = |v: usize| -> [f64; 3] {
            let loose = f64::from(contour.looseness[v]);
            let share = match free[v] {
                false => 0.0,
                true if by < 0.0 => THIN_IN + (1.0 - THIN_IN) * loose,
                true => 1.0,
            };
            let by = share * by;
            std::array::from_fn(|a| places[v][a] + by * f64::from(normals[v][a]))
        };
        (0..places.len()).map(one).collect()
    };
    let volume_at = |by: f64| enclosed(&moved(by), &contour.triangles);
    // The volume is nearly linear in the distance: two secant steps.
    let (mut last, mut volume) = (0.0, enclosed(&places, &contour.triangles));
    let mut by = 0.01 * dx * (target - volume).signum();
    for _ in 0..3 {
        let next = volume_at(by);
        let slope = (next - volume) / (by - last);
        (last, volume) = (by, next);
        if !(slope.is_finite() && slope > 0.0) {
            break;
        }
        let better = by + (target - next) / slope;
        by = better.clamp(-FARTHEST_IN * dx, FARTHEST_OUT * dx);
        if (by - last).abs() < 1e-5 * dx {
            break;
        }
    }
    for (x, moved) in contour.vertices.iter_mut().zip(moved(by)) {
        x[..D - 1].copy_from_slice(&moved[..D - 1]);
        x[D - 1] = moved[2];
    }
    by / dx
}

/// The volume inside of triangles, by the divergence theorem.
pub fn enclosed(places: &[[f64; 3]], triangles: &[[u32; 3]]) -> f64 {
    let corner = |v: u32| places[v as usize];
    let of = |&[a, b, c]: &[u32; 3]| dot(corner(a), cross(corner(b), corner(c))) / 6.0;
    triangles.iter().map(of).sum()
}

/// Number of connected pieces of a surface.
pub fn pieces(vertices: usize, triangles: &[[u32; 3]]) -> usize {
    let roots = roots(vertices, triangles);
    (0..vertices).filter(|&v| roots[v] == v as u32).count()
}

/// Removes connected pieces, and hollows, of less than this volume: a lattice can cut such crumbs off a feature.
pub fn remove_crumbs<const D: usize>(contour: &mut Contour<D>, least: f64) {
    let roots = roots(contour.vertices.len(), &contour.triangles);
    let places: Vec<[f64; 3]> = contour.vertices.iter().map(|&x| upright(x)).collect();
    let mut volumes = vec![0.0; places.len()];
    for triangle in &contour.triangles {
        let root = roots[triangle[0] as usize] as usize;
        // About the root, so that nothing cancels.
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
    contour.looseness.retain(|_| at.next().is_some_and(kept));
}

/// A vertex for every vertex, the same for those of a connected piece.
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
