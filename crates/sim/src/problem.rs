//! Problems of a step as files that other programs can read.

use std::any::Any;
use std::fmt::Debug;
use std::io::{self, Write};

use meniscus_lcp::matrix_market::{write_matrix, write_vector};
use meniscus_liquid::{Face, FaceNeighbour, PressureProblem};
use serde::Serialize;

/// A problem of a step that writes itself, for study elsewhere.
pub trait ProblemDump: Any + Debug + Send + Sync {
    /// Name in messages, as in "the pressure problem".
    fn name(&self) -> &'static str;

    /// Number of unknowns.
    fn unknowns(&self) -> usize;

    /// Names of its files, in the order in which they are to be written.
    fn files(&self) -> &'static [&'static str];

    /// Writes one of its files.
    ///
    /// # Errors
    /// Those of `out`, and [`io::ErrorKind::NotFound`] if there is no such file.
    fn write(&self, file: &str, out: &mut dyn Write) -> io::Result<()>;
}

impl dyn ProblemDump {
    /// The problem as a type, if it is of that type.
    pub fn downcast<P: ProblemDump>(self: Box<Self>) -> Option<Box<P>> {
        (self as Box<dyn Any>).downcast().ok()
    }
}

/// Files of a [`PressureProblem`]. Matrix Market files hold the box MLCP: `y = A p + b`, `lower <= p <= upper`, and each
/// row has `y = 0`, or `p` at its lower bound and `y >= 0`, or `p` at its upper bound and `y <= 0`. `grid.json` has the cell
/// of each row and what lies beyond its faces. It comes last: where it is, the others are complete.
const FILES: [&str; 5] = ["A.mtx", "b.mtx", "lower.mtx", "upper.mtx", "grid.json"];

impl<const D: usize> ProblemDump for PressureProblem<D> {
    fn name(&self) -> &'static str {
        "pressure problem"
    }

    fn unknowns(&self) -> usize {
        self.rhs.len()
    }

    fn files(&self) -> &'static [&'static str] {
        &FILES
    }

    fn write(&self, file: &str, out: &mut dyn Write) -> io::Result<()> {
        match file {
            "A.mtx" => write_matrix(out, &self.matrix),
            "b.mtx" => write_vector(out, &self.rhs),
            "lower.mtx" => write_vector(out, &self.lower),
            "upper.mtx" => write_vector(out, &self.upper),
            "grid.json" => Ok(serde_json::to_writer(out, &Grid::from(self))?),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// The content of `grid.json`. Lists of faces have the low and the high face of each axis in turn.
#[derive(Serialize)]
struct Grid<'a> {
    dimension: usize,
    /// Cells of the domain; the walls of the domain may add rows beyond them.
    size: &'a [usize],
    dx: f64,
    dt: f64,
    density: f64,
    rows: usize,
    /// Cell of each row.
    cells: Vec<&'a [i32]>,
    /// Open share of each face of each row's cell.
    open: Vec<Vec<f64>>,
    /// Whether air lies beyond the face.
    air: Vec<Vec<bool>>,
    /// Whether a solid covers part of the face or all of it.
    solid: Vec<Vec<bool>>,
    /// Where air lies beyond: the distance from the cell's centre to the surface, as a share of a cell.
    theta: Vec<Vec<Option<f64>>>,
}

impl<'a, const D: usize> From<&'a PressureProblem<D>> for Grid<'a> {
    fn from(problem: &'a PressureProblem<D>) -> Self {
        fn per_face<const D: usize, T>(
            problem: &PressureProblem<D>,
            value: impl Fn(&Face) -> T,
        ) -> Vec<Vec<T>> {
            let row = |row: &[[Face; 2]; D]| row.iter().flatten().map(&value).collect();
            problem.faces.iter().map(row).collect()
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
