//! Full multigrid with bounds on the finest level alone, after Chentanez and Mueller (2012); for comparison.
//! [Lai20 sec. 5]
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `r` | `-(A x + b)`, zero where `x` is at a bound that it would leave on the wrong side |
//! | `e` | correction of a level, `A e = r`, without bounds |
//! | `P`, `R` | prolongation and restriction, see [`Hierarchy`] |
//!
//! ```text
//! r_H = R r, from the finest level to the coarsest; solve there
//! from the coarsest level to the finest: e = P e_H, then a V-cycle for A e = r
//! x <- clamp(x + t P e_H), then a V-cycle for A x + b = 0 whose sweeps stay in the box
//! ```
//!
//! Unlike the [full approximation scheme](super::fas) the coarser levels know nothing of bounds: rows that come to theirs or
//! leave them do so by the sweeps of the finest level only, and the number of cycles grows with the size of the problem.
//!
//! DEVIATION [Lai20 sec. 5]: the method is known to us from its description there. Our additions: rows at their bounds
//! send no residual to the coarser levels and take no correction from them, without which a solution is no fixed point; and
//! the length `t` of a step, the one with the least energy `1/2 x'Ax + b'x`, shorter if the box makes the energy rise. To
//! levels without bounds the problem is softer than it is where many rows are at their bounds, and with `t = 1` it was seen to
//! stagnate.
//!
//! ```
//! use meniscus_lcp::methods::fmg;
//! use meniscus_lcp::{BoxMlcp, Csr, Galerkin, Status};
//!
//! let n = 63;
//! let entries = (0..n as u32).flat_map(|i| {
//!     let below = (i > 0).then(|| [(i, i - 1, -1.0), (i - 1, i, -1.0)]);
//!     std::iter::once((i, i, 2.0)).chain(below.into_iter().flatten())
//! });
//! let matrix = Csr::from_entries(n, entries.collect())?;
//! let mut rhs = vec![0.01; n];
//! rhs[0] -= 1.0;
//! let (lower, upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
//! let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper)?;
//! let hierarchy = Galerkin::grid(&matrix, &[n])?;
//! let mut x = vec![0.0; n];
//! let settings = fmg::Settings::default();
//! let report = fmg::solve(&problem, &settings, &hierarchy, &mut x, &mut Default::default(), &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!(x[0] > 0.8 && x[n - 1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use super::check_tolerance;
use crate::error::{InputError, check_at_least_1, check_length};
use crate::hierarchy::{self, Hierarchy};
use crate::monitor::{Best, Iterate, Monitor};
use crate::operator::Operator;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::reduced_system::add;
use crate::report::{Observer, Report, Status};
use crate::rows::Rows;
use crate::splitting::{divisors, rows};

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Limit on full cycles.
        pub max_iterations: usize = 100,
        /// Sweeps of Gauss-Seidel before the coarser level is visited, and again after. At least 1.
        pub sweeps: usize = 4,
        /// Limit on sweeps on the coarsest level; fewer where they converge. At least 1.
        pub coarsest_sweeps: usize = 100,
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        check_tolerance(self.tolerance)?;
        check_at_least_1("sweeps", self.sweeps)?;
        check_at_least_1("coarsest_sweeps", self.coarsest_sweeps)
    }
}

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Level 1 and on.
    levels: Vec<Level>,
    /// Of the finest level: diagonal, `A x + b`, its part on rows away from their bounds, a correction and its product.
    d: Vec<f64>,
    y: Vec<f64>,
    r: Vec<f64>,
    e: Vec<f64>,
    product: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
}

