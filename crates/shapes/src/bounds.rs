//! Boxes along the axes.

use crate::pose::Pose;
use std::array::from_fn;

/// A box along the axes. It holds nothing if `low > high` on some axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds<const D: usize> {
    /// The lower corner.
    pub low: [f64; D],
    /// The upper corner.
    pub high: [f64; D],
}

impl<const D: usize> Bounds<D> {
    /// The box that holds every point.
    pub const EVERYTHING: Self = Self {
        low: [f64::NEG_INFINITY; D],
        high: [f64::INFINITY; D],
    };

    /// The box that holds no point.
    pub const NOTHING: Self = Self {
        low: [f64::INFINITY; D],
        high: [f64::NEG_INFINITY; D],
    };

    /// Whether no point is inside.
    pub fn is_empty(&self) -> bool {
        (0..D).any(|i| self.low[i] > self.high[i])
    }

    /// Whether all corners are finite.
    pub fn is_finite(&self) -> bool {
        (0..D).all(|i| self.low[i].is_finite() && self.high[i].is_finite())
    }

    /// Whether `x` is inside or on the boundary.
    pub fn contains(&self, x: [f64; D]) -> bool {
        (0..D).all(|i| self.low[i] <= x[i] && x[i] <= self.high[i])
    }

    /// The smallest box around both.
    pub fn union(&self, other: &Self) -> Self {
        if self.is_empty() {
            return *other;
        }
        if other.is_empty() {
            return *self;
        }
        Self {
            low: from_fn(|i| self.low[i].min(other.low[i])),
            high: from_fn(|i| self.high[i].max(other.high[i])),
        }
    }

    /// The common part, which may be empty.
    pub fn intersection(&self, other: &Self) -> Self {
        Self {
            low: from_fn(|i| self.low[i].max(other.low[i])),
            high: from_fn(|i| self.high[i].min(other.high[i])),
        }
    }

    /// The box with every side moved outward by `margin`.
    pub fn expanded(&self, margin: f64) -> Self {
        Self {
            low: self.low.map(|c| c - margin),
            high: self.high.map(|c| c + margin),
        }
    }

    /// The smallest box around this one after a rigid motion.
    pub fn placed(&self, pose: &Pose<D>) -> Self {
        if self.is_empty() {
            return Self::NOTHING;
        }
        if !self.is_finite() {
            // An unbounded side may point anywhere once turned.
            return Self::EVERYTHING;
        }
        let centre = pose.apply(from_fn(|i| 0.5 * (self.low[i] + self.high[i])));
        let matrix = pose.rotation.matrix();
        let reach: [f64; D] = from_fn(|i| {
            (0..D)
                .map(|j| matrix[i][j].abs() * 0.5 * (self.high[j] - self.low[j]))
                .sum()
        });
        Self {
            low: from_fn(|i| centre[i] - reach[i]),
            high: from_fn(|i| centre[i] + reach[i]),
        }
    }

    /// The distance from `x` to the farthest point of the box.
    pub fn farthest(&self, x: [f64; D]) -> f64 {
        let mut sum = 0.0;
        for i in 0..D {
            let reach = (x[i] - self.low[i]).abs().max((self.high[i] - x[i]).abs());
            sum += reach * reach;
        }
        sum.sqrt()
    }
}
