//! Linear operators.

use crate::reduce;
use crate::split::for_each;

/// A square linear map.
///
/// A solver needs `A x` and the diagonal of `A`, never its entries: a stencil, a product of matrices or a
/// matrix-free block system is as good as a [`Csr`](crate::Csr).
pub trait Operator: Sync {
    /// Number of rows.
    fn len(&self) -> usize;

    /// `y = A x`
    fn apply(&self, x: &[f64], y: &mut [f64]);

    /// `y = A'x`, with which methods for non-symmetric matrices compute the gradient of a merit function.
    ///
    /// A symmetric operator calls [`apply`](Self::apply). There is no default, because a silent one would be wrong for
    /// every other operator.
    fn apply_transposed(&self, x: &[f64], y: &mut [f64]);

    /// Writes the diagonal of `A`.
    fn diagonal(&self, d: &mut [f64]);

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `y = A x`, returns `x'y`, in one pass where the operator can.
    fn apply_dot(&self, x: &[f64], y: &mut [f64]) -> f64 {
        self.apply(x, y);
        reduce::dot(x, y)
    }

    /// `y = a (A (a x)) + f x`, returns `x'y`: see [`Masked`].
    ///
    /// The default copies `x`, which allocates: override it in operators for large problems.
    fn apply_masked_dot(&self, active: &[bool], x: &[f64], y: &mut [f64]) -> f64 {
        let kept: Vec<f64> = x
            .iter()
            .zip(active)
            .map(|(&x, &active)| if active { x } else { 0.0 })
            .collect();
        self.apply(&kept, y);
        for ((y, &x), &active) in y.iter_mut().zip(x).zip(active) {
            if !active {
                *y = x;
            }
        }
        reduce::dot(x, y)
    }
}

/// `v -> a (A (a v)) + f v`: the rows and columns of `A` that a mask keeps, and the identity on the others.
///
/// `a` is 1 on active rows and 0 elsewhere, `f = 1 - a`. With the active rows first this is
/// `| A_AA 0 ; 0 I |`, and it is never assembled.
///
/// DEVIATION [ANE17 (39)]: the paper prints `a (A (a v)) - f H`, an affine map on which conjugate gradients break.
///
/// ```
/// use meniscus_lcp::{Csr, Masked, Operator};
///
/// let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
/// let mut y = [0.0; 2];
/// Masked::new(&matrix, &[true, false]).apply(&[1.0, 5.0], &mut y);
/// assert_eq!(y, [2.0, 5.0]);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Debug)]
pub struct Masked<'a, A: Operator + ?Sized> {
    matrix: &'a A,
    active: &'a [bool],
}

impl<'a, A: Operator + ?Sized> Masked<'a, A> {
    /// Masks a matrix.
    ///
    /// # Panics
    /// If the mask does not have one entry per row.
    pub fn new(matrix: &'a A, active: &'a [bool]) -> Self {
        assert_eq!(matrix.len(), active.len(), "the mask has the wrong length");
        Self { matrix, active }
    }
}

impl<A: Operator + ?Sized> Operator for Masked<'_, A> {
    fn len(&self) -> usize {
        self.matrix.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.apply_dot(x, y);
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        let mut kept = x.to_vec();
        for (kept, _) in kept.iter_mut().zip(self.active).filter(|pair| !pair.1) {
            *kept = 0.0;
        }
        self.matrix.apply_transposed(&kept, y);
        for ((y, &x), _) in y.iter_mut().zip(x).zip(self.active).filter(|pair| !pair.1) {
            *y = x;
        }
    }

    fn apply_dot(&self, x: &[f64], y: &mut [f64]) -> f64 {
        self.matrix.apply_masked_dot(self.active, x, y)
    }

    fn diagonal(&self, d: &mut [f64]) {
        self.matrix.diagonal(d);
        for_each((d, self.active), &|_, (d, active)| {
            for (d, &active) in d.iter_mut().zip(active) {
                if !active {
                    *d = 1.0;
                }
            }
        });
    }
}
