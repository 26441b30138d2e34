//! Problems from and to Matrix Market files.

use super::arguments::ProblemFlags;
use meniscus_lcp::matrix_market::{self, Limits, ReadError};
use meniscus_lcp::{BoxMlcp, Csr, InputError};
use meniscus_store::atomic_file;
use meniscus_store::error::{Error, Kind};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Problem in memory.
pub struct Problem {
    pub matrix: Csr,
    pub rhs: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Display name.
    pub name: String,
}

impl Problem {
    /// Reads the files given by the flags.
    pub fn read(flags: &ProblemFlags) -> Result<Self, Error> {
        let files = Files::of(flags)?;
        let matrix = read(&files.matrix, |file| {
            matrix_market::read_matrix(file, &Limits::default())
        })?;
        let n = matrix.rows();
        let rhs = vector(&files.rhs, n)?;
        let bound = |path: &Option<PathBuf>, otherwise: f64| match path {
            Some(path) => vector(path, n),
            None => Ok(vec![otherwise; n]),
        };
        let lower = bound(&files.lower, 0.0)?;
        let upper = bound(&files.upper, f64::INFINITY)?;
        let problem = Self {
            matrix,
            rhs,
            lower,
            upper,
            name: files.matrix.display().to_string(),
        };
        problem.problem()?;
        Ok(problem)
    }

    /// View for the methods.
    pub fn problem(&self) -> Result<BoxMlcp<'_, Csr>, Error> {
        BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &self.upper)
            .map_err(|fault| broken(&fault))
    }

    /// Default initial guess: zero, or the bound nearest to it.
    pub fn start(&self) -> Vec<f64> {
        self.lower
            .iter()
            .zip(&self.upper)
            .map(|(&lower, &upper)| 0.0_f64.clamp(lower, upper))
            .collect()
    }
}

/// Error of the library for invalid input: sizes, bounds, settings.
pub fn broken(fault: &InputError) -> Error {
    Error::usage(fault.to_string())
}

struct Files {
    matrix: PathBuf,
    rhs: PathBuf,
    lower: Option<PathBuf>,
    upper: Option<PathBuf>,
}

impl Files {
    fn of(flags: &ProblemFlags) -> Result<Self, Error> {
        if let Some(folder) = &flags.problem {
            let there = |name: &str| Some(folder.join(name)).filter(|path| path.exists());
            return Ok(Self {
                matrix: folder.join("A.mtx"),
                rhs: folder.join("b.mtx"),
                lower: there("lower.mtx"),
                upper: there("upper.mtx"),
            });
        }
        match (&flags.matrix, &flags.rhs) {
            (Some(matrix), Some(rhs)) => Ok(Self {
                matrix: matrix.clone(),
                rhs: rhs.clone(),
                lower: flags.lower.clone(),
                upper: flags.upper.clone(),
            }),
            _ => Err(Error::usage(
                "a problem needs --matrix and --rhs, or --problem DIR",
            )),
        }
    }
}

/// Reads a vector with one entry per row.
pub fn vector(path: &Path, rows: usize) -> Result<Vec<f64>, Error> {
    let vector = read(path, |file| {
        matrix_market::read_vector(file, &Limits::default())
    })?;
    if vector.len() != rows {
        return Err(Error::usage(format!(
            "{} has {} entries, but the matrix has {rows} rows",
            path.display(),
            vector.len()
        )));
    }
    Ok(vector)
}

fn read<T>(
    path: &Path,
    parse: impl FnOnce(BufReader<File>) -> Result<T, ReadError>,
) -> Result<T, Error> {
    let unreadable = |why: String| Error::new(Kind::Asset, format!("{}: {why}", path.display()));
    // Opening a FIFO would block forever.
    let data = fs::metadata(path).map_err(|cause| unreadable(cause.to_string()))?;
    if !data.is_file() {
        return Err(unreadable("is not a file".into()));
    }
    let file = File::open(path).map_err(|cause| unreadable(cause.to_string()))?;
    parse(BufReader::new(file)).map_err(|fault| {
        let error = unreadable(fault.to_string());
        match fault {
            ReadError::Line { line: 0 | 1, .. } => error.with_remedy(
                "a matrix is written as `matrix coordinate real general`, a vector as `matrix array real general`",
            ),
            _ => error,
        }
    })
}

/// Writes a vector atomically.
pub fn write_vector(path: &Path, vector: &[f64]) -> Result<(), Error> {
    make_parent(path)?;
    atomic_file::write_with(path, |out| matrix_market::write_vector(out, vector))
}

/// Writes text atomically.
pub fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    make_parent(path)?;
    atomic_file::write(path, text.as_bytes())
}

fn make_parent(path: &Path) -> Result<(), Error> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder, &cause))
        }
        _ => Ok(()),
    }
}
