//! Errors: broken contracts of the input.

use std::fmt;

use crate::split::first_row;

/// A broken contract of the input: nothing was solved.
///
/// Not converging is not an error but a [`Status`](crate::Status) in the report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputError {
    /// A slice has the wrong number of entries.
    Length {
        /// Name of the slice.
        what: &'static str,
        /// The entries it must have.
        expected: usize,
        /// The entries it has.
        found: usize,
    },
    /// A number is NaN or infinite where it must be finite.
    NotFinite {
        /// Name of the array.
        what: &'static str,
        /// Index in the array.
        index: usize,
    },
    /// A pair of bounds that no number lies between, or a bound that is NaN.
    Bounds {
        /// The row.
        row: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A row has a finite bound where the method solves linear rows only.
    BoundedRow {
        /// The row.
        row: usize,
    },
    /// A row has a finite upper bound where the method knows lower ones only.
    UpperBound {
        /// The row.
        row: usize,
    },
    /// The three arrays of a sparse matrix do not describe one.
    Structure {
        /// The row.
        row: usize,
        /// Reason.
        why: &'static str,
    },
    /// A partition of rows into coloured blocks is not one, or its colours do not separate coupled blocks.
    Blocks {
        /// The block, colour or row, as stated in `why`.
        index: usize,
        /// Reason.
        why: &'static str,
    },
    /// A diagonal entry with which no positive semidefinite matrix can be factorised.
    Diagonal {
        /// The row.
        row: usize,
        /// Its diagonal entry.
        value: f64,
    },
    /// The problem is too large for a method that stores every entry, or that tries every case.
    TooLarge {
        /// Name of the quantity that is too large.
        what: &'static str,
        /// The most that is allowed.
        limit: usize,
    },
    /// A diagonal entry that a method divides by is not positive.
    NoDivisor {
        /// The row.
        row: usize,
        /// Its diagonal entry.
        value: f64,
    },
    /// A bound that is to follow another row cannot.
    CoupledBound {
        /// Index of the bound.
        index: usize,
        /// Reason.
        why: &'static str,
    },
    /// A setting is out of its range.
    Setting {
        /// The name of the setting.
        name: &'static str,
        /// Condition that it must meet.
        must: &'static str,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length {
                what,
                expected,
                found,
            } => {
                write!(f, "{what} has {found} entries, expected {expected}")
            }
            Self::NotFinite { what, index } => write!(f, "{what} is not finite at entry {index}"),
            Self::Bounds { row, lower, upper } => {
                write!(
                    f,
                    "no number lies between the bounds {lower} and {upper} of row {row}"
                )
            }
            Self::BoundedRow { row } => {
                write!(
                    f,
                    "row {row} has a finite bound, but the method solves linear rows only"
                )
            }
            Self::UpperBound { row } => {
                write!(
                    f,
                    "row {row} has an upper bound, but the method knows lower bounds only"
                )
            }
            Self::Structure { row, why } => write!(f, "sparse matrix, row {row}: {why}"),
            Self::Blocks { index, why } => write!(f, "blocks, at {index}: {why}"),
            Self::Diagonal { row, value } => {
                write!(
                    f,
                    "row {row} has the diagonal entry {value}: the matrix is not positive semidefinite"
                )
            }
            Self::TooLarge { what, limit } => {
                write!(f, "the method takes at most {limit} {what}")
            }
            Self::NoDivisor { row, value } => {
                write!(
                    f,
                    "row {row} has the diagonal entry {value}: the method divides by it, so it must be positive"
                )
            }
            Self::CoupledBound { index, why } => write!(f, "coupled bound {index}: {why}"),
            Self::Setting { name, must } => write!(f, "setting {name} must be {must}"),
        }
    }
}

impl std::error::Error for InputError {}

/// Checks that a slice has the expected length.
pub(crate) fn check_length(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), InputError> {
    if expected == found {
        Ok(())
    } else {
        Err(InputError::Length {
            what,
            expected,
            found,
        })
    }
}

/// Checks that every number of a slice is finite.
pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), InputError> {
    match first_row(values, &|_, values| {
        values.iter().position(|value| !value.is_finite())
    }) {
        None => Ok(()),
        Some(index) => Err(InputError::NotFinite { what, index }),
    }
}

/// Checks a condition on a setting.
pub(crate) fn check_setting(
    name: &'static str,
    must: &'static str,
    holds: bool,
) -> Result<(), InputError> {
    holds
        .then_some(())
        .ok_or(InputError::Setting { name, must })
}

/// Checks a setting that must be positive and finite.
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<(), InputError> {
    let holds = value > 0.0 && value.is_finite();
    check_setting(name, "positive and finite", holds)
}

/// Checks a setting that must not be negative, and finite.
pub(crate) fn check_not_negative(name: &'static str, value: f64) -> Result<(), InputError> {
    let holds = value >= 0.0 && value.is_finite();
    check_setting(name, "zero or positive, and finite", holds)
}

/// Checks a setting that must lie strictly between 0 and 1.
pub(crate) fn check_fraction(name: &'static str, value: f64) -> Result<(), InputError> {
    check_setting(name, "between 0 and 1", value > 0.0 && value < 1.0)
}

/// Checks a relaxation factor, which must lie strictly between 0 and 2.
pub(crate) fn check_relaxation(name: &'static str, value: f64) -> Result<(), InputError> {
    check_setting(name, "between 0 and 2", value > 0.0 && value < 2.0)
}

/// Checks a number of things of which there must be one.
pub(crate) fn check_at_least_1(name: &'static str, count: usize) -> Result<(), InputError> {
    check_setting(name, "at least 1", count >= 1)
}
