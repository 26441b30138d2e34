//! Sparse LU factors of monotone matrices, without pivoting.

use crate::csr::Csr;
use crate::error::InputError;
use crate::sparse_factor::{Factor, Sparse, System};

/// Factors of a sparse matrix whose symmetric part is positive semidefinite, for example a saddle point matrix
/// `[A B; -B' 0]` with a positive definite `A`.
///
/// No pivoting: a slight regularisation keeps pivots away from zero, and iterative refinement takes its effect out of the
/// solution again. A singular system is solved if its right-hand side lies in the range of the matrix.
///
/// ```
/// use meniscus_lcp::Csr;
/// use meniscus_lcp::factor::MonotoneLu;
///
/// let matrix = Csr::new(2, vec![0, 2, 3], vec![0, 1, 0], vec![2.0, 1.0, -1.0])?;
/// let mut factors = MonotoneLu::new(&matrix)?;
/// let mut x = [0.0; 2];
/// let residual = factors.solve(&[3.0, -1.0], &mut x);
/// assert!(residual < 1e-12 && (x[0] - 1.0).abs() < 1e-12 && (x[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MonotoneLu {
    matrix: Sparse,
    factor: Factor,
    shift: Vec<f64>,
    keep: Vec<bool>,
}

impl MonotoneLu {
    /// Factorises a matrix. An error if numbers overflow.
    pub fn new(matrix: &Csr) -> Result<Self, InputError> {
        let mut sparse = Sparse::default();
        sparse.gather(matrix);
        let mut factor = Factor::default();
        factor.prepare(&sparse, false);
        let (shift, keep) = (vec![0.0; matrix.rows()], vec![true; matrix.rows()]);
        let system = System {
            matrix: &sparse,
            shift: &shift,
            keep: &keep,
        };
        let factorised = factor.factorise(&system);
        factorised.map_err(|_| InputError::NotFinite {
            what: "factors",
            index: 0,
        })?;
        Ok(Self {
            matrix: sparse,
            factor,
            shift,
            keep,
        })
    }

    /// Solves `A x = c`; returns the largest entry of the residual.
    ///
    /// # Panics
    /// If a vector does not have as many entries as the matrix has rows.
    pub fn solve(&mut self, c: &[f64], x: &mut [f64]) -> f64 {
        assert_eq!(
            c.len(),
            self.keep.len(),
            "right-hand side and matrix differ in size"
        );
        let system = System {
            matrix: &self.matrix,
            shift: &self.shift,
            keep: &self.keep,
        };
        self.factor.solve(&system, c, x).largest
    }
}
