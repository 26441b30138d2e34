//! Rows that are not regular, found by rank in a bit set.

use super::{CHUNK, StencilRow};

/// A row that is not regular.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own<const D: usize> {
    pub weight: [[f64; 2]; D],
    pub diagonal: f64,
    pub air: u8,
}

/// Rows that are not regular: one bit per row says whether a row is, and for every 64 rows how many were before.
#[derive(Clone, Debug)]
pub(super) struct Irregular<const D: usize> {
    words: Vec<u64>,
    before: Vec<u32>,
    rows: Vec<Own<D>>,
}

impl<const D: usize> Default for Irregular<D> {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            before: Vec::new(),
            rows: Vec::new(),
        }
    }
}

/// Those of one chunk.
pub(super) struct Part<const D: usize> {
    first: usize,
    words: [u64; CHUNK / 64],
    rows: Vec<Own<D>>,
}

impl<const D: usize> Part<D> {
    /// None yet, in the chunk that begins with this row.
    pub fn new(first: usize) -> Self {
        Self {
            first,
            words: [0; CHUNK / 64],
            rows: Vec::new(),
        }
    }

    /// Adds a row; rows must rise.
    pub fn push(&mut self, row: usize, stencil: &StencilRow<D>) {
        let at = row - self.first;
        self.words[at / 64] |= 1 << (at % 64);
        self.rows.push(Own {
            weight: stencil.weight,
            diagonal: stencil.diagonal,
            air: stencil.air,
        });
    }
}

impl<const D: usize> Irregular<D> {
    /// The rows of all chunks, in order.
    pub fn join<'a>(&mut self, n: usize, parts: impl Iterator<Item = &'a Part<D>> + Clone) {
        self.words.clear();
        self.before.clear();
        self.rows.clear();
        self.rows
            .reserve_exact(parts.clone().map(|part| part.rows.len()).sum());
        for part in parts {
            let mut before = self.rows.len() as u32;
            self.rows.extend_from_slice(&part.rows);
            let words = (n - part.first).min(CHUNK).div_ceil(64);
            for &word in &part.words[..words] {
                self.words.push(word);
                self.before.push(before);
                before += word.count_ones();
            }
        }
    }

    /// Where a row is among those that are not regular.
    #[inline]
    pub fn place(&self, row: usize) -> Option<usize> {
        let (word, bit) = (self.words[row / 64], 1 << (row % 64));
        let rank = (word & (bit - 1)).count_ones();
        (word & bit != 0).then(|| (self.before[row / 64] + rank) as usize)
    }

    #[inline]
    pub fn get(&self, row: usize) -> Option<&Own<D>> {
        self.place(row).map(|place| &self.rows[place])
    }

    pub fn largest_diagonal(&self) -> f64 {
        self.rows.iter().fold(0.0, |m, own| own.diagonal.max(m))
    }
}
