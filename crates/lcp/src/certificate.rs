//! Certificates: directions that prove, from the data of a problem alone, that it has no solution.
//!
//! Let `v` be a direction that never leaves the box: `v_i >= 0` on rows with a lower bound alone, `v_i <= 0` on rows with an
//! upper one alone, `v_i = 0` on rows with both. A solution has `y_i >= 0`, `y_i <= 0` and, on rows without bounds, `y_i = 0`
//! there, so that `v'y >= 0`. If the largest `v'(A x + b) = (A'v)'x + b'v` on the box is negative, there is no solution,
//! whatever the matrix.
//!
//! That needs `(A'v)_j = 0` where `x_j` has no bound, which rounding of the entries alone makes false. An entry of `A'v` counts
//! as zero if it is no more than [`ROUNDING`] times the sum of the magnitudes of its terms: the certificate is exact for a
//! matrix whose entries differ from the given ones by this part. Every term of the test is compared with terms of its own
//! row or column, so multiplying rows, columns, `A` or `b` by powers of two changes nothing.
//!
//! ```
//! use meniscus_lcp::certificate::proves_infeasible;
//! use meniscus_lcp::{BoxMlcp, Dense};
//!
//! let (rhs, lower, upper) = ([-1.0, -1.0], [0.0; 2], [f64::INFINITY; 2]);
//! let loose = Dense::new(2, vec![1.0, -1.0, -1.0, 1.0])?;
//! assert!(proves_infeasible(&BoxMlcp::new(&loose, &rhs, &lower, &upper)?, &[1.0, 1.0]));
//! // Held by a spring of 1e-12: x = 1e12 is a solution.
//! let held = Dense::new(2, vec![1.0 + 1e-12, -1.0, -1.0, 1.0 + 1e-12])?;
//! assert!(!proves_infeasible(&BoxMlcp::new(&held, &rhs, &lower, &upper)?, &[1.0, 1.0]));
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use crate::operator::Operator;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::rows::Rows;

/// The part of the terms of an entry of `A'v` that may be rounding of the entries of `A` and `v`.
pub const ROUNDING: f64 = 32.0 * f64::EPSILON;
/// The part of its terms by which `v'y` must be negative.
const SURE: f64 = 1e-10;
/// Rounds in which a direction is corrected.
const ROUNDS: usize = 3;
/// Iterations of conjugate gradients in each.
const ITERATIONS: usize = 100;
/// Entries of `A'v` below this part of their terms are meant to be zero.
const NEARLY: f64 = 1e-6;

/// Whether a direction proves that a problem has no solution.
///
/// The direction must have the signs that the bounds ask for exactly. Sums are taken in twice the working precision.
///
/// # Panics
/// If `v` does not have one entry per row.
pub fn proves_infeasible(problem: &BoxMlcp<'_, impl Rows + ?Sized>, v: &[f64]) -> bool {
    assert_eq!(v.len(), problem.len(), "one entry per row");
    let signs = (0..v.len()).all(|i| v[i].is_finite() && allowed(problem, i, v[i]) == v[i]);
    if !signs || v.iter().all(|v| *v == 0.0) {
        return false;
    }
    let slopes = Slopes::of(problem, v);
    let (mut highest, mut terms) = (Sum::default(), 0.0);
    for (&b, &v) in problem.rhs().iter().zip(v) {
        highest.add_product(b, v);
        terms += (b * v).abs();
    }
    for j in 0..v.len() {
        let slope = slopes.sums[j].value();
        let end = problem.end(j, slope);
        if slope == 0.0 {
            continue;
        }
        if end.is_finite() {
            highest.add_product(slope, end);
            terms += (slope * end).abs();
        } else if slope.abs() > ROUNDING * slopes.terms[j] || slope.is_nan() {
            return false;
        }
    }
    terms.is_finite() && highest.value() < -SURE * terms
}

/// Corrects a direction that an iteration found, so that it proves that a problem has no solution; returns whether it does.
///
/// The direction is given in units in which the entries of `A` are about 1: `v` times `scale` is that of the problem. Columns
/// whose slopes should be zero get the least relative change of `v` that makes them so and keeps `b'v`.
pub(crate) fn refine(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    v: &mut [f64],
    scale: &[f64],
) -> bool {
    let size = reduce::largest(v);
    if !(size > 0.0 && size.is_finite()) {
        return false;
    }
    for (i, v) in v.iter_mut().enumerate() {
        *v = allowed(problem, i, *v / size);
    }
    let given = v.to_vec();
    // First as it is; then without what may be no more than the iteration's own error.
    for least in [0.0, 1e-9, 1e-6] {
        for (i, v) in v.iter_mut().enumerate() {
            *v = if given[i].abs() > least {
                given[i] * scale[i]
            } else {
                0.0
            };
        }
        for _ in 0..ROUNDS {
            if proves_infeasible(problem, v) {
                return true;
            }
            if !correct(problem, v) {
                break;
            }
        }
    }
    false
}

