//! Factored approximate inverses.

mod conjugation;

use self::conjugation::{Compressed, Conjugation};
use super::Preconditioner;
use super::level_schedule::Scratch;
use crate::error::{InputError, check_not_negative};
use crate::reduce;
use crate::rows::Rows;
use crate::split::{fold, for_each};

/// Sparsity pattern of the factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AinvPattern {
    /// Every entry above the tolerance.
    Any,
    /// The given number of entries per column, the largest, beside the diagonal.
    Largest(usize),
    /// Those where the given power of `|A|` has entries: 1 is the pattern of `A`, 0 the diagonal.
    Power(usize),
}

settings! {
    /// The constants of [`Ainv`].
    pub struct AinvSettings {
        /// Whether the matrix is brought to a diagonal of 1 first, so that one tolerance fits all rows.
        pub scaled: bool = true,
        /// Entries of the factor smaller than this are dropped; those of the diagonal are 1.
        pub tolerance: f64 = 0.1,
        /// Sparsity pattern of the factor.
        pub pattern: AinvPattern = AinvPattern::Any,
    }
}

/// `P = Z inv(D) Z'` with `Z` unit upper triangular and sparse: the approximate inverse of Bridson and Tang.
///
/// The unit vectors are made conjugate one after the other, `z_j <- z_j - (z_i'A z_j / D_i) z_i` for `i < j`, and small
/// entries are dropped on the way; `D_i = z_i'A z_i`. Without dropping `P` is the inverse of `A`. Since `D_i` is computed
/// after dropping, it is positive if `A` is positive definite, and since `Z` has an inverse, `P` is positive definite
/// whatever `A` is. Application is two products with sparse matrices, without waiting.
///
/// The kinds of [ANE17 fig. 12] and [ANE17 fig. 13] by their settings:
///
/// | there | `scaled` | `tolerance` | `pattern` |
/// | --- | --- | --- | --- |
/// | Bridson, Ainv Bridson | false | positive | any |
/// | Scaled Bridson | true | positive | any |
/// | Static Scaled Bridson | true | 0 | a power of `A`; or positive and a number of entries a column |
///
/// Rows with a zero diagonal entry get the identity. Masked, it is the part of `P` that belongs to the active rows.
///
/// ```
/// use meniscus_lcp::precondition::{Ainv, AinvSettings, Preconditioner};
/// use meniscus_lcp::Csr;
///
/// let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
/// let mut ainv = Ainv::new(AinvSettings::default().tolerance(0.0))?;
/// ainv.rebuild(&matrix)?;
/// let mut z = [0.0; 2];
/// ainv.apply(&[1.0, 1.0], &mut z); // nothing was dropped: the inverse is exact
/// assert!((z[0] - 1.0).abs() < 1e-15 && (z[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ainv {
    settings: AinvSettings,
    /// `Z S`, by columns and by rows, with `S` the scaling.
    by_columns: Compressed,
    by_rows: Compressed,
    /// `1 / D_i`
    inverse: Vec<f64>,
    scratch: Scratch,
}

impl Ainv {
    /// A preconditioner without a matrix; call `rebuild` first.
    pub fn new(settings: AinvSettings) -> Result<Self, InputError> {
        check_not_negative("tolerance", settings.tolerance)?;
        Ok(Self {
            settings,
            by_columns: Compressed {
                starts: vec![0],
                entries: Vec::new(),
            },
            by_rows: Compressed {
                starts: vec![0],
                entries: Vec::new(),
            },
            inverse: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// Number of entries of the factor, its diagonal included.
    pub fn entries(&self) -> usize {
        self.by_columns.entries.len()
    }

    /// Factorises a symmetric matrix. A negative entry on its diagonal is an error; after one, rebuild before the next use.
    pub fn rebuild(&mut self, matrix: &(impl Rows + ?Sized)) -> Result<(), InputError> {
        let n = matrix.len();
        let mut diagonal = vec![0.0; n];
        matrix.diagonal(&mut diagonal);
        let mut scales = vec![1.0; n];
        for (row, &value) in diagonal.iter().enumerate() {
            if !value.is_finite() || value < 0.0 {
                return Err(InputError::Diagonal { row, value });
            }
            let scale = 1.0 / value.sqrt();
            if self.settings.scaled && scale.is_finite() {
                scales[row] = scale;
            }
        }
        let mut rows = Compressed {
            starts: vec![0],
            entries: Vec::new(),
        };
        for row in 0..n {
            matrix.visit_row(row, &mut |column, value| {
                // A row without a diagonal entry cannot be made conjugate to anything.
                if diagonal[row] > 0.0 && diagonal[column] > 0.0 {
                    rows.entries
                        .push((column as u32, scales[row] * value * scales[column]));
                }
            });
            rows.starts.push(rows.entries.len());
        }
        let (mut factor, pivots) = Conjugation::new(&rows, &self.settings).run();
        for column in 0..n {
            for at in factor.starts[column]..factor.starts[column + 1] {
                let (row, value) = &mut factor.entries[at];
                *value *= scales[*row as usize];
            }
        }
        self.inverse = pivots;
        for inverse in &mut self.inverse {
            *inverse = 1.0 / *inverse;
            if !inverse.is_finite() || *inverse == 0.0 {
                *inverse = 1.0;
            }
        }
        self.by_rows = factor.transposed();
        self.by_columns = factor;
        Ok(())
    }

    /// `z = Z inv(D) Z' r` with both ends masked, the identity on other rows; returns `r'z`.
    fn product(&self, keep: &(impl Fn(usize) -> bool + Sync), r: &[f64], z: &mut [f64]) -> f64 {
        let n = self.inverse.len();
        assert_eq!(r.len(), n, "r has the wrong length");
        assert_eq!(z.len(), n, "z has the wrong length");
        self.scratch.with(n, |w| {
            let masked = |row: usize| if keep(row) { r[row] } else { 0.0 };
            for_each(&mut *w, &|first, w: &mut [f64]| {
                for (i, w) in w.iter_mut().enumerate() {
                    let column = first + i;
                    *w = self.inverse[column] * self.by_columns.dot(column, masked);
                }
            });
            let w = &*w;
            fold(
                (z, r),
                &|first, (z, r): (&mut [f64], &[f64])| {
                    for (i, z) in z.iter_mut().enumerate() {
                        let row = first + i;
                        *z = if keep(row) {
                            self.by_rows.dot(row, |column| w[column])
                        } else {
                            r[i]
                        };
                    }
                    reduce::dot(r, z)
                },
                &|low, high| low + high,
            )
        })
    }
}

impl Preconditioner for Ainv {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.apply_dot(r, z);
    }

    fn apply_dot(&self, r: &[f64], z: &mut [f64]) -> f64 {
        self.product(&|_| true, r, z)
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        assert_eq!(active.len(), z.len(), "the mask has the wrong length");
        self.product(&|row| active[row], r, z)
    }
}
