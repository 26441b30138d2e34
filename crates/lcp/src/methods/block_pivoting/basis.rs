//! The basis: places of all rows, and the point that belongs to them.

use crate::analysis::SYMMETRIC;
use crate::factor::Cholesky;
use crate::minimum_map::MeritState;
use crate::operator::Operator;
use crate::problem::{BoxMlcp, ROUNDING, natural};
use crate::reduce;
use crate::report::Status;
use crate::rows::Rows;

/// Place of `x` of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Lower,
    Upper,
    Between,
}

/// A pivot that is no larger than this, times the number of rows, is rounding: the diagonal is about 1.
const LEAST_PIVOT: f64 = 16.0 * f64::EPSILON;
/// Bound on the entries of a positive definite matrix whose diagonal is between 1/2 and 2.
const LARGEST_ENTRY: f64 = 2.0;
/// Terms of rows, relative to the size of the problem, beside which rounding errors are small in all units that scales may give
/// the rows.
const MOST_TERMS: f64 = 1e4;
/// Partial sums of a row.
const LANES: usize = 8;
/// Rows and columns of a tile of a matrix that is compared with its transpose.
const TILE: usize = 16;

/// A basis and its point, in units of `D A D`: `x = D x'`, `y = inv(D) y'`.
#[derive(Clone, Debug, Default)]
pub(super) struct Basis {
    n: usize,
    /// `D A D`, row after row.
    matrix: Vec<f64>,
    /// `D`
    scale: Vec<f64>,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    place: Vec<Place>,
    /// Rows between their bounds.
    between: Vec<usize>,
    /// Rows on the wrong side, and where they belong.
    misplaced: Vec<(usize, Place)>,
    cholesky: Cholesky,
    change: Vec<f64>,
    trial: Vec<f64>,
    trial_y: Vec<f64>,
    is_solved: bool,
}

impl Basis {
    /// Copies a problem, and takes the places of a start in the box. A status is that of a matrix that the method is not for.
    pub fn load(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        start: &[f64],
    ) -> Option<Status> {
        let n = problem.len();
        self.n = n;
        for vector in [
            &mut self.scale,
            &mut self.rhs,
            &mut self.lower,
            &mut self.upper,
            &mut self.x,
            &mut self.y,
            &mut self.trial,
            &mut self.trial_y,
        ] {
            vector.resize(n, 0.0);
        }
        self.between.clear();
        self.between.reserve(n);
        self.misplaced.clear();
        self.misplaced.reserve(n);
        self.change.clear();
        self.change.reserve(n);
        problem.matrix().diagonal(&mut self.scale);
        if !self.scale.iter().all(|&value| value > 0.0) {
            return Some(Status::NonDescent);
        }
        for scale in &mut self.scale {
            *scale = (-0.5 * scale.log2()).round().clamp(-500.0, 500.0).exp2();
        }
        self.matrix.resize(n * n, 0.0);
        for (row, out) in self.matrix.chunks_exact_mut(n.max(1)).enumerate() {
            problem.matrix().copy_row(row, out);
            let of_row = self.scale[row];
            for (value, of_column) in out.iter_mut().zip(&self.scale) {
                *value *= of_row * of_column;
            }
        }
        if !self.is_symmetric() {
            return Some(Status::NonDescent);
        }
        self.place.clear();
        for i in 0..n {
            let (l, u, scale) = (problem.lower()[i], problem.upper()[i], self.scale[i]);
            self.rhs[i] = problem.rhs()[i] * scale;
            (self.lower[i], self.upper[i]) = (l / scale, u / scale);
            self.x[i] = start[i] / scale;
            self.place.push(if start[i] == l {
                Place::Lower
            } else if start[i] == u {
                Place::Upper
            } else {
                self.between.push(i);
                Place::Between
            });
        }
        // With every row at a bound there is nothing to solve.
        self.is_solved = self.between.is_empty();
        affine(&self.matrix, &self.rhs, &self.x, &mut self.y);
        None
    }

