//! Multifrontal numerical factorisation: a dense front for each supernode.

use std::ops::Range;

use super::Broken;
use super::symbolic::Symbolic;

/// A pivot smaller than this, where the diagonal is about 1, is replaced.
const SMALLEST_PIVOT: f64 = 1e-13;
/// Replacement of a pivot that is too small.
const REPLACEMENT: f64 = 1e-6;
/// Pivot rows of a block: with a thousand columns they fit into the second cache.
const BLOCK: usize = 32;
/// Pivot rows that are subtracted in one go.
const TOGETHER: usize = 4;

/// `L` and `U`, group by group: the rows of a group first, from column to column of its front, then what `L` has below.
#[derive(Clone, Debug, Default)]
pub(super) struct Fronts {
    factors: Vec<f64>,
    starts: Vec<usize>,
    front: Vec<f64>,
    /// Contribution blocks of the fronts, for their parents.
    updates: Vec<f64>,
    /// For each of them its group and its size.
    pending: Vec<(u32, u32)>,
    x: Vec<f64>,
}

impl Fronts {
    /// Factorises a matrix with values in the order of its entries.
    pub fn factorise(
        &mut self,
        symbolic: &Symbolic,
        values: &[f64],
        symmetric: bool,
    ) -> Result<(), Broken> {
        self.factors.clear();
        self.starts.clear();
        self.updates.clear();
        self.pending.clear();
        let largest = symbolic.largest * symbolic.largest;
        if self.front.len() < largest {
            self.front.resize(largest, 0.0);
        }
        for group in 0..symbolic.len() {
            let pivots = symbolic.rows(group).len();
            let size = pivots + symbolic.below(group).len();
            let front = &mut self.front[..size * size];
            front.fill(0.0);
            for &(at, place) in symbolic.entries(group) {
                front[place] += values[at];
            }
            for _ in 0..symbolic.children[group] {
                let (child, below) = self.pending.pop().expect("every child has left its part");
                let below = below as usize;
                let start = self.updates.len() - below * below;
                let to = &symbolic.in_parent[symbolic.below_range(child as usize)];
                gather(front, size, &self.updates[start..], to, symmetric);
                self.updates.truncate(start);
            }
            eliminate(front, size, pivots, symmetric)?;
            self.starts.push(self.factors.len());
            self.factors.extend_from_slice(&front[..pivots * size]);
            for row in front[pivots * size..].chunks_exact(size) {
                self.factors.extend_from_slice(&row[..pivots]);
            }
            let below = size - pivots;
            if below > 0 {
                for row in front[pivots * size..].chunks_exact(size) {
                    self.updates.extend_from_slice(&row[pivots..]);
                }
                self.pending.push((group as u32, below as u32));
            }
        }
        Ok(())
    }

    /// The least pivot of the last factorisation.
    pub fn least_pivot(&self, symbolic: &Symbolic) -> f64 {
        let mut least = f64::INFINITY;
        for group in 0..symbolic.len() {
            let (pivots, below) = (symbolic.rows(group).len(), symbolic.below(group).len());
            let size = pivots + below;
            for i in 0..pivots {
                least = least.min(self.factors[self.starts[group] + i * size + i]);
            }
        }
        least
    }

