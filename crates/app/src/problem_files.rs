//! Pressure problems as files: Matrix Market, and a JSON file for the grid.
//!
//! `A.mtx`, `b.mtx`, `lower.mtx`, `upper.mtx` are the box MLCP: `y = A p + b`, `lower <= p <= upper`, and
//! each row has `y = 0`, or `p` at its lower bound and `y >= 0`, or `p` at its upper bound and `y <= 0`.
//! `grid.json` has the cells of the rows and their surroundings.

use meniscus_lcp::gallery::Instance;
use meniscus_lcp::{Csr, matrix_market};
use meniscus_liquid::{Face, FaceNeighbour, PressureProblem};
use meniscus_store::atomic_file;
use meniscus_store::error::Error;
use meniscus_store::layout::problems::NAMES;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::Path;

/// File of the solution of a generated problem; problems of a simulation have none.
pub const SOLUTION: &str = "x.mtx";

/// Content of `grid.json`. Lists of faces have the low and the high face of each axis in turn.
#[derive(Serialize)]
struct Grid<'a> {
    dimension: usize,
    /// Cells of the domain; its walls may add rows beyond them.
    size: &'a [usize],
    dx: f64,
    dt: f64,
    density: f64,
    rows: usize,
    /// Cell of each row.
    cells: Vec<&'a [i32]>,
    /// Open fraction of each face of each row's cell.
    open: Vec<Vec<f64>>,
    /// Whether the neighbour across the face is air.
    air: Vec<Vec<bool>>,
    /// Whether a solid covers part of the face or all of it.
    solid: Vec<Vec<bool>>,
    /// For air neighbours: the distance from the cell's centre to the surface, in cells.
    theta: Vec<Vec<Option<f64>>>,
}

impl<'a, const D: usize> From<&'a PressureProblem<D>> for Grid<'a> {
    fn from(problem: &'a PressureProblem<D>) -> Self {
        fn per_face<const D: usize, T>(
            problem: &PressureProblem<D>,
            value: impl Fn(&Face) -> T,
        ) -> Vec<Vec<T>> {
            problem
                .faces
                .iter()
                .map(|row| row.iter().flatten().map(&value).collect())
                .collect()
        }
        Grid {
            dimension: D,
            size: &problem.size,
            dx: problem.dx,
            dt: problem.dt,
            density: problem.density,
            rows: problem.cells.len(),
            cells: problem.cells.iter().map(|cell| &cell[..]).collect(),
            open: per_face(problem, |face| face.open),
            air: per_face(problem, |face| {
                matches!(face.beyond, FaceNeighbour::Air { .. })
            }),
            solid: per_face(problem, |face| face.open < 1.0),
            theta: per_face(problem, |face| match face.beyond {
                FaceNeighbour::Air { theta } => Some(theta),
                FaceNeighbour::Liquid | FaceNeighbour::Solid => None,
            }),
        }
    }
}

/// Writes a problem into a folder, creating it if necessary. The grid is written last: if it
/// exists, the other files are complete.
pub fn write<const D: usize>(folder: &Path, problem: &PressureProblem<D>) -> Result<(), Error> {
    write_problem(
        folder,
        &problem.matrix,
        [&problem.rhs, &problem.lower, &problem.upper],
    )?;
    atomic_file::write_with(&folder.join("grid.json"), |out| {
        serde_json::to_writer(out, &Grid::from(problem)).map_err(io::Error::from)
    })
}

/// Writes a generated problem with its solution.
pub fn write_generated(folder: &Path, instance: &Instance) -> Result<(), Error> {
    write_problem(
        folder,
        &instance.matrix,
        [&instance.rhs, &instance.lower, &instance.upper],
    )?;
    atomic_file::write_with(&folder.join(SOLUTION), |out| {
        matrix_market::write_vector(out, &instance.solution)
    })
}

/// Writes matrix, right-hand side and bounds, after removing other files of an earlier problem.
fn write_problem(folder: &Path, matrix: &Csr, vectors: [&[f64]; 3]) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, &e))?;
    for name in ["grid.json", SOLUTION] {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &path, &e));
            }
            _ => {}
        }
    }
    atomic_file::write_with(&folder.join("A.mtx"), |out| {
        matrix_market::write_matrix(out, matrix)
    })?;
    for (name, vector) in ["b.mtx", "lower.mtx", "upper.mtx"].into_iter().zip(vectors) {
        atomic_file::write_with(&folder.join(name), |out| {
            matrix_market::write_vector(out, vector)
        })?;
    }
    Ok(())
}

/// Checks that a folder is new, empty, or contains an earlier problem and nothing else.
pub fn check_folder(folder: &Path) -> Result<(), Error> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(|e| Error::io("read", folder, &e))?,
    };
    for entry in entries {
        let name = entry
            .map_err(|e| Error::io("read", folder, &e))?
            .file_name();
        let known = |name: &str| NAMES.contains(&name) || name == SOLUTION;
        if !name.to_str().is_some_and(known) {
            return Err(Error::usage(format!(
                "{} contains {}, which is not part of a problem",
                folder.display(),
                name.to_string_lossy()
            ))
            .with_remedy("choose another folder with --out DIR"));
        }
    }
    Ok(())
}
