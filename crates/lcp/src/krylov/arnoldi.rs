//! Arnoldi iteration of GMRES, with Givens rotations.

use std::ops::ControlFlow;

use super::gmres::{Report, Status};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::reduce;
use crate::reduced_system::add;
use crate::split::for_each;

/// Rounding error of a vector that lies in the space already, relative to its length.
const DEPENDENT: f64 = 64.0 * f64::EPSILON;

/// A vector that has lost so much of its length to the ones before it is not orthogonal to them yet.
const CANCELLED: f64 = 0.7;

/// A diagonal entry of the triangle, as a part of the largest one, with which nothing can be solved for.
const NEGLIGIBLE: f64 = 1e-14;

/// Memory for the iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Core {
    /// `V`. Most systems need a few vectors only: memory is taken when the space grows, and kept.
    pub basis: Vec<Vec<f64>>,
    /// The triangle that the rotations make of `H`, one column after the other.
    pub triangle: Vec<f64>,
    /// Cosine and sine.
    rotations: Vec<(f64, f64)>,
    /// Rotated right-hand side `||r|| e_1`; later the coefficients of the step.
    pub g: Vec<f64>,
    pub z: Vec<f64>,
    pub sum: Vec<f64>,
}

impl Core {
    pub fn resize(&mut self, n: usize, restart: usize) {
        for vector in &mut self.basis {
            vector.resize(n, 0.0);
        }
        self.triangle.resize(restart * (restart + 1), 0.0);
        self.rotations.resize(restart, (1.0, 0.0));
        self.g.resize(restart + 1, 0.0);
        self.z.resize(n, 0.0);
        self.sum.resize(n, 0.0);
    }

    /// Reserves memory for basis vectors.
    fn grow(&mut self, n: usize, vectors: usize) {
        while self.basis.len() < vectors {
            self.basis.push(vec![0.0; n]);
        }
    }
}

/// One growth of the space.
pub(super) struct Cycle {
    /// `||r||` at its start.
    pub norm: f64,
    /// `||r||` at which to stop.
    pub enough: f64,
    /// Directions.
    pub most: usize,
    /// Iterations before.
    pub before: usize,
}

/// Why the space grew no further.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    /// It has its size, or the residual is small enough.
    Full,
    /// It contains its own image.
    Exhausted,
    /// A number overflowed.
    NonFinite,
    /// The observer asked to stop.
    Stopped,
}

pub(super) struct Grown {
    pub iterations: usize,
    /// Directions that can be used.
    pub directions: usize,
    pub end: End,
}

impl Cycle {
    pub fn run(
        &self,
        matrix: &(impl Operator + ?Sized),
        preconditioner: &(impl Preconditioner + ?Sized),
        r: &[f64],
        core: &mut Core,
        watch: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Grown {
        let n = r.len();
        let height = core.g.len();
        core.grow(n, 1);
        divide(&mut core.basis[0], r, self.norm);
        core.g.fill(0.0);
        core.g[0] = self.norm;
        let mut largest = 0.0_f64;
        for j in 0..self.most {
            core.grow(n, j + 2);
            let Core {
                basis,
                triangle,
                rotations,
                g,
                z,
                ..
            } = core;
            let ended = |directions, end| Grown {
                iterations: j + 1,
                directions,
                end,
            };
            let (known, rest) = basis.split_at_mut(j + 1);
            let w = &mut rest[0];
            preconditioner.apply(&known[j], z);
            matrix.apply(z, w);
            let column = &mut triangle[j * height..(j + 1) * height];
            let (length, before) = orthogonalise(known, w, column);
            if !length.is_finite() || !before.is_finite() {
                let end = self.tell(j + 1, g[j], watch).unwrap_or(End::NonFinite);
                return ended(j, end);
            }
            let exhausted = length <= DEPENDENT * before;
            let beside = if exhausted { 0.0 } else { length };
            for i in 0..j {
                let (c, s) = rotations[i];
                (column[i], column[i + 1]) = (
                    c * column[i] + s * column[i + 1],
                    c * column[i + 1] - s * column[i],
                );
            }
            let diagonal = stable_norm(column[j], beside);
            largest = largest.max(diagonal);
            if diagonal <= NEGLIGIBLE * largest || diagonal == 0.0 {
                let end = self.tell(j + 1, g[j], watch).unwrap_or(End::Exhausted);
                return ended(j, end);
            }
            let (c, s) = (column[j] / diagonal, beside / diagonal);
            rotations[j] = (c, s);
            column[j] = diagonal;
            (g[j], g[j + 1]) = (c * g[j], -s * g[j]);
            if let Some(end) = self.tell(j + 1, g[j + 1], watch) {
                return ended(j + 1, end);
            }
            if exhausted {
                return ended(j + 1, End::Exhausted);
            }
            if g[j + 1].abs() <= self.enough {
                return ended(j + 1, End::Full);
            }
            for_each(&mut w[..], &|_, w| {
                for w in w {
                    *w /= length;
                }
            });
        }
        Grown {
            iterations: self.most,
            directions: self.most,
            end: End::Full,
        }
    }

    /// Tells about an iteration of the cycle; an end if it is to be the last.
    fn tell(
        &self,
        iteration: usize,
        norm: f64,
        watch: &mut dyn FnMut(&Report) -> ControlFlow<()>,
    ) -> Option<End> {
        let report = Report {
            status: Status::IterationLimit,
            iterations: self.before + iteration,
            norm: norm.abs(),
        };
        watch(&report).is_break().then_some(End::Stopped)
    }
}

/// Orthogonalises `w` against `known`, and writes the coefficients to `column`; returns the length left, and that before.
fn orthogonalise(known: &[Vec<f64>], w: &mut [f64], column: &mut [f64]) -> (f64, f64) {
    column.fill(0.0);
    let before = reduce::sum_of_squares(w).sqrt();
    let mut length = before;
    // Twice is enough: what is left then is either orthogonal or rounding.
    for _ in 0..2 {
        let last = length;
        for (i, v) in known.iter().enumerate() {
            let part = reduce::dot(v, w);
            column[i] += part;
            add(w, -part, v);
        }
        length = reduce::sum_of_squares(w).sqrt();
        if length.is_nan() || length > CANCELLED * last {
            break;
        }
    }
    column[known.len()] = length;
    (length, before)
}

/// `sqrt(a^2 + b^2)` without overflow on the way.
fn stable_norm(a: f64, b: f64) -> f64 {
    let largest = a.abs().max(b.abs());
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let (a, b) = (a / largest, b / largest);
    largest * (a * a + b * b).sqrt()
}

/// `out = a / divisor`
fn divide(out: &mut [f64], a: &[f64], divisor: f64) {
    for_each((out, a), &|_, (out, a)| {
        for (out, a) in out.iter_mut().zip(a) {
            *out = a / divisor;
        }
    });
}
