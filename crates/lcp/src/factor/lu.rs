//! LU factorisation with partial pivoting.

/// `P A = L U` with the largest pivot of each column.
///
/// A column without a pivot is left out: the matrix is singular, [`rank`](Self::rank) says so, and a solve then gives
/// zero for the unknown of that column. Memory is kept from one factorisation to the next.
///
/// ```
/// use meniscus_lcp::factor::Lu;
///
/// let mut lu = Lu::default();
/// let matrix = [[0.0, 2.0], [4.0, 1.0]];
/// lu.factorise(2, |row, out| out.copy_from_slice(&matrix[row]));
/// let mut x = [2.0, 9.0];
/// lu.solve(&mut x);
/// assert_eq!(x, [2.0, 1.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lu {
    n: usize,
    /// `L` below the diagonal, `U` on it and above, row after row.
    values: Vec<f64>,
    /// The row that was taken as pivot row of each column.
    swaps: Vec<usize>,
    /// Whether a column has a pivot.
    sound: Vec<bool>,
}

/// A pivot below this part of the largest entry, times `n`, is rounding.
const SMALLEST_PIVOT: f64 = 64.0 * f64::EPSILON;

impl Lu {
    /// Factorises the `n` by `n` matrix whose rows are written by `row`.
    pub fn factorise(&mut self, n: usize, mut row: impl FnMut(usize, &mut [f64])) {
        self.n = n;
        self.values.resize(n * n, 0.0);
        self.swaps.resize(n, 0);
        self.sound.resize(n, false);
        for (i, out) in self.values.chunks_exact_mut(n.max(1)).enumerate() {
            row(i, out);
        }
        let largest = crate::reduce::largest(&self.values);
        let least = SMALLEST_PIVOT * n as f64 * largest;
        for k in 0..n {
            let magnitude = |i: usize| self.values[i * n + k].abs();
            let pivot_row = (k..n).fold(k, |best, i| {
                if magnitude(i) > magnitude(best) {
                    i
                } else {
                    best
                }
            });
            self.swaps[k] = pivot_row;
            self.sound[k] = magnitude(pivot_row) > least;
            if pivot_row != k {
                let (above, below) = self.values.split_at_mut(pivot_row * n);
                above[k * n..(k + 1) * n].swap_with_slice(&mut below[..n]);
            }
            let (above, below) = self.values.split_at_mut((k + 1) * n);
            let pivot_row = &above[k * n..];
            for row in below.chunks_exact_mut(n) {
                if !self.sound[k] {
                    row[k] = 0.0;
                    continue;
                }
                let factor = row[k] / pivot_row[k];
                row[k] = factor;
                if factor != 0.0 {
                    for (a, p) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                        *a -= factor * p;
                    }
                }
            }
        }
    }

    /// Number of columns with a pivot: `n` unless the matrix is singular to rounding.
    pub fn rank(&self) -> usize {
        self.sound[..self.n].iter().filter(|&&sound| sound).count()
    }

    /// The smallest pivot as a part of the largest one: 1 at best, 0 for a singular matrix. Zero rows give 1.
    pub fn pivot_ratio(&self) -> f64 {
        let n = self.n;
        let pivots = (0..n).map(|k| self.values[k * n + k].abs());
        let (least, most) = pivots.fold((f64::INFINITY, 0.0_f64), |(least, most), pivot| {
            (least.min(pivot), most.max(pivot))
        });
        match (n, self.rank() == n) {
            (0, _) => 1.0,
            (_, true) => least / most,
            (_, false) => 0.0,
        }
    }

    /// `x = inv(A) x`, with zeros for columns without a pivot.
    ///
    /// # Panics
    /// If `x` does not have one entry per row.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        assert_eq!(x.len(), n, "x has the wrong length");
        // The multipliers were swapped with their rows, so the whole permutation comes first.
        for k in 0..n {
            x.swap(k, self.swaps[k]);
        }
        for i in 1..n {
            let row = &self.values[i * n..i * n + i];
            x[i] -= crate::reduce::dot(row, &x[..i]);
        }
        for i in (0..n).rev() {
            let row = &self.values[i * n..(i + 1) * n];
            x[i] = if self.sound[i] {
                (x[i] - crate::reduce::dot(&row[i + 1..], &x[i + 1..])) / row[i]
            } else {
                0.0
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lu;
    use crate::gallery::Random;

    #[test]
    fn a_product_with_the_matrix_is_undone() {
        let mut random = Random::new(3);
        let mut lu = Lu::default();
        for n in [0, 1, 2, 7, 40, 3] {
            let a: Vec<f64> = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
            let x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
            let mut b: Vec<f64> = (0..n)
                .map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum())
                .collect();
            lu.factorise(n, |row, out| {
                out.copy_from_slice(&a[row * n..(row + 1) * n])
            });
            assert_eq!(lu.rank(), n);
            lu.solve(&mut b);
            for (b, x) in b.iter().zip(&x) {
                assert!((b - x).abs() < 1e-10, "{n}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_known_and_a_consistent_system_solved() {
        let rows = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]];
        let mut lu = Lu::default();
        lu.factorise(3, |row, out| out.copy_from_slice(&rows[row]));
        assert_eq!(lu.rank(), 2);
        assert_eq!(lu.pivot_ratio(), 0.0);
        let mut x = [3.0, 3.0, 4.0];
        lu.solve(&mut x);
        assert_eq!(x, [3.0, 0.0, 2.0]);
    }
}
