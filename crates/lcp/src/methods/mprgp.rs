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
//! rows only, until a step would leave the box. Then it goes as far as the box allows and expands the set of rows at a bound by
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

use super::check_tolerance;
use crate::error::{InputError, check_at_least_1, check_positive, check_relaxation};
use crate::monitor::Monitor;
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::report::{Observer, Report, Status};
use step::{Ahead, Gradients, advance, expand, gradients, look_ahead, norm, turn};

settings! {
    /// Settings of the method: stopping criteria and constants.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Limit on steps.
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
        check_relaxation("step_factor", self.step_factor)?;
        check_at_least_1("power_iterations", self.power_iterations)
    }
}

/// Scratch memory of the method, reused between solves.
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

/// Solves the problem, starting from the given `x`, projected onto the box.
///
/// `A` must be symmetric and positive semidefinite. [`Status::Infeasible`] means that a null vector of `A` was found along which
/// `x` can grow without bound, always downhill: the problem has no solution. [`Status::NonDescent`] means that the same
/// happened along a direction of negative curvature: `A` is not positive semidefinite. The merit is
/// `1/2 (phi'phi + beta'beta)`; of two iterates the later one is the better one, as it has less energy
/// `1/2 x'Ax + b'x`.
pub fn solve(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    preconditioner: &mut (impl Preconditioner + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    settings.check()?;
    problem.check_start(x)?;
    problem.project(x);
    workspace.prepare(problem, x);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer);
    let status = iterate(problem, settings, preconditioner, workspace, &mut monitor);
    x.copy_from_slice(&workspace.x);
    Ok(monitor.finish(status, x, |x| problem.natural_residual(x, &mut workspace.r)))
}

fn iterate(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    settings: &Settings,
    preconditioner: &mut (impl Preconditioner + ?Sized),
    workspace: &mut Workspace,
    monitor: &mut Monitor<'_, impl Observer + ?Sized>,
) -> Status {
    let w = workspace;
    problem.affine(&w.x, &mut w.g);
    let mut abar = w.expansion_step(problem, settings);
    let mut gradient = Recursion::default();
    let mut along = None; // p'Ap of the last conjugate gradient step, if p and q can be used again
    let mut new_face = true;
    loop {
        let (now, recomputed) = w.measure(problem, settings.tolerance, abar, &mut gradient);
        let stall = (gradient.idle > PATIENCE).then_some(Status::Stagnated);
        if let Some(status) = monitor.check(now.iterate(&w.x), stall) {
            return status;
        }
        if new_face || now.changed {
            preconditioner.restrict(&w.free);
            new_face = false;
            along = None;
        } else if recomputed {
            along = None;
        }

        let gamma = settings.proportionality;
        let proportional = now.chopped <= gamma * gamma * now.reduced;
        if proportional {
            // `r` is `phi`: zero, and so is `z`, on the rows at their bounds.
            let rho = preconditioner.apply_masked_dot(&w.free, &w.r, &mut w.z);
            if !(rho > 0.0 && rho.is_finite()) {
                // A preconditioner that is not positive definite is none for this method.
                return if rho.is_finite() {
                    Status::NonDescent
                } else {
                    Status::NonFinite
                };
            }
            turn(&mut w.p, &w.z, &w.q, along);
        } else {
            step::chop(problem, &w.x, &w.g, &mut w.p);
        }
        let curvature = problem.matrix().apply_dot(&w.p, &mut w.q);
        let Ahead { room, slope, scale } = look_ahead(problem, &w.x, &w.g, &w.d, &w.p);
        if !(curvature.is_finite() && slope.is_finite() && scale.is_finite()) {
            return Status::NonFinite;
        }
        if slope <= 0.0 {
            // Rounding has made a bad direction of a good one; the next one is the gradient.
            along = None;
            monitor.count(1, 0);
            continue;
        }
        let bent = curvature > FLAT * scale;
        if !bent && room == f64::INFINITY {
            let flat = curvature >= -FLAT * scale;
            return if flat {
                Status::Infeasible
            } else {
                Status::NonDescent
            };
        }
        let inside = bent && slope / curvature <= room;
        let length = if inside { slope / curvature } else { room };
        let moved = advance(problem, &w.x, &w.p, length, &mut w.trial);
        if !moved.is_finite() {
            return Status::NonFinite;
        }
        if moved == 0.0 && gradient.exact {
            return Status::Stagnated;
        }
        std::mem::swap(&mut w.x, &mut w.trial);
        crate::reduced_system::add(&mut w.g, -length, &w.q);
        gradient.exact = false;
        monitor.count(1, 0);
        along = (proportional && inside).then_some(curvature);
        if proportional && !inside {
            if !w.expand(problem, &mut abar) {
                return Status::NonFinite;
            }
            gradient.exact = true;
            // What the mask was compared with is the point before the expansion.
            new_face = true;
        }
    }
}

