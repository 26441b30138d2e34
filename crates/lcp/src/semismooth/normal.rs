//! Conjugate gradients on the normal equations.
//!
//! `(J'J + s D^2) v = J'c`, the minimum of `||c - J v||^2 + s ||D v||^2`, for any square `J` and diagonal `D`. The
//! residual is carried as `c - J v` and not as that of the normal equations, which would lose half of its digits.

use std::ops::ControlFlow;

use super::jacobian::Jacobian;
use crate::operator::Operator;
use crate::reduce;
use crate::reduced_system::add;
use crate::split::for_each;

/// Scratch memory of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Core {
    p: Vec<f64>,
    q: Vec<f64>,
    s: Vec<f64>,
    /// `D^2` times a vector.
    w: Vec<f64>,
}

/// Stopping criteria.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits<'a> {
    /// `||J'(c - J v) - s D^2 v||` as a part of its value at the start.
    pub gradient: f64,
    /// `||c - J v||`
    pub norm: f64,
    /// Iterations.
    pub iterations: usize,
    /// `s`
    pub shift: f64,
    /// `D`
    pub d: &'a [f64],
}

/// Solves from `v = 0` and `r = c`; leaves `v` and `r = c - J v`. Returns the iterations, and whether it was stopped.
pub(super) fn solve(
    jacobian: &Jacobian<'_, impl Operator + ?Sized>,
    limits: &Limits<'_>,
    v: &mut [f64],
    r: &mut [f64],
    (scratch, core): (&mut [f64], &mut Core),
    watch: &mut dyn FnMut(usize, f64) -> ControlFlow<()>,
) -> (usize, ControlFlow<()>) {
    let Core { p, q, s, w } = core;
    for array in [&mut *p, &mut *q, &mut *s, &mut *w] {
        array.resize(v.len(), 0.0);
    }
    v.fill(0.0);
    jacobian.transposed(r, scratch, s);
    p.copy_from_slice(s);
    let mut gamma = reduce::sum_of_squares(s);
    let enough = limits.gradient * limits.gradient * gamma;
    let mut iterations = 0;
    while iterations < limits.iterations && gamma > enough && gamma.is_finite() {
        jacobian.apply(p, q);
        let mut curvature = reduce::sum_of_squares(q);
        if limits.shift > 0.0 {
            weigh(w, limits.d, p);
            curvature += limits.shift * reduce::dot(p, w);
        }
        let alpha = gamma / curvature;
        if !alpha.is_finite() {
            break; // a null vector: the gradient has no part along it but rounding
        }
        add(v, alpha, p);
        add(r, -alpha, q);
        iterations += 1;
        let norm = reduce::sum_of_squares(r).sqrt();
        if watch(iterations, norm).is_break() {
            return (iterations, ControlFlow::Break(()));
        }
        if norm <= limits.norm {
            break;
        }
        jacobian.transposed(r, scratch, s);
        if limits.shift > 0.0 {
            weigh(w, limits.d, v);
            add(s, -limits.shift, w);
        }
        let last = gamma;
        gamma = reduce::sum_of_squares(s);
        let beta = gamma / last;
        for_each((&mut p[..], &s[..]), &|_, (p, s)| {
            for (p, s) in p.iter_mut().zip(s) {
                *p = s + beta * *p;
            }
        });
    }
    (iterations, ControlFlow::Continue(()))
}

/// `w = D^2 v`
fn weigh(w: &mut [f64], d: &[f64], v: &[f64]) {
    for_each((w, d, v), &|_, (w, d, v)| {
        for i in 0..w.len() {
            w[i] = d[i] * d[i] * v[i];
        }
    });
}
