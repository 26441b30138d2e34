//! Modified incomplete Cholesky factorisation without fill, block by block, colour by colour.
//!
//! `M = (E + F) inv(E) (E + F')` with `F` the part of `A` strictly below its diagonal and `E` diagonal:
//!
//! ```text
//! E_i = A_ii - sum_{k < i} F_ik (F_ik + modification (U_k - F_ik)) / E_k        U_k = sum_{j > k} F_jk
//! ```
//!
//! `modification = 0` is IC(0): `M` has the diagonal of `A`. `modification = 1` is MIC(0): `M` has the row sums of
//! `A`, and smooth errors vanish faster. Where the formula leaves less than `safety` times `A_ii`, `E_i = A_ii`.
//!
//! Since only the diagonal changes, the entries of `F` serve both triangular solves and every mask: following a
//! change of active rows costs one pass over `E`.

use crate::blocks::Blocks;
use crate::csr::Csr;
use crate::error::{InputError, check_fraction};
use crate::precondition::Preconditioner;
use crate::split::{fold, fold_blocks};

/// The constants of [`Mic0`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mic0Settings {
    /// How much of the dropped fill is added to the diagonal, 0 (IC(0)) to 1 (all of it). 0.97 unless told.
    pub modification: f64,
    /// The part of `A_ii` below which a pivot is replaced by `A_ii`, between 0 and 1. 0.25 unless told.
    pub safety: f64,
}

impl Default for Mic0Settings {
    fn default() -> Self {
        Self {
            modification: 0.97,
            safety: 0.25,
        }
    }
}

impl Mic0Settings {
    fn check(&self) -> Result<(), InputError> {
        if !(0.0..=1.0).contains(&self.modification) {
            return Err(InputError::Setting {
                name: "modification",
                must: "from 0 to 1",
            });
        }
        check_fraction("safety", self.safety)
    }
}

/// MIC(0) of a symmetric matrix.
///
/// The factorisation is the textbook one where no two lower neighbours of a row are coupled with each other, as on
/// grids with 5-point and 7-point rows; elsewhere fill that would fall onto an existing entry is dropped, too.
///
/// ```
/// use meniscus_lcp::precondition::{Mic0, Mic0Settings, Preconditioner};
/// use meniscus_lcp::{Blocks, Csr};
///
/// let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
/// let mut mic = Mic0::new(Mic0Settings::default())?;
/// mic.rebuild(&matrix, &Blocks::single(2))?;
/// let mut z = [0.0; 2];
/// mic.apply(&[1.0, 1.0], &mut z); // a chain has no fill: the factorisation is exact
/// assert!((z[0] - 1.0).abs() < 1e-15 && (z[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mic0 {
    settings: Mic0Settings,
    blocks: Blocks,
    /// `A_ii`
    diagonal: Vec<f64>,
    /// `F` within the blocks.
    inner: Inner,
    /// `F` between a block and earlier colours.
    before: Couplings,
    /// `F'` between a block and later colours.
    after: Couplings,
    /// `1 / E_i` of all rows.
    inverse: Vec<f64>,
    /// `1 / E_i` of the active rows, 0 on the others.
    restricted: Vec<f64>,
    /// `modification U_i / E_i`, needed only while pivots are computed.
    lumped: Vec<f64>,
}

/// Entries strictly below the diagonal whose row and column lie in one block, by rows.
#[derive(Clone, Debug, Default)]
struct Inner {
    /// By row, where its entries begin.
    starts: Vec<u32>,
    /// Columns, counted from the first row of the block.
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// Entries that couple the rows of a block with another colour, by blocks.
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

impl Couplings {
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

    fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.rows.clear();
        self.columns.clear();
        self.values.clear();
    }

    fn push(&mut self, row: usize, column: u32, value: f64) {
        self.rows.push(row as u32);
        self.columns.push(column);
        self.values.push(value);
    }
}

impl Mic0 {
    /// A preconditioner of no rows yet.
    pub fn new(settings: Mic0Settings) -> Result<Self, InputError> {
        settings.check()?;
        Ok(Self {
            settings,
            blocks: Blocks::single(0),
            diagonal: Vec::new(),
            inner: Inner::default(),
            before: Couplings::default(),
            after: Couplings::default(),
            inverse: Vec::new(),
            restricted: Vec::new(),
            lumped: Vec::new(),
        })
    }

