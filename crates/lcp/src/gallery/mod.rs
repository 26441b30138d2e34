//! Random test problems with known solutions.
//!
//! | generator | matrix | after |
//! | --- | --- | --- |
//! | [`banded()`] | sparse, symmetric positive definite, a few constant bands | [Erl13 sec. 7], first kind |
//! | [`contact_cone()`] | sparse, not symmetric, zeros on the diagonal | [Erl13 (27)], second kind |
//! | [`dense()`] | dense, symmetric, eigenvalues evenly spread, some of them zero if asked for | [Erl13 sec. 7], the dense kind |
//!
//! DEVIATION [Erl13 sec. 7]: the program behind the notes sets `b = 0` where `x = 0`. There `y = A x` may be negative,
//! and then `x` solves nothing. Here `x` and `y` are chosen complementary, and `b = y - A x`.
//!
//! ```
//! use meniscus_lcp::gallery::{self, Random};
//!
//! let instance = gallery::banded(100, 3, 0.5, &mut Random::new(1));
//! assert!(instance.problem().residual_inf(&instance.solution) < 1e-12);
//! ```

mod banded;
mod contact_cone;
mod dense;
mod random;

pub use banded::banded;
pub use contact_cone::{ROWS_PER_CONE, contact_cone};
pub use dense::dense;
pub use random::Random;

use crate::csr::Csr;
use crate::operator::Operator;
use crate::problem::BoxMlcp;

/// A problem and one of its solutions.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// `A`
    pub matrix: Csr,
    /// `b`
    pub rhs: Vec<f64>,
    /// `l`
    pub lower: Vec<f64>,
    /// `u`
    pub upper: Vec<f64>,
    /// An `x` that solves it.
    pub solution: Vec<f64>,
}

impl Instance {
    /// The LCP (bounds 0 and infinity) that `x` solves with `y = A x + b`; the two must be complementary.
    fn complementary(matrix: Csr, x: Vec<f64>, y: &[f64]) -> Self {
        let n = x.len();
        let mut rhs = vec![0.0; n];
        matrix.apply(&x, &mut rhs);
        for (b, y) in rhs.iter_mut().zip(y) {
            *b = y - *b;
        }
        Self {
            matrix,
            rhs,
            lower: vec![0.0; n],
            upper: vec![f64::INFINITY; n],
            solution: x,
        }
    }

    /// The LCP with a random solution of which a share of the entries is zero.
    fn with_zeros(matrix: Csr, zeros: f64, random: &mut Random) -> Self {
        let (mut x, mut y) = (vec![0.0; matrix.rows()], vec![0.0; matrix.rows()]);
        for (x, y) in x.iter_mut().zip(&mut y) {
            let value = random.unit();
            if value < zeros {
                *y = random.unit();
            } else {
                *x = value;
            }
        }
        Self::complementary(matrix, x, &y)
    }

    /// The instance as a problem.
    pub fn problem(&self) -> BoxMlcp<'_, Csr> {
        BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &self.upper)
            .expect("an instance has one finite entry per row, and ordered bounds")
    }
}
