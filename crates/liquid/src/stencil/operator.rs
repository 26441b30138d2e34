//! The stencil as a linear operator and as a sparse matrix.

use meniscus_lcp::{Csr, Operator, Rows};
use rayon::prelude::*;

use super::{CHUNK, NO_NEIGHBOUR, Stencil};

/// The entries of a row, columns rising.
struct Entries {
    list: [(u32, f64); 7],
    count: usize,
}

impl Entries {
    /// Adds an entry; in the usual order of rows its column is the highest so far.
    #[inline(always)]
    fn push(&mut self, column: u32, value: f64) {
        let mut place = self.count;
        while place > 0 && self.list[place - 1].0 > column {
            self.list[place] = self.list[place - 1];
            place -= 1;
        }
        self.list[place] = (column, value);
        self.count += 1;
    }

    fn list(&self) -> &[(u32, f64)] {
        &self.list[..self.count]
    }
}

/// Whether rows are numbered along the last axis around here.
#[inline(always)]
fn is_in_order<const D: usize>(row: u32, near: &[[u32; 2]; D]) -> bool {
    let mut between = [0, u32::MAX];
    let mut rising = true;
    for &[low, high] in near {
        rising &= between[0] <= low && high <= between[1];
        between = [low, high];
    }
    rising && between[0] < row && row < between[1]
}

impl<const D: usize> Stencil<D> {
    #[inline(always)]
    fn entries_of(&self, row: usize) -> Entries {
        let near = &self.neighbours[row];
        let mut entries = Entries {
            list: [(0, 0.0); 7],
            count: 0,
        };
        // Rows follow one another along the last axis.
        match self.irregular.get(row) {
            None => {
                let value = -self.full_weight;
                near.iter().for_each(|near| entries.push(near[0], value));
                entries.push(row as u32, self.full_diagonal());
                let high = near.iter().rev();
                high.for_each(|near| entries.push(near[1], value));
            }
            Some(own) => {
                let sides = near.iter().zip(&own.weight);
                let mut add = |column: u32, weight: f64| {
                    if column != NO_NEIGHBOUR {
                        entries.push(column, -weight);
                    }
                };
                let high = sides.clone().rev();
                sides.for_each(|(near, weight)| add(near[0], weight[0]));
                add(row as u32, -own.diagonal);
                high.for_each(|(near, weight)| add(near[1], weight[1]));
            }
        }
        entries
    }

    /// The matrix with its entries, made when it is first asked for.
    pub fn matrix(&self) -> &Csr {
        self.matrix.get_or_init(|| self.to_csr())
    }

    fn to_csr(&self) -> Csr {
        let n = self.rows();
        let mut starts = Vec::with_capacity(n + 1);
        starts.push(0);
        let mut end = 0;
        for near in &self.neighbours {
            let near = near.as_flattened().iter();
            end += 1 + near.filter(|&&row| row != NO_NEIGHBOUR).count();
            starts.push(end);
        }
        let (mut columns, mut values) = (vec![0; end], vec![0.0; end]);
        // Every chunk of rows has its own part of the arrays.
        let (mut columns_left, mut values_left) = (&mut columns[..], &mut values[..]);
        let parts: Vec<(&mut [u32], &mut [f64])> = (0..n.div_ceil(CHUNK))
            .map(|chunk| {
                let (first, last) = (chunk * CHUNK, ((chunk + 1) * CHUNK).min(n));
                let length = starts[last] - starts[first];
                (
                    columns_left.split_off_mut(..length).unwrap_or_default(),
                    values_left.split_off_mut(..length).unwrap_or_default(),
                )
            })
            .collect();
        let parts = parts.into_par_iter().enumerate();
        parts.for_each(|(chunk, (columns, values))| {
            let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(n);
            let mut places = columns.iter_mut().zip(values);
            for row in rows {
                let entries = self.entries_of(row);
                for (entry, (column, value)) in entries.list().iter().zip(&mut places) {
                    (*column, *value) = *entry;
                }
            }
        });
        match Csr::new(n, starts, columns, values) {
            Ok(matrix) => matrix,
            Err(fault) => unreachable!("a stencil has rising columns and finite entries: {fault}"),
        }
    }
}

impl<const D: usize> Operator for Stencil<D> {
    fn len(&self) -> usize {
        self.rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let parts = y.par_chunks_mut(CHUNK).enumerate();
        parts.for_each(|(chunk, y)| {
            for (k, y) in y.iter_mut().enumerate() {
                *y = self.row_dot(chunk * CHUNK + k, x);
            }
        });
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        self.apply(x, y);
    }

    fn diagonal(&self, d: &mut [f64]) {
        for (row, d) in d.iter_mut().enumerate() {
            *d = self.row(row).diagonal;
        }
    }
}

impl<const D: usize> Rows for Stencil<D> {
    /// In the order of the matrix, so that the two have the same rounding.
    #[inline]
    fn row_dot(&self, row: usize, x: &[f64]) -> f64 {
        let near = &self.neighbours[row];
        if self.is_regular(row) && is_in_order(row as u32, near) {
            let value = -self.full_weight;
            let add = |sum: f64, near: u32| sum + value * x[near as usize];
            let sum = near.iter().fold(0.0, |sum, near| add(sum, near[0]));
            let sum = sum + self.full_diagonal() * x[row];
            return near.iter().rev().fold(sum, |sum, near| add(sum, near[1]));
        }
        let entries = self.entries_of(row);
        let terms = entries.list().iter();
        terms.fold(0.0, |sum, &(column, value)| {
            sum + value * x[column as usize]
        })
    }

    fn visit_row(&self, row: usize, visit: &mut dyn FnMut(usize, f64)) {
        for &(column, value) in self.entries_of(row).list() {
            visit(column as usize, value);
        }
    }

    fn entries(&self) -> usize {
        let near = self.neighbours.iter().flatten().flatten();
        self.rows() + near.filter(|&&row| row != NO_NEIGHBOUR).count()
    }
}
