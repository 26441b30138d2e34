//! Exact distances to the simple solids, each with its normal.
//!
//! Every function gives both; where only the distance is wanted the functions are inlined and the
//! compiler drops the rest. Solids of revolution are distances in the plane of (along the axis, away
//! from it), which in two dimensions makes them symmetric about their axis.

use crate::vector::{add_scaled, direction_or, dot, norm, perpendicular, scale, sub, unit, up};
use std::array::from_fn;

/// A signed distance and the unit vector in which it grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearness<const D: usize> {
    pub distance: f64,
    pub normal: [f64; D],
}

#[inline(always)]
pub(crate) fn sphere<const D: usize>(x: [f64; D], center: [f64; D], radius: f64) -> Nearness<D> {
    let offset = sub(x, center);
    Nearness {
        distance: norm(offset) - radius,
        normal: direction_or(offset, up()),
    }
}

#[inline(always)]
pub(crate) fn cuboid<const D: usize>(x: [f64; D], low: [f64; D], high: [f64; D]) -> Nearness<D> {
    // How far x is beyond the nearer of the two faces of each axis.
    let beyond: [f64; D] = from_fn(|i| (low[i] - x[i]).max(x[i] - high[i]));
    let outside = norm(beyond.map(|b| b.max(0.0)));
    let mut face = 0;
    for i in 1..D {
        if beyond[i] > beyond[face] {
            face = i;
        }
    }
    let sign = |i: usize| {
        if x[i] - high[i] >= low[i] - x[i] {
            1.0
        } else {
            -1.0
        }
    };
    if outside > 0.0 {
        Nearness {
            distance: outside,
            normal: from_fn(|i| sign(i) * beyond[i].max(0.0) / outside),
        }
    } else {
        Nearness {
            distance: beyond[face],
            normal: scale(unit(face), sign(face)),
        }
    }
}

#[inline(always)]
pub(crate) fn capsule<const D: usize>(
    x: [f64; D],
    from: [f64; D],
    to: [f64; D],
    radius: f64,
) -> Nearness<D> {
    let along = sub(to, from);
    let square = dot(along, along);
    let at = if square > 0.0 {
        (dot(sub(x, from), along) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    sphere(x, add_scaled(from, at, along), radius)
}

#[inline(always)]
pub(crate) fn cylinder<const D: usize>(
    x: [f64; D],
    from: [f64; D],
    to: [f64; D],
    radius: f64,
) -> Nearness<D> {
    let frame = Revolution::new(x, from, sub(to, from));
    frame.back(cuboid(frame.at, [0.0, -radius], [frame.length, radius]))
}

#[inline(always)]
pub(crate) fn cone<const D: usize>(
    x: [f64; D],
    from: [f64; D],
    to: [f64; D],
    radius_from: f64,
    radius_to: f64,
) -> Nearness<D> {
    let frame = Revolution::new(x, from, sub(to, from));
    frame.back(trapezoid(frame.at, frame.length, radius_from, radius_to))
}

#[inline(always)]
pub(crate) fn torus<const D: usize>(
    x: [f64; D],
    center: [f64; D],
    axis: [f64; D],
    major: f64,
    minor: f64,
) -> Nearness<D> {
    let frame = Revolution::new(x, center, axis);
    frame.back(sphere(frame.at, [0.0, major], minor))
}

#[inline(always)]
pub(crate) fn half_space<const D: usize>(
    x: [f64; D],
    point: [f64; D],
    normal: [f64; D],
) -> Nearness<D> {
    let normal = direction_or(normal, up());
    Nearness {
        distance: dot(sub(x, point), normal),
        normal,
    }
}

/// Nearer to the axis than this, as a share of how far along, directions away from it need care.
const NEAR_AXIS: f64 = 1e-6;

/// A point seen along and away from an axis.
struct Revolution<const D: usize> {
    axis: [f64; D],
    length: f64,
    /// (along, away); away is not negative.
    at: [f64; 2],
    away: [f64; D],
}

impl<const D: usize> Revolution<D> {
    #[inline(always)]
    fn new(x: [f64; D], from: [f64; D], along: [f64; D]) -> Self {
        let length = norm(along);
        let axis = direction_or(along, up());
        let offset = sub(x, from);
        let along = dot(offset, axis);
        let away = add_scaled(offset, -along, axis);
        Self {
            axis,
            length,
            at: [along, norm(away)],
            away,
        }
    }

    #[inline(always)]
    fn back(&self, profile: Nearness<2>) -> Nearness<D> {
        let away = if self.at[1] > NEAR_AXIS * self.at[0].abs() {
            scale(self.away, 1.0 / self.at[1])
        } else {
            // Next to the axis what is left of the offset is rounding, and may lean along it.
            let lean = dot(self.away, self.axis);
            let upright = add_scaled(self.away, -lean, self.axis);
            direction_or(upright, perpendicular(self.axis))
        };
        let [along, outward] = profile.normal;
        Nearness {
            distance: profile.distance,
            normal: add_scaled(scale(away, outward), along, self.axis),
        }
    }
}

/// The profile of a truncated cone: between the axis and the line from (0, r0) to (length, r1).
#[inline(always)]
fn trapezoid([along, away]: [f64; 2], length: f64, r0: f64, r1: f64) -> Nearness<2> {
    // The nearer flat end.
    let (end, radius, outward) = if along < 0.5 * length {
        (0.0, r0, -1.0)
    } else {
        (length, r1, 1.0)
    };
    let end_height = outward * (along - end);
    let end_excess = (away - radius).max(0.0);
    let end_square = end_height * end_height + end_excess * end_excess;

    // The slanted side.
    let side = [length, r1 - r0];
    let side_square = dot(side, side);
    let side_normal = scale([r0 - r1, length], 1.0 / side_square.sqrt());
    let foot = (dot([along, away - r0], side) / side_square).clamp(0.0, 1.0);
    let from_foot = [along - foot * side[0], away - r0 - foot * side[1]];
    let side_distance = dot([along, away - r0], side_normal);

    let inside = end_height < 0.0 && side_distance < 0.0;
    let sign = if inside { -1.0 } else { 1.0 };
    let foot_square = dot(from_foot, from_foot);
    if end_square < foot_square {
        // Over the disc of the end: its rim belongs to the side as well.
        Nearness {
            distance: sign * end_square.sqrt(),
            normal: if end_excess == 0.0 {
                [outward, 0.0]
            } else {
                direction_or([outward * end_height, end_excess], [outward, 0.0])
            },
        }
    } else if foot > 0.0 && foot < 1.0 {
        Nearness {
            distance: sign * side_distance.abs(),
            normal: side_normal,
        }
    } else {
        Nearness {
            distance: sign * foot_square.sqrt(),
            normal: direction_or(scale(from_foot, sign), side_normal),
        }
    }
}
