//! Preconditioned conjugate gradients.
//!
//! For `A x = c` with `A` symmetric and positive semidefinite. Breakdown is part of the result: an indefinite
//! matrix and a singular, inconsistent system are distinguished from an iteration limit, and `x` is always finite.
//!
//! ```
//! use meniscus_lcp::krylov::pcg;
//! use meniscus_lcp::precondition::Jacobi;
//! use meniscus_lcp::Csr;
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let mut x = [0.0; 2];
//! let mut workspace = pcg::Workspace::default();
//! let settings = pcg::Settings::default().relative_tolerance(1e-12);
//! let report = pcg::solve(&matrix, &[1.0, 1.0], &settings, &Jacobi::new(&matrix)?, &mut x, &mut workspace)?;
//! assert_eq!(report.status, pcg::Status::Converged);
//! assert!((x[0] - 1.0).abs() < 1e-12);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use std::ops::ControlFlow;

use crate::error::{InputError, check_not_negative};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::reduce::{self, larger};
use crate::split::{fold, for_each};

/// A direction belongs to the null space if its Rayleigh quotient of `P A` is this much smaller than the largest one
/// met: what rounding leaves of zero, and far beyond what can be solved for.
pub(crate) const NULL_QUOTIENT: f64 = 1e-12;

/// `p'Ap` this much below zero, as a part of `p' diag(A) p`, is more than rounding.
const INDEFINITE: f64 = 1e-12;

/// No positive definite matrix that can be solved with at all lets the residual grow so much over the smallest one met.
const DIVERGENCE: f64 = 1e8;

settings! {
    /// Stopping criteria: the first of the two tolerances that is met, or the limit.
    pub struct Settings {
        /// `||c - A x||_2` relative to its initial value.
        pub relative_tolerance: f64 = 1e-8,
        /// `||c - A x||_inf`. Zero disables it.
        pub absolute_tolerance: f64 = 0.0,
        /// Iterations.
        pub max_iterations: usize = 10_000,
    }
}

impl Settings {
    /// Checks that the settings are in range.
    pub fn check(&self) -> Result<(), InputError> {
        check_not_negative("relative_tolerance", self.relative_tolerance)?;
        check_not_negative("absolute_tolerance", self.absolute_tolerance)
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
    /// A direction `p` with `A p = 0` and `c'p > 0` was found, up to rounding: no solution exists.
    Singular,
    /// A direction with `p'Ap < 0` was found, or the preconditioner is not positive definite.
    Indefinite,
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
    /// Iterations done.
    pub iterations: usize,
    /// `||c - A x||_2` at the returned `x`, by the recursion.
    pub norm: f64,
    /// `||c - A x||_inf` at the returned `x`, by the recursion.
    pub largest: f64,
}

/// Scratch memory of the iteration, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    r: Vec<f64>,
    core: Core,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Core {
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    best_x: Vec<f64>,
    best_r: Vec<f64>,
}

impl Core {
    fn resize(&mut self, n: usize) {
        for array in [
            &mut self.z,
            &mut self.p,
            &mut self.q,
            &mut self.best_x,
            &mut self.best_r,
        ] {
            array.resize(n, 0.0);
        }
    }
}

/// Solves `A x = c`, starting from the given `x`.
///
/// If the iteration does not converge, `x` is the iterate with (nearly) the smallest residual.
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
        norm: settings.relative_tolerance * reduce::sum_of_squares(r).sqrt(),
        largest: settings.absolute_tolerance,
        cap: f64::INFINITY,
        iterations: settings.max_iterations,
        null_quotient: NULL_QUOTIENT,
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
    /// `||r||_inf`, provided that `||r||_2` is within `cap`.
    pub largest: f64,
    /// See `largest`.
    pub cap: f64,
    /// Iterations.
    pub iterations: usize,
    /// Rayleigh quotient of `P A`, as a part of the largest one met, at which a direction counts as a null vector.
    pub null_quotient: f64,
}

