//! Multigrid by the full approximation scheme. [Lai20 alg. 3]
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `N(p)` | `min((A p + b)_i, d_i p_i)` on bounded rows, `(A p + b)_i` on free ones [Lai20 (4.6)] |
//! | `d_i` | `A_ii` of the level |
//! | `f` | right-hand side of `N(p) = f`, zero on the finest level |
//! | `P`, `R` | prolongation and restriction, see [`Hierarchy`] |
//! | `h`, `H` | a level and the next coarser one |
//!
//! ```text
//! smooth N_h(p) = f_h
//! p_H = R p      f_H = N_H(p_H) + R (f_h - N_h(p))
//! solve N_H(q) = f_H in the same way, from q = p_H
//! p <- p + P (q - p_H)
//! smooth N_h(p) = f_h
//! ```
//!
//! `N(p) = f` is the box MLCP with the right-hand side `b - f` and the lower bound `f_i / d_i` on bounded rows, so it is
//! smoothed by projected Gauss-Seidel. Where no row is bounded, this is linear multigrid, cycle for cycle.
//!
//! DEVIATION [Lai20 (4.6)]: the paper compares `(A p + b)_i` with `p_i`, which has other units; see the misprints.
//!
//! ```
//! use meniscus_lcp::methods::fas;
//! use meniscus_lcp::{BoxMlcp, Csr, Galerkin, Status};
//!
//! // The obstacle problem: a string over a floor, fixed at both ends.
//! let n = 63;
//! let mut entries = Vec::new();
//! for i in 0..n as u32 {
//!     entries.push((i, i, 2.0));
//!     if i > 0 {
//!         entries.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
//!     }
//! }
//! let matrix = Csr::from_entries(n, entries)?;
//! let mut rhs = vec![0.01; n];
//! rhs[0] -= 1.0;
//! let (lower, upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
//! let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper)?;
//!
//! let hierarchy = Galerkin::grid(&matrix, &[n])?;
//! let mut x = vec![0.0; n];
//! let settings = fas::Settings::default();
//! let report = fas::solve(&problem, &settings, &hierarchy, &mut x, &mut Default::default(), &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!(report.iterations < 20 && x[0] > 0.8 && x[n - 1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

mod level;

use super::check_tolerance;
use crate::error::{InputError, check_at_least_1, check_length};
use crate::hierarchy::{self, Hierarchy};
use crate::monitor::{Best, Iterate, Monitor};
use crate::operator::Operator;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::report::{Observer, Report, Status};
use crate::rows::Rows;
use crate::split::{first_row, for_each};
use crate::splitting::{Order, divisors};
use level::Level;

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Limit on cycles.
        pub max_iterations: usize = 100,
        /// Sweeps of projected Gauss-Seidel before the coarser level is visited.
        pub sweeps_before: usize = 2,
        /// Sweeps after. Together with those before, at least 1.
        pub sweeps_after: usize = 2,
        /// Further sweeps, each time and on every level, over the bounded rows and those coupled to them alone.
        ///
        /// DEVIATION [Lai20 alg. 3]: the paper has none. Where bounds begin and end to hold, the coarse correction is
        /// at its worst, and there are few such rows.
        pub bound_sweeps: usize = 0,
        /// Limit on sweeps on the coarsest level; fewer where they converge. At least 1.
        pub coarsest_sweeps: usize = 100,
        /// The order of the rows in a sweep.
        pub order: Order = Order::Natural,
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        check_tolerance(self.tolerance)?;
        check_at_least_1("coarsest_sweeps", self.coarsest_sweeps)?;
        let sweeps = self.sweeps_before.saturating_add(self.sweeps_after);
        check_at_least_1("sweeps_before or sweeps_after", sweeps)
    }
}

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    levels: Vec<Level>,
    x: Vec<f64>,
    r: Vec<f64>,
    best: Vec<f64>,
}

/// Cycles without progress after which the method has stagnated.
const PATIENCE: usize = 10;

