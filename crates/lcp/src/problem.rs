//! The box MLCP and its natural residual.

use crate::error::{InputError, check_finite, check_length};
use crate::operator::Operator;
use crate::reduce::{self, larger};
use crate::rows::Rows;
use crate::split::{first_row, fold, for_each};

/// Part of the terms of a row, `|A||x| + |b|`, up to which its `y` may be rounding.
pub(crate) const ROUNDING: f64 = 1e3 * f64::EPSILON;

/// Box-constrained mixed LCP: find `x` in `[l, u]` such that `y = A x + b` is complementary to it, row by row.
///
/// | row | `x_i` | `y_i` |
/// | --- | --- | --- |
/// | `l_i < u_i` | `x_i = l_i` | `y_i >= 0` |
/// | | `l_i < x_i < u_i` | `y_i = 0` |
/// | | `x_i = u_i` | `y_i <= 0` |
/// | `l_i = u_i` | `x_i = l_i` | free |
///
/// A row without finite bounds is a linear equation. If `A` is symmetric and positive semidefinite, this is the
/// condition for a minimum of `1/2 x'Ax + b'x` on `[l, u]`.
///
/// ```
/// use meniscus_lcp::{BoxMlcp, Csr};
///
/// let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
/// let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
/// assert_eq!(problem.residual_inf(&[0.5, 0.0]), 0.0); // y = (0, 4.5)
/// assert_eq!(problem.residual_inf(&[0.0, 0.0]), 1.0); // y = (-1, 5)
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Debug)]
pub struct BoxMlcp<'a, A: Operator + ?Sized> {
    matrix: &'a A,
    rhs: &'a [f64],
    lower: &'a [f64],
    upper: &'a [f64],
}

impl<A: Operator + ?Sized> Clone for BoxMlcp<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Operator + ?Sized> Copy for BoxMlcp<'_, A> {}

impl<'a, A: Operator + ?Sized> BoxMlcp<'a, A> {
    /// The problem `l <= x <= u`, `y = A x + b` with `b = rhs`.
    ///
    /// Bounds may be infinite on their own side, `rhs` must be finite.
    pub fn new(
        matrix: &'a A,
        rhs: &'a [f64],
        lower: &'a [f64],
        upper: &'a [f64],
    ) -> Result<Self, InputError> {
        let n = matrix.len();
        check_length("rhs", n, rhs.len())?;
        check_length("lower", n, lower.len())?;
        check_length("upper", n, upper.len())?;
        check_finite("rhs", rhs)?;
        let impossible = |l: f64, u: f64| {
            l.is_nan() || u.is_nan() || l > u || l == f64::INFINITY || u == f64::NEG_INFINITY
        };
        let faulty = first_row((lower, upper), &|_, (lower, upper)| {
            (0..lower.len()).find(|&i| impossible(lower[i], upper[i]))
        });
        if let Some(row) = faulty {
            return Err(InputError::Bounds {
                row,
                lower: lower[row],
                upper: upper[row],
            });
        }
        Ok(Self {
            matrix,
            rhs,
            lower,
            upper,
        })
    }

    /// A problem of arrays that were checked before, or made from such.
    pub(crate) fn unchecked(
        matrix: &'a A,
        rhs: &'a [f64],
        lower: &'a [f64],
        upper: &'a [f64],
    ) -> Self {
        Self {
            matrix,
            rhs,
            lower,
            upper,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rhs.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rhs.is_empty()
    }

    /// `A`
    pub fn matrix(&self) -> &'a A {
        self.matrix
    }

    /// `b`
    pub fn rhs(&self) -> &'a [f64] {
        self.rhs
    }

    /// `l`
    pub fn lower(&self) -> &'a [f64] {
        self.lower
    }

    /// `u`
    pub fn upper(&self) -> &'a [f64] {
        self.upper
    }

    /// `y = A x + b`
    pub fn affine(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.apply(x, y);
        for_each((y, self.rhs), &|_, (y, b)| {
            for (y, b) in y.iter_mut().zip(b) {
                *y += b;
            }
        });
    }

    /// The natural residual `r_i = x_i - clamp(x_i - y_i, l_i, u_i)`; returns its largest magnitude.
    ///
    /// It is zero exactly at a solution. NaN anywhere in `x` gives NaN.
    ///
    /// # Panics
    /// If `x` or `r` does not have one entry per row.
    pub fn natural_residual(&self, x: &[f64], r: &mut [f64]) -> f64 {
        self.affine(x, r);
        fold(
            (r, x, self.lower, self.upper),
            &|_, (r, x, lower, upper)| {
                for i in 0..r.len() {
                    r[i] = natural(x[i], r[i], lower[i], upper[i]);
                }
                reduce::largest(r)
            },
            &larger,
        )
    }

    /// The largest magnitude of the natural residual: what every method reports at its end.
    ///
    /// Allocates a vector; [`natural_residual`](Self::natural_residual) takes one instead.
    pub fn residual_inf(&self, x: &[f64]) -> f64 {
        self.natural_residual(x, &mut vec![0.0; self.len()])
    }

    /// `x = clamp(x, l, u)`
    pub(crate) fn project(&self, x: &mut [f64]) {
        for_each((x, self.lower, self.upper), &|_,
                                                (x, lower, upper): (
            &mut [f64],
            &[f64],
            &[f64],
        )| {
            for i in 0..x.len() {
                x[i] = x[i].clamp(lower[i], upper[i]);
            }
        });
    }

    /// `out = clamp(x + step dx, l, u)`; returns `max |out_i - x_i|`.
    pub(crate) fn project_step(&self, x: &[f64], step: f64, dx: &[f64], out: &mut [f64]) -> f64 {
        fold(
            ((x, dx, out), (self.lower, self.upper)),
            &|_, ((x, dx, out), (lower, upper))| {
                let mut moved = 0.0;
                for i in 0..x.len() {
                    out[i] = (x[i] + step * dx[i]).clamp(lower[i], upper[i]);
                    moved = larger(moved, (out[i] - x[i]).abs());
                }
                moved
            },
            &larger,
        )
    }

    /// Checks that `x` can be a starting point.
    pub(crate) fn check_start(&self, x: &[f64]) -> Result<(), InputError> {
        check_length("x", self.len(), x.len())?;
        check_finite("x", x)
    }
}

impl<A: Rows + ?Sized> BoxMlcp<'_, A> {
    /// [`residual_inf`](Self::residual_inf), the same bits, without a vector.
    pub fn largest_residual(&self, x: &[f64]) -> f64 {
        let parts = (x, self.rhs, self.lower, self.upper);
        let largest = |first: usize, (own, b, lower, upper): (&[f64], &[f64], &[f64], &[f64])| {
            (0..own.len()).fold(0.0, |most, i| {
                let sum = self.matrix.row_dot(first + i, x);
                larger(most, natural(own[i], sum + b[i], lower[i], upper[i]).abs())
            })
        };
        fold(parts, &largest, &larger)
    }
}

/// `x - clamp(x - y, l, u)`, without the cancellation that the formula as written has on rows inside the box.
#[inline]
pub(crate) fn natural(x: f64, y: f64, lower: f64, upper: f64) -> f64 {
    let target = x - y;
    if target <= lower {
        x - lower
    } else if target >= upper {
        x - upper
    } else if x.is_nan() {
        x
    } else {
        y
    }
}
