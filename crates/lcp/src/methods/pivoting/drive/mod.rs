//! Driving one violated row after the other to where it belongs, without violating any other. [Erl13 sec. 5.1.1]
//!
//! Every row has a pair `(x_i, y_i)`. Of an *active* row `y_i` is the nonbasic variable (zero, but for the driven
//! row) and `x_i` follows; of any other `x_i` is nonbasic, at a bound, and `y_i` follows. The nonbasic variable of
//! the driven row `j` moves by `sigma t`, `sigma = -sign(y_j)`, all that follow by `sigma t` times their rates:
//!
//! ```text
//! dx_A = -inv(A_AA) A_Aj        dy_F = A_Fj + A_FA dx_A        dy_j = A_jj + A_jA dx_A
//! ```
//!
//! until `y_j = 0`, or `x_j` is at its other bound, or another row blocks: an `x_q` at a bound, or a `y_r` at zero. A
//! blocking row changes sides, and the drive continues. [Erl13 (42), (43)]
//!
//! | symbol | here |
//! | --- | --- |
//! | `j` | the driven row |
//! | `A`, `F` | the active rows, all others |
//! | `dx`, `dy` | `rates`: of `x` on active rows, of `y` on all others |

mod block;

use std::ops::ControlFlow;

use super::scaled::Scaled;
use super::{Course, Settings};
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report, Status};
use crate::rows::Rows;
use block::End;

/// Result of the exchange of a blocking row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// The row changed sides.
    Done,
    /// The row and the driven one changed sides together, because the row alone cannot.
    Both,
    /// Neither is possible: the matrix is not one of those that the method is for.
    Impossible,
}

/// A way to keep track of the basis.
pub(crate) trait Basis {
    /// Starts with the given rows active; returns false if they cannot be.
    fn reset(&mut self, scaled: &Scaled, active: &[bool]) -> bool;

    /// Writes the rates of all rows with the nonbasic variable of row `j`.
    fn rates(&mut self, scaled: &Scaled, active: &[bool], j: usize, rates: &mut [f64]);

    /// Moves row `r` to the other side while row `j` is driven; `r = j` at the end of a drive.
    fn exchange(&mut self, scaled: &Scaled, active: &[bool], r: usize, j: usize) -> Exchange;
}

/// Scratch memory of a drive, reused between solves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drive {
    course: Course,
    x: Vec<f64>,
    y: Vec<f64>,
    rates: Vec<f64>,
    scratch: Vec<f64>,
    active: Vec<bool>,
    at_zero: Vec<bool>,
    /// Rows that are violated by less than the tolerance, and cannot be driven.
    tolerated: Vec<bool>,
}

/// Drives between two recomputations of `y`.
const REFRESH: usize = 8;
/// Times that the whole is tried again from where rounding led it.
const ROUNDS: usize = 4;
/// A rate below this part of the largest one is rounding.
const SMALLEST_RATE: f64 = 1e-10;

/// Solves a problem by drives over the given basis.
pub(crate) fn solve(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    (drive, basis): (&mut Drive, &mut impl Basis),
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    if let Some(status) = drive.course.begin(problem, settings, x, observer)? {
        return Ok(drive.course.end(problem, settings, status, x));
    }
    drive.begin(x);
    basis.reset(&drive.course.scaled, &drive.active);
    let mut status = Status::Stagnated;
    for _ in 0..ROUNDS {
        match drive.all(problem, settings, basis, observer) {
            ControlFlow::Break(ended) => {
                status = ended;
                break;
            }
            ControlFlow::Continue(()) => {}
        }
        let Drive {
            course, active, x, ..
        } = drive;
        if course.settle(problem, settings, active, x) {
            status = Status::Converged;
            break;
        }
        if !drive.renew(basis) {
            break;
        }
    }
    Ok(drive.course.end(problem, settings, status, x))
}

impl Drive {
    /// All rows at the bound that is nearest to the given `x`; free rows where it says.
    fn begin(&mut self, x: &[f64]) {
        let n = x.len();
        for vector in [&mut self.x, &mut self.y, &mut self.rates, &mut self.scratch] {
            vector.resize(n, 0.0);
        }
        for flags in [&mut self.active, &mut self.at_zero, &mut self.tolerated] {
            flags.clear();
            flags.resize(n, false);
        }
        let scaled = &self.course.scaled;
        scaled.enter(x, &mut self.x);
        for i in 0..n {
            let (l, u) = (scaled.lower[i], scaled.upper[i]);
            if l.is_finite() && self.x[i] - l <= u - self.x[i] {
                self.x[i] = l;
            } else if u.is_finite() {
                self.x[i] = u;
            }
        }
        scaled.affine(&self.x, &mut self.y);
    }

    /// Bound on the rounding errors of `y`.
    fn noise(&self) -> f64 {
        1e-13 * (1.0 + crate::reduce::largest(&self.x))
    }

    /// Violation of a row: how far its `y` is on the wrong side of zero.
    fn violation(&self, i: usize) -> f64 {
        let scaled = &self.course.scaled;
        if scaled.is_fixed(i) {
            0.0
        } else if self.active[i] || scaled.is_free(i) {
            self.y[i].abs()
        } else if self.x[i] == scaled.lower[i] {
            -self.y[i]
        } else {
            self.y[i]
        }
    }

