//! Restarted GMRES, preconditioned from the right.
//!
//! For `A x = c` with any square `A`. Over the space spanned by `r, (A P) r, (A P)^2 r, ...` it finds the `x` with
//! the smallest `||c - A x||_2`, and restarts from there when the space has grown to `restart` directions. With
//! the preconditioner `P` on the right, what it makes small is the residual itself and not that of another system.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `V` | orthonormal basis of the space, one vector more than it has directions |
//! | `H` | `A P V_m = V_(m+1) H`, one column a direction, rotated to a triangle as it grows |
//! | `g` | `||r|| e_1` after the same rotations: its last entry is the norm of the residual |
//!
//! A space that stops growing (a happy breakdown) holds the solution if there is one; if what is left of the
//! residual shows that there is none, the status is [`Status::Singular`], and `x` has the smallest residual found.
//!
//! ```
//! use meniscus_lcp::krylov::gmres;
//! use meniscus_lcp::precondition::Identity;
//! use meniscus_lcp::Csr;
//!
//! // A rotation by a quarter turn: not symmetric, and nothing on its diagonal.
//! let matrix = Csr::new(2, vec![0, 1, 2], vec![1, 0], vec![-1.0, 1.0])?;
//! let mut x = [0.0; 2];
//! let mut workspace = gmres::Workspace::default();
//! let report = gmres::solve(&matrix, &[1.0, 2.0], &Default::default(), &Identity, &mut x, &mut workspace)?;
//! assert_eq!((report.status, report.iterations), (gmres::Status::Converged, 2));
//! assert!((x[0] - 2.0).abs() < 1e-14 && (x[1] + 1.0).abs() < 1e-14);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use std::ops::ControlFlow;

pub(crate) use super::arnoldi::Core;
use super::arnoldi::{Cycle, End};
use crate::error::{InputError, check_at_least_1, check_not_negative};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::reduce;
use crate::reduced_system::add;
use crate::split::for_each;

/// Relative residual that a cycle must reach for another one to follow.
const HOPELESS: f64 = 0.999_999;

settings! {
    /// Stopping criteria: the first of the two tolerances that is met, or the limit.
    pub struct Settings {
        /// `||c - A x||_2` relative to its initial value.
        pub relative_tolerance: f64 = 1e-8,
        /// `||c - A x||_2`. Zero disables it.
        pub absolute_tolerance: f64 = 0.0,
        /// Iterations, over all cycles.
        pub max_iterations: usize = 10_000,
        /// Iterations between restarts.
        ///
        /// Memory and the time of an iteration grow with it.
        pub restart: usize = 50,
    }
}

impl Settings {
    /// Checks that the settings are in range.
    pub fn check(&self) -> Result<(), InputError> {
        check_not_negative("relative_tolerance", self.relative_tolerance)?;
        check_not_negative("absolute_tolerance", self.absolute_tolerance)?;
        check_at_least_1("restart", self.restart)
    }
}

/// Reason for which a linear solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// One of the tolerances is met.
    Converged,
    /// The iteration limit was reached.
    IterationLimit,
    /// The space stopped growing, and the solution is not in it: up to rounding, the matrix is singular.
    Singular,
    /// A whole cycle did not lower the residual, and neither would the next one. A longer one might.
    Stagnated,
    /// A number overflowed.
    NonFinite,
    /// The observer asked to stop.
    Stopped,
}

/// Report of a linear solve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Reason for the end.
    pub status: Status,
    /// Iterations done, over all cycles.
    pub iterations: usize,
    /// `||c - A x||_2` at the returned `x`, by a product with `A` at the end of each cycle. While the iteration runs: as
    /// the rotations have it.
    pub norm: f64,
}

/// Scratch memory of the iteration, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    r: Vec<f64>,
    core: Core,
}

/// Solves `A x = c`, starting from the given `x`.
///
/// If the iteration does not converge, `x` is the one with the smallest residual found.
pub fn solve(
    matrix: &(impl Operator + ?Sized),
    c: &[f64],
    settings: &Settings,
    preconditioner: &(impl Preconditioner + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
) -> Result<Report, InputError> {
    settings.check()?;
    super::check(matrix, c, x)?;
    let Workspace { r, core } = workspace;
    r.resize(matrix.len(), 0.0);
    super::residual(matrix, c, x, r);
    let limits = Limits {
        norm: (settings.relative_tolerance * reduce::sum_of_squares(r).sqrt())
            .max(settings.absolute_tolerance),
        iterations: settings.max_iterations,
        restart: settings.restart,
    };
    Ok(correct(
        matrix,
        preconditioner,
        &limits,
        x,
        r,
        core,
        &mut |_| ControlFlow::Continue(()),
    ))
}

/// Absolute stopping criteria.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// `||r||_2`
    pub norm: f64,
    /// Iterations, over all cycles.
    pub iterations: usize,
    /// Directions of a cycle.
    pub restart: usize,
}

