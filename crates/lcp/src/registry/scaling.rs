//! Scales of rows and columns, so that a tolerance means the same in any units.
//!
//! With diagonal `R` and `C` and numbers `k > 0`, `x = k C x~` and `y~ = R y / k` turn a problem into one with the matrix
//! `R A C`, the right-hand side `R b / k` and the bounds `l / (k C)`, with the same solutions. `R` and `C` are those for
//! which the logarithms of the entries of `R A C` have the least sum of squares (Curtis and Reid 1972): multiplying a row or
//! a column of `A` changes `R` and `C` accordingly, and nothing else. `k`, one for each set of rows that couplings connect,
//! is the largest `y` at the point of the box that is nearest to zero. Where the same scales for rows and columns leave all of them
//! with a largest entry of about 1, these are taken.
//!
//! Scales are powers of two, so that they round nothing; except for those that make a matrix symmetric which was so before
//! its rows or columns were multiplied.

use crate::analysis::SYMMETRIC;
use crate::csr::Csr;
use crate::error::InputError;
use crate::problem::{BoxMlcp, ROUNDING, natural};
use crate::reduce;

/// Iterations of conjugate gradients for the logarithms at most.
const MOST_ITERATIONS: usize = 200;
/// Error of the logarithms, to the base 2, at which they are good enough.
const ENOUGH: f64 = 0.01;
/// Largest exponent of a scale.
const LARGEST: f64 = 500.0;
/// Largest entry of a row or column, and one over it, that need no other scales.
const EVEN: f64 = 128.0;

/// Which scales a solver can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scaling {
    /// Scales of rows and of columns, the same ones if the matrix is symmetric.
    RowsAndColumns,
    /// The same scales for rows and columns, which keep a matrix semidefinite; others only where they make it symmetric.
    Symmetric,
    /// One for all rows and columns, which keeps the structure of a grid.
    Uniform,
}

/// Accuracy of a point as a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Accuracy {
    /// `||r||_inf` of the natural residual, in the units of the problem.
    pub residual: f64,
    /// The natural residual with rows and columns scaled, relative to the size of the problem: what a tolerance bounds.
    ///
    /// Where the terms of the rows, `|A||x| + |b|`, are larger than `|b|`, it is relative to these, as long as it is below
    /// 1e-4 of `|b|`: a point that has run away along a null space is no solution.
    pub relative: f64,
    /// Whether the residual is no more than rounding errors of the terms of the rows.
    pub rounding: bool,
}

/// A problem with its rows and columns scaled.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    matrix: Csr,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// `k C`
    of_x: Vec<f64>,
    /// `R`
    of_rows: Vec<f64>,
    /// Rows that couplings connect have the same number.
    set: Vec<usize>,
}

impl Scaled {
    /// Scales a problem; `None` if the numbers do not allow it.
    pub fn new(problem: &BoxMlcp<'_, Csr>, scaling: Scaling) -> Option<Self> {
        let matrix = problem.matrix();
        match scaling {
            Scaling::Uniform => {
                let log = -0.5 * logarithm(largest_entry(matrix));
                let scale = vec![power_of_two(log); matrix.rows()];
                Self::with(problem, &scale, &scale, vec![0; matrix.rows()])
            }
            Scaling::Symmetric | Scaling::RowsAndColumns => {
                let sets = sets(matrix);
                let scale = power_of_twos(&logarithms(matrix, false).0);
                let alike = Self::with(problem, &scale, &scale, sets.clone())?;
                // Where rows and columns are even already, others would only tell upwind from downwind: the terms of a flow
                // are smallest with scales that grow along it beyond all measure, and hardly any row would count.
                if alike.is_symmetric() || is_even(&alike.matrix) {
                    return Some(alike);
                }
                if let Some(rows) = symmetrising(matrix)
                    && let Some((rows, columns)) = symmetric_scales(problem, &rows)
                {
                    return Self::with(problem, &rows, &columns, sets);
                }
                if scaling == Scaling::Symmetric {
                    return Some(alike);
                }
                let (rows, columns) = logarithms(matrix, true);
                let [rows, columns] = [rows, columns].map(|logs| power_of_twos(&logs));
                Self::with(problem, &rows, &columns, sets)
            }
        }
    }

