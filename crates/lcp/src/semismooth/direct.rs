//! Factorisations of the generalised Jacobian, for problems small enough to store every entry.

use crate::operator::Operator;
use crate::reduce;

/// A pivot this much smaller than the largest entry of the matrix is rounding: the matrix is singular.
const SINGULAR: f64 = 1e-13;

/// `A` with every entry stored, and room for a factorisation.
#[derive(Clone, Debug, Default)]
pub(super) struct Direct {
    n: usize,
    /// `A`, one column after the other.
    columns: Vec<f64>,
    /// The matrix that is factorised, one row after the other.
    factor: Vec<f64>,
    /// `J`, one row after the other, where the factor is of `J'J`.
    jacobian: Vec<f64>,
    /// Row permutation of the factor.
    order: Vec<usize>,
}

impl Direct {
    /// Reads every entry of `A`, one column per product.
    pub fn read(&mut self, matrix: &(impl Operator + ?Sized), unit: &mut [f64]) {
        let n = matrix.len();
        self.n = n;
        for array in [&mut self.columns, &mut self.factor, &mut self.jacobian] {
            array.resize(n * n, 0.0);
        }
        self.order.resize(n, 0);
        unit.fill(0.0);
        for j in 0..n {
            unit[j] = 1.0;
            matrix.apply(unit, &mut self.columns[j * n..(j + 1) * n]);
            unit[j] = 0.0;
        }
    }

    /// A column of `A`.
    fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.n..(j + 1) * self.n]
    }

    /// `J = D_p + D_q A`
    pub fn assemble(&mut self, p: &[f64], q: &[f64]) {
        let n = self.n;
        for j in 0..n {
            for i in 0..n {
                self.jacobian[i * n + j] = q[i] * self.columns[j * n + i];
            }
            self.jacobian[j * n + j] += p[j];
        }
    }

    /// `J` from its products with unit vectors; `product` is given a column of `A` and makes one of `J` of it.
    pub fn assemble_columns(
        &mut self,
        out: &mut [f64],
        product: &mut dyn FnMut(usize, &mut [f64]),
    ) {
        let n = self.n;
        for j in 0..n {
            out.copy_from_slice(self.column(j));
            product(j, out);
            for i in 0..n {
                self.jacobian[i * n + j] = out[i];
            }
        }
    }

    /// Solves `J v = r` by elimination with row pivoting; false if `J` is singular.
    pub fn solve(&mut self, r: &[f64], v: &mut [f64]) -> bool {
        let n = self.n;
        let Self {
            factor,
            jacobian,
            order,
            ..
        } = self;
        factor.copy_from_slice(jacobian);
        let tiny = SINGULAR * reduce::largest(factor);
        for (i, order) in order.iter_mut().enumerate() {
            *order = i;
        }
        for k in 0..n {
            let mut pivot = k;
            for i in k + 1..n {
                if factor[i * n + k].abs() > factor[pivot * n + k].abs() {
                    pivot = i;
                }
            }
            let value = factor[pivot * n + k];
            if value.is_nan() || value.abs() <= tiny {
                return false;
            }
            if pivot != k {
                order.swap(pivot, k);
                let (upper, lower) = factor.split_at_mut(pivot * n);
                upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            }
            let (upper, lower) = factor.split_at_mut((k + 1) * n);
            let row = &upper[k * n..];
            for below in lower.chunks_exact_mut(n) {
                let part = below[k] / value;
                below[k] = part;
                if part != 0.0 {
                    for (below, row) in below[k + 1..].iter_mut().zip(&row[k + 1..]) {
                        *below -= part * row;
                    }
                }
            }
        }
        for i in 0..n {
            let row = &factor[i * n..i * n + i];
            let sum: f64 = row.iter().zip(&*v).map(|(a, v)| a * v).sum();
            v[i] = r[order[i]] - sum;
        }
        for i in (0..n).rev() {
            let row = &factor[i * n..(i + 1) * n];
            let sum: f64 = row[i + 1..]
                .iter()
                .zip(&v[i + 1..])
                .map(|(a, v)| a * v)
                .sum();
            v[i] = (v[i] - sum) / row[i];
        }
        reduce::largest(v).is_finite()
    }

    /// `||r - J v||`, or `||r||` if there is no `v`.
    pub fn leaves(&self, solved: bool, r: &[f64], v: &[f64]) -> f64 {
        let n = self.n;
        let mut squares = 0.0;
        for i in 0..n {
            let row = &self.jacobian[i * n..(i + 1) * n];
            let left = r[i] - if solved { reduce::dot(row, v) } else { 0.0 };
            squares += left * left;
        }
        squares.sqrt()
    }

    /// Solves `(J'J + shift D^2) v = g` by Cholesky's factorisation; false if rounding leaves nothing positive.
    pub fn solve_normal(&mut self, shift: f64, d: &[f64], g: &[f64], v: &mut [f64]) -> bool {
        let n = self.n;
        let Self {
            factor, jacobian, ..
        } = self;
        factor.fill(0.0);
        for row in jacobian.chunks_exact(n.max(1)) {
            for i in 0..n {
                if row[i] != 0.0 {
                    let into = &mut factor[i * n..i * n + i + 1];
                    for (into, value) in into.iter_mut().zip(row) {
                        *into += row[i] * value;
                    }
                }
            }
        }
        for i in 0..n {
            factor[i * n + i] += shift * d[i] * d[i];
        }
        for i in 0..n {
            let (above, rest) = factor.split_at_mut(i * n);
            let row = &mut rest[..n];
            for j in 0..i {
                let other = &above[j * n..j * n + j + 1];
                let sum: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
                row[j] = (row[j] - sum) / other[j];
            }
            let sum: f64 = row[..i].iter().map(|a| a * a).sum();
            let pivot = row[i] - sum;
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            row[i] = pivot.sqrt();
        }
        for i in 0..n {
            let row = &factor[i * n..];
            let sum: f64 = row[..i].iter().zip(&*v).map(|(a, v)| a * v).sum();
            v[i] = (g[i] - sum) / row[i];
        }
        for i in (0..n).rev() {
            v[i] /= factor[i * n + i];
            let value = v[i];
            for (v, a) in v[..i].iter_mut().zip(&factor[i * n..]) {
                *v -= a * value;
            }
        }
        reduce::largest(v).is_finite()
    }
}
