//! Minimum map Newton method. [ANE17 alg. 1, alg. 2]
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `H` | minimum map, zero exactly at a solution [ANE17 (11)] |
//! | `A`, `F` | active rows (`H = y`) and rows at a bound (`H = d (x - bound)`) [ANE17 (26)] |
//! | `dx` | Newton direction [ANE17 (28)] |
//! | `theta` | merit `1/2 H'H` [ANE17 (15)] |
//! | `xi` | forcing term: how well the Newton equation is solved [ANE17 (22)] |
//!
//! ```
//! use meniscus_lcp::methods::newton;
//! use meniscus_lcp::precondition::Jacobi;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = newton::Settings::default();
//! let mut workspace = newton::Workspace::default();
//! let report = newton::solve(&problem, &settings, &mut Jacobi::new(&matrix)?, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert_eq!(x, [0.5, 0.0]);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```
//!
//! Where `A` is not symmetric, [`Inner::Gmres`] solves the Newton equation. Where it may be singular on the faces that
//! the method meets (a zero diagonal block is enough), [`Globalisation::Fischer`] lets the method continue.

use super::{check_tolerance, fischer};
use crate::error::{
    InputError, check_at_least_1, check_fraction, check_not_negative, check_setting,
};
use crate::krylov::pcg;
use crate::minimum_map::{self, MeritState};
use crate::monitor::{Best, Monitor};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::reduced_system::{Accuracy, NullSpace, ReducedSystem, SolveContext, Solved};
use crate::report::{Observer, Report, Status};
use crate::semismooth::{self, First};

/// Linear solver for the Newton equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inner {
    /// Conjugate gradients, for symmetric positive semidefinite `A`.
    Pcg,
    /// Conjugate residuals, for symmetric `A`.
    Cr,
    /// Stabilised biconjugate gradients, for any `A`.
    Bicgstab,
    /// GMRES, for any `A`.
    Gmres {
        /// Iterations between restarts; one vector is stored for each.
        restart: usize,
    },
}

/// Strategy where the Newton direction fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Globalisation {
    /// None: the solve ends with the reason as its status. [ANE17 alg. 2]
    None,
    /// Progress is measured by the Fischer-Burmeister map, whose merit has a continuous gradient, and where the
    /// minimum map gives no direction that lowers it, one of those of [`fischer`] is taken. For any `A`; the
    /// Newton equation must be solved by [`Inner::Gmres`].
    ///
    /// DEVIATION [Erl13 sec. 5.4]: the notes give up at the first direction that is not one of descent.
    Fischer,
}

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Relative change of the merit at which the method ends. [ANE17 (33)]
        pub relative: f64 = 1e-6,
        /// Change of `x`, relative to the largest `|x_i|`, at which the method ends.
        ///
        /// DEVIATION [ANE17 (34)]: absolute in the paper, which depends on units.
        pub stagnation: f64 = 1e-14,
        /// Limit on Newton steps.
        pub max_iterations: usize = 100,
        /// `xi`, forcing term: relative residual to which a Newton equation is solved. [ANE17 (22)]
        ///
        /// It is tightened where an inexact direction keeps the method from making progress.
        pub forcing: f64 = 0.01,
        /// Limit on conjugate gradient iterations in one Newton step.
        pub max_inner_iterations: usize = 10_000,
        /// `alpha`, sufficient decrease parameter of the Armijo condition. [ANE17 (30)]
        pub sufficient_decrease: f64 = 1e-4,
        /// `beta`, backtracking factor of the line search. [ANE17 (31)]
        pub backtracking: f64 = 0.5,
        /// `delta`, smallest step length of the line search.
        pub smallest_step: f64 = 1e-9,
        /// Whether bounded rows are scaled to the units of `y` by the diagonal of `A`.
        ///
        /// DEVIATION [ANE17 (11)]: the paper compares `x_i` with `y_i` as they are.
        pub scaled: bool = true,
        /// Linear solver for the Newton equation.
        pub inner: Inner = Inner::Pcg,
        /// Previous merits on whose largest a step must improve: a non-monotone line search. With 1 the merit never rises.
        pub memory: usize = 1,
        /// Strategy where the Newton direction fails.
        pub globalisation: Globalisation = Globalisation::None,
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        check_tolerance(self.tolerance)?;
        check_not_negative("relative", self.relative)?;
        check_not_negative("stagnation", self.stagnation)?;
        check_fraction("forcing", self.forcing)?;
        check_fraction("sufficient_decrease", self.sufficient_decrease)?;
        check_fraction("backtracking", self.backtracking)?;
        check_fraction("smallest_step", self.smallest_step)?;
        check_at_least_1("memory", self.memory)?;
        match (self.inner, self.globalisation) {
            (Inner::Gmres { restart }, _) => check_at_least_1("restart", restart),
            (_, Globalisation::None) => Ok(()),
            (_, Globalisation::Fischer) => {
                check_setting("inner", "Gmres where there is a globalisation", false)
            }
        }
    }

    /// The same settings for the globalised method.
    fn globalised(&self, restart: usize) -> fischer::Settings {
        fischer::Settings {
            tolerance: self.tolerance,
            relative: self.relative,
            stagnation: self.stagnation,
            max_iterations: self.max_iterations,
            inner: fischer::Inner::Gmres { restart },
            forcing: self.forcing,
            max_inner_iterations: self.max_inner_iterations,
            sufficient_decrease: self.sufficient_decrease,
            backtracking: self.backtracking,
            smallest_step: self.smallest_step,
            memory: self.memory,
            scaled: self.scaled,
            ..Default::default()
        }
    }
}

