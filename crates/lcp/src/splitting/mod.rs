//! Projected relaxation sweeps, shared by the splitting methods. [Erl13 sec. 5.2]
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `omega` | relaxation, between 0 and 2 |
//! | `d_i` | `A_ii`, positive on every row that can move |
//!
//! ```text
//! x_i <- clamp(x_i - omega (A x + b)_i / d_i, l_i, u_i)
//! ```
//!
//! Gauss-Seidel takes the `x` it has just changed, Jacobi that of the last sweep. In the order of the rows Gauss-Seidel is
//! one long chain; by colours the rows of a colour are worked on in parallel, since none of them reads another.

mod colours;

pub(crate) use colours::Colours;

use crate::error::{
    InputError, check_at_least_1, check_not_negative, check_positive, check_relaxation,
};
use crate::monitor::{Best, Iterate, Monitor};
use crate::problem::{BoxMlcp, natural};
use crate::reduce::{self, larger};
use crate::report::{Observer, Report, Status};
use crate::rows::Rows;
use crate::split::{first_row, fold, for_each};

/// Defines the settings and the workspace of a splitting method: the stopping criteria that all of them share, with the
/// cost of a check, and the fields of its own.
macro_rules! settings_and_workspace {
    (
        check: $cost:literal, relaxation: |$settings:ident| $relaxation:expr,
        $($(#[$meta:meta])* pub $field:ident: $type:ty = $default:expr,)+
    ) => {
        settings! {
            /// Settings of the method: stopping criteria and constants.
            pub struct Settings {
                /// Bound on `||r||_inf` of the natural residual.
                pub tolerance: f64 = 1e-8,
                /// Relative change of the merit from one check to the next at which the method ends. [Erl13 (108)] Zero,
                /// which is never met, disables it.
                ///
                /// DEVIATION [Erl13 sec. 6]: 1e-6 in the notes. A sweep converges slowly, and a merit that hardly changes
                /// is no sign that it has: that of the notes is zero at `x = 0`, whatever `y`.
                pub relative: f64 = 0.0,
                /// Change of `x` in a sweep, relative to the largest `|x_i|`, at which the method ends. All that is left at
                /// the default is rounding error.
                ///
                /// DEVIATION [Erl13 (109)]: absolute in the notes, which depends on units.
                pub stagnation: f64 = 1e-15,
                /// Limit on sweeps. The notes use 100, for a coarser tolerance.
                pub max_iterations: usize = 10_000,
                /// Sweeps from one check to the next.
                ///
                #[doc = $cost]
                pub check_every: usize = 1,
                $($(#[$meta])* pub $field: $type = $default,)+
            }
        }

        impl Settings {
            pub(super) fn rules(&self) -> $crate::splitting::Rules {
                let $settings = self;
                $crate::splitting::Rules {
                    tolerance: self.tolerance,
                    relative: self.relative,
                    stagnation: self.stagnation,
                    max_iterations: self.max_iterations,
                    check_every: self.check_every,
                    relaxation: $relaxation,
                }
            }
        }

        /// Scratch memory of the method, reused between solves.
        #[derive(Clone, Debug, Default)]
        pub struct Workspace {
            pub(super) sweeps: $crate::splitting::Sweeps,
        }
    };
}

/// Defines the solve of a splitting method, with the documentation that all of them share.
macro_rules! solve_by_sweeps {
    ($kind:expr, $(#[$meta:meta])+) => {
        /// Solves the problem, starting from the given `x`, projected onto the box.
        ///
        $(#[$meta])+
        ///
        /// A diagonal entry that is not positive is an error, unless the bounds of its row are equal. The merit is
        /// `x'|A x + b|` [Erl13 (106)]: on each row the distance from the bound that the sign of `y_i` calls for, or from
        /// the only one there is, times `|y_i|`; on free rows `y_i^2 / A_ii`. An iteration is a sweep.
        pub fn solve(
            problem: &$crate::BoxMlcp<'_, impl $crate::Rows + ?Sized>,
            settings: &Settings,
            x: &mut [f64],
            workspace: &mut Workspace,
            observer: &mut (impl $crate::Observer + ?Sized),
        ) -> Result<$crate::Report, $crate::InputError> {
            let kind: fn(&Settings) -> $crate::splitting::Kind = $kind;
            let sweeps = &mut workspace.sweeps;
            $crate::splitting::solve(problem, &settings.rules(), kind(settings), x, sweeps, observer)
        }
    };
}

pub(crate) use {settings_and_workspace, solve_by_sweeps};

/// The order in which a sweep visits the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// From the first to the last, by one thread.
    #[default]
    Natural,
    /// By the colours of [`Colouring::welsh_powell`](crate::Colouring::welsh_powell), the rows of a colour in parallel.
    ///
    /// The colouring is kept in the workspace, and made again when the matrix has its entries in other places.
    Colours,
}

/// Kind of sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Every row from the old `x`.
    Jacobi,
    /// Every row from the newest `x`.
    Forward(Order),
    /// The same, then once more in the opposite order.
    Symmetric(Order),
}

/// Stopping criteria and constants of a splitting method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub tolerance: f64,
    pub relative: f64,
    pub stagnation: f64,
    pub max_iterations: usize,
    pub check_every: usize,
    pub relaxation: f64,
}

impl Rules {
    pub fn check(&self) -> Result<(), InputError> {
        check_positive("tolerance", self.tolerance)?;
        check_not_negative("relative", self.relative)?;
        check_not_negative("stagnation", self.stagnation)?;
        check_at_least_1("check_every", self.check_every)?;
        check_relaxation("relaxation", self.relaxation)
    }
}

/// Scratch memory of sweeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweeps {
    /// `A_ii`, 1 on rows whose bounds are equal: they never move.
    d: Vec<f64>,
    /// `A x + b` when it was last asked for.
    y: Vec<f64>,
    best: Vec<f64>,
    colours: Colours,
}

/// Merit and residual of a point.
#[derive(Clone, Copy, Debug)]
struct MeritState {
    residual: f64,
    merit: f64,
}

/// Sweeps until a stopping criterion is met.
pub(crate) fn solve(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    rules: &Rules,
    kind: Kind,
    x: &mut [f64],
    sweeps: &mut Sweeps,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    rules.check()?;
    problem.check_start(x)?;
    sweeps.prepare(problem, kind)?;
    problem.project(x);
    let mut best = std::mem::take(&mut sweeps.best);
    let mut monitor = Monitor::new(rules.tolerance, rules.max_iterations, observer).keep_best(
        Best::Residual,
        &mut best,
        x,
    );
    let (mut last_merit, mut moved) = (f64::INFINITY, f64::INFINITY);
    let status = loop {
        problem.affine(x, &mut sweeps.y);
        let MeritState { residual, merit } = sweeps.measure(problem, x);
        let stall = if moved <= rules.stagnation * reduce::largest(x) {
            // [Erl13 (109)], as a part of the largest entry: in the notes' words, the better version for large numbers.
            Some(Status::Stagnated)
        } else if (merit - last_merit).abs() < rules.relative * last_merit.abs() {
            Some(Status::Relative) // [Erl13 (108)]
        } else {
            None
        };
        if let Some(status) = monitor.check(Iterate::new(x, residual, merit), stall) {
            break status;
        }
        last_merit = merit;
        let batch = rules.check_every.min(monitor.iterations_left());
        for sweep in 0..batch {
            if kind == Kind::Jacobi && sweep > 0 {
                problem.affine(x, &mut sweeps.y);
            }
            moved = sweeps.sweep(problem, kind, rules.relaxation, x);
        }
        monitor.count(batch, 0);
    };
    let report = monitor.finish(status, x, |x| problem.natural_residual(x, &mut sweeps.y));
    sweeps.best = best;
    Ok(report)
}

impl Sweeps {
    fn prepare(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        kind: Kind,
    ) -> Result<(), InputError> {
        let n = problem.len();
        self.y.resize(n, 0.0);
        divisors(problem, &mut self.d)?;
        if let Kind::Forward(Order::Colours) | Kind::Symmetric(Order::Colours) = kind {
            self.colours.prepare(problem.matrix());
        }
        Ok(())
    }

    /// One sweep; returns the largest change of an entry.
    fn sweep(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        kind: Kind,
        omega: f64,
        x: &mut [f64],
    ) -> f64 {
        let n = x.len();
        let Self { d, y, colours, .. } = self;
        match kind {
            Kind::Jacobi => jacobi(problem, d, omega, y, x),
            Kind::Forward(Order::Natural) => rows(problem, d, omega, 0..n, x),
            Kind::Symmetric(Order::Natural) => {
                let forward = rows(problem, d, omega, 0..n, x);
                forward.max(rows(problem, d, omega, (0..n).rev(), x))
            }
            Kind::Forward(Order::Colours) => colours.sweep(problem, d, omega, false, x),
            Kind::Symmetric(Order::Colours) => {
                let forward = colours.sweep(problem, d, omega, false, x);
                forward.max(colours.sweep(problem, d, omega, true, x))
            }
        }
    }

    /// The residual and the merit at `x`, for which `y` must be up to date.
    fn measure(&self, problem: &BoxMlcp<'_, impl Rows + ?Sized>, x: &[f64]) -> MeritState {
        fold(
            (
                (x, &self.y[..], &self.d[..]),
                (problem.lower(), problem.upper()),
            ),
            &|_, ((x, y, d), (lower, upper))| {
                let mut state = MeritState {
                    residual: 0.0,
                    merit: 0.0,
                };
                for i in 0..x.len() {
                    let r = natural(x[i], y[i], lower[i], upper[i]);
                    state.residual = larger(state.residual, r.abs());
                    state.merit += gap(x[i], y[i], d[i], lower[i], upper[i]);
                }
                state
            },
            &|low, high| MeritState {
                residual: larger(low.residual, high.residual),
                merit: low.merit + high.merit,
            },
        )
    }
}

/// The part of the merit that belongs to a row: `x_i |y_i|` on a row of the LCP [Erl13 (106)], and on others the distance
/// from the bound that the sign of `y_i` calls for, or from the only one there is, times `|y_i|`.
///
/// On a free row it is `y_i^2 / d_i`, which has the same units: the step to its own solution times `|y_i|`.
fn gap(x: f64, y: f64, d: f64, lower: f64, upper: f64) -> f64 {
    let distance = match (lower.is_finite(), upper.is_finite()) {
        (true, true) if y >= 0.0 => x - lower,
        (true, true) => upper - x,
        (true, false) => x - lower,
        (false, true) => upper - x,
        (false, false) => y.abs() / d,
    };
    distance * y.abs()
}

/// The diagonal of `A`; an entry that is not positive is an error on a row that can move, and 1 on one that cannot.
pub(crate) fn divisors(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    d: &mut Vec<f64>,
) -> Result<(), InputError> {
    d.resize(problem.len(), 0.0);
    problem.matrix().diagonal(d);
    for_each(
        (&mut d[..], problem.lower(), problem.upper()),
        &|_, (d, lower, upper): (&mut [f64], &[f64], &[f64])| {
            for i in 0..d.len() {
                if lower[i] == upper[i] {
                    d[i] = 1.0;
                }
            }
        },
    );
    let faulty = first_row(&d[..], &|_, d| {
        d.iter().position(|&d| !(d > 0.0 && d.is_finite()))
    });
    match faulty {
        None => Ok(()),
        Some(row) => Err(InputError::NoDivisor { row, value: d[row] }),
    }
}

/// `min(max(v, l), u)`, NaN if `v` is: `f64::max` would hide it.
#[inline]
pub(crate) fn project(v: f64, lower: f64, upper: f64) -> f64 {
    if v < lower {
        lower
    } else if v > upper {
        upper
    } else {
        v
    }
}

/// Gauss-Seidel over the given rows, in place; returns the largest change of an entry. [Erl13 (59)]
pub(crate) fn rows(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    d: &[f64],
    omega: f64,
    order: impl Iterator<Item = usize>,
    x: &mut [f64],
) -> f64 {
    let (matrix, b) = (problem.matrix(), problem.rhs());
    let (lower, upper) = (problem.lower(), problem.upper());
    let mut moved = 0.0_f64;
    for i in order {
        let y = matrix.row_dot(i, x) + b[i];
        let new = project(x[i] - omega * y / d[i], lower[i], upper[i]);
        moved = moved.max((new - x[i]).abs());
        x[i] = new;
    }
    moved
}

/// Every row from the `y` of the old `x`; returns the largest change of an entry. [Erl13 sec. 5.2]
fn jacobi(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    d: &[f64],
    omega: f64,
    y: &[f64],
    x: &mut [f64],
) -> f64 {
    fold(
        ((x, y, d), (problem.lower(), problem.upper())),
        &|_, ((x, y, d), (lower, upper))| {
            let mut moved = 0.0_f64;
            for i in 0..x.len() {
                let new = project(x[i] - omega * y[i] / d[i], lower[i], upper[i]);
                moved = moved.max((new - x[i]).abs());
                x[i] = new;
            }
            moved
        },
        &f64::max,
    )
}
