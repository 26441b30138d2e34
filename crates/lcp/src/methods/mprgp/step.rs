//! Gradients, directions and step lengths of MPRGP.

use crate::monitor::Iterate;
use crate::operator::Operator;
use crate::problem::{BoxMlcp, natural};
use crate::reduce::{self, larger};
use crate::split::{fold, for_each};
use crate::splitting::project;

/// Gradient norms and residual of a point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gradients {
    /// `phi'phi`
    pub free: f64,
    /// `phi~'phi`
    pub reduced: f64,
    /// `beta'beta`
    pub chopped: f64,
    /// `||r||_inf` of the natural residual.
    pub residual: f64,
    /// Whether the set of free rows is not the one it was before.
    pub changed: bool,
}

impl Gradients {
    /// `1/2 (phi'phi + beta'beta)`
    pub fn merit(&self) -> f64 {
        0.5 * (self.free + self.chopped)
    }

    /// The iterate for the [`Monitor`](crate::Monitor).
    pub fn iterate<'a>(&self, x: &'a [f64]) -> Iterate<'a> {
        let finite = self.residual.is_finite() && self.merit().is_finite();
        Iterate::new(x, self.residual, self.merit()).finite(finite)
    }

    fn join(low: Self, high: Self) -> Self {
        Self {
            free: low.free + high.free,
            reduced: low.reduced + high.reduced,
            chopped: low.chopped + high.chopped,
            residual: larger(low.residual, high.residual),
            changed: low.changed | high.changed,
        }
    }
}

/// `min(g, 0)` at the lower bound, `max(g, 0)` at the upper one; a row whose bounds are equal has none.
#[inline]
fn chopped(x: f64, g: f64, lower: f64, upper: f64) -> f64 {
    if lower == upper {
        0.0
    } else if x == lower {
        g.min(0.0)
    } else if x == upper {
        g.max(0.0)
    } else {
        0.0
    }
}

/// Classifies the rows as free or at a bound, and writes `phi`.
pub(super) fn gradients(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    x: &[f64],
    g: &[f64],
    abar: f64,
    phi: &mut [f64],
    free: &mut [bool],
) -> Gradients {
    fold(
        ((x, g), (problem.lower(), problem.upper()), (phi, free)),
        &|_, ((x, g), (lower, upper), (phi, free))| {
            let mut sums = Gradients::default();
            for i in 0..x.len() {
                let (l, u) = (lower[i], upper[i]);
                let inside = l < x[i] && x[i] < u;
                sums.changed |= inside != free[i];
                free[i] = inside;
                phi[i] = if inside { g[i] } else { 0.0 };
                let reduced = if phi[i] > 0.0 {
                    phi[i].min((x[i] - l) / abar)
                } else {
                    phi[i].max((x[i] - u) / abar)
                };
                let beta = chopped(x[i], g[i], l, u);
                sums.free += phi[i] * phi[i];
                // On rows at a bound `(x - l)/abar` may be 0/0.
                sums.reduced += if inside { reduced * phi[i] } else { 0.0 };
                sums.chopped += beta * beta;
                sums.residual = larger(sums.residual, natural(x[i], g[i], l, u).abs());
            }
            sums
        },
        &Gradients::join,
    )
}

/// `out = beta`
pub(super) fn chop(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    x: &[f64],
    g: &[f64],
    out: &mut [f64],
) {
    for_each(((x, g), (problem.lower(), problem.upper()), out), &|_,
                                                                  (
        (x, g),
        (lower, upper),
        out,
    )| {
        for i in 0..x.len() {
            out[i] = chopped(x[i], g[i], lower[i], upper[i]);
        }
    });
}

/// `p = z - (z'Ap / p'Ap) p` with `q = A p`, or `p = z` where there is no last direction.
pub(super) fn turn(p: &mut [f64], z: &[f64], q: &[f64], last_curvature: Option<f64>) {
    let Some(curvature) = last_curvature else {
        p.copy_from_slice(z);
        return;
    };
    let factor = reduce::dot(z, q) / curvature;
    for_each((p, z), &|_, (p, z)| {
        for (p, z) in p.iter_mut().zip(z) {
            *p = z - factor * *p;
        }
    });
}

/// Step limits and slopes at `x` along `-p`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// The largest `a` with `x - a p` in the box.
    pub room: f64,
    /// `g'p`
    pub slope: f64,
    /// `p' diag(A) p`
    pub scale: f64,
}