    /// Whether the matrix is symmetric up to rounding, relative to its diagonal. False if an entry is not finite.
    fn is_symmetric(&self) -> bool {
        let n = self.n;
        let same = |i: usize, left: usize| {
            let row = &self.matrix[i * n + left..i * n + i.min(left + TILE)];
            let column = self.matrix[left * n + i..].iter().step_by(n);
            row.iter()
                .zip(column)
                .all(|(a, b)| (a - b).abs() <= SYMMETRIC)
        };
        (0..n).step_by(TILE).all(|top| {
            let rows = top..n.min(top + TILE);
            (0..=top)
                .step_by(TILE)
                .all(|left| rows.clone().all(|i| same(i, left)))
        }) && (0..n).all(|i| self.matrix[i * n + i].is_finite())
    }

    /// Whether the point is that of the basis.
    pub fn is_solved(&self) -> bool {
        self.is_solved
    }

    /// Lists the rows on the wrong side, and returns their number.
    pub fn find_misplaced(&mut self) -> usize {
        let size = LARGEST_ENTRY * self.x.iter().map(|x| x.abs()).sum::<f64>();
        self.misplaced.clear();
        for i in 0..self.n {
            let (x, y) = (self.x[i], self.y[i]);
            let belongs = match self.place[i] {
                _ if self.lower[i] == self.upper[i] => continue,
                Place::Between if x < self.lower[i] => Place::Lower,
                Place::Between if x > self.upper[i] => Place::Upper,
                Place::Lower if y < 0.0 => Place::Between,
                Place::Upper if y > 0.0 => Place::Between,
                _ => continue,
            };
            // What may be rounding at most is compared with the terms themselves.
            let is_rounding = belongs == Place::Between
                && y.abs() <= ROUNDING * (size + self.rhs[i].abs())
                && y.abs() <= ROUNDING * self.terms(i);
            if !is_rounding {
                self.misplaced.push((i, belongs));
            }
        }
        self.misplaced.len()
    }

    /// Moves the rows on the wrong side to the other one, all of them or the last one.
    pub fn move_misplaced(&mut self, all: bool) {
        let from = if all { 0 } else { self.misplaced.len() - 1 };
        for &(i, place) in &self.misplaced[from..] {
            self.place[i] = place;
        }
    }

    /// Computes the point of the basis; false if the matrix is not positive definite on its rows.
    pub fn solve(&mut self) -> bool {
        let n = self.n;
        self.between.clear();
        let mut is_zero = true;
        for i in 0..n {
            self.x[i] = match self.place[i] {
                Place::Lower => self.lower[i],
                Place::Upper => self.upper[i],
                Place::Between => {
                    self.between.push(i);
                    0.0
                }
            };
            is_zero &= self.x[i] == 0.0;
        }
        let (between, matrix) = (&self.between, &self.matrix);
        let least = LEAST_PIVOT * between.len() as f64;
        let row = |a: usize, out: &mut [f64]| {
            let row = &matrix[between[a] * n..(between[a] + 1) * n];
            for (out, &j) in out.iter_mut().zip(between) {
                *out = row[j];
            }
        };
        if !self.cholesky.factorise(between.len(), least, row) {
            return false;
        }
        self.change.clear();
        if is_zero {
            self.change.extend(between.iter().map(|&i| -self.rhs[i]));
        } else {
            let x = &self.x;
            let y = |&i: &usize| reduce::dot(&matrix[i * n..(i + 1) * n], x) + self.rhs[i];
            self.change.extend(between.iter().map(|i| -y(i)));
        }
        self.cholesky.solve(&mut self.change);
        for (&i, &change) in between.iter().zip(&self.change) {
            self.x[i] = change;
        }
        affine(matrix, &self.rhs, &self.x, &mut self.y);
        self.is_solved = true;
        true
    }

