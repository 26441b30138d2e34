//! The entries below the diagonal of a symmetric matrix, where the solves of a factorisation read them.

use std::ops::Range;

use crate::blocks::{Blocks, COUPLED};
use crate::csr::Csr;
use crate::error::{InputError, check_length};
use crate::split::{Split, fold_blocks};

/// The strictly lower triangle `F` of a symmetric matrix, split by where a row finds its partners.
///
/// Entries within a block are stored once, by rows, and serves `F` and `F'`: the solve with `F'` scatters, which
/// stays inside the block. What couples a block with other colours is stored with either block.
#[derive(Clone, Debug, Default)]
pub(super) struct Triangle {
    /// `A_ii`
    pub diagonal: Vec<f64>,
    inner: Inner,
    before: Couplings,
    after: Couplings,
}

/// Entries whose row and column lie in one block, by rows.
#[derive(Clone, Debug, Default)]
struct Inner {
    /// By row, where its entries begin.
    starts: Vec<u32>,
    /// Columns, counted from the first row of the block.
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// Entries that couple the rows of a block with earlier or with later colours, by blocks.
#[derive(Clone, Debug, Default)]
struct Couplings {
    /// By block, where its entries begin.
    starts: Vec<u32>,
    /// Rows, counted from the first row of the block.
    rows: Vec<u32>,
    /// Columns, counted from the first row of the matrix.
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// The entries within a block.
#[derive(Clone, Copy)]
pub(super) struct InnerBlock<'a> {
    starts: &'a [u32],
    columns: &'a [u32],
    values: &'a [f64],
}

impl<'a> InnerBlock<'a> {
    /// The entries of a row, columns and row counted from the first row of the block.
    #[inline]
    pub fn row(self, row: usize) -> impl Iterator<Item = (usize, f64)> + 'a {
        let entries = self.starts[row] as usize..self.starts[row + 1] as usize;
        let columns = &self.columns[entries.clone()];
        let values = &self.values[entries];
        columns
            .iter()
            .zip(values)
            .map(|(&column, &value)| (column as usize, value))
    }
}

impl Triangle {
    /// The entries within a block.
    #[inline]
    pub fn inner(&self, rows: Range<usize>) -> InnerBlock<'_> {
        let Inner {
            starts,
            columns,
            values,
        } = &self.inner;
        InnerBlock {
            starts: &starts[rows.start..=rows.end],
            columns,
            values,
        }
    }

    /// Row in the block, column and value of what couples a block with earlier colours.
    #[inline]
    pub fn before(&self, block: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        self.before.of_block(block)
    }

    /// Row in the block, column and value of what couples a block with later colours.
    #[inline]
    pub fn after(&self, block: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        self.after.of_block(block)
    }

    /// Copies the entries of a matrix, reusing memory.
    pub fn gather(&mut self, matrix: &Csr, blocks: &Blocks) -> Result<(), InputError> {
        check_length("blocks, counted in rows,", matrix.rows(), blocks.rows())?;
        if u32::try_from(matrix.nonzeros()).is_err() {
            return Err(InputError::Structure {
                row: 0,
                why: "the matrix has more than 2^32 entries",
            });
        }
        self.count(matrix, blocks)?;
        self.inner.allocate();
        self.before.allocate();
        self.after.allocate();
        self.copy(matrix, blocks);
        Ok(())
    }

    /// Takes the diagonal, checks the blocks, and leaves the number of entries of row or block `k` in `starts[k + 1]`.
    fn count(&mut self, matrix: &Csr, blocks: &Blocks) -> Result<(), InputError> {
        self.diagonal.resize(blocks.rows(), 0.0);
        self.inner.starts.resize(blocks.rows() + 1, 0);
        self.before.starts.resize(blocks.count() + 1, 0);
        self.after.starts.resize(blocks.count() + 1, 0);
        let counts = Counts {
            by_row: (&mut self.diagonal, &mut self.inner.starts[1..]),
            by_block: (&mut self.before.starts[1..], &mut self.after.starts[1..]),
        };
        let cut = |counts, range: Range<usize>, middle| {
            let rows = blocks.block(middle).start - blocks.block(range.start).start;
            Counts::cut(counts, rows, middle - range.start)
        };
        let leaf = |block, counts| count_block(matrix, blocks, block, counts);
        fold_blocks(
            blocks,
            0..blocks.count(),
            counts,
            &cut,
            &leaf,
            &|low, high| low.and(high),
        )
        .unwrap_or(Ok(()))
    }

    /// Copies the entries to the places that were counted for them.
    fn copy(&mut self, matrix: &Csr, blocks: &Blocks) {
        let Self {
            inner,
            before,
            after,
            ..
        } = self;
        let places = Places {
            inner: (&mut inner.columns, &mut inner.values),
            before: (&mut before.rows, &mut before.columns, &mut before.values),
            after: (&mut after.rows, &mut after.columns, &mut after.values),
        };
        let entries = |starts: &[u32], from: usize, to: usize| (starts[to] - starts[from]) as usize;
        let cut = |places, range: Range<usize>, middle| {
            let (first_row, middle_row) =
                (blocks.block(range.start).start, blocks.block(middle).start);
            Places::cut(
                places,
                entries(&inner.starts, first_row, middle_row),
                entries(&before.starts, range.start, middle),
                entries(&after.starts, range.start, middle),
            )
        };
        let leaf = |block, places| copy_block(matrix, blocks.block(block), places);
        fold_blocks(blocks, 0..blocks.count(), places, &cut, &leaf, &|(), ()| ());
    }
}

