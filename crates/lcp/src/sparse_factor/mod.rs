//! Direct solves with sparse matrices, `(A + diag(d)) x = c` on a part of the rows.
//!
//! `A + diag(d) = L U` without pivoting, which is safe for monotone matrices: if the symmetric part is positive
//! definite, so is that of every matrix that elimination leaves, and no pivot is near zero. A slight regularisation
//! makes it so for semidefinite ones, and iterative refinement takes its effect out again. Since no entry moves, order
//! and pattern of the factors follow from the pattern of `A` and are computed once.
//!
//! The factorisation runs on one thread in a fixed order: the same bits for any pool.

mod fronts;
mod order;
mod sparse;
mod symbolic;

pub(crate) use self::order::minimum_degree;
pub(crate) use self::sparse::Sparse;
pub(crate) use self::symbolic::eliminate;

use self::fronts::Fronts;
use self::symbolic::Symbolic;
use crate::reduce;
use crate::rows::Rows;

/// Shift that is added to a diagonal of about 1.
const REGULARISATION: f64 = 1e-9;
/// Steps of iterative refinement.
const REFINEMENTS: usize = 8;
/// A step of refinement that does not lower the residual to this part was the last.
const REFINED: f64 = 0.5;
/// The part of the right-hand side that rounding leaves.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The system `(A + diag(shift)) x = c` on the rows to keep, `x = 0` on the others.
#[derive(Clone, Copy)]
pub(crate) struct System<'a> {
    pub matrix: &'a Sparse,
    pub shift: &'a [f64],
    pub keep: &'a [bool],
}

/// Residual `c - (A + diag(shift)) x` of a solve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// `||.||_2`
    pub norm: f64,
    /// `||.||_inf`
    pub largest: f64,
}

/// A number overflowed: there is no factorisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Broken;

/// A factorisation and its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor {
    symbolic: Symbolic,
    fronts: Fronts,
    symmetric: bool,
    values: Vec<f64>,
    /// Brings the diagonal to about 1.
    scale: Vec<f64>,
    r: Vec<f64>,
    e: Vec<f64>,
}

/// The least pivot of a symmetric matrix, brought to a diagonal of about 1 and shifted, and that shift; `None` if that takes
/// more than so many multiplications.
pub(crate) fn least_pivot(matrix: &(impl Rows + ?Sized), most_work: f64) -> Option<(f64, f64)> {
    let mut sparse = Sparse::default();
    sparse.gather(matrix);
    let mut factor = Factor::default();
    factor.prepare(&sparse, false);
    if factor.symbolic.work() > most_work {
        return None;
    }
    let n = sparse.len();
    let system = System {
        matrix: &sparse,
        shift: &vec![0.0; n],
        keep: &vec![true; n],
    };
    factor.factorise(&system).ok()?;
    Some((factor.fronts.least_pivot(&factor.symbolic), REGULARISATION))
}

impl Factor {
    /// Sets the matrix; order and pattern are reused if its pattern is that of the last one.
    pub fn prepare(&mut self, matrix: &Sparse, same_pattern: bool) {
        if !same_pattern {
            self.symbolic = Symbolic::new(matrix);
        }
        self.symmetric = matrix.is_symmetric();
        self.values.resize(matrix.values.len(), 0.0);
        for array in [&mut self.scale, &mut self.r, &mut self.e] {
            array.resize(matrix.len(), 0.0);
        }
    }

    /// Factorises a system.
    pub fn factorise(&mut self, system: &System<'_>) -> Result<(), Broken> {
        let System {
            matrix,
            shift,
            keep,
        } = system;
        for (i, scale) in self.scale.iter_mut().enumerate() {
            *scale = 1.0;
            if keep[i] {
                let largest = matrix
                    .row(i)
                    .fold(0.0_f64, |m, (_, value)| m.max(value.abs()));
                let inverse = 1.0 / largest.max(shift[i]).sqrt();
                if inverse.is_finite() && inverse > 0.0 {
                    *scale = inverse;
                }
            }
        }
        for row in 0..matrix.len() {
            for at in matrix.entries(row) {
                let column = matrix.column(at);
                self.values[at] = if row == column {
                    let value = if keep[row] {
                        self.scale[row] * (matrix.values[at] + shift[row]) * self.scale[row]
                    } else {
                        1.0
                    };
                    value + REGULARISATION
                } else if keep[row] && keep[column] {
                    self.scale[row] * matrix.values[at] * self.scale[column]
                } else {
                    0.0
                };
            }
        }
        self.fronts
            .factorise(&self.symbolic, &self.values, self.symmetric)
    }

    /// Solves the system that was factorised last; leaves it unsolved where numbers overflow.
    pub fn solve(&mut self, system: &System<'_>, c: &[f64], x: &mut [f64]) -> Left {
        let System {
            matrix,
            shift,
            keep,
        } = system;
        let Self {
            symbolic,
            fronts,
            scale,
            r,
            e,
            ..
        } = self;
        x.fill(0.0);
        for i in 0..c.len() {
            r[i] = if keep[i] { c[i] } else { 0.0 };
        }
        let start = reduce::largest(r);
        let mut largest = start;
        let mut left = Left {
            norm: reduce::sum_of_squares(r).sqrt(),
            largest,
        };
        // What the regularisation changed is put right by refinement, which stops where it no longer helps: in the
        // null space of a singular matrix it never would.
        for refinement in 0..=REFINEMENTS {
            if largest <= ROUNDING * start || !largest.is_finite() {
                break;
            }
            for i in 0..e.len() {
                e[i] = scale[i] * r[i];
            }
            fronts.solve(symbolic, e);
            for i in 0..e.len() {
                e[i] *= scale[i];
                x[i] += e[i];
            }
            matrix.apply(x, r);
            for i in 0..r.len() {
                r[i] = if keep[i] {
                    c[i] - r[i] - shift[i] * x[i]
                } else {
                    0.0
                };
            }
            let next = reduce::largest(r);
            if refinement > 0 && (next.is_nan() || next >= largest) {
                for i in 0..e.len() {
                    x[i] -= e[i];
                }
                break;
            }
            let slow = refinement > 0 && next > REFINED * largest;
            left = Left {
                norm: reduce::sum_of_squares(r).sqrt(),
                largest: next,
            };
            largest = next;
            if slow {
                break;
            }
        }
        left
    }
}