    fn with(
        problem: &BoxMlcp<'_, Csr>,
        rows: &[f64],
        columns: &[f64],
        set: Vec<usize>,
    ) -> Option<Self> {
        let n = problem.len();
        let (row_starts, places, mut values) = problem.matrix().clone().into_parts();
        for row in 0..n {
            for at in row_starts[row]..row_starts[row + 1] {
                values[at] *= rows[row] * columns[places[at] as usize];
            }
        }
        let matrix = Csr::new(n, row_starts, places, values).ok()?;
        let over =
            |bounds: &[f64]| -> Vec<f64> { (0..n).map(|i| bounds[i] / columns[i]).collect() };
        let (lower, upper) = (over(problem.lower()), over(problem.upper()));
        let rhs: Vec<f64> = (0..n).map(|i| rows[i] * problem.rhs()[i]).collect();
        // The size of y at the point of the box that is nearest to zero, in each set.
        let near: Vec<f64> = (0..n)
            .map(|i| 0.0_f64.max(lower[i]).min(upper[i]))
            .collect();
        let mut size = vec![0.0_f64; n];
        for i in 0..n {
            let (places, values) = matrix.row(i);
            let terms = places
                .iter()
                .zip(values)
                .map(|(&j, value)| value * near[j as usize]);
            let y = (terms.sum::<f64>() + rhs[i]).abs();
            size[set[i]] = size[set[i]].max(y);
        }
        let k = |i: usize| {
            let size = size[set[i]];
            if size > 0.0 {
                power_of_two(logarithm(size))
            } else {
                1.0
            }
        };
        let divided = |values: Vec<f64>| -> Vec<f64> {
            values
                .into_iter()
                .enumerate()
                .map(|(i, value)| value / k(i))
                .collect()
        };
        let scaled = Self {
            rhs: divided(rhs),
            lower: divided(lower),
            upper: divided(upper),
            of_x: (0..n).map(|i| k(i) * columns[i]).collect(),
            of_rows: rows.to_vec(),
            matrix,
            set,
        };
        let sound = |i: usize| {
            let (lower, upper) = (scaled.lower[i], scaled.upper[i]);
            scaled.of_x[i].is_normal()
                && lower < f64::INFINITY
                && upper > f64::NEG_INFINITY
                && lower <= upper
        };
        ((0..n).all(sound) && reduce::largest(&scaled.rhs).is_finite()).then_some(scaled)
    }

    pub fn is_symmetric(&self) -> bool {
        self.matrix.is_symmetric(SYMMETRIC)
    }

    pub fn matrix(&self) -> &Csr {
        &self.matrix
    }

    pub fn problem(&self) -> Result<BoxMlcp<'_, Csr>, InputError> {
        BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &self.upper)
    }

    /// `x~` of `x`
    pub fn enter(&self, x: &[f64]) -> Vec<f64> {
        x.iter()
            .zip(&self.of_x)
            .map(|(x, scale)| x / scale)
            .collect()
    }

    /// `x` of `x~`, at the bounds of the problem where it is at those of the scaled one.
    pub fn leave(&self, problem: &BoxMlcp<'_, Csr>, scaled: &[f64], x: &mut [f64]) {
        for (i, &own) in scaled.iter().enumerate() {
            let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
            x[i] = if own == self.lower[i] && lower.is_finite() {
                lower
            } else if own == self.upper[i] && upper.is_finite() {
                upper
            } else {
                let value = own * self.of_x[i];
                // Solutions outside the box are for the residual to judge; rounding is not.
                if own > self.lower[i] && own < self.upper[i] {
                    value.clamp(lower, upper)
                } else {
                    value
                }
            };
        }
    }

    /// `R`
    pub fn rows(&self) -> &[f64] {
        &self.of_rows
    }

    /// The residual of `x~`, relative to the size of the problem, and whether it is rounding.
    pub fn relative(&self, x: &[f64], tolerance: f64) -> (f64, bool) {
        let n = x.len();
        let (mut residual, mut terms, mut size) =
            (vec![0.0_f64; n], vec![0.0_f64; n], vec![0.0_f64; n]);
        for i in 0..n {
            let (places, values) = self.matrix.row(i);
            let (mut y, mut most) = (self.rhs[i], self.rhs[i].abs());
            for (&j, value) in places.iter().zip(values) {
                let term = value * x[j as usize];
                y += term;
                most += term.abs();
            }
            let r = natural(x[i], y, self.lower[i], self.upper[i]).abs();
            let set = self.set[i];
            residual[set] = reduce::larger(residual[set], r);
            terms[set] = reduce::larger(terms[set], most);
            size[set] = size[set].max(self.rhs[i].abs());
        }
        let (mut relative, mut rounding) = (0.0_f64, true);
        for set in 0..n {
            // The size of the problem is 1 by its scales, unless nothing in it has a size.
            let own = residual[set];
            let by_terms = own / terms[set].max(1.0);
            let near = own <= tolerance.sqrt();
            relative = reduce::larger(relative, if near { by_terms } else { own });
            rounding &= own <= ROUNDING * terms[set] || own == 0.0;
        }
        (relative, rounding && relative.is_finite())
    }
}