    /// Factorises a matrix, which must be symmetric (only half of it is read in places), reusing memory.
    ///
    /// Rows are eliminated in the order they have. A row whose entries are all zero gets the identity. If this
    /// returns an error, rebuild with another matrix before the next use.
    pub fn rebuild(&mut self, matrix: &Csr, blocks: &Blocks) -> Result<(), InputError> {
        self.blocks.clone_from(blocks);
        blocks.check(matrix)?;
        self.gather(matrix)?;
        let n = matrix.rows();
        self.inverse.resize(n, 0.0);
        self.lumped.resize(n, 0.0);
        let mut inverse = std::mem::take(&mut self.inverse);
        self.pivots(None, &mut inverse);
        self.inverse = inverse;
        self.restricted.clone_from(&self.inverse);
        Ok(())
    }

    /// Copies the entries of the matrix to the places where the solves read them.
    fn gather(&mut self, matrix: &Csr) -> Result<(), InputError> {
        if u32::try_from(matrix.nonzeros()).is_err() || u32::try_from(matrix.rows()).is_err() {
            return Err(InputError::Structure {
                row: 0,
                why: "the matrix has more than 2^32 entries",
            });
        }
        self.diagonal.clear();
        self.inner.starts.clear();
        self.inner.starts.push(0);
        self.inner.columns.clear();
        self.inner.values.clear();
        self.before.clear();
        self.after.clear();
        for block in 0..self.blocks.count() {
            let own = self.blocks.block(block);
            for row in own.clone() {
                let (columns, values) = matrix.row(row);
                let mut diagonal = 0.0;
                let mut coupled = false;
                for (&column, &value) in columns.iter().zip(values) {
                    let at = column as usize;
                    coupled |= at != row && value != 0.0;
                    if at == row {
                        diagonal = value;
                    } else if at < own.start {
                        self.before.push(row - own.start, column, value);
                    } else if at >= own.end {
                        self.after.push(row - own.start, column, value);
                    } else if at < row {
                        self.inner.columns.push((at - own.start) as u32);
                        self.inner.values.push(value);
                    }
                }
                if diagonal < 0.0 || (diagonal == 0.0 && coupled) {
                    return Err(InputError::Diagonal {
                        row,
                        value: diagonal,
                    });
                }
                self.diagonal.push(diagonal);
                self.inner.starts.push(self.inner.columns.len() as u32);
            }
            self.before.starts.push(self.before.columns.len() as u32);
            self.after.starts.push(self.after.columns.len() as u32);
        }
        Ok(())
    }

    /// Computes `1 / E_i` on the active rows, 0 on the others.
    fn pivots(&mut self, active: Option<&[bool]>, inverse: &mut [f64]) {
        let is_active = |row: usize| active.is_none_or(|active| active[row]);
        let Mic0Settings {
            modification,
            safety,
        } = self.settings;
        let mut lumped = std::mem::take(&mut self.lumped);
        for colour in 0..self.blocks.colours() {
            let rows = self.blocks.rows_of_colour(colour);
            let (inverse_done, inverse) = inverse.split_at_mut(rows.start);
            let (lumped_done, lumped) = lumped.split_at_mut(rows.start);
            let (inverse_done, lumped_done) = (&*inverse_done, &*lumped_done);
            let leaf = |block: usize, (inverse, lumped): (&mut [f64], &mut [f64])| {
                let first = self.blocks.block(block).start;
                // `lumped` holds U, and `inverse` holds E, until the row is eliminated.
                lumped.fill(0.0);
                for (row, column, value) in self.after.of_block(block) {
                    lumped[row] += if is_active(column) { value } else { 0.0 };
                }
                for i in 0..inverse.len() {
                    for (column, value) in self.inner_row(first, i) {
                        lumped[column] += if is_active(first + i) { value } else { 0.0 };
                    }
                    inverse[i] = self.diagonal[first + i];
                }
                for (row, column, value) in self.before.of_block(block) {
                    inverse[row] -= value
                        * (value * (1.0 - modification) * inverse_done[column]
                            + lumped_done[column]);
                }
                for i in 0..inverse.len() {
                    let mut pivot = inverse[i];
                    for (column, value) in self.inner_row(first, i) {
                        pivot -= value
                            * (value * (1.0 - modification) * inverse[column] + lumped[column]);
                    }
                    let diagonal = self.diagonal[first + i];
                    if !(pivot >= safety * diagonal) {
                        pivot = diagonal;
                    }
                    let reciprocal = 1.0 / pivot;
                    inverse[i] = match is_active(first + i) {
                        false => 0.0,
                        true if reciprocal.is_finite() => reciprocal,
                        true => 1.0,
                    };
                    lumped[i] *= modification * inverse[i];
                }
            };
            let arrays = (&mut inverse[..rows.len()], &mut lumped[..rows.len()]);
            fold_blocks(&self.blocks, colour, arrays, &leaf, &|(), ()| ());
        }
        self.lumped = lumped;
    }

