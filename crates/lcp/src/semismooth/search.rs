//! Line search of a semismooth Newton method, and the status where all directions fail.

use super::direction::{Kind, Solve};
use super::{Taken, Workspace};
use crate::operator::Operator;
use crate::reduce::{self, larger};
use crate::report::Status;
use crate::split::fold;

/// A map no larger than this part of the terms it is made of is made of rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Step of the projected gradient, as a part of what it could be, that counts as zero.
const FLAT: f64 = 1e-7;

impl<A: Operator + ?Sized> Solve<'_, '_, A> {
    /// Projected Armijo search [Erl13 (83)], against the largest of the last merits: leaves a point in `w.trial`.
    pub fn search(&self, kind: Kind, slope: f64, w: &mut Workspace) -> Option<Taken> {
        let (problem, settings) = (self.problem, self.settings);
        let reference = w.merits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut step = 1.0;
        while step >= settings.smallest_step {
            let moved = problem.project_step(&w.at.x, step, &w.dx, &mut w.trial.x);
            let state = w.trial.measure(problem, &w.d, self.smoothing);
            let predicted = match kind {
                // What projection leaves of a gradient step is still one of descent, but of less.
                Kind::Gradient => decrease(&w.gradient, &w.at.x, &w.trial.x),
                _ => step * slope,
            };
            let enough = reference + settings.sufficient_decrease * predicted;
            if state.merit() <= enough && moved > 0.0 {
                return Some(Taken { state, moved, step });
            }
            step *= settings.backtracking;
        }
        None
    }

    /// Why no step along any direction lowers the merit.
    pub fn blocked(&self, w: &mut Workspace) -> Status {
        let Workspace {
            at,
            d,
            gradient,
            scratch,
            ..
        } = w;
        let problem = self.problem;
        problem.matrix().diagonal(scratch);
        let terms =
            reduce::largest(scratch) * reduce::largest(&at.x) + reduce::largest(problem.rhs());
        if reduce::largest(&at.f) <= ROUNDING * terms {
            return Status::Stagnated;
        }
        let flat = fold(
            (
                (&at.x[..], &gradient[..], &d[..]),
                (problem.lower(), problem.upper()),
            ),
            &|_, ((x, g, d), (lower, upper))| {
                let mut largest = 0.0;
                for i in 0..x.len() {
                    // g has the units of A y: divided by d, those of y, and by d again, those of x.
                    let target = (x[i] - g[i] / d[i] / d[i]).clamp(lower[i], upper[i]);
                    largest = larger(largest, d[i] * (x[i] - target).abs());
                }
                largest
            },
            &larger,
        );
        if flat <= FLAT * self.state.norm() {
            Status::LocalMinimum
        } else {
            Status::NonDescent
        }
    }
}

/// `g'(to - from)`
fn decrease(g: &[f64], from: &[f64], to: &[f64]) -> f64 {
    fold(
        (g, from, to),
        &|_, (g, from, to)| {
            let mut sum = 0.0;
            for i in 0..g.len() {
                sum += g[i] * (to[i] - from[i]);
            }
            sum
        },
        &|low, high| low + high,
    )
}
