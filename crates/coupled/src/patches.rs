//! Plane patches of a body's surface within a cell.
//!
//! A cell that an edge or a corner of a body cuts has one area, the sum of what the sides cover of its faces, but every side has a
//! distance and a normal of its own: a box whose bottom and side meet in a cell has no slope there.

/// Cosine between the normal by areas and that by distances, above which a surface is one patch.
const ONE_PATCH: f64 = 0.97;
/// Cosine between normals above which they belong to one side.
const SAME_SIDE: f64 = 0.9;
/// Length of a difference of distances below which its point is at an edge, where distances have a kink.
const SMOOTH: f64 = 0.98;
/// Step of differences, in cells.
const STEP: f64 = 1e-3;
/// Lines through a cell along each axis, to every side.
const LINES: usize = 3;
/// Steps of the search for the surface along a line.
const SEARCH: usize = 12;
/// Part of the area that the sides may leave unexplained.
const UNEXPLAINED: f64 = 0.05;

/// A plane patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch<const D: usize> {
    /// Area, in units of the area that was given.
    pub area: f64,
    /// Normal into the body.
    pub normal: [f64; D],
    /// Distance of the patch from the centre of the cell, along its normal.
    pub depth: f64,
    /// A point of the patch.
    pub point: [f64; D],
}

/// A side of a body: the sum of the normals and points found on it.
struct Side<const D: usize> {
    normal: [f64; D],
    point: [f64; D],
    count: f64,
}

fn dot<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    (0..D).map(|k| a[k] * b[k]).sum()
}

fn unit<const D: usize>(a: [f64; D]) -> [f64; D] {
    let length = dot(&a, &a).sqrt();
    a.map(|c| c / length)
}

/// The patches of a surface in the cell around `x`, from the area that covers the faces of the cell, directed into the body,
/// and the distance to the body. `None` if there is no area, or no distance.
pub fn patches<const D: usize>(
    area: [f64; D],
    x: [f64; D],
    dx: f64,
    distance: &dyn Fn([f64; D]) -> f64,
) -> Option<Vec<Patch<D>>> {
    let size = dot(&area, &area).sqrt();
    let depth = distance(x);
    if size <= 0.0 || !depth.is_finite() {
        return None;
    }
    let normal = area.map(|c| c / size);
    let one = Patch {
        area: size,
        normal,
        depth,
        point: std::array::from_fn(|a| x[a] + depth * normal[a]),
    };
    let inward = inward_gradient(x, depth, dx, distance);
    if dot(&inward, &normal) >= ONE_PATCH {
        return Some(vec![one]);
    }
    let sides = sides(x, dx, distance);
    Some(divided(&area, x, &sides).unwrap_or_else(|| vec![one]))
}

/// Minus the gradient of the distance, which is `here` at `x`.
fn inward_gradient<const D: usize>(
    x: [f64; D],
    here: f64,
    dx: f64,
    distance: &dyn Fn([f64; D]) -> f64,
) -> [f64; D] {
    std::array::from_fn(|a| {
        let mut beside = x;
        beside[a] += STEP * dx;
        (here - distance(beside)) / (STEP * dx)
    })
}

/// The sides of a body that cut the cell around `x`, where lines along the axes meet them.
fn sides<const D: usize>(x: [f64; D], dx: f64, distance: &dyn Fn([f64; D]) -> f64) -> Vec<Side<D>> {
    let mut sides: Vec<Side<D>> = Vec::new();
    for axis in 0..D {
        for line in 0..LINES.pow(D as u32 - 1) {
            let mut start = x;
            let mut rest = line;
            for other in (0..D).filter(|&other| other != axis) {
                let at = (rest % LINES) as f64 + 0.5;
                start[other] += (at / LINES as f64 - 0.5) * dx;
                rest /= LINES;
            }
            let Some(point) = crossing(start, axis, dx, distance) else {
                continue;
            };
            let normal = inward_gradient(point, distance(point), dx, distance);
            if dot(&normal, &normal) < SMOOTH * SMOOTH {
                continue;
            }
            let normal = unit(normal);
            let same = |side: &&mut Side<D>| dot(&unit(side.normal), &normal) > SAME_SIDE;
            match sides.iter_mut().find(same) {
                Some(side) => {
                    for a in 0..D {
                        side.normal[a] += normal[a];
                        side.point[a] += point[a];
                    }
                    side.count += 1.0;
                }
                None => sides.push(Side {
                    normal,
                    point,
                    count: 1.0,
                }),
            }
        }
    }
    sides
}

/// Where the line along `axis` through `middle` meets the surface, within half a cell.
fn crossing<const D: usize>(
    middle: [f64; D],
    axis: usize,
    dx: f64,
    distance: &dyn Fn([f64; D]) -> f64,
) -> Option<[f64; D]> {
    let at = |t: f64| {
        let mut x = middle;
        x[axis] += t * dx;
        x
    };
    let (mut low, mut high) = (-0.5, 0.5);
    let (mut below, mut above) = (distance(at(low)), distance(at(high)));
    if !below.is_finite() || !above.is_finite() || (below > 0.0) == (above > 0.0) {
        return None;
    }
    // Regula falsi, halved at every third step against one-sided ends.
    for step in 0..SEARCH {
        let t = match step % 3 {
            2 => 0.5 * (low + high),
            _ => low + (high - low) * below / (below - above),
        };
        let here = distance(at(t));
        if (here > 0.0) == (below > 0.0) {
            (low, below) = (t, here);
        } else {
            (high, above) = (t, here);
        }
    }
    Some(at(if below.abs() < above.abs() { low } else { high }))
}