/// Smallest forcing term: below it rounding dominates.
const SMALLEST_FORCING: f64 = 1e-12;

/// A minimum map no larger than this part of the terms it is made of is made of rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Gradient of the merit, as a part of what it could be, that counts as zero.
const FLAT: f64 = 1e-7;

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    reduced: ReducedSystem,
    trial: Trial,
    /// Merits of the last iterates.
    merits: Vec<f64>,
    /// The iterate with the smallest merit, where merits may rise.
    best: Vec<f64>,
    globalised: semismooth::Workspace,
}

/// Trial point of the line search.
#[derive(Clone, Debug, Default)]
struct Trial {
    x: Vec<f64>,
    y: Vec<f64>,
}

/// Solves the problem, starting from the given `x`, projected onto the box.
///
/// Meant for symmetric positive semidefinite `A`, and at its best for M-matrices; for other matrices see [`Inner`] and
/// [`Globalisation`]. [`Status::Infeasible`] means that a null
/// vector of `A` was found along which `x` can grow without bound: the problem has no solution.
pub fn solve(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    preconditioner: &mut (impl Preconditioner + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    settings.check()?;
    if let (Globalisation::Fischer, Inner::Gmres { restart }) =
        (settings.globalisation, settings.inner)
    {
        return semismooth::solve(
            problem,
            (&settings.globalised(restart), First::MinimumMap),
            preconditioner,
            x,
            &mut workspace.globalised,
            observer,
        );
    }
    problem.check_start(x)?;
    let Workspace {
        reduced,
        trial,
        merits,
        best,
        ..
    } = workspace;
    reduced.prepare(problem, settings.scaled)?;
    trial.x.resize(problem.len(), 0.0);
    trial.y.resize(problem.len(), 0.0);
    merits.clear();
    merits.resize(settings.memory, f64::NEG_INFINITY);

    problem.project(x);
    problem.affine(x, &mut reduced.y);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer);
    if settings.memory > 1 {
        monitor = monitor.keep_best(Best::Merit, best, x);
    }
    let mut forcing = settings.forcing;
    let mut stalled = None;
    let status = loop {
        let state = reduced.select(problem, x);
        if stalled.is_some() && forcing > SMALLEST_FORCING {
            // An inexact direction may be all that is wrong.
            (stalled, forcing) = (None, 0.1 * forcing);
        }
        if let Some(status) = monitor.check(state.iterate(x), stalled) {
            break status;
        }
        if monitor.iterations() == 0 || state.changed > 0 {
            preconditioner.restrict(&reduced.active);
        }
        // [ANE17 (28)]
        let accuracy = Accuracy {
            forcing,
            enough: 0.5 * settings.tolerance,
            max_iterations: settings.max_inner_iterations,
        };
        let solved = {
            let mut context = SolveContext {
                problem,
                preconditioner: &*preconditioner,
                watch: &mut monitor.inner(),
            };
            match settings.inner {
                Inner::Pcg => reduced.solve(&mut context, x, &state, &accuracy),
                other => reduced.solve_general(&mut context, &state, &accuracy, other),
            }
        };
        merits[monitor.iterations() % settings.memory] = state.merit();
        monitor.count(1, solved.iterations);
        if solved.status == pcg::Status::Stopped {
            break Status::Stopped;
        }
        if solved.null == NullSpace::Unbounded {
            break Status::Infeasible;
        }
        let reference = merits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let from = (&state, reference);
        stalled = match search(problem, settings, from, &solved, reduced, x, trial) {
            Some((next, moved)) => {
                x.copy_from_slice(&trial.x);
                std::mem::swap(&mut reduced.y, &mut trial.y);
                stall(settings, &state, &solved, &next, moved, x)
            }
            None => {
                let scratch = &mut trial.x;
                Some(blocked(
                    problem, settings, &solved, &state, reduced, x, scratch,
                ))
            }
        };
    };
    Ok(monitor.finish(status, x, |x| problem.natural_residual(x, &mut reduced.r)))
}

