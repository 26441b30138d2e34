//! Central path: iterate and predictor-corrector step.

use std::ops::ControlFlow;

use super::Settings;
use super::scaled::Scaled;
use super::systems::Systems;
use crate::reduce;
use crate::sparse_factor::{Left, System};

/// Slacks and duals this small would divide to infinity.
const SMALLEST: f64 = 1e-150;
/// Steps shorter than this are tried again without the corrector.
const SHORT_STEP: f64 = 0.1;
/// The centring of such a second try.
const CENTRING: f64 = 0.5;

/// Slack and dual of one side of the box.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// 1 at lower bounds, where the slack grows with `x`, and -1 at upper ones.
    sign: f64,
    pub finite: Vec<bool>,
    pub slack: Vec<f64>,
    pub dual: Vec<f64>,
    slack_step: Vec<f64>,
    dual_step: Vec<f64>,
}

/// A point of the path and the direction from it.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    pub x: Vec<f64>,
    pub bounds: [Bounds; 2],
    rho: Vec<f64>,
    shift: Vec<f64>,
    c: Vec<f64>,
    pub dx: Vec<f64>,
    /// Distance from the end of the path before the last step: the larger of `mu` and the largest `rho`.
    pub distance: f64,
}

/// Result of a step.
pub(super) enum Step {
    Done,
    Stopped,
    NonFinite,
}

impl Path {
    /// A point inside the box, with duals that keep it there.
    pub fn start(&mut self, scaled: &Scaled) {
        let n = scaled.len();
        for array in [
            &mut self.x,
            &mut self.rho,
            &mut self.shift,
            &mut self.c,
            &mut self.dx,
        ] {
            array.resize(n, 0.0);
        }
        for (i, x) in self.x.iter_mut().enumerate() {
            *x = inside(scaled.lower[i], scaled.upper[i]);
        }
        scaled.affine(&self.x, &mut self.rho);
        for (bounds, sign) in self.bounds.iter_mut().zip([1.0, -1.0]) {
            bounds.start(sign, scaled, &self.x, &self.rho);
        }
    }

    pub fn is_finite(&self) -> bool {
        reduce::largest(&self.x).is_finite()
            && self.bounds.iter().all(|bounds| {
                reduce::largest(&bounds.slack).is_finite()
                    && reduce::largest(&bounds.dual).is_finite()
            })
    }

