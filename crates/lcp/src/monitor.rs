//! Exits of iterative methods.

use std::ops::ControlFlow;

use crate::krylov::pcg;
use crate::report::{InnerProgress, Observer, Progress, Report, Status};

/// An iterate as a [`Monitor`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Iterate<'a> {
    x: &'a [f64],
    residual: f64,
    merit: f64,
    finite: bool,
    confirmed: bool,
}

impl<'a> Iterate<'a> {
    /// An iterate with its natural residual in the maximum norm, and with the method's own merit.
    pub fn new(x: &'a [f64], residual: f64, merit: f64) -> Self {
        Self {
            x,
            residual,
            merit,
            finite: residual.is_finite(),
            confirmed: true,
        }
    }

    /// States whether all values of the iterate are finite. Default: whether its residual is.
    #[must_use]
    pub fn finite(mut self, finite: bool) -> Self {
        self.finite = finite;
        self
    }

    /// States whether a residual within the tolerance has been recomputed from the problem, for methods that update it by a
    /// recursion. Default: true.
    #[must_use]
    pub fn confirmed(mut self, confirmed: bool) -> Self {
        self.confirmed = confirmed;
        self
    }
}

/// The quantity by which the best iterate is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// The natural residual.
    Residual,
    /// The merit.
    Merit,
}

#[derive(Debug)]
struct Kept<'a> {
    x: &'a mut Vec<f64>,
    by: Best,
    smallest: f64,
    merit: f64,
}

/// The exits of an iterative method: counts iterations, calls the observer, keeps the best iterate and decides whether
/// to continue. All methods share it, so all exits are checked in one order:
///
/// 1. the observer is called;
/// 2. converged;
/// 3. non-finite;
/// 4. the best iterate is updated;
/// 5. stopped by the observer;
/// 6. stalled, as the method has determined;
/// 7. iteration limit.
///
/// ```
/// use meniscus_lcp::{BoxMlcp, Dense, Iterate, Monitor, Operator, Status};
///
/// // Projected Richardson iteration.
/// let matrix = Dense::new(2, vec![2.0, -1.0, -1.0, 2.0])?;
/// let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
/// let (mut x, mut r, mut y) = ([0.0; 2], [0.0; 2], [0.0; 2]);
/// let observer = &mut ();
/// let mut monitor = Monitor::new(1e-8, 1000, observer);
/// let status = loop {
///     let residual = problem.natural_residual(&x, &mut r);
///     if let Some(status) = monitor.check(Iterate::new(&x, residual, residual), None) {
///         break status;
///     }
///     problem.affine(&x, &mut y);
///     for i in 0..2 {
///         x[i] = (x[i] - 0.3 * y[i]).max(0.0);
///     }
///     monitor.count(1, 0);
/// };
/// let report = monitor.finish(status, &mut x, |x| problem.natural_residual(x, &mut r));
/// assert_eq!(report.status, Status::Converged);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Debug)]
pub struct Monitor<'a, O: Observer + ?Sized> {
    observer: &'a mut O,
    tolerance: f64,
    max_iterations: usize,
    iterations: usize,
    inner_iterations: usize,
    merit: f64,
    best: Option<Kept<'a>>,
}

impl<'a, O: Observer + ?Sized> Monitor<'a, O> {
    /// A monitor of a solve that has not begun.
    pub fn new(tolerance: f64, max_iterations: usize, observer: &'a mut O) -> Self {
        Self {
            observer,
            tolerance,
            max_iterations,
            iterations: 0,
            inner_iterations: 0,
            merit: f64::NAN,
            best: None,
        }
    }

    /// Keeps the best iterate in the given memory, starting with `x`; [`restore`](Self::restore) returns it.
    #[must_use]
    pub fn keep_best(mut self, by: Best, memory: &'a mut Vec<f64>, x: &[f64]) -> Self {
        memory.clear();
        memory.extend_from_slice(x);
        self.best = Some(Kept {
            x: memory,
            by,
            smallest: f64::INFINITY,
            merit: f64::INFINITY,
        });
        self
    }

    /// Outer iterations done.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Inner iterations done, over all outer ones.
    pub fn inner_iterations(&self) -> usize {
        self.inner_iterations
    }

    /// Outer iterations left before the limit.
    pub fn iterations_left(&self) -> usize {
        self.max_iterations.saturating_sub(self.iterations)
    }

    /// Smallest residual or merit so far, whichever the best iterate is chosen by; infinite at the start.
    pub fn best(&self) -> f64 {
        self.best
            .as_ref()
            .map_or(f64::INFINITY, |best| best.smallest)
    }

    /// Adds iterations that were done.
    pub fn count(&mut self, outer: usize, inner: usize) {
        self.iterations += outer;
        self.inner_iterations += inner;
    }

    /// Reports an iterate to the observer and returns the status with which the solve ends, if it does. `stall` is the
    /// status of a method that makes no more progress.
    pub fn check(&mut self, iterate: Iterate<'_>, stall: Option<Status>) -> Option<Status> {
        let Iterate {
            x, residual, merit, ..
        } = iterate;
        self.merit = merit;
        let progress = Progress::new(self.iterations, self.inner_iterations, residual, merit);
        let stop = self.observer.observe(&progress).is_break();
        let converged = residual <= self.tolerance && iterate.confirmed;
        if !(converged || iterate.finite) {
            return Some(Status::NonFinite);
        }
        if let Some(best) = &mut self.best {
            let measure = match best.by {
                Best::Residual => residual,
                Best::Merit => merit,
            };
            if converged || measure < best.smallest {
                (best.smallest, best.merit) = (measure, merit);
                best.x.clear();
                best.x.extend_from_slice(x);
            }
        }
        if converged {
            Some(Status::Converged)
        } else if stop {
            Some(Status::Stopped)
        } else if stall.is_some() {
            stall
        } else if self.iterations >= self.max_iterations {
            Some(Status::IterationLimit)
        } else {
            None
        }
    }

    /// Reports an inner iteration to the observer.
    pub fn check_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        self.observer.observe_inner(progress)
    }

    /// Callback for a linear solve that reports its iterations to the observer.
    pub(crate) fn inner(&mut self) -> impl FnMut(&pcg::Report) -> ControlFlow<()> {
        let before = self.inner_iterations;
        let observer = &mut *self.observer;
        move |inner| {
            let done = before + inner.iterations;
            observer.observe_inner(&InnerProgress::new(done, inner.norm, inner.largest))
        }
    }

    /// Writes the best iterate to `x`, if one is kept.
    pub fn restore(&mut self, x: &mut [f64]) {
        if let Some(best) = &self.best {
            x.copy_from_slice(best.x);
            if best.smallest.is_finite() {
                self.merit = best.merit;
            }
        }
    }

    /// Report of the solve, with the residual and the merit of the returned `x`.
    pub fn report(&self, status: Status, residual: f64, merit: f64) -> Report {
        let (iterations, inner_iterations) = (self.iterations, self.inner_iterations);
        Report::new(status, iterations, inner_iterations, residual, merit)
    }

    /// Ends a solve: restores the best iterate and recomputes its residual.
    pub fn finish(
        mut self,
        status: Status,
        x: &mut [f64],
        residual: impl FnOnce(&[f64]) -> f64,
    ) -> Report {
        self.restore(x);
        self.report(status, residual(x), self.merit)
    }
}