    /// `x <- inv(U) inv(L) x`
    pub fn solve(&mut self, symbolic: &Symbolic, x: &mut [f64]) {
        let Self {
            factors,
            starts,
            x: y,
            ..
        } = self;
        y.clear();
        y.extend(symbolic.old.iter().map(|&old| x[old as usize]));
        for group in 0..symbolic.len() {
            let (rows, below) = (symbolic.rows(group), symbolic.below(group));
            let (pivots, size) = (rows.len(), rows.len() + below.len());
            let factor = &factors[starts[group]..];
            for i in 1..pivots {
                let row = &factor[i * size..i * size + i];
                let known = dot(row, &y[rows.start..rows.start + i]);
                y[rows.start + i] -= known;
            }
            for (row, lower) in below
                .iter()
                .zip(factor[pivots * size..].chunks_exact(pivots))
            {
                let known = dot(lower, &y[rows.clone()]);
                y[*row as usize] -= known;
            }
        }
        for group in (0..symbolic.len()).rev() {
            let (rows, below) = (symbolic.rows(group), symbolic.below(group));
            let (pivots, size) = (rows.len(), rows.len() + below.len());
            let factor = &factors[starts[group]..];
            for i in (0..pivots).rev() {
                let row = &factor[i * size..(i + 1) * size];
                let mut value = y[rows.start + i];
                value -= dot(&row[i + 1..pivots], &y[rows.start + i + 1..rows.end]);
                for (upper, &column) in row[pivots..].iter().zip(below) {
                    value -= upper * y[column as usize];
                }
                y[rows.start + i] = value / row[i];
            }
        }
        for (&old, y) in symbolic.old.iter().zip(y) {
            x[old as usize] = *y;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}

/// Adds what a child left to a front; of a symmetric one only the part from the diagonal on is there.
fn gather(front: &mut [f64], size: usize, update: &[f64], to: &[u32], symmetric: bool) {
    for (i, row) in update.chunks_exact(to.len()).enumerate() {
        let to_row = to[i] as usize * size;
        let first = if symmetric { i } else { 0 };
        for (value, &column) in row[first..].iter().zip(&to[first..]) {
            front[to_row + column as usize] += value;
        }
    }
}

/// Eliminates the first rows of a front, a block of pivot rows after the other: small enough to stay near while all
/// later rows pass.
fn eliminate(front: &mut [f64], size: usize, pivots: usize, symmetric: bool) -> Result<(), Broken> {
    for start in (0..pivots).step_by(BLOCK) {
        let stop = (start + BLOCK).min(pivots);
        for i in start..size {
            let (done, rest) = front.split_at_mut(i * size);
            let row = &mut rest[..size];
            if symmetric {
                subtract_symmetric(row, i, done, start..i.min(stop));
            } else {
                subtract(row, done, start..i.min(stop));
            }
            if i < stop {
                let pivot = &mut row[i];
                if !pivot.is_finite() {
                    return Err(Broken);
                }
                if pivot.abs() < SMALLEST_PIVOT {
                    *pivot = REPLACEMENT;
                }
            }
        }
    }
    Ok(())
}

/// Subtracts multiples of pivot rows from a row, and stores the factors in place of the zeros.
fn subtract(row: &mut [f64], done: &[f64], pivots: Range<usize>) {
    let size = row.len();
    let mut k = pivots.start;
    while k + TOGETHER <= pivots.end {
        let pivot_rows: [&[f64]; TOGETHER] =
            std::array::from_fn(|m| &done[(k + m) * size..(k + m + 1) * size]);
        let mut l = [0.0; TOGETHER];
        for m in 0..TOGETHER {
            let mut value = row[k + m];
            for before in 0..m {
                value -= l[before] * pivot_rows[before][k + m];
            }
            l[m] = value / pivot_rows[m][k + m];
            row[k + m] = l[m];
        }
        k += TOGETHER;
        subtract_together(
            &mut row[k..],
            l,
            pivot_rows.map(|pivot_row| &pivot_row[k..]),
        );
    }
    for k in k..pivots.end {
        let pivot_row = &done[k * size..(k + 1) * size];
        let l = row[k] / pivot_row[k];
        row[k] = l;
        for (value, upper) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
            *value -= l * upper;
        }
    }
}

/// The same for row `i` of a symmetric front, whose entries before the diagonal are in the pivot rows already.
fn subtract_symmetric(row: &mut [f64], i: usize, done: &[f64], pivots: Range<usize>) {
    let size = row.len();
    let mut k = pivots.start;
    while k + TOGETHER <= pivots.end {
        let pivot_rows: [&[f64]; TOGETHER] =
            std::array::from_fn(|m| &done[(k + m) * size..(k + m + 1) * size]);
        let l = std::array::from_fn(|m| pivot_rows[m][i] / pivot_rows[m][k + m]);
        row[k..k + TOGETHER].copy_from_slice(&l);
        subtract_together(
            &mut row[i..],
            l,
            pivot_rows.map(|pivot_row| &pivot_row[i..]),
        );
        k += TOGETHER;
    }
    for k in k..pivots.end {
        let pivot_row = &done[k * size..(k + 1) * size];
        let l = pivot_row[i] / pivot_row[k];
        row[k] = l;
        for (value, upper) in row[i..].iter_mut().zip(&pivot_row[i..]) {
            *value -= l * upper;
        }
    }
}

fn subtract_together(row: &mut [f64], l: [f64; TOGETHER], pivot_rows: [&[f64]; TOGETHER]) {
    let [a, b, c, d] = pivot_rows.map(|pivot_row| &pivot_row[..row.len()]);
    for (j, value) in row.iter_mut().enumerate() {
        *value -= (l[0] * a[j] + l[1] * b[j]) + (l[2] * c[j] + l[3] * d[j]);
    }
}
