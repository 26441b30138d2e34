//! Mesh simplification by vertex clustering.

use crate::surface::solids::Mesh;
use std::array::from_fn;

type Vector = [f32; 3];

/// Iterations of the search for the point where tangent planes meet.
const ROUNDS: usize = 8;

/// Simplified surface with one vertex per lattice cell, or two where both sides of a thin sheet are in it: a
/// sheet stays a sheet, and keeps its volume. Features smaller than a cell may vanish. A mesh in 2D is an area and
/// keeps its outline in the same way.
pub fn coarsened(mesh: &Mesh, flat: bool, spacing: f64) -> Mesh {
    let facing = if flat {
        out_of_area(mesh)
    } else {
        mesh.normals.clone()
    };
    let cell = |v: u32| mesh.positions[v as usize].map(|x| (f64::from(x) / spacing).floor() as i64);
    let cells: Vec<[i64; 3]> = (0..mesh.positions.len() as u32).map(cell).collect();
    let mut order: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    order.sort_unstable_by_key(|&v| (cells[v as usize], v));
    let mut coarse = Mesh::default();
    let mut taken_by = vec![0; mesh.positions.len()];
    for together in order.chunk_by(|&a, &b| cells[a as usize] == cells[b as usize]) {
        for members in sides(together, &facing) {
            let number = coarse.positions.len() as u32;
            for &v in &members {
                taken_by[v as usize] = number;
            }
            let place = meeting_point(&members, &mesh.positions, &facing, spacing);
            coarse.positions.push(place);
            coarse.normals.push(direction(&members, &mesh.normals));
        }
    }
    let corners = mesh.triangles.iter();
    coarse.triangles = corners.map(|t| t.map(|v| taken_by[v as usize])).collect();
    remove_degenerate(&mut coarse);
    coarse
}

/// Clusters the vertices of a cell: those inside of an area, those that face as the first one does, and those that face
/// away.
fn sides(together: &[u32], facing: &[Vector]) -> impl Iterator<Item = Vec<u32>> {
    let of = |v: u32| facing[v as usize];
    let first = together.iter().map(|&v| of(v)).find(|&f| f != [0.0; 3]);
    let mut sides = [const { Vec::new() }; 3];
    for &v in together {
        let side = match first {
            Some(first) if of(v) != [0.0; 3] => 1 + usize::from(dot(first, of(v)) < 0.0),
            _ => 0,
        };
        sides[side].push(v);
    }
    sides.into_iter().filter(|members| !members.is_empty())
}

/// Outward direction of each vertex of an area in 2D; zero for those not on its boundary.
fn out_of_area(mesh: &Mesh) -> Vec<Vector> {
    let mut edges: Vec<(u32, u32)> = mesh
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
        .collect();
    edges.sort_unstable_by_key(|&(a, b)| (a.min(b), a.max(b)));
    let mut out = vec![[0.0; 3]; mesh.positions.len()];
    for same in edges.chunk_by(|&(a, b), &(c, d)| (a.min(b), a.max(b)) == (c.min(d), c.max(d))) {
        let &[(a, b)] = same else {
            continue;
        };
        let (from, to) = (mesh.positions[a as usize], mesh.positions[b as usize]);
        for v in [a, b] {
            out[v as usize][0] += to[1] - from[1];
            out[v as usize][1] -= to[0] - from[0];
        }
    }
    out
}

/// Removes degenerate and duplicate triangles, and unused vertices.
fn remove_degenerate(mesh: &mut Mesh) {
    mesh.triangles
        .retain(|&[a, b, c]| a != b && b != c && c != a);
    for triangle in &mut mesh.triangles {
        let [a, b, c] = *triangle;
        *triangle = match a.min(b).min(c) {
            least if least == a => [a, b, c],
            least if least == b => [b, c, a],
            _ => [c, a, b],
        };
    }
    mesh.triangles.sort_unstable();
    mesh.triangles.dedup();
    let mut used = vec![false; mesh.positions.len()];
    for &v in mesh.triangles.iter().flatten() {
        used[v as usize] = true;
    }
    let mut number = 0;
    let numbers: Vec<u32> = used
        .iter()
        .map(|&used| {
            number += u32::from(used);
            number.saturating_sub(1)
        })
        .collect();
    let keep = |list: &mut Vec<Vector>| {
        let mut used = used.iter();
        list.retain(|_| used.next() == Some(&true));
    };
    keep(&mut mesh.positions);
    keep(&mut mesh.normals);
    for v in mesh.triangles.iter_mut().flatten() {
        *v = numbers[*v as usize];
    }
}

fn mean(members: &[u32], of: &[Vector]) -> Vector {
    let sum = |axis: usize| -> f64 {
        members
            .iter()
            .map(|&v| f64::from(of[v as usize][axis]))
            .sum()
    };
    from_fn(|axis| (sum(axis) / members.len() as f64) as f32)
}

