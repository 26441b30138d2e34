//! Motion of bodies in response to impulses, as a factored matrix.

/// A direction in which bodies respond less than this part of what they would without contacts is held: contact solvers give way
/// by 1e-7 of it.
const HELD: f64 = 1e-5;

/// How bodies respond to impulses: `v = v_0 + L (y_0 + y)`.
///
/// What the bodies would do without the liquid is no good start in a thick one: its stresses would be far larger than those
/// of the solution, and so would be a residual relative to them. So `y_0` takes from the start all that `L` can.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    /// `v_0 + L y_0`: velocities that contacts and joints impose.
    pub start: Vec<f64>,
    /// `y_0`
    pub shift: Vec<f64>,
    /// `L`, row by row.
    factor: Vec<f64>,
    /// Columns of `L`.
    pub rank: usize,
    /// `D L inv(L'D L)` row by row, whose transpose is a left inverse of `L`; `D` are masses and moments per mass of a cell.
    dual: Vec<f64>,
}

impl Motion {
    /// From the velocities that `impulses` lead to and their symmetric derivative, row by row, by Cholesky with pivoting; `cell` is
    /// the mass `c`, and `free` are the diagonal entries without contacts.
    pub fn new(
        velocities: &[f64],
        impulses: &[f64],
        derivative: &[f64],
        free: &[f64],
        cell: f64,
    ) -> Self {
        let n = velocities.len();
        let mut rest: Vec<f64> = (0..n * n)
            .map(|k| 0.5 * cell * (derivative[k] + derivative[k % n * n + k / n]))
            .collect();
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut done = vec![false; n];
        for _ in 0..n {
            let left = |i: usize| rest[i * n + i] / (cell * free[i]);
            let pivot = (0..n)
                .filter(|&i| !done[i])
                .max_by(|&a, &b| left(a).total_cmp(&left(b)));
            let Some(pivot) = pivot.filter(|&i| left(i) > HELD) else {
                break;
            };
            done[pivot] = true;
            let root = rest[pivot * n + pivot].sqrt();
            let column: Vec<f64> = (0..n).map(|i| rest[i * n + pivot] / root).collect();
            for i in 0..n {
                for j in 0..n {
                    rest[i * n + j] -= column[i] * column[j];
                }
            }
            columns.push(column);
        }
        let rank = columns.len();
        let mut motion = Self {
            factor: (0..n * rank).map(|k| columns[k % rank][k / rank]).collect(),
            start: velocities.to_vec(),
            shift: vec![0.0; rank],
            rank,
            dual: Vec::new(),
        };
        let pushed: Vec<f64> = motion.transposed(impulses);
        let pushed: Vec<f64> = pushed.iter().map(|y| y / cell).collect();
        let moved = motion.apply(&pushed);
        let starts = motion.start.iter_mut().zip(&moved);
        starts.for_each(|(v, moved)| *v -= moved);
        let weighted: Vec<f64> = (0..n * rank)
            .map(|k| motion.factor[k] / (cell * free[k / rank]))
            .collect();
        let mut gram = vec![0.0; rank * rank];
        for j in 0..rank {
            let column: Vec<f64> = (0..n).map(|i| weighted[i * rank + j]).collect();
            for (i, sum) in motion.transposed(&column).into_iter().enumerate() {
                gram[i * rank + j] = sum;
            }
        }
        let gram = inverse(gram, rank);
        let rows = weighted.chunks(rank.max(1));
        motion.dual = rows.flat_map(|row| product(&gram, row)).collect();
        for (row, v) in motion.dual.chunks(rank.max(1)).zip(&motion.start) {
            let shifts = motion.shift.iter_mut().zip(row);
            shifts.for_each(|(shift, d)| *shift -= d * v);
        }
        let taken = motion.apply(&motion.shift);
        let starts = motion.start.iter_mut().zip(&taken);
        starts.for_each(|(v, taken)| *v += taken);
        motion
    }

    /// Impulses nearest to `impulses` that move the bodies by `L (y_0 + y)`, for impulses per mass of a cell: bodies in thick liquid
    /// hardly move, since its impulses cancel others, and the difference of both has few digits.
    pub fn consistent(&self, impulses: &mut [f64], y: &[f64]) {
        let moved = self.transposed(impulses);
        let parts = y.iter().zip(&self.shift).zip(&moved);
        let lacking: Vec<f64> = parts.map(|((y, shift), moved)| y + shift - moved).collect();
        for (j, row) in impulses.iter_mut().zip(self.dual.chunks(self.rank.max(1))) {
            *j += row.iter().zip(&lacking).map(|(d, l)| d * l).sum::<f64>();
        }
    }

    /// `L y`
    pub fn apply(&self, y: &[f64]) -> Vec<f64> {
        let rows = self.factor.chunks(self.rank.max(1));
        let moved = rows.map(|row| row.iter().zip(y).map(|(l, y)| l * y).sum());
        let mut v: Vec<f64> = moved.collect();
        v.resize(self.start.len(), 0.0);
        v
    }

    /// `L'g`
    pub fn transposed(&self, g: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.rank];
        for (row, g) in self.factor.chunks(self.rank.max(1)).zip(g) {
            row.iter().zip(&mut sum).for_each(|(l, sum)| *sum += l * g);
        }
        sum
    }

    /// `L'C L` for a matrix of all velocities, row by row.
    pub fn condensed(&self, matrix: &[f64]) -> Vec<f64> {
        let (n, r) = (self.start.len(), self.rank);
        let mut condensed = vec![0.0; r * r];
        for j in 0..r {
            let column: Vec<f64> = (0..n).map(|i| self.factor[i * r + j]).collect();
            let column = self.transposed(&product(matrix, &column));
            for (i, entry) in column.into_iter().enumerate() {
                condensed[i * r + j] = entry;
            }
        }
        condensed
    }
}

/// Inverse of a small matrix by Gauss-Jordan elimination with pivoting; rows without a pivot become zero.
pub(crate) fn inverse(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; n * n];
    (0..n).for_each(|i| inverse[i * n + i] = 1.0);
    let scale = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut of_row = vec![None; n];
    let mut used = vec![false; n];
    for column in 0..n {
        let pivot = (0..n)
            .filter(|&i| !used[i])
            .max_by(|&x, &y| a[x * n + column].abs().total_cmp(&a[y * n + column].abs()));
        let Some(pivot) = pivot.filter(|&p| a[p * n + column].abs() > 1e-14 * scale) else {
            continue;
        };
        used[pivot] = true;
        of_row[column] = Some(pivot);
        let by = 1.0 / a[pivot * n + column];
        for k in 0..n {
            a[pivot * n + k] *= by;
            inverse[pivot * n + k] *= by;
        }
        for i in (0..n).filter(|&i| i != pivot) {
            let factor = a[i * n + column];
            if factor != 0.0 {
                for k in 0..n {
                    a[i * n + k] -= factor * a[pivot * n + k];
                    inverse[i * n + k] -= factor * inverse[pivot * n + k];
                }
            }
        }
    }
    let rows = of_row.iter().flat_map(|row| match row {
        Some(row) => inverse[row * n..][..n].to_vec(),
        None => vec![0.0; n],
    });
    rows.collect()
}

/// `A x` for a small square matrix.
pub(crate) fn product(a: &[f64], x: &[f64]) -> Vec<f64> {
    let rows = a.chunks(x.len().max(1));
    rows.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
        .collect()
}
