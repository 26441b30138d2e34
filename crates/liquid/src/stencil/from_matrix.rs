//! A stencil from the entries of a matrix and the cells of its rows.

use meniscus_lcp::{Csr, InputError};
use rayon::prelude::*;

use super::{NO_NEIGHBOUR, Stencil, StencilRow};
use crate::compiled::Compiled;
use crate::grid::tiles::Coord;

/// A row whose diagonal exceeds its couplings by no more than this part of it does so by rounding.
const ROUNDING: f64 = 1e-9;

impl<const D: usize> Stencil<D> {
    /// The stencil of a matrix whose rows belong to these cells: rows that are coupled share a face, and no two rows share a cell.
    /// An error names a row that is none of a stencil, and says why.
    ///
    /// A matrix does not tell on which sides of a cell there is air: see [`StencilRow::air`]. It is guessed where a row has a
    /// Dirichlet part.
    pub fn from_matrix(matrix: &Csr, cells: &[Coord<D>]) -> Result<Self, InputError> {
        (Compiled::get().stencil_from_matrix)(matrix, cells)
    }

    pub(crate) fn from_matrix_impl(matrix: &Csr, cells: &[Coord<D>]) -> Result<Self, InputError> {
        let reading = Reading::new(matrix, cells)?;
        reading.stencil(|_, row| reading.sides_with_air(row))
    }

    /// The same where it is known which sides of a row's cell have air.
    pub(crate) fn from_matrix_and_air(
        matrix: &Csr,
        cells: &[Coord<D>],
        air: impl Fn(usize) -> u8 + Sync,
    ) -> Result<Self, InputError> {
        Reading::new(matrix, cells)?.stencil(|row, _| Ok(air(row)))
    }
}

struct Reading<'a, const D: usize> {
    matrix: &'a Csr,
    cells: &'a [Coord<D>],
}

impl<'a, const D: usize> Reading<'a, D> {
    fn new(matrix: &'a Csr, cells: &'a [Coord<D>]) -> Result<Self, InputError> {
        if cells.len() != matrix.rows() {
            return Err(InputError::Length {
                what: "cells",
                expected: matrix.rows(),
                found: cells.len(),
            });
        }
        Ok(Self { matrix, cells })
    }

    fn stencil(
        &self,
        air: impl Fn(usize, &StencilRow<D>) -> Result<u8, InputError> + Sync,
    ) -> Result<Stencil<D>, InputError> {
        // As a rule any row inside has the largest weight.
        let middle = match self.matrix.rows() {
            0 => &[],
            n => self.matrix.row(n / 2).1,
        };
        let full_weight = middle.iter().fold(0.0, |m: f64, v| m.max(-v));
        let mut stencil = Stencil::default();
        stencil.assemble(self.cells.par_iter().copied(), full_weight, |row, _| {
            let mut own = self.row(row)?;
            own.air = air(row, &own)?;
            Ok(own)
        })?;
        Ok(stencil)
    }

    fn row(&self, row: usize) -> Result<StencilRow<D>, InputError> {
        let mut stencil = StencilRow::EMPTY;
        let cell = self.cells[row];
        let (columns, values) = self.matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            if column as usize == row {
                stencil.diagonal = value;
                continue;
            }
            let why = match side_between(cell, self.cells[column as usize]) {
                None => "it is coupled with a row whose cell does not touch its own",
                Some(_) if !(value <= 0.0 && value.is_finite()) => "a coupling is positive",
                Some(_) if value == 0.0 => continue,
                Some((axis, high)) if stencil.neighbours[axis][high] == NO_NEIGHBOUR => {
                    stencil.neighbours[axis][high] = column;
                    stencil.weight[axis][high] = -value;
                    continue;
                }
                Some(_) => "two rows that it is coupled with share a cell",
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

    /// A row with a Dirichlet part has air on the sides without a face, unless it looks like a wall there: the row next to
    /// it along the wall has no face on that side either, and no Dirichlet part at all.
    fn sides_with_air(&self, own: &StencilRow<D>) -> Result<u8, InputError> {
        if !own.has_dirichlet_part() {
            return Ok(0);
        }
        let mut beside_wall = 0u8;
        for (side, &near) in own.neighbours.as_flattened().iter().enumerate() {
            if near == NO_NEIGHBOUR {
                continue;
            }
            let other = self.row(near as usize)?;
            if other.has_dirichlet_part() {
                continue;
            }
            let along = (0..2 * D).filter(|wall| wall / 2 != side / 2);
            for wall in along.filter(|&wall| !other.is_linked(wall)) {
                beside_wall |= 1 << wall;
            }
        }
        let closed = (0..2 * D).filter(|&side| !own.is_linked(side));
        let only_one = closed.clone().count() == 1;
        let bits =
            |sides: &mut dyn Iterator<Item = usize>| sides.fold(0, |bits, side| bits | 1 << side);
        let with_air = bits(
            &mut closed
                .clone()
                .filter(|&side| only_one || beside_wall >> side & 1 == 0),
        );
        // A Dirichlet part comes from some side, even if every one looks like a wall.
        Ok(match with_air {
            0 => bits(&mut closed.clone()),
            some => some,
        })
    }
}

impl<const D: usize> StencilRow<D> {
    /// Whether there is a neighbour on a side.
    pub fn is_linked(&self, side: usize) -> bool {
        self.neighbours[side / 2][side % 2] != NO_NEIGHBOUR
    }

    /// What the diagonal has beyond the weights; zero if that is rounding.
    pub fn dirichlet(&self) -> f64 {
        let sum: f64 = self.weight.as_flattened().iter().sum();
        let rest = self.diagonal - sum;
        if rest > ROUNDING * self.diagonal {
            rest
        } else {
            0.0
        }
    }

    fn has_dirichlet_part(&self) -> bool {
        self.dirichlet() > 0.0
    }
}

/// The axis and the side on which another cell lies, if the two share a face.
fn side_between<const D: usize>(cell: Coord<D>, other: Coord<D>) -> Option<(usize, usize)> {
    let mut side = None;
    for axis in 0..D {
        match other[axis].wrapping_sub(cell[axis]) {
            0 => {}
            1 if side.is_none() => side = Some((axis, 1)),
            -1 if side.is_none() => side = Some((axis, 0)),
            _ => return None,
        }
    }
    side
}