/// The value nearest to `v` that the bounds of a row allow.
fn allowed(problem: &BoxMlcp<'_, impl Operator + ?Sized>, row: usize, v: f64) -> f64 {
    let (lower, upper) = (problem.lower()[row], problem.upper()[row]);
    match (lower.is_finite(), upper.is_finite()) {
        (true, true) => 0.0,
        (true, false) => v.max(0.0),
        (false, true) => v.min(0.0),
        (false, false) => v,
    }
}

/// One correction of `v`; false if there is nothing to correct.
fn correct(problem: &BoxMlcp<'_, impl Rows + ?Sized>, v: &mut [f64]) -> bool {
    let n = v.len();
    let (matrix, rhs) = (problem.matrix(), problem.rhs());
    let slopes = Slopes::of(problem, v);
    // One over the terms of the columns whose slopes should be zero, and zero for all others.
    let weight: Vec<f64> = (0..n)
        .map(|j| {
            let (slope, terms) = (slopes.sums[j].value(), slopes.terms[j]);
            let endless = |slope: f64| problem.end(j, slope).is_infinite();
            let wrong = endless(slope) || (slope.abs() <= NEARLY * terms && endless(-slope));
            if wrong && terms.is_normal() {
                1.0 / terms
            } else {
                0.0
            }
        })
        .collect();
    let mut r: Vec<f64> = (0..n)
        .map(|j| -weight[j] * slopes.sums[j].value())
        .collect();
    if reduce::largest(&r) == 0.0 {
        return false;
    }
    // b'v is to stay as it is: v = 0 has no slopes either.
    let work: f64 = rhs.iter().zip(&*v).map(|(b, v)| (b * v).abs()).sum();
    let share = if work > 0.0 { 1.0 / work } else { 0.0 };
    r.push(0.0);
    // The shortest w with `weight A'(|v| w) = r`, by conjugate gradients on the normal equations.
    let back = |r: &[f64], out: &mut [f64]| {
        for (i, out) in out.iter_mut().enumerate() {
            let mut sum = share * rhs[i] * r[n];
            matrix.visit_row(i, &mut |j, value| sum += value * weight[j] * r[j]);
            *out = v[i].abs() * sum;
        }
    };
    let (mut w, mut s, mut q) = (vec![0.0; n], vec![0.0; n], vec![0.0; n + 1]);
    back(&r, &mut s);
    let mut p = s.clone();
    let mut square = reduce::sum_of_squares(&s);
    for _ in 0..ITERATIONS {
        if square == 0.0 || !square.is_finite() {
            break;
        }
        q.fill(0.0);
        for i in 0..n {
            let change = v[i].abs() * p[i];
            if change != 0.0 {
                matrix.visit_row(i, &mut |j, value| q[j] += value * change * weight[j]);
                q[n] += share * rhs[i] * change;
            }
        }
        let curvature = reduce::sum_of_squares(&q);
        if curvature == 0.0 {
            break;
        }
        let step = square / curvature;
        for (w, p) in w.iter_mut().zip(&p) {
            *w += step * p;
        }
        for (r, q) in r.iter_mut().zip(&q) {
            *r -= step * q;
        }
        if reduce::largest(&r) <= 0.1 * f64::EPSILON {
            break;
        }
        back(&r, &mut s);
        let next = reduce::sum_of_squares(&s);
        for (p, s) in p.iter_mut().zip(&s) {
            *p = s + next / square * *p;
        }
        square = next;
    }
    for (i, v) in v.iter_mut().enumerate() {
        *v = allowed(problem, i, *v + v.abs() * w[i]);
    }
    true
}

/// `A'v`, and the sums of the magnitudes of its terms.
struct Slopes {
    sums: Vec<Sum>,
    terms: Vec<f64>,
}

impl Slopes {
    fn of(problem: &BoxMlcp<'_, impl Rows + ?Sized>, v: &[f64]) -> Self {
        let (mut sums, mut terms) = (vec![Sum::default(); v.len()], vec![0.0; v.len()]);
        for (i, &v) in v.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            problem.matrix().visit_row(i, &mut |j, value| {
                sums[j].add_product(value, v);
                terms[j] += (value * v).abs();
            });
        }
        Self { sums, terms }
    }
}

/// A sum in twice the working precision.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    /// Adds `a b`, with the rounding errors of product and sum.
    fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        let of_product = a.mul_add(b, -product);
        let sum = self.high + product;
        let second = sum - self.high;
        let of_sum = (self.high - (sum - second)) + (product - second);
        self.high = sum;
        self.low += of_product + of_sum;
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

impl<A: Operator + ?Sized> BoxMlcp<'_, A> {
    /// The bound towards which a slope pulls an unknown.
    fn end(&self, row: usize, slope: f64) -> f64 {
        if slope > 0.0 {
            self.upper()[row]
        } else {
            self.lower()[row]
        }
    }
}
