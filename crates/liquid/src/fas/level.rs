//! Unknowns of a level, and the faces between them.

use meniscus_lcp::{Csr, InputError};

use crate::grid::tiles::Coord;

/// A row whose diagonal exceeds its couplings by no more than this part of it does so by rounding.
const ROUNDING: f64 = 1e-9;

/// The face to another unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub to: u32,
    /// `2 axis`, and one more on the high side.
    pub side: u8,
    pub weight: f64,
}

/// Unknowns, and the faces between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Level<const D: usize> {
    /// Cells of the unknowns, from zero on.
    pub cells: Vec<Coord<D>>,
    /// Where the links of an unknown begin.
    pub starts: Vec<usize>,
    pub links: Vec<Link>,
    /// What its faces to the air add to the diagonal.
    pub dirichlet: Vec<f64>,
    /// A bit for each side on which there is air.
    pub air: Vec<u8>,
    /// Weight of a full face.
    pub full_weight: f64,
}

impl<const D: usize> Level<D> {
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn links(&self, unknown: usize) -> &[Link] {
        &self.links[self.starts[unknown]..self.starts[unknown + 1]]
    }

    /// Whether there is a face to another unknown on this side.
    pub fn is_linked(&self, unknown: usize, side: u8) -> bool {
        self.links(unknown).iter().any(|link| link.side == side)
    }

    /// The finest level, from the matrix and the cells of its rows.
    pub fn finest(matrix: &Csr, cells: &[Coord<D>]) -> Result<Self, InputError> {
        if cells.len() != matrix.rows() {
            return Err(InputError::Length {
                what: "cells",
                expected: matrix.rows(),
                found: cells.len(),
            });
        }
        let first = cells.first().copied().unwrap_or([0; D]);
        let low = cells.iter().fold(first, |low, cell| {
            std::array::from_fn(|a| low[a].min(cell[a]))
        });
        let mut level = Self {
            cells: Vec::with_capacity(cells.len()),
            starts: vec![0],
            ..Self::default()
        };
        for (row, cell) in cells.iter().enumerate() {
            let (columns, values) = matrix.row(row);
            let (mut diagonal, mut sum) = (0.0, 0.0);
            for (&column, &value) in columns.iter().zip(values) {
                if column as usize == row {
                    diagonal = value;
                } else if value < 0.0 {
                    let side = side_between(*cell, cells[column as usize]);
                    let side = side.ok_or(InputError::Structure {
                        row,
                        why: "it is coupled to a row whose cell shares no face with its own",
                    })?;
                    level.links.push(Link {
                        to: column,
                        side,
                        weight: -value,
                    });
                    level.full_weight = level.full_weight.max(-value);
                    sum -= value;
                }
            }
            level.starts.push(level.links.len());
            level
                .cells
                .push(std::array::from_fn(|a| cell[a].wrapping_sub(low[a])));
            let rest = diagonal - sum;
            level.dirichlet.push(if rest > ROUNDING * diagonal {
                rest
            } else {
                0.0
            });
        }
        level.find_air();
        Ok(level)
    }

    /// A row with air on some side has it on those without a face, unless it looks like a wall there: the row next to
    /// it along the wall has no face on that side either, and no air at all.
    fn find_air(&mut self) {
        let air = (0..self.len()).map(|row| self.sides_with_air(row));
        self.air = air.collect();
    }

    fn sides_with_air(&self, row: usize) -> u8 {
        if self.dirichlet[row] == 0.0 {
            return 0;
        }
        let is_wall =
            |other: usize, side| self.dirichlet[other] == 0.0 && !self.is_linked(other, side);
        let beside_wall = |side: u8| {
            let mut along = self.links(row).iter().filter(|l| l.side / 2 != side / 2);
            along.any(|link| is_wall(link.to as usize, side))
        };
        let closed = (0..2 * D as u8).filter(|&side| !self.is_linked(row, side));
        let only_one = closed.clone().count() == 1;
        closed
            .filter(|&side| only_one || !beside_wall(side))
            .fold(0, |bits, side| bits | 1 << side)
    }
}

/// The side of a cell on which another one lies, if they share a face.
fn side_between<const D: usize>(cell: Coord<D>, other: Coord<D>) -> Option<u8> {
    let mut side = None;
    for a in 0..D {
        match other[a].wrapping_sub(cell[a]) {
            0 => {}
            1 if side.is_none() => side = Some(2 * a as u8 + 1),
            -1 if side.is_none() => side = Some(2 * a as u8),
            _ => return None,
        }
    }
    side
}
