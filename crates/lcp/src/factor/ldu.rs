//! LDU factorisation with updates: rows are added and removed.

use crate::reduce::dot;

/// `A = L D U`, `L` and `U` with ones on their diagonals, of a matrix that gains and loses rows and columns.
///
/// There are no row exchanges: it is meant for matrices whose principal minors are positive, such as positive
/// definite ones, symmetric or not. A row that would make a pivot of at most a given size is refused.
///
/// ```
/// use meniscus_lcp::factor::Ldu;
///
/// let mut ldu = Ldu::default();
/// assert!(ldu.insert(&[], &[], 2.0, 0.0));
/// assert!(ldu.insert(&[-1.0], &[-1.0], 2.0, 0.0)); // [2 -1; -1 2]
/// let mut x = [0.0, 3.0];
/// ldu.solve(&mut x);
/// assert_eq!(x, [1.0, 2.0]);
/// assert!(ldu.remove(0)); // [2]
/// let mut x = [3.0];
/// ldu.solve(&mut x);
/// assert_eq!(x, [1.5]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ldu {
    len: usize,
    stride: usize,
    /// The rows of `L`.
    lower: Vec<f64>,
    /// The columns of `U`, each stored as a row: what is read together lies together.
    upper: Vec<f64>,
    pivots: Vec<f64>,
    /// Effect of a removal on one row of `L` and one column of `U`, for one earlier row at a time.
    update: Vec<[f64; 4]>,
    new_row: Vec<f64>,
    new_column: Vec<f64>,
}

impl Ldu {
    /// Forgets all rows and makes room for `capacity` of them.
    pub fn reset(&mut self, capacity: usize) {
        self.len = 0;
        self.stride = capacity;
        for triangle in [&mut self.lower, &mut self.upper] {
            triangle.resize(capacity * capacity, 0.0);
        }
        for vector in [&mut self.pivots, &mut self.new_row, &mut self.new_column] {
            vector.resize(capacity, 0.0);
        }
        self.update.resize(capacity, [0.0; 4]);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Grows the storage by one row.
    fn grow(&mut self) {
        let stride = (2 * self.stride).max(4);
        for triangle in [&mut self.lower, &mut self.upper] {
            let mut wider = vec![0.0; stride * stride];
            for i in 0..self.len {
                wider[i * stride..i * stride + i]
                    .copy_from_slice(&triangle[i * self.stride..i * self.stride + i]);
            }
            *triangle = wider;
        }
        for vector in [&mut self.pivots, &mut self.new_row, &mut self.new_column] {
            vector.resize(stride, 0.0);
        }
        self.update.resize(stride, [0.0; 4]);
        self.stride = stride;
    }

    /// Adds a last row and column, given their entries with the rows already there and the diagonal entry.
    ///
    /// Refuses, and changes nothing, if the new pivot is not larger than `least`.
    ///
    /// # Panics
    /// If `row` or `column` does not have one entry for each row already there.
    pub fn insert(&mut self, row: &[f64], column: &[f64], diagonal: f64, least: f64) -> bool {
        let k = self.len;
        assert_eq!((row.len(), column.len()), (k, k), "one entry per row");
        if k == self.stride {
            self.grow();
        }
        let stride = self.stride;
        let (p, q) = (&mut self.new_column[..k], &mut self.new_row[..k]);
        p.copy_from_slice(column);
        q.copy_from_slice(row);
        let mut pivot = diagonal;
        for i in 0..k {
            // L (D u) = column, U'(D l) = row
            p[i] -= dot(&self.lower[i * stride..i * stride + i], &p[..i]);
            q[i] -= dot(&self.upper[i * stride..i * stride + i], &q[..i]);
            pivot -= p[i] * q[i] / self.pivots[i];
        }
        // Not `pivot <= least`: NaN must be refused, too.
        if !(pivot > least && pivot.is_finite()) {
            return false;
        }
        for i in 0..k {
            self.lower[k * stride + i] = q[i] / self.pivots[i];
            self.upper[k * stride + i] = p[i] / self.pivots[i];
        }
        self.pivots[k] = pivot;
        self.len += 1;
        true
    }

    /// Removes the row and column at a place; those after it move up.
    ///
    /// The remainder after the place is the old product plus `d l u'`, a change of rank one (Bennett 1965). Returns
    /// false if a pivot is no longer positive, as can happen where the minors of the matrix are not: it must be made
    /// anew then.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn remove(&mut self, place: usize) -> bool {
        assert!(place < self.len, "there is no such row");
        let stride = self.stride;
        let mut sigma = self.pivots[place];
        let mut sound = true;
        for i in place + 1..self.len {
            let l = &mut self.lower[i * stride..i * stride + i];
            let u = &mut self.upper[i * stride..i * stride + i];
            let (mut v, mut w) = (l[place], u[place]);
            for j in place + 1..i {
                let [p, q, of_l, of_u] = self.update[j];
                v -= p * l[j];
                w -= q * u[j];
                l[j] += of_l * v;
                u[j] += of_u * w;
            }
            let old = self.pivots[i];
            let new = old + sigma * v * w;
            sound &= new > 0.0 && new.is_finite();
            self.update[i] = [v, w, sigma * w / new, sigma * v / new];
            sigma *= old / new;
            self.pivots[i - 1] = new;
            for triangle in [&mut self.lower, &mut self.upper] {
                let (from, to) = (i * stride, (i - 1) * stride);
                triangle.copy_within(from..from + place, to);
                triangle.copy_within(from + place + 1..from + i, to + place);
            }
        }
        self.len -= 1;
        sound
    }

