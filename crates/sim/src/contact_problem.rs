//! Contact problems as files.

use std::io::{self, Write};

use meniscus_lcp::matrix_market::{write_matrix, write_vector};
use meniscus_lcp::{CoupledBound, Csr, InputError};
use meniscus_rigid::ContactProblem;
use serde::Serialize;

use crate::problem::ProblemDump;

/// Files of contact problems. Matrix Market files hold a box MLCP in which the rows of friction are free; `friction.json`
/// has their bounds. It comes last: where it is, the others are complete.
const FILES: [&str; 6] = [
    "A.mtx",
    "b.mtx",
    "lower.mtx",
    "upper.mtx",
    "start.mtx",
    "friction.json",
];

/// The contact problems of all islands of a step as one, island after island.
#[derive(Clone, Debug)]
pub struct IslandProblems {
    /// `J inv(M) J'`, in 1/kg.
    pub matrix: Csr,
    /// `J v + bias` without impulses, in m/s.
    pub b: Vec<f64>,
    /// Lower bounds; rows of friction are free here.
    pub lower: Vec<f64>,
    /// Upper bounds; rows of friction are free here.
    pub upper: Vec<f64>,
    /// Impulses to start from.
    pub start: Vec<f64>,
    /// Bounds of friction.
    pub friction: Vec<CoupledBound>,
    /// Pairs of rows of friction whose bounds are a disc.
    pub discs: Vec<[usize; 2]>,
    islands: Vec<Island>,
}

/// Rows of an island, in `friction.json`.
#[derive(Clone, Copy, Debug, Serialize)]
struct Island {
    first_row: usize,
    rows: usize,
    joint_rows: usize,
    contacts: usize,
}

/// The content of `friction.json`.
#[derive(Serialize)]
struct Friction<'a> {
    about: &'static str,
    coupled_bounds: Vec<Bound>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    discs: &'a [[usize; 2]],
    islands: &'a [Island],
}

#[derive(Serialize)]
struct Bound {
    row: usize,
    of: usize,
    factor: f64,
}

impl IslandProblems {
    /// The problems of some islands.
    ///
    /// # Errors
    /// If a matrix is not well formed.
    pub fn new(islands: &[ContactProblem]) -> Result<Self, InputError> {
        let rows = islands.iter().map(|island| island.b.len()).sum();
        let mut entries = Vec::new();
        let mut whole = Self {
            matrix: Csr::from_entries(0, Vec::new())?,
            b: Vec::with_capacity(rows),
            lower: Vec::with_capacity(rows),
            upper: Vec::with_capacity(rows),
            start: Vec::with_capacity(rows),
            friction: Vec::new(),
            discs: Vec::new(),
            islands: Vec::new(),
        };
        for island in islands {
            let first_row = whole.b.len();
            for i in 0..island.b.len() {
                let (columns, values) = island.matrix.row(i);
                let row = (first_row + i) as u32;
                let of_row = columns.iter().zip(values);
                entries.extend(of_row.map(|(&j, &value)| (row, first_row as u32 + j, value)));
            }
            whole.b.extend(&island.b);
            whole.lower.extend(&island.lower);
            whole.upper.extend(&island.upper);
            whole.start.extend(&island.x);
            let row_of = |index: usize| island.friction[index].row + first_row;
            let discs = island.discs.iter();
            whole.discs.extend(discs.map(|pair| pair.map(row_of)));
            let friction = island.friction.iter();
            whole.friction.extend(friction.map(|bound| CoupledBound {
                row: bound.row + first_row,
                of: bound.of + first_row,
                ..*bound
            }));
            whole.islands.push(Island {
                first_row,
                rows: island.b.len(),
                joint_rows: island.joint_rows,
                contacts: island.contacts(),
            });
        }
        whole.matrix = Csr::from_entries(rows, entries)?;
        Ok(whole)
    }
}

impl ProblemDump for IslandProblems {
    fn name(&self) -> &'static str {
        "contact problem"
    }

    fn unknowns(&self) -> usize {
        self.b.len()
    }

    fn files(&self) -> &'static [&'static str] {
        &FILES
    }

    fn write(&self, file: &str, out: &mut dyn Write) -> io::Result<()> {
        match file {
            "A.mtx" => write_matrix(out, &self.matrix),
            "b.mtx" => write_vector(out, &self.b),
            "lower.mtx" => write_vector(out, &self.lower),
            "upper.mtx" => write_vector(out, &self.upper),
            "start.mtx" => write_vector(out, &self.start),
            "friction.json" => {
                let bound = |bound: &CoupledBound| Bound {
                    row: bound.row,
                    of: bound.of,
                    factor: bound.factor,
                };
                let friction = Friction {
                    about: "Rows from zero. Impulses of friction are bounded by |x_row| <= factor x_of, x_of the impulse \
                            along the normal; in 3D the two rows of a contact are its tangents. Of two rows in `discs` the length of both \
                            together is bounded.",
                    coupled_bounds: self.friction.iter().map(bound).collect(),
                    discs: &self.discs,
                    islands: &self.islands,
                };
                Ok(serde_json::to_writer(out, &friction)?)
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
