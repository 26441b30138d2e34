//! Warm start: the last pressure, saved in checkpoints.

use rayon::prelude::*;

use super::{Last, PressureSolver};
use crate::grid::cell_set::CellSet;
use crate::grid::tiles::{Coord, Tiles};
use crate::pressure::Rows;

/// The last pressure, cell by cell: where the next solve starts, and so part of its result.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmStart<const D: usize> {
    /// Length of the step that it belongs to; zero if there was none.
    pub dt: f64,
    /// Cells that had a pressure, in the order of tiles.
    pub cells: Vec<Coord<D>>,
    /// Their pressure in pascal.
    pub pressure: Vec<f64>,
}

impl<const D: usize> PressureSolver<D> {
    /// What the next solve will start from.
    pub fn warm_start(&self) -> WarmStart<D> {
        // Every field is named, so that a new one is thought about here: what is left out is made anew by every solve.
        let PressureSolver {
            workspace: _,
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
        let cells = || rows.cells().within(0..tiles.cells());
        WarmStart {
            dt: *dt,
            cells: cells().map(|index| tiles.coord(index)).collect(),
            pressure: cells()
                .map(|index| pressure[rows.of(index) as usize])
                .collect(),
        }
    }

    /// Starts the next solve from there, on a grid of `size` cells. `None` if a cell is not on that grid, or twice
    /// there.
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
        let mut places: Vec<(usize, f64)> = cells
            .iter()
            .map(|&cell| tiles.index(cell))
            .zip(pressure)
            .collect();
        // As a rule they are in order.
        places.sort_by_key(|place| place.0);
        if places.iter().any(|&(index, _)| !tiles.exists(index)) {
            return None;
        }
        let marked = CellSet::listed(&tiles, places.iter().map(|place| place.0));
        let rows = Rows::in_order(marked);
        if rows.count() != places.len() {
            return None;
        }
        let pressure = places.into_iter().map(|place| place.1).collect();
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
