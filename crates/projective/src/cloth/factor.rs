//! Cholesky factor of a sparse matrix that is the same for the three coordinates.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::vector::V3;

/// A symmetric matrix as entries on and below the diagonal; entries at the same place add up.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    size: usize,
    entries: Vec<(u32, u32, f64)>,
}

impl Entries {
    /// A zero matrix.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            entries: Vec::new(),
        }
    }

    /// Adds `value` at `(row, column)` and, off the diagonal, at `(column, row)`.
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        let (row, column) = (row.max(column), row.min(column));
        self.entries.push((row as u32, column as u32, value));
    }

    /// Order of the unknowns by the algorithm of Cuthill and McKee, reversed: neighbours get close numbers.
    fn order(&self) -> Vec<u32> {
        let mut neighbours = vec![Vec::new(); self.size];
        for &(i, j, _) in &self.entries {
            if i != j {
                neighbours[i as usize].push(j);
                neighbours[j as usize].push(i);
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let degree = |i: u32| neighbours[i as usize].len();
        let mut is_placed = vec![false; self.size];
        let mut order: Vec<u32> = Vec::with_capacity(self.size);
        let mut by_degree: Vec<u32> = (0..self.size as u32).collect();
        by_degree.sort_by_key(|&i| (degree(i), i));
        for &seed in &by_degree {
            if is_placed[seed as usize] {
                continue;
            }
            let mut start = seed;
            // Two sweeps end far from the middle of a part.
            for _ in 0..2 {
                start = farthest(start, &neighbours);
            }
            let first = order.len();
            order.push(start);
            is_placed[start as usize] = true;
            let mut next = first;
            while next < order.len() {
                let mut around: Vec<u32> = neighbours[order[next] as usize]
                    .iter()
                    .copied()
                    .filter(|&j| !is_placed[j as usize])
                    .collect();
                around.sort_by_key(|&j| (degree(j), j));
                for j in around {
                    is_placed[j as usize] = true;
                    order.push(j);
                }
                next += 1;
            }
        }
        order.reverse();
        order
    }
}

/// The last of the points that a breadth-first search reaches.
fn farthest(start: u32, neighbours: &[Vec<u32>]) -> u32 {
    let mut seen = std::collections::BTreeSet::from([start]);
    let mut queue = VecDeque::from([start]);
    let mut last = start;
    while let Some(i) = queue.pop_front() {
        last = i;
        for &j in &neighbours[i as usize] {
            if seen.insert(j) {
                queue.push_back(j);
            }
        }
    }
    last
}

/// The factor `L` of `L Lᵀ`: each row from its first entry to the diagonal.
#[derive(Clone, Debug, Default)]
pub struct Factor {
    /// Place of each unknown in the order of the factor.
    place: Vec<u32>,
    /// First column of each row.
    first: Vec<u32>,
    /// Where each row ends in `values`.
    end: Vec<usize>,
    values: Vec<f64>,
}

impl Factor {
    /// The factor of a matrix; `None` if it is not positive definite.
    pub fn new(matrix: &Entries) -> Option<Self> {
        let n = matrix.size;
        let mut place = vec![0; n];
        for (at, &i) in matrix.order().iter().enumerate() {
            place[i as usize] = at as u32;
        }
        let mut first: Vec<u32> = (0..n as u32).collect();
        for &(i, j, _) in &matrix.entries {
            let (i, j) = (place[i as usize], place[j as usize]);
            let row = i.max(j) as usize;
            first[row] = first[row].min(i.min(j));
        }
        let mut end = Vec::with_capacity(n);
        let mut len = 0;
        for (row, &first) in first.iter().enumerate() {
            len += row + 1 - first as usize;
            end.push(len);
        }
        let mut values = vec![0.0; len];
        for &(i, j, value) in &matrix.entries {
            let (i, j) = (place[i as usize], place[j as usize]);
            let (row, column) = (i.max(j) as usize, i.min(j) as usize);
            values[end[row] - 1 - (row - column)] += value;
        }
        for row in 0..n {
            let from = first[row] as usize;
            let (before, own) = values.split_at_mut(end[row] - (row + 1 - from));
            for column in from..row {
                let other_from = first[column] as usize;
                let start = from.max(other_from);
                let other_end = end[column];
                let other = &before[other_end - 1 - (column - start)..other_end - 1];
                let product = inner(&own[start - from..column - from], other);
                let pivot = before[other_end - 1];
                own[column - from] = (own[column - from] - product) / pivot;
            }
            let (rest, diagonal) = own.split_at_mut(row - from);
            let square = diagonal[0] - inner(rest, rest);
            if square <= 0.0 || square.is_nan() {
                return None;
            }
            diagonal[0] = square.sqrt();
        }
        Some(Self {
            place,
            first,
            end,
            values,
        })
    }

    /// Solves for the three coordinates of `b`, in place.
    pub fn solve(&self, b: &mut [V3]) {
        let n = self.place.len();
        let solved: Vec<Vec<f64>> = (0..3)
            .into_par_iter()
            .map(|axis| {
                let mut x = vec![0.0; n];
                for (i, &at) in self.place.iter().enumerate() {
                    x[at as usize] = b[i][axis];
                }
                self.solve_one(&mut x);
                x
            })
            .collect();
        for (b, &at) in b.iter_mut().zip(&self.place) {
            for axis in 0..3 {
                b[axis] = solved[axis][at as usize];
            }
        }
    }

    fn solve_one(&self, x: &mut [f64]) {
        for row in 0..x.len() {
            let (from, end) = (self.first[row] as usize, self.end[row]);
            let entries = &self.values[end - 1 - (row - from)..end - 1];
            x[row] = (x[row] - inner(entries, &x[from..row])) / self.values[end - 1];
        }
        for row in (0..x.len()).rev() {
            let (from, end) = (self.first[row] as usize, self.end[row]);
            let entries = &self.values[end - 1 - (row - from)..end - 1];
            let value = x[row] / self.values[end - 1];
            x[row] = value;
            for (x, entry) in x[from..row].iter_mut().zip(entries) {
                *x -= entry * value;
            }
        }
    }
}

/// Scalar product in four lanes.
fn inner(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = a4.remainder().iter().zip(b4.remainder());
    let rest: f64 = rest.map(|(x, y)| x * y).sum();
    for (x, y) in a4.zip(b4) {
        for lane in 0..4 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solution_satisfies_the_equations() {
        // A grid of springs with one fixed corner, and a part of its own.
        let n = 7;
        let mut matrix = Entries::new(n * n + 3);
        for j in 0..n {
            for i in 0..n {
                let here = j * n + i;
                matrix.add(here, here, 0.01 * (1.0 + here as f64));
                for other in [
                    (i + 1 < n).then_some(here + 1),
                    (j + 1 < n).then_some(here + n),
                ] {
                    let Some(other) = other else { continue };
                    matrix.add(here, here, 1.0);
                    matrix.add(other, other, 1.0);
                    matrix.add(here, other, -1.0);
                }
            }
        }
        for k in 0..3 {
            matrix.add(n * n + k, n * n + k, 2.0);
        }
        matrix.add(n * n, n * n + 1, -1.0);
        let right: Vec<V3> = (0..matrix.size)
            .map(|i| [1.0, (i as f64).sin(), (i * i % 11) as f64])
            .collect();
        let mut x = right.clone();
        Factor::new(&matrix)
            .expect("positive definite")
            .solve(&mut x);
        let mut product = vec![[0.0; 3]; matrix.size];
        for &(i, j, value) in &matrix.entries {
            let (i, j) = (i as usize, j as usize);
            for axis in 0..3 {
                product[i][axis] += value * x[j][axis];
                if i != j {
                    product[j][axis] += value * x[i][axis];
                }
            }
        }
        for (product, right) in product.iter().zip(&right) {
            for axis in 0..3 {
                assert!((product[axis] - right[axis]).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        let mut matrix = Entries::new(2);
        matrix.add(0, 0, 1.0);
        matrix.add(1, 1, 1.0);
        matrix.add(1, 0, 2.0);
        assert!(Factor::new(&matrix).is_none());
        assert!(Factor::new(&Entries::new(0)).is_some());
    }
}