    /// The entries below the diagonal in row `i` of the block that begins at row `first`.
    #[inline]
    fn inner_row(&self, first: usize, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let entries =
            self.inner.starts[first + i] as usize..self.inner.starts[first + i + 1] as usize;
        let columns = &self.inner.columns[entries.clone()];
        columns
            .iter()
            .zip(&self.inner.values[entries])
            .map(|(&column, &value)| (column as usize, value))
    }

    /// `z = inv(M) r`, returns `r'z`.
    ///
    /// With `w = inv(E + F) r` the solution is `z = inv(E + F') E w`, and `r'z = w'Ew` costs nothing extra.
    fn solve(&self, inverse: &[f64], r: &[f64], z: &mut [f64]) -> f64 {
        assert_eq!(r.len(), inverse.len(), "r has the wrong length");
        assert_eq!(z.len(), inverse.len(), "z has the wrong length");
        let mut dot = 0.0;
        let colours = self.blocks.colours();
        for colour in 0..colours {
            let rows = self.blocks.rows_of_colour(colour);
            let (done, rest) = z.split_at_mut(rows.start);
            let done = &*done;
            let leaf = |block: usize, z: &mut [f64]| {
                let dot = self.forward(block, inverse, r, done, z);
                if colour + 1 == colours {
                    // The last colour can turn around at once, while its entries are still in the cache.
                    self.backward(block, inverse, &[], z);
                }
                dot
            };
            dot += fold_blocks(
                &self.blocks,
                colour,
                &mut rest[..rows.len()],
                &leaf,
                &|low, high| low + high,
            );
        }
        for colour in (0..colours.saturating_sub(1)).rev() {
            let rows = self.blocks.rows_of_colour(colour);
            let (z, later) = z.split_at_mut(rows.end);
            let later = &*later;
            let leaf = |block: usize, z: &mut [f64]| self.backward(block, inverse, later, z);
            fold_blocks(&self.blocks, colour, &mut z[rows], &leaf, &|(), ()| ());
        }
        dot
    }

    /// `w = inv(E + F) r` on a block, given `w` on earlier colours; returns the block's part of `w'Ew`.
    fn forward(
        &self,
        block: usize,
        inverse: &[f64],
        r: &[f64],
        done: &[f64],
        w: &mut [f64],
    ) -> f64 {
        let rows = self.blocks.block(block);
        let first = rows.start;
        let inverse = &inverse[rows.clone()];
        w.copy_from_slice(&r[rows]);
        for (row, column, value) in self.before.of_block(block) {
            w[row] -= value * done[column];
        }
        let mut dot = 0.0;
        for i in 0..w.len() {
            let mut rest = w[i];
            for (column, value) in self.inner_row(first, i) {
                rest -= value * w[column];
            }
            w[i] = inverse[i] * rest;
            dot += rest * w[i];
        }
        dot
    }

    /// `z = inv(E + F') E w` on a block, in place, given `z` on later colours.
    fn backward(&self, block: usize, inverse: &[f64], later: &[f64], z: &mut [f64]) {
        let rows = self.blocks.block(block);
        let first = rows.start;
        let inverse = &inverse[rows];
        let later_start = inverse_start(&self.blocks, later);
        for (row, column, value) in self.after.of_block(block) {
            z[row] -= inverse[row] * value * later[column - later_start];
        }
        for i in (0..z.len()).rev() {
            let known = z[i];
            for (column, value) in self.inner_row(first, i) {
                z[column] -= inverse[column] * value * known;
            }
        }
    }
}

/// The first row of the slice that holds the rows of later colours.
fn inverse_start(blocks: &Blocks, later: &[f64]) -> usize {
    blocks.rows() - later.len()
}

impl Preconditioner for Mic0 {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.apply_dot(r, z);
    }

    fn apply_dot(&self, r: &[f64], z: &mut [f64]) -> f64 {
        self.solve(&self.inverse, r, z)
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        assert_eq!(active.len(), z.len(), "the mask has the wrong length");
        let dot = self.solve(&self.restricted, r, z);
        dot + fold(
            (z, r, active),
            &|_, (z, r, active): (&mut [f64], &[f64], &[bool])| {
                let mut dot = 0.0;
                for i in 0..z.len() {
                    if !active[i] {
                        z[i] = r[i];
                        dot += r[i] * r[i];
                    }
                }
                dot
            },
            &|low, high| low + high,
        )
    }

    fn restrict(&mut self, active: &[bool]) {
        assert_eq!(
            active.len(),
            self.inverse.len(),
            "the mask has the wrong length"
        );
        let mut restricted = std::mem::take(&mut self.restricted);
        self.pivots(Some(active), &mut restricted);
        self.restricted = restricted;
    }
}
