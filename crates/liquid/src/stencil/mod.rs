//! Symmetric M-matrices that couple cells that share a face, stored by the sides of the cells.
//!
//! The pressure assembly writes a [`StencilProblem`]; multigrid, the levels of FAS and the exporters read it. Most rows are
//! *regular*: every face has the full weight, and the diagonal is their sum. Of these only the neighbours are stored; weights and
//! diagonal are stored for the others alone. Solvers that need a [`Csr`] get it from [`Stencil::matrix`], which makes it
//! when it is first asked for; [`Stencil::from_matrix`] is the way back, for problems from files.

mod from_matrix;
mod irregular;
mod operator;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use meniscus_lcp::{BoxMlcp, Csr, InputError};
use rayon::prelude::*;

use self::irregular::Irregular;
use crate::grid::tiles::Coord;
use crate::growth::Growth;

/// No neighbour on a side.
pub const NO_NEIGHBOUR: u32 = u32::MAX;

/// Weights that differ by less, as a share, are the same: rounding of a sum of a few.
const SAME: f64 = 1e-13;

/// Rows that are written together: whole words of the set of irregular rows.
const CHUNK: usize = 4096;

/// A row by the sides of its cell: for each axis the low and the high one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StencilRow<const D: usize> {
    /// Rows of the neighbours, [`NO_NEIGHBOUR`] where there is none.
    pub neighbours: [[u32; 2]; D],
    /// Couplings with them, without their sign; zero where there is none.
    pub weight: [[f64; 2]; D],
    /// Sum of the weights and of the Dirichlet part.
    pub diagonal: f64,
    /// Sides beyond which the value is zero: bit `2 axis`, and one more on the high side.
    pub air: u8,
}

impl<const D: usize> StencilRow<D> {
    /// A row without couplings.
    pub const EMPTY: Self = Self {
        neighbours: [[NO_NEIGHBOUR; 2]; D],
        weight: [[0.0; 2]; D],
        diagonal: 0.0,
        air: 0,
    };

    fn largest(&self) -> f64 {
        let weights = self.weight.as_flattened().iter();
        weights.fold(0.0, |m, &w| if w > m { w } else { m })
    }

    fn is_regular(&self, full: f64) -> bool {
        let is_same = |weight: f64, other: f64| (weight - other).abs() <= SAME * other;
        let mut weights = self.weight.as_flattened().iter();
        full > 0.0
            && weights.all(|&w| is_same(w, full))
            && is_same(self.diagonal, (2 * D) as f64 * full)
    }
}

/// A symmetric M-matrix that couples cells that share a face.
#[derive(Debug)]
pub struct Stencil<const D: usize> {
    identity: u64,
    cells: Vec<Coord<D>>,
    neighbours: Vec<[[u32; 2]; D]>,
    full_weight: f64,
    irregular: Irregular<D>,
    matrix: OnceLock<Csr>,
}

impl<const D: usize> Default for Stencil<D> {
    fn default() -> Self {
        Self {
            identity: 0,
            cells: Vec::new(),
            neighbours: Vec::new(),
            full_weight: 1.0,
            irregular: Irregular::default(),
            matrix: OnceLock::new(),
        }
    }
}

impl<const D: usize> Clone for Stencil<D> {
    /// The matrix is made again when it is asked for.
    fn clone(&self) -> Self {
        Self {
            identity: self.identity,
            cells: self.cells.clone(),
            neighbours: self.neighbours.clone(),
            full_weight: self.full_weight,
            irregular: self.irregular.clone(),
            matrix: OnceLock::new(),
        }
    }
}

