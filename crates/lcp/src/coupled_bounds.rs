//! Bounds that depend on another unknown.
//!
//! On some rows the bounds are not numbers but `-factor x_k` and `factor x_k`, with `x_k` an unknown of its own. With the
//! bounds frozen at some `x` this is a box MLCP; a solution is an `x` that solves the one frozen at itself.

use crate::error::{InputError, check_not_negative};
use crate::operator::Operator;
use crate::problem::{BoxMlcp, natural};
use crate::reduce;

/// A row whose bounds depend on another row: `-factor x_of <= x_row <= factor x_of`.
///
/// Where `x_of` is negative, both bounds are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledBound {
    /// The row with the bounds.
    pub row: usize,
    /// The row that they depend on.
    pub of: usize,
    /// Bound over `x_of`, zero or positive.
    pub factor: f64,
}

impl CoupledBound {
    /// The upper bound at `x`; the lower one is its negative.
    ///
    /// # Panics
    /// If `x` has no such row.
    #[inline]
    pub fn reach(&self, x: &[f64]) -> f64 {
        // Not an overflow: a bound that no x can reach.
        (self.factor * x[self.of].max(0.0)).min(f64::MAX)
    }
}

/// A box MLCP of which some rows have bounds that depend on another row.
///
/// ```
/// use meniscus_lcp::{BoxMlcp, Csr, CoupledBound, CoupledBoundMlcp};
///
/// let matrix = Csr::new(2, vec![0, 1, 2], vec![0, 1], vec![1.0, 1.0])?;
/// let (lower, upper) = ([0.0, f64::NEG_INFINITY], [f64::INFINITY; 2]);
/// let frozen = BoxMlcp::new(&matrix, &[-2.0, -5.0], &lower, &upper)?;
/// let coupled = [CoupledBound { row: 1, of: 0, factor: 0.5 }];
/// let problem = CoupledBoundMlcp::new(frozen, &coupled)?;
/// assert_eq!(problem.residual_inf(&[2.0, 1.0]), 0.0); // x_1 wants to be 5, and may be 0.5 * 2
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Debug)]
pub struct CoupledBoundMlcp<'a, A: Operator + ?Sized> {
    rest: BoxMlcp<'a, A>,
    coupled: &'a [CoupledBound],
    discs: &'a [[usize; 2]],
}

impl<A: Operator + ?Sized> Clone for CoupledBoundMlcp<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Operator + ?Sized> Copy for CoupledBoundMlcp<'_, A> {}

impl<'a, A: Operator + ?Sized> CoupledBoundMlcp<'a, A> {
    /// A problem with such rows. In `rest` they must be free; none may be named twice, nor depend on one of their own kind.
    pub fn new(rest: BoxMlcp<'a, A>, coupled: &'a [CoupledBound]) -> Result<Self, InputError> {
        let fault = |index: usize, why: &'static str| Err(InputError::CoupledBound { index, why });
        let mut follows = vec![false; rest.len()];
        for (index, bound) in coupled.iter().enumerate() {
            if bound.row >= rest.len() || bound.of >= rest.len() {
                return fault(index, "it names a row that is not there");
            }
            if check_not_negative("factor", bound.factor).is_err() {
                return fault(index, "its factor must be zero or positive, and finite");
            }
            if rest.lower()[bound.row].is_finite() || rest.upper()[bound.row].is_finite() {
                return fault(index, "its row has bounds of its own");
            }
            if std::mem::replace(&mut follows[bound.row], true) {
                return fault(index, "its row has been named before");
            }
        }
        match coupled.iter().position(|bound| follows[bound.of]) {
            Some(index) => fault(index, "the row it follows follows another one"),
            None => Ok(Self {
                rest,
                coupled,
                discs: &[],
            }),
        }
    }