/// A coarser level: `A e + rhs = 0`.
#[derive(Clone, Debug, Default)]
struct Level {
    e: Vec<f64>,
    rhs: Vec<f64>,
    d: Vec<f64>,
    scratch: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Cycles without progress after which the method has stagnated.
const PATIENCE: usize = 30;

/// Times that a step is halved before it is left out.
const HALVINGS: usize = 6;

/// Solves the problem, starting from the given `x`, projected onto the box.
///
/// `A` must be symmetric and positive semidefinite; a diagonal entry that is not positive is an error on a row that can
/// move. An iteration is a full cycle; the merit is half the sum of squares of the natural residual.
pub fn solve(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    hierarchy: &(impl Hierarchy + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    settings.check()?;
    problem.check_start(x)?;
    check_length("the finest level", problem.len(), hierarchy.finest())?;
    workspace.prepare(problem, hierarchy)?;
    problem.project(x);
    let mut best = std::mem::take(&mut workspace.best);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer)
        .keep_best(Best::Residual, &mut best, x);
    let mut idle = 0;
    let status = loop {
        let residual = problem.natural_residual(x, &mut workspace.r);
        idle = if residual < monitor.best() {
            0
        } else {
            idle + 1
        };
        let finite = residual.is_finite() && reduce::largest(x).is_finite();
        let merit = 0.5 * reduce::sum_of_squares(&workspace.r);
        let iterate = Iterate::new(x, residual, merit).finite(finite);
        let stall = (idle >= PATIENCE).then_some(Status::Stagnated);
        if let Some(status) = monitor.check(iterate, stall) {
            break status;
        }
        workspace.full_cycle(problem, settings, hierarchy, x);
        monitor.count(1, 0);
    };
    let report = monitor.finish(status, x, |x| problem.natural_residual(x, &mut workspace.r));
    workspace.best = best;
    Ok(report)
}

impl Workspace {
    fn prepare(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        hierarchy: &(impl Hierarchy + ?Sized),
    ) -> Result<(), InputError> {
        let n = problem.len();
        for array in [
            &mut self.y,
            &mut self.r,
            &mut self.e,
            &mut self.product,
            &mut self.trial,
        ] {
            array.resize(n, 0.0);
        }
        divisors(problem, &mut self.d)?;
        self.levels.resize_with(hierarchy.coarser(), Level::default);
        for (k, level) in self.levels.iter_mut().enumerate() {
            let matrix = hierarchy.matrix(k + 1);
            let n = matrix.len();
            for array in [
                &mut level.e,
                &mut level.rhs,
                &mut level.d,
                &mut level.scratch,
            ] {
                array.resize(n, 0.0);
            }
            level.lower.clear();
            level.lower.resize(n, f64::NEG_INFINITY);
            level.upper.clear();
            level.upper.resize(n, f64::INFINITY);
            hierarchy::divisors(matrix, &mut level.d);
        }
        Ok(())
    }

    fn full_cycle(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        settings: &Settings,
        hierarchy: &(impl Hierarchy + ?Sized),
        x: &mut [f64],
    ) {
        if self.levels.is_empty() {
            for _ in 0..2 * settings.sweeps {
                rows(problem, &self.d, 1.0, 0..x.len(), x);
            }
            return;
        }
        self.restrict_from_finest(problem, hierarchy, x);
        for k in 1..self.levels.len() {
            let (fine, coarse) = pair(&mut self.levels, k);
            hierarchy.restrict(k + 1, &fine.rhs, &mut coarse.rhs);
        }
        let coarsest = self.levels.len();
        self.levels[coarsest - 1].solve(hierarchy.matrix(coarsest), settings.coarsest_sweeps);
        for k in (1..coarsest).rev() {
            let (fine, coarse) = pair(&mut self.levels, k);
            hierarchy.prolongate(k + 1, &coarse.e, &mut fine.e);
            self.v_cycle(k, settings, hierarchy);
        }
        self.correct_finest(problem, hierarchy, x);

        for _ in 0..settings.sweeps {
            rows(problem, &self.d, 1.0, 0..x.len(), x);
        }
        self.restrict_from_finest(problem, hierarchy, x);
        self.levels[0].e.fill(0.0);
        self.v_cycle(1, settings, hierarchy);
        self.correct_finest(problem, hierarchy, x);
        for _ in 0..settings.sweeps {
            rows(problem, &self.d, 1.0, 0..x.len(), x);
        }
    }

    /// Right-hand side of level 1: `R (A x + b)`, without the rows that their bounds hold.
    fn restrict_from_finest(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        hierarchy: &(impl Hierarchy + ?Sized),
        x: &[f64],
    ) {
        problem.affine(x, &mut self.y);
        for (i, r) in self.r.iter_mut().enumerate() {
            let held = is_held(problem, i, x[i], self.y[i]);
            *r = if held { 0.0 } else { self.y[i] };
        }
        hierarchy.restrict(1, &self.r, &mut self.levels[0].rhs);
    }

