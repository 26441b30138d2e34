//! Semismooth Newton method for bounds that depend on another unknown, for boxes and discs.
//!
//! A root of the natural map is a solution, `r(x) = x - P(x - S y(x), x)`, with `P` the nearest point of the bounds as they are at
//! `x` and `S` the inverse of the diagonal. [Alart and Curnier 1991] Its generalised Jacobian has
//!
//! ```text
//! s_i A_i                                                         rows inside their bounds
//! e_i                                                             rows at a bound of their own
//! e_i - (+-) mu e_k                                               rows at a bound that follows x_k > 0
//! e_t - mu n e_k - mu x_k / |v| (I - n n') (e_t - s A_t)          rows of a disc at its edge, v = x_t - s y_t, n = v / |v|
//! ```
//!
//! The system is solved with every entry stored. A step that does not lower the merit, half the sum of squares of `r`, is
//! shortened; where that does not help, sweeps of [`pgs_coupled`] lead on. Whether it converges is not known
//! in general; near a solution it does so quadratically.
//!
//! ```
//! use meniscus_lcp::methods::newton_coupled;
//! use meniscus_lcp::{BoxMlcp, CoupledBound, CoupledBoundMlcp, Csr, Status};
//!
//! // A block that is pressed down by 2 and pulled sideways by (3, 4), with friction 0.5: it slides along the pull.
//! let matrix = Csr::new(3, vec![0, 1, 2, 3], vec![0, 1, 2], vec![1.0; 3])?;
//! let free = f64::INFINITY;
//! let (lower, upper) = ([0.0, -free, -free], [free; 3]);
//! let rest = BoxMlcp::new(&matrix, &[-2.0, -3.0, -4.0], &lower, &upper)?;
//! let bound = |row| CoupledBound { row, of: 0, factor: 0.5 };
//! let bounds = [bound(1), bound(2)];
//! let problem = CoupledBoundMlcp::new(rest, &bounds)?.with_discs(&[[0, 1]])?;
//! let mut x = [0.0; 3];
//! let settings = newton_coupled::Settings::default();
//! let report = newton_coupled::solve(&problem, &settings, &mut x, &mut Default::default(), &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[1] - 0.6).abs() < 1e-8 && (x[2] - 0.8).abs() < 1e-8);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use super::{check_tolerance, pgs_coupled};
use crate::coupled_bounds::{CoupledBoundMlcp, nearest};
use crate::error::InputError;
use crate::factor::Lu;
use crate::monitor::{Best, Iterate, Monitor};
use crate::reduce;
use crate::report::{Observer, Report, Status};
use crate::rows::Rows;
use crate::splitting;

settings! {
    /// Stopping criteria.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual, with the bounds as they are at `x`.
        pub tolerance: f64 = 1e-8,
        /// Limit on iterations, each of which factorises a matrix.
        pub max_iterations: usize = 100,
    }
}

/// Most rows: every entry of the system is stored.
const MOST_ROWS: usize = 3_000;
/// Halvings of a step before sweeps take over.
const HALVINGS: usize = 10;
/// Part of the fall of the merit that a full step promises which a step must bring.
const ENOUGH: f64 = 1e-4;
/// Sweeps before the first iteration and where no step helps.
const SWEEPS: usize = 20;
/// Times in a row that sweeps may lead on before the method has stagnated.
const PATIENCE: usize = 10;

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// `S`, the same for both rows of a disc.
    s: Vec<f64>,
    y: Vec<f64>,
    r: Vec<f64>,
    trial: Vec<f64>,
    natural: Vec<f64>,
    step: Vec<f64>,
    best: Vec<f64>,
    jacobian: Vec<f64>,
    lu: Lu,
    sweeps: pgs_coupled::Workspace,
}

/// Solves the problem, starting from the given `x`, projected onto its bounds.
///
/// An entry of the diagonal that is not positive is an error, as are more than 3,000 rows. The merit is that of the scaled
/// map.
pub fn solve(
    problem: &CoupledBoundMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    check_tolerance(settings.tolerance)?;
    problem.rest().check_start(x)?;
    let n = problem.len();
    if n > MOST_ROWS {
        let what = "rows";
        return Err(InputError::TooLarge {
            what,
            limit: MOST_ROWS,
        });
    }
    let w = workspace;
    w.prepare(problem)?;
    problem.project(x);
    let mut best = std::mem::take(&mut w.best);
    best.resize(n, 0.0);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer)
        .keep_best(Best::Residual, &mut best, x);
    let mut idle = 0;
    let mut least = f64::INFINITY;
    let status = loop {
        let residual = problem.natural_residual(x, &mut w.natural);
        let merit = w.map(problem, x);
        let stall = (idle > PATIENCE).then_some(Status::Stagnated);
        if let Some(status) = monitor.check(Iterate::new(x, residual, merit), stall) {
            break status;
        }
        if monitor.iterations() == 0 {
            w.sweeps.sweeps(problem, SWEEPS, x)?;
            w.map(problem, x);
        }
        monitor.count(1, 0);
        if w.newton(problem, x) {
            idle = 0;
        } else {
            w.sweeps.sweeps(problem, SWEEPS, x)?;
            idle += 1;
        }
        if merit < 0.5 * least {
            (least, idle) = (merit, 0);
        }
    };
    let report = monitor.finish(status, x, |x| problem.natural_residual(x, &mut w.natural));
    w.best = best;
    Ok(report)
}