/// The iteration itself, from a given `x` and its residual `r = c - A x`; both are updated.
pub(crate) fn correct(
    matrix: &(impl Operator + ?Sized),
    preconditioner: &(impl Preconditioner + ?Sized),
    limits: &Limits,
    x: &mut [f64],
    r: &mut [f64],
    core: &mut Core,
    watch: &mut dyn FnMut(&Report) -> ControlFlow<()>,
) -> Report {
    // There are no more directions than rows.
    let restart = limits.restart.min(x.len().max(1));
    core.resize(x.len(), restart);
    let mut norm = reduce::sum_of_squares(r).sqrt();
    let mut iterations = 0;
    let status = loop {
        if !norm.is_finite() {
            break Status::NonFinite;
        }
        if norm <= limits.norm {
            break Status::Converged;
        }
        if iterations >= limits.iterations {
            break Status::IterationLimit;
        }
        let cycle = Cycle {
            norm,
            enough: limits.norm,
            most: restart.min(limits.iterations - iterations),
            before: iterations,
        };
        let grown = cycle.run(matrix, preconditioner, r, core, watch);
        iterations += grown.iterations;
        combine(r, preconditioner, grown.directions, core);
        // The residual that counts is the one of the new x; r has been overwritten with the step.
        if !step(matrix, x, r, norm, core) {
            break match grown.end {
                End::NonFinite => Status::NonFinite,
                End::Stopped => Status::Stopped,
                End::Exhausted => Status::Singular,
                End::Full => Status::Stagnated,
            };
        }
        let left = reduce::sum_of_squares(r).sqrt();
        let worth_it = left <= HOPELESS * norm;
        norm = left;
        match grown.end {
            End::Stopped => break Status::Stopped,
            End::NonFinite => break Status::NonFinite,
            _ if norm <= limits.norm => {}
            // A space that stopped growing far from a solution holds none; near one, rounding was in the way.
            End::Exhausted if norm > 0.5 * cycle.norm => break Status::Singular,
            End::Full if !worth_it && iterations < limits.iterations => break Status::Stagnated,
            _ => {}
        }
    };
    Report {
        status,
        iterations,
        norm,
    }
}

/// `r = P V t`, with `t` from the triangle: the step that the space offers. `g` becomes `t`.
fn combine(
    r: &mut [f64],
    preconditioner: &(impl Preconditioner + ?Sized),
    directions: usize,
    core: &mut Core,
) {
    let Core {
        basis,
        triangle,
        g,
        sum,
        ..
    } = core;
    let height = g.len();
    for j in (0..directions).rev() {
        let t = g[j] / triangle[j * height + j];
        g[j] = t;
        for i in 0..j {
            g[i] -= t * triangle[j * height + i];
        }
    }
    sum.fill(0.0);
    for (t, v) in g.iter().zip(&*basis).take(directions) {
        add(sum, *t, v);
    }
    // The residual at x is lost here, and comes back in `step`.
    core.z.copy_from_slice(r);
    preconditioner.apply(sum, r);
}

/// `x += r` if that is finite and does not raise the residual, which replaces `r`; else `x` stays, `r` is as it was.
fn step(
    matrix: &(impl Operator + ?Sized),
    x: &mut [f64],
    r: &mut [f64],
    norm: f64,
    core: &mut Core,
) -> bool {
    let Core { z, sum, .. } = core;
    matrix.apply(r, sum);
    for_each((&mut sum[..], &z[..]), &|_, (sum, z)| {
        for (sum, z) in sum.iter_mut().zip(z) {
            *sum = z - *sum;
        }
    });
    let left = reduce::sum_of_squares(sum).sqrt();
    let better = left <= norm && (reduce::largest(r) + reduce::largest(x)).is_finite();
    if better {
        add(x, 1.0, r);
        r.copy_from_slice(sum);
    } else {
        r.copy_from_slice(z);
    }
    better
}
