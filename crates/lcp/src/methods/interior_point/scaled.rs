//! Equilibrated copy of the problem, with entries of about 1.

use crate::certificate;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::rows::Rows;
use crate::sparse_factor::Sparse;

/// A direction is worth a closer look as a certificate if only solutions larger than this contradict it, where matrix and
/// right-hand side are about 1.
const REACH: f64 = 1e8;
/// Bounds farther away than this are no bounds: the product of such a slack with its dual would drown all others in their
/// mean.
const BOUNDLESS: f64 = REACH * REACH;
/// The part of a sum's terms that may be rounding.
const ROUNDING: f64 = 1e-10;

/// Result of a search for a proof that there is no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// No direction looked like one.
    None,
    /// A direction did, and proves nothing.
    Failed,
    /// There is one.
    Valid,
}

/// `A <- S A S`, `b <- S b / k`, `l <- l / (S k)`, and `x` and `y` with them: `S` diagonal, `k` a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaled {
    pub matrix: Sparse,
    pub rhs: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Rows that are not fixed.
    pub keep: Vec<bool>,
    /// Whether all values are finite.
    pub finite: bool,
    /// `S`
    scale: Vec<f64>,
    /// `k`
    size: f64,
    /// For the proof that there is no solution: the direction and `A'` times it.
    v: Vec<f64>,
    g: Vec<f64>,
}

impl Scaled {
    /// Copies a problem; returns whether its matrix has the pattern of the last one.
    pub fn take(&mut self, problem: &BoxMlcp<'_, impl Rows + ?Sized>) -> bool {
        let n = problem.len();
        let same = self.matrix.gather(problem.matrix());
        for array in [
            &mut self.rhs,
            &mut self.lower,
            &mut self.upper,
            &mut self.scale,
            &mut self.v,
            &mut self.g,
        ] {
            array.resize(n, 0.0);
        }
        self.keep.resize(n, true);
        self.matrix.largest_of_rows(&mut self.scale);
        for scale in &mut self.scale {
            *scale = if *scale > 0.0 {
                1.0 / scale.sqrt()
            } else {
                1.0
            };
        }
        self.matrix.scale(&self.scale);
        for i in 0..n {
            let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
            self.keep[i] = lower < upper;
            self.rhs[i] = self.scale[i] * problem.rhs()[i];
            self.lower[i] = lower / self.scale[i];
            self.upper[i] = upper / self.scale[i];
            self.v[i] = 0.0_f64.max(self.lower[i]).min(self.upper[i]);
        }
        // The size of y at the place of the box that is nearest to zero.
        self.size = 1.0;
        let mut g = std::mem::take(&mut self.g);
        self.affine(&self.v, &mut g);
        let size = reduce::largest(&g);
        self.g = g;
        if size > 0.0 {
            self.size = size;
        }
        for value in &mut self.rhs {
            *value /= self.size;
        }
        for bounds in [&mut self.lower, &mut self.upper] {
            for bound in bounds {
                *bound /= self.size;
                if bound.abs() > BOUNDLESS {
                    *bound = f64::INFINITY.copysign(*bound);
                }
            }
        }
        self.finite = self.size.is_finite()
            && reduce::largest(&self.rhs).is_finite()
            && (0..n).all(|i| self.lower[i] < f64::INFINITY && self.upper[i] > f64::NEG_INFINITY);
        same
    }

    pub fn len(&self) -> usize {
        self.rhs.len()
    }

    /// `y = A x + b`
    pub fn affine(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.apply(x, y);
        for (y, b) in y.iter_mut().zip(&self.rhs) {
            *y += b;
        }
    }

    /// Brings `x` back to the units of the problem.
    pub fn unscale(&self, x: &[f64], out: &mut [f64]) {
        for i in 0..x.len() {
            out[i] = x[i] * self.scale[i] * self.size;
        }
    }

    /// Looks for a proof among directions that the problem has no solution: a [`certificate`] made of one of them, verified
    /// with the problem's own data. Directions that are far from one are sorted out first.
    pub fn proof(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        directions: [&Vec<f64>; 2],
    ) -> Proof {
        let mut found = Proof::None;
        for direction in directions {
            if !self.may_prove(direction) {
                continue;
            }
            // v'y = (S v)'y in the units of the problem.
            if certificate::refine(problem, &mut self.v, &self.scale) {
                return Proof::Valid;
            }
            found = Proof::Failed;
        }
        found
    }

    /// Whether a direction is nearly a certificate: entries of `A'v` on rows without end are compared with solutions of a size
    /// within reach.
    fn may_prove(&mut self, direction: &[f64]) -> bool {
        for i in 0..direction.len() {
            self.v[i] = match (self.lower[i].is_finite(), self.upper[i].is_finite()) {
                (true, true) => 0.0,
                (true, false) => direction[i].max(0.0),
                (false, true) => direction[i].min(0.0),
                (false, false) => direction[i],
            };
        }
        let size = reduce::largest(&self.v);
        if size == 0.0 || !size.is_finite() {
            return false;
        }
        for v in &mut self.v {
            *v /= size;
        }
        self.matrix.apply_transposed(&self.v, &mut self.g);
        let (mut highest, mut terms, mut beyond) = (0.0, 0.0, 0.0);
        for i in 0..self.v.len() {
            let constant = self.rhs[i] * self.v[i];
            let g = self.g[i];
            let bound = if g > 0.0 {
                self.upper[i]
            } else {
                self.lower[i]
            };
            if bound.is_finite() {
                highest += g * bound;
                terms += (g * bound).abs();
            } else {
                beyond += g.abs();
            }
            highest += constant;
            terms += constant.abs();
        }
        highest < -ROUNDING * terms && highest + REACH * beyond < 0.0
    }
}