/// The area as a sum of areas of the sides, if it is one.
fn divided<const D: usize>(
    area: &[f64; D],
    x: [f64; D],
    sides: &[Side<D>],
) -> Option<Vec<Patch<D>>> {
    let n = sides.len();
    if n < 2 || n > D {
        return None;
    }
    let normals: Vec<[f64; D]> = sides.iter().map(|side| unit(side.normal)).collect();
    // Least squares by the normal equations, of at most three sides that differ by more than 25 degrees.
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let products = normals.iter().map(|other| dot(&normals[i], other));
            products.chain([dot(&normals[i], area)]).collect()
        })
        .collect();
    for pivot in 0..n {
        if rows[pivot][pivot] < 1e-3 {
            return None;
        }
        for i in (0..n).filter(|&i| i != pivot) {
            let factor = rows[i][pivot] / rows[pivot][pivot];
            for k in 0..=n {
                rows[i][k] -= factor * rows[pivot][k];
            }
        }
    }
    let areas: Vec<f64> = (0..n).map(|i| rows[i][n] / rows[i][i]).collect();
    let left: [f64; D] =
        std::array::from_fn(|a| area[a] - (0..n).map(|k| areas[k] * normals[k][a]).sum::<f64>());
    let fits = dot(&left, &left) <= UNEXPLAINED * UNEXPLAINED * dot(area, area);
    if !fits || areas.iter().any(|&area| area < 0.0) {
        return None;
    }
    let patch = |k: usize| {
        let point = sides[k].point.map(|c| c / sides[k].count);
        let normal = normals[k];
        Patch {
            area: areas[k],
            normal,
            depth: (0..D).map(|a| normal[a] * (point[a] - x[a])).sum(),
            point,
        }
    };
    Some((0..n).map(patch).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance to the corner of a box that covers what is above and right of `corner`, turned by `angle`.
    fn corner(corner: [f64; 2], angle: f64) -> impl Fn([f64; 2]) -> f64 {
        move |x| {
            let (s, c) = angle.sin_cos();
            let d = [x[0] - corner[0], x[1] - corner[1]];
            let local = [c * d[0] + s * d[1], -s * d[0] + c * d[1]];
            let (a, b) = (-local[0], -local[1]);
            match a > 0.0 && b > 0.0 {
                true => a.hypot(b),
                false => a.max(b),
            }
        }
    }

    #[test]
    fn an_edge_in_a_cell_is_two_sides() {
        // The bottom is 0.08 above the low face, the side 0.6 right of the left one.
        let found = patches([0.92, 0.4], [0.5; 2], 1.0, &corner([0.6, 0.08], 0.0)).unwrap();
        let mut found = found;
        found.sort_by(|a, b| a.normal[1].total_cmp(&b.normal[1]));
        let expected = [([1.0, 0.0], 0.92, 0.1), ([0.0, 1.0], 0.4, -0.42)];
        assert_eq!(found.len(), 2);
        for (patch, (normal, area, depth)) in found.iter().zip(expected) {
            assert!(
                (dot(&patch.normal, &normal) - 1.0).abs() < 1e-9,
                "{patch:?}"
            );
            assert!((patch.area - area).abs() < 1e-9, "{patch:?}");
            assert!((patch.depth - depth).abs() < 1e-3, "{patch:?}");
        }
    }

    #[test]
    fn a_turned_edge_is_two_sides_whose_areas_are_that_of_the_cell() {
        let angle = 0.3f64;
        let (s, c) = angle.sin_cos();
        // Lengths of the sides in the cell: 0.5 of the bottom, 0.45 of the left side.
        let area = [0.45 * c - 0.5 * s, 0.45 * s + 0.5 * c];
        let found = patches(area, [0.5; 2], 1.0, &corner([0.5, 0.4], angle)).unwrap();
        assert_eq!(found.len(), 2);
        for patch in found {
            let is_bottom = patch.normal[1] > 0.5;
            let length = if is_bottom { 0.5 } else { 0.45 };
            assert!((patch.area - length).abs() < 1e-3, "{patch:?}");
        }
    }

    #[test]
    fn plane_and_round_surfaces_are_one_patch() {
        let plane = |x: [f64; 3]| 0.2 - 0.6 * x[0] - 0.8 * x[2];
        let found = patches([0.6, 0.0, 0.8], [0.1, 0.3, 0.2], 1.0, &plane).unwrap();
        assert_eq!(found.len(), 1);
        assert!((found[0].depth + 0.02).abs() < 1e-12);
        let ball = |x: [f64; 3]| (x[0].powi(2) + x[1].powi(2) + x[2].powi(2)).sqrt() - 2.5;
        let found = patches([-0.5, -0.4, -0.7], [1.5, 1.2, 1.6], 1.0, &ball).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(patches([0.0; 3], [0.5; 3], 1.0, &ball), None);
        assert_eq!(patches([1.0, 0.0], [0.5; 2], 1.0, &|_| f64::INFINITY), None);
    }
}
