//! Matrices with access to single rows.

use crate::csr::Csr;
use crate::dense::Dense;
use crate::operator::Operator;

/// A matrix whose rows can be read one at a time: what sweeps and pivots need beyond [`Operator`].
pub trait Rows: Operator {
    /// `sum_j A_ij x_j`
    ///
    /// # Panics
    /// If there is no such row, or `x` does not have one entry per row.
    fn row_dot(&self, row: usize, x: &[f64]) -> f64;

    /// Calls `visit` with column and value of every stored entry of a row, columns rising.
    ///
    /// # Panics
    /// If there is no such row.
    fn visit_row(&self, row: usize, visit: &mut dyn FnMut(usize, f64));

    /// Copies a row, zeros included.
    ///
    /// # Panics
    /// If there is no such row, or `out` does not have one entry per column.
    fn copy_row(&self, row: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.visit_row(row, &mut |column, value| out[column] += value);
    }

    /// Number of stored entries.
    fn entries(&self) -> usize;

    /// The same matrix with every entry stored.
    fn to_dense(&self) -> Dense {
        let n = self.len();
        let mut dense = Dense::zero(n);
        for row in 0..n {
            self.visit_row(row, &mut |column, value| dense.set(row, column, value));
        }
        dense
    }
}

impl Rows for Csr {
    #[inline]
    fn row_dot(&self, row: usize, x: &[f64]) -> f64 {
        let (columns, values) = self.row(row);
        columns
            .iter()
            .zip(values)
            .fold(0.0, |sum, (&column, value)| {
                sum + value * x[column as usize]
            })
    }

    fn visit_row(&self, row: usize, visit: &mut dyn FnMut(usize, f64)) {
        let (columns, values) = self.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            visit(column as usize, value);
        }
    }

    fn copy_row(&self, row: usize, out: &mut [f64]) {
        let (columns, values) = self.row(row);
        assert_eq!(out.len(), self.rows(), "the row has the wrong length");
        if values.len() == out.len() {
            out.copy_from_slice(values);
            return;
        }
        out.fill(0.0);
        for (&column, &value) in columns.iter().zip(values) {
            out[column as usize] = value;
        }
    }

    fn entries(&self) -> usize {
        self.nonzeros()
    }
}

impl Rows for Dense {
    #[inline]
    fn row_dot(&self, row: usize, x: &[f64]) -> f64 {
        crate::reduce::dot(self.row(row), x)
    }

    fn visit_row(&self, row: usize, visit: &mut dyn FnMut(usize, f64)) {
        for (column, &value) in self.row(row).iter().enumerate() {
            visit(column, value);
        }
    }

    fn copy_row(&self, row: usize, out: &mut [f64]) {
        out.copy_from_slice(self.row(row));
    }

    fn entries(&self) -> usize {
        self.len() * self.len()
    }
}
