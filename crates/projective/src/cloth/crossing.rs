//! Meshes that cross each other or themselves.

use rayon::prelude::*;

use super::Sheet;
use super::grid::{Extent, Grid};
use super::swept::point_crosses_triangle;
use super::vector::{V3, length, plus, scaled, sub};

/// Where two meshes cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Their numbers, the larger one first; equal if a mesh crosses itself.
    pub sheets: [usize; 2],
    /// A point that both have.
    pub place: [f64; 3],
}

/// The first crossing of triangles without a common corner, if there is one.
pub fn crossing(sheets: &[&Sheet]) -> Option<Crossing> {
    let mut triangles: Vec<(usize, [u32; 3], [V3; 3])> = Vec::new();
    for (number, sheet) in sheets.iter().enumerate() {
        let corners = |t: &[u32; 3]| t.map(|v| sheet.vertices[v as usize]);
        let own = sheet.triangles.iter().map(|t| (number, *t, corners(t)));
        triangles.extend(own);
    }
    let sides = triangles
        .iter()
        .map(|(_, _, [a, b, _])| length(sub(*b, *a)));
    let mean = sides.sum::<f64>() / triangles.len().max(1) as f64;
    let boxes = triangles.iter().map(|(_, _, x)| Extent::around(x));
    let grid = Grid::new(boxes.collect(), 1.5 * mean.max(1e-300));
    let crosses = |(number, names, x): &(usize, [u32; 3], [V3; 3])| {
        let mut near = Vec::new();
        grid.overlapping(&Extent::around(x), &mut near);
        near.into_iter().find_map(|other| {
            let (other, corners, [a, b, c]) = triangles[other as usize];
            if other == *number && names.iter().any(|v| corners.contains(v)) {
                return None;
            }
            (0..3).find_map(|side| {
                let (from, to) = (x[side], x[(side + 1) % 3]);
                let [u, v, w] = point_crosses_triangle([from, a, b, c], [to, a, b, c])?;
                Some(Crossing {
                    sheets: [other.max(*number), other.min(*number)],
                    place: plus(plus(scaled(a, u), v, b), w, c),
                })
            })
        })
    };
    triangles.par_iter().find_map_first(crosses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(triangles: &[[V3; 3]]) -> Sheet {
        let corners = (0..triangles.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]);
        Sheet {
            name: "sheet".into(),
            vertices: triangles.iter().flatten().copied().collect(),
            triangles: corners.collect(),
            tetrahedra: Vec::new(),
            density: 1.0,
            stretch: 1.0,
            poisson_ratio: 0.0,
            bend: 0.0,
            strain_limit: None,
            friction: 0.0,
            thickness: 0.0,
            velocity: [0.0; 3],
            pins: Vec::new(),
        }
    }

    #[test]
    fn triangles_that_cross_are_found() {
        let flat = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let upright = [[0.2, 0.2, -0.5], [0.3, 0.2, 0.5], [0.2, 0.9, 0.8]];
        let beside = upright.map(|[x, y, z]| [x + 2.0, y, z]);
        let crossed = crossing(&[&sheet(&[flat, upright])]).expect("a crossing");
        assert_eq!(crossed.sheets, [0, 0]);
        assert!(crossed.place[2].abs() < 1e-9);
        let two = crossing(&[&sheet(&[flat]), &sheet(&[beside, upright])]);
        assert_eq!(two.expect("a crossing").sheets, [1, 0]);
        assert_eq!(crossing(&[&sheet(&[flat, beside])]), None);
    }
}