    /// Mean of all products of slack and dual after a part of the step; zero if there are no bounds.
    fn mu(&self, step: f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0_usize);
        for bounds in &self.bounds {
            for i in (0..bounds.slack.len()).filter(|&i| bounds.finite[i]) {
                sum += (bounds.slack[i] + step * bounds.slack_step[i])
                    * (bounds.dual[i] + step * bounds.dual_step[i]);
                count += 1;
            }
        }
        if count == 0 { 0.0 } else { sum / count as f64 }
    }

    /// One iteration: predictor, corrector, step.
    pub fn advance(
        &mut self,
        scaled: &Scaled,
        factor: &mut dyn Systems,
        settings: &Settings,
        watch: &mut dyn FnMut(Left) -> ControlFlow<()>,
    ) -> Step {
        // rho = A x + b - z + w
        scaled.affine(&self.x, &mut self.rho);
        self.shift.fill(0.0);
        for bounds in &self.bounds {
            for i in (0..self.x.len()).filter(|&i| bounds.finite[i]) {
                self.rho[i] -= bounds.sign * bounds.dual[i];
                self.shift[i] += bounds.dual[i] / bounds.slack[i];
            }
        }
        let shift = std::mem::take(&mut self.shift);
        let system = System {
            matrix: &scaled.matrix,
            shift: &shift,
            keep: &scaled.keep,
        };
        let stepped = self.step(&system, factor, settings, watch);
        self.shift = shift;
        stepped
    }

    fn step(
        &mut self,
        system: &System<'_>,
        factor: &mut dyn Systems,
        settings: &Settings,
        watch: &mut dyn FnMut(Left) -> ControlFlow<()>,
    ) -> Step {
        if factor.factorise(system).is_err() {
            return Step::NonFinite;
        }
        for bounds in &mut self.bounds {
            bounds.slack_step.fill(0.0);
            bounds.dual_step.fill(0.0);
        }
        let mu = self.mu(0.0);
        self.distance = reduce::larger(mu, reduce::largest(&self.rho));
        let mut stopped = self.direction(system, factor, 0.0, false, watch).is_break();
        let mut length = self.longest(1.0);
        if mu > 0.0 && !stopped {
            let sigma = (self.mu(length) / mu).clamp(0.0, 1.0).powi(3);
            stopped = self
                .direction(system, factor, sigma * mu, true, watch)
                .is_break();
            length = self.longest(settings.step);
            if length < SHORT_STEP && !stopped {
                // The corrector assumes a full step; where there is none it may do harm.
                let target = sigma.max(CENTRING) * mu;
                stopped = self
                    .direction(system, factor, target, false, watch)
                    .is_break();
                length = self.longest(settings.step);
            }
        }
        if stopped {
            return Step::Stopped;
        }
        if !reduce::largest(&self.dx).is_finite() {
            return Step::NonFinite;
        }
        for (x, dx) in self.x.iter_mut().zip(&self.dx) {
            *x += length * dx;
        }
        for bounds in &mut self.bounds {
            for i in (0..bounds.slack.len()).filter(|&i| bounds.finite[i]) {
                let slack = bounds.slack[i] + length * bounds.slack_step[i];
                let dual = bounds.dual[i] + length * bounds.dual_step[i];
                bounds.slack[i] = slack.max(SMALLEST);
                bounds.dual[i] = dual.max(SMALLEST);
            }
        }
        Step::Done
    }

    /// The direction towards products of size `target`; with the corrector, given the predictor's changes.
    fn direction(
        &mut self,
        system: &System<'_>,
        factor: &mut dyn Systems,
        target: f64,
        correct: bool,
        watch: &mut dyn FnMut(Left) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for (c, rho) in self.c.iter_mut().zip(&self.rho) {
            *c = -rho;
        }
        for bounds in &mut self.bounds {
            for i in (0..self.c.len()).filter(|&i| bounds.finite[i]) {
                // What is left to be gained by the product; kept where the change of the dual goes.
                let correction = if correct {
                    bounds.slack_step[i] * bounds.dual_step[i]
                } else {
                    0.0
                };
                let missing = target - bounds.slack[i] * bounds.dual[i] - correction;
                bounds.dual_step[i] = missing;
                self.c[i] += bounds.sign * missing / bounds.slack[i];
            }
        }
        let left = factor.solve(system, &self.c, &mut self.dx);
        for bounds in &mut self.bounds {
            for i in (0..self.c.len()).filter(|&i| bounds.finite[i]) {
                let step = bounds.sign * self.dx[i];
                bounds.slack_step[i] = step;
                bounds.dual_step[i] =
                    (bounds.dual_step[i] - bounds.dual[i] * step) / bounds.slack[i];
            }
        }
        watch(left)
    }

    /// The longest step, at most 1, that covers at most a fraction of the distance to any bound.
    fn longest(&self, part: f64) -> f64 {
        let mut longest = 1.0_f64;
        for bounds in &self.bounds {
            for i in (0..bounds.slack.len()).filter(|&i| bounds.finite[i]) {
                for (value, step) in [
                    (bounds.slack[i], bounds.slack_step[i]),
                    (bounds.dual[i], bounds.dual_step[i]),
                ] {
                    if step < 0.0 {
                        longest = longest.min(-part * value / step);
                    }
                }
            }
        }
        longest
    }
}

impl Bounds {
    fn start(&mut self, sign: f64, scaled: &Scaled, x: &[f64], y: &[f64]) {
        let n = scaled.len();
        self.sign = sign;
        self.finite.resize(n, false);
        for array in [
            &mut self.slack,
            &mut self.dual,
            &mut self.slack_step,
            &mut self.dual_step,
        ] {
            array.resize(n, 0.0);
        }
        let bound = if sign > 0.0 {
            &scaled.lower
        } else {
            &scaled.upper
        };
        for i in 0..n {
            self.finite[i] = scaled.keep[i] && bound[i].is_finite();
            (self.slack[i], self.dual[i]) = if self.finite[i] {
                let slack = (sign * (x[i] - bound[i])).max(SMALLEST);
                (slack, (sign * y[i]).max(0.0) + 1.0)
            } else {
                (1.0, 0.0)
            };
        }
    }
}

/// A place inside bounds, near zero and about 1 away from the bounds if they leave room.
fn inside(lower: f64, upper: f64) -> f64 {
    let margin = (0.25 * (upper - lower)).min(1.0);
    if margin > 0.0 {
        0.0_f64.max(lower + margin).min(upper - margin)
    } else {
        lower
    }
}