    /// `x <- clamp(x + t P e)`; `y` must be that of `x`.
    fn correct_finest(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        hierarchy: &(impl Hierarchy + ?Sized),
        x: &mut [f64],
    ) {
        let Self {
            y,
            e,
            product,
            trial,
            ..
        } = self;
        hierarchy.prolongate(1, &self.levels[0].e, e);
        for (i, e) in e.iter_mut().enumerate() {
            if is_held(problem, i, x[i], y[i]) {
                *e = 0.0;
            }
        }
        let curvature = problem.matrix().apply_dot(e, product);
        let mut step = -reduce::dot(y, e) / curvature;
        if !(step > 0.0 && step.is_finite()) {
            return;
        }
        for _ in 0..HALVINGS {
            problem.project_step(x, step, e, trial);
            for (trial, x) in trial.iter_mut().zip(&*x) {
                *trial -= x;
            }
            let rise = 0.5 * problem.matrix().apply_dot(trial, product) + reduce::dot(y, trial);
            if rise <= 0.0 {
                add(x, 1.0, trial);
                problem.project(x); // rounding only
                return;
            }
            step *= 0.5;
        }
    }

    /// A V-cycle from a coarser level on, starting from its `e`.
    fn v_cycle(
        &mut self,
        level: usize,
        settings: &Settings,
        hierarchy: &(impl Hierarchy + ?Sized),
    ) {
        let coarsest = self.levels.len();
        for k in level..coarsest {
            let matrix = hierarchy.matrix(k);
            let (fine, coarse) = pair(&mut self.levels, k);
            fine.smooth(matrix, settings.sweeps);
            fine.equation(matrix);
            hierarchy.restrict(k + 1, &fine.scratch, &mut coarse.rhs);
            coarse.e.fill(0.0);
        }
        self.levels[coarsest - 1].solve(hierarchy.matrix(coarsest), settings.coarsest_sweeps);
        for k in (level..coarsest).rev() {
            let (fine, coarse) = pair(&mut self.levels, k);
            hierarchy.prolongate(k + 1, &coarse.e, &mut fine.scratch);
            let Level { e, scratch, .. } = fine;
            add(e, 1.0, scratch);
            fine.smooth(hierarchy.matrix(k), settings.sweeps);
        }
    }
}

impl Level {
    fn smooth(&mut self, matrix: &(impl Rows + ?Sized), sweeps: usize) {
        let Self {
            e,
            rhs,
            d,
            lower,
            upper,
            ..
        } = self;
        let problem = BoxMlcp::unchecked(matrix, rhs, lower, upper);
        for _ in 0..sweeps {
            rows(&problem, d, 1.0, 0..e.len(), e);
        }
    }

    /// Solves from zero by alternating sweeps, until nothing moves.
    fn solve(&mut self, matrix: &(impl Rows + ?Sized), sweeps: usize) {
        self.e.fill(0.0);
        let Self {
            e,
            rhs,
            d,
            lower,
            upper,
            ..
        } = self;
        let problem = BoxMlcp::unchecked(matrix, rhs, lower, upper);
        let n = e.len();
        for sweep in 0..sweeps {
            let moved = match sweep % 2 {
                0 => rows(&problem, d, 1.0, 0..n, e),
                _ => rows(&problem, d, 1.0, (0..n).rev(), e),
            };
            if moved <= f64::EPSILON * reduce::largest(e) {
                break;
            }
        }
    }

    /// Leaves `A e + rhs` in the scratch memory.
    fn equation(&mut self, matrix: &(impl Rows + ?Sized)) {
        matrix.apply(&self.e, &mut self.scratch);
        add(&mut self.scratch, 1.0, &self.rhs);
    }
}

/// Whether a row is at a bound that it would leave on the wrong side, or can't move at all.
fn is_held(problem: &BoxMlcp<'_, impl Rows + ?Sized>, row: usize, x: f64, y: f64) -> bool {
    let (lower, upper) = (problem.lower()[row], problem.upper()[row]);
    lower == upper || (x <= lower && y > 0.0) || (x >= upper && y < 0.0)
}

/// Level `k`, from 1 on, and the next coarser one.
fn pair(levels: &mut [Level], k: usize) -> (&mut Level, &mut Level) {
    let (low, high) = levels.split_at_mut(k);
    (&mut low[k - 1], &mut high[0])
}