/// The iteration itself, from a given `x` and its residual `r = c - A x`; both are updated.
///
/// Rows where `r` is zero and `A` is the identity keep their `x`, which is how masked systems use it.
pub(crate) fn correct(
    matrix: &(impl Operator + ?Sized),
    preconditioner: &(impl Preconditioner + ?Sized),
    limits: &Limits,
    x: &mut [f64],
    r: &mut [f64],
    core: &mut Core,
    watch: &mut dyn FnMut(&Report) -> ControlFlow<()>,
) -> Report {
    core.resize(x.len());
    let Core {
        z,
        p,
        q,
        best_x,
        best_r,
    } = core;
    let mut size = Size {
        squares: reduce::sum_of_squares(r),
        largest: reduce::largest(r),
    };
    let mut best = size;
    best_x.copy_from_slice(x);
    best_r.copy_from_slice(r);

    let mut iterations = 0;
    let mut energy = 0.0; // p'Mp, with M the inverse of the preconditioner
    let mut largest_quotient = 0.0_f64;
    let mut beta = 0.0;
    let mut rho_old = 0.0;
    let mut status = loop {
        if !size.is_finite() {
            break Status::NonFinite;
        }
        if size.within(limits) {
            break Status::Converged;
        }
        if iterations >= limits.iterations {
            break Status::IterationLimit;
        }
        let rho = preconditioner.apply_dot(r, z);
        if !rho.is_finite() {
            break Status::NonFinite;
        }
        if rho <= 0.0 {
            break Status::Indefinite;
        }
        if iterations > 0 {
            beta = rho / rho_old;
        }
        rho_old = rho;
        lengthen(p, z, beta, iterations == 0);
        let curvature = matrix.apply_dot(p, q);
        // Since r is orthogonal to the last direction, p'Mp follows from a recursion, and p'Ap / p'Mp is a
        // Rayleigh quotient of P A: near 1 for a good preconditioner, whatever the units of the problem.
        energy = rho + beta * beta * energy;
        let quotient = curvature / energy;
        if !quotient.is_finite() {
            break Status::NonFinite;
        }
        if iterations == 0 {
            // Of the size of the largest quotient, but never as small as that of a first direction in the null space.
            largest_quotient = diagonal_energy(matrix, p, z) / energy;
        }
        if quotient <= limits.null_quotient * largest_quotient {
            break if curvature < -INDEFINITE * diagonal_energy(matrix, p, z) {
                Status::Indefinite
            } else {
                Status::Singular
            };
        }
        if size.norm() > DIVERGENCE * best.norm() {
            break Status::Singular;
        }
        largest_quotient = largest_quotient.max(quotient);
        size = advance(x, r, p, q, rho / curvature);
        iterations += 1;
        // Copies are rare (each halves the residual), and all it takes to come back from a breakdown.
        if size.squares < 0.25 * best.squares && reduce::largest(x).is_finite() {
            best = size;
            best_x.copy_from_slice(x);
            best_r.copy_from_slice(r);
        }
        let report = Report {
            status: Status::IterationLimit,
            iterations,
            norm: size.norm(),
            largest: size.largest,
        };
        if watch(&report).is_break() {
            break Status::Stopped;
        }
    };
    if !reduce::largest(x).is_finite() {
        status = Status::NonFinite;
        size.squares = f64::NAN;
    }
    if status != Status::Converged && (size.squares.is_nan() || size.squares > best.squares) {
        size = best;
        x.copy_from_slice(best_x);
        r.copy_from_slice(best_r);
    }
    Report {
        status,
        iterations,
        norm: size.norm(),
        largest: size.largest,
    }
}

/// Norms of a residual.
#[derive(Clone, Copy)]
struct Size {
    squares: f64,
    largest: f64,
}

impl Size {
    fn norm(&self) -> f64 {
        self.squares.sqrt()
    }

    fn is_finite(&self) -> bool {
        self.squares.is_finite() && self.largest.is_finite()
    }

    fn within(&self, limits: &Limits) -> bool {
        let norm = self.norm();
        norm <= limits.norm || (self.largest <= limits.largest && norm <= limits.cap)
    }
}

/// `p' |diag(A)| p`
fn diagonal_energy(matrix: &(impl Operator + ?Sized), p: &[f64], scratch: &mut [f64]) -> f64 {
    matrix.diagonal(scratch);
    fold(
        (&*scratch, p),
        &|_, (d, p)| {
            d.iter()
                .zip(p)
                .fold(0.0, |sum, (d, p)| sum + d.abs() * p * p)
        },
        &|low, high| low + high,
    )
}

/// `p = z + beta p`, or `p = z` at the start.
fn lengthen(p: &mut [f64], z: &[f64], beta: f64, start: bool) {
    if start {
        p.copy_from_slice(z);
        return;
    }
    for_each((p, z), &|_, (p, z)| {
        for (p, z) in p.iter_mut().zip(z) {
            *p = z + beta * *p;
        }
    });
}

/// `x += alpha p`, `r -= alpha q`, and the size of `r`.
fn advance(x: &mut [f64], r: &mut [f64], p: &[f64], q: &[f64], alpha: f64) -> Size {
    fold(
        (x, r, p, q),
        &|_, (x, r, p, q)| {
            for i in 0..x.len() {
                x[i] += alpha * p[i];
                r[i] -= alpha * q[i];
            }
            Size {
                squares: reduce::sum_of_squares(r),
                largest: reduce::largest(r),
            }
        },
        &|low, high| Size {
            squares: low.squares + high.squares,
            largest: larger(low.largest, high.largest),
        },
    )
}
