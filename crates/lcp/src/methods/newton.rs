//! Minimum map Newton method. [ANE17 algorithms 1 and 2]
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `H` | minimum map, zero exactly at a solution [ANE17 (11)] |
//! | `A`, `F` | active rows (`H = y`) and rows held at a bound (`H = d (x - bound)`) [ANE17 (26)] |
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

use super::{Counts, check_tolerance, finish, watch_inner};
use crate::error::{InputError, check_fraction, check_not_negative};
use crate::face::{self, Standing};
use crate::krylov::pcg;
use crate::operator::{Masked, Operator};
use crate::precondition::{MaskedPreconditioner, Preconditioner};
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::report::{Observer, Progress, Report, Status};
use crate::split::for_each;

/// When to stop, and the constants of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Bound on `||r||_inf` of the natural residual. 1e-8 unless told.
    pub tolerance: f64,
    /// Change of the merit, as a part of it, that counts as none. [ANE17 (33)] 1e-6 unless told.
    pub relative: f64,
    /// Change of `x`, as a part of the largest `|x_i|`, that counts as none. 1e-14 unless told.
    ///
    /// DEVIATION [ANE17 (34)]: absolute in the paper, which depends on units.
    pub stagnation: f64,
    /// Limit of Newton steps. 100 unless told.
    pub max_iterations: usize,
    /// `xi`, the part of `||H||` to which a Newton equation is solved. [ANE17 (22)] 0.01 unless told.
    ///
    /// It is tightened where an inexact direction is what keeps the method from going on.
    pub forcing: f64,
    /// Limit of conjugate gradient iterations in one Newton step. 10,000 unless told.
    pub max_inner_iterations: usize,
    /// `alpha`, the part of the predicted decrease that a step must reach. [ANE17 (30)] 1e-4 unless told.
    pub sufficient_decrease: f64,
    /// `beta`, the factor from one trial step to the next. [ANE17 (31)] 1/2 unless told.
    pub backtracking: f64,
    /// `delta`, the step that is too small to try. 1e-9 unless told.
    pub smallest_step: f64,
    /// Whether bounded rows are brought to the units of `y` by the diagonal of `A`. True unless told.
    ///
    /// DEVIATION [ANE17 (11)]: the paper compares `x_i` with `y_i` as they are.
    pub scaled: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            relative: 1e-6,
            stagnation: 1e-14,
            max_iterations: 100,
            forcing: 0.01,
            max_inner_iterations: 10_000,
            sufficient_decrease: 1e-4,
            backtracking: 0.5,
            smallest_step: 1e-9,
            scaled: true,
        }
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
        check_fraction("smallest_step", self.smallest_step)
    }
}

/// The forcing term below which rounding decides.
const SMALLEST_FORCING: f64 = 1e-12;

/// Gradient of the merit, as a part of what it could be, that counts as zero.
const FLAT: f64 = 1e-7;

/// Memory for the method, kept between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    d: Vec<f64>,
    y: Vec<f64>,
    h: Vec<f64>,
    dx: Vec<f64>,
    r: Vec<f64>,
    x_trial: Vec<f64>,
    y_trial: Vec<f64>,
    active: Vec<bool>,
    pcg: pcg::Core,
}

impl Workspace {
    fn resize(&mut self, n: usize) {
        let Self {
            y,
            h,
            dx,
            r,
            x_trial,
            y_trial,
            ..
        } = self;
        for array in [y, h, dx, r, x_trial, y_trial] {
            array.resize(n, 0.0);
        }
        self.active.clear();
        self.active.resize(n, true);
    }
}

/// Solves the problem, starting from the given `x` (which is moved into the box first).
///
/// Meant for symmetric positive semidefinite `A`, and at its best for M-matrices. [`Status::Ray`] means that a null
/// vector of `A` was found along which `x` can go on for ever: the problem has no solution.
pub fn solve<A, P, O>(
    problem: &BoxMlcp<'_, A>,
    settings: &Settings,
    preconditioner: &mut P,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut O,
) -> Result<Report, InputError>
where
    A: Operator + ?Sized,
    P: Preconditioner + ?Sized,
    O: Observer + ?Sized,
{
    settings.check()?;
    problem.check_start(x)?;
    workspace.resize(problem.len());
    face::scales(problem.matrix(), settings.scaled, &mut workspace.d)?;

    face::project_in_place(problem, x);
    problem.affine(x, &mut workspace.y);
    let mut counts = Counts::default();
    let mut forcing = settings.forcing;
    let mut stalled = None;
    let (status, merit) = loop {
        let standing = select(problem, x, workspace);
        let merit = standing.merit();
        let progress = Progress {
            iteration: counts.outer,
            inner_iterations: counts.inner,
            residual: standing.residual,
            merit,
        };
        let stop = observer.observe(&progress).is_break();
        if standing.residual <= settings.tolerance {
            break (Status::Converged, merit);
        }
        if !merit.is_finite() {
            break (Status::NonFinite, merit);
        }
        if stop {
            break (Status::Stopped, merit);
        }
        if let Some(status) = stalled.take() {
            // An inexact direction may be all that is wrong.
            if forcing <= SMALLEST_FORCING {
                break (status, merit);
            }
            forcing *= 0.1;
        }
        if counts.outer >= settings.max_iterations {
            break (Status::IterationLimit, merit);
        }
        if counts.outer == 0 || standing.changed > 0 {
            preconditioner.restrict(&workspace.active);
        }
        let inner = direction(
            problem,
            settings,
            forcing,
            &standing,
            preconditioner,
            workspace,
            &mut |inner| watch_inner(observer, counts.inner)(inner),
        );
        counts.outer += 1;
        counts.inner += inner.iterations;
        if inner.status == pcg::Status::Stopped {
            break (Status::Stopped, merit);
        }
        if inner.status == pcg::Status::Singular {
            // The Newton equation has no solution, because the merit can be lowered no further without a bound:
            // go on along the null vector until there is one.
            let length =
                face::length_to_bound(problem, x, &workspace.dx, workspace.pcg.direction());
            if length == f64::INFINITY {
                break (Status::Ray, merit);
            }
            face::add(&mut workspace.dx, length, workspace.pcg.direction());
        }
        match search(problem, settings, &standing, x, workspace) {
            Some((next, moved)) => {
                x.copy_from_slice(&workspace.x_trial);
                std::mem::swap(&mut workspace.y, &mut workspace.y_trial);
                if moved <= settings.stagnation * reduce::largest(x) {
                    stalled = Some(Status::Stagnated); // [ANE17 (34)]
                } else if (next.merit() - merit).abs() <= settings.relative * merit {
                    stalled = Some(Status::Relative); // [ANE17 (33)]
                }
            }
            None => stalled = Some(blocked(problem, inner.status, &standing, workspace)),
        }
    };
    Ok(finish(problem, status, counts, merit, x, &mut workspace.r))
}

