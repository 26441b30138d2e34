//! Triangles: nearest point, area, solid angle, and crossing with a line.

use crate::vector::{add, add_scaled, dot, norm, scale, sub};

/// The corners of a triangle, counter-clockwise seen from outside.
pub(crate) type Corners = [[f64; 3]; 3];

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Twice the area, along the outward normal.
pub(crate) fn doubled_area([a, b, c]: Corners) -> [f64; 3] {
    cross(sub(b, a), sub(c, a))
}

pub(crate) fn centroid([a, b, c]: Corners) -> [f64; 3] {
    scale(add(add(a, b), c), 1.0 / 3.0)
}

/// The longest side.
pub(crate) fn longest_side([a, b, c]: Corners) -> f64 {
    norm(sub(b, a)).max(norm(sub(c, b))).max(norm(sub(a, c)))
}

/// The nearest point of the triangle to `x` and its squared distance, if that is less than `bound`.
#[inline]
pub(crate) fn nearest_point(x: [f64; 3], corners: Corners, bound: f64) -> Option<([f64; 3], f64)> {
    let [a, b, c] = corners;
    let normal = doubled_area(corners);
    let square = dot(normal, normal);
    let height = dot(sub(x, a), normal);
    // The plane is at least as near as the triangle in it.
    if height * height >= bound * square {
        return None;
    }
    let beyond =
        |from: [f64; 3], to: [f64; 3]| dot(cross(sub(to, from), sub(x, from)), normal) < 0.0;
    let (beyond_ab, beyond_bc, beyond_ca) = (beyond(a, b), beyond(b, c), beyond(c, a));
    let mut best = None;
    let mut least = bound;
    let mut consider = |point: [f64; 3]| {
        let way = sub(x, point);
        let square = dot(way, way);
        if square < least {
            least = square;
            best = Some((point, square));
        }
    };
    if !(beyond_ab | beyond_bc | beyond_ca) {
        consider(add_scaled(x, -height / square, normal));
    }
    // Beyond one side only, the nearest point is on that side, its ends included; beyond two, on either.
    if beyond_ab {
        consider(nearest_on_segment(x, a, b));
    }
    if beyond_bc {
        consider(nearest_on_segment(x, b, c));
    }
    if beyond_ca {
        consider(nearest_on_segment(x, c, a));
    }
    best
}

#[inline]
fn nearest_on_segment(x: [f64; 3], from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
    let along = sub(to, from);
    let at = dot(sub(x, from), along) / dot(along, along);
    // Ends as they are: rounding must not make a corner two points.
    if at >= 1.0 {
        to
    } else if at > 0.0 {
        add_scaled(from, at, along)
    } else {
        from
    }
}

/// The solid angle under which the triangle is seen from `x`: positive from inside.
pub(crate) fn solid_angle(x: [f64; 3], [a, b, c]: Corners) -> f64 {
    let (a, b, c) = (sub(a, x), sub(b, x), sub(c, x));
    let (la, lb, lc) = (norm(a), norm(b), norm(c));
    let across = dot(a, cross(b, c));
    let along = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    2.0 * across.atan2(along)
}

/// How far along `direction` a line from `from` meets the triangle, if it does.
pub(crate) fn crossing(from: [f64; 3], direction: [f64; 3], corners: Corners) -> Option<f64> {
    let [a, b, c] = corners.map(|corner| sub(corner, from));
    // Volumes spanned with the direction: all of one sign if the line passes between the sides.
    let (u, v, w) = (
        dot(direction, cross(c, b)),
        dot(direction, cross(a, c)),
        dot(direction, cross(b, a)),
    );
    let inside = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
    let whole = u + v + w;
    if !inside || whole == 0.0 {
        return None;
    }
    let point = add(add(scale(a, u), scale(b, v)), scale(c, w));
    Some(dot(point, direction) / (whole * dot(direction, direction)))
}
