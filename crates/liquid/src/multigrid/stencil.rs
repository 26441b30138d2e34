//! A row of the matrix as seen from its cell.

use meniscus_lcp::{Csr, InputError};

use super::level::NONE;
use crate::grid::tiles::Coord;

/// Couplings that differ by less, as a share, are the same: rounding of a sum of a few.
const SAME: f64 = 1e-13;

/// A row of the matrix by the sides of its cell.
pub(super) struct Stencil<const D: usize> {
    pub near: [[u32; 2]; D],
    pub weight: [[f64; 2]; D],
    pub diagonal: f64,
}

impl<const D: usize> Stencil<D> {
    #[inline(always)]
    pub fn read(
        matrix: &Csr,
        cells: &[Coord<D>],
        unknown: &[u32],
        row: usize,
    ) -> Result<Self, InputError> {
        let mut stencil = Stencil {
            near: [[NONE; 2]; D],
            weight: [[0.0; 2]; D],
            diagonal: 0.0,
        };
        let cell = cells[row];
        let (columns, values) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            let column = column as usize;
            if column == row {
                stencil.diagonal = value;
                continue;
            }
            let other = cells[column];
            let (mut distance, mut along) = (0u32, 0);
            for axis in 0..D {
                let step = other[axis].wrapping_sub(cell[axis]);
                distance = distance.saturating_add(step.unsigned_abs());
                along += (axis as i32 + 1) * step.signum();
            }
            let why = if distance != 1 {
                "it is coupled with a row whose cell does not touch its own"
            } else if !(value <= 0.0 && value.is_finite()) {
                "a coupling is positive"
            } else {
                let (axis, side) = (along.unsigned_abs() as usize - 1, (along > 0) as usize);
                stencil.near[axis][side] = unknown[column];
                stencil.weight[axis][side] = -value;
                continue;
            };
            return Err(InputError::Structure { row, why });
        }
        if !(stencil.diagonal >= 0.0 && stencil.diagonal.is_finite()) {
            return Err(InputError::Diagonal {
                row,
                value: stencil.diagonal,
            });
        }
        Ok(stencil)
    }

    pub fn sides(&self) -> impl Iterator<Item = (&u32, &f64)> {
        let near = self.near.as_flattened().iter();
        near.zip(self.weight.as_flattened())
    }

    /// The order in which a regular row lists its sides.
    pub fn order(&self, matrix: &Csr, unknown: &[u32], row: usize) -> Order<D> {
        let mut order = Order::default();
        let columns = matrix.row(row).0.iter().take(order.side.len());
        for (k, &column) in columns.enumerate() {
            let near = self.near.as_flattened().iter();
            let mut sides = near.zip(0u8..);
            let side = sides.find(|(near, _)| **near == unknown[column as usize]);
            if let Some((_, side)) = side {
                order.side[k] = side;
                order.step[k][side as usize / 2] = 2 * (side as i32 % 2) - 1;
            }
        }
        order
    }

    #[inline(always)]
    pub fn is_regular(&self, full: f64) -> bool {
        let weights = self.weight.as_flattened();
        let whole = (2 * D) as f64 * full;
        weights.iter().all(|&w| is_same(w, full)) && is_same(self.diagonal, whole) && full > 0.0
    }
}

/// Whether two weights are the same but for rounding.
#[inline(always)]
pub(super) fn is_same(weight: f64, other: f64) -> bool {
    (weight - other).abs() <= SAME * other
}

/// The side that the diagonal is on.
const OWN: u8 = u8::MAX;

/// In which order a row lists the sides of its cell: as a rule that of a row just before it, and then a regular row is
/// recognised without finding out where each of its columns lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order<const D: usize> {
    /// Of every entry; only the first `2 D + 1` count.
    side: [u8; 7],
    step: [Coord<D>; 7],
}

impl<const D: usize> Default for Order<D> {
    fn default() -> Self {
        Self {
            side: [OWN; 7],
            step: [[0; D]; 7],
        }
    }
}

impl<const D: usize> Order<D> {
    /// The neighbours of a row that lists its sides in this order and is regular, and its largest coupling.
    #[inline(always)]
    pub fn read(
        &self,
        matrix: &Csr,
        cells: &[Coord<D>],
        unknown: &[u32],
        row: usize,
        full: f64,
    ) -> Option<([[u32; 2]; D], f64)> {
        let (columns, values) = matrix.row(row);
        if columns.len() != 2 * D + 1 || values.len() != columns.len() {
            return None;
        }
        let cell = cells[row];
        let mut near = [[NONE; 2]; D];
        let (mut largest, mut same) = (0.0f64, true);
        for k in 0..2 * D + 1 {
            let (column, value, side) = (columns[k] as usize, values[k], self.side[k]);
            let (other, step) = (cells[column], self.step[k]);
            for axis in 0..D {
                same &= other[axis] == cell[axis].wrapping_add(step[axis]);
            }
            same &= if side == OWN {
                is_same(value, (2 * D) as f64 * full)
            } else {
                near.as_flattened_mut()[side as usize] = unknown[column];
                largest = if -value > largest { -value } else { largest };
                is_same(-value, full)
            };
        }
        (same && full > 0.0).then_some((near, largest))
    }
}