    /// `x = inv(A) x`
    ///
    /// # Panics
    /// If `x` does not have one entry per row.
    pub fn solve(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.len, "x has the wrong length");
        let stride = self.stride;
        for i in 0..self.len {
            x[i] -= dot(&self.lower[i * stride..i * stride + i], &x[..i]);
        }
        for (x, pivot) in x.iter_mut().zip(&self.pivots) {
            *x /= pivot;
        }
        for i in (1..self.len).rev() {
            let (before, at) = x.split_at_mut(i);
            for (x, u) in before.iter_mut().zip(&self.upper[i * stride..]) {
                *x -= u * at[0];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ldu;
    use crate::gallery::Random;

    /// Positive definite, not symmetric.
    fn matrix(n: usize, random: &mut Random) -> Vec<f64> {
        let g: Vec<f64> = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let gram: f64 = (0..n).map(|k| g[i * n + k] * g[j * n + k]).sum();
                let skew = g[i * n + j] - g[j * n + i];
                a[i * n + j] = gram + skew + f64::from(u8::from(i == j)) * 0.1;
            }
        }
        a
    }

    #[test]
    fn it_follows_rows_that_come_and_go() {
        let mut random = Random::new(5);
        let n = 24;
        let a = matrix(n, &mut random);
        let mut ldu = Ldu::default();
        let mut members: Vec<usize> = Vec::new();
        for _ in 0..400 {
            let row = random.below(n);
            if let Some(place) = members.iter().position(|&member| member == row) {
                assert!(ldu.remove(place));
                members.remove(place);
            } else {
                let of = |i: usize, j: usize| a[i * n + j];
                let left: Vec<f64> = members.iter().map(|&m| of(row, m)).collect();
                let up: Vec<f64> = members.iter().map(|&m| of(m, row)).collect();
                assert!(ldu.insert(&left, &up, of(row, row), 0.0));
                members.push(row);
            }
            assert_eq!(ldu.len(), members.len());
            let x: Vec<f64> = members.iter().map(|_| random.between(-1.0, 1.0)).collect();
            let mut b: Vec<f64> = members
                .iter()
                .map(|&i| members.iter().zip(&x).map(|(&j, x)| a[i * n + j] * x).sum())
                .collect();
            ldu.solve(&mut b);
            for (found, x) in b.iter().zip(&x) {
                assert!((found - x).abs() < 1e-8, "{found} {x}");
            }
        }
    }

    #[test]
    fn a_row_that_depends_on_the_others_is_refused_and_nothing_changes() {
        let mut ldu = Ldu::default();
        assert!(ldu.insert(&[], &[], 1.0, 0.0));
        assert!(!ldu.insert(&[1.0], &[1.0], 1.0, 1e-12));
        assert!(!ldu.insert(&[f64::NAN], &[1.0], 1.0, 1e-12));
        assert_eq!(ldu.len(), 1);
        let mut x = [2.0];
        ldu.solve(&mut x);
        assert_eq!(x, [2.0]);
    }
}
