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

mod triangle;

use std::ops::Range;

use self::triangle::Triangle;
use crate::blocks::Blocks;
use crate::csr::Csr;
use crate::error::{InputError, check_fraction, check_setting};
use crate::precondition::Preconditioner;
use crate::split::{Split, fold, fold_blocks};

settings! {
    /// The constants of [`Mic0`].
    pub struct Mic0Settings {
        /// Share of the dropped fill that is added to the diagonal, 0 (IC(0)) to 1 (all of it).
        pub modification: f64 = 0.97,
        /// The part of `A_ii` below which a pivot is replaced by `A_ii`, between 0 and 1.
        pub safety: f64 = 0.25,
    }
}

impl Mic0Settings {
    fn check(&self) -> Result<(), InputError> {
        let holds = (0.0..=1.0).contains(&self.modification);
        check_setting("modification", "from 0 to 1", holds)?;
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
    /// `F` and the diagonal of `A`.
    triangle: Triangle,
    /// `1 / E_i` of all rows.
    inverse: Vec<f64>,
    /// `1 / E_i` of the active rows, 0 on the others, which takes them out of every sum.
    restricted: Vec<f64>,
    /// `modification U_i / E_i`, needed only while pivots are computed.
    lumped: Vec<f64>,
}

impl Default for Mic0 {
    fn default() -> Self {
        Self {
            settings: Mic0Settings::default(),
            blocks: Blocks::single(0),
            triangle: Triangle::default(),
            inverse: Vec::new(),
            restricted: Vec::new(),
            lumped: Vec::new(),
        }
    }
}

impl Mic0 {
    /// A preconditioner without a matrix; call `rebuild` first.
    pub fn new(settings: Mic0Settings) -> Result<Self, InputError> {
        settings.check()?;
        Ok(Self {
            settings,
            ..Self::default()
        })
    }

    /// Factorises a matrix, reusing memory.
    ///
    /// The matrix must be symmetric, which is not checked: an entry may be read on either side of the diagonal. Rows
    /// are eliminated in the order they have. A row whose entries are all zero gets the identity. After an error,
    /// rebuild before the next use.
    pub fn rebuild(&mut self, matrix: &Csr, blocks: &Blocks) -> Result<(), InputError> {
        self.blocks.clone_from(blocks);
        self.triangle.gather(matrix, blocks)?;
        self.lumped.resize(matrix.rows(), 0.0);
        let mut inverse = std::mem::take(&mut self.inverse);
        inverse.resize(matrix.rows(), 0.0);
        self.eliminate(&mut inverse, &|_| true);
        self.restricted.clone_from(&inverse);
        self.inverse = inverse;
        Ok(())
    }

    /// Computes `1 / E_i` on active rows, 0 on the others.
    fn eliminate(&mut self, inverse: &mut [f64], active: &(impl Fn(usize) -> bool + Sync)) {
        let mut lumped = std::mem::take(&mut self.lumped);
        for colour in 0..self.blocks.colours() {
            let rows = self.blocks.rows_of_colour(colour);
            let (inverse_done, inverse) = inverse.split_at_mut(rows.start);
            let (lumped_done, lumped) = lumped.split_at_mut(rows.start);
            let done = (&*inverse_done, &*lumped_done);
            self.each_block(
                colour,
                (&mut inverse[..rows.len()], &mut lumped[..rows.len()]),
                &|block, (inverse, lumped): (&mut [f64], &mut [f64])| {
                    self.eliminate_block(block, active, done, inverse, lumped);
                },
                &|(), ()| (),
            );
        }
        self.lumped = lumped;
    }

