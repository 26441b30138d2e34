//! The face of the box on which a method looks for the solution: rows held at a bound, and active rows.

use crate::error::InputError;
use crate::operator::Operator;
use crate::problem::{BoxMlcp, natural};
use crate::reduce::{self, larger};
use crate::split::{Split, fold, for_each};

/// How far a point is from a solution, and whether its face is the one of the last call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    /// `H'H` of the minimum map.
    pub squares: f64,
    /// `||r||_inf` of the natural residual.
    pub residual: f64,
    /// Rows that became active or stopped being so.
    pub changed: usize,
    /// `max |dx_i|` over the rows that are not active.
    pub jump: f64,
}

impl Standing {
    /// `1/2 H'H` [ANE17 (15)]
    pub fn merit(&self) -> f64 {
        0.5 * self.squares
    }

    fn join(low: Self, high: Self) -> Self {
        Self {
            squares: low.squares + high.squares,
            residual: larger(low.residual, high.residual),
            changed: low.changed + high.changed,
            jump: larger(low.jump, high.jump),
        }
    }
}

/// The factors `d` that bring `x - l` and `x - u` to the units of `y`: the diagonal of `A`, or 1.
///
/// The natural residual compares `x` with `y`; the active rows it predicts, and so the number of iterations,
/// would depend on units if it were taken as it stands.
pub(crate) fn scales<A: Operator + ?Sized>(
    matrix: &A,
    scaled: bool,
    d: &mut Vec<f64>,
) -> Result<(), InputError> {
    d.clear();
    d.resize(matrix.len(), 1.0);
    if scaled {
        matrix.diagonal(d);
        for (row, d) in d.iter_mut().enumerate() {
            if d.is_nan() || d.is_infinite() {
                return Err(InputError::Diagonal { row, value: *d });
            }
            if *d <= 0.0 {
                *d = 1.0;
            }
        }
    }
    Ok(())
}

/// The side of the box on which the minimum map of a row is selected.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Lower,
    Upper,
    Inside,
}

#[inline]
fn side(x: f64, y: f64, d: f64, lower: f64, upper: f64) -> Side {
    let target = x - y / d;
    if target <= lower {
        Side::Lower
    } else if target >= upper {
        Side::Upper
    } else {
        Side::Inside
    }
}

/// The minimum map, its active rows and the Newton step of the others at `(x, y)`. [ANE17 (11), (26)] as a box:
///
/// ```text
/// x - y/d <= l:   H = d (x - l)    dx = l - x
/// x - y/d >= u:   H = d (x - u)    dx = u - x
/// else            H = y            active, dx = 0
/// ```
///
/// DEVIATION [ANE17 (47)]: the paper prints the sets of mixed rows the wrong way round; free rows are always active.
pub(crate) fn select<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    d: &[f64],
    x: &[f64],
    y: &[f64],
    active: &mut [bool],
    h: &mut [f64],
    dx: &mut [f64],
) -> Standing {
    fold(
        (
            Point {
                x,
                y,
                d,
                lower: problem.lower(),
                upper: problem.upper(),
            },
            active,
            h,
            dx,
        ),
        &|_, (at, active, h, dx): (Point<'_>, &mut [bool], &mut [f64], &mut [f64])| {
            let mut standing = Standing::default();
            for i in 0..h.len() {
                let (x, y, d, lower, upper) = at.row(i);
                let side = side(x, y, d, lower, upper);
                (h[i], dx[i]) = match side {
                    Side::Lower => (d * (x - lower), lower - x),
                    Side::Upper => (d * (x - upper), upper - x),
                    Side::Inside => (y, 0.0),
                };
                let now = side == Side::Inside;
                standing.changed += usize::from(now != active[i]);
                active[i] = now;
                standing.residual = larger(standing.residual, natural(x, y, lower, upper).abs());
                standing.jump = larger(standing.jump, dx[i].abs());
            }
            standing.squares = reduce::sum_of_squares(h);
            standing
        },
        &Standing::join,
    )
}

