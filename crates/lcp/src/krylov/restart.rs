//! Restarts shared by conjugate residuals and BiCGStab: limits, exits, and recomputed residuals.

use std::ops::ControlFlow;

use super::pcg::Settings;
use crate::operator::Operator;
use crate::reduce;
use crate::split::for_each;

/// Reason for which a linear solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// One of the tolerances is met by the residual of the returned `x`, computed from it.
    Converged,
    /// The iteration limit was reached.
    IterationLimit,
    /// The rest of the residual is out of reach of the matrix, up to rounding: no solution exists, or the matrix is
    /// too close to one without.
    Singular,
    /// The recursion divides by what should not be zero, or rounding has taken over, and restarts did not help. With
    /// conjugate residuals also: the preconditioner is not positive definite.
    Breakdown,
    /// A number overflowed.
    NonFinite,
    /// The observer asked to stop.
    Stopped,
}

/// Report of a linear solve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Reason for the end.
    pub status: Status,
    /// Iterations done.
    pub iterations: usize,
    /// `||c - A x||_2` at the returned `x`, computed from it. While the iteration runs: by the recursion.
    pub norm: f64,
    /// `||c - A x||_inf`, likewise.
    pub largest: f64,
}

/// Relative residual that a recursion must have reached to be restarted.
const PROGRESS: f64 = 0.5;
/// Relative reduction of the residual below which a restart counts as no progress.
const STANDSTILL: f64 = 0.999_999;
/// Consecutive restarts without progress.
const PATIENCE: usize = 20;
/// A residual that grows by this factor over the best one will not come back.
const DIVERGENCE: f64 = 1e8;

/// Norms of a residual.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub norm: f64,
    pub largest: f64,
}

impl Size {
    pub fn of(r: &[f64]) -> Self {
        Self {
            norm: reduce::sum_of_squares(r).sqrt(),
            largest: reduce::largest(r),
        }
    }

    /// The better of this size, which `kept` has, and another one, which is kept then.
    fn or(self, other: Self, x: &[f64], kept: &mut [f64]) -> Self {
        if other.norm < self.norm && reduce::largest(x).is_finite() {
            kept.copy_from_slice(x);
            other
        } else {
            self
        }
    }

    fn is_finite(&self) -> bool {
        self.norm.is_finite() && self.largest.is_finite()
    }
}

/// Reason for the end of a recursion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A tolerance is met by the recursion.
    Small,
    Limit,
    Broken,
    /// It must restart, although nothing is wrong.
    Aside,
    Singular,
    NonFinite,
    Stopped,
}

/// The point that all recursions of a solve work on.
pub(super) struct Point<'a> {
    pub x: &'a mut [f64],
    pub r: &'a mut [f64],
    best_x: &'a mut [f64],
    best: Size,
    norm: f64,
    largest: f64,
    iterations: usize,
    max_iterations: usize,
    watch: &'a mut dyn FnMut(&Report) -> ControlFlow<()>,
}

impl Point<'_> {
    fn within(&self, size: &Size) -> bool {
        size.norm <= self.norm || size.largest <= self.largest
    }

    /// Counts an iteration with its new residual; returns whether that ends the recursion.
    pub fn count(&mut self) -> Option<End> {
        self.iterations += 1;
        let size = Size::of(self.r);
        // Copies are rare: each halves the residual.
        if size.norm < 0.5 * self.best.norm && reduce::largest(self.x).is_finite() {
            self.best = size;
            self.best_x.copy_from_slice(self.x);
        }
        let report = Report {
            status: Status::IterationLimit,
            iterations: self.iterations,
            norm: size.norm,
            largest: size.largest,
        };
        if (self.watch)(&report).is_break() {
            Some(End::Stopped)
        } else if !size.is_finite() {
            Some(End::NonFinite)
        } else if self.within(&size) {
            Some(End::Small)
        } else if self.iterations >= self.max_iterations {
            Some(End::Limit)
        } else if size.norm > DIVERGENCE * self.best.norm {
            Some(End::Broken)
        } else {
            None
        }
    }
}

/// Scratch memory of every solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    r: Vec<f64>,
    best_x: Vec<f64>,
    kept_x: Vec<f64>,
}

/// Starts a recursion, again and again if need be, until the residual that is computed from `x` meets a tolerance or
/// restarts do not help.
pub(super) fn solve(
    matrix: &(impl Operator + ?Sized),
    c: &[f64],
    settings: &Settings,
    x: &mut [f64],
    shared: &mut Shared,
    watch: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    mut recursion: impl FnMut(&mut Point<'_>) -> End,
) -> Report {
    let Shared { r, best_x, kept_x } = shared;
    for array in [&mut *r, &mut *best_x, &mut *kept_x] {
        array.resize(x.len(), 0.0);
    }
    let mut size = residual(matrix, c, x, r);
    kept_x.copy_from_slice(x);
    let mut overall = size; // of what `kept_x` holds: the best point by the residual that is computed from it
    let mut point = Point {
        x,
        r,
        best_x,
        best: size,
        norm: settings.relative_tolerance * size.norm,
        largest: settings.absolute_tolerance,
        iterations: 0,
        max_iterations: settings.max_iterations,
        watch,
    };
    let mut idle = 0;
    let status = loop {
        if !size.is_finite() {
            break Status::NonFinite;
        }
        if point.within(&size) {
            break Status::Converged;
        }
        if point.iterations >= point.max_iterations {
            break Status::IterationLimit;
        }
        point.best_x.copy_from_slice(point.x);
        point.best = size;
        let before = overall.norm;
        let end = recursion(&mut point);
        size = residual(matrix, c, point.x, point.r);
        if point.within(&size) && reduce::largest(point.x).is_finite() {
            break Status::Converged;
        }
        overall = overall.or(size, point.x, kept_x);
        if overall.norm > point.best.norm {
            // By the recursion's own account there was a better one on the way.
            let claimed = residual(matrix, c, point.best_x, point.r);
            overall = overall.or(claimed, point.best_x, kept_x);
        }
        // The recursion continues from where it is if nothing is wrong, otherwise from the best point.
        if end != End::Aside || size.norm.is_nan() || size.norm > DIVERGENCE * overall.norm {
            point.x.copy_from_slice(kept_x);
        }
        size = residual(matrix, c, point.x, point.r);
        match end {
            _ if point.within(&size) => break Status::Converged,
            End::Stopped => break Status::Stopped,
            End::NonFinite => break Status::NonFinite,
            End::Singular => break Status::Singular,
            End::Small | End::Broken if overall.norm > PROGRESS * before => {
                break Status::Breakdown;
            }
            End::Aside if overall.norm > STANDSTILL * before => {
                idle += 1;
                if idle >= PATIENCE {
                    break Status::Breakdown;
                }
            }
            End::Small | End::Broken | End::Aside | End::Limit => idle = 0,
        }
    };
    if status != Status::Converged {
        point.x.copy_from_slice(kept_x);
        size = overall;
    }
    Report {
        status,
        iterations: point.iterations,
        norm: size.norm,
        largest: size.largest,
    }
}

/// `r = c - A x`, and its norms.
fn residual(matrix: &(impl Operator + ?Sized), c: &[f64], x: &[f64], r: &mut [f64]) -> Size {
    super::residual(matrix, c, x, r);
    Size::of(r)
}

/// `y = a x + b y`
pub(super) fn combine(y: &mut [f64], b: f64, a: f64, x: &[f64]) {
    for_each((y, x), &|_, (y, x): (&mut [f64], &[f64])| {
        for (y, x) in y.iter_mut().zip(x) {
            *y = a * x + b * *y;
        }
    });
}
