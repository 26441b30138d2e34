//! Sets of cells as bit masks, dilated and eroded by a few operations per 64 cells.

use rayon::prelude::*;

use crate::grid::tiles::Tiles;
use crate::growth::Growth;

/// Words that are worked on together.
const RUN: usize = 1024;
/// Bits of a word whose cells are first in their row.
const FIRST: u64 = 0x0101_0101_0101_0101;

/// A set of cells. The null tile has none.
#[derive(Clone, Debug, Default)]
pub struct CellSet {
    /// Bit `i` of word `w` belongs to the cell with index `64 w + i`.
    words: Vec<u64>,
}

impl CellSet {
    /// The cells for which `wanted` is true.
    pub fn of<const D: usize>(tiles: &Tiles<D>, wanted: impl Fn(usize) -> bool + Sync) -> Self {
        let words = (0..tiles.field_len() / 64)
            .into_par_iter()
            .with_min_len(RUN / 16)
            .map(|word| {
                let first = 64 * word;
                if tiles.exists(first) {
                    (0..64).fold(0, |bits, i| bits | u64::from(wanted(first + i)) << i)
                } else {
                    0
                }
            });
        Self {
            words: words.collect(),
        }
    }

    /// The cells whose value in a field is wanted: quicker than to ask for every cell.
    pub fn in_field<const D: usize, T: Copy + Sync>(
        tiles: &Tiles<D>,
        field: &[T],
        wanted: impl Fn(T) -> bool + Sync,
    ) -> Self {
        // Brings the lowest bits of eight bytes together in the highest byte.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        let in_tiles = tiles.cells() / 64;
        let words = field.par_chunks(64).enumerate().with_min_len(RUN / 16);
        let words = words.map(|(word, values)| {
            if word >= in_tiles {
                return 0;
            }
            let mut flags = [0; 64];
            for (flag, &value) in flags.iter_mut().zip(values) {
                *flag = u8::from(wanted(value));
            }
            let eights = flags.as_chunks().0.iter().rev();
            eights.fold(0, |bits, &flags| {
                bits << 8 | u64::from_le_bytes(flags).wrapping_mul(GATHER) >> 56
            })
        });
        Self {
            words: words.collect(),
        }
    }

    /// The cells with these indices.
    pub fn listed<const D: usize>(tiles: &Tiles<D>, indices: impl Iterator<Item = usize>) -> Self {
        let mut words = vec![0; tiles.field_len() / 64];
        for index in indices {
            words[index / 64] |= 1 << (index % 64);
        }
        Self { words }
    }

    /// Bit `i` of word `w` belongs to the cell with index `64 w + i`.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The same set in the memory of another.
    pub fn copy_to(&self, other: &mut CellSet) {
        other.words.clear();
        other.words.make_room(self.words.len());
        other.words.extend_from_slice(&self.words);
    }

    /// Whether a cell is in the set.
    #[inline]
    pub fn has(&self, index: usize) -> bool {
        self.words[index / 64] >> (index % 64) & 1 != 0
    }

