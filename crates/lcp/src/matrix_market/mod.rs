//! Matrices and vectors as Matrix Market files, the exchange format of sparse linear algebra.
//!
//! Reads `matrix coordinate|array real|integer general|symmetric`. Files are not trusted: what a header promises is
//! checked against limits, and memory is taken for what was read, not for what was promised. Writes numbers so that
//! they are read back to the last bit.
//!
//! ```
//! use meniscus_lcp::Csr;
//! use meniscus_lcp::matrix_market::{Limits, read_matrix, read_vector, write_matrix, write_vector};
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -0.1, -0.1, 2.0])?;
//! let mut file = Vec::new();
//! write_matrix(&mut file, &matrix)?;
//! assert_eq!(read_matrix(&file[..], &Limits::default())?, matrix);
//!
//! let upper = [1.0 / 3.0, f64::INFINITY];
//! let mut file = Vec::new();
//! write_vector(&mut file, &upper)?;
//! assert_eq!(read_vector(&file[..], &Limits::default())?, upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod read;

pub use read::{read_matrix, read_vector};

use std::fmt;
use std::io::{self, Write};

use crate::csr::Csr;

settings! {
    /// Limits on the size of a file.
    pub struct Limits {
        /// Rows of a matrix, or entries of a vector.
        pub max_rows: usize = 1 << 25,
        /// Entries of a matrix, those that symmetry implies included.
        pub max_entries: usize = 1 << 28,
    }
}

/// Failure to read a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes could not be read.
    Io(io::Error),
    /// A line is wrong.
    Line {
        /// The line, from 1.
        line: usize,
        /// Reason.
        why: String,
    },
    /// An entry is given twice.
    Twice {
        /// Its row, from 1 as in the file.
        row: usize,
        /// Its column, from 1 as in the file.
        column: usize,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot read: {error}"),
            Self::Line { line, why } => write!(f, "line {line}: {why}"),
            Self::Twice { row, column } => {
                write!(f, "the entry in row {row}, column {column} is given twice")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes a matrix.
pub fn write_matrix(mut writer: impl Write, matrix: &Csr) -> io::Result<()> {
    writeln!(writer, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(
        writer,
        "{} {} {}",
        matrix.rows(),
        matrix.rows(),
        matrix.nonzeros()
    )?;
    for row in 0..matrix.rows() {
        let (columns, values) = matrix.row(row);
        for (&column, value) in columns.iter().zip(values) {
            writeln!(writer, "{} {} {value:e}", row + 1, u64::from(column) + 1)?;
        }
    }
    writer.flush()
}

/// Writes a vector. Infinite numbers are written as `inf` and `-inf`, which not every other reader takes.
///
/// NaN is an error, because it cannot be read back.
pub fn write_vector(mut writer: impl Write, vector: &[f64]) -> io::Result<()> {
    writeln!(writer, "%%MatrixMarket matrix array real general")?;
    writeln!(writer, "{} 1", vector.len())?;
    for (index, value) in vector.iter().enumerate() {
        if value.is_nan() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("entry {index} is NaN"),
            ));
        }
        writeln!(writer, "{value:e}")?;
    }
    writer.flush()
}
