//! Incomplete Cholesky factorisation without fill, for any symmetric matrix.
//!
//! `M = (E + F) inv(E) (E + F')` with `F` on the entries of `A` below the diagonal, such that `M = A` on all entries of
//! `A`:
//!
//! ```text
//! F_ik = A_ik - sum_{j < k} F_ij F_kj / E_j        E_i = A_ii - sum_{k < i} F_ik^2 / E_k
//! ```
//!
//! [`Mic0`](super::Mic0) changes the diagonal alone, which is the same on grids with 5-point and 7-point rows and
//! cheaper. Where lower neighbours of a row are coupled with each other, this one is the better.

use super::Preconditioner;
use super::level_schedule::{LevelSchedule, Scratch, Values};
use crate::error::{InputError, check_positive};
use crate::reduce;
use crate::rows::Rows;

settings! {
    /// The constants of [`Ic0`].
    pub struct Ic0Settings {
        /// If a pivot is not positive, this part of the diagonal is added to it, then twice as much, and so on
        /// (Manteuffel's shift).
        pub shift: f64 = 1e-3,
    }
}

/// A pivot smaller than this part of the diagonal entry is not positive.
const SMALLEST_PIVOT: f64 = 1e-10;
/// The largest shift to try: every row is dominated by its diagonal long before, unless numbers overflow.
const LARGEST_SHIFT: f64 = 1e6;

/// IC(0) of a symmetric matrix, the identity on rows with a zero diagonal entry.
///
/// Rows are eliminated in the order they have; rows that do not wait for each other are applied in parallel. Masked, it
/// is the factorisation of the active part of the matrix.
///
/// ```
/// use meniscus_lcp::precondition::{Ic0, Ic0Settings, Preconditioner};
/// use meniscus_lcp::Csr;
///
/// let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
/// let mut ic = Ic0::new(Ic0Settings::default())?;
/// ic.rebuild(&matrix)?;
/// let mut z = [0.0; 2];
/// ic.apply(&[1.0, 1.0], &mut z); // no fill: the factorisation is exact
/// assert!((z[0] - 1.0).abs() < 1e-15 && (z[1] - 1.0).abs() < 1e-15);
/// assert_eq!(ic.shift(), 0.0);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ic0 {
    settings: Ic0Settings,
    schedule: LevelSchedule,
    /// The matrix itself.
    lower: Vec<f64>,
    diagonal: Vec<f64>,
    shift: f64,
    values: Values,
    restricted: Values,
    scratch: Scratch,
}

impl Ic0 {
    /// A preconditioner without a matrix; call `rebuild` first.
    pub fn new(settings: Ic0Settings) -> Result<Self, InputError> {
        check_positive("shift", settings.shift)?;
        Ok(Self {
            settings,
            ..Self::default()
        })
    }

    /// Factorises a matrix, which must be symmetric: an entry may be read on either side of the diagonal.
    ///
    /// A negative entry on the diagonal is an error. After an error, rebuild before the next use.
    pub fn rebuild(&mut self, matrix: &(impl Rows + ?Sized)) -> Result<(), InputError> {
        self.schedule = LevelSchedule::of_levels(matrix);
        self.schedule
            .read(matrix, &mut self.lower, &mut self.diagonal);
        for (place, &value) in self.diagonal.iter().enumerate() {
            if !value.is_finite() || value < 0.0 {
                let row = self.schedule.row_at(place);
                return Err(InputError::Diagonal { row, value });
            }
        }
        let mut values = std::mem::take(&mut self.values);
        self.shift = self.factorise(&mut values, |_| true);
        self.restricted.clone_from(&values);
        self.values = values;
        Ok(())
    }

    /// The part of the diagonal that was added to it in the last [`rebuild`](Self::rebuild), zero if no pivot asked for it.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// Factorises the rows to keep with the smallest shift that works, and returns it.
    fn factorise(&self, values: &mut Values, keep: impl Fn(usize) -> bool) -> f64 {
        values.lower.resize(self.lower.len(), 0.0);
        values.inverse.resize(self.diagonal.len(), 0.0);
        let mut shift = 0.0;
        while shift <= LARGEST_SHIFT {
            if self.eliminate(values, &keep, shift) {
                return shift;
            }
            shift = if shift == 0.0 {
                self.settings.shift
            } else {
                2.0 * shift
            };
        }
        // Only numbers that overflow end here: the diagonal is left.
        values.lower.fill(0.0);
        for (place, inverse) in values.inverse.iter_mut().enumerate() {
            *inverse = if keep(self.schedule.row_at(place)) {
                pivot_inverse(self.diagonal[place])
            } else {
                0.0
            };
        }
        shift
    }

    /// Returns whether all pivots were positive.
    fn eliminate(&self, values: &mut Values, keep: &impl Fn(usize) -> bool, shift: f64) -> bool {
        let Values { lower, inverse } = values;
        for place in 0..self.schedule.len() {
            let (before, start) = self.schedule.before(place);
            let diagonal = self.diagonal[place];
            let mut pivot = diagonal * (1.0 + shift);
            if !keep(self.schedule.row_at(place)) || pivot_inverse(diagonal) == 0.0 {
                inverse[place] = 0.0;
                lower[start..start + before.len()].fill(0.0);
                continue;
            }
            for (at, &k) in before.iter().enumerate() {
                let scale = inverse[k as usize];
                let value = if scale == 0.0 {
                    0.0
                } else {
                    let (of_k, start_k) = self.schedule.before(k as usize);
                    let own = (&before[..at], &lower[start..start + at]);
                    let other = (of_k, &lower[start_k..start_k + of_k.len()]);
                    self.lower[start + at] - product(own, other, inverse)
                };
                lower[start + at] = value;
                pivot -= value * value * scale;
            }
            if pivot.is_nan() || pivot <= SMALLEST_PIVOT * diagonal {
                return false;
            }
            inverse[place] = pivot_inverse(pivot);
        }
        true
    }
}

/// `1 / pivot`, zero (no part of the matrix) where that is not a number.
fn pivot_inverse(pivot: f64) -> f64 {
    let inverse = 1.0 / pivot;
    if inverse.is_finite() { inverse } else { 0.0 }
}

/// `sum_j F_ij F_kj / E_j` over the columns that both rows have.
fn product(
    (a_columns, a): (&[u32], &[f64]),
    (b_columns, b): (&[u32], &[f64]),
    inverse: &[f64],
) -> f64 {
    let (mut i, mut k, mut sum) = (0, 0, 0.0);
    while i < a.len() && k < b.len() {
        match a_columns[i].cmp(&b_columns[k]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => k += 1,
            std::cmp::Ordering::Equal => {
                sum += a[i] * b[k] * inverse[a_columns[i] as usize];
                i += 1;
                k += 1;
            }
        }
    }
    sum
}

impl Preconditioner for Ic0 {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.schedule.solve(&self.values, 1.0, r, z, &self.scratch);
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        assert_eq!(active.len(), z.len(), "the mask has the wrong length");
        self.schedule
            .solve(&self.restricted, 1.0, r, z, &self.scratch);
        reduce::dot(r, z)
    }

    fn restrict(&mut self, active: &[bool]) {
        assert_eq!(
            active.len(),
            self.schedule.len(),
            "the mask has the wrong length"
        );
        let mut restricted = std::mem::take(&mut self.restricted);
        self.factorise(&mut restricted, |row| active[row]);
        self.restricted = restricted;
    }
}
