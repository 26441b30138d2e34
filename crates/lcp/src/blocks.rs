//! Rows in blocks, blocks in colours: who may be worked on at the same time.

use std::ops::Range;

use crate::csr::Csr;
use crate::error::{InputError, check_length};

/// A partition of the rows into contiguous blocks, grouped by colour; no two blocks of one colour are coupled.
///
/// Rows are eliminated in the order they have, and blocks of one colour may be eliminated at the same time. The
/// tiles of a grid in checkerboard order need two colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    starts: Vec<usize>,
    colour_starts: Vec<usize>,
}

impl Blocks {
    /// Block `k` has the rows `starts[k]..starts[k + 1]`, colour `c` the blocks `colour_starts[c]..colour_starts[c + 1]`.
    ///
    /// Both arrays begin with 0 and must not fall; the last entry of `colour_starts` is the number of blocks.
    pub fn new(starts: Vec<usize>, colour_starts: Vec<usize>) -> Result<Self, InputError> {
        for (array, what) in [(&starts, "block starts"), (&colour_starts, "colour starts")] {
            if array.first() != Some(&0) {
                let why = if what == "block starts" {
                    "the first block must start at row 0"
                } else {
                    "the first colour must start at block 0"
                };
                return Err(InputError::Blocks { index: 0, why });
            }
            if let Some(index) = array.windows(2).position(|pair| pair[0] > pair[1]) {
                let why = if what == "block starts" {
                    "the block ends before it starts"
                } else {
                    "the colour ends before it starts"
                };
                return Err(InputError::Blocks { index, why });
            }
        }
        let blocks = Self {
            starts,
            colour_starts,
        };
        check_length(
            "colour_starts, counted in blocks,",
            blocks.count(),
            *blocks.colour_starts.last().unwrap_or(&0),
        )?;
        Ok(blocks)
    }

    /// All `n` rows in one block: no parallelism, and the elimination order of a serial factorisation.
    pub fn single(n: usize) -> Self {
        Self {
            starts: vec![0, n],
            colour_starts: vec![0, 1],
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Number of blocks.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of colours.
    pub fn colours(&self) -> usize {
        self.colour_starts.len() - 1
    }

    /// The blocks of a colour.
    ///
    /// # Panics
    /// If there is no such colour.
    pub fn of_colour(&self, colour: usize) -> Range<usize> {
        self.colour_starts[colour]..self.colour_starts[colour + 1]
    }

    /// The rows of a block.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block(&self, block: usize) -> Range<usize> {
        self.starts[block]..self.starts[block + 1]
    }

    /// The rows of all blocks of a colour, which are contiguous.
    ///
    /// # Panics
    /// If there is no such colour.
    pub fn rows_of_colour(&self, colour: usize) -> Range<usize> {
        let blocks = self.of_colour(colour);
        self.starts[blocks.start]..self.starts[blocks.end]
    }

    /// The two arrays of [`Blocks::new`], so that the next partition can reuse their memory.
    pub fn into_parts(self) -> (Vec<usize>, Vec<usize>) {
        (self.starts, self.colour_starts)
    }

    /// Checks that the blocks have the rows of a matrix and that no two blocks of one colour are coupled by it.
    pub fn check(&self, matrix: &Csr) -> Result<(), InputError> {
        check_length("blocks, counted in rows,", matrix.rows(), self.rows())?;
        for colour in 0..self.colours() {
            let of_colour = self.rows_of_colour(colour);
            for block in self.of_colour(colour) {
                let own = self.block(block);
                for row in own.clone() {
                    for &column in matrix.row(row).0 {
                        let column = column as usize;
                        if of_colour.contains(&column) && !own.contains(&column) {
                            return Err(InputError::Blocks {
                                index: row,
                                why: "the row is coupled with another block of its colour",
                            });
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
