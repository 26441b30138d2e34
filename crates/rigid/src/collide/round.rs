//! Contacts of balls and capsules.

use super::part::PosedPart;
use crate::contact::Touch;
use crate::linear::{add_scaled, dot, norm, sub, unit_or};

/// A ball or capsule in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round<const D: usize> {
    pub from: [f64; D],
    pub to: [f64; D],
    pub radius: f64,
}

impl<const D: usize> Round<D> {
    fn is_ball(&self) -> bool {
        self.from == self.to
    }

    fn at(&self, s: f64) -> [f64; D] {
        add_scaled(self.from, s, sub(self.to, self.from))
    }
}

/// Contacts of two balls or capsules: the nearest points, and the ends where they are parallel.
pub(super) fn round_round<const D: usize>(
    a: &Round<D>,
    b: &Round<D>,
    margin: f64,
    out: &mut Vec<Touch<D>>,
) {
    if a.is_ball() && b.is_ball() {
        return nearest(a, b, (0.0, 0.0, 0), margin, out);
    }
    let start = out.len();
    let (u, v) = (sub(a.to, a.from), sub(b.to, b.from));
    let (uu, vv, uv) = (dot(u, u), dot(v, v), dot(u, v));
    if uu > 0.0 && vv > 0.0 && uu * vv - uv * uv <= 1e-4 * uu * vv {
        // Nearly parallel: each end against the other segment, where it is beside it.
        for (id, s) in [(1, 0.0), (2, 1.0)] {
            let t = dot(sub(a.at(s), b.from), v) / vv;
            if (0.0..=1.0).contains(&t) {
                nearest(a, b, (s, t, id), margin, out);
            }
        }
        for (id, t) in [(3, 0.0), (4, 1.0)] {
            let s = dot(sub(b.at(t), a.from), u) / uu;
            if (0.0..=1.0).contains(&s) {
                nearest(a, b, (s, t, id), margin, out);
            }
        }
        if out.len() > start {
            return;
        }
    }
    let (s, t) = nearest_on_segments(a, b);
    nearest(a, b, (s, t, 0), margin, out);
}

/// The contact between two points of the axes.
fn nearest<const D: usize>(
    a: &Round<D>,
    b: &Round<D>,
    (s, t, id): (f64, f64, u64),
    margin: f64,
    out: &mut Vec<Touch<D>>,
) {
    let q = b.at(t);
    let apart = sub(a.at(s), q);
    let gap = norm(apart) - a.radius - b.radius;
    if gap <= margin {
        let up: [f64; D] = std::array::from_fn(|i| if i == D - 1 { 1.0 } else { 0.0 });
        let normal = unit_or(apart, up);
        let point = add_scaled(q, b.radius + 0.5 * gap, normal);
        out.push(Touch {
            point,
            normal,
            gap,
            id,
        });
    }
}

/// Parameters of the nearest points of two segments.
fn nearest_on_segments<const D: usize>(a: &Round<D>, b: &Round<D>) -> (f64, f64) {
    let (u, v, w) = (sub(a.to, a.from), sub(b.to, b.from), sub(a.from, b.from));
    let (uu, vv, uv) = (dot(u, u), dot(v, v), dot(u, v));
    let (uw, vw) = (dot(u, w), dot(v, w));
    let clamp = |x: f64| x.clamp(0.0, 1.0);
    if uu == 0.0 {
        return (0.0, if vv > 0.0 { clamp(vw / vv) } else { 0.0 });
    }
    if vv == 0.0 {
        return (clamp(-uw / uu), 0.0);
    }
    let determinant = uu * vv - uv * uv;
    let s = if determinant > 1e-12 * uu * vv {
        clamp((uv * vw - vv * uw) / determinant)
    } else {
        0.0
    };
    let t = (uv * s + vw) / vv;
    if (0.0..=1.0).contains(&t) {
        return (s, t);
    }
    let t = clamp(t);
    (clamp((uv * t - uw) / uu), t)
}

/// Contacts of a ball or capsule with any other solid, by the distance of its axis from the solid.
pub(super) fn round_solid<const D: usize>(
    round: &Round<D>,
    solid: &PosedPart<'_, D>,
    margin: f64,
    out: &mut Vec<Touch<D>>,
) {
    let distance =
        |s: f64| solid.distance_within(round.at(s), round.radius + 2.0 * margin.max(round.radius));
    let mut add = |s: f64, distance: f64, id: u64| {
        let gap = distance - round.radius;
        if gap <= margin {
            let x = round.at(s);
            let normal = solid.normal(x);
            out.push(Touch {
                point: add_scaled(x, -(round.radius + 0.5 * gap), normal),
                normal,
                gap,
                id,
            });
        }
    };
    if round.is_ball() {
        return add(0.0, distance(0.0), 0);
    }
    let (first, last) = (distance(0.0), distance(1.0));
    let (s, least) = least_distance(&distance);
    let length = norm(sub(round.to, round.from));
    if least < first.min(last) - 1e-6 * length {
        add(s, least, 3);
    }
    add(0.0, first, 1);
    add(1.0, last, 2);
}

/// The least of a distance along a segment: the best of a few points, then golden sections about it.
fn least_distance(distance: &impl Fn(f64) -> f64) -> (f64, f64) {
    const POINTS: usize = 9;
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let at = |k: usize| k as f64 / (POINTS - 1) as f64;
    let mut best = (0.0, f64::INFINITY);
    for k in 0..POINTS {
        let d = distance(at(k));
        if d < best.1 {
            best = (at(k), d);
        }
    }
    let step = 1.0 / (POINTS - 1) as f64;
    let (mut low, mut high) = ((best.0 - step).max(0.0), (best.0 + step).min(1.0));
    for _ in 0..40 {
        let (p, q) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        let (dp, dq) = (distance(p), distance(q));
        let inner = if dp < dq { (p, dp) } else { (q, dq) };
        if inner.1 < best.1 {
            best = inner;
        }
        if dp < dq { high = q } else { low = p }
    }
    best
}

/// Contacts of a ball or capsule with a half-space.
pub(super) fn round_half_space<const D: usize>(
    round: &Round<D>,
    normal: [f64; D],
    offset: f64,
    margin: f64,
    out: &mut Vec<Touch<D>>,
) {
    let ends: &[([f64; D], u64)] = if round.is_ball() {
        &[(round.from, 0)]
    } else {
        &[(round.from, 1), (round.to, 2)]
    };
    for &(x, id) in ends {
        let gap = dot(normal, x) - offset - round.radius;
        if gap <= margin {
            let point = add_scaled(x, -(round.radius + 0.5 * gap), normal);
            out.push(Touch {
                point,
                normal,
                gap,
                id,
            });
        }
    }
}
