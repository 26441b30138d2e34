//! Modified proportioning with reduced gradient projections, after Dostal and Schoberl (2005), on a box.
//! [TB20 sec. 4.3]
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `g` | `A x + b`, the gradient of `1/2 x'Ax + b'x` |
//! | `phi` | free gradient: `g` on the rows strictly inside their bounds |
//! | `beta` | chopped gradient: `min(g, 0)` at `l`, `max(g, 0)` at `u`, what would take `x` off its bounds |
//! | `abar` | the fixed step of an expansion, `step_factor / norm(A)` |
//! | `phi~` | reduced free gradient: `phi`, but no more than `abar` times it stays in the box |
//! | `Gamma` | proportionality: how much of the gradient may be chopped before the face is left |
//!
//! While `beta'beta <= Gamma^2 phi~'phi` the method stays on its face: conjugate gradients, preconditioned on the free
//! rows only, until a step would leave the box. Then it goes as far as the box allows and expands the set of held rows by
//! a projected gradient step with the fixed length `abar`. Otherwise it leaves the face along `beta`. Each of these steps is an
//! iteration. With no bounds in the way this is preconditioned conjugate gradients, step for step.
//!
//! ```
//! use meniscus_lcp::methods::mprgp;
//! use meniscus_lcp::precondition::Jacobi;
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! // 0 <= x, A x + b >= 0, x'(A x + b) = 0
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = mprgp::Settings::default();
//! let mut workspace = mprgp::Workspace::default();
//! let report = mprgp::solve(&problem, &settings, &mut Jacobi::new(&matrix)?, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

mod step;

use super::{Counts, check_tolerance, finish};
use crate::error::{InputError, check_positive};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::report::{Observer, Progress, Report, Status};
use step::{Ahead, Gradients, advance, expand, gradients, look_ahead, norm, turn};

settings! {
    /// When to stop, and the constants of the method.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Limit of steps.
        pub max_iterations: usize = 10_000,
        /// `Gamma`, positive.
        pub proportionality: f64 = 1.0,
        /// `abar` times the norm of `A`, between 0 and 2.
        pub step_factor: f64 = 1.9,
        /// Steps of the power method that estimates the norm of `A`, at least 1.
        ///
        /// The estimate comes from below. It is raised where an expansion with it would go uphill.
        pub power_iterations: usize = 10,
    }
}

impl Settings {
    fn check(&self) -> Result<(), InputError> {
        check_tolerance(self.tolerance)?;
        check_positive("proportionality", self.proportionality)?;
        let setting = |name, must| Err(InputError::Setting { name, must });
        if !(self.step_factor > 0.0 && self.step_factor < 2.0) {
            return setting("step_factor", "between 0 and 2");
        }
        if self.power_iterations == 0 {
            return setting("power_iterations", "at least 1");
        }
        Ok(())
    }
}

/// Memory for the method, kept between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    x: Vec<f64>,
    trial: Vec<f64>,
    g: Vec<f64>,
    /// `|A_ii|`, or 1 where that is zero.
    d: Vec<f64>,
    /// `phi`, or `beta` while that is what is stepped along.
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    /// Rows strictly inside their bounds.
    free: Vec<bool>,
}

/// `p'Ap`, as a part of `p' diag(A) p`, up to which it is rounding of zero.
const FLAT: f64 = 1e-13;

/// Fall of the residual over which the recursion for `g` is trusted.
const TRUST: f64 = 1e-10;

/// Times in a row that a recomputed `g` may show no progress.
const PATIENCE: usize = 3;

/// Times that `abar` is halved before an expansion is given up. An estimate of the norm is never so wrong.
const HALVINGS: usize = 60;

/// Solves the problem, starting from the given `x` (which is moved into the box first).
///
/// `A` must be symmetric and positive semidefinite. [`Status::Ray`] means that a null vector of `A` was found along which
/// `x` can go on for ever, always downhill: the problem has no solution. [`Status::NonDescent`] means that the same
/// happened along a direction of negative curvature: `A` is not positive semidefinite. The merit is
/// `1/2 (phi'phi + beta'beta)`; of two iterates the later one is the better one, as it has less energy
/// `1/2 x'Ax + b'x`.
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
    problem.project(x);
    workspace.prepare(problem, x);
    let mut counts = Counts::default();
    let (status, merit) = iterate(
        problem,
        settings,
        preconditioner,
        workspace,
        observer,
        &mut counts,
    );
    x.copy_from_slice(&workspace.x);
    Ok(finish(problem, status, counts, merit, x, &mut workspace.r))
}

