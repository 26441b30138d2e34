//! The Fischer-Burmeister map of a box MLCP: a function that is zero exactly at a solution.
//!
//! | row | `F_i` |
//! | --- | --- |
//! | free | `-y` |
//! | lower bound only | `phi(d (x - l), y)` |
//! | upper bound only | `-phi(d (u - x), -y)` |
//! | both | `phi(d (x - l), phi(d (u - x), -y))` |
//! | fixed, `l = u` | `-d (x - l)` |
//!
//! with `phi(a, b) = sqrt(a^2 + b^2) - a - b` [Erl13 (84)]. Its generalised Jacobian is `D_p + D_q A` [Erl13 (96)].
//! Unlike those of the minimum map, its squares have a continuous gradient everywhere.

use std::f64::consts::SQRT_2;

use crate::gallery::Random;
use crate::operator::Operator;
use crate::problem::{BoxMlcp, natural};
use crate::reduce::larger;
use crate::split::{fold, for_each};

/// Element of the generalised Jacobian on rows at the kink, `x = y = 0` up to the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kink {
    /// A random element, the same one in every run with the same seed.
    Random {
        /// Names the sequence.
        seed: u64,
    },
    /// The middle of all elements, `a_i = b_i = 0` in [Erl13 (98)].
    Zero,
    /// The Jacobian of rows nearer to the kink than `epsilon` is taken with `epsilon` in place of the distance
    /// from the bound.
    Perturbation {
        /// Distance from the kink below which a row is perturbed.
        epsilon: f64,
    },
    /// No element at all: products with the Jacobian are finite differences [Erl13 (102)], which need no formula.
    ///
    /// Where a product with the transposed matrix is needed, it is that of the middle element.
    Approximation,
}

/// The function on a row, and how its derivative is taken near the kink.
#[derive(Clone, Copy, Default)]
struct Near {
    /// `m`
    smoothing: f64,
    /// Nearer than this.
    epsilon: f64,
    /// `a_i`, `b_i` at the kink itself. [Erl13 (98)]
    element: (f64, f64),
}

/// Merit and residual of a point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MeritState {
    /// `F'F`
    pub squares: f64,
    /// `||r||_inf` of the natural residual.
    pub residual: f64,
}

impl MeritState {
    /// `1/2 F'F` [Erl13 (103)]
    pub fn merit(&self) -> f64 {
        0.5 * self.squares
    }

    pub fn norm(&self) -> f64 {
        self.squares.sqrt()
    }

    fn join(low: Self, high: Self) -> Self {
        Self {
            squares: low.squares + high.squares,
            residual: larger(low.residual, high.residual),
        }
    }
}

/// `phi(a, b)` without the cancellation that the formula as written has where both are positive, and its gradient.
#[inline]
fn phi(a: f64, b: f64, near: &Near) -> (f64, f64, f64) {
    let m = near.smoothing;
    let s = norm(norm(a, b), SQRT_2 * m);
    let value = if a + b > 0.0 {
        // Products first could overflow or vanish: the quotients are at most 1.
        2.0 * (m * (m / (s + a + b)) - a * (b / (s + a + b)))
    } else {
        s - a - b
    };
    let (a, s) = if s < near.epsilon {
        (near.epsilon, norm(near.epsilon, b)) // s grows with a: the gradient stays within the unit disc
    } else {
        (a, s)
    };
    if s > 0.0 {
        (value, a / s - 1.0, b / s - 1.0) // [Erl13 (97)]
    } else {
        (value, near.element.0 - 1.0, near.element.1 - 1.0) // [Erl13 (98)]
    }
}

/// `sqrt(a^2 + b^2)` without overflow on the way.
#[inline]
fn norm(a: f64, b: f64) -> f64 {
    let squares = a * a + b * b;
    if squares > 1e-280 && squares < 1e280 {
        return squares.sqrt();
    }
    let largest = a.abs().max(b.abs());
    if largest == 0.0 || !largest.is_finite() {
        return a.abs() + b.abs();
    }
    let (a, b) = (a / largest, b / largest);
    largest * (a * a + b * b).sqrt()
}

