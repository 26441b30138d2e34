//! Dense square matrices.

use crate::error::{InputError, check_finite, check_length};
use crate::operator::Operator;
use crate::reduce;
use crate::split::for_each;

/// A square matrix with every entry stored, row after row.
///
/// ```
/// use meniscus_lcp::{Dense, Operator};
///
/// let matrix = Dense::new(2, vec![2.0, -1.0, -1.0, 2.0])?;
/// let mut y = [0.0; 2];
/// matrix.apply(&[1.0, 2.0], &mut y);
/// assert_eq!(y, [0.0, 3.0]);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dense {
    n: usize,
    values: Vec<f64>,
}

impl Dense {
    /// An `n` by `n` matrix from its entries, row after row. Every value must be finite.
    pub fn new(n: usize, values: Vec<f64>) -> Result<Self, InputError> {
        check_length("values", n.saturating_mul(n), values.len())?;
        check_finite("values", &values)?;
        Ok(Self { n, values })
    }

    /// The `n` by `n` matrix of zeros.
    pub fn zero(n: usize) -> Self {
        Self {
            n,
            values: vec![0.0; n * n],
        }
    }

    /// The `n` by `n` matrix with the given entries.
    ///
    /// # Panics
    /// If an entry is not finite.
    pub fn from_fn(n: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zero(n);
        for row in 0..n {
            for column in 0..n {
                matrix.set(row, column, entry(row, column));
            }
        }
        matrix
    }

    /// A row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n..(row + 1) * self.n]
    }

    /// An entry.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.row(row)[column]
    }

    /// Changes an entry.
    ///
    /// # Panics
    /// If there is no such place, or the value is not finite.
    #[inline]
    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        assert!(value.is_finite(), "an entry of a matrix must be finite");
        assert!(column < self.n, "there is no such column");
        self.values[row * self.n + column] = value;
    }

    /// Whether every pair of entries mirrored at the diagonal differs by at most `tolerance` times the largest entry.
    pub fn is_symmetric(&self, tolerance: f64) -> bool {
        let allowed = tolerance * reduce::largest(&self.values);
        (0..self.n).all(|row| {
            (0..row).all(|column| (self.get(row, column) - self.get(column, row)).abs() <= allowed)
        })
    }
}

/// Rows of a leaf, so that a leaf has about as many entries as one of a sparse matrix.
const LEAF_ROWS: usize = 64;

impl Operator for Dense {
    fn len(&self) -> usize {
        self.n
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!(x.len(), self.n, "x has the wrong length");
        assert_eq!(y.len(), self.n, "y has the wrong length");
        self.rows_of(0, x, y);
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!(x.len(), self.n, "x has the wrong length");
        assert_eq!(y.len(), self.n, "y has the wrong length");
        y.fill(0.0);
        for (row, &x) in x.iter().enumerate() {
            for (y, value) in y.iter_mut().zip(self.row(row)) {
                *y += value * x;
            }
        }
    }

    fn diagonal(&self, d: &mut [f64]) {
        assert_eq!(d.len(), self.n, "d has the wrong length");
        for_each(d, &|first, d| {
            for (i, d) in d.iter_mut().enumerate() {
                *d = self.get(first + i, first + i);
            }
        });
    }
}

impl Dense {
    /// `y_i = sum_j A_ij x_j` for the rows from `first` on, in parallel where it is worth it.
    fn rows_of(&self, first: usize, x: &[f64], y: &mut [f64]) {
        if y.len() > LEAF_ROWS && y.len() * self.n > 4 * crate::split::LEAF {
            let (low, high) = y.split_at_mut(y.len() / 2);
            let middle = first + low.len();
            rayon::join(
                || self.rows_of(first, x, low),
                || self.rows_of(middle, x, high),
            );
        } else {
            for (i, y) in y.iter_mut().enumerate() {
                *y = reduce::dot(self.row(first + i), x);
            }
        }
    }
}
