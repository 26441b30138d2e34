//! A row of the matrix as seen from its cell.

use meniscus_lcp::{Csr, InputError};

use super::level::NONE;
use crate::tiles::Coord;

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

    #[inline(always)]
    pub fn is_regular(&self, full: f64) -> bool {
        let weights = self.weight.as_flattened();
        let whole = (2 * D) as f64 * full;
        weights.iter().all(|w| (w - full).abs() <= SAME * full)
            && (self.diagonal - whole).abs() <= SAME * whole
            && full > 0.0
    }
}
