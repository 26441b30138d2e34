//! Classification of rows: regular ones have the full stencil.

use meniscus_lcp::{BoxMlcp, Csr, InputError};

use super::level::{CHUNK, NONE, nobody};
use super::stencil::{Order, Stencil};
use crate::grid::tiles::Coord;

/// Orders of a row's entries that are remembered: rows by tiles have others at either end of a tile.
const ORDERS: usize = 3;

/// Chunks that are read together.
const TOGETHER: usize = 4;

/// Reads the matrix to find regular unknowns.
pub(super) struct Reading<'a, const D: usize> {
    pub problem: &'a BoxMlcp<'a, Csr>,
    pub cells: &'a [Coord<D>],
    pub unknown: &'a [u32],
    pub full_weight: f64,
}

/// A part of the rows in order of their cells, and the unknowns of both colours in it.
pub(super) struct Part<'a, const D: usize> {
    pub order: &'a [u32],
    /// The first unknown of each colour of every chunk of the order.
    pub cuts: &'a [[u32; 2]],
    pub first: [u32; 2],
    pub near: [&'a mut [[[u32; 2]; D]]; 2],
    /// [`NONE`] of regular unknowns.
    pub row_of: [&'a mut [u32]; 2],
}

/// Cuts the entries of both colours in two.
fn split<T>([red, black]: [&mut [T]; 2], lengths: [u32; 2]) -> ([&mut [T]; 2], [&mut [T]; 2]) {
    let (low_red, high_red) = red.split_at_mut(lengths[0] as usize);
    let (low_black, high_black) = black.split_at_mut(lengths[1] as usize);
    ([low_red, low_black], [high_red, high_black])
}

impl<const D: usize> Reading<'_, D> {
    /// Notes which unknowns are regular, and the neighbours of these; returns the largest coupling of all.
    pub fn read(&self, part: Part<D>) -> Result<f64, InputError> {
        if part.cuts.len() <= TOGETHER {
            return self.read_rows(part);
        }
        let middle = part.cuts.len() / 2;
        let cut = part.cuts[middle];
        let lengths = [cut[0] - part.first[0], cut[1] - part.first[1]];
        let (low_near, high_near) = split(part.near, lengths);
        let (low_row_of, high_row_of) = split(part.row_of, lengths);
        let (low_order, high_order) = part.order.split_at(middle * CHUNK);
        let low = Part {
            order: low_order,
            cuts: &part.cuts[..middle],
            first: part.first,
            near: low_near,
            row_of: low_row_of,
        };
        let high = Part {
            order: high_order,
            cuts: &part.cuts[middle..],
            first: cut,
            near: high_near,
            row_of: high_row_of,
        };
        let (low, high) = rayon::join(|| self.read(low), || self.read(high));
        Ok(low?.max(high?))
    }

    fn read_rows(&self, part: Part<D>) -> Result<f64, InputError> {
        let mut largest = 0.0f64;
        let Part {
            first,
            mut near,
            mut row_of,
            ..
        } = part;
        let mut note = |unknown: u32, neighbours, row| {
            let colour = (unknown >= first[1]) as usize;
            let at = (unknown - first[colour]) as usize;
            (near[colour][at], row_of[colour][at]) = (neighbours, row);
        };
        let mut orders = [Order::<D>::default(); ORDERS];
        for &row in part.order {
            let row = row as usize;
            let (lower, upper) = (self.problem.lower()[row], self.problem.upper()[row]);
            if lower != upper && upper != f64::INFINITY {
                return Err(InputError::Structure {
                    row,
                    why: "it has an upper bound and is not held",
                });
            }
            let (matrix, cells, unknown) = (self.problem.matrix(), self.cells, self.unknown);
            let bounded = lower != f64::NEG_INFINITY;
            if !bounded {
                let mut tries = orders.iter();
                let full = self.full_weight;
                let found = tries.find_map(|order| order.read(matrix, cells, unknown, row, full));
                if let Some((near, weight)) = found {
                    largest = if weight > largest { weight } else { largest };
                    note(unknown[row], near, NONE);
                    continue;
                }
            }
            let stencil = Stencil::read(matrix, cells, unknown, row)?;
            let weights = stencil.weight.as_flattened().iter();
            largest = weights.fold(largest, |m, &w| if w > m { w } else { m });
            if !bounded && stencil.is_regular(self.full_weight) {
                note(unknown[row], stencil.near, NONE);
                orders.rotate_right(1);
                orders[0] = stencil.order(matrix, unknown, row);
            } else {
                note(unknown[row], nobody(), 0);
            }
        }
        Ok(largest)
    }
}
