//! Projected Gauss-Seidel for bounds that depend on another unknown, updated during the sweep.
//!
//! ```text
//! x_i <- clamp(x_i - omega (A x + b)_i / A_ii, l_i, u_i)                  rows with constant bounds
//! x_i <- clamp(x_i - omega (A x + b)_i / A_ii, -mu x_k, mu x_k)           rows coupled to row k, at its newest x_k
//! ```
//!
//! Two rows of a disc take the step together, with the sum of their divisors and the coupling between them, and are brought back
//! to the nearest point of the disc.
//!
//! Rows with constant bounds come first in a sweep, those with coupled bounds after them, so that at the end of a sweep every
//! bound is kept. Whether the sweeps converge is not known in general; in practice they do where `mu` is not too large.
//!
//! ```
//! use meniscus_lcp::methods::pgs_coupled;
//! use meniscus_lcp::{BoxMlcp, Csr, CoupledBound, CoupledBoundMlcp, Status};
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, 0.5, 0.5, 2.0])?;
//! let (lower, upper) = ([0.0, f64::NEG_INFINITY], [f64::INFINITY; 2]);
//! let rest = BoxMlcp::new(&matrix, &[-2.0, -5.0], &lower, &upper)?;
//! let bounds = [CoupledBound { row: 1, of: 0, factor: 0.5 }];
//! let problem = CoupledBoundMlcp::new(rest, &bounds)?;
//! let mut x = [0.0; 2];
//! let settings = pgs_coupled::Settings::default();
//! let mut workspace = pgs_coupled::Workspace::default();
//! let report = pgs_coupled::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! // x_1 = x_0 / 2, and so 2.25 x_0 = 2.
//! assert!((x[0] - 8.0 / 9.0).abs() < 1e-8 && (x[1] - 4.0 / 9.0).abs() < 1e-8);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use crate::coupled_bounds::{CoupledBound, CoupledBoundMlcp, nearest};
use crate::error::InputError;
use crate::monitor::{Best, Iterate, Monitor};
use crate::reduce;
use crate::report::{Observer, Report, Status};
use crate::rows::Rows;
use crate::splitting::{self, Rules, project};

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual, with the bounds as they are at `x`.
        pub tolerance: f64 = 1e-8,
        /// Change of `x` in a sweep, relative to the largest `|x_i|`, at which the method ends.
        pub stagnation: f64 = 1e-15,
        /// Limit on sweeps.
        pub max_iterations: usize = 10_000,
        /// Sweeps from one check to the next.
        ///
        /// A check, and with it a call of the observer, costs about as much as a sweep.
        pub check_every: usize = 1,
        /// `omega`, between 0 and 2.
        pub relaxation: f64 = 1.0,
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        let rules = Rules {
            tolerance: self.tolerance,
            relative: 0.0,
            stagnation: self.stagnation,
            max_iterations: self.max_iterations,
            check_every: self.check_every,
            relaxation: self.relaxation,
        };
        rules.check()
    }
}

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    d: Vec<f64>,
    r: Vec<f64>,
    best: Vec<f64>,
    follows: Vec<bool>,
    /// Coupled bounds that are no part of a disc.
    boxes: Vec<CoupledBound>,
}

/// Solves the problem, starting from the given `x`, projected onto its bounds.
///
/// An entry of the diagonal that is not positive is an error, unless the bounds of its row are equal. The residual is the
/// natural one with the bounds as they are at `x`, the merit is half its sum of squares. An iteration is a sweep.
pub fn solve(
    problem: &CoupledBoundMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    settings.check()?;
    problem.rest().check_start(x)?;
    workspace.prepare(problem)?;
    problem.project(x);
    let Workspace {
        d,
        r,
        best,
        follows,
        boxes,
    } = workspace;
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer)
        .keep_best(Best::Residual, best, x);
    let mut moved = f64::INFINITY;
    let status = loop {
        let residual = problem.natural_residual(x, r);
        let merit = 0.5 * reduce::sum_of_squares(r);
        let resting = moved <= settings.stagnation * reduce::largest(x);
        let stall = resting.then_some(Status::Stagnated);
        if let Some(status) = monitor.check(Iterate::new(x, residual, merit), stall) {
            break status;
        }
        let batch = settings.check_every.min(monitor.iterations_left());
        for _ in 0..batch {
            moved = sweep(problem, d, (follows, boxes), settings.relaxation, x);
        }
        monitor.count(batch, 0);
    };
    Ok(monitor.finish(status, x, |x| problem.natural_residual(x, r)))
}

/// One sweep; returns the largest change of an entry.
fn sweep(
    problem: &CoupledBoundMlcp<'_, impl Rows + ?Sized>,
    d: &[f64],
    (follows, boxes): (&[bool], &[CoupledBound]),
    omega: f64,
    x: &mut [f64],
) -> f64 {
    let rest = problem.rest();
    let (matrix, b) = (rest.matrix(), rest.rhs());
    let (lower, upper) = (rest.lower(), rest.upper());
    let mut moved = 0.0_f64;
    let mut relax = |i: usize, lower: f64, upper: f64, x: &mut [f64]| {
        let y = matrix.row_dot(i, x) + b[i];
        let new = project(x[i] - omega * y / d[i], lower, upper);
        moved = moved.max((new - x[i]).abs());
        x[i] = new;
    };
    for i in (0..x.len()).filter(|&i| !follows[i]) {
        relax(i, lower[i], upper[i], x);
    }
    for bound in boxes {
        let reach = bound.reach(x);
        relax(bound.row, -reach, reach, x);
    }
    for &pair in problem.discs() {
        let (rows, reach) = problem.disc(pair, x);
        // The largest eigenvalue of the two rows is at most this.
        let mut coupling = 0.0;
        matrix.visit_row(rows[0], &mut |column, value| {
            if column == rows[1] {
                coupling += value;
            }
        });
        let divisor = d[rows[0]].max(d[rows[1]]) + coupling.abs();
        let free = rows.map(|i| x[i] - omega * (matrix.row_dot(i, x) + b[i]) / divisor);
        let new = nearest(free, reach);
        for (i, new) in rows.into_iter().zip(new) {
            moved = moved.max((new - x[i]).abs());
            x[i] = new;
        }
    }
    moved
}

impl Workspace {
    /// Sweeps over a problem, as many as given, without a check of the residual.
    pub(super) fn sweeps(
        &mut self,
        problem: &CoupledBoundMlcp<'_, impl Rows + ?Sized>,
        count: usize,
        x: &mut [f64],
    ) -> Result<(), InputError> {
        self.prepare(problem)?;
        for _ in 0..count {
            sweep(problem, &self.d, (&self.follows, &self.boxes), 1.0, x);
        }
        Ok(())
    }

    fn prepare(
        &mut self,
        problem: &CoupledBoundMlcp<'_, impl Rows + ?Sized>,
    ) -> Result<(), InputError> {
        let n = problem.len();
        splitting::divisors(problem.rest(), &mut self.d)?;
        self.r.resize(n, 0.0);
        self.follows.clear();
        self.follows.resize(n, false);
        for bound in problem.coupled_bounds() {
            self.follows[bound.row] = true;
        }
        self.boxes.clear();
        self.boxes.extend(problem.boxes());
        Ok(())
    }
}
