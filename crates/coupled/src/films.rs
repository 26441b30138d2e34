//! Films of liquid thinner than a cell, between a body and what it lies on.
//!
//! Where two solids leave less than the grid sees, all faces of a cell are closed: it has no row, and the part of a body's
//! surface in it would feel no pressure. A body on the floor would be pressed down by the whole weight of the liquid above it, like a
//! suction cup. Liquid gets under what is not glued: in a film at rest the pressure is that of the liquid beside it. So a cell
//! that two solids close is joined with the closest row that it reaches through cells of its kind, and the pressure of
//! that row acts on the surfaces in it; what bodies displace there flows through the row. Where air is closer, it is
//! air. A body held at a distance that the grid sees has rows of its own, and none of this applies.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use meniscus_liquid::grid::cut_cells::open_share;
use meniscus_liquid::{SolidId, Tiles};
use meniscus_rigid::StagedStep;

use crate::shares::{RowShares, SHRUNK, ShareFinder};

/// Share of the faces of a cell that a body covers, of all, below which its surface is not in the cell.
const NEGLIGIBLE: f64 = 1e-9;
/// Rows at the end of a film that share it, one behind the other. A single one would have the force on many cells, and cycles
/// would have a hard time with it.
const SHARED_BY: usize = 3;
/// How much farther a cell is along gravity than across: at the same height the pressure is the same.
const STEEP: usize = 8;

/// What the liquid at the end of a film is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The cell of a row, and the direction in which one comes to it.
    Row {
        cell: usize,
        axis: usize,
        high: bool,
    },
    Air,
}