    /// Drives rows until none is violated.
    fn all(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        settings: &Settings,
        basis: &mut impl Basis,
        observer: &mut (impl Observer + ?Sized),
    ) -> ControlFlow<Status> {
        let n = self.x.len();
        self.tolerated.fill(false);
        for drives in 1.. {
            let noise = self.noise();
            // Free rows first: they have nowhere to go back to. Then the most violated one.
            let scaled = &self.course.scaled;
            let mut driven: Option<(bool, f64, usize)> = None;
            for i in 0..n {
                let violation = self.violation(i);
                let key = (scaled.is_free(i), violation, i);
                if violation > noise
                    && !self.tolerated[i]
                    && driven.is_none_or(|best| (key.0, key.1) > (best.0, best.1))
                {
                    driven = Some(key);
                }
            }
            let Some((_, _, j)) = driven else {
                return ControlFlow::Continue(());
            };
            self.row(problem, settings, (basis, j), observer)?;
            if drives % REFRESH == 0 && !self.refresh(basis) {
                return ControlFlow::Break(Status::NonDescent);
            }
        }
        ControlFlow::Continue(())
    }

    /// Recomputes `y`, and refactorises the basis if too much accuracy was lost.
    fn refresh(&mut self, basis: &mut impl Basis) -> bool {
        let fresh = &mut self.scratch;
        self.course.scaled.affine(&self.x, fresh);
        let mut lost = 0.0_f64;
        for i in 0..fresh.len() {
            if self.active[i] {
                lost = lost.max((fresh[i] - self.y[i]).abs());
            } else {
                self.y[i] = fresh[i];
            }
        }
        if lost <= 1e4 * self.noise() {
            return true;
        }
        self.settled();
        let Self {
            course, at_zero, x, ..
        } = self;
        course.polish.improve(&course.scaled, at_zero, x);
        self.renew(basis)
    }

    /// Marks the active rows whose `y` is zero: all but those that were put aside.
    fn settled(&mut self) {
        for i in 0..self.x.len() {
            self.at_zero[i] = self.active[i] && self.y[i] == 0.0;
        }
    }

    /// Rebuilds the basis from the active rows.
    fn renew(&mut self, basis: &mut impl Basis) -> bool {
        self.settled();
        self.course.scaled.affine(&self.x, &mut self.y);
        for (y, &at_zero) in self.y.iter_mut().zip(&self.at_zero) {
            if at_zero {
                *y = 0.0;
            }
        }
        basis.reset(&self.course.scaled, &self.active)
    }

    /// Drives one row to where it belongs.
    fn row(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        settings: &Settings,
        (basis, j): (&mut impl Basis, usize),
        observer: &mut (impl Observer + ?Sized),
    ) -> ControlFlow<Status> {
        let sigma = if self.y[j] < 0.0 { 1.0 } else { -1.0 };
        let mut idle = 0;
        loop {
            if self.course.pivots_left() == 0 {
                return ControlFlow::Break(Status::IterationLimit);
            }
            basis.rates(&self.course.scaled, &self.active, j, &mut self.rates);
            let largest = crate::reduce::largest(&self.rates);
            if !largest.is_finite() {
                return ControlFlow::Break(Status::NonFinite);
            }
            let zero = SMALLEST_RATE * largest.max(1.0);
            if self.rates[j] < -zero {
                return ControlFlow::Break(Status::NonDescent);
            }
            let block = self
                .first_block(j, sigma, zero, idle > self.x.len())
                .or_else(|| self.first_to_put_aside(j, sigma, zero));
            let Some(block) = block else {
                return self.without_end(problem, settings, j, sigma);
            };
            idle = if block.step > 0.0 { 0 } else { idle + 1 };
            self.advance(j, sigma, &block);
            let ends = block.row == j;
            // Driven by its own y, an active row is where it belongs when that is zero; driven by its x, when that is
            // at a bound. Every other row that blocks changes sides.
            let is_there = ends && self.active[j] == (block.end == End::Zero);
            if !is_there {
                match basis.exchange(&self.course.scaled, &self.active, block.row, j) {
                    Exchange::Done => self.active[block.row] ^= true,
                    Exchange::Both => {
                        self.active[block.row] ^= true;
                        self.active[j] ^= true;
                    }
                    Exchange::Impossible => return ControlFlow::Break(Status::NonDescent),
                }
            }
            self.course.step(problem, (&self.x, &self.y), observer)?;
            if ends {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Takes a step.
    fn advance(&mut self, j: usize, sigma: f64, block: &block::Block) {
        let t = sigma * block.step;
        for i in 0..self.x.len() {
            let moved = t * self.rates[i];
            match (i == j, self.active[i]) {
                (false, true) => self.x[i] += moved,
                (false, false) => self.y[i] += moved,
                (true, true) => {
                    self.x[i] += moved;
                    self.y[i] += t;
                }
                (true, false) => {
                    self.x[i] += t;
                    self.y[i] += moved;
                }
            }
        }
        // Exactly there: what blocks must not block again by rounding.
        match block.end {
            End::Zero => self.y[block.row] = 0.0,
            End::Bound(bound) => self.x[block.row] = bound,
            End::Aside => {}
        }
    }

    /// Nothing ends the step: either a proof that there is no solution, or rounding, or not a matrix for this method.
    fn without_end(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        settings: &Settings,
        j: usize,
        sigma: f64,
    ) -> ControlFlow<Status> {
        let now = self
            .course
            .scaled
            .natural_of(problem, j, self.x[j], self.y[j]);
        if now.abs() <= 0.5 * settings.tolerance {
            self.tolerated[j] = true;
            return ControlFlow::Continue(());
        }
        let Self {
            course,
            rates,
            active,
            ..
        } = self;
        for i in 0..rates.len() {
            rates[i] = match (i == j, active[i]) {
                (true, false) => sigma,
                (_, true) => sigma * rates[i],
                (false, false) => 0.0,
            };
        }
        ControlFlow::Break(if course.scaled.is_infeasible(problem, rates) {
            Status::Infeasible
        } else {
            Status::NonDescent
        })
    }
}