/// Accuracy of `g`, which a recursion updates.
struct Recursion {
    /// Whether `g` is `A x + b`.
    exact: bool,
    /// The smallest residual when it was.
    smallest: f64,
    /// Times that a recomputed `g` showed no progress.
    idle: usize,
}

impl Default for Recursion {
    fn default() -> Self {
        Self {
            exact: true,
            smallest: f64::INFINITY,
            idle: 0,
        }
    }
}

impl Workspace {
    fn prepare(&mut self, problem: &BoxMlcp<'_, impl Operator + ?Sized>, start: &[f64]) {
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
    /// `abar`, with an estimate of the norm that overwrites vectors that are not in use yet.
    fn expansion_step(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        settings: &Settings,
    ) -> f64 {
        let steps = settings.power_iterations;
        let abar = settings.step_factor / norm(problem.matrix(), steps, &mut self.z, &mut self.q);
        // The zero matrix: any step will do.
        if abar.is_finite() { abar } else { 1.0 }
    }

    /// The gradients at `x`, and whether `g` was recomputed, as it is where the recursion is no longer trusted.
    fn measure(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        tolerance: f64,
        abar: f64,
        gradient: &mut Recursion,
    ) -> (Gradients, bool) {
        let Self { x, g, r, free, .. } = self;
        let mut now = gradients(problem, x, g, abar, r, free);
        let suspect = now.residual <= tolerance || now.residual <= TRUST * gradient.smallest;
        let recompute = !gradient.exact && suspect;
        if recompute {
            problem.affine(x, g);
            now = Gradients {
                changed: now.changed,
                ..gradients(problem, x, g, abar, r, free)
            };
            gradient.exact = true;
            let progress = now.residual < 0.5 * gradient.smallest;
            gradient.idle = if progress { 0 } else { gradient.idle + 1 };
        }
        if gradient.exact {
            gradient.smallest = gradient.smallest.min(now.residual);
        }
        (now, recompute)
    }

    /// Expands the set of rows at their bounds by a projected gradient step; returns whether all values are finite.
    ///
    /// With the new `phi` the estimate of the norm may be too small, and the step too long: `abar` is halved then.
    fn expand(&mut self, problem: &BoxMlcp<'_, impl Operator + ?Sized>, abar: &mut f64) -> bool {
        let Self {
            x,
            trial,
            g,
            r,
            q,
            free,
            ..
        } = self;
        gradients(problem, x, g, *abar, r, free);
        for _ in 0..HALVINGS {
            expand(problem, x, r, *abar, trial);
            problem.affine(trial, q);
            if !step::uphill(x, trial, g, q, *abar) {
                break;
            }
            *abar *= 0.5;
        }
        let finite = reduce::largest(q).is_finite() && reduce::largest(trial).is_finite();
        if finite {
            std::mem::swap(x, trial);
            std::mem::swap(g, q);
        }
        finite
    }
}