/// Projected Armijo search [ANE17 alg. 1]: leaves the accepted point in `trial`.
///
/// The merit is compared with `reference`. Returns the merit of the point and the largest change of an entry.
fn search(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    (state, reference): (&MeritState, f64),
    solved: &Solved,
    reduced: &ReducedSystem,
    x: &[f64],
    trial: &mut Trial,
) -> Option<(MeritState, f64)> {
    // BH dx = -H - r with the residual r of the Newton equation, so this is H'BH dx. [ANE17 (19)]
    let mut slope = -state.squares - reduce::dot(&reduced.h, &reduced.r);
    if solved.null == NullSpace::ToBound {
        // Along a null vector the merit stays as it is until the bound is met: what matters is the new face.
        slope = slope.min(0.0);
    } else if slope.is_nan() || slope >= 0.0 {
        return None;
    }
    let mut step = 1.0;
    while step >= settings.smallest_step {
        let moved = problem.project_step(x, step, &reduced.dx, &mut trial.x);
        problem.affine(&trial.x, &mut trial.y);
        let next = minimum_map::measure(problem, (&trial.x, &trial.y, &reduced.d));
        // [ANE17 (31)]
        if next.merit() <= reference + settings.sufficient_decrease * step * slope {
            return Some((next, moved));
        }
        step *= settings.backtracking;
    }
    None
}

/// Stall test of a step.
fn stall(
    settings: &Settings,
    state: &MeritState,
    solved: &Solved,
    next: &MeritState,
    moved: f64,
    x: &[f64],
) -> Option<Status> {
    let merit = state.merit();
    if solved.null == NullSpace::ToBound && moved > 0.0 {
        None
    } else if moved <= settings.stagnation * reduce::largest(x) {
        Some(Status::Stagnated) // [ANE17 (34)]
    } else if (next.merit() - merit).abs() <= settings.relative * merit {
        Some(Status::Relative) // [ANE17 (33)]
    } else {
        None
    }
}

/// Status where no step along the direction lowers the merit.
fn blocked(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    solved: &Solved,
    state: &MeritState,
    reduced: &mut ReducedSystem,
    x: &[f64],
    scratch: &mut [f64],
) -> Status {
    if solved.status == pcg::Status::NonFinite {
        return Status::NonFinite;
    }
    let ReducedSystem {
        d, h, r, active, ..
    } = reduced;
    problem.matrix().diagonal(scratch);
    let terms = reduce::largest(scratch) * reduce::largest(x) + reduce::largest(problem.rhs());
    if reduce::largest(h) <= ROUNDING * terms {
        return Status::Stagnated;
    }
    // The gradient of 1/2 H'H is A'H_A on all rows plus d H on the rows at a bound.
    for i in 0..h.len() {
        scratch[i] = if active[i] { h[i] } else { 0.0 };
    }
    match settings.inner {
        Inner::Pcg | Inner::Cr => problem.matrix().apply(scratch, r),
        Inner::Gmres { .. } | Inner::Bicgstab => problem.matrix().apply_transposed(scratch, r),
    }
    for i in 0..h.len() {
        if !active[i] {
            r[i] += d[i] * h[i];
        }
    }
    let largest_gradient = reduce::largest(d) * state.squares.sqrt();
    if reduce::largest(r) <= FLAT * largest_gradient {
        Status::LocalMinimum
    } else if solved.status == pcg::Status::IterationLimit {
        Status::IterationLimit
    } else {
        Status::NonDescent
    }
}
