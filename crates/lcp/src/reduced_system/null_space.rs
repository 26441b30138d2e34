//! Singular reduced systems, where the problem may still have a solution.
//!
//! When no row holds `x` back, a null vector of `A_AA` (a constant, for a Laplacian) can be added to it. The part of
//! the right-hand side that lies in the null space then can't be solved for: it is a direction in which `x` may grow,
//! with `y` as it is, until it meets a bound. If it meets none, the problem has no solution.
//!
//! The direction is found by solving with a small diagonal `S` added:
//!
//! ```text
//! (A_AA + S) v = r        v is a null vector, up to a part of the order of S
//! A_AA dx = r - S v       has a solution, since what is left of r is A_AA v
//! x + dx + length v       meets a bound
//! ```
//!
//! All parts of the matrix that are singular at once, not coupled with each other, are dealt with at once.

use super::{NullSpace, ReducedSystem, SolveContext, Solved, add};
use crate::krylov::pcg;
use crate::minimum_map::MeritState;
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::split::{fold, for_each};

/// `S` as a part of the diagonal: small beside every eigenvalue that matters, large beside rounding.
const SHIFT: f64 = 1e-9;

/// `v'Av / v'Dv` up to which `v` is a null vector. Above, the matrix is ill-conditioned, and `v` a solution.
const NULL: f64 = 1e-12;

/// A part of a null vector that is mere rounding, and meets no bound.
const NOISE: f64 = 1e-6;

impl ReducedSystem {
    /// Solves a reduced system in which conjugate gradients have met the null space.
    pub(super) fn solve_singular(
        &mut self,
        context: &mut SolveContext<'_, '_, impl Operator + ?Sized, impl Preconditioner + ?Sized>,
        x: &[f64],
        state: &MeritState,
        limits: &pcg::Limits,
        iterations: usize,
    ) -> Solved {
        let problem = context.problem;
        self.prepare_shift(problem);
        self.right_hand_side(problem, state);
        let shifted = pcg::Limits {
            norm: 0.1 * limits.norm,
            largest: 0.1 * limits.largest,
            iterations: limits.iterations - iterations,
            null_quotient: 0.0,
            ..*limits
        };
        let report = self.conjugate_gradients(context, &shifted, true);
        let iterations = iterations + report.iterations;
        if report.status == pcg::Status::Stopped || !self.take_null_vector(problem) {
            self.residual(problem);
            return Solved {
                status: report.status,
                iterations,
                null: NullSpace::Unmet,
            };
        }

        self.right_hand_side(problem, state);
        add(&mut self.r, -1.0, &self.shift);
        let rest = pcg::Limits {
            iterations: limits.iterations - iterations,
            ..*limits
        };
        let report = self.conjugate_gradients(context, &rest, false);
        add(&mut self.r, 1.0, &self.shift);
        let null = self.follow_null_space(problem, x);
        Solved {
            status: report.status,
            iterations: iterations + report.iterations,
            null,
        }
    }

    /// Stores the solution of the shifted system as `v`, and `S v` in place of `S`; false if `v` is no null vector.
    fn take_null_vector(&mut self, problem: &BoxMlcp<'_, impl Operator + ?Sized>) -> bool {
        let Self {
            dx,
            r,
            active,
            null,
            shift,
            ..
        } = self;
        for_each(
            (&mut null[..], &mut shift[..], &dx[..], &active[..]),
            &|_, (null, shift, dx, active)| {
                for i in 0..null.len() {
                    null[i] = if active[i] { dx[i] } else { 0.0 };
                    shift[i] *= null[i];
                }
            },
        );
        let stiffness = reduce::dot(shift, null) / SHIFT;
        problem.matrix().apply_masked_dot(active, null, r) <= NULL * stiffness
    }

    /// Resizes the vectors, and sets `S` on the active rows.
    fn prepare_shift(&mut self, problem: &BoxMlcp<'_, impl Operator + ?Sized>) {
        let Self {
            active,
            null,
            shift,
            ..
        } = self;
        null.resize(problem.len(), 0.0);
        shift.resize(problem.len(), 0.0);
        problem.matrix().diagonal(shift);
        for_each((&mut shift[..], &active[..]), &|_, (shift, active)| {
            for i in 0..shift.len() {
                let diagonal = if shift[i] > 0.0 { shift[i] } else { 1.0 };
                shift[i] = if active[i] { SHIFT * diagonal } else { 0.0 };
            }
        });
    }

    /// Continues from `x + dx` along the null vector until a row meets its bound.
    fn follow_null_space(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        x: &[f64],
    ) -> NullSpace {
        let Self { dx, null, .. } = self;
        let noise = NOISE * reduce::largest(null);
        let length = fold(
            ((x, &dx[..], &null[..]), (problem.lower(), problem.upper())),
            &|_, ((x, dx, null), (lower, upper))| {
                let mut length = f64::INFINITY;
                for i in 0..x.len() {
                    let at = x[i] + dx[i];
                    if null[i] < -noise {
                        length = length.min(((lower[i] - at) / null[i]).max(0.0));
                    } else if null[i] > noise {
                        length = length.min(((upper[i] - at) / null[i]).max(0.0));
                    }
                }
                length
            },
            &f64::min,
        );
        if length == f64::INFINITY {
            return NullSpace::Unbounded;
        }
        add(dx, length, null);
        NullSpace::ToBound
    }

    /// `r = a (-y - A dx)`
    fn residual(&mut self, problem: &BoxMlcp<'_, impl Operator + ?Sized>) {
        let Self {
            y, dx, r, active, ..
        } = self;
        problem.matrix().apply(dx, r);
        for_each((&mut r[..], &y[..], &active[..]), &|_, (r, y, active)| {
            for i in 0..r.len() {
                r[i] = if active[i] { -y[i] - r[i] } else { 0.0 };
            }
        });
    }
}

/// `A + S` with a diagonal `S`.
pub(super) struct Shifted<'a, A: Operator + ?Sized> {
    pub matrix: &'a A,
    pub shift: &'a [f64],
}

impl<A: Operator + ?Sized> Shifted<'_, A> {
    fn add_shift(&self, x: &[f64], y: &mut [f64]) {
        for_each((y, x, self.shift), &|_, (y, x, shift)| {
            for i in 0..y.len() {
                y[i] += shift[i] * x[i];
            }
        });
    }
}

impl<A: Operator + ?Sized> Operator for Shifted<'_, A> {
    fn len(&self) -> usize {
        self.matrix.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.apply(x, y);
        self.add_shift(x, y);
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.apply_transposed(x, y);
        self.add_shift(x, y);
    }

    fn diagonal(&self, d: &mut [f64]) {
        self.matrix.diagonal(d);
        add(d, 1.0, self.shift);
    }
}