/// The map on one row: its value, and its derivatives by `x_i` and `y_i`.
#[inline]
fn row(x: f64, y: f64, d: f64, (lower, upper): (f64, f64), near: &Near) -> (f64, f64, f64) {
    if lower == upper {
        return (-d * (x - lower), -d, 0.0);
    }
    match (lower.is_finite(), upper.is_finite()) {
        (false, false) => (-y, 0.0, -1.0),
        (true, false) => {
            let (f, fa, fb) = phi(d * (x - lower), y, near);
            (f, d * fa, fb)
        }
        (false, true) => {
            let (f, fa, fb) = phi(d * (upper - x), -y, near);
            (-f, d * fa, fb)
        }
        (true, true) => {
            let (psi, ga, gb) = phi(d * (upper - x), -y, near);
            let (f, fa, fb) = phi(d * (x - lower), psi, near);
            (f, d * (fa - fb * ga), -fb * gb)
        }
    }
}

/// `F` at `(x, y)` with the scales `d`.
pub(crate) fn measure(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    (x, y, d): (&[f64], &[f64], &[f64]),
    smoothing: f64,
    f: &mut [f64],
) -> MeritState {
    let near = Near {
        smoothing,
        ..Near::default()
    };
    fold(
        ((x, y, d), (problem.lower(), problem.upper()), f),
        &|_, ((x, y, d), (lower, upper), f)| {
            let mut state = MeritState::default();
            for i in 0..x.len() {
                (f[i], ..) = row(x[i], y[i], d[i], (lower[i], upper[i]), &near);
                state.squares += f[i] * f[i];
                state.residual = larger(
                    state.residual,
                    natural(x[i], y[i], lower[i], upper[i]).abs(),
                );
            }
            state
        },
        &MeritState::join,
    )
}

/// The diagonals `p` and `q` of `D_p + D_q A` at `(x, y)`. [Erl13 (96)]
///
/// `iteration` makes the random elements of one iteration different from those of the next.
pub(crate) fn differentiate(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    (x, y, d): (&[f64], &[f64], &[f64]),
    smoothing: f64,
    (kink, iteration): (Kink, usize),
    (p, q): (&mut [f64], &mut [f64]),
) {
    fold(
        ((x, y, d), (problem.lower(), problem.upper()), (p, q)),
        &|first, ((x, y, d), (lower, upper), (p, q))| {
            for i in 0..x.len() {
                let mut near = Near {
                    smoothing,
                    ..Near::default()
                };
                match kink {
                    Kink::Random { seed } => near.element = element(seed, iteration, first + i),
                    Kink::Perturbation { epsilon } => near.epsilon = epsilon,
                    Kink::Zero | Kink::Approximation => {}
                }
                (_, p[i], q[i]) = row(x[i], y[i], d[i], (lower[i], upper[i]), &near);
            }
        },
        &|(), ()| (),
    );
}

/// A point of the unit disc that belongs to a row and an iteration, whatever the threads do.
fn element(seed: u64, iteration: usize, row: usize) -> (f64, f64) {
    let mut random =
        Random::new(Random::new(seed ^ (iteration as u64).rotate_left(32)).bits() ^ (row as u64));
    loop {
        let (a, b) = (random.between(-1.0, 1.0), random.between(-1.0, 1.0));
        if a * a + b * b <= 1.0 {
            return (a, b);
        }
    }
}

/// `out = (F(x + h v, y + h out) - f) / h`, with `out = A v` on entry.
pub(super) fn difference(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    (x, y, d, f): (&[f64], &[f64], &[f64], &[f64]),
    (smoothing, h): (f64, f64),
    (v, out): (&[f64], &mut [f64]),
) {
    let near = Near {
        smoothing,
        ..Near::default()
    };
    for_each(
        ((x, y, d, f), (problem.lower(), problem.upper()), (v, out)),
        &|_, ((x, y, d, f), (lower, upper), (v, out))| {
            for i in 0..x.len() {
                let (ahead, ..) = row(
                    x[i] + h * v[i],
                    y[i] + h * out[i],
                    d[i],
                    (lower[i], upper[i]),
                    &near,
                );
                out[i] = (ahead - f[i]) / h;
            }
        },
    );
}
