//! Marching cubes: triangles that separate the corners of a cube that are inside from those that are outside.
//!
//! Corner `c` of a cube is at its lower corner plus bit `a` of `c` along axis `a`. Edge `4 a + k` runs along axis `a`
//! from the `k`-th corner that has bit `a` clear. The table of triangles is computed here:
//!
//! - In every face, in order around it, a line leads from each crossing into the inside to the next crossing out of it. Two
//!   cubes that share a face draw the same lines into it, since they depend on its corners only: no gaps. Where two
//!   opposite corners are inside, they stay separate.
//! - The lines join to loops, which are triangulated. No diagonal runs inside a face of the cube, or the
//!   neighbour might have the same one and four triangles would meet in it: every edge has exactly two triangles.

use std::sync::LazyLock;

/// Triangles for every set of corners that are inside, as edge numbers, counter-clockwise as seen from outside.
pub static TRIANGLES: LazyLock<Vec<Vec<[u8; 3]>>> =
    LazyLock::new(|| (0..=255).map(triangles).collect());

/// Lower corner of an edge, and its axis.
pub fn edge(index: u8) -> (usize, usize) {
    let (axis, k) = (usize::from(index) / 4, usize::from(index) % 4);
    let low = k & ((1 << axis) - 1);
    ((k - low) * 2 + low, axis)
}

/// Edge between two corners that differ along one axis.
fn edge_between(a: usize, b: usize) -> u8 {
    let axis = (a ^ b).trailing_zeros() as usize;
    let corner = a & b;
    let low = corner & ((1 << axis) - 1);
    (4 * axis + (corner - low) / 2 + low) as u8
}

/// Corners of a face, counter-clockwise as seen from outside.
pub(super) fn face(axis: usize, side: usize) -> [usize; 4] {
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let base = side << axis;
    if side == 1 {
        [base, base | u, base | u | v, base | v]
    } else {
        [base, base | v, base | u | v, base | u]
    }
}

fn triangles(case: usize) -> Vec<[u8; 3]> {
    let inside = |corner: usize| case >> corner & 1 == 1;
    let mut next = [None; 12];
    for (axis, side) in (0..3).flat_map(|axis| [(axis, 0), (axis, 1)]) {
        let corners = face(axis, side);
        let turn = |k: usize| corners[k % 4];
        for k in (0..4).filter(|&k| !inside(turn(k)) && inside(turn(k + 1))) {
            let leave = (k + 1..k + 4).find(|&l| inside(turn(l)) && !inside(turn(l + 1)));
            if let Some(l) = leave {
                let from = edge_between(turn(k), turn(k + 1));
                let to = edge_between(turn(l), turn(l + 1));
                next[usize::from(from)] = Some(to);
            }
        }
    }
    let mut all = Vec::new();
    for start in 0..12u8 {
        let mut polygon = Vec::new();
        let mut at = start;
        while let Some(to) = next[usize::from(at)].take() {
            polygon.push(at);
            at = to;
        }
        all.extend(cut(&polygon).unwrap_or_default());
    }
    all
}

/// Triangulates a polygon without diagonals inside a face of the cube.
fn cut(polygon: &[u8]) -> Option<Vec<[u8; 3]>> {
    let n = polygon.len();
    if n < 3 {
        return Some(Vec::new());
    }
    if n == 3 {
        return Some(vec![[polygon[0], polygon[1], polygon[2]]]);
    }
    (0..n).find_map(|ear| {
        let corner = |k: usize| polygon[(ear + k) % n];
        if share_a_face(corner(n - 1), corner(1)) {
            return None;
        }
        let rest: Vec<u8> = (1..n).map(corner).collect();
        let mut triangles = cut(&rest)?;
        triangles.push([corner(n - 1), corner(0), corner(1)]);
        Some(triangles)
    })
}

fn share_a_face(a: u8, b: u8) -> bool {
    let ((ca, axis_a), (cb, axis_b)) = (edge(a), edge(b));
    (0..3).any(|axis| axis != axis_a && axis != axis_b && (ca ^ cb) >> axis & 1 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_numbered_by_axis_and_corner() {
        for index in 0..12 {
            let (corner, axis) = edge(index);
            assert_eq!(corner >> axis & 1, 0);
            assert_eq!(edge_between(corner, corner | 1 << axis), index);
        }
    }

    #[test]
    fn every_case_has_all_its_triangles_and_they_face_outwards() {
        for case in 0..256usize {
            let crossed = (0..12u8).filter(|&e| {
                let (corner, axis) = edge(e);
                (case >> corner & 1) != (case >> (corner | 1 << axis) & 1)
            });
            let mut used: Vec<u8> = TRIANGLES[case].iter().flatten().copied().collect();
            used.sort_unstable();
            used.dedup();
            assert_eq!(used, crossed.collect::<Vec<_>>(), "case {case}");
        }
        // One corner at the origin: normals point away from it.
        let [a, b, c] = TRIANGLES[1][0].map(|e| {
            let (_, axis) = edge(e);
            std::array::from_fn::<f64, 3, _>(|i| if i == axis { 0.5 } else { 0.0 })
        });
        let (u, v): ([f64; 3], [f64; 3]) = (
            std::array::from_fn(|i| b[i] - a[i]),
            std::array::from_fn(|i| c[i] - a[i]),
        );
        assert!(u[1] * v[2] - u[2] * v[1] > 0.0);
    }

    #[test]
    fn inside_a_cube_every_edge_has_two_triangles_and_every_line_in_a_face_one() {
        for case in 0..256usize {
            let mut edges: Vec<(u8, u8)> = TRIANGLES[case]
                .iter()
                .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
                .collect();
            let all = edges.clone();
            edges.retain(|&(a, b)| !all.contains(&(b, a)));
            // The remaining edges have one triangle, and so must lie in a face, where the neighbour has the other.
            for &(a, b) in &edges {
                assert!(share_a_face(a, b), "case {case}");
                assert_eq!(all.iter().filter(|&&e| e == (a, b)).count(), 1);
            }
            // Diagonals never lie in a face.
            for &(a, b) in all.iter().filter(|&&(a, b)| all.contains(&(b, a))) {
                assert!(!share_a_face(a, b), "case {case}");
            }
        }
    }
}
