//! One stretch of a motion, from a key to the next.

use crate::bounds::Bounds;
use crate::pose::Pose;
use crate::rotation::{Generator, Rotation, angle_of};
use crate::vector::{add, norm, scale, sub};
use std::array::from_fn;

/// A cubic in Bernstein form over `0 <= s <= 1`: the curve and its rates stay within the hull of
/// their control points, which is what bounds speeds.
#[derive(Clone, Copy)]
pub(crate) struct Cubic<const D: usize> {
    control: [[f64; D]; 4],
}

impl<const D: usize> Cubic<D> {
    /// From `start` to `end` with the given changes per unit of `s` at both ends.
    pub fn hermite(start: [f64; D], leaving: [f64; D], arriving: [f64; D], end: [f64; D]) -> Self {
        Self {
            control: [
                start,
                add(start, scale(leaving, 1.0 / 3.0)),
                sub(end, scale(arriving, 1.0 / 3.0)),
                end,
            ],
        }
    }

    pub fn value(&self, s: f64) -> [f64; D] {
        self.blossom([s, s, s])
    }

    /// The polar form: affine in each argument, the curve where all three agree.
    fn blossom(&self, at: [f64; 3]) -> [f64; D] {
        let mut points = self.control;
        for (round, s) in at.into_iter().enumerate() {
            for i in 0..3 - round {
                points[i] = from_fn(|c| (1.0 - s) * points[i][c] + s * points[i + 1][c]);
            }
        }
        points[0]
    }

    /// The control points of the part from `s0` to `s1`.
    fn control_between(&self, s0: f64, s1: f64) -> [[f64; D]; 4] {
        [[s0; 3], [s0, s0, s1], [s0, s1, s1], [s1; 3]].map(|at| self.blossom(at))
    }

    /// The control points of the change per unit of `s`, over the part from `s0` to `s1`.
    fn rates_between(&self, s0: f64, s1: f64) -> [[f64; D]; 3] {
        let steps: [[f64; D]; 3] =
            from_fn(|i| scale(sub(self.control[i + 1], self.control[i]), 3.0));
        [[s0, s0], [s0, s1], [s1, s1]].map(|[u, v]| {
            from_fn(|c| {
                (1.0 - u) * ((1.0 - v) * steps[0][c] + v * steps[1][c])
                    + u * ((1.0 - v) * steps[1][c] + v * steps[2][c])
            })
        })
    }
}

/// The motion between two keys.
pub(crate) struct Stretch<const D: usize> {
    pub start: f64,
    pub duration: f64,
    pub position: Cubic<D>,
    pub first_rotation: Rotation<D>,
    /// Row by row, the generator of the rotation since the first key.
    pub turn: [Cubic<D>; D],
}

impl<const D: usize> Stretch<D> {
    pub fn pose(&self, t: f64) -> Pose<D> {
        let s = self.fraction(t);
        let generator: Generator<D> = from_fn(|i| self.turn[i].value(s));
        Pose {
            rotation: self.first_rotation.compose(&Rotation::exp(&generator)),
            translation: self.position.value(s),
        }
    }

    /// No point that stays within `bounds` and within `reach` of the body's origin moves faster
    /// between the times `t0` and `t1`.
    pub fn speed_bound(&self, t0: f64, t1: f64, bounds: &Bounds<D>, reach: f64) -> f64 {
        let (s0, s1) = (self.fraction(t0), self.fraction(t1));
        let speed = greatest(self.position.rates_between(s0, s1).map(norm)) / self.duration;
        // The differential of the exponential is a mean of rotations, so a body turns no faster
        // than its generator changes.
        let rows: [[[f64; D]; 3]; D] = from_fn(|i| self.turn[i].rates_between(s0, s1));
        let rates: [Generator<D>; 3] = from_fn(|k| from_fn(|i| rows[i][k]));
        let turning = greatest(rates.map(|rate| angle_of(&rate))) / self.duration;
        if turning == 0.0 {
            return speed;
        }
        let origins = self.position.control_between(s0, s1);
        speed + turning * greatest(origins.map(|origin| bounds.farthest(origin))).min(reach)
    }

    fn fraction(&self, t: f64) -> f64 {
        ((t - self.start) / self.duration).clamp(0.0, 1.0)
    }
}

fn greatest<const N: usize>(values: [f64; N]) -> f64 {
    values.into_iter().fold(0.0, f64::max)
}
