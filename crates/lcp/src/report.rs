//! Progress and reports of solves.

use std::fmt;
use std::ops::ControlFlow;

/// Reason for which a solve ended. Only [`Converged`](Status::Converged) is success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The natural residual is within the tolerance.
    Converged,
    /// The merit hardly changed from one iteration to the next.
    Relative,
    /// The iterate hardly changed from one iteration to the next.
    Stagnated,
    /// The gradient of the merit is zero, the merit is not.
    LocalMinimum,
    /// The method's direction does not lower its merit.
    NonDescent,
    /// An iteration limit was reached.
    IterationLimit,
    /// The problem has no solution: a direction was found along which the iterates grow without bound.
    Infeasible,
    /// A number overflowed or became NaN; the last finite iterate is kept.
    NonFinite,
    /// The observer asked to stop.
    Stopped,
}

impl Status {
    /// Name in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Relative => "relative",
            Self::Stagnated => "stagnated",
            Self::LocalMinimum => "local-minimum",
            Self::NonDescent => "non-descent",
            Self::IterationLimit => "iteration-limit",
            Self::Infeasible => "infeasible",
            Self::NonFinite => "non-finite",
            Self::Stopped => "stopped",
        }
    }
}

impl Status {
    /// Meaning of the status, as the end of a sentence that begins with the method.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Converged => "reached the tolerance",
            Self::Relative => {
                "made no more progress in its merit; a looser tolerance or another method may help"
            }
            Self::Stagnated => {
                "made no more progress: the residual may be at the level of rounding errors"
            }
            Self::LocalMinimum => {
                "ended in a local minimum of its merit; try another start or method"
            }
            Self::NonDescent => {
                "found no descent direction: the matrix may not be of the kind it is for"
            }
            Self::IterationLimit => "reached its iteration limit",
            Self::Infeasible => "found a direction along which the iterates grow without bound",
            Self::NonFinite => "met a value that overflowed; scale the problem",
            Self::Stopped => "was stopped by the observer",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Report of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Reason for the end.
    pub status: Status,
    /// Outer iterations: one each time the method linearised the problem.
    pub iterations: usize,
    /// Inner iterations, over all outer ones.
    pub inner_iterations: usize,
    /// `||r||_inf` of the natural residual at the returned `x`, recomputed from the problem.
    pub residual: f64,
    /// The method's own measure of distance from a solution at the returned `x`.
    pub merit: f64,
}

impl Report {
    /// A report of a solve that took the given numbers of outer and inner iterations.
    pub fn new(
        status: Status,
        iterations: usize,
        inner_iterations: usize,
        residual: f64,
        merit: f64,
    ) -> Self {
        Self {
            status,
            iterations,
            inner_iterations,
            residual,
            merit,
        }
    }
}

/// Progress of a solve, before the first outer iteration and after each.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Outer iterations done.
    pub iteration: usize,
    /// Inner iterations done, over all outer ones.
    pub inner_iterations: usize,
    /// `||r||_inf` of the natural residual.
    pub residual: f64,
    /// The method's own measure of distance from a solution.
    pub merit: f64,
}

impl Progress {
    /// The progress after the given numbers of outer and inner iterations.
    pub fn new(iteration: usize, inner_iterations: usize, residual: f64, merit: f64) -> Self {
        Self {
            iteration,
            inner_iterations,
            residual,
            merit,
        }
    }
}

/// Progress of the linear solve inside an outer iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct InnerProgress {
    /// Inner iterations done, over all outer ones.
    pub iteration: usize,
    /// `||r||_2` of the linear system.
    pub norm: f64,
    /// `||r||_inf` of the linear system.
    pub largest: f64,
}

impl InnerProgress {
    /// The progress after a number of inner iterations, over all outer ones.
    pub fn new(iteration: usize, norm: f64, largest: f64) -> Self {
        Self {
            iteration,
            norm,
            largest,
        }
    }
}

/// Progress callback, which can stop a solve.
///
/// `()` ignores all progress; [`Trace`] records it.
pub trait Observer {
    /// Called before the first outer iteration and after each.
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()>;

    /// Called after each inner iteration. An inner solve can be long: stop it here to interrupt quickly.
    fn observe_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        let _ = progress;
        ControlFlow::Continue(())
    }
}

impl Observer for () {
    fn observe(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Records all progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// One entry per call of [`Observer::observe`].
    pub outer: Vec<Progress>,
    /// One entry per call of [`Observer::observe_inner`].
    pub inner: Vec<InnerProgress>,
}

impl Observer for Trace {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.outer.push(*progress);
        ControlFlow::Continue(())
    }

    fn observe_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        self.inner.push(*progress);
        ControlFlow::Continue(())
    }
}
