//! Continuous collision tests: points against triangles and edges against edges, all moving on straight lines.

use super::vector::{V3, cross, dot, length, plus, scaled, sub};

/// Share of an edge or triangle by which tests reach beyond it, so that nothing slips through between two of them.
const OVERLAP: f64 = 1e-6;

/// Point of a triangle closest to `x`: weights of the corners.
pub fn closest_on_triangle(x: V3, [a, b, c]: [V3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (sub(b, a), sub(c, a), sub(x, a));
    let (d1, d2) = (dot(ab, ap), dot(ac, ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = sub(x, b);
    let (d3, d4) = (dot(ab, bp), dot(ac, bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return [1.0 - t, t, 0.0];
    }
    let cp = sub(x, c);
    let (d5, d6) = (dot(ab, cp), dot(ac, cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return [1.0 - t, 0.0, t];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - t, t];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

/// Closest points of the edges `ab` and `cd`: shares of the way from `a` to `b` and from `c` to `d`.
pub fn closest_on_edges([a, b, c, d]: [V3; 4]) -> (f64, f64) {
    let (u, v, w) = (sub(b, a), sub(d, c), sub(a, c));
    let (uu, uv, vv, uw, vw) = (dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w));
    let determinant = uu * vv - uv * uv;
    let mut s = if determinant > 1e-12 * uu * vv {
        ((uv * vw - vv * uw) / determinant).clamp(0.0, 1.0)
    } else {
        0.5
    };
    let t = ((uv * s + vw) / vv.max(1e-300)).clamp(0.0, 1.0);
    s = ((uv * t - uw) / uu.max(1e-300)).clamp(0.0, 1.0);
    (s, t)
}

/// Whether a point crosses a triangle while all move from `from` to `to`: weights of the corners where it does first. The
/// first of the four points is the point itself.
pub fn point_crosses_triangle(from: [V3; 4], to: [V3; 4]) -> Option<[f64; 3]> {
    for t in coplanar_times(from, to) {
        let [x, a, b, c] = at(from, to, t);
        let normal = cross(sub(b, a), sub(c, a));
        let square = dot(normal, normal);
        if square == 0.0 {
            continue;
        }
        let weight = |p: V3, q: V3| dot(cross(sub(p, x), sub(q, x)), normal) / square;
        let weights = [weight(b, c), weight(c, a), weight(a, b)];
        if weights.iter().all(|w| *w >= -OVERLAP) {
            return Some(weights);
        }
    }
    None
}

/// Whether the edges `ab` and `cd` cross while all move from `from` to `to`: shares of the ways along both where they do
/// first.
pub fn edges_cross(from: [V3; 4], to: [V3; 4]) -> Option<(f64, f64)> {
    for t in coplanar_times(from, to) {
        let now @ [a, b, c, d] = at(from, to, t);
        let (s, r) = closest_on_edges(now);
        let apart = sub(plus(a, s, sub(b, a)), plus(c, r, sub(d, c)));
        let size = length(sub(b, a)).max(length(sub(d, c)));
        if length(apart) <= OVERLAP * size {
            return Some((s, r));
        }
    }
    None
}

fn at(from: [V3; 4], to: [V3; 4], t: f64) -> [V3; 4] {
    std::array::from_fn(|k| plus(scaled(from[k], 1.0 - t), t, to[k]))
}

/// Times from 0 to 1 at which four moving points are in one plane, in order.
fn coplanar_times(from: [V3; 4], to: [V3; 4]) -> impl Iterator<Item = f64> {
    let start: [V3; 3] = std::array::from_fn(|k| sub(from[k + 1], from[0]));
    let end: [V3; 3] = std::array::from_fn(|k| sub(to[k + 1], to[0]));
    let rate: [V3; 3] = std::array::from_fn(|k| sub(end[k], start[k]));
    let triple = |a: V3, b: V3, c: V3| dot(a, cross(b, c));
    let ([a, b, c], [p, q, r]) = (start, rate);
    let coefficients = [
        triple(a, b, c),
        triple(p, b, c) + triple(a, q, c) + triple(a, b, r),
        triple(p, q, c) + triple(p, b, r) + triple(a, q, r),
        triple(p, q, r),
    ];
    roots(coefficients).into_iter().flatten()
}

/// Roots from 0 to 1 of `k0 + k1 t + k2 t² + k3 t³`, in order.
fn roots(k: [f64; 4]) -> [Option<f64>; 3] {
    let value = |t: f64| ((k[3] * t + k[2]) * t + k[1]) * t + k[0];
    // Between the roots of the derivative the polynomial is monotone.
    let mut ends = [0.0, 1.0, 1.0, 1.0];
    let mut count = 1;
    let (a, b, c) = (3.0 * k[3], 2.0 * k[2], k[1]);
    let mut extremes = [f64::NAN; 2];
    let discriminant = b * b - 4.0 * a * c;
    if discriminant >= 0.0 {
        let q = -0.5 * (b + b.signum() * discriminant.sqrt());
        extremes = [q / a, c / q];
        extremes.sort_by(f64::total_cmp);
    }
    for t in extremes {
        if t > 0.0 && t < 1.0 {
            ends[count] = t;
            count += 1;
        }
    }
    ends[count] = 1.0;
    let mut found = [None; 3];
    for k in 0..count {
        let (mut low, mut high) = (ends[k], ends[k + 1]);
        let (at_low, at_high) = (value(low), value(high));
        if at_low == 0.0 && at_high == 0.0 || at_low * at_high > 0.0 {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if value(middle) * at_low > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        found[k] = Some(0.5 * (low + high));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [V3; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

    #[test]
    fn a_fast_point_does_not_miss_a_triangle() {
        let moved = |x: V3| [x, CORNERS[0], CORNERS[1], CORNERS[2]];
        let hit = point_crosses_triangle(moved([0.2, 0.3, 50.0]), moved([0.2, 0.3, -70.0]));
        let hit = hit.expect("a hit");
        assert!((hit[1] - 0.2).abs() < 1e-9 && (hit[2] - 0.3).abs() < 1e-9);
        let beside = point_crosses_triangle(moved([0.7, 0.7, 50.0]), moved([0.7, 0.7, -70.0]));
        assert_eq!(beside, None);
        let same_side = point_crosses_triangle(moved([0.2, 0.3, 1.0]), moved([0.2, 0.3, 0.01]));
        assert_eq!(same_side, None);
    }

    #[test]
    fn a_moving_triangle_does_not_miss_a_point_at_rest() {
        let from = [[0.2, 0.3, 0.5], CORNERS[0], CORNERS[1], CORNERS[2]];
        let mut to = from;
        for corner in &mut to[1..] {
            corner[2] += 1.0;
        }
        assert!(point_crosses_triangle(from, to).is_some());
    }

    #[test]
    fn edges_that_pass_through_each_other_are_found() {
        let from = [
            [-1.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, -1.0, 0.2],
            [0.0, 1.0, 0.2],
        ];
        let mut to = from;
        (to[2][2], to[3][2]) = (-0.3, -0.1);
        let (s, t) = edges_cross(from, to).expect("a crossing");
        assert!((s - 0.5).abs() < 1e-6 && (t - 0.5).abs() < 1e-6);
        let mut beside = to;
        (beside[2][0], beside[3][0]) = (3.0, 3.0);
        let mut start = from;
        (start[2][0], start[3][0]) = (3.0, 3.0);
        assert_eq!(edges_cross(start, beside), None);
    }

    #[test]
    fn closest_points_are_closest() {
        let weights = closest_on_triangle([0.2, 0.3, 4.0], CORNERS);
        assert!((weights[1] - 0.2).abs() < 1e-12 && (weights[2] - 0.3).abs() < 1e-12);
        assert_eq!(
            closest_on_triangle([-1.0, -2.0, 1.0], CORNERS),
            [1.0, 0.0, 0.0]
        );
        let edge = closest_on_triangle([1.0, 1.0, 0.0], CORNERS);
        assert!((edge[1] - 0.5).abs() < 1e-12 && (edge[2] - 0.5).abs() < 1e-12);
        let (s, t) = closest_on_edges([
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.3, 1.0, -1.0],
            [0.3, 1.0, 1.0],
        ]);
        assert!((s - 0.3).abs() < 1e-12 && (t - 0.5).abs() < 1e-12);
    }
}