/// Counts over a range of blocks.
struct Counts<'a> {
    /// Diagonal, and entries within the block.
    by_row: (&'a mut [f64], &'a mut [u32]),
    /// Couplings with earlier and with later colours.
    by_block: (&'a mut [u32], &'a mut [u32]),
}

impl Counts<'_> {
    fn cut(self, rows: usize, blocks: usize) -> (Self, Self) {
        let (by_row, high_by_row) = self.by_row.cut(rows);
        let (by_block, high_by_block) = self.by_block.cut(blocks);
        (
            Self { by_row, by_block },
            Self {
                by_row: high_by_row,
                by_block: high_by_block,
            },
        )
    }
}

/// Where the entries of a range of blocks go.
struct Places<'a> {
    inner: (&'a mut [u32], &'a mut [f64]),
    before: (&'a mut [u32], &'a mut [u32], &'a mut [f64]),
    after: (&'a mut [u32], &'a mut [u32], &'a mut [f64]),
}

impl Places<'_> {
    fn cut(self, inner: usize, before: usize, after: usize) -> (Self, Self) {
        let (inner, high_inner) = self.inner.cut(inner);
        let (before, high_before) = self.before.cut(before);
        let (after, high_after) = self.after.cut(after);
        (
            Self {
                inner,
                before,
                after,
            },
            Self {
                inner: high_inner,
                before: high_before,
                after: high_after,
            },
        )
    }
}

fn count_block(
    matrix: &Csr,
    blocks: &Blocks,
    block: usize,
    counts: Counts<'_>,
) -> Result<(), InputError> {
    let own = blocks.block(block);
    let of_colour = blocks.rows_of_colour(blocks.colour(block));
    let (mut before, mut after) = (0, 0);
    for (i, row) in own.clone().enumerate() {
        let (columns, values) = matrix.row(row);
        let (mut diagonal, mut inner, mut coupled) = (0.0, 0, false);
        for (&column, &value) in columns.iter().zip(values) {
            let column = column as usize;
            if column == row {
                diagonal = value;
                continue;
            }
            coupled |= value != 0.0;
            if own.contains(&column) {
                inner += u32::from(column < row);
            } else if of_colour.contains(&column) {
                return Err(InputError::Blocks {
                    index: row,
                    why: COUPLED,
                });
            } else if column < own.start {
                before += 1;
            } else {
                after += 1;
            }
        }
        if diagonal < 0.0 || (diagonal == 0.0 && coupled) {
            return Err(InputError::Diagonal {
                row,
                value: diagonal,
            });
        }
        counts.by_row.0[i] = diagonal;
        counts.by_row.1[i] = inner;
    }
    counts.by_block.0[0] = before;
    counts.by_block.1[0] = after;
    Ok(())
}

fn copy_block(matrix: &Csr, own: Range<usize>, places: Places<'_>) {
    let Places {
        inner,
        before,
        after,
    } = places;
    let mut inner = inner.0.iter_mut().zip(inner.1);
    let mut before = before.0.iter_mut().zip(before.1).zip(before.2);
    let mut after = after.0.iter_mut().zip(after.1).zip(after.2);
    for (i, row) in own.clone().enumerate() {
        let (columns, values) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            let at = column as usize;
            if own.contains(&at) {
                if at < row
                    && let Some(place) = inner.next()
                {
                    (*place.0, *place.1) = ((at - own.start) as u32, value);
                }
            } else if let Some(place) = if at < own.start {
                before.next()
            } else {
                after.next()
            } {
                (*place.0.0, *place.0.1, *place.1) = (i as u32, column, value);
            }
        }
    }
}

impl Inner {
    /// Turns counts into starts, and makes room.
    fn allocate(&mut self) {
        let entries = sum_up(&mut self.starts);
        self.columns.resize(entries, 0);
        self.values.resize(entries, 0.0);
    }
}

impl Couplings {
    /// Turns counts into starts, and makes room.
    fn allocate(&mut self) {
        let entries = sum_up(&mut self.starts);
        self.rows.resize(entries, 0);
        self.columns.resize(entries, 0);
        self.values.resize(entries, 0.0);
    }

    #[inline]
    fn of_block(&self, block: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        let entries = self.starts[block] as usize..self.starts[block + 1] as usize;
        let rows = &self.rows[entries.clone()];
        let columns = &self.columns[entries.clone()];
        let values = &self.values[entries];
        rows.iter()
            .zip(columns)
            .zip(values)
            .map(|((&row, &column), &value)| (row as usize, column as usize, value))
    }
}

/// Turns the counts in `starts[1..]` into sums, and returns the last.
fn sum_up(starts: &mut [u32]) -> usize {
    let mut sum = 0;
    starts[0] = 0;
    for start in &mut starts[1..] {
        sum += *start;
        *start = sum;
    }
    sum as usize
}
