//! Rectangular sparse matrices, for transfers between levels.

use crate::split::for_each;

/// A sparse matrix that need not be square, stored by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RectCsr {
    pub starts: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<f64>,
}

impl RectCsr {
    /// From entries (row, column, value) in any order, which must be in range; those at one place are added up.
    pub fn new(rows: usize, mut entries: Vec<(u32, u32, f64)>) -> Self {
        entries.sort_by_key(|entry| (entry.0, entry.1));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut starts = vec![0; rows + 1];
        for entry in &entries {
            starts[entry.0 as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        Self {
            starts,
            columns: entries.iter().map(|entry| entry.1).collect(),
            values: entries.iter().map(|entry| entry.2).collect(),
        }
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// `factor M'` with the given number of rows. Columns rise since rows do.
    pub fn transposed(&self, rows: usize, factor: f64) -> Self {
        let mut starts = vec![0; rows + 1];
        for &column in &self.columns {
            starts[column as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut columns = vec![0; self.columns.len()];
        let mut values = vec![0.0; self.columns.len()];
        for row in 0..self.rows() {
            let (own, weights) = self.row(row);
            for (&column, weight) in own.iter().zip(weights) {
                let place = &mut next[column as usize];
                columns[*place] = row as u32;
                values[*place] = factor * weight;
                *place += 1;
            }
        }
        Self {
            starts,
            columns,
            values,
        }
    }

    #[inline]
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let entries = self.starts[row]..self.starts[row + 1];
        (&self.columns[entries.clone()], &self.values[entries])
    }

    /// `y = M x`
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!(y.len(), self.rows(), "y has the wrong length");
        for_each(y, &|first, y| {
            for (i, y) in y.iter_mut().enumerate() {
                let (columns, values) = self.row(first + i);
                *y = columns
                    .iter()
                    .zip(values)
                    .fold(0.0, |sum, (&column, value)| {
                        sum + value * x[column as usize]
                    });
            }
        });
    }

    /// `A B`, with the numbers of rows of `A` and columns of `B`.
    pub fn product<'a>(
        (rows, a): (usize, impl Fn(usize) -> (&'a [u32], &'a [f64])),
        (columns, b): (usize, &Self),
    ) -> Self {
        const NONE: usize = usize::MAX;
        let mut product = Self {
            starts: vec![0],
            ..Self::default()
        };
        let mut last_row_with = vec![NONE; columns]; // for each column, the last row that had an entry in it
        let mut sums = vec![0.0; columns];
        for row in 0..rows {
            let first = product.columns.len();
            let (inner, values) = a(row);
            for (&k, a) in inner.iter().zip(values) {
                let (others, values) = b.row(k as usize);
                for (&column, b) in others.iter().zip(values) {
                    let at = column as usize;
                    if last_row_with[at] != row {
                        last_row_with[at] = row;
                        sums[at] = 0.0;
                        product.columns.push(column);
                    }
                    sums[at] += a * b;
                }
            }
            product.columns[first..].sort_unstable();
            let values = product.columns[first..].iter().map(|&c| sums[c as usize]);
            product.values.extend(values);
            product.starts.push(product.columns.len());
        }
        product
    }
}
