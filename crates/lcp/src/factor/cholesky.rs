//! Dense Cholesky factorisation.

use crate::reduce;

/// `A = L L'` of a dense symmetric positive definite matrix. Memory is kept from one factorisation to the next.
///
/// ```
/// use meniscus_lcp::factor::Cholesky;
///
/// let mut cholesky = Cholesky::default();
/// let matrix = [[4.0, 2.0], [2.0, 5.0]];
/// assert!(cholesky.factorise(2, 0.0, |row, out| out.copy_from_slice(&matrix[row][..=row])));
/// let mut x = [8.0, 12.0];
/// cholesky.solve(&mut x);
/// assert_eq!(x, [1.0, 2.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    n: usize,
    /// The rows of `L`, each as long as the matrix; what follows the diagonal is not used.
    values: Vec<f64>,
    /// Reciprocals of the diagonal of `L`.
    inverse: Vec<f64>,
}

/// Rows that are computed together: an entry of another row is then read once for all of them.
const TILE: usize = 4;
/// Partial sums of a dot product.
const LANES: usize = 4;

impl Cholesky {
    /// Factorises the `n` by `n` matrix whose lower rows, up to the diagonal, are written by `row`; false if a pivot is not
    /// larger than `least`.
    pub fn factorise(
        &mut self,
        n: usize,
        least: f64,
        mut row: impl FnMut(usize, &mut [f64]),
    ) -> bool {
        self.n = n;
        self.values.resize(n * n, 0.0);
        self.inverse.resize(n, 0.0);
        for first in (0..n).step_by(TILE) {
            let count = TILE.min(n - first);
            let (above, rest) = self.values.split_at_mut(first * n);
            let tile = &mut rest[..count * n];
            for (r, out) in tile.chunks_exact_mut(n).enumerate() {
                row(first + r, &mut out[..=first + r]);
            }
            // Columns of the rows above, for all rows of the tile at once.
            if count == TILE {
                for (j, other) in above.chunks_exact(n).enumerate() {
                    let sums = dots(tile, n, &other[..j]);
                    for (r, sum) in sums.into_iter().enumerate() {
                        tile[r * n + j] = (tile[r * n + j] - sum) * self.inverse[j];
                    }
                }
            } else {
                for (j, other) in above.chunks_exact(n).enumerate() {
                    for out in tile.chunks_exact_mut(n) {
                        out[j] = (out[j] - reduce::dot(&out[..j], &other[..j])) * self.inverse[j];
                    }
                }
            }
            for r in 0..count {
                let (before, own) = tile.split_at_mut(r * n);
                for (j, other) in (first..).zip(before.chunks_exact(n)) {
                    own[j] = (own[j] - reduce::dot(&own[..j], &other[..j])) * self.inverse[j];
                }
                let i = first + r;
                let pivot = own[i] - reduce::sum_of_squares(&own[..i]);
                // Not `pivot <= least`: NaN must be refused, too.
                if !(pivot > least && pivot.is_finite()) {
                    return false;
                }
                own[i] = pivot.sqrt();
                self.inverse[i] = 1.0 / own[i];
            }
        }
        true
    }

    /// `x = inv(A) x`
    ///
    /// # Panics
    /// If `x` does not have one entry per row.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        assert_eq!(x.len(), n, "x has the wrong length");
        let rows = self.values.chunks_exact(n.max(1));
        for (i, row) in rows.clone().take(n).enumerate() {
            x[i] = (x[i] - reduce::dot(&row[..i], &x[..i])) * self.inverse[i];
        }
        for (i, row) in rows.take(n).enumerate().rev() {
            let (before, own) = x.split_at_mut(i);
            own[0] *= self.inverse[i];
            for (x, l) in before.iter_mut().zip(row) {
                *x -= l * own[0];
            }
        }
    }
}

/// Dot products of the rows of a tile, `n` entries each, with a vector that may be shorter.
fn dots(tile: &[f64], n: usize, vector: &[f64]) -> [f64; TILE] {
    let length = vector.len();
    let row = |r: usize| &tile[r * n..r * n + length];
    let (blocks, rest) = vector.as_chunks::<LANES>();
    let [a, b, c, d] = [0, 1, 2, 3].map(|r| row(r).as_chunks::<LANES>());
    let mut lanes = [[0.0; LANES]; TILE];
    for ((((v, a), b), c), d) in blocks.iter().zip(a.0).zip(b.0).zip(c.0).zip(d.0) {
        for lane in 0..LANES {
            lanes[0][lane] += a[lane] * v[lane];
            lanes[1][lane] += b[lane] * v[lane];
            lanes[2][lane] += c[lane] * v[lane];
            lanes[3][lane] += d[lane] * v[lane];
        }
    }
    let mut sums = lanes.map(|lanes| (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]));
    for (sum, left) in sums.iter_mut().zip([a.1, b.1, c.1, d.1]) {
        for (l, v) in left.iter().zip(rest) {
            *sum += l * v;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::Cholesky;
    use crate::gallery::Random;

    #[test]
    fn a_product_with_the_matrix_is_undone() {
        let mut random = Random::new(3);
        let mut cholesky = Cholesky::default();
        for n in [0, 1, 2, 3, 4, 5, 8, 9, 47, 3] {
            let root: Vec<f64> = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
            let entry = |i: usize, j: usize| {
                let product: f64 = (0..n).map(|k| root[i * n + k] * root[j * n + k]).sum();
                product + if i == j { 1.0 } else { 0.0 }
            };
            let x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
            let mut b: Vec<f64> = (0..n)
                .map(|i| (0..n).map(|j| entry(i, j) * x[j]).sum())
                .collect();
            let row = |i: usize, out: &mut [f64]| {
                assert_eq!(out.len(), i + 1);
                for (j, out) in out.iter_mut().enumerate() {
                    *out = entry(i, j);
                }
            };
            assert!(cholesky.factorise(n, 0.0, row));
            cholesky.solve(&mut b);
            for (b, x) in b.iter().zip(&x) {
                assert!((b - x).abs() < 1e-11, "{n}");
            }
        }
    }

    #[test]
    fn matrices_that_are_not_positive_definite_are_refused() {
        let mut cholesky = Cholesky::default();
        for n in 2..10 {
            // All ones, and one negative direction.
            assert!(!cholesky.factorise(n, 1e-14, |_, out| out.fill(1.0)));
            assert!(!cholesky.factorise(n, 0.0, |i, out| {
                out.fill(0.0);
                out[i] = if i == n - 1 { -1.0 } else { 1.0 };
            }));
            assert!(!cholesky.factorise(n, 0.0, |_, out| out.fill(f64::NAN)));
        }
    }
}
