//! Penalised linear system.
//!
//! It is solved for the change from a point that has the penalised rows on their bounds. The change of such a row is
//! how far it is outside, a number far below the rounding of `x_i` itself: its sign could not be read from `x`.

use std::ops::ControlFlow;

use crate::krylov::pcg;
use crate::operator::{Masked, Operator};
use crate::precondition::{MaskedPreconditioner, Preconditioner};
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::split::{fold, for_each};

/// Small diagonal shift that replaces a missing bound, relative to the diagonal of `A`.
const SHIFT: f64 = 1e-9;

/// `v'Av / v'Dv` up to which `v` is a null vector.
const NULL: f64 = 1e-12;

/// Memory for the system.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// Rows without a penalty.
    pub active: Vec<bool>,
    /// The bound of each penalised row.
    bound: Vec<f64>,
    /// `rho Pi`, and the shift if there is one.
    diagonal: Vec<f64>,
    base: Vec<f64>,
    dx: Vec<f64>,
    r: Vec<f64>,
    scratch: Vec<f64>,
    z: Vec<f64>,
    pcg: pcg::Core,
}

impl System {
    /// Penalises the rows that are at or beyond a bound; true, since all that was before is forgotten.
    pub fn start(&mut self, problem: &BoxMlcp<'_, impl Operator + ?Sized>, x: &[f64]) -> bool {
        let n = problem.len();
        let Self {
            active,
            bound,
            diagonal,
            base,
            dx,
            r,
            scratch,
            z,
            ..
        } = self;
        for array in [&mut *bound, diagonal, base, dx, r, scratch, z] {
            array.resize(n, 0.0);
        }
        active.resize(n, true);
        for i in 0..n {
            let (l, u) = (problem.lower()[i], problem.upper()[i]);
            active[i] = l < x[i] && x[i] < u;
            bound[i] = if x[i] <= l { l } else { u };
        }
        true
    }

    /// The system for the change `dx` from `base`, which is `x` with penalised rows on their bounds.
    ///
    /// The first guess has penalised rows outside by what their `y` asks for, other rows as they are.
    pub fn pose(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        d: &[f64],
        rho: f64,
        x: &[f64],
    ) {
        let Self {
            active,
            bound,
            diagonal,
            base,
            dx,
            r,
            scratch,
            ..
        } = self;
        for_each(
            (
                (&active[..], &bound[..]),
                (x, d),
                (&mut base[..], &mut diagonal[..]),
            ),
            &|_, ((active, bound), (x, d), (base, diagonal))| {
                for i in 0..x.len() {
                    base[i] = if active[i] { x[i] } else { bound[i] };
                    diagonal[i] = if active[i] { 0.0 } else { rho * d[i] };
                }
            },
        );
        problem.affine(base, r);
        for_each(
            ((&mut dx[..], &r[..]), (&diagonal[..], &active[..])),
            &|_, ((dx, y), (diagonal, active))| {
                for i in 0..dx.len() {
                    dx[i] = if active[i] { 0.0 } else { -y[i] / diagonal[i] };
                }
            },
        );
        // r = -(A base + b) - (A + rho Pi) dx, where on penalised rows two large terms cancel.
        problem.matrix().apply(dx, scratch);
        for_each(((&mut r[..], &scratch[..]), &active[..]), &|_,
                                                              (
            (r, product),
            active,
        )| {
            for i in 0..r.len() {
                r[i] = if active[i] { -r[i] } else { 0.0 } - product[i];
            }
        });
    }

    /// Solves the system; the limits on the residual are parts of what it is at the start.
    pub fn solve(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        preconditioner: &(impl Preconditioner + ?Sized),
        limits: &pcg::Limits,
        watch: &mut dyn FnMut(&pcg::Report) -> ControlFlow<()>,
    ) -> pcg::Report {
        let strength = self.strength(problem, preconditioner);
        let Self {
            active,
            diagonal,
            dx,
            r,
            pcg,
            ..
        } = self;
        let limits = absolute(limits, r);
        let matrix = Penalised {
            matrix: problem.matrix(),
            diagonal,
        };
        let preconditioner = PenalisedPreconditioner {
            inner: preconditioner,
            active,
            diagonal,
            strength,
        };
        pcg::correct(&matrix, &preconditioner, &limits, dx, r, pcg, watch)
    }

    /// Solves the system with a small diagonal on the rows without a penalty, which makes one of it that is not singular;
    /// penalised rows stay where they are.
    pub fn solve_shifted(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        preconditioner: &(impl Preconditioner + ?Sized),
        d: &[f64],
        limits: &pcg::Limits,
        watch: &mut dyn FnMut(&pcg::Report) -> ControlFlow<()>,
    ) -> pcg::Report {
        let Self {
            active,
            diagonal,
            dx,
            r,
            pcg,
            ..
        } = self;
        for i in 0..d.len() {
            diagonal[i] = if active[i] { SHIFT * d[i] } else { 0.0 };
            if !active[i] {
                r[i] = 0.0;
            }
        }
        let limits = absolute(limits, r);
        let matrix = Penalised {
            matrix: &Masked::new(problem.matrix(), active),
            diagonal,
        };
        let preconditioner = MaskedPreconditioner {
            inner: preconditioner,
            active,
        };
        pcg::correct(&matrix, &preconditioner, &limits, dx, r, pcg, watch)
    }