impl<const D: usize> Stencil<D> {
    /// Replaces the matrix by one with rows at these cells, in the memory of the last. `row` is called for every row, and again
    /// for every row if `full_weight` is not the largest weight of all.
    pub(crate) fn assemble(
        &mut self,
        cells: impl IndexedParallelIterator<Item = Coord<D>>,
        full_weight: f64,
        row: impl Fn(usize, Coord<D>) -> Result<StencilRow<D>, InputError> + Sync,
    ) -> Result<(), InputError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.identity = NEXT.fetch_add(1, Ordering::Relaxed);
        self.matrix = OnceLock::new();
        let n = cells.len();
        self.cells.clear();
        self.cells.make_room(n);
        self.cells.par_extend(cells.with_min_len(CHUNK));
        self.neighbours.resize_closely(n, [[NO_NEIGHBOUR; 2]; D]);
        self.full_weight = full_weight;
        loop {
            let (full, cells) = (self.full_weight, &self.cells);
            let write = |first: usize, neighbours: &mut [[[u32; 2]; D]]| {
                let mut part = irregular::Part::new(first);
                let mut largest = 0.0f64;
                for (k, neighbours) in neighbours.iter_mut().enumerate() {
                    let row = row(first + k, cells[first + k])?;
                    largest = largest.max(row.largest());
                    *neighbours = row.neighbours;
                    if !row.is_regular(full) {
                        part.push(first + k, &row);
                    }
                }
                Ok((part, largest))
            };
            let chunks = self.neighbours.par_chunks_mut(CHUNK).enumerate();
            let parts: Result<Vec<_>, InputError> = chunks
                .map(|(chunk, neighbours)| write(chunk * CHUNK, neighbours))
                .collect();
            let parts = parts?;
            let largest = parts.iter().fold(0.0f64, |m, part| m.max(part.1));
            if largest != self.full_weight && largest > 0.0 {
                self.full_weight = largest;
                continue;
            }
            self.irregular.join(n, parts.iter().map(|part| &part.0));
            if largest == 0.0 {
                // Rows without couplings: any unit will do.
                let largest = self.irregular.largest_diagonal();
                self.full_weight = if largest > 0.0 { largest } else { 1.0 };
            }
            return Ok(());
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.cells.len()
    }

    /// Cell of every row.
    pub fn cells(&self) -> &[Coord<D>] {
        &self.cells
    }

    /// Neighbours of a row.
    #[inline]
    pub fn neighbours(&self, row: usize) -> &[[u32; 2]; D] {
        &self.neighbours[row]
    }

    /// Weight of a full face: the largest of all.
    pub fn full_weight(&self) -> f64 {
        self.full_weight
    }

    /// Whether all faces of a row have the full weight, and its diagonal is their sum.
    #[inline]
    pub fn is_regular(&self, row: usize) -> bool {
        self.irregular.place(row).is_none()
    }

    /// A row.
    #[inline]
    pub fn row(&self, row: usize) -> StencilRow<D> {
        let neighbours = self.neighbours[row];
        match self.irregular.get(row) {
            Some(own) => StencilRow {
                neighbours,
                weight: own.weight,
                diagonal: own.diagonal,
                air: own.air,
            },
            None => StencilRow {
                neighbours,
                weight: [[self.full_weight; 2]; D],
                diagonal: self.full_diagonal(),
                air: 0,
            },
        }
    }

    /// Diagonal of a regular row, with the rounding of a sum.
    fn full_diagonal(&self) -> f64 {
        (0..2 * D).fold(0.0, |sum, _| sum + self.full_weight)
    }

    /// Whether another stencil is this one, or a copy of it. Equal matrices that were assembled twice are not the same.
    pub fn is(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }
}

/// A box MLCP with a stencil, owned: `y = A x + b`, `l <= x <= u`.
#[derive(Clone, Debug, Default)]
pub struct StencilProblem<const D: usize> {
    /// `A`
    pub stencil: Stencil<D>,
    /// `b`
    pub rhs: Vec<f64>,
    /// `l`
    pub lower: Vec<f64>,
    /// `u`
    pub upper: Vec<f64>,
}

impl<const D: usize> StencilProblem<D> {
    /// A problem whose rows belong to these cells: see [`Stencil::from_matrix`].
    pub fn from_matrix(problem: &BoxMlcp<Csr>, cells: &[Coord<D>]) -> Result<Self, InputError> {
        Ok(Self {
            stencil: Stencil::from_matrix(problem.matrix(), cells)?,
            rhs: problem.rhs().to_vec(),
            lower: problem.lower().to_vec(),
            upper: problem.upper().to_vec(),
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rhs.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rhs.is_empty()
    }

    /// The problem for methods that read the stencil.
    pub fn posed(&self) -> Result<BoxMlcp<'_, Stencil<D>>, InputError> {
        BoxMlcp::new(&self.stencil, &self.rhs, &self.lower, &self.upper)
    }

    /// The problem for methods that read the entries of its matrix.
    pub fn with_matrix(&self) -> Result<BoxMlcp<'_, Csr>, InputError> {
        with_matrix(&self.posed()?)
    }
}

/// A problem with the entries of its matrix, which are made when they are first asked for.
pub fn with_matrix<'a, const D: usize>(
    problem: &BoxMlcp<'a, Stencil<D>>,
) -> Result<BoxMlcp<'a, Csr>, InputError> {
    let matrix = problem.matrix().matrix();
    BoxMlcp::new(matrix, problem.rhs(), problem.lower(), problem.upper())
}