    /// The cells of a run of whole words, in order.
    pub fn within(&self, cells: std::ops::Range<usize>) -> impl Iterator<Item = usize> {
        let words = cells.start / 64..cells.end / 64;
        words.flat_map(|word| {
            let mut left = self.words[word];
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(64 * word + bit)
            })
        })
    }

    /// Adds the cells of another set.
    pub fn add(&mut self, other: &CellSet) {
        for (bits, other) in self.words.iter_mut().zip(&other.words) {
            *bits |= other;
        }
    }

    /// Takes the cells of another set away.
    pub fn remove(&mut self, other: &CellSet) {
        for (bits, other) in self.words.iter_mut().zip(&other.words) {
            *bits &= !other;
        }
    }

    /// Keeps the cells of another set only.
    pub fn keep(&mut self, other: &CellSet) {
        for (bits, other) in self.words.iter_mut().zip(&other.words) {
            *bits &= other;
        }
    }

    /// Writes the indices of the cells, in order.
    pub fn list(&self, indices: &mut Vec<u32>) {
        let run = RUN / 8;
        let runs = self.words.par_chunks(run);
        let counts: Vec<usize> = runs
            .clone()
            .map(|words| words.iter().map(|w| w.count_ones() as usize).sum())
            .collect();
        let total = counts.iter().sum();
        indices.clear();
        indices.reserve_exact(total);
        indices.resize(total, 0);
        let mut left = &mut indices[..];
        let parts: Vec<&mut [u32]> = counts
            .iter()
            .map(|&count| left.split_off_mut(..count).unwrap_or_default())
            .collect();
        let parts = parts.into_par_iter().zip(runs).enumerate();
        parts.for_each(|(k, (indices, words))| {
            let mut places = indices.iter_mut();
            for (word, &bits) in words.iter().enumerate() {
                let mut left = bits;
                while left != 0
                    && let Some(place) = places.next()
                {
                    *place = (64 * (k * run + word)) as u32 + left.trailing_zeros();
                    left &= left - 1;
                }
            }
        });
    }

    /// The cells of `within` that have one of these beside them.
    pub fn beside<const D: usize>(&self, tiles: &Tiles<D>, within: &CellSet) -> Self {
        self.map(tiles, |word, _| match within.words[word] {
            0 => 0,
            within => {
                let beside = (0..D).fold(0, |bits, axis| {
                    let (below, above) = self.neighbours(tiles, word, axis);
                    bits | below | above
                });
                beside & within
            }
        })
    }

    /// The cells, and those beside them along one axis.
    pub fn spread<const D: usize>(&self, tiles: &Tiles<D>, axis: usize) -> Self {
        self.map(tiles, |word, bits| {
            let (below, above) = self.neighbours(tiles, word, axis);
            bits | below | above
        })
    }

    /// The cells that have others of the set on both sides along one axis.
    pub fn shrink<const D: usize>(&self, tiles: &Tiles<D>, axis: usize) -> Self {
        self.map(tiles, |word, bits| {
            let (below, above) = self.neighbours(tiles, word, axis);
            bits & below & above
        })
    }

    fn map<const D: usize>(
        &self,
        tiles: &Tiles<D>,
        change: impl Fn(usize, u64) -> u64 + Sync,
    ) -> Self {
        let in_tiles = tiles.cells() / 64;
        let words = self.words.par_iter().enumerate().with_min_len(RUN);
        let words = words.map(|(word, &bits)| {
            if word < in_tiles {
                change(word, bits)
            } else {
                0
            }
        });
        Self {
            words: words.collect(),
        }
    }

    /// For the cells of a word: whether the one below along `axis` is in the set, and whether the one above is.
    #[inline]
    pub fn neighbours<const D: usize>(
        &self,
        tiles: &Tiles<D>,
        word: usize,
        axis: usize,
    ) -> (u64, u64) {
        let in_tile = Tiles::<D>::CELLS / 64;
        let (slot, place) = (word / in_tile, word % in_tile);
        let bits = self.words[word];
        let beyond = |step: i32, place: usize| {
            self.words[tiles.neighbour(slot, axis, step) * in_tile + place]
        };
        match Tiles::<D>::stride(axis) {
            1 => (
                (bits & !(FIRST << 7)) << 1 | (beyond(-1, place) >> 7) & FIRST,
                (bits & !FIRST) >> 1 | (beyond(1, place) & FIRST) << 7,
            ),
            8 => (
                bits << 8 | beyond(-1, place) >> 56,
                bits >> 8 | beyond(1, place) << 56,
            ),
            _ => (
                if place > 0 {
                    self.words[word - 1]
                } else {
                    beyond(-1, in_tile - 1)
                },
                if place + 1 < in_tile {
                    self.words[word + 1]
                } else {
                    beyond(1, 0)
                },
            ),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Tiles around two cells, and a pattern without symmetry, one cell in about five.
    pub(crate) fn scattered<const D: usize>(
        cells: [[i32; D]; 2],
    ) -> (Tiles<D>, impl Fn(usize) -> bool + Copy + Sync) {
        let mut tiles = Tiles::new([40; D]);
        tiles.cover(cells.par_iter().copied(), 4);
        (tiles, |index| (index * 7919 + index / 64 * 31) % 23 < 5)
    }

    fn check<const D: usize>(cells: [[i32; D]; 2]) {
        let (tiles, wanted) = scattered(cells);
        let set = |index: usize| tiles.exists(index) && wanted(index);
        let marks = CellSet::of(&tiles, wanted);
        let mut field = Vec::new();
        tiles.reset(&mut field, 0u8);
        for (index, value) in field.iter_mut().enumerate() {
            *value = u8::from(wanted(index));
        }
        assert_eq!(
            CellSet::in_field(&tiles, &field, |value| value == 1).words,
            marks.words
        );
        let everywhere = CellSet::of(&tiles, |_| true);
        let beside = marks.beside(&tiles, &everywhere);
        for index in 0..tiles.cells() {
            assert_eq!(marks.has(index), set(index));
            let mut any = false;
            for axis in 0..D {
                let (low, high) = (tiles.below(index, axis), tiles.above(index, axis));
                any |= set(low) || set(high);
                let spread = marks.spread(&tiles, axis).has(index);
                assert_eq!(
                    spread,
                    set(index) || set(low) || set(high),
                    "{axis} {index}"
                );
                let shrunk = marks.shrink(&tiles, axis).has(index);
                assert_eq!(
                    shrunk,
                    set(index) && set(low) && set(high),
                    "{axis} {index}"
                );
            }
            assert_eq!(beside.has(index), any);
        }
        let mut listed = Vec::new();
        marks.list(&mut listed);
        let expected = (0..tiles.cells()).filter(|&index| set(index));
        assert!(listed.iter().map(|&index| index as usize).eq(expected));
    }

    #[test]
    fn sets_grow_and_shrink_across_the_sides_of_tiles() {
        check([[3, 9], [20, 17]]);
    }

    #[test]
    fn sets_grow_and_shrink_in_space() {
        check([[3, 9, 17], [15, 8, 16]]);
    }
}
