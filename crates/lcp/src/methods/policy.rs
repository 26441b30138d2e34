//! Policy iteration. [Lai20 algorithm 1]
//!
//! A policy says for each row whether its equation is `y_i = 0` (it is active) or `x_i = bound`. Each iteration
//! takes the policy that the last `x` prefers [Lai20 (4.1)] and solves its linear system [Lai20 (4.2)].
//!
//! ```
//! use meniscus_lcp::methods::policy;
//! use meniscus_lcp::precondition::Jacobi;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = policy::Settings::default();
//! let mut workspace = policy::Workspace::default();
//! let report = policy::solve(&problem, &settings, &mut Jacobi::new(&matrix)?, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert_eq!(x, [0.5, 0.0]);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use super::{Counts, check_tolerance, finish, watch_inner};
use crate::error::{InputError, check_fraction};
use crate::face::{self, Standing};
use crate::krylov::pcg;
use crate::operator::{Masked, Operator};
use crate::precondition::{MaskedPreconditioner, Preconditioner};
use crate::problem::BoxMlcp;
use crate::report::{Observer, Progress, Report, Status};
use crate::split::for_each;

/// When to stop, and the constants of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Bound on `||r||_inf` of the natural residual. 1e-8 unless told.
    pub tolerance: f64,
    /// Limit of policies to solve for. 100 unless told.
    pub max_iterations: usize,
    /// The part of `||H||` to which the linear system of a policy is solved. 1e-4 unless told.
    ///
    /// It is tightened whenever the merit did not fall: with exact solves the iteration cannot fail on M-matrices.
    pub inner_tolerance: f64,
    /// Limit of conjugate gradient iterations for one policy. 10,000 unless told.
    pub max_inner_iterations: usize,
    /// Whether bounded rows are brought to the units of `y` by the diagonal of `A`. True unless told.
    ///
    /// DEVIATION [Lai20 (4.1)]: the paper compares `x_i` with `y_i` as they are.
    pub scaled: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_iterations: 100,
            inner_tolerance: 1e-4,
            max_inner_iterations: 10_000,
            scaled: true,
        }
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        check_tolerance(self.tolerance)?;
        check_fraction("inner_tolerance", self.inner_tolerance)
    }
}

/// The inner tolerance below which rounding decides.
const SMALLEST_INNER_TOLERANCE: f64 = 1e-13;

/// Memory for the method, kept between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    d: Vec<f64>,
    y: Vec<f64>,
    h: Vec<f64>,
    dx: Vec<f64>,
    r: Vec<f64>,
    best: Vec<f64>,
    active: Vec<bool>,
    pcg: pcg::Core,
}

impl Workspace {
    fn resize(&mut self, n: usize) {
        let Self {
            y, h, dx, r, best, ..
        } = self;
        for array in [y, h, dx, r, best] {
            array.resize(n, 0.0);
        }
        self.active.clear();
        self.active.resize(n, true);
    }
}

/// Solves the problem, starting from the policy of the given `x`.
///
/// Meant for symmetric positive semidefinite M-matrices, where it always ends. [`Status::Ray`] means that a null
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
    let mut inner_tolerance = settings.inner_tolerance;
    let mut best = f64::INFINITY;
    let mut inner_status = pcg::Status::Converged;
    let (status, merit) = loop {
        let standing = choose(problem, x, workspace);
        let merit = standing.merit();
        let progress = Progress {
            iteration: counts.outer,
            inner_iterations: counts.inner,
            residual: standing.residual,
            merit,
        };
        let stop = observer.observe(&progress).is_break();
        if standing.residual <= settings.tolerance && settle(problem, settings, x, workspace) {
            break (Status::Converged, merit);
        }
        if !merit.is_finite() {
            break (Status::NonFinite, merit);
        }
        if stop || inner_status == pcg::Status::Stopped {
            break (Status::Stopped, merit);
        }
        if merit < best {
            best = merit;
            workspace.best.copy_from_slice(x);
        } else if inner_tolerance > SMALLEST_INNER_TOLERANCE {
            inner_tolerance *= 0.1;
        } else if standing.changed == 0 {
            break (Status::Stagnated, merit);
        }
        if counts.outer >= settings.max_iterations {
            break (Status::IterationLimit, merit);
        }
        if counts.outer == 0 || standing.changed > 0 {
            preconditioner.restrict(&workspace.active);
        }
        let inner = evaluate(
            problem,
            settings,
            inner_tolerance,
            &standing,
            preconditioner,
            x,
            workspace,
            &mut |inner| watch_inner(observer, counts.inner)(inner),
        );
        counts.outer += 1;
        counts.inner += inner.iterations;
        inner_status = inner.status;
        match inner.status {
            pcg::Status::Indefinite => break (Status::NonDescent, merit),
            pcg::Status::NonFinite => break (Status::NonFinite, merit),
            pcg::Status::Singular => {
                // No row of the policy holds x back: go on along the null vector until one does.
                workspace.dx.fill(0.0);
                let length =
                    face::length_to_bound(problem, x, &workspace.dx, workspace.pcg.direction());
                if length == f64::INFINITY {
                    break (Status::Ray, merit);
                }
                face::add(x, length, workspace.pcg.direction());
            }
            _ => {}
        }
        problem.affine(x, &mut workspace.y);
    };
    let mut merit = merit;
    if status != Status::Converged && !(merit <= best) && best < f64::INFINITY {
        merit = best;
        x.copy_from_slice(&workspace.best);
    }
    face::project_in_place(problem, x);
    Ok(finish(problem, status, counts, merit, x, &mut workspace.r))
}

/// The policy that `x` prefers. [Lai20 (4.1)]
fn choose<A: Operator + ?Sized>(
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

/// Whether the residual stays within the tolerance when `x` is moved into the box, which it then is.
fn settle<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
) -> bool {
    let Workspace {
        r, pcg: _, best: _, ..
    } = workspace;
    let inside = x
        .iter()
        .zip(problem.lower())
        .zip(problem.upper())
        .all(|((x, l), u)| l <= x && x <= u);
    if inside {
        return true;
    }
    let mut moved = x.to_vec();
    face::project_in_place(problem, &mut moved);
    let settled = problem.natural_residual(&moved, r) <= settings.tolerance;
    if settled {
        x.copy_from_slice(&moved);
    }
    settled
}

/// Solves `y = 0` on the active rows with the others at their bounds. [Lai20 (4.2)]
#[allow(clippy::too_many_arguments)]
fn evaluate<A, P>(
    problem: &BoxMlcp<'_, A>,
    settings: &Settings,
    inner_tolerance: f64,
    standing: &Standing,
    preconditioner: &P,
    x: &mut [f64],
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
        face::add(x, 1.0, dx);
        problem.affine(x, y);
    }
    for_each((&mut r[..], &y[..], &active[..]), &|_,
                                                  (r, y, active): (
        &mut [f64],
        &[f64],
        &[bool],
    )| {
        for i in 0..r.len() {
            r[i] = if active[i] { -y[i] } else { 0.0 };
        }
    });
    let limits = pcg::Limits {
        norm: inner_tolerance * standing.squares.sqrt(),
        largest: 0.5 * settings.tolerance,
        cap: f64::INFINITY,
        iterations: settings.max_inner_iterations,
    };
    let masked = Masked::new(problem.matrix(), active);
    let preconditioner = MaskedPreconditioner {
        inner: preconditioner,
        active,
    };
    pcg::correct(&masked, &preconditioner, &limits, x, r, pcg, watch)
}