impl<const D: usize> ShareFinder<'_, D> {
    /// What solids cover of the faces of cells that are films, each with the rows that it is joined with, in the order of cells.
    pub fn of_films(
        &self,
        cells: &[u32],
        is_wall: &[bool],
        step: &StagedStep<D>,
    ) -> Vec<RowShares> {
        let films = self.films(step);
        if films.is_empty() {
            return Vec::new();
        }
        // Rows that solids touch: the others have no place for what bodies do.
        let walls = (cells.iter().zip(is_wall).enumerate()).filter(|(_, (_, wall))| **wall);
        let rows: HashMap<usize, u32> = walls
            .map(|(row, (&cell, _))| (cell as usize, row as u32))
            .collect();
        let ends = self.ends(&films, &rows);
        let mut joined = Vec::new();
        for (index, film) in &films {
            let Some(&End::Row { cell, axis, high }) = ends.get(index) else {
                continue;
            };
            let mut beyond = vec![rows[&cell]];
            let mut at = cell;
            while beyond.len() < SHARED_BY
                && self.weights.open(axis, self.weights.face(at, axis, high)) > 0.0
            {
                at = self.neighbour(at, axis, high);
                match rows.get(&at) {
                    Some(&row) => beyond.push(row),
                    None => break,
                }
            }
            let share = 1.0 / beyond.len() as f64;
            joined.extend(beyond.into_iter().map(|row| film.part(row, share)));
        }
        joined
    }

    /// The cells that are films, with what solids cover of their faces.
    fn films(&self, step: &StagedStep<D>) -> BTreeMap<usize, RowShares> {
        let mut films = BTreeMap::new();
        for (slot, near) in self.near.iter().enumerate() {
            let is_free = |solid: &SolidId| step.is_free(solid.0 as usize);
            if near.len() < 2 || !near.iter().any(is_free) {
                continue;
            }
            let first = slot * Tiles::<D>::CELLS;
            for index in first..first + Tiles::<D>::CELLS {
                if self.is_closed(index) && self.is_between(index, near) {
                    let shares = self.of_cell(index, step);
                    if !shares.bodies.is_empty() {
                        films.insert(index, shares);
                    }
                }
            }
        }
        films
    }

    fn neighbour(&self, index: usize, axis: usize, high: bool) -> usize {
        match high {
            true => self.weights.tiles.above(index, axis),
            false => self.weights.tiles.below(index, axis),
        }
    }

    /// Whether no face of a cell is open.
    fn is_closed(&self, index: usize) -> bool {
        let weights = &self.weights;
        (0..D).all(|a| {
            weights.open(a, index) == 0.0 && weights.open(a, weights.tiles.above(index, a)) == 0.0
        })
    }

    /// Whether a cell may have surfaces of two solids in it, and is not inside of one of them.
    fn is_between(&self, index: usize, near: &[SolidId]) -> bool {
        let dx = self.weights.dx;
        let x = (self.weights.tiles.coord(index)).map(|c| (c as f64 + 0.5) * dx);
        let reach = (0.5 * (D as f64).sqrt() + SHRUNK) * dx;
        let mut close = 0;
        for &solid in near {
            let distance = self.solids.distance_to_within(solid, x, 2.0 * reach);
            if distance < -reach {
                return false;
            }
            close += usize::from(distance < reach);
        }
        close > 1
    }

    /// What free bodies cover of a closed cell, those whose surface is not in it left out.
    fn of_cell(&self, index: usize, step: &StagedStep<D>) -> RowShares {
        let mut shares = self.of_row(0, index, step, true);
        let most = NEGLIGIBLE / self.weights.dx;
        (shares.bodies).retain(|(_, value)| value[..D].iter().any(|c| c.abs() > most));
        shares
    }

    /// The rows, or the air, that are closest to the films.
    fn ends(
        &self,
        films: &BTreeMap<usize, RowShares>,
        rows: &HashMap<usize, u32>,
    ) -> HashMap<usize, End> {
        let steepest = self.steepest();
        let ways = || (0..D).flat_map(|axis| [(axis, false), (axis, true)]);
        let way = |axis: usize| if Some(axis) == steepest { STEEP } else { 1 };
        let mut ends: HashMap<usize, End> = HashMap::new();
        // By distance, then rows before air: the order in which cells are found does not matter.
        let mut next = BinaryHeap::new();
        for &index in films.keys() {
            for (axis, high) in ways() {
                let cell = self.neighbour(index, axis, high);
                let end = match rows.contains_key(&cell) {
                    true => End::Row { cell, axis, high },
                    false if films.contains_key(&cell) || self.is_closed(cell) => continue,
                    false => End::Air,
                };
                if self.is_passed(index, axis, high) {
                    next.push(Reverse((way(axis), end, index)));
                }
            }
        }
        while let Some(Reverse((far, end, index))) = next.pop() {
            if ends.contains_key(&index) {
                continue;
            }
            ends.insert(index, end);
            for (axis, high) in ways() {
                let other = self.neighbour(index, axis, high);
                let is_new = films.contains_key(&other) && !ends.contains_key(&other);
                if is_new && self.is_passed(index, axis, high) {
                    next.push(Reverse((far + way(axis), end, other)));
                }
            }
        }
        ends
    }

    /// The axis along which gravity is the strongest.
    fn steepest(&self) -> Option<usize> {
        let along = |axis: &usize| self.gravity[*axis].abs();
        (0..D)
            .filter(|axis| along(axis) > 0.0)
            .max_by(|a, b| along(a).total_cmp(&along(b)))
    }

    /// Whether a film continues through a face: no solid covers all of it by itself, walls as thick as the grid makes them.
    fn is_passed(&self, index: usize, axis: usize, high: bool) -> bool {
        let near = &self.near[index / Tiles::<D>::CELLS];
        let corners = self.corners(index, axis, high);
        let dx = self.weights.dx;
        let growth: [f64; 4] = std::array::from_fn(|k| {
            if k >= 1 << (D - 1) {
                return 0.0;
            }
            let own = near.iter().map(|&s| self.solids.distance_to(s, corners[k]));
            let thin = own.fold(f64::INFINITY, f64::min);
            (thin - self.solids.distance(corners[k])).max(0.0)
        });
        near.iter().all(|&solid| {
            let distance =
                |k: usize| self.solids.distance_to(solid, corners[k]) + SHRUNK * dx - growth[k];
            open_share::<D>(std::array::from_fn(distance)) > 0.0
        })
    }
}

impl RowShares {
    /// A share of it for a row.
    fn part(&self, row: u32, share: f64) -> Self {
        let bodies = self.bodies.iter();
        Self {
            row,
            bodies: bodies
                .map(|(body, value)| (*body, value.map(|v| share * v)))
                .collect(),
            given: share * self.given,
            ..*self
        }
    }
}
