//! Multigrid hierarchies.
//!
//! Level 0 is the problem itself, level 1 the next coarser one, and so on. `P` takes a vector from a level to the next
//! finer one, `R` the other way.

use crate::csr::Csr;
use crate::error::{InputError, check_positive};
use crate::rect_csr::RectCsr;
use crate::reduce;
use crate::rows::Rows;

/// A diagonal entry this much below the largest one of its level is what rounding left of zero.
const NO_DIAGONAL: f64 = 1e-12;

/// The diagonal of a coarse matrix, to divide by: a coarse row that nothing depends on has none, and nothing to solve for
/// either.
pub(crate) fn divisors(matrix: &(impl Rows + ?Sized), d: &mut [f64]) {
    matrix.diagonal(d);
    let largest = reduce::largest(d);
    for d in d {
        if d.is_nan() || *d <= NO_DIAGONAL * largest {
            *d = if largest > 0.0 { largest } else { 1.0 };
        }
    }
}

/// A multigrid hierarchy: coarse matrices, restriction and prolongation.
///
/// A `level` of these functions is never 0: each speaks of a coarser level, and of the one that is next finer to it.
pub trait Hierarchy: Sync {
    /// The matrices of the coarser levels.
    type Matrix: Rows;

    /// Number of rows of level 0.
    fn finest(&self) -> usize;

    /// Number of coarser levels.
    fn coarser(&self) -> usize;

    /// The matrix of a level.
    fn matrix(&self, level: usize) -> &Self::Matrix;

    /// `coarse = R fine`, to a level.
    fn restrict(&self, level: usize, fine: &[f64], coarse: &mut [f64]);

    /// `fine = P coarse`, from a level.
    fn prolongate(&self, level: usize, coarse: &[f64], fine: &mut [f64]);

    /// Marks the rows of a level that are bounded, given those of the next finer one. [Lai20 sec. 4.3]
    fn bounded(&self, level: usize, fine: &[bool], coarse: &mut [bool]);
}

/// Transfer between a level and the next coarser one, `R = scale P'`.
///
/// ```
/// use meniscus_lcp::Transfer;
///
/// let (transfer, size) = Transfer::linear(&[3]);
/// assert_eq!((transfer.fine(), transfer.coarse(), size), (3, 1, vec![1]));
/// let mut fine = [0.0; 3];
/// transfer.prolongate(&[4.0], &mut fine);
/// assert_eq!(fine, [2.0, 4.0, 2.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    prolongation: RectCsr,
    restriction: RectCsr,
}

impl Transfer {
    /// From the entries (fine row, coarse row, weight) of `P`, in any order, those at one place added up.
    pub fn new(
        fine: usize,
        coarse: usize,
        entries: Vec<(u32, u32, f64)>,
        scale: f64,
    ) -> Result<Self, InputError> {
        check_positive("scale", scale)?;
        for (index, &(row, column, weight)) in entries.iter().enumerate() {
            if row as usize >= fine || column as usize >= coarse {
                return Err(InputError::Structure {
                    row: row as usize,
                    why: "an entry of a transfer lies outside it",
                });
            }
            if !weight.is_finite() {
                let what = "entries";
                return Err(InputError::NotFinite { what, index });
            }
        }
        let prolongation = RectCsr::new(fine, entries);
        Ok(Self {
            restriction: prolongation.transposed(coarse, scale),
            prolongation,
        })
    }

    /// Linear interpolation along every axis of a grid of points, whose first axis runs fastest; and the size of the coarser
    /// grid.
    ///
    /// Every second point is a coarse one, not the first and, where their number is odd, not the last: the grid is meant
    /// to lie between points with the value zero. An axis with fewer than three points stays as it is. `R` is `P'` over
    /// 2 for each axis that does not, so that it takes averages.
    pub fn linear(size: &[usize]) -> (Self, Vec<usize>) {
        let coarse_size: Vec<usize> = size
            .iter()
            .map(|&n| if n < 3 { n } else { n / 2 })
            .collect();
        let mut entries = vec![(0, 0, 1.0)];
        let (mut fine_stride, mut coarse_stride) = (1, 1);
        let mut scale = 1.0;
        for (&n, &m) in size.iter().zip(&coarse_size) {
            if n != m {
                scale *= 0.5;
            }
            let along: Vec<(usize, usize, f64)> = (0..n)
                .flat_map(|i| {
                    if n == m {
                        [Some((i, i, 1.0)), None]
                    } else if i % 2 == 1 {
                        [Some((i, i / 2, 1.0)), None]
                    } else {
                        let low = (i > 0).then(|| (i, i / 2 - 1, 0.5));
                        let high = (i / 2 < m).then_some((i, i / 2, 0.5));
                        [low, high]
                    }
                })
                .flatten()
                .collect();
            entries = along
                .iter()
                .flat_map(|&(i, j, weight)| {
                    let (i, j) = ((i * fine_stride) as u32, (j * coarse_stride) as u32);
                    entries
                        .iter()
                        .map(move |&(row, column, other)| (row + i, column + j, other * weight))
                })
                .collect();
            fine_stride *= n;
            coarse_stride *= m;
        }
        if fine_stride == 0 {
            entries.clear(); // an axis without points
        }
        let transfer = Self::new(fine_stride, coarse_stride, entries, scale)
            .expect("weights are finite and lie on the grids");
        (transfer, coarse_size)
    }