impl Workspace {
    fn prepare(
        &mut self,
        problem: &CoupledBoundMlcp<'_, impl Rows + ?Sized>,
    ) -> Result<(), InputError> {
        let n = problem.len();
        splitting::divisors(problem.rest(), &mut self.s)?;
        for s in &mut self.s {
            *s = 1.0 / *s;
        }
        for pair in problem.discs() {
            let [i, j] = pair.map(|index| problem.coupled_bounds()[index].row);
            let both = self.s[i].min(self.s[j]);
            (self.s[i], self.s[j]) = (both, both);
        }
        for array in [
            &mut self.y,
            &mut self.r,
            &mut self.trial,
            &mut self.natural,
            &mut self.step,
        ] {
            array.resize(n, 0.0);
        }
        self.jacobian.resize(n * n, 0.0);
        Ok(())
    }

    /// `r(x)` and its merit.
    fn map(&mut self, problem: &CoupledBoundMlcp<'_, impl Rows + ?Sized>, x: &[f64]) -> f64 {
        let rest = problem.rest();
        rest.affine(x, &mut self.y);
        let point = |i: usize| x[i] - self.s[i] * self.y[i];
        for i in 0..x.len() {
            self.r[i] = x[i] - point(i).clamp(rest.lower()[i], rest.upper()[i]);
        }
        for bound in problem.coupled_bounds() {
            let (i, reach) = (bound.row, bound.reach(x));
            self.r[i] = x[i] - point(i).clamp(-reach, reach);
        }
        for &pair in problem.discs() {
            let ([i, j], reach) = problem.disc(pair, x);
            let near = nearest([point(i), point(j)], reach);
            (self.r[i], self.r[j]) = (x[i] - near[0], x[j] - near[1]);
        }
        0.5 * reduce::sum_of_squares(&self.r)
    }

    /// A step from `x`, where the map is known; false if none lowers the merit.
    fn newton(
        &mut self,
        problem: &CoupledBoundMlcp<'_, impl Rows + ?Sized>,
        x: &mut [f64],
    ) -> bool {
        let n = x.len();
        self.differentiate(problem, x);
        let Self {
            lu, jacobian, step, ..
        } = self;
        lu.factorise(n, |row, out| {
            out.copy_from_slice(&jacobian[row * n..(row + 1) * n]);
        });
        for (step, r) in step.iter_mut().zip(&self.r) {
            *step = -r;
        }
        lu.solve(step);
        if !reduce::largest(step).is_finite() {
            return false;
        }
        let merit = 0.5 * reduce::sum_of_squares(&self.r);
        let mut length = 1.0;
        for _ in 0..=HALVINGS {
            let mut trial = std::mem::take(&mut self.trial);
            for i in 0..n {
                trial[i] = x[i] + length * self.step[i];
            }
            let new = self.map(problem, &trial);
            let lower = new <= (1.0 - 2.0 * ENOUGH * length) * merit;
            self.trial = trial;
            if lower {
                x.copy_from_slice(&self.trial);
                return true;
            }
            length *= 0.5;
        }
        false
    }

    /// An element of the generalised Jacobian at `x`.
    fn differentiate(&mut self, problem: &CoupledBoundMlcp<'_, impl Rows + ?Sized>, x: &[f64]) {
        let n = x.len();
        let (rest, s, y) = (problem.rest(), &self.s, &self.y);
        let jacobian = &mut self.jacobian;
        jacobian.fill(0.0);
        let point = |i: usize| x[i] - s[i] * y[i];
        // `factor s_i A_i` is added to a row.
        let add_row = |jacobian: &mut [f64], row: usize, i: usize, factor: f64| {
            rest.matrix().visit_row(i, &mut |column, value| {
                jacobian[row * n + column] += factor * s[i] * value;
            });
        };
        let mut follows = vec![false; n];
        for bound in problem.coupled_bounds() {
            follows[bound.row] = true;
        }
        for i in (0..n).filter(|&i| !follows[i]) {
            let inside = rest.lower()[i] < point(i) && point(i) < rest.upper()[i];
            match inside {
                true => add_row(jacobian, i, i, 1.0),
                false => jacobian[i * n + i] = 1.0,
            }
        }
        for bound in problem.boxes() {
            let (i, reach) = (bound.row, bound.reach(x));
            if point(i).abs() < reach {
                add_row(jacobian, i, i, 1.0);
                continue;
            }
            jacobian[i * n + i] = 1.0;
            if x[bound.of] > 0.0 {
                jacobian[i * n + bound.of] -= bound.factor.copysign(point(i));
            }
        }
        for &pair in problem.discs() {
            let (rows, reach) = problem.disc(pair, x);
            let bound = problem.coupled_bounds()[pair[0]];
            let v = rows.map(point);
            let length = v[0].hypot(v[1]);
            if length < reach {
                rows.into_iter().for_each(|i| add_row(jacobian, i, i, 1.0));
                continue;
            }
            let normal = if length > 0.0 {
                v.map(|v| v / length)
            } else {
                [0.0; 2]
            };
            let part = if length > 0.0 { reach / length } else { 0.0 };
            for (a, &row) in rows.iter().enumerate() {
                jacobian[row * n + row] += 1.0;
                if x[bound.of] > 0.0 {
                    jacobian[row * n + bound.of] -= bound.factor * normal[a];
                }
                for (b, &other) in rows.iter().enumerate() {
                    let kept = f64::from(u8::from(a == b)) - normal[a] * normal[b];
                    jacobian[row * n + other] -= part * kept;
                    add_row(jacobian, row, other, part * kept);
                }
            }
        }
    }
}