    /// The problem in which pairs of coupled bounds, given by their places in the list, are discs: `|(x_i, x_j)| <= factor x_of`
    /// instead of a square. Both of a pair follow the same row by the same factor, and none is in two pairs.
    pub fn with_discs(self, discs: &'a [[usize; 2]]) -> Result<Self, InputError> {
        let fault = |index: usize, why: &'static str| Err(InputError::CoupledBound { index, why });
        let mut taken = vec![false; self.coupled.len()];
        for pair in discs {
            for &index in pair {
                if index >= taken.len() {
                    return fault(index, "a disc names a bound that is not there");
                }
                if std::mem::replace(&mut taken[index], true) {
                    return fault(index, "it is named by discs twice");
                }
            }
            let [a, b] = pair.map(|index| self.coupled[index]);
            if a.of != b.of || a.factor != b.factor {
                return fault(
                    pair[1],
                    "it follows another row, or by another factor, than the other bound of its disc",
                );
            }
        }
        Ok(Self { discs, ..self })
    }

    /// Pairs of coupled bounds that are discs.
    pub fn discs(&self) -> &'a [[usize; 2]] {
        self.discs
    }

    /// The rows of a disc and its radius at `x`.
    #[inline]
    pub(crate) fn disc(&self, pair: [usize; 2], x: &[f64]) -> ([usize; 2], f64) {
        (
            pair.map(|index| self.coupled[index].row),
            self.coupled[pair[0]].reach(x),
        )
    }

    /// The coupled bounds that are no part of a disc.
    pub(crate) fn boxes(&self) -> impl Iterator<Item = &'a CoupledBound> {
        let mut of_disc = Vec::new();
        if !self.discs.is_empty() {
            of_disc.resize(self.coupled.len(), false);
            let parts = self.discs.iter().flatten();
            parts.for_each(|&index| of_disc[index] = true);
        }
        let each = self.coupled.iter().enumerate();
        each.filter(move |(index, _)| of_disc.get(*index) != Some(&true))
            .map(|(_, bound)| bound)
    }

    /// The problem without the coupled bounds: those rows are free.
    pub fn rest(&self) -> &BoxMlcp<'a, A> {
        &self.rest
    }

    /// The coupled bounds.
    pub fn coupled_bounds(&self) -> &'a [CoupledBound] {
        self.coupled
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The natural residual, with the bounds as they are at `x`; returns its largest magnitude.
    ///
    /// # Panics
    /// If `x` or `r` does not have one entry per row.
    pub fn natural_residual(&self, x: &[f64], r: &mut [f64]) -> f64 {
        self.rest.affine(x, r);
        self.residual_of_affine(x, r)
    }

    /// The largest magnitude of the natural residual: what every method reports at its end. Allocates a vector.
    pub fn residual_inf(&self, x: &[f64]) -> f64 {
        self.natural_residual(x, &mut vec![0.0; self.len()])
    }

    /// Makes the natural residual out of `y = A x + b`; returns its largest magnitude.
    pub(crate) fn residual_of_affine(&self, x: &[f64], y: &mut [f64]) -> f64 {
        // Rows that follow are free in `rest`, where the residual is `y`: it is still there to be used.
        let (lower, upper) = (self.rest.lower(), self.rest.upper());
        for i in 0..y.len() {
            y[i] = natural(x[i], y[i], lower[i], upper[i]);
        }
        // First those of discs, whose `y` is still there.
        for &pair in self.discs {
            let ([i, j], reach) = self.disc(pair, x);
            let near = nearest([x[i] - y[i], x[j] - y[j]], reach);
            let inside = near == [x[i] - y[i], x[j] - y[j]];
            if !inside {
                (y[i], y[j]) = (x[i] - near[0], x[j] - near[1]);
            }
        }
        for bound in self.boxes() {
            let (i, reach) = (bound.row, bound.reach(x));
            y[i] = natural(x[i], y[i], -reach, reach);
        }
        reduce::largest(y)
    }

    /// Moves `x` into its bounds: first the rows that have their own, then those that follow them.
    pub(crate) fn project(&self, x: &mut [f64]) {
        self.rest.project(x);
        for bound in self.coupled {
            let reach = bound.reach(x);
            x[bound.row] = x[bound.row].clamp(-reach, reach);
        }
        for &pair in self.discs {
            let ([i, j], reach) = self.disc(pair, x);
            [x[i], x[j]] = nearest([x[i], x[j]], reach);
        }
    }
}

/// The point of a disc around zero that is nearest to another point.
#[inline]
pub(crate) fn nearest(point: [f64; 2], radius: f64) -> [f64; 2] {
    let length = point[0].hypot(point[1]);
    if length <= radius {
        point
    } else {
        point.map(|of| of / length * radius)
    }
}
