//! What the solvers carry from one step to the next, for somebody who goes on with a run later.

use rayon::prelude::*;

use super::{Last, Solvers};
use crate::pressure::NO_ROW;
use crate::tiles::{Coord, Tiles};

/// The last pressure, cell by cell: where the next solve starts, and so part of its result.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmStart<const D: usize> {
    /// Length of the step that it belongs to; zero if there was none.
    pub dt: f64,
    /// Cells that had a pressure.
    pub cells: Vec<Coord<D>>,
    /// Their pressure in pascal.
    pub pressure: Vec<f64>,
}

impl<const D: usize> Solvers<D> {
    /// What the next solve will start from.
    pub fn warm_start(&self) -> WarmStart<D> {
        // Every field is named, so that a new one is thought about here: what is left out is made anew by every solve.
        let Solvers {
            workspace: _,
            cells: _,
            pressure: _,
            separated: _,
            displacement: _,
            last:
                Last {
                    tiles,
                    rows,
                    pressure,
                    dt,
                },
        } = self;
        let mut cells = vec![[0; D]; pressure.len()];
        for (index, &row) in rows.iter().enumerate() {
            if row != NO_ROW {
                cells[row as usize] = tiles.coord(index);
            }
        }
        WarmStart {
            dt: *dt,
            cells,
            pressure: pressure.clone(),
        }
    }

    /// Starts the next solve from there, on a grid of `size` cells. `None` if a cell is not on that grid.
    pub fn from_warm_start(start: WarmStart<D>, size: [usize; D]) -> Option<Self> {
        let WarmStart {
            dt,
            cells,
            pressure,
        } = start;
        if cells.len() != pressure.len() {
            return None;
        }
        let mut tiles = Tiles::new(size);
        tiles.cover(cells.par_iter().copied(), 0);
        let mut rows = Vec::new();
        tiles.reset(&mut rows, NO_ROW);
        for (row, &cell) in cells.iter().enumerate() {
            let index = tiles.index(cell);
            if !tiles.exists(index) {
                return None;
            }
            rows[index] = row as u32;
        }
        Some(Self {
            last: Last {
                tiles,
                rows,
                pressure,
                dt,
            },
            ..Self::new()
        })
    }
}