/// The merit and the residual at `(x, y)`, without selecting anything.
pub(crate) fn measure<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    d: &[f64],
    x: &[f64],
    y: &[f64],
) -> Standing {
    fold(
        Point {
            x,
            y,
            d,
            lower: problem.lower(),
            upper: problem.upper(),
        },
        &|_, at: Point<'_>| {
            let mut standing = Standing::default();
            for i in 0..at.rows() {
                let (x, y, d, lower, upper) = at.row(i);
                let h = match side(x, y, d, lower, upper) {
                    Side::Lower => d * (x - lower),
                    Side::Upper => d * (x - upper),
                    Side::Inside => y,
                };
                standing.squares += h * h;
                standing.residual = larger(standing.residual, natural(x, y, lower, upper).abs());
            }
            standing
        },
        &Standing::join,
    )
}

/// The rows of everything that the minimum map reads.
#[derive(Clone, Copy)]
struct Point<'a> {
    x: &'a [f64],
    y: &'a [f64],
    d: &'a [f64],
    lower: &'a [f64],
    upper: &'a [f64],
}

impl Point<'_> {
    #[inline]
    fn row(&self, i: usize) -> (f64, f64, f64, f64, f64) {
        (
            self.x[i],
            self.y[i],
            self.d[i],
            self.lower[i],
            self.upper[i],
        )
    }
}

impl Split for Point<'_> {
    fn rows(&self) -> usize {
        self.x.len()
    }

    fn cut(self, middle: usize) -> (Self, Self) {
        let (x, y, d) = (self.x.cut(middle), self.y.cut(middle), self.d.cut(middle));
        let (lower, upper) = (self.lower.cut(middle), self.upper.cut(middle));
        (
            Self {
                x: x.0,
                y: y.0,
                d: d.0,
                lower: lower.0,
                upper: upper.0,
            },
            Self {
                x: x.1,
                y: y.1,
                d: d.1,
                lower: lower.1,
                upper: upper.1,
            },
        )
    }
}

/// `out = clamp(x + step dx, l, u)`; returns `max |out_i - x_i|`.
pub(crate) fn project<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    x: &[f64],
    step: f64,
    dx: &[f64],
    out: &mut [f64],
) -> f64 {
    fold(
        (x, dx, problem.lower(), problem.upper(), out),
        &|_, (x, dx, lower, upper, out): (&[f64], &[f64], &[f64], &[f64], &mut [f64])| {
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

/// `x = clamp(x, l, u)`
pub(crate) fn project_in_place<A: Operator + ?Sized>(problem: &BoxMlcp<'_, A>, x: &mut [f64]) {
    for_each((x, problem.lower(), problem.upper()), &|_,
                                                      (
        x,
        lower,
        upper,
    ): (
        &mut [f64],
        &[f64],
        &[f64],
    )| {
        for i in 0..x.len() {
            x[i] = x[i].clamp(lower[i], upper[i]);
        }
    });
}

/// How far one can go from `x + dx` along `p` until a row meets its bound; infinite if none does.
///
/// Rows of which `p` is mere rounding noise do not count.
pub(crate) fn length_to_bound<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    x: &[f64],
    dx: &[f64],
    p: &[f64],
) -> f64 {
    let noise = 1e-6 * reduce::largest(p);
    fold(
        (x, dx, p, problem.lower(), problem.upper()),
        &|_, (x, dx, p, lower, upper): (&[f64], &[f64], &[f64], &[f64], &[f64])| {
            let mut length = f64::INFINITY;
            for i in 0..x.len() {
                let at = x[i] + dx[i];
                if p[i] < -noise {
                    length = length.min(((lower[i] - at) / p[i]).max(0.0));
                } else if p[i] > noise {
                    length = length.min(((upper[i] - at) / p[i]).max(0.0));
                }
            }
            length
        },
        &f64::min,
    )
}

/// `a += length b`
pub(crate) fn add(a: &mut [f64], length: f64, b: &[f64]) {
    for_each((a, b), &|_, (a, b): (&mut [f64], &[f64])| {
        for (a, b) in a.iter_mut().zip(b) {
            *a += length * b;
        }
    });
}
