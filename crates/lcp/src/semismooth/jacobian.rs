//! Products with the generalised Jacobian, which is never assembled unless a factorisation is asked for.

use super::map;
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::split::for_each;

/// `J = D_p + D_q A`
pub(super) struct Jacobian<'a, A: Operator + ?Sized> {
    pub matrix: &'a A,
    pub p: &'a [f64],
    pub q: &'a [f64],
}

impl<A: Operator + ?Sized> Jacobian<'_, A> {
    /// `out = J'v`, with memory for `D_q v`.
    pub fn transposed(&self, v: &[f64], scratch: &mut [f64], out: &mut [f64]) {
        for_each((&mut scratch[..], v, self.q), &|_, (scratch, v, q)| {
            for i in 0..scratch.len() {
                scratch[i] = q[i] * v[i];
            }
        });
        self.matrix.apply_transposed(scratch, out);
        for_each((out, v, self.p), &|_, (out, v, p)| {
            for i in 0..out.len() {
                out[i] += p[i] * v[i];
            }
        });
    }
}

impl<A: Operator + ?Sized> Operator for Jacobian<'_, A> {
    fn len(&self) -> usize {
        self.matrix.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.apply(x, y);
        for_each((y, x, self.p, self.q), &|_, (y, x, p, q)| {
            for i in 0..y.len() {
                y[i] = p[i] * x[i] + q[i] * y[i];
            }
        });
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        self.transposed(x, &mut vec![0.0; x.len()], y);
    }

    fn diagonal(&self, d: &mut [f64]) {
        self.matrix.diagonal(d);
        for_each((d, self.p, self.q), &|_, (d, p, q)| {
            for i in 0..d.len() {
                d[i] = p[i] + q[i] * d[i];
            }
        });
    }
}

/// `J v = (F(x + h v) - F(x)) / h` [Erl13 (102)]
///
/// It is not linear in `v` on rows at the kink, and need not be: a Krylov method asks for products only.
pub(super) struct Difference<'a, 'p, A: Operator + ?Sized> {
    pub problem: &'a BoxMlcp<'p, A>,
    pub x: &'a [f64],
    pub y: &'a [f64],
    pub d: &'a [f64],
    pub f: &'a [f64],
    pub smoothing: f64,
    /// `h` times the largest entry of `v`: half the digits of the largest entry of `x`.
    pub step: f64,
}

impl<A: Operator + ?Sized> Operator for Difference<'_, '_, A> {
    fn len(&self) -> usize {
        self.problem.len()
    }

    fn apply(&self, v: &[f64], out: &mut [f64]) {
        let largest = reduce::largest(v);
        if largest == 0.0 {
            out.fill(0.0);
            return;
        }
        self.problem.matrix().apply(v, out);
        map::difference(
            self.problem,
            (self.x, self.y, self.d, self.f),
            (self.smoothing, self.step / largest),
            (v, out),
        );
    }

    fn apply_transposed(&self, _: &[f64], _: &mut [f64]) {
        unreachable!("GMRES, the only method used with differences, needs no transposed product");
    }

    fn diagonal(&self, d: &mut [f64]) {
        // No method that this is made for asks for it.
        d.fill(1.0);
    }
}

/// An approximate inverse of `J` made of one of `A`: rows on which `q` rules are `q_i y_i`, the others `p_i x_i`.
pub(super) struct Mixed<'a, P: Preconditioner + ?Sized> {
    pub inner: &'a P,
    /// Rows on which `q` rules.
    pub active: &'a [bool],
    /// `p` or `q`, whichever rules.
    pub ruling: &'a [f64],
}

impl<P: Preconditioner + ?Sized> Preconditioner for Mixed<'_, P> {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.inner.apply_masked_dot(self.active, r, z);
        // The inverse of D_q A divides first. On the right of J either order is right, this one takes no memory,
        // and near a solution all ruling entries are -1.
        for_each((z, self.ruling), &|_, (z, ruling)| {
            for i in 0..z.len() {
                z[i] /= ruling[i];
            }
        });
    }

    fn apply_masked_dot(&self, _: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        self.apply_dot(r, z)
    }
}

/// Rows on which `q` rules, and the larger of the two terms of each row.
pub(super) fn rule(active: &mut [bool], ruling: &mut [f64], (p, q, d): (&[f64], &[f64], &[f64])) {
    for_each(
        (active, ruling, p, q, d),
        &|_, (active, ruling, p, q, d)| {
            for i in 0..p.len() {
                active[i] = q[i].abs() * d[i] >= p[i].abs();
                let largest = if active[i] { q[i] } else { p[i] };
                ruling[i] = if largest == 0.0 { 1.0 } else { largest };
            }
        },
    );
}

/// The Newton equation of the minimum map as `D_p + D_q A` [Erl13 (78)], and its right-hand side.
pub(super) fn minimum_map(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    (x, y, d): (&[f64], &[f64], &[f64]),
    (p, q, r): (&mut [f64], &mut [f64], &mut [f64]),
) {
    for_each(
        ((x, y, d), (problem.lower(), problem.upper()), (p, q, r)),
        &|_, ((x, y, d), (lower, upper), (p, q, r))| {
            for i in 0..x.len() {
                let target = x[i] - y[i] / d[i];
                let held = |bound: f64| (d[i], 0.0, d[i] * (bound - x[i]));
                (p[i], q[i], r[i]) = if target <= lower[i] {
                    held(lower[i])
                } else if target >= upper[i] {
                    held(upper[i])
                } else {
                    (0.0, 1.0, -y[i])
                };
            }
        },
    );
}
