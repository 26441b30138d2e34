//! Square sparse matrices, stored by rows.

use crate::error::{InputError, check_length};
use crate::operator::Operator;
use crate::split::{fold, for_each};

/// A square sparse matrix, stored by rows, the columns of a row in rising order.
///
/// ```
/// use meniscus_lcp::Csr;
///
/// // |  2 -1 |
/// // | -1  2 |
/// let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
/// assert_eq!(matrix.row(1), (&[0, 1][..], &[-1.0, 2.0][..]));
/// assert!(matrix.is_symmetric(0.0));
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    row_starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Default for Csr {
    /// A matrix without rows.
    fn default() -> Self {
        Self {
            row_starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl Csr {
    /// An `n` by `n` matrix whose row `i` has the entries `row_starts[i]..row_starts[i + 1]` of `columns` and `values`.
    ///
    /// The columns of a row must rise strictly, and every value must be finite. Explicit zeros are kept.
    pub fn new(
        n: usize,
        row_starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self, InputError> {
        check_length("row_starts", n.saturating_add(1), row_starts.len())?;
        check_length("values", columns.len(), values.len())?;
        if row_starts[0] != 0 {
            return Err(InputError::Structure {
                row: 0,
                why: "the first row must start at entry 0",
            });
        }
        if let Some(row) = row_starts.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(InputError::Structure {
                row,
                why: "the row ends before it starts",
            });
        }
        check_length("columns", row_starts[n], columns.len())?;
        let matrix = Self {
            row_starts,
            columns,
            values,
        };
        let faulty = fold(
            &matrix.row_starts[..n],
            &|first, starts: &[usize]| {
                (first..first + starts.len()).find_map(|row| matrix.fault(row))
            },
            &|low, high| low.or(high),
        );
        match faulty {
            None => Ok(matrix),
            Some(error) => Err(error),
        }
    }

    /// Fault in the entries of a row, if there is one.
    fn fault(&self, row: usize) -> Option<InputError> {
        let (columns, values) = self.row(row);
        if columns.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Some(InputError::Structure {
                row,
                why: "the columns do not rise strictly",
            });
        }
        if columns
            .last()
            .is_some_and(|&last| last as usize >= self.rows())
        {
            return Some(InputError::Structure {
                row,
                why: "a column lies outside the matrix",
            });
        }
        let at = values.iter().position(|value| !value.is_finite())?;
        Some(InputError::NotFinite {
            what: "values",
            index: self.row_starts[row] + at,
        })
    }

    /// Number of rows, which is also the number of columns.
    pub fn rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// The columns and values of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let entries = self.row_starts[row]..self.row_starts[row + 1];
        (&self.columns[entries.clone()], &self.values[entries])
    }

    /// The stored value at a place, zero where none is stored.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        let (columns, values) = self.row(row);
        // A full row has every column in its place.
        if columns.len() == self.rows() {
            return values.get(column).copied().unwrap_or(0.0);
        }
        u32::try_from(column)
            .ok()
            .and_then(|column| columns.binary_search(&column).ok())
            .map_or(0.0, |at| values[at])
    }

    /// Whether every pair of entries mirrored at the diagonal differs by at most `tolerance` times the largest entry.
    pub fn is_symmetric(&self, tolerance: f64) -> bool {
        let allowed = tolerance * crate::reduce::largest(&self.values);
        fold(
            &self.row_starts[..self.rows()],
            &|first, starts: &[usize]| {
                (first..first + starts.len()).all(|row| {
                    let (columns, values) = self.row(row);
                    columns.iter().zip(values).all(|(&column, value)| {
                        (value - self.get(column as usize, row)).abs() <= allowed
                    })
                })
            },
            &|low, high| low && high,
        )
    }

    /// An `n` by `n` matrix from entries (row, column, value) in any order; entries at one place are added up.
    pub fn from_entries(n: usize, mut entries: Vec<(u32, u32, f64)>) -> Result<Self, InputError> {
        if let Some(&(row, ..)) = entries.iter().find(|entry| entry.0 as usize >= n) {
            return Err(InputError::Structure {
                row: row as usize,
                why: "an entry lies in a row outside the matrix",
            });
        }
        entries.sort_by_key(|entry| (entry.0, entry.1));
        let mut row_starts = vec![0; n + 1];
        let (mut columns, mut values) = (Vec::new(), Vec::<f64>::new());
        let mut last = None;
        for (row, column, value) in entries {
            if last == Some((row, column)) {
                *values.last_mut().expect("there was an entry before") += value;
            } else {
                columns.push(column);
                values.push(value);
                row_starts[row as usize + 1] += 1;
                last = Some((row, column));
            }
        }
        for row in 0..n {
            row_starts[row + 1] += row_starts[row];
        }
        Self::new(n, row_starts, columns, values)
    }

    /// The three arrays `row_starts`, `columns`, `values`, so that the next matrix can reuse their memory.
    pub fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
        (self.row_starts, self.columns, self.values)
    }
}

