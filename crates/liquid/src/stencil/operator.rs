//! The stencil as a linear operator and as a sparse matrix.

use meniscus_lcp::{Csr, Operator, Rows};
use rayon::prelude::*;

use super::{CHUNK, NO_NEIGHBOUR, Stencil, StencilRow};

impl<const D: usize> StencilRow<D> {
    /// Columns and values of the row's entries, columns rising.
    fn entries(&self, row: usize) -> ([(u32, f64); 7], usize) {
        let mut entries = [(0, 0.0); 7];
        entries[0] = (row as u32, self.diagonal);
        let mut count = 1;
        let near = self.neighbours.as_flattened().iter();
        for (&column, &weight) in near.zip(self.weight.as_flattened()) {
            if column != NO_NEIGHBOUR {
                entries[count] = (column, -weight);
                count += 1;
            }
        }
        entries[..count].sort_unstable_by_key(|entry| entry.0);
        (entries, count)
    }
}

impl<const D: usize> Stencil<D> {
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
                let (entries, count) = self.row(row).entries(row);
                for (entry, (column, value)) in entries[..count].iter().zip(&mut places) {
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
    #[inline]
    fn row_dot(&self, row: usize, x: &[f64]) -> f64 {
        let near = self.neighbours[row].as_flattened();
        match self.irregular.get(row) {
            None => {
                let beside = near.iter().map(|&near| x[near as usize]);
                self.full_weight * beside.fold((2 * D) as f64 * x[row], |sum, x| sum - x)
            }
            Some(own) => {
                let mut sum = own.diagonal * x[row];
                for (&near, weight) in near.iter().zip(own.weight.as_flattened()) {
                    if near != NO_NEIGHBOUR {
                        sum -= weight * x[near as usize];
                    }
                }
                sum
            }
        }
    }

    fn visit_row(&self, row: usize, visit: &mut dyn FnMut(usize, f64)) {
        let (entries, count) = self.row(row).entries(row);
        for &(column, value) in &entries[..count] {
            visit(column as usize, value);
        }
    }

    fn entries(&self) -> usize {
        let near = self.neighbours.iter().flatten().flatten();
        self.rows() + near.filter(|&&row| row != NO_NEIGHBOUR).count()
    }
}