pub(super) fn look_ahead(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    x: &[f64],
    g: &[f64],
    d: &[f64],
    p: &[f64],
) -> Ahead {
    fold(
        ((x, g), (d, p), (problem.lower(), problem.upper())),
        &|_, ((x, g), (d, p), (lower, upper))| {
            let mut ahead = Ahead {
                room: f64::INFINITY,
                slope: 0.0,
                scale: 0.0,
            };
            for i in 0..x.len() {
                if p[i] == 0.0 {
                    continue;
                }
                let bound = if p[i] > 0.0 { lower[i] } else { upper[i] };
                ahead.room = ahead.room.min((x[i] - bound) / p[i]);
                ahead.slope += g[i] * p[i];
                ahead.scale += d[i] * p[i] * p[i];
            }
            ahead
        },
        &|low, high| Ahead {
            room: low.room.min(high.room),
            slope: low.slope + high.slope,
            scale: low.scale + high.scale,
        },
    )
}

/// `out = x - length p`, where rounding may not take it out of the box; returns the largest change, which is not
/// finite if an entry is not.
pub(super) fn advance(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    x: &[f64],
    p: &[f64],
    length: f64,
    out: &mut [f64],
) -> f64 {
    // The row that the length was chosen for lands on its bound, not a rounding error before it.
    let touches = |x: f64, p: f64, bound: f64| (x - bound) / p <= length;
    fold(
        ((x, p, out), (problem.lower(), problem.upper())),
        &|_, ((x, p, out), (lower, upper))| {
            let mut moved = 0.0;
            for i in 0..x.len() {
                out[i] = if p[i] > 0.0 && touches(x[i], p[i], lower[i]) {
                    lower[i]
                } else if p[i] < 0.0 && touches(x[i], p[i], upper[i]) {
                    upper[i]
                } else {
                    project(x[i] - length * p[i], lower[i], upper[i])
                };
                moved = larger(moved, (out[i] - x[i]).abs());
            }
            moved
        },
        &larger,
    )
}

/// `out = clamp(x - abar phi, l, u)`
pub(super) fn expand(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    x: &[f64],
    phi: &[f64],
    abar: f64,
    out: &mut [f64],
) {
    for_each(
        ((x, phi, out), (problem.lower(), problem.upper())),
        &|_, ((x, phi, out), (lower, upper))| {
            for i in 0..x.len() {
                out[i] = project(x[i] - abar * phi[i], lower[i], upper[i]);
            }
        },
    );
}

/// Whether `1/2 x'Ax + b'x` rises along an expansion because its step is too long.
///
/// With `s = to - from` it changes by `s'(g(from) + g(to))/2`; and it cannot rise unless `s'As > 2/abar s's`, which
/// distinguishes a step that is too long from rounding.
pub(super) fn uphill(from: &[f64], to: &[f64], g_from: &[f64], g_to: &[f64], abar: f64) -> bool {
    let sums = fold(
        (from, to, g_from, g_to),
        &|_, (from, to, g_from, g_to)| {
            let mut sums = [0.0; 3];
            for i in 0..from.len() {
                let s = to[i] - from[i];
                sums[0] += s * (0.5 * g_from[i] + 0.5 * g_to[i]);
                sums[1] += s * (g_to[i] - g_from[i]);
                sums[2] += s * s;
            }
            sums
        },
        &|low, high| std::array::from_fn(|k| low[k] + high[k]),
    );
    let [rise, curvature, squares] = sums;
    // A step so long that it overflows is too long, too.
    !(rise.is_finite() && curvature.is_finite()) || (rise > 0.0 && curvature * abar > 2.0 * squares)
}

/// The largest eigenvalue of `A`, from below, by the power method.
///
/// It starts from a fixed vector without a pattern that a matrix could be blind to.
pub(super) fn norm(
    matrix: &(impl Operator + ?Sized),
    steps: usize,
    v: &mut [f64],
    product: &mut [f64],
) -> f64 {
    for (i, v) in v.iter_mut().enumerate() {
        *v = scatter(i);
    }
    let mut norm = 0.0_f64;
    for _ in 0..steps {
        let length = reduce::largest(v);
        if !(length > 0.0 && length.is_finite()) {
            break;
        }
        for_each(&mut *v, &|_, v| v.iter_mut().for_each(|v| *v /= length));
        matrix.apply(v, product);
        let grown = (reduce::sum_of_squares(product) / reduce::sum_of_squares(v)).sqrt();
        if !grown.is_finite() {
            break;
        }
        norm = norm.max(grown);
        v.copy_from_slice(product);
    }
    norm
}

/// A number between -1 and 1 for each row, with no pattern (the finaliser of splitmix64).
fn scatter(row: usize) -> f64 {
    let mut z = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}