    /// Number of fine rows.
    pub fn fine(&self) -> usize {
        self.prolongation.rows()
    }

    /// Number of coarse rows.
    pub fn coarse(&self) -> usize {
        self.restriction.rows()
    }

    /// `coarse = R fine`
    ///
    /// # Panics
    /// If the vectors do not have one entry per row.
    pub fn restrict(&self, fine: &[f64], coarse: &mut [f64]) {
        assert_eq!(fine.len(), self.fine(), "fine has the wrong length");
        self.restriction.apply(fine, coarse);
    }

    /// `fine = P coarse`
    ///
    /// # Panics
    /// If the vectors do not have one entry per row.
    pub fn prolongate(&self, coarse: &[f64], fine: &mut [f64]) {
        assert_eq!(coarse.len(), self.coarse(), "coarse has the wrong length");
        self.prolongation.apply(coarse, fine);
    }

    /// The entries of a row of `P`: coarse rows, rising, and weights.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn weights(&self, row: usize) -> (&[u32], &[f64]) {
        self.prolongation.row(row)
    }

    /// Marks the coarse rows that `P` joins to a marked fine row.
    ///
    /// # Panics
    /// If the marks do not have one entry per row.
    pub fn joined(&self, fine: &[bool], coarse: &mut [bool]) {
        assert_eq!(coarse.len(), self.coarse(), "coarse has the wrong length");
        for (row, coarse) in coarse.iter_mut().enumerate() {
            let (columns, weights) = self.restriction.row(row);
            *coarse = columns
                .iter()
                .zip(weights)
                .any(|(&column, &weight)| fine[column as usize] && weight != 0.0);
        }
    }

    /// `R A P`, an error if `A` does not have a row for each fine one.
    pub fn galerkin(&self, matrix: &Csr) -> Result<Csr, InputError> {
        crate::error::check_length("the matrix", self.fine(), matrix.rows())?;
        let coarse = self.coarse();
        let half = RectCsr::product(
            (matrix.rows(), |row| matrix.row(row)),
            (coarse, &self.prolongation),
        );
        let RectCsr {
            starts,
            columns,
            values,
        } = RectCsr::product((coarse, |row| self.restriction.row(row)), (coarse, &half));
        Csr::new(coarse, starts, columns, values)
    }
}

/// Coarse matrices `A_H = R A P`. [Lai20 sec. 4.3]
///
/// A coarse row is bounded if `P` joins it to a bounded fine row.
///
/// ```
/// use meniscus_lcp::{Csr, Galerkin, Hierarchy};
///
/// let matrix = Csr::new(
///     3,
///     vec![0, 2, 5, 7],
///     vec![0, 1, 0, 1, 2, 1, 2],
///     vec![2.0, -1.0, -1.0, 2.0, -1.0, -1.0, 2.0],
/// )?;
/// let hierarchy = Galerkin::grid(&matrix, &[3])?;
/// assert_eq!(hierarchy.coarser(), 1);
/// assert_eq!(hierarchy.matrix(1).get(0, 0), 0.5);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Galerkin {
    finest: usize,
    transfers: Vec<Transfer>,
    matrices: Vec<Csr>,
}

impl Galerkin {
    /// From the matrix of level 0, and the transfers from each level to the next, finest first.
    pub fn new(matrix: &Csr, transfers: Vec<Transfer>) -> Result<Self, InputError> {
        let mut matrices: Vec<Csr> = Vec::with_capacity(transfers.len());
        for transfer in &transfers {
            let fine = matrices.last().unwrap_or(matrix);
            crate::error::check_length("a transfer", fine.rows(), transfer.fine())?;
            matrices.push(transfer.galerkin(fine)?);
        }
        Ok(Self {
            finest: matrix.rows(),
            transfers,
            matrices,
        })
    }

    /// From the matrix on a grid of points, by [linear](Transfer::linear) interpolation down to fewer than three points
    /// along every axis.
    pub fn grid(matrix: &Csr, size: &[usize]) -> Result<Self, InputError> {
        let mut transfers = Vec::new();
        let mut size = size.to_vec();
        while size.iter().any(|&n| n >= 3) && !size.contains(&0) {
            let (transfer, coarse) = Transfer::linear(&size);
            transfers.push(transfer);
            size = coarse;
        }
        Self::new(matrix, transfers)
    }
}

impl Hierarchy for Galerkin {
    type Matrix = Csr;

    fn finest(&self) -> usize {
        self.finest
    }

    fn coarser(&self) -> usize {
        self.matrices.len()
    }

    fn matrix(&self, level: usize) -> &Csr {
        &self.matrices[level - 1]
    }

    fn restrict(&self, level: usize, fine: &[f64], coarse: &mut [f64]) {
        self.transfers[level - 1].restrict(fine, coarse);
    }

    fn prolongate(&self, level: usize, coarse: &[f64], fine: &mut [f64]) {
        self.transfers[level - 1].prolongate(coarse, fine);
    }

    fn bounded(&self, level: usize, fine: &[bool], coarse: &mut [bool]) {
        self.transfers[level - 1].joined(fine, coarse);
    }
}
