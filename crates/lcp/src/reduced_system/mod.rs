//! Reduced linear system on the active rows.
//!
//! With the active rows `A` and the rows `F` at a bound, the step of both minimum map Newton and
//! policy iteration is
//!
//! ```text
//! | A_AA  A_AF | | dx_A |     | y_A       |
//! |  0     I   | | dx_F | = - | x_F - l_F |
//! ```
//!
//! [`null_space`] handles singular `A_AA`.

mod general;
mod null_space;

use std::ops::ControlFlow;

use self::null_space::Shifted;
use crate::error::InputError;
use crate::krylov::{bicgstab, cr, gmres, pcg};
use crate::minimum_map::{self, MeritState};
use crate::operator::{Masked, Operator};
use crate::precondition::{MaskedPreconditioner, Preconditioner};
use crate::problem::BoxMlcp;
use crate::split::for_each;

/// A Rayleigh quotient that calls for the detour through [`null_space`]. No harm is done if the matrix is merely
/// ill-conditioned; but conjugate gradients should not lose themselves in a null space first.
const SUSPICIOUS_QUOTIENT: f64 = 1e-8;

/// Scratch memory of the system on a face.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReducedSystem {
    /// Scales of the minimum map.
    pub d: Vec<f64>,
    /// `A x + b`
    pub y: Vec<f64>,
    /// Minimum map.
    pub h: Vec<f64>,
    /// The step.
    pub dx: Vec<f64>,
    /// Residual of the Newton equation: `-y_A - A_A dx`, zero on `F`.
    pub r: Vec<f64>,
    /// The active rows.
    pub active: Vec<bool>,
    /// A vector in the null space of `A_AA`.
    null: Vec<f64>,
    /// A small positive diagonal, zero on `F`.
    shift: Vec<f64>,
    pcg: pcg::Core,
    gmres: gmres::Core,
    cr: cr::Workspace,
    bicgstab: bicgstab::Workspace,
    /// Right-hand side and solution of the last two.
    rhs: Vec<f64>,
    correction: Vec<f64>,
}

/// Problem, preconditioner and callback of a linear solve.
pub(crate) struct SolveContext<'a, 'p, A: Operator + ?Sized, P: Preconditioner + ?Sized> {
    pub problem: &'a BoxMlcp<'p, A>,
    /// Restricted to the active rows.
    pub preconditioner: &'a P,
    /// Called after every iteration.
    pub watch: &'a mut dyn FnMut(&pcg::Report) -> ControlFlow<()>,
}

/// Accuracy to which the system on a face is solved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accuracy {
    /// `||r||_2` as a part of `||H||_2`. [ANE17 (22)]
    pub forcing: f64,
    /// `||r||_inf` that is good enough whatever `||H||_2`, as long as the step is one of descent.
    pub enough: f64,
    /// Conjugate gradient iterations.
    pub max_iterations: usize,
}

/// Result of a solve on a face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solved {
    /// Reason for the end of conjugate gradients.
    pub status: pcg::Status,
    /// Conjugate gradient iterations.
    pub iterations: usize,
    /// Role of the null space.
    pub null: NullSpace,
}

/// Role of the null space of the system in its solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NullSpace {
    /// Nothing.
    Unmet,
    /// The step follows a null vector to a bound.
    ToBound,
    /// A null vector meets no bound.
    Unbounded,
}

impl ReducedSystem {
    pub fn prepare(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        scaled: bool,
    ) -> Result<(), InputError> {
        let n = problem.len();
        let Self {
            d,
            y,
            h,
            dx,
            r,
            active,
            ..
        } = self;
        for array in [&mut *d, y, h, dx, r] {
            array.resize(n, 0.0);
        }
        active.clear();
        active.resize(n, true);
        minimum_map::scales(problem.matrix(), scaled, d)
    }

    /// Selects the face at `x`, for which `y` must be up to date.
    pub fn select(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        x: &[f64],
    ) -> MeritState {
        let Self {
            d,
            y,
            h,
            dx,
            active,
            ..
        } = self;
        minimum_map::select(problem, (x, y, d), active, h, dx)
    }

    /// Solves `A_AA dx_A = -y_A - A_AF dx_F` [ANE17 (29)] with masks [ANE17 (43)].
    pub fn solve(
        &mut self,
        context: &mut SolveContext<'_, '_, impl Operator + ?Sized, impl Preconditioner + ?Sized>,
        x: &[f64],
        state: &MeritState,
        accuracy: &Accuracy,
    ) -> Solved {
        let norm = state.squares.sqrt();
        let limits = pcg::Limits {
            norm: accuracy.forcing * norm,
            largest: accuracy.enough,
            cap: 0.5 * norm,
            iterations: accuracy.max_iterations,
            null_quotient: SUSPICIOUS_QUOTIENT,
        };
        self.right_hand_side(context.problem, state);
        let report = self.conjugate_gradients(context, &limits, false);
        if report.status == pcg::Status::Singular {
            self.solve_singular(context, x, state, &limits, report.iterations)
        } else {
            Solved {
                status: report.status,
                iterations: report.iterations,
                null: NullSpace::Unmet,
            }
        }
    }

    /// Adds to `dx`, on active rows, what `r` asks for. With the small diagonal added to the matrix if it is `shifted`.
    fn conjugate_gradients(
        &mut self,
        context: &mut SolveContext<'_, '_, impl Operator + ?Sized, impl Preconditioner + ?Sized>,
        limits: &pcg::Limits,
        shifted: bool,
    ) -> pcg::Report {
        let Self {
            dx,
            r,
            active,
            shift,
            pcg,
            ..
        } = self;
        let matrix = Masked::new(context.problem.matrix(), active);
        let preconditioner = MaskedPreconditioner {
            inner: context.preconditioner,
            active,
        };
        if shifted {
            let matrix = Shifted {
                matrix: &matrix,
                shift,
            };
            pcg::correct(&matrix, &preconditioner, limits, dx, r, pcg, context.watch)
        } else {
            pcg::correct(&matrix, &preconditioner, limits, dx, r, pcg, context.watch)
        }
    }

    /// `r = a (-y - A (f dx))`, and `dx = 0` on active rows. [ANE17 (38)]
    fn right_hand_side(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        state: &MeritState,
    ) {
        let Self {
            y, dx, r, active, ..
        } = self;
        for_each((&mut dx[..], &active[..]), &|_, (dx, active)| {
            for i in 0..dx.len() {
                if active[i] {
                    dx[i] = 0.0;
                }
            }
        });
        if state.jump > 0.0 {
            problem.matrix().apply(dx, r);
        } else {
            r.fill(0.0);
        }
        for_each((&mut r[..], &y[..], &active[..]), &|_, (r, y, active)| {
            for i in 0..r.len() {
                r[i] = if active[i] { -y[i] - r[i] } else { 0.0 };
            }
        });
    }
}

/// `a += length b`
pub(crate) fn add(a: &mut [f64], length: f64, b: &[f64]) {
    for_each((a, b), &|_, (a, b)| {
        for (a, b) in a.iter_mut().zip(b) {
            *a += length * b;
        }
    });
}
