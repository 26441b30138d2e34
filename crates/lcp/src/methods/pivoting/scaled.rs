//! Dense equilibrated copy of the problem, with entries near 1.

use super::state;
use crate::certificate;
use crate::error::InputError;
use crate::minimum_map::MeritState;
use crate::operator::Operator;
use crate::problem::{BoxMlcp, natural};
use crate::reduce;
use crate::rows::Rows;
use crate::split::LEAF;

/// `A' = D A D`, `x = s D x'`, `y = s inv(D) y'`, with powers of two in `D` and `s`, so that nothing is rounded.
///
/// The same factors on both sides keep a matrix symmetric, or positive semidefinite, if it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scaled {
    n: usize,
    /// `A'`, row after row.
    matrix: Vec<f64>,
    /// `b'`
    pub rhs: Vec<f64>,
    /// `l'`
    pub lower: Vec<f64>,
    /// `u'`
    pub upper: Vec<f64>,
    /// `D`
    factors: Vec<f64>,
    /// `s`
    size: f64,
    peaks: Vec<f64>,
}

/// Rounds of scaling by the square root of the largest entries.
const ROUNDS: usize = 4;

/// The nearest power of two, within a range in which products of two do not overflow.
fn power_of_two(value: f64) -> f64 {
    if value > 0.0 && value.is_finite() {
        value.log2().round().clamp(-500.0, 500.0).exp2()
    } else {
        1.0
    }
}

impl Scaled {
    /// Copies a problem; returns whether every number of the copy is finite.
    pub fn load(&mut self, problem: &BoxMlcp<'_, impl Rows + ?Sized>) -> Result<bool, InputError> {
        let n = problem.len();
        self.n = n;
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for vector in [
            &mut self.rhs,
            &mut self.lower,
            &mut self.upper,
            &mut self.factors,
            &mut self.peaks,
        ] {
            vector.resize(n, 0.0);
        }
        for (row, out) in self.matrix.chunks_exact_mut(n.max(1)).enumerate() {
            problem
                .matrix()
                .visit_row(row, &mut |column, value| out[column] += value);
            if out.iter().any(|value| !value.is_finite()) {
                return Err(InputError::NotFinite {
                    what: "matrix row",
                    index: row,
                });
            }
        }
        self.equilibrate();
        let scaled = |(b, d): (&f64, &f64)| b * d;
        let largest = problem
            .rhs()
            .iter()
            .zip(&self.factors)
            .map(scaled)
            .fold(0.0, |largest: f64, value| largest.max(value.abs()));
        self.size = power_of_two(largest);
        for i in 0..n {
            let d = self.factors[i];
            self.rhs[i] = problem.rhs()[i] / self.size * d;
            self.lower[i] = problem.lower()[i] / self.size / d;
            self.upper[i] = problem.upper()[i] / self.size / d;
            // A finite bound must not become an infinite one.
            let lost = |old: f64, new: f64| old.is_finite() && !new.is_finite();
            if lost(problem.lower()[i], self.lower[i]) || lost(problem.upper()[i], self.upper[i]) {
                return Ok(false);
            }
        }
        Ok(reduce::largest(&self.matrix).is_finite() && reduce::largest(&self.rhs).is_finite())
    }

    /// Scales `A` until its rows and columns have a largest entry near 1.
    fn equilibrate(&mut self) {
        let n = self.n;
        self.factors.fill(1.0);
        for _ in 0..ROUNDS {
            self.peaks.fill(0.0);
            for (i, row) in self.matrix.chunks_exact(n.max(1)).enumerate() {
                for (j, value) in row.iter().enumerate() {
                    self.peaks[i] = self.peaks[i].max(value.abs());
                    self.peaks[j] = self.peaks[j].max(value.abs());
                }
            }
            let mut changed = false;
            for (factor, peak) in self.factors.iter_mut().zip(&mut self.peaks) {
                let change = power_of_two(1.0 / peak.sqrt());
                let new = (*factor * change).clamp((-500_f64).exp2(), 500_f64.exp2());
                // From here on the peaks hold what the rows are multiplied with.
                *peak = new / *factor;
                changed |= *peak != 1.0;
                *factor = new;
            }
            if !changed {
                break;
            }
            for (i, row) in self.matrix.chunks_exact_mut(n).enumerate() {
                for (value, of_column) in row.iter_mut().zip(&self.peaks) {
                    *value = *value * self.peaks[i] * of_column;
                }
            }
        }
    }