    /// Corrects the point by the residual of its rows between; false if that is no improvement.
    pub fn refine(&mut self) -> bool {
        let worst = |y: &[f64], rows: &[usize]| {
            rows.iter()
                .fold(0.0, |worst, &i| reduce::larger(worst, y[i].abs()))
        };
        let before = worst(&self.y, &self.between);
        if before == 0.0 {
            return false;
        }
        self.change.clear();
        self.change.extend(self.between.iter().map(|&i| -self.y[i]));
        self.cholesky.solve(&mut self.change);
        self.trial.copy_from_slice(&self.x);
        for (&i, &change) in self.between.iter().zip(&self.change) {
            self.trial[i] = (self.x[i] + change).max(self.lower[i]).min(self.upper[i]);
        }
        affine(&self.matrix, &self.rhs, &self.trial, &mut self.trial_y);
        let improves = worst(&self.trial_y, &self.between) < before;
        if improves {
            std::mem::swap(&mut self.x, &mut self.trial);
            std::mem::swap(&mut self.y, &mut self.trial_y);
        }
        improves
    }

    /// The point in the units of the problem; exactly at a bound where the basis says so.
    pub fn back(&self, problem: &BoxMlcp<'_, impl Operator + ?Sized>, out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = match self.place[i] {
                Place::Lower => problem.lower()[i],
                Place::Upper => problem.upper()[i],
                Place::Between => self.x[i] * self.scale[i],
            };
        }
    }

    /// Merit and residual of the point in the units of the problem.
    pub fn state(&self, problem: &BoxMlcp<'_, impl Operator + ?Sized>) -> MeritState {
        let mut state = MeritState::default();
        for i in 0..self.n {
            let (x, y) = (self.x[i] * self.scale[i], self.y[i] / self.scale[i]);
            let r = natural(x, y, problem.lower()[i], problem.upper()[i]);
            state.squares += r * r;
            state.residual = reduce::larger(state.residual, r.abs());
        }
        state
    }

    /// Sum of the magnitudes of the terms of a row.
    fn terms(&self, i: usize) -> f64 {
        let row = &self.matrix[i * self.n..(i + 1) * self.n];
        let (rows, row_rest) = row.as_chunks::<LANES>();
        let (xs, x_rest) = self.x.as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for (a, x) in rows.iter().zip(xs) {
            for lane in 0..LANES {
                lanes[lane] += (a[lane] * x[lane]).abs();
            }
        }
        let rest = row_rest.iter().zip(x_rest).map(|(a, x)| (a * x).abs());
        lanes.iter().sum::<f64>() + rest.sum::<f64>() + self.rhs[i].abs()
    }

    /// Whether the residual is rounding in every row, and rounding is small beside the size of the problem.
    ///
    /// Rows at a bound were compared with their terms before. The size is the largest `y` at the point of the box that is
    /// nearest to zero; it has a meaning for rows that couplings connect.
    pub fn is_exact(&mut self) -> bool {
        for (near, (l, u)) in self
            .trial
            .iter_mut()
            .zip(self.lower.iter().zip(&self.upper))
        {
            *near = 0.0_f64.max(*l).min(*u);
        }
        affine(&self.matrix, &self.rhs, &self.trial, &mut self.trial_y);
        let most = MOST_TERMS * reduce::largest(&self.trial_y);
        let is_sound = |i: usize| {
            let terms = self.terms(i);
            let is_rounding =
                self.place[i] != Place::Between || self.y[i].abs() <= ROUNDING * terms;
            is_rounding && terms <= most
        };
        (0..self.n).all(is_sound) && self.is_connected()
    }

    /// Whether couplings connect all rows.
    fn is_connected(&mut self) -> bool {
        let n = self.n;
        let (seen, next) = (&mut self.trial, &mut self.between);
        seen.fill(0.0);
        next.clear();
        next.extend((0..n).take(1));
        let mut left = n.saturating_sub(1);
        while let Some(i) = next.pop() {
            for (j, value) in self.matrix[i * n..(i + 1) * n].iter().enumerate() {
                if *value != 0.0 && j != 0 && seen[j] == 0.0 {
                    seen[j] = 1.0;
                    left -= 1;
                    next.push(j);
                }
            }
            if left == 0 {
                break;
            }
        }
        left == 0
    }
}

/// `y = A x + b`
fn affine(matrix: &[f64], rhs: &[f64], x: &[f64], y: &mut [f64]) {
    let rows = matrix.chunks_exact(x.len().max(1));
    for ((y, row), b) in y.iter_mut().zip(rows).zip(rhs) {
        *y = reduce::dot(row, x) + b;
    }
}
