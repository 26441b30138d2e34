//! Properties of a problem that decide which methods can solve it.
//!
//! ```
//! use meniscus_lcp::analysis::{Definiteness, analyse};
//! use meniscus_lcp::{BoxMlcp, Csr};
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let analysis = analyse(&problem);
//! assert!(analysis.symmetric && analysis.no_positive_couplings);
//! assert_eq!(analysis.definiteness, Definiteness::Positive);
//! assert_eq!(analysis.bounds.lower_only, 2);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

mod definiteness;

pub use definiteness::Definiteness;

use crate::csr::Csr;
use crate::problem::BoxMlcp;

/// Entries mirrored at the diagonal may differ by this part of the largest entry: what rounding makes of symmetry.
pub(crate) const SYMMETRIC: f64 = 1e-12;

/// Properties of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Analysis {
    /// Rows.
    pub rows: usize,
    /// Stored entries of the matrix.
    pub entries: usize,
    /// The largest `|i - j|` of a stored entry.
    pub bandwidth: usize,
    /// Whether `A` is symmetric, up to rounding.
    pub symmetric: bool,
    /// Definiteness of `A`.
    pub definiteness: Definiteness,
    /// Whether no entry off the diagonal is positive. With [`Definiteness::Positive`] that is an M-matrix.
    pub no_positive_couplings: bool,
    /// Whether the diagonal of no row is smaller than the sum of the magnitudes of its other entries.
    pub dominant: bool,
    /// The diagonal.
    pub diagonal: Diagonal,
    /// Smallest and largest magnitude of the entries that are not zero; both zero if there are none.
    pub magnitudes: [f64; 2],
    /// The kinds of rows.
    pub bounds: Bounds,
}

/// Properties of the diagonal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Diagonal {
    /// Rows with a zero there.
    pub zero: usize,
    /// Rows with a negative number there.
    pub negative: usize,
    /// The smallest positive number, zero if there is none.
    pub least: f64,
    /// The largest number.
    pub largest: f64,
}

/// Numbers of rows by kind of bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// None: a linear equation.
    pub free: usize,
    /// A finite lower one.
    pub lower_only: usize,
    /// A finite upper one.
    pub upper_only: usize,
    /// Two finite ones that differ.
    pub both: usize,
    /// Two that coincide.
    pub fixed: usize,
}

impl Bounds {
    fn of(lower: &[f64], upper: &[f64]) -> Self {
        let mut bounds = Self::default();
        for (&l, &u) in lower.iter().zip(upper) {
            *match (l.is_finite(), u.is_finite()) {
                (false, false) => &mut bounds.free,
                (true, false) => &mut bounds.lower_only,
                (false, true) => &mut bounds.upper_only,
                (true, true) if l < u => &mut bounds.both,
                (true, true) => &mut bounds.fixed,
            } += 1;
        }
        bounds
    }

    /// Whether no row has a bound.
    pub fn is_linear(&self) -> bool {
        self.lower_only + self.upper_only + self.both + self.fixed == 0
    }
}

/// Analyses a problem.
pub fn analyse(problem: &BoxMlcp<'_, Csr>) -> Analysis {
    analyse_knowing(problem, None)
}

/// Analyses a problem whose definiteness may be known.
pub(crate) fn analyse_knowing(problem: &BoxMlcp<'_, Csr>, known: Option<Definiteness>) -> Analysis {
    let matrix = problem.matrix();
    let symmetric = matrix.is_symmetric(SYMMETRIC);
    let mut analysis = Analysis {
        rows: matrix.rows(),
        entries: matrix.nonzeros(),
        bandwidth: 0,
        symmetric,
        definiteness: Definiteness::Unknown,
        no_positive_couplings: true,
        dominant: true,
        diagonal: Diagonal::default(),
        magnitudes: [f64::INFINITY, 0.0],
        bounds: Bounds::of(problem.lower(), problem.upper()),
    };
    for row in 0..matrix.rows() {
        analysis.see_row(row, matrix);
    }
    if analysis.magnitudes[1] == 0.0 {
        analysis.magnitudes[0] = 0.0;
    }
    analysis.definiteness = known.unwrap_or_else(|| definiteness::of(matrix, symmetric));
    analysis
}

/// Analyses a problem with a symmetric matrix, without a factorisation.
pub(crate) fn analyse_rows(problem: &BoxMlcp<'_, Csr>) -> Analysis {
    let told = definiteness::of_rows(problem.matrix()).unwrap_or(Definiteness::Unknown);
    analyse_knowing(problem, Some(told))
}

/// Definiteness of a matrix.
pub(crate) fn definiteness(matrix: &Csr) -> Definiteness {
    definiteness::of(matrix, matrix.is_symmetric(SYMMETRIC))
}

impl Analysis {
    fn see_row(&mut self, row: usize, matrix: &Csr) {
        let (columns, values) = matrix.row(row);
        let (mut diagonal, mut others) = (0.0, 0.0);
        for (&column, &value) in columns.iter().zip(values) {
            let column = column as usize;
            self.bandwidth = self.bandwidth.max(row.abs_diff(column));
            if column == row {
                diagonal = value;
            } else {
                others += value.abs();
                self.no_positive_couplings &= value <= 0.0;
            }
            if value != 0.0 {
                let [least, largest] = &mut self.magnitudes;
                *least = least.min(value.abs());
                *largest = largest.max(value.abs());
            }
        }
        // A row sum of zero is met up to rounding only.
        self.dominant &= diagonal >= others * (1.0 - 1e-12);
        let seen = &mut self.diagonal;
        seen.largest = if row == 0 {
            diagonal
        } else {
            seen.largest.max(diagonal)
        };
        if diagonal > 0.0 {
            seen.least = if seen.least == 0.0 {
                diagonal
            } else {
                seen.least.min(diagonal)
            };
        } else if diagonal == 0.0 {
            seen.zero += 1;
        } else {
            seen.negative += 1;
        }
    }
}