/// The minimum map, the active rows and the direction on the others.
fn select<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    x: &[f64],
    workspace: &mut Workspace,
) -> Standing {
    let Workspace {
        d,
        y,
        active,
        h,
        dx,
        ..
    } = workspace;
    face::select(problem, d, x, y, active, h, dx)
}

/// Solves `A_AA dx_A = -y_A - A_AF dx_F` [ANE17 (29)] to `||H + BH dx|| <= xi ||H||` [ANE17 (22)].
fn direction<A, P>(
    problem: &BoxMlcp<'_, A>,
    settings: &Settings,
    forcing: f64,
    standing: &Standing,
    preconditioner: &P,
    workspace: &mut Workspace,
    watch: &mut dyn FnMut(&pcg::Report) -> std::ops::ControlFlow<()>,
) -> pcg::Report
where
    A: Operator + ?Sized,
    P: Preconditioner + ?Sized,
{
    let Workspace {
        y,
        dx,
        r,
        active,
        pcg,
        ..
    } = workspace;
    if standing.jump > 0.0 {
        problem.matrix().apply(dx, r); // dx is zero on active rows
    } else {
        r.fill(0.0);
    }
    for_each((&mut r[..], &y[..], &active[..]), &|_,
                                                  (r, y, active): (
        &mut [f64],
        &[f64],
        &[bool],
    )| {
        for i in 0..r.len() {
            r[i] = if active[i] { -y[i] - r[i] } else { 0.0 };
        }
    });
    let norm = standing.squares.sqrt();
    let limits = pcg::Limits {
        norm: forcing * norm,
        // No better than the caller's tolerance needs, as long as the direction is one of descent.
        largest: 0.5 * settings.tolerance,
        cap: 0.5 * norm,
        iterations: settings.max_inner_iterations,
    };
    let masked = Masked::new(problem.matrix(), active);
    let preconditioner = MaskedPreconditioner {
        inner: preconditioner,
        active,
    };
    pcg::correct(&masked, &preconditioner, &limits, dx, r, pcg, watch)
}

/// Projected Armijo search [ANE17 algorithm 1]: leaves the accepted point in `x_trial`, `y_trial`.
///
/// Returns how the point stands and how far it moved.
fn search<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    settings: &Settings,
    standing: &Standing,
    x: &[f64],
    workspace: &mut Workspace,
) -> Option<(Standing, f64)> {
    let Workspace {
        d,
        h,
        dx,
        r,
        x_trial,
        y_trial,
        ..
    } = workspace;
    // BH dx = -H - r with the residual r of the Newton equation, so this is H'BH dx. [ANE17 (19)]
    let slope = -standing.squares - reduce::dot(h, r);
    if !(slope < 0.0) {
        return None;
    }
    let mut step = 1.0;
    while step >= settings.smallest_step {
        let moved = face::project(problem, x, step, dx, x_trial);
        problem.affine(x_trial, y_trial);
        let next = face::measure(problem, d, x_trial, y_trial);
        // [ANE17 (31)]
        if next.merit() <= standing.merit() + settings.sufficient_decrease * step * slope {
            return Some((next, moved));
        }
        step *= settings.backtracking;
    }
    None
}

/// Why no step along the direction lowers the merit.
fn blocked<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    inner: pcg::Status,
    standing: &Standing,
    workspace: &mut Workspace,
) -> Status {
    if inner == pcg::Status::NonFinite {
        return Status::NonFinite;
    }
    // The gradient of 1/2 H'H is A_A' H_A + d H on the rows at a bound; A is symmetric.
    let Workspace {
        d,
        h,
        r,
        x_trial,
        active,
        ..
    } = workspace;
    for i in 0..h.len() {
        x_trial[i] = if active[i] { h[i] } else { 0.0 };
    }
    problem.matrix().apply(x_trial, r);
    for i in 0..h.len() {
        if !active[i] {
            r[i] += d[i] * h[i];
        }
    }
    let largest_gradient = reduce::largest(d) * standing.squares.sqrt();
    if reduce::largest(r) <= FLAT * largest_gradient {
        Status::LocalMinimum
    } else if inner == pcg::Status::IterationLimit {
        Status::IterationLimit
    } else {
        Status::NonDescent
    }
}
