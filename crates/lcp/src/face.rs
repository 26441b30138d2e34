//! The face of the box on which a method looks for the solution, and the linear system on it.
//!
//! With the active rows `A` and the rows `F` that are held at a bound, the step of both minimum map Newton and
//! policy iteration is
//!
//! ```text
//! | A_AA  A_AF | | dx_A |     | y_A       |
//! |  0     I   | | dx_F | = - | x_F - l_F |
//! ```
//!
//! `A_AA` may be singular although the problem has a solution: when no row holds `x` back, a constant can be added
//! to it. What the right-hand side has in the null space of `A_AA` then can't be solved for, and is a direction in
//! which `x` may go until it meets a bound. If it meets none, the problem has no solution.

use std::ops::ControlFlow;

use crate::error::InputError;
use crate::krylov::pcg;
use crate::minimum_map::{self, Standing};
use crate::operator::{Masked, Operator};
use crate::precondition::{MaskedPreconditioner, Preconditioner};
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::split::{fold, for_each};

/// Null vectors that are removed from one right-hand side. More than one is needed where several parts of the
/// matrix, not coupled with each other, are singular at once.
const MAX_NULL_VECTORS: usize = 8;

/// A part of a null vector that is mere rounding, and meets no bound.
const NOISE: f64 = 1e-6;

/// Memory for the system on a face.
#[derive(Clone, Debug, Default)]
pub(crate) struct Face {
    /// Scales of the minimum map.
    pub d: Vec<f64>,
    /// `A x + b`
    pub y: Vec<f64>,
    /// Minimum map.
    pub h: Vec<f64>,
    /// The step.
    pub dx: Vec<f64>,
    /// What the step leaves of the Newton equation: `-y_A - A_A dx`, zero on `F`.
    pub r: Vec<f64>,
    /// The active rows.
    pub active: Vec<bool>,
    /// The part of the right-hand side in the null space of `A_AA`.
    null: Vec<f64>,
    pcg: pcg::Core,
}

/// How well the system on a face has to be solved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accuracy {
    /// `||r||_2` as a part of `||H||_2`. [ANE17 (22)]
    pub forcing: f64,
    /// `||r||_inf` that is good enough whatever `||H||_2`, as long as the step is one of descent.
    pub enough: f64,
    /// Conjugate gradient iterations.
    pub max_iterations: usize,
}

/// How the system on a face was solved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solved {
    /// What ended conjugate gradients.
    pub status: pcg::Status,
    /// Conjugate gradient iterations.
    pub iterations: usize,
    /// What the null space had to do with it.
    pub null: NullSpace,
}

/// What the null space of the system had to do with its solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NullSpace {
    /// Nothing.
    Unmet,
    /// The step goes along a null vector to a bound.
    ToBound,
    /// A null vector meets no bound.
    Ray,
}

impl Face {
    pub fn prepare<A: Operator + ?Sized>(
        &mut self,
        problem: &BoxMlcp<'_, A>,
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
    pub fn select<A: Operator + ?Sized>(
        &mut self,
        problem: &BoxMlcp<'_, A>,
        x: &[f64],
    ) -> Standing {
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
    pub fn solve<A, P>(
        &mut self,
        problem: &BoxMlcp<'_, A>,
        x: &[f64],
        standing: &Standing,
        accuracy: &Accuracy,
        preconditioner: &P,
        watch: &mut dyn FnMut(&pcg::Report) -> ControlFlow<()>,
    ) -> Solved
    where
        A: Operator + ?Sized,
        P: Preconditioner + ?Sized,
    {
        let norm = standing.squares.sqrt();
        let mut limits = pcg::Limits {
            norm: accuracy.forcing * norm,
            largest: accuracy.enough,
            cap: 0.5 * norm,
            iterations: accuracy.max_iterations,
        };
        let mut iterations = 0;
        let mut null_vectors = 0;
        let report = loop {
            self.right_hand_side(problem, standing, null_vectors > 0);
            let masked = Masked::new(problem.matrix(), &self.active);
            let preconditioner = MaskedPreconditioner {
                inner: preconditioner,
                active: &self.active,
            };
            let report = pcg::correct(
                &masked,
                &preconditioner,
                &limits,
                &mut self.dx,
                &mut self.r,
                &mut self.pcg,
                watch,
            );
            iterations += report.iterations;
            limits.iterations -= report.iterations;
            if report.status != pcg::Status::Singular || null_vectors == MAX_NULL_VECTORS {
                break report;
            }
            null_vectors += 1;
            self.collect_null_vector(null_vectors == 1);
        };
        let null = if null_vectors > 0 {
            self.follow_null_space(problem, x)
        } else {
            NullSpace::Unmet
        };
        Solved {
            status: report.status,
            iterations,
            null,
        }
    }

    /// `r = a (-y - A (f dx))`, less what lies in the null space, and `dx = 0` on active rows. [ANE17 (38)]
    fn right_hand_side<A: Operator + ?Sized>(
        &mut self,
        problem: &BoxMlcp<'_, A>,
        standing: &Standing,
        less: bool,
    ) {
        let Self {
            y,
            dx,
            r,
            active,
            null,
            ..
        } = self;
        for_each((&mut dx[..], &active[..]), &|_,
                                               (dx, active): (
            &mut [f64],
            &[bool],
        )| {
            for (dx, active) in dx.iter_mut().zip(active) {
                if *active {
                    *dx = 0.0;
                }
            }
        });
        if standing.jump > 0.0 {
            problem.matrix().apply(dx, r);
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
        if less {
            add(r, -1.0, null);
        }
    }

    /// Adds the part of the right-hand side along the null vector that ended conjugate gradients.
    ///
    /// `A_AA` is symmetric: what is orthogonal to its null space can be solved for.
    fn collect_null_vector(&mut self, first: bool) {
        let Self { r, null, pcg, .. } = self;
        null.resize(r.len(), 0.0);
        if first {
            null.fill(0.0);
        }
        let vector = pcg.direction();
        // The right-hand side and the residual differ by A_AA dx, which is orthogonal to a null vector.
        let length = reduce::dot(vector, r) / reduce::sum_of_squares(vector);
        add(null, length, vector);
    }

    /// Goes on from `x + dx` along the null vector until a row meets its bound.
    fn follow_null_space<A: Operator + ?Sized>(
        &mut self,
        problem: &BoxMlcp<'_, A>,
        x: &[f64],
    ) -> NullSpace {
        let Self { dx, r, null, .. } = self;
        add(r, 1.0, null);
        let noise = NOISE * reduce::largest(null);
        let length = fold(
            ((x, &dx[..], &null[..]), (problem.lower(), problem.upper())),
            &|_, ((x, dx, null), (lower, upper))| {
                let mut length = f64::INFINITY;
                for i in 0..x.len() {
                    let at = x[i] + dx[i];
                    if null[i] < -noise {
                        length = length.min(((lower[i] - at) / null[i]).max(0.0));
                    } else if null[i] > noise {
                        length = length.min(((upper[i] - at) / null[i]).max(0.0));
                    }
                }
                length
            },
            &f64::min,
        );
        if length == f64::INFINITY {
            return NullSpace::Ray;
        }
        add(dx, length, null);
        NullSpace::ToBound
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
