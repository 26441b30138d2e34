//! The coarsest level, solved directly.

use super::level::Level;

/// Largest level that is solved directly.
pub(super) const LARGEST: usize = 64;
/// Added to the diagonal, as a share: a region that has lost all its Dirichlet cells would make it singular.
const SHIFT: f64 = 1e-9;

/// Cholesky factors of the coarsest level.
#[derive(Clone, Debug, Default)]
pub(super) struct Coarsest {
    n: usize,
    /// Lower triangle, row by row, with one over the pivots on the diagonal.
    factor: Vec<f64>,
    solution: Vec<f64>,
}

impl Coarsest {
    /// Factorises a level without regular unknowns. `add` adds to the lower triangle of its matrix.
    pub fn factorise<const D: usize>(
        &mut self,
        level: &Level<D>,
        add: impl FnOnce(&mut [f64], usize),
    ) {
        let n = level.unknowns;
        self.n = n;
        self.solution.clear();
        self.solution.resize(n, 0.0);
        let a = &mut self.factor;
        a.clear();
        a.resize(n * n, 0.0);
        let rows = &level.rows;
        for row in 0..rows.len() {
            let i = rows.row[row].unknown as usize;
            if rows.row[row].inverse == 0.0 {
                a[i * n + i] = 1.0;
                continue;
            }
            let mut sum = rows.dirichlet[row] as f64;
            for link in rows.links(row) {
                let (j, weight) = (link.target as usize, link.weight as f64);
                sum += weight;
                if level.is_free(link.target) && j < i {
                    a[i * n + j] -= weight;
                }
            }
            a[i * n + i] = sum * (1.0 + SHIFT);
        }
        add(a, n);
        for i in 0..n {
            let (above, row) = a.split_at_mut(i * n);
            for j in 0..i {
                let other = &above[j * n..j * n + j];
                let sum: f64 = row[..j].iter().zip(other).map(|(x, y)| x * y).sum();
                row[j] = (row[j] - sum) * above[j * n + j];
            }
            let sum: f64 = row[..i].iter().map(|x| x * x).sum();
            let pivot = row[i] - sum;
            // A pivot that rounding has eaten belongs to an unknown that the others leave undetermined.
            row[i] = if pivot > 0.1 * SHIFT * row[i] {
                1.0 / pivot.sqrt()
            } else {
                0.0
            };
        }
    }

    /// `e = inv(A) r`
    pub fn solve<const D: usize>(&mut self, level: &mut Level<D>) {
        let (n, a, x) = (self.n, &self.factor, &mut self.solution);
        for row in &level.rows.row {
            let i = row.unknown as usize;
            let free = row.inverse != 0.0;
            x[i] = if free { level.r[i] as f64 } else { 0.0 };
        }
        for i in 0..n {
            let (done, rest) = x.split_at_mut(i);
            let sum: f64 = a[i * n..].iter().zip(&*done).map(|(a, x)| a * x).sum();
            rest[0] = (rest[0] - sum) * a[i * n + i];
        }
        for i in (0..n).rev() {
            x[i] *= a[i * n + i];
            let (rest, solved) = x.split_at_mut(i);
            for (x, a) in rest.iter_mut().zip(&a[i * n..]) {
                *x -= a * solved[0];
            }
        }
        for (e, &x) in level.e.iter_mut().zip(&*x) {
            *e = x as f32;
        }
    }
}