/// Intersection of the tangent planes of the vertices, within half a cell of their mean: creases stay
/// sharp, and convex features keep their volume.
fn meeting_point(members: &[u32], positions: &[Vector], facing: &[Vector], spacing: f64) -> Vector {
    let middle = mean(members, positions);
    let mut at = middle;
    for _ in 0..ROUNDS {
        let mut step = [0.0; 3];
        for &v in members {
            let (x, out) = (positions[v as usize], facing[v as usize]);
            let square = dot(out, out);
            if square > 0.0 {
                let above = dot(out, from_fn(|axis| x[axis] - at[axis])) / square;
                step = from_fn(|axis| step[axis] + above * out[axis]);
            }
        }
        at = from_fn(|axis| at[axis] + step[axis] / members.len() as f32);
    }
    let reach = 0.5 * spacing as f32;
    from_fn(|axis| at[axis].clamp(middle[axis] - reach, middle[axis] + reach))
}

/// Mean direction, or the first one if they cancel.
fn direction(members: &[u32], of: &[Vector]) -> Vector {
    let mean = mean(members, of);
    let length = dot(mean, mean).sqrt();
    if length > 1e-3 {
        mean.map(|x| x / length)
    } else {
        of[members[0] as usize]
    }
}

fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Surface;
    use crate::surface::dual_contouring::{Sampled, surface};
    use meniscus_shapes::Shape;

    /// Mesh of a shape in the unit cube, with this many cells along a side.
    fn meshed(shape: &Shape<3>, cells: usize) -> Mesh {
        surface(&Sampled {
            low: [0.0; 3],
            spacing: 1.0 / cells as f64,
            cells: [cells; 3],
            distance: &|x| shape.distance(x),
            normal: &|x| shape.gradient(x),
        })
    }

    fn as_surface(mesh: &Mesh) -> Surface {
        Surface {
            positions: mesh.positions.clone(),
            triangles: mesh.triangles.clone(),
            ..Surface::default()
        }
    }

    fn reach(mesh: &Mesh, axis: usize) -> [f32; 2] {
        let along = mesh.positions.iter().map(|x| x[axis]);
        [
            along.clone().fold(f32::INFINITY, f32::min),
            along.fold(f32::NEG_INFINITY, f32::max),
        ]
    }

    #[test]
    fn simplified_balls_and_sheets_preserve_volume_and_bounds() {
        let ball = Shape::Sphere {
            center: [0.5; 3],
            radius: 0.4,
        };
        let sheet = Shape::Box {
            low: [0.11, 0.13, 0.48],
            high: [0.87, 0.89, 0.51],
        };
        // The rim of the sheet becomes a crease.
        for (shape, spacing, share) in [(ball, 0.05, 0.02), (sheet, 0.06, 0.2)] {
            let fine = meshed(&shape, 100);
            let coarse = coarsened(&fine, false, spacing);
            assert!(7 * coarse.positions.len() < fine.positions.len());
            assert_eq!(coarse.normals.len(), coarse.positions.len());
            let (before, after) = (as_surface(&fine).volume(), as_surface(&coarse).volume());
            assert!(
                (after - before).abs() < share * before,
                "{before} became {after}"
            );
            for axis in 0..3 {
                let (fine, coarse) = (reach(&fine, axis), reach(&coarse, axis));
                for end in 0..2 {
                    let off = (fine[end] - coarse[end]).abs();
                    assert!(f64::from(off) < 0.5 * spacing, "axis {axis} is {off} off");
                }
            }
            for normal in &coarse.normals {
                assert!((dot(*normal, *normal) - 1.0).abs() < 1e-3);
            }
            assert_eq!(coarse, coarsened(&fine, false, spacing));
        }
    }

    #[test]
    fn a_simplified_area_in_2d_preserves_its_outline() {
        let side = 60u32;
        let number = |i: u32, j: u32| i * (side + 1) + j;
        let places = (0..=side).flat_map(|i| (0..=side).map(move |j| [i, j]));
        let fine = Mesh {
            positions: places
                .clone()
                .map(|[i, j]| [i as f32 / 60.0, j as f32 / 300.0, 0.0])
                .collect(),
            normals: vec![[0.0, 0.0, 1.0]; ((side + 1) * (side + 1)) as usize],
            triangles: places
                .filter(|&[i, j]| i < side && j < side)
                .flat_map(|[i, j]| {
                    let (a, b) = (number(i, j), number(i + 1, j));
                    let (c, d) = (number(i + 1, j + 1), number(i, j + 1));
                    [[a, b, c], [a, c, d]]
                })
                .collect(),
        };
        for spacing in [0.07, 0.5] {
            let coarse = coarsened(&fine, true, spacing);
            assert!(4 * coarse.positions.len() < fine.positions.len());
            let [low, high] = reach(&coarse, 1);
            let off = low.abs().max((high - 0.2).abs());
            assert!(off < 0.01, "a long side is {off} off");
            let area = as_surface(&coarse).area();
            assert!(area > 0.2 * (1.0 - 2.0 * spacing), "{area} at {spacing}");
        }
    }

    #[test]
    fn features_smaller_than_a_cell_vanish_completely() {
        let drop = Shape::Sphere {
            center: [0.55; 3],
            radius: 0.02,
        };
        let fine = meshed(&drop, 200);
        assert!(!fine.triangles.is_empty());
        assert_eq!(coarsened(&fine, false, 0.5), Mesh::default());
        assert_eq!(coarsened(&Mesh::default(), false, 0.1), Mesh::default());
    }
}