    /// A Rayleigh quotient of `P A` on the rows without a penalty, which is to be that of the others, too: 1 for a good
    /// preconditioner, anything for one that does not know the units of `A`.
    fn strength(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        preconditioner: &(impl Preconditioner + ?Sized),
    ) -> f64 {
        let Self {
            active,
            r,
            scratch,
            z,
            ..
        } = self;
        preconditioner.apply_masked_dot(active, r, z);
        for_each((&mut z[..], &active[..]), &|_, (z, active)| {
            for i in 0..z.len() {
                if !active[i] {
                    z[i] = 0.0;
                }
            }
        });
        let strength = problem.matrix().apply_dot(z, scratch) / reduce::dot(r, z);
        if strength > 0.0 && strength.is_finite() {
            strength
        } else {
            1.0
        }
    }

    /// Whether the solution of a shifted system goes along a null vector, and far enough to say that more of the
    /// residual than is `allowed` can't be solved for without a bound.
    pub fn follows_null_vector(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        allowed: f64,
    ) -> bool {
        let Self {
            active,
            diagonal,
            dx,
            r,
            scratch,
            ..
        } = self;
        // The shift times the change is what the shift left of the residual.
        let (mut stiffness, mut left) = (0.0, 0.0_f64);
        for i in 0..dx.len() {
            scratch[i] = if active[i] { dx[i] } else { 0.0 };
            let part = diagonal[i] * scratch[i];
            stiffness += part * scratch[i] / SHIFT;
            left = left.max(part.abs());
        }
        let curvature = problem.matrix().apply_masked_dot(active, scratch, r);
        left > allowed && curvature <= NULL * stiffness
    }

    /// Writes the new `x`, and penalises the rows that are outside their bounds; whether these are others than before.
    pub fn take(&mut self, problem: &BoxMlcp<'_, impl Operator + ?Sized>, x: &mut [f64]) -> bool {
        let Self {
            active,
            bound,
            base,
            dx,
            ..
        } = self;
        fold(
            (
                (&mut active[..], &mut bound[..]),
                (x, &base[..], &dx[..]),
                (problem.lower(), problem.upper()),
            ),
            &|_, ((active, bound), (x, base, dx), (lower, upper))| {
                let mut changed = false;
                for i in 0..x.len() {
                    let (l, u) = (lower[i], upper[i]);
                    x[i] = base[i] + dx[i];
                    let beyond = if active[i] {
                        (x[i] < l, x[i] > u)
                    } else {
                        // Where x_i is exactly would be lost in rounding.
                        (bound[i] == l && dx[i] < 0.0, bound[i] == u && dx[i] > 0.0)
                    };
                    let passed = match beyond {
                        _ if l == u => Some(l),
                        (true, _) => Some(l),
                        (_, true) => Some(u),
                        _ => None,
                    };
                    let held = (!active[i]).then_some(bound[i]);
                    changed |= passed != held;
                    active[i] = passed.is_none();
                    bound[i] = passed.unwrap_or(0.0);
                }
                changed
            },
            &|low, high| low | high,
        )
    }
}

/// Limits that are parts of a residual, as numbers.
fn absolute(limits: &pcg::Limits, r: &[f64]) -> pcg::Limits {
    let norm = reduce::sum_of_squares(r).sqrt();
    pcg::Limits {
        norm: limits.norm * norm,
        cap: limits.cap * norm,
        ..*limits
    }
}

/// `A + rho Pi`
struct Penalised<'a, A: Operator + ?Sized> {
    matrix: &'a A,
    diagonal: &'a [f64],
}

impl<A: Operator + ?Sized> Operator for Penalised<'_, A> {
    fn len(&self) -> usize {
        self.matrix.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.apply_dot(x, y);
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        self.apply(x, y); // the penalty method is for symmetric matrices
    }

    fn apply_dot(&self, x: &[f64], y: &mut [f64]) -> f64 {
        self.matrix.apply(x, y);
        fold(
            (y, x, self.diagonal),
            &|_, (y, x, diagonal)| {
                for i in 0..y.len() {
                    y[i] += diagonal[i] * x[i];
                }
                reduce::dot(x, y)
            },
            &|low, high| low + high,
        )
    }

    fn diagonal(&self, d: &mut [f64]) {
        self.matrix.diagonal(d);
        crate::reduced_system::add(d, 1.0, self.diagonal);
    }
}

/// An approximate inverse of `A` on the rows without a penalty, and division by the penalty on the others, beside which
/// `A` is nothing.
struct PenalisedPreconditioner<'a, P: Preconditioner + ?Sized> {
    inner: &'a P,
    active: &'a [bool],
    diagonal: &'a [f64],
    /// Factor of the inverse of the penalty, which makes it as strong as the other inverse.
    strength: f64,
}

impl<P: Preconditioner + ?Sized> Preconditioner for PenalisedPreconditioner<'_, P> {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.apply_dot(r, z);
    }

    fn apply_dot(&self, r: &[f64], z: &mut [f64]) -> f64 {
        self.inner.apply_masked_dot(self.active, r, z);
        fold(
            ((z, r), (self.active, self.diagonal)),
            &|_, ((z, r), (active, diagonal))| {
                for i in 0..z.len() {
                    if !active[i] {
                        z[i] = self.strength * r[i] / diagonal[i];
                    }
                }
                reduce::dot(r, z)
            },
            &|low, high| low + high,
        )
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        self.inner.apply_masked_dot(active, r, z)
    }
}
