//! A sparse matrix with every entry of its diagonal stored.

use std::ops::Range;

use crate::csr::Csr;
use crate::error::InputError;
use crate::reduce;
use crate::rows::Rows;
use crate::split::for_each;

/// Mirrored entries that differ by no more than this part of the largest one are equal.
const SYMMETRIC: f64 = 1e-14;

/// A sparse matrix with every entry of its diagonal stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sparse {
    starts: Vec<usize>,
    columns: Vec<u32>,
    pub values: Vec<f64>,
}

impl Sparse {
    /// Copies a matrix; returns whether its pattern is that of the last one.
    pub fn gather(&mut self, matrix: &(impl Rows + ?Sized)) -> bool {
        let n = matrix.len();
        let old_entries = self.columns.len();
        let mut same = self.starts.len() == n + 1;
        self.starts.resize(n + 1, 0);
        self.values.clear();
        let Self {
            starts,
            columns,
            values,
        } = self;
        let mut put = |column: usize, value: f64| {
            let at = values.len();
            if at < columns.len() {
                same &= columns[at] == column as u32;
                columns[at] = column as u32;
            } else {
                same = false;
                columns.push(column as u32);
            }
            values.push(value);
            at + 1
        };
        let mut end = 0;
        let mut same_ends = true;
        for row in 0..n {
            let mut passed = false;
            matrix.visit_row(row, &mut |column, value| {
                if !passed && column > row {
                    put(row, 0.0);
                }
                passed |= column >= row;
                end = put(column, value);
            });
            if !passed {
                end = put(row, 0.0);
            }
            same_ends &= starts[row + 1] == end;
            starts[row + 1] = end;
        }
        self.columns.truncate(end);
        same && same_ends && old_entries == end
    }

    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Range of the entries of a row.
    pub fn entries(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// The column of an entry.
    pub fn column(&self, at: usize) -> usize {
        self.columns[at] as usize
    }

    /// Columns and values of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let columns = self.columns[self.entries(row)].iter();
        columns
            .zip(&self.values[self.entries(row)])
            .map(|(&column, &value)| (column as usize, value))
    }

    /// A copy.
    pub fn to_csr(&self) -> Result<Csr, InputError> {
        let (starts, columns) = (self.starts.clone(), self.columns.clone());
        Csr::new(self.len(), starts, columns, self.values.clone())
    }

    /// `m_i = max |A_ij|, |A_ji|` over `j`
    pub fn largest_of_rows(&self, m: &mut [f64]) {
        m.fill(0.0);
        for row in 0..self.len() {
            for (column, value) in self.row(row) {
                m[row] = m[row].max(value.abs());
                m[column] = m[column].max(value.abs());
            }
        }
    }

    /// `A_ij <- s_i A_ij s_j`
    pub fn scale(&mut self, s: &[f64]) {
        for row in 0..self.len() {
            for at in self.entries(row) {
                // In this order, since s_i s_j alone may overflow.
                self.values[at] = s[row] * self.values[at] * s[self.column(at)];
            }
        }
    }

    /// `y = A x`
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        for_each(y, &|first, y: &mut [f64]| {
            for (i, y) in y.iter_mut().enumerate() {
                *y = self
                    .row(first + i)
                    .fold(0.0, |sum, (column, value)| sum + value * x[column]);
            }
        });
    }

    /// `y = A'x`
    pub fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (row, &x) in x.iter().enumerate() {
            for (column, value) in self.row(row) {
                y[column] += value * x;
            }
        }
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        let entries = self.entries(row);
        match self.columns[entries.clone()].binary_search(&(column as u32)) {
            Ok(at) => self.values[entries.start + at],
            Err(_) => 0.0,
        }
    }

    /// Whether it equals its transpose, up to rounding.
    pub fn is_symmetric(&self) -> bool {
        let allowed = SYMMETRIC * reduce::largest(&self.values);
        (0..self.len()).all(|row| {
            self.row(row)
                .all(|(column, value)| (value - self.get(column, row)).abs() <= allowed)
        })
    }

    /// For each row the others it is coupled with in either direction, each once, in rising order.
    pub fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut neighbours = vec![Vec::new(); self.len()];
        for row in 0..self.len() {
            for (column, _) in self.row(row).filter(|&(column, _)| column != row) {
                neighbours[row].push(column as u32);
                neighbours[column].push(row as u32);
            }
        }
        for of_row in &mut neighbours {
            of_row.sort_unstable();
            of_row.dedup();
        }
        neighbours
    }
}
