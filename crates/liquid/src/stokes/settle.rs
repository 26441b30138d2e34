//! Rounds of contacts that do not go in circles.
//!
//! Between the results of two rounds the liquid is linear: every mean of both is what the liquid does at the mean velocities.
//! Without friction `R` is the gradient of a convex function, and agreement is the minimum of a convex function as well, whose
//! slope along the way from one result to the next takes small problems only. A round that would go beyond the
//! minimum on its way is shortened, so that rounds don't go in circles. Friction has no such function: there the next round starts
//! from the mean of the last ones whose velocities agree best (Anderson's acceleration), which makes up for the
//! derivative of sliding contacts, of which only the symmetric part is known. Where friction still does not settle, its forces are
//! kept for some rounds, then follow, and are kept again.

use super::motion::{inverse, product};
use super::with_bodies::InStep;

/// Rounds that are mixed, and the largest sum of their weights beyond the last one's.
const MIXED: usize = 5;
const HEAVIEST: f64 = 10.0;
/// Slope relative to that at the start at which a way is not searched any further, and evaluations at most.
const FLAT: f64 = 0.1;
const SEARCHES: usize = 20;
/// The least part of a way that a round takes.
const SHORTEST: f64 = 0.02;

/// What a round has found: what the liquid does at some velocities of the bodies.
#[derive(Clone)]
pub(super) struct Found {
    pub x: Vec<f64>,
    pub velocities: Vec<f64>,
    pub impulses: Vec<f64>,
}

impl Found {
    /// Adds a part of the way from one to another.
    fn add(&mut self, part: f64, to: &Self, from: &Self) {
        let add = |own: &mut [f64], to: &[f64], from: &[f64]| {
            let ways = to.iter().zip(from);
            own.iter_mut()
                .zip(ways)
                .for_each(|(own, (to, from))| *own += part * (to - from));
        };
        add(&mut self.x, &to.x, &from.x);
        add(&mut self.velocities, &to.velocities, &from.velocities);
        add(&mut self.impulses, &to.impulses, &from.impulses);
    }

    /// The mean with another one, at `t` on the way to it.
    fn towards(&self, other: &Self, t: f64) -> Self {
        let mean = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| a + t * (b - a)).collect()
        };
        Self {
            x: mean(&self.x, &other.x),
            velocities: mean(&self.velocities, &other.velocities),
            impulses: mean(&self.impulses, &other.impulses),
        }
    }
}

/// The largest difference.
pub(super) fn apart(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

impl<const D: usize> InStep<'_, D> {
    /// Of what a round has found and the mean of it and those before it whose velocities of contacts and liquid would be the closest,
    /// if contacts were linear, the one where they are closer.
    pub fn mixed(&mut self, tried: &mut Vec<(Found, Vec<f64>)>, found: Found) -> Found {
        let mut left = |found: &Found| -> Vec<f64> {
            self.impulses.clone_from(&found.impulses);
            self.respond();
            let pairs = self.velocities.iter().zip(&found.velocities);
            pairs.map(|(a, b)| a - b).collect()
        };
        let own = left(&found);
        // Least squares for the weights of the differences to this round.
        let ways: Vec<Vec<f64>> = tried
            .iter()
            .map(|(_, other)| other.iter().zip(&own).map(|(a, b)| a - b).collect())
            .collect();
        let n = ways.len();
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let gram = (0..n * n)
            .map(|k| dot(&ways[k / n], &ways[k % n]))
            .collect();
        let towards: Vec<f64> = ways.iter().map(|way| -dot(way, &own)).collect();
        let weights = product(&inverse(gram, n), &towards);
        let mut best = found.clone();
        let weight = weights.iter().map(|w| w.abs()).sum::<f64>();
        if n > 0 && weight <= HEAVIEST {
            let mut mean = found.clone();
            for ((other, _), weight) in tried.iter().zip(&weights) {
                mean.add(*weight, other, &found);
            }
            let square = |r: Vec<f64>| dot(&r, &r);
            if square(left(&mean)) < dot(&own, &own) {
                best = mean;
            }
        }
        if tried.len() == MIXED {
            tried.remove(0);
        }
        tried.push((found, own));
        best
    }

    /// What a round has found, or the mean of it and the last one beyond which the velocities of contacts and liquid would go
    /// apart again along the way.
    pub fn shortened(&mut self, last: &Found, found: Found) -> Found {
        let way = found.impulses.iter().zip(&last.impulses);
        let way: Vec<f64> = way.map(|(a, b)| a - b).collect();
        let mut slope = |t: f64| -> f64 {
            let mean = last.towards(&found, t);
            self.impulses = mean.impulses;
            self.respond();
            let pairs = self.velocities.iter().zip(&mean.velocities);
            way.iter().zip(pairs).map(|(w, (a, b))| w * (a - b)).sum()
        };
        let (mut low, mut high) = ((0.0, slope(0.0)), (1.0, slope(1.0)));
        let flat = FLAT * low.1.abs();
        // Uphill from the start: friction. Still downhill at the end: there is nothing to shorten.
        if low.1 >= 0.0 || high.1 <= flat {
            return found;
        }
        // Regula falsi, with the Illinois rule against a side that stays.
        let mut t = 1.0;
        let mut side = 0;
        for _ in 0..SEARCHES {
            t = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let at = slope(t);
            if at.abs() <= flat {
                break;
            }
            match at > 0.0 {
                true => {
                    high = (t, at);
                    low.1 *= if side == 1 { 0.5 } else { 1.0 };
                    side = 1;
                }
                false => {
                    low = (t, at);
                    high.1 *= if side == -1 { 0.5 } else { 1.0 };
                    side = -1;
                }
            }
        }
        last.towards(&found, t.max(SHORTEST))
    }
}
