//! Jacobi (diagonal) preconditioner.

use super::Preconditioner;
use crate::error::InputError;
use crate::operator::Operator;
use crate::reduce;
use crate::split::{first_row, fold, for_each};

/// `P = inv(diag(A))`, the identity on rows whose diagonal entry is zero.
///
/// ```
/// use meniscus_lcp::precondition::{Jacobi, Preconditioner};
/// use meniscus_lcp::Csr;
///
/// let matrix = Csr::new(2, vec![0, 1, 2], vec![0, 1], vec![2.0, 4.0])?;
/// let mut z = [0.0; 2];
/// Jacobi::new(&matrix)?.apply(&[1.0, 1.0], &mut z);
/// assert_eq!(z, [0.5, 0.25]);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Jacobi {
    inverse: Vec<f64>,
}

impl Jacobi {
    /// The preconditioner of a matrix. A negative diagonal entry is an error.
    pub fn new(matrix: &(impl Operator + ?Sized)) -> Result<Self, InputError> {
        let mut jacobi = Self::default();
        jacobi.rebuild(matrix)?;
        Ok(jacobi)
    }

    /// Sets the diagonal to that of another matrix, reusing memory.
    pub fn rebuild(&mut self, matrix: &(impl Operator + ?Sized)) -> Result<(), InputError> {
        self.inverse.resize(matrix.len(), 0.0);
        matrix.diagonal(&mut self.inverse);
        let faulty = first_row(&self.inverse[..], &|_, d| {
            d.iter().position(|d| !d.is_finite() || *d < 0.0)
        });
        if let Some(row) = faulty {
            let value = self.inverse[row];
            return Err(InputError::Diagonal { row, value });
        }
        for_each(&mut self.inverse[..], &|_, inverse| {
            for d in inverse {
                let inverse = 1.0 / *d;
                *d = if inverse.is_finite() { inverse } else { 1.0 };
            }
        });
        Ok(())
    }
}

impl Preconditioner for Jacobi {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.apply_dot(r, z);
    }

    fn apply_dot(&self, r: &[f64], z: &mut [f64]) -> f64 {
        assert_eq!(r.len(), self.inverse.len(), "r has the wrong length");
        assert_eq!(z.len(), self.inverse.len(), "z has the wrong length");
        fold(
            (z, r, &self.inverse[..]),
            &|_, (z, r, inverse)| {
                for i in 0..z.len() {
                    z[i] = inverse[i] * r[i];
                }
                reduce::dot(r, z)
            },
            &|low, high| low + high,
        )
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        assert_eq!(r.len(), self.inverse.len(), "r has the wrong length");
        assert_eq!(z.len(), self.inverse.len(), "z has the wrong length");
        assert_eq!(
            active.len(),
            self.inverse.len(),
            "the mask has the wrong length"
        );
        fold(
            (z, r, &self.inverse[..], active),
            &|_, (z, r, inverse, active)| {
                for i in 0..z.len() {
                    z[i] = if active[i] { inverse[i] * r[i] } else { r[i] };
                }
                reduce::dot(r, z)
            },
            &|low, high| low + high,
        )
    }
}