impl Csr {
    /// `y_i = sum_j A_ij entry(j)` on the rows to keep, `y_i = x_i` on the others; returns `x'y`.
    #[inline]
    fn rows_dot(
        &self,
        x: &[f64],
        y: &mut [f64],
        keep: impl Fn(usize) -> bool + Sync,
        entry: impl Fn(usize) -> f64 + Sync,
    ) -> f64 {
        assert_eq!(y.len(), self.rows(), "y has the wrong length");
        let leaf = |first: usize, y: &mut [f64]| {
            let starts = &self.row_starts[first..=first + y.len()];
            let mut dot = 0.0;
            for (i, y) in y.iter_mut().enumerate() {
                *y = if keep(first + i) {
                    let entries = starts[i]..starts[i + 1];
                    let columns = &self.columns[entries.clone()];
                    columns
                        .iter()
                        .zip(&self.values[entries])
                        .fold(0.0, |sum, (&column, value)| {
                            sum + value * entry(column as usize)
                        })
                } else {
                    x[first + i]
                };
                dot += x[first + i] * *y;
            }
            dot
        };
        fold(y, &leaf, &|low, high| low + high)
    }
}

impl Operator for Csr {
    fn len(&self) -> usize {
        self.rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.apply_dot(x, y);
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!(x.len(), self.rows(), "x has the wrong length");
        assert_eq!(y.len(), self.rows(), "y has the wrong length");
        y.fill(0.0);
        for (row, &x) in x.iter().enumerate() {
            let (columns, values) = self.row(row);
            for (&column, value) in columns.iter().zip(values) {
                y[column as usize] += value * x;
            }
        }
    }

    fn apply_dot(&self, x: &[f64], y: &mut [f64]) -> f64 {
        assert_eq!(x.len(), self.rows(), "x has the wrong length");
        self.rows_dot(x, y, |_| true, |column| x[column])
    }

    fn apply_masked_dot(&self, active: &[bool], x: &[f64], y: &mut [f64]) -> f64 {
        assert_eq!(x.len(), self.rows(), "x has the wrong length");
        assert_eq!(active.len(), self.rows(), "the mask has the wrong length");
        // Krylov vectors are zero outside the mask, and then the columns need no mask of their own: looking is
        // much cheaper than masking every entry.
        let outside = |_, (x, active): (&[f64], &[bool])| {
            x.iter()
                .zip(active)
                .any(|(&x, &active)| !active & (x != 0.0))
        };
        if fold((x, active), &outside, &|low, high| low | high) {
            self.rows_dot(
                x,
                y,
                |row| active[row],
                |column| if active[column] { x[column] } else { 0.0 },
            )
        } else {
            self.rows_dot(x, y, |row| active[row], |column| x[column])
        }
    }

    fn diagonal(&self, d: &mut [f64]) {
        assert_eq!(d.len(), self.rows(), "d has the wrong length");
        for_each(d, &|first, d| {
            for (i, d) in d.iter_mut().enumerate() {
                let (columns, values) = self.row(first + i);
                // Rows are short: looking at every column is quicker than a binary search.
                let at = columns
                    .iter()
                    .position(|&column| column as usize == first + i);
                *d = at.map_or(0.0, |at| values[at]);
            }
        });
    }
}