    /// Computes `1 / E_i` and `modification U_i / E_i` on a block, given both on earlier colours.
    fn eliminate_block(
        &self,
        block: usize,
        active: &impl Fn(usize) -> bool,
        (inverse_done, lumped_done): (&[f64], &[f64]),
        inverse: &mut [f64],
        lumped: &mut [f64],
    ) {
        let Mic0Settings {
            modification,
            safety,
        } = self.settings;
        let rows = self.blocks.block(block);
        let inner = self.triangle.inner(rows.clone());
        let diagonal = &self.triangle.diagonal[rows.clone()];
        let first = rows.start;
        // Until its row is eliminated, `lumped` holds U_i, and `inverse` what earlier colours leave of E_i.
        lumped.fill(0.0);
        for (row, column, value) in self.triangle.after(block) {
            lumped[row] += if active(column) { value } else { 0.0 };
        }
        for i in 0..rows.len() {
            if active(first + i) {
                for (column, value) in inner.row(i) {
                    lumped[column] += value;
                }
            }
        }
        let fill = |value: f64, inverse: f64, lumped: f64| {
            value * (value * (1.0 - modification) * inverse + lumped)
        };
        inverse.copy_from_slice(diagonal);
        for (row, column, value) in self.triangle.before(block) {
            inverse[row] -= fill(value, inverse_done[column], lumped_done[column]);
        }
        for i in 0..rows.len() {
            let mut pivot = inverse[i];
            for (column, value) in inner.row(i) {
                pivot -= fill(value, inverse[column], lumped[column]);
            }
            if pivot.is_nan() || pivot < safety * diagonal[i] {
                pivot = diagonal[i];
            }
            let reciprocal = 1.0 / pivot;
            inverse[i] = match active(first + i) {
                false => 0.0,
                true if reciprocal.is_finite() => reciprocal,
                true => 1.0, // a row of zeros
            };
            lumped[i] *= modification * inverse[i];
        }
    }

    /// `z = inv(M) r`, returns `r'z`.
    ///
    /// With `w = inv(E + F) r` the solution is `z = inv(E + F') E w`, and `r'z = w'Ew` costs nothing extra.
    fn solve(&self, inverse: &[f64], r: &[f64], z: &mut [f64]) -> f64 {
        assert_eq!(r.len(), inverse.len(), "r has the wrong length");
        assert_eq!(z.len(), inverse.len(), "z has the wrong length");
        let colours = self.blocks.colours();
        let mut dot = 0.0;
        for colour in 0..colours {
            let rows = self.blocks.rows_of_colour(colour);
            let (done, rest) = z.split_at_mut(rows.start);
            let done = &*done;
            let leaf = |block: usize, z: &mut [f64]| {
                let dot = self.forward(block, inverse, r, done, z);
                if colour + 1 == colours {
                    // The last colour turns around at once, while its entries are still in the cache.
                    self.backward(block, inverse, &[], z);
                }
                dot
            };
            dot += self.each_block(colour, &mut rest[..rows.len()], &leaf, &|low, high| {
                low + high
            });
        }
        for colour in (0..colours.saturating_sub(1)).rev() {
            let rows = self.blocks.rows_of_colour(colour);
            let (z, later) = z.split_at_mut(rows.end);
            let later = &*later;
            let leaf = |block: usize, z: &mut [f64]| self.backward(block, inverse, later, z);
            self.each_block(colour, &mut z[rows], &leaf, &|(), ()| ());
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
        let inner = self.triangle.inner(rows.clone());
        let inverse = &inverse[rows.clone()];
        w.copy_from_slice(&r[rows]);
        for (row, column, value) in self.triangle.before(block) {
            w[row] -= value * done[column];
        }
        let mut dot = 0.0;
        for i in 0..w.len() {
            let mut rest = w[i];
            for (column, value) in inner.row(i) {
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
        let inner = self.triangle.inner(rows.clone());
        let inverse = &inverse[rows];
        let first_later = self.blocks.rows() - later.len();
        for (row, column, value) in self.triangle.after(block) {
            z[row] -= inverse[row] * value * later[column - first_later];
        }
        for i in (0..z.len()).rev() {
            let known = z[i];
            for (column, value) in inner.row(i) {
                z[column] -= inverse[column] * value * known;
            }
        }
    }

    /// Calls `leaf` with each block of a colour and its rows of the arrays, which hold the rows of that colour.
    fn each_block<S: Split, T: Send + Default>(
        &self,
        colour: usize,
        arrays: S,
        leaf: &(impl Fn(usize, S) -> T + Sync),
        combine: &(impl Fn(T, T) -> T + Sync),
    ) -> T {
        let first_row = |block: usize| self.blocks.block(block).start;
        let cut = |arrays: S, range: Range<usize>, middle: usize| {
            arrays.cut(first_row(middle) - first_row(range.start))
        };
        fold_blocks(
            &self.blocks,
            self.blocks.of_colour(colour),
            arrays,
            &cut,
            leaf,
            combine,
        )
        .unwrap_or_default()
    }
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
            &|_, (z, r, active)| {
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
        self.eliminate(&mut restricted, &|row| active[row]);
        self.restricted = restricted;
    }
}