/// The accuracy of a point as a solution of a problem: what [`solve()`](super::solve()) judges by.
///
/// ```
/// use meniscus_lcp::registry::accuracy;
/// use meniscus_lcp::{BoxMlcp, Csr};
///
/// // Units of 1e-12: a residual of 1e-12 is an error of 100 %.
/// let matrix = Csr::new(1, vec![0, 1], vec![0], vec![2e-12])?;
/// let problem = BoxMlcp::new(&matrix, &[-1e-12], &[0.0], &[f64::INFINITY])?;
/// assert_eq!(accuracy(&problem, &[0.0]).residual, 1e-12);
/// assert!(accuracy(&problem, &[0.0]).relative > 0.1);
/// assert!(accuracy(&problem, &[0.5]).rounding);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
pub fn accuracy(problem: &BoxMlcp<'_, Csr>, x: &[f64]) -> Accuracy {
    let residual = problem.residual_inf(x);
    let (relative, rounding) = match Scaled::new(problem, Scaling::RowsAndColumns) {
        Some(scaled) => scaled.relative(&scaled.enter(x), super::Options::default().tolerance),
        None => (residual, false),
    };
    Accuracy {
        residual,
        relative,
        rounding,
    }
}

fn largest_entry(matrix: &Csr) -> f64 {
    let rows = (0..matrix.rows()).map(|row| reduce::largest(matrix.row(row).1));
    rows.fold(0.0, f64::max)
}

/// To the base 2; zero for zero.
fn logarithm(value: f64) -> f64 {
    if value != 0.0 {
        value.abs().log2()
    } else {
        0.0
    }
}

fn power_of_two(log: f64) -> f64 {
    log.clamp(-LARGEST, LARGEST).round().exp2()
}

fn power_of_twos(logs: &[f64]) -> Vec<f64> {
    logs.iter().map(|&log| power_of_two(log)).collect()
}

