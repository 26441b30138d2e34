//! Shared parts of the pivoting methods.
//!
//! | module | holds |
//! | --- | --- |
//! | `scaled` | the problem with every entry stored, in units of its own |
//! | `tableau` | a dictionary `basic = T nonbasic` and the exchange of two of its variables |
//! | `polish` | a fresh solve on the rows that a method found to be active |
//! | `drive` | driving one violated row after the other, for two ways to keep the basis |
//! | `cone` | one complementary cone after the other |
//! | `programme` | a small linear programme, for the complementary cones |
//! | `path` | the vertices of Lemke's method, one after the other |
//! | `standard` | a box MLCP as an LCP, for complementary pivoting |

pub(super) mod cone;
pub(super) mod drive;
pub(super) mod path;
pub(super) mod polish;
pub(super) mod programme;
pub(super) mod scaled;
pub(super) mod standard;
pub(super) mod tableau;

use std::ops::ControlFlow;

use crate::error::{InputError, check_positive};
use crate::minimum_map::MeritState;
use crate::operator::Operator;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Progress, Report, Status};
use crate::rows::Rows;
use polish::Polish;
use scaled::Scaled;

/// The most rows of a problem whose entries are all stored: 200 MB a copy, and second bounds make it four times that.
pub(super) const MOST_ROWS: usize = 5_000;

settings! {
    /// Settings of a pivoting method.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        ///
        /// A pivoting method continues to the last pivot whatever it is: it decides what counts as converged.
        pub tolerance: f64 = 1e-8,
        /// Limit on pivots.
        pub max_iterations: usize = 100_000,
    }
}

impl Settings {
    pub(super) fn check(&self) -> Result<(), InputError> {
        check_positive("tolerance", self.tolerance)
    }
}

/// Exits of a pivoting method: counts pivots, calls the observer, keeps the best point.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    pub scaled: Scaled,
    pub polish: Polish,
    /// Pivots so far.
    pub pivots: usize,
    best: Vec<f64>,
    best_state: MeritState,
    scratch: Vec<f64>,
    limit: usize,
}

impl Course {
    /// Copies the problem and reports the given `x` to the observer. A status ends the solve at once.
    pub fn begin(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        settings: &Settings,
        x: &[f64],
        observer: &mut (impl Observer + ?Sized),
    ) -> Result<Option<Status>, InputError> {
        settings.check()?;
        problem.check_start(x)?;
        if problem.len() > MOST_ROWS {
            return Err(InputError::TooLarge {
                what: "rows",
                limit: MOST_ROWS,
            });
        }
        let sound = self.scaled.load(problem)?;
        let n = problem.len();
        self.best.resize(n, 0.0);
        self.scratch.resize(n, 0.0);
        self.best.copy_from_slice(x);
        problem.project(&mut self.best);
        self.pivots = 0;
        self.limit = settings.max_iterations;
        problem.natural_residual(&self.best, &mut self.scratch);
        self.best_state = state(self.scratch.iter().copied());
        let stop = observer.observe(&self.progress(&self.best_state));
        Ok(if self.best_state.residual <= settings.tolerance {
            Some(Status::Converged)
        } else if stop.is_break() {
            Some(Status::Stopped)
        } else if !sound {
            Some(Status::NonFinite)
        } else {
            None
        })
    }

    /// Counts a pivot that led to a point, given in the units of [`Scaled`]; a status ends the solve.
    pub fn step(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        (x, y): (&[f64], &[f64]),
        observer: &mut (impl Observer + ?Sized),
    ) -> ControlFlow<Status> {
        self.pivots += 1;
        let now = self.scaled.state(problem, x, y);
        self.keep_if_better(x, now);
        if observer.observe(&self.progress(&now)).is_break() {
            return ControlFlow::Break(Status::Stopped);
        }
        if !now.residual.is_finite() {
            return ControlFlow::Break(Status::NonFinite);
        }
        if self.pivots >= self.limit {
            return ControlFlow::Break(Status::IterationLimit);
        }
        ControlFlow::Continue(())
    }

    /// Keeps a point with its natural residual, in the units of the problem, if it is the best.
    pub fn offer(&mut self, x: &[f64], r: &[f64]) {
        let residual = crate::reduce::largest(r);
        if residual < self.best_state.residual || self.best_state.residual.is_nan() {
            self.best.copy_from_slice(x);
            self.best_state = state(r.iter().copied());
        }
    }

    /// The best point, in the units of the problem, and its residual.
    pub fn best(&self) -> (&[f64], f64) {
        (&self.best, self.best_state.residual)
    }

    /// Reports the best point to the observer.
    pub fn tell(&self, observer: &mut (impl Observer + ?Sized)) -> ControlFlow<()> {
        observer.observe(&self.progress(&self.best_state))
    }

    /// Pivots that may follow.
    pub fn pivots_left(&self) -> usize {
        self.limit.saturating_sub(self.pivots)
    }

    fn keep_if_better(&mut self, x: &[f64], now: MeritState) {
        // An unknown standing must never replace a known one.
        if now.residual < self.best_state.residual || self.best_state.residual.is_nan() {
            self.scaled.back(x, &mut self.scratch);
            if self.scratch.iter().all(|x| x.is_finite()) {
                std::mem::swap(&mut self.best, &mut self.scratch);
                self.best_state = now;
            }
        }
    }

    /// Solves again on the active rows, and takes the point if it is the best; returns whether it is a solution.
    pub fn settle(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        settings: &Settings,
        active: &[bool],
        x: &mut [f64],
    ) -> bool {
        self.polish.improve(&self.scaled, active, x);
        self.scaled.back(x, &mut self.scratch);
        problem.project(&mut self.scratch);
        if !self.scratch.iter().all(|x| x.is_finite()) {
            return false;
        }
        let residual = problem.natural_residual(&self.scratch, self.polish.scratch(problem.len()));
        let solved = residual <= settings.tolerance;
        if solved || residual < self.best_state.residual {
            std::mem::swap(&mut self.best, &mut self.scratch);
            self.best_state = state(self.polish.scratch(problem.len()).iter().copied());
        }
        solved
    }

    /// Ends the solve with the best point; the residual recomputed there decides on convergence.
    pub fn end(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        settings: &Settings,
        status: Status,
        x: &mut [f64],
    ) -> Report {
        problem.project(&mut self.best);
        x.copy_from_slice(&self.best);
        let residual = problem.natural_residual(x, &mut self.scratch);
        let merit = state(self.scratch.iter().copied()).merit();
        let status = match (status, residual <= settings.tolerance) {
            (Status::Stopped, _) => Status::Stopped,
            (_, true) => Status::Converged,
            (Status::Converged, false) => Status::Stagnated,
            (other, false) => other,
        };
        Report::new(status, self.pivots, 0, residual, merit)
    }

    fn progress(&self, state: &MeritState) -> Progress {
        Progress::new(self.pivots, 0, state.residual, state.merit())
    }
}

/// Merit and norm of a natural residual.
fn state(residual: impl Iterator<Item = f64>) -> MeritState {
    let mut state = MeritState::default();
    for r in residual {
        state.squares += r * r;
        state.residual = crate::reduce::larger(state.residual, r.abs());
    }
    state
}
