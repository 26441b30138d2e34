//! Dense pivoting tableau (dictionary).

use crate::split::LEAF;

/// `basic_i = sum_j T_ij nonbasic_j`, with every entry stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tableau {
    columns: usize,
    values: Vec<f64>,
    pivot_row: Vec<f64>,
}

impl Tableau {
    /// Becomes a table of zeros.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        self.columns = columns;
        self.values.clear();
        self.values.resize(rows * columns, 0.0);
        self.pivot_row.resize(columns, 0.0);
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.columns..(row + 1) * self.columns]
    }

    #[inline]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// Exchanges the variable of a row with that of a column. A column of constants takes part as any other.
    pub fn exchange(&mut self, row: usize, column: usize) {
        let inverse = 1.0 / self.get(row, column);
        let Self {
            columns,
            values,
            pivot_row,
        } = self;
        let at = row * *columns..(row + 1) * *columns;
        for (new, old) in pivot_row.iter_mut().zip(&values[at.clone()]) {
            *new = -old * inverse;
        }
        pivot_row[column] = inverse;
        let (above, rest) = values.split_at_mut(at.start);
        let (at, below) = rest.split_at_mut(*columns);
        at.copy_from_slice(pivot_row);
        add_multiples(above, pivot_row, column);
        add_multiples(below, pivot_row, column);
    }

    /// Swaps two rows, and two columns of the same numbers.
    pub fn swap(&mut self, i: usize, j: usize) {
        for row in self.values.chunks_exact_mut(self.columns) {
            row.swap(i, j);
        }
        self.swap_rows(i, j);
    }

    /// Swaps two rows.
    pub fn swap_rows(&mut self, i: usize, j: usize) {
        let (i, j) = (i.min(j), i.max(j));
        if i != j {
            let (low, high) = self.values.split_at_mut(j * self.columns);
            low[i * self.columns..(i + 1) * self.columns]
                .swap_with_slice(&mut high[..self.columns]);
        }
    }
}

/// Adds to every row the multiple of the pivot row that its entry in the pivot column says, in place of that entry.
///
/// No row reads another, so that any split among threads gives the same bits.
fn add_multiples(rows: &mut [f64], pivot_row: &[f64], column: usize) {
    let columns = pivot_row.len();
    let count = rows.len() / columns;
    if rows.len() > 8 * LEAF && count > 1 {
        let (low, high) = rows.split_at_mut(count / 2 * columns);
        rayon::join(
            || add_multiples(low, pivot_row, column),
            || add_multiples(high, pivot_row, column),
        );
        return;
    }
    for row in rows.chunks_exact_mut(columns) {
        let factor = std::mem::take(&mut row[column]);
        if factor != 0.0 {
            for (value, pivot) in row.iter_mut().zip(pivot_row) {
                *value += factor * pivot;
            }
        }
    }
}