/// For each row the first one of those that couplings connect it to.
fn sets(matrix: &Csr) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..matrix.rows()).collect();
    fn root(parent: &mut [usize], mut row: usize) -> usize {
        while parent[row] != row {
            parent[row] = parent[parent[row]];
            row = parent[row];
        }
        row
    }
    for row in 0..matrix.rows() {
        let (places, values) = matrix.row(row);
        for (&column, value) in places.iter().zip(values) {
            if *value != 0.0 {
                let (a, b) = (root(&mut parent, row), root(&mut parent, column as usize));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    (0..matrix.rows())
        .map(|row| root(&mut parent, row))
        .collect()
}

/// Numbers that make a matrix symmetric if its rows are multiplied by them; `None` if there are none.
fn symmetrising(matrix: &Csr) -> Option<Vec<f64>> {
    let n = matrix.rows();
    let mut rows = vec![0.0; n];
    let mut next = Vec::new();
    for first in 0..n {
        if rows[first] == 0.0 {
            rows[first] = 1.0;
            next.push(first);
        }
        while let Some(i) = next.pop() {
            let (places, values) = matrix.row(i);
            for (&j, value) in places.iter().zip(values) {
                let j = j as usize;
                let mirrored = matrix.get(j, i);
                if *value == 0.0 && mirrored == 0.0 {
                    continue;
                }
                let wanted = rows[i] * value / mirrored;
                if !(wanted > 0.0 && wanted.is_normal()) {
                    return None;
                }
                if rows[j] == 0.0 {
                    rows[j] = wanted;
                    next.push(j);
                } else if (rows[j] - wanted).abs() > SYMMETRIC * wanted {
                    return None;
                }
            }
        }
    }
    Some(rows)
}

/// Scales of rows and of columns: rows multiplied so that the matrix is symmetric, and then rows and columns scaled alike.
fn symmetric_scales(problem: &BoxMlcp<'_, Csr>, rows: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let n = problem.len();
    let (row_starts, places, mut values) = problem.matrix().clone().into_parts();
    for row in 0..n {
        for value in &mut values[row_starts[row]..row_starts[row + 1]] {
            *value *= rows[row];
        }
    }
    let matrix = Csr::new(n, row_starts, places, values).ok()?;
    let columns = power_of_twos(&logarithms(&matrix, false).0);
    let rows = rows.iter().zip(&columns).map(|(row, scale)| row * scale);
    Some((rows.collect(), columns))
}

/// Whether the largest entries of all rows and columns are about 1.
fn is_even(matrix: &Csr) -> bool {
    let mut largest = vec![[0.0_f64; 2]; matrix.rows()];
    for row in 0..matrix.rows() {
        let (columns, values) = matrix.row(row);
        for (&column, value) in columns.iter().zip(values) {
            let of_row = &mut largest[row][0];
            *of_row = of_row.max(value.abs());
            let of_column = &mut largest[column as usize][1];
            *of_column = of_column.max(value.abs());
        }
    }
    let mut each = largest.iter().flatten().filter(|value| **value > 0.0);
    each.all(|&value| (1.0 / EVEN..=EVEN).contains(&value))
}

/// Logarithms `r` and `c` with the least sum of squares of `log |A_ij| + r_i + c_j`; equal ones unless `apart`.
///
/// Conjugate gradients on the normal equations, preconditioned by the numbers of entries.
fn logarithms(matrix: &Csr, apart: bool) -> (Vec<f64>, Vec<f64>) {
    let n = matrix.rows();
    let shift = if apart { n } else { 0 };
    let each = |see: &mut dyn FnMut(usize, usize, f64)| {
        for row in 0..n {
            let (places, values) = matrix.row(row);
            for (&column, &value) in places.iter().zip(values) {
                if value != 0.0 {
                    see(row, shift + column as usize, value);
                }
            }
        }
    };
    let unknowns = n + shift;
    let mut diagonal = vec![0.0; unknowns];
    // From the diagonal: right at once where the matrix is one that was scaled alike on both sides.
    let mut z: Vec<f64> = (0..unknowns)
        .map(|i| -0.5 * logarithm(matrix.get(i % n, i % n)))
        .collect();
    let mut r = vec![0.0; unknowns];
    each(&mut |i, j, value| {
        let left = logarithm(value) + z[i] + z[j];
        r[i] -= left;
        r[j] -= left;
        diagonal[i] += 1.0;
        diagonal[j] += 1.0;
    });
    if !apart {
        // An entry of the diagonal counts with the same unknown twice.
        each(&mut |i, j, _| {
            if i == j {
                diagonal[i] += 2.0;
            }
        });
    }
    let inverse: Vec<f64> = diagonal
        .iter()
        .map(|d| if *d > 0.0 { 1.0 / d } else { 0.0 })
        .collect();
    let conditioned =
        |r: &[f64]| -> Vec<f64> { r.iter().zip(&inverse).map(|(r, d)| r * d).collect() };
    let mut p = conditioned(&r);
    let mut square = reduce::dot(&r, &p);
    for _ in 0..MOST_ITERATIONS {
        if reduce::largest(&conditioned(&r)) <= ENOUGH {
            break;
        }
        let mut q = vec![0.0; unknowns];
        each(&mut |i, j, _| {
            let sum = p[i] + p[j];
            q[i] += sum;
            q[j] += sum;
        });
        let curvature = reduce::dot(&p, &q);
        if curvature <= 0.0 {
            break;
        }
        let step = square / curvature;
        for i in 0..unknowns {
            z[i] += step * p[i];
            r[i] -= step * q[i];
        }
        let s = conditioned(&r);
        let next = reduce::dot(&r, &s);
        for (p, s) in p.iter_mut().zip(&s) {
            *p = s + next / square * *p;
        }
        square = next;
    }
    let columns = if apart { z.split_off(n) } else { z.clone() };
    (z, columns)
}
