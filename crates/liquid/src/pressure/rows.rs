//! Map from cells to rows, in one and a half bits per cell.

use crate::grid::cell_set::CellSet;
use crate::grid::tiles::Tiles;
use crate::growth::Growth;

/// CellSet cells that are no unknowns.
pub const NO_ROW: u32 = u32::MAX;

/// The cells that have a row, and which. Rows follow one another through each tile: it takes one bit to say whether a cell has
/// one, and for every 64 cells the first.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    cells: CellSet,
    /// Rows before the first cell of each word of marks.
    first: Vec<u32>,
}

impl Rows {
    /// Numbers the cells tile by tile in the order of the tiles.
    pub fn in_order(cells: CellSet) -> Self {
        let mut next = 0;
        let mut rows = Self::default();
        rows.first.extend(cells.words().iter().map(|word| {
            let first = next;
            next += word.count_ones();
            first
        }));
        rows.cells = cells;
        rows
    }

    /// Numbers the cells tile by tile, tiles of one checkerboard colour together. Returns where the rows of each tile that has
    /// some start, and the end of the last, and how many such tiles there are before each colour, and in all.
    pub fn by_colour<const D: usize>(
        &mut self,
        tiles: &Tiles<D>,
        cells: CellSet,
    ) -> (Vec<usize>, Vec<usize>) {
        let words = Tiles::<D>::CELLS / 64;
        self.first.clear();
        self.first.resize_closely(cells.words().len(), 0);
        let (mut starts, mut colours) = (vec![0], vec![0]);
        let mut next = 0;
        for colour in 0..2 {
            for slot in (0..tiles.len()).filter(|&slot| tiles.colour(slot) == colour) {
                let of_tile = slot * words..(slot + 1) * words;
                let before = next;
                for (first, word) in self.first[of_tile.clone()]
                    .iter_mut()
                    .zip(&cells.words()[of_tile])
                {
                    *first = next;
                    next += word.count_ones();
                }
                if next > before {
                    starts.push(next as usize);
                }
            }
            colours.push(starts.len() - 1);
        }
        self.cells = cells;
        (starts, colours)
    }

    /// How many cells have a row.
    pub fn count(&self) -> usize {
        let words = self.cells.words().iter();
        words.map(|word| word.count_ones() as usize).sum()
    }

    /// The row of the cell with this index, or [`NO_ROW`].
    #[inline]
    pub fn of(&self, index: usize) -> u32 {
        let Some(&word) = self.cells.words().get(index / 64) else {
            return NO_ROW;
        };
        let bit = 1 << (index % 64);
        if word & bit == 0 {
            return NO_ROW;
        }
        self.first[index / 64] + (word & (bit - 1)).count_ones()
    }

    /// The cells that have a row.
    pub fn cells(&self) -> &CellSet {
        &self.cells
    }

    /// The same rows in the memory of others.
    pub fn copy_to(&self, other: &mut Rows) {
        self.cells.copy_to(&mut other.cells);
        other.first.clear();
        other.first.make_room(self.first.len());
        other.first.extend_from_slice(&self.first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::cell_set::tests::scattered;

    fn check<const D: usize>(cells: [[i32; D]; 2]) {
        let (tiles, wanted) = scattered(cells);
        let all: Vec<usize> = (0..tiles.cells()).filter(|&index| wanted(index)).collect();
        let slot = |index: usize| index / Tiles::<D>::CELLS;

        let mut by_colour = all.clone();
        by_colour.sort_by_key(|&index| (tiles.colour(slot(index)), index));
        let mut rows = Rows::default();
        let (starts, colours) = rows.by_colour(&tiles, CellSet::of(&tiles, wanted));
        for (row, &index) in by_colour.iter().enumerate() {
            assert_eq!(rows.of(index), row as u32);
        }
        assert_eq!(rows.count(), all.len());
        for index in 0..tiles.field_len() + 100 {
            let has_row = tiles.exists(index) && wanted(index);
            assert_eq!(rows.of(index) != NO_ROW, has_row, "{index}");
        }
        // Every block is the rows of one tile, and its colour is that of the tile.
        assert_eq!((starts[0], starts[starts.len() - 1]), (0, all.len()));
        for (block, ends) in starts.windows(2).enumerate() {
            let tile = slot(by_colour[ends[0]]);
            let own = &by_colour[ends[0]..ends[1]];
            assert!(own.iter().all(|&index| slot(index) == tile));
            assert_eq!(usize::from(block >= colours[1]), tiles.colour(tile));
        }
        assert_eq!((colours[0], colours[2]), (0, starts.len() - 1));

        let in_order = Rows::in_order(CellSet::listed(&tiles, all.iter().copied()));
        for (row, &index) in all.iter().enumerate() {
            assert_eq!(in_order.of(index), row as u32);
        }
        let mut copy = Rows::default();
        rows.copy_to(&mut copy);
        assert!((0..tiles.field_len()).all(|index| copy.of(index) == rows.of(index)));
    }

    #[test]
    fn rows_follow_one_another_through_tiles_of_one_colour_and_then_the_other() {
        check([[3, 9], [20, 17]]);
        check([[3, 9, 17], [15, 8, 16]]);
    }
}
