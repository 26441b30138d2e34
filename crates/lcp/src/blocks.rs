//! Partition of the rows into coloured blocks, for parallel factorisation.

use std::ops::Range;

use crate::csr::Csr;
use crate::error::{InputError, check_length};

/// Message of [`Blocks::check`].
pub(crate) const COUPLED: &str = "the row is coupled with another block of its colour";

/// A partition of the rows into contiguous blocks, grouped by colour; no two blocks of one colour are coupled.
///
/// Rows are eliminated in the order they have, and blocks of one colour may be eliminated at the same time. The
/// tiles of a grid in checkerboard order need two colours.
///
/// ```
/// use meniscus_lcp::{Blocks, Csr};
///
/// // The chain 0 - 4 - 1, and 2 - 5 - 3: rows 0 to 3 are of one colour, 4 and 5 of another.
/// let matrix = Csr::new(
///     6,
///     vec![0, 2, 4, 6, 8, 11, 14],
///     vec![0, 4, 1, 4, 2, 5, 3, 5, 0, 1, 4, 2, 3, 5],
///     vec![2.0, -1.0, 2.0, -1.0, 2.0, -1.0, 2.0, -1.0, -1.0, -1.0, 2.0, -1.0, -1.0, 2.0],
/// )?;
/// let blocks = Blocks::new(vec![0, 1, 2, 3, 4, 5, 6], vec![0, 4, 6])?;
/// assert!(blocks.check(&matrix).is_ok());
/// let all_of_one_colour = Blocks::new(vec![0, 1, 2, 3, 4, 5, 6], vec![0, 6])?;
/// assert!(all_of_one_colour.check(&matrix).is_err());
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Blocks {
    starts: Vec<usize>,
    colour_starts: Vec<usize>,
}

impl Clone for Blocks {
    fn clone(&self) -> Self {
        Self {
            starts: self.starts.clone(),
            colour_starts: self.colour_starts.clone(),
        }
    }

    /// Reuses memory, which a derived implementation would not.
    fn clone_from(&mut self, source: &Self) {
        self.starts.clone_from(&source.starts);
        self.colour_starts.clone_from(&source.colour_starts);
    }
}

impl Blocks {
    /// Block `k` has the rows `starts[k]..starts[k + 1]`, colour `c` the blocks `colour_starts[c]..colour_starts[c + 1]`.
    ///
    /// Both arrays begin with 0 and must not fall; the last entry of `colour_starts` is the number of blocks.
    pub fn new(starts: Vec<usize>, colour_starts: Vec<usize>) -> Result<Self, InputError> {
        let falls = |array: &[usize]| array.windows(2).position(|pair| pair[0] > pair[1]);
        let fault = |index, why| Err(InputError::Blocks { index, why });
        if starts.first() != Some(&0) {
            return fault(0, "the first block must start at row 0");
        }
        if colour_starts.first() != Some(&0) {
            return fault(0, "the first colour must start at block 0");
        }
        if let Some(block) = falls(&starts) {
            return fault(block, "the block ends before it starts");
        }
        if let Some(colour) = falls(&colour_starts) {
            return fault(colour, "the colour ends before it starts");
        }
        if colour_starts.last() != Some(&(starts.len() - 1)) {
            return fault(
                colour_starts.len() - 1,
                "the last colour must end with the last block",
            );
        }
        Ok(Self {
            starts,
            colour_starts,
        })
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

    /// The colour of a block.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn colour(&self, block: usize) -> usize {
        assert!(block < self.count(), "there is no such block");
        self.colour_starts.partition_point(|&start| start <= block) - 1
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
        for block in 0..self.count() {
            let own = self.block(block);
            let of_colour = self.rows_of_colour(self.colour(block));
            let coupled = |&column: &u32| {
                let column = column as usize;
                of_colour.contains(&column) && !own.contains(&column)
            };
            if let Some(row) = own
                .clone()
                .find(|&row| matrix.row(row).0.iter().any(coupled))
            {
                return Err(InputError::Blocks {
                    index: row,
                    why: COUPLED,
                });
            }
        }
        Ok(())
    }
}