    pub fn len(&self) -> usize {
        self.n
    }

    /// A row of `A'`.
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.matrix[row * self.n..(row + 1) * self.n]
    }

    /// Whether no number lies strictly between the bounds of a row.
    pub fn is_fixed(&self, row: usize) -> bool {
        self.lower[row] == self.upper[row]
    }

    /// Whether a row has no finite bound.
    pub fn is_free(&self, row: usize) -> bool {
        self.lower[row] == f64::NEG_INFINITY && self.upper[row] == f64::INFINITY
    }

    /// `x'` of a given `x`.
    pub fn enter(&self, x: &[f64], out: &mut [f64]) {
        for i in 0..self.n {
            out[i] = (x[i] / self.size / self.factors[i]).clamp(self.lower[i], self.upper[i]);
        }
    }

    /// `x` of a given `x'`.
    pub fn back(&self, x: &[f64], out: &mut [f64]) {
        for i in 0..self.n {
            out[i] = x[i] * self.factors[i] * self.size;
        }
    }

    /// `out = A' x` on the rows that are not left out; there `out = x`.
    pub fn apply_unless(&self, left_out: &[bool], x: &[f64], out: &mut [f64]) {
        self.rows_of(0, (x, Some(left_out)), out);
    }

    /// `out = A' x + b'`
    pub fn affine(&self, x: &[f64], out: &mut [f64]) {
        self.rows_of(0, (x, None), out);
        for (out, b) in out.iter_mut().zip(&self.rhs) {
            *out += b;
        }
    }

    /// No row reads another, so that any split among threads gives the same bits.
    fn rows_of(&self, first: usize, from: (&[f64], Option<&[bool]>), out: &mut [f64]) {
        if out.len() * self.n > 8 * LEAF && out.len() > 1 {
            let (low, high) = out.split_at_mut(out.len() / 2);
            let middle = first + low.len();
            rayon::join(
                || self.rows_of(first, from, low),
                || self.rows_of(middle, from, high),
            );
        } else {
            let (x, left_out) = from;
            for (row, out) in (first..).zip(out) {
                *out = if left_out.is_some_and(|left_out| left_out[row]) {
                    x[row]
                } else {
                    reduce::dot(self.row(row), x)
                };
            }
        }
    }

    /// Merit and residual of a point in the units of the problem, given its `y'`.
    pub fn state(
        &self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        x: &[f64],
        y: &[f64],
    ) -> MeritState {
        state((0..self.n).map(|i| self.natural_of(problem, i, x[i], y[i])))
    }

    /// The natural residual of one row in the units of the problem.
    pub fn natural_of(
        &self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        i: usize,
        x: f64,
        y: f64,
    ) -> f64 {
        let (d, s) = (self.factors[i], self.size);
        natural(x * d * s, y * s / d, problem.lower()[i], problem.upper()[i])
    }

    /// The largest natural residual in these units.
    pub fn residual(&self, x: &[f64], y: &[f64]) -> f64 {
        (0..self.n).fold(0.0, |largest, i| {
            let r = natural(x[i], y[i], self.lower[i], self.upper[i]);
            reduce::larger(largest, r.abs())
        })
    }

    /// Whether a direction, in these units, proves that the problem has no solution; its memory is used up.
    pub fn is_infeasible(&self, problem: &BoxMlcp<'_, impl Rows + ?Sized>, v: &mut [f64]) -> bool {
        // v'y = (D v / s)'y in the units of the problem.
        certificate::refine(problem, v, &self.factors)
    }
}