fn iterate<A, P, O>(
    problem: &BoxMlcp<'_, A>,
    settings: &Settings,
    preconditioner: &mut P,
    workspace: &mut Workspace,
    observer: &mut O,
    counts: &mut Counts,
) -> (Status, f64)
where
    A: Operator + ?Sized,
    P: Preconditioner + ?Sized,
    O: Observer + ?Sized,
{
    let Workspace {
        x,
        trial,
        g,
        d,
        r,
        z,
        p,
        q,
        free,
    } = workspace;
    problem.affine(x, g);
    // The estimate overwrites vectors that are not in use yet.
    let mut abar = settings.step_factor / norm(problem.matrix(), settings.power_iterations, z, q);
    if !abar.is_finite() {
        abar = 1.0; // the zero matrix: any step will do
    }
    let mut exact = true; // whether g is A x + b, not what a recursion made of it
    let mut last_exact = f64::INFINITY; // the smallest residual when it was
    let mut idle = 0; // times that it was no smaller than before
    let mut along = None; // p'Ap of the last conjugate gradient step, if p and q can be used again
    let mut first = true;
    loop {
        let mut now = gradients(problem, x, g, abar, r, free);
        if !exact && (now.residual <= settings.tolerance || now.residual <= TRUST * last_exact) {
            problem.affine(x, g);
            now = Gradients {
                changed: now.changed,
                ..gradients(problem, x, g, abar, r, free)
            };
            exact = true;
            along = None;
            idle = if now.residual < 0.5 * last_exact {
                0
            } else {
                idle + 1
            };
        }
        if exact {
            last_exact = last_exact.min(now.residual);
        }
        let stop = observe(observer, counts, &now);
        if now.residual <= settings.tolerance {
            return (Status::Converged, now.merit());
        }
        if !(now.residual.is_finite() && now.merit().is_finite()) {
            return (Status::NonFinite, now.merit());
        }
        if stop {
            return (Status::Stopped, now.merit());
        }
        if idle > PATIENCE {
            return (Status::Stagnated, now.merit());
        }
        if counts.outer >= settings.max_iterations {
            return (Status::IterationLimit, now.merit());
        }
        if first || now.changed {
            preconditioner.restrict(free);
            along = None;
            first = false;
        }

        let gamma = settings.proportionality;
        let proportional = now.chopped <= gamma * gamma * now.reduced;
        if proportional {
            // `r` is `phi`: zero, and so is `z`, on the rows held.
            let rho = preconditioner.apply_masked_dot(free, r, z);
            if !rho.is_finite() {
                return (Status::NonFinite, now.merit());
            }
            if rho <= 0.0 {
                // No preconditioner for this method.
                return (Status::NonDescent, now.merit());
            }
            turn(p, z, q, along);
        } else {
            step::chop(problem, x, g, p);
        }
        let curvature = problem.matrix().apply_dot(p, q);
        let Ahead { room, slope, scale } = look_ahead(problem, x, g, d, p);
        if !(curvature.is_finite() && slope.is_finite() && scale.is_finite()) {
            return (Status::NonFinite, now.merit());
        }
        if slope <= 0.0 {
            // Rounding has made a bad direction of a good one; the next one is the gradient.
            along = None;
            counts.outer += 1;
            continue;
        }
        let bent = curvature > FLAT * scale;
        if !bent && room == f64::INFINITY {
            let ray = curvature >= -FLAT * scale;
            let status = if ray { Status::Ray } else { Status::NonDescent };
            return (status, now.merit());
        }
        let inside = bent && slope / curvature <= room;
        let length = if inside { slope / curvature } else { room };
        let moved = advance(problem, x, p, length, trial);
        if !moved.is_finite() {
            return (Status::NonFinite, now.merit());
        }
        if moved == 0.0 && exact {
            return (Status::Stagnated, now.merit());
        }
        std::mem::swap(x, trial);
        counts.outer += 1;
        crate::face::add(g, -length, q);
        exact = false;
        along = (proportional && inside).then_some(curvature);
        if proportional && !inside {
            // With the new `phi`: the estimate of the norm may be too small, and the step too long.
            gradients(problem, x, g, abar, r, free);
            for _ in 0..HALVINGS {
                expand(problem, x, r, abar, trial);
                problem.affine(trial, q);
                if !step::uphill(x, trial, g, q, abar) {
                    break;
                }
                abar *= 0.5;
            }
            if !reduce::largest(q).is_finite() || !reduce::largest(trial).is_finite() {
                return (Status::NonFinite, now.merit());
            }
            std::mem::swap(x, trial);
            std::mem::swap(g, q);
            exact = true;
            // What the mask was compared with is the point before the expansion.
            first = true;
        }
    }
}

fn observe<O: Observer + ?Sized>(observer: &mut O, counts: &Counts, now: &Gradients) -> bool {
    let progress = Progress {
        iteration: counts.outer,
        inner_iterations: counts.inner,
        residual: now.residual,
        merit: now.merit(),
    };
    observer.observe(&progress).is_break()
}

impl Workspace {
    fn prepare<A: Operator + ?Sized>(&mut self, problem: &BoxMlcp<'_, A>, start: &[f64]) {
        let n = problem.len();
        let Self {
            x,
            trial,
            g,
            d,
            r,
            z,
            p,
            q,
            free,
        } = self;
        for array in [&mut *x, trial, g, d, r, z, p, q] {
            array.resize(n, 0.0);
        }
        free.clear();
        free.resize(n, false);
        x.copy_from_slice(start);
        problem.matrix().diagonal(d);
        for d in d {
            *d = if *d == 0.0 { 1.0 } else { d.abs() };
        }
    }
}