/// Solves the problem, starting from the given `x`, projected onto the box.
///
/// `A` must be symmetric and positive semidefinite, best an M-matrix like that of a diffusion on a grid. Bounds from below
/// may be any finite numbers, or none; one from above is an error, and so is a diagonal entry that is not positive. A problem
/// without a solution ends at the iteration limit. An iteration is a cycle; the merit is half the sum of
/// squares of the natural residual.
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
    workspace.prepare(problem, hierarchy, settings)?;
    problem.project(x);
    workspace.set(x);

    let mut best = std::mem::take(&mut workspace.best);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer)
        .keep_best(Best::Residual, &mut best, x);
    let mut idle = 0;
    let status = loop {
        workspace.write(problem);
        let residual = problem.natural_residual(&workspace.x, &mut workspace.r);
        idle = if residual < monitor.best() {
            0
        } else {
            idle + 1
        };
        let stagnated = idle >= PATIENCE && residual <= 2.0 * monitor.best();
        let iterate = workspace.iterate(residual);
        if let Some(status) = monitor.check(iterate, stagnated.then_some(Status::Stagnated)) {
            break status;
        }
        workspace.cycle(problem.matrix(), settings, hierarchy);
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
        settings: &Settings,
    ) -> Result<(), InputError> {
        let (order, with_bounds) = (settings.order, settings.bound_sweeps > 0);
        let upper = first_row(problem.upper(), &|_, upper| {
            upper.iter().position(|upper| upper.is_finite())
        });
        if let Some(row) = upper {
            return Err(InputError::UpperBound { row });
        }
        let n = problem.len();
        for array in [&mut self.x, &mut self.r] {
            array.resize(n, 0.0);
        }
        self.levels
            .resize_with(hierarchy.coarser() + 1, Level::default);

        // The problem in `p = x - l`, whose bounds are zero on every level.
        let finest = &mut self.levels[0];
        finest.resize(n);
        divisors(problem, &mut finest.d)?;
        finest.floor.resize(n, 0.0);
        for (i, &lower) in problem.lower().iter().enumerate() {
            finest.bounded[i] = lower.is_finite();
            finest.floor[i] = if lower.is_finite() { lower } else { 0.0 };
        }
        problem.affine(&finest.floor, &mut finest.b);
        finest.f.fill(0.0);
        finest.colour(problem.matrix(), order);
        if with_bounds {
            finest.find_bounds(problem.matrix());
        }
        for level in 1..=hierarchy.coarser() {
            let (fine, coarse) = pair(&mut self.levels, level);
            let matrix = hierarchy.matrix(level);
            coarse.resize(matrix.len());
            hierarchy.restrict(level, &fine.b, &mut coarse.b);
            hierarchy.bounded(level, &fine.bounded, &mut coarse.bounded);
            hierarchy::divisors(matrix, &mut coarse.d);
            coarse.colour(matrix, order);
            if with_bounds {
                coarse.find_bounds(matrix);
            }
        }
        Ok(())
    }

    /// The iterate for the [`Monitor`].
    fn iterate(&self, residual: f64) -> Iterate<'_> {
        let finite = residual.is_finite() && reduce::largest(&self.x).is_finite();
        Iterate::new(&self.x, residual, 0.5 * reduce::sum_of_squares(&self.r)).finite(finite)
    }

    /// `p = x - l`
    fn set(&mut self, x: &[f64]) {
        let Level { p, floor, .. } = &mut self.levels[0];
        for_each((&mut p[..], x, &floor[..]), &|_, (p, x, floor)| {
            for i in 0..p.len() {
                p[i] = x[i] - floor[i];
            }
        });
    }

    /// `x = l + p`, in the box
    fn write(&mut self, problem: &BoxMlcp<'_, impl Rows + ?Sized>) {
        let Level { p, floor, .. } = &self.levels[0];
        for_each((&mut self.x[..], &p[..], &floor[..]), &|_,
                                                          (x, p, floor): (
            &mut [f64],
            &[f64],
            &[f64],
        )| {
            for i in 0..x.len() {
                x[i] = floor[i] + p[i];
            }
        });
        problem.project(&mut self.x);
    }

    /// One V-cycle. [Lai20 alg. 3]
    fn cycle(
        &mut self,
        matrix: &(impl Rows + ?Sized),
        settings: &Settings,
        hierarchy: &(impl Hierarchy + ?Sized),
    ) {
        let coarsest = hierarchy.coarser();
        let Settings {
            sweeps_before,
            sweeps_after,
            bound_sweeps,
            coarsest_sweeps,
            order,
            ..
        } = *settings;
        let (before, after) = ((sweeps_before, bound_sweeps), (sweeps_after, bound_sweeps));
        for level in 0..coarsest {
            match level {
                0 => self.levels[0].descend(matrix, order, before),
                _ => self.levels[level].descend(hierarchy.matrix(level), order, before),
            }
            let (fine, coarse) = pair(&mut self.levels, level + 1);
            coarse.enter(hierarchy, level + 1, fine);
        }
        match coarsest {
            0 => self.levels[0].solve(matrix, order, coarsest_sweeps),
            _ => self.levels[coarsest].solve(hierarchy.matrix(coarsest), order, coarsest_sweeps),
        }
        for level in (0..coarsest).rev() {
            let (fine, coarse) = pair(&mut self.levels, level + 1);
            fine.correct(hierarchy, level + 1, coarse);
            match level {
                0 => self.levels[0].smooth(matrix, order, after),
                _ => self.levels[level].smooth(hierarchy.matrix(level), order, after),
            };
        }
    }
}

/// A level and the next finer one, which comes first.
fn pair(levels: &mut [Level], coarse: usize) -> (&mut Level, &mut Level) {
    let (low, high) = levels.split_at_mut(coarse);
    (&mut low[coarse - 1], &mut high[0])
}
