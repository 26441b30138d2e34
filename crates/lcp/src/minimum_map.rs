//! The minimum map of a box MLCP: a function that is zero exactly at a solution.
//!
//! ```text
//! x - y/d <= l:   H = d (x - l)    at l         dx = l - x
//! x - y/d >= u:   H = d (x - u)    at u         dx = u - x
//! else            H = y            active       dx = 0 here, from the Newton equation later
//! ```
//!
//! With `d = 1` this is the natural residual. The map compares `x` with `y`, so what it selects, and with it the
//! number of iterations, depends on units; with `d` the diagonal of `A` everything has the units of `y`.

use crate::error::{InputError, check_finite};
use crate::monitor::Iterate;
use crate::operator::Operator;
use crate::problem::{BoxMlcp, natural};
use crate::reduce::larger;
use crate::split::{fold, for_each};

/// Merit and residual of a point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MeritState {
    /// `H'H`
    pub squares: f64,
    /// `||r||_inf` of the natural residual.
    pub residual: f64,
    /// Rows that became active, or stopped being so, since the last selection.
    pub changed: usize,
    /// `max |dx_i|` over the rows at a bound.
    pub jump: f64,
}

impl MeritState {
    /// `1/2 H'H` [ANE17 (15)]
    pub fn merit(&self) -> f64 {
        0.5 * self.squares
    }

    /// The iterate for the [`Monitor`](crate::Monitor).
    pub fn iterate<'a>(&self, x: &'a [f64]) -> Iterate<'a> {
        Iterate::new(x, self.residual, self.merit()).finite(self.merit().is_finite())
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

/// The minimum map on one row.
struct Row {
    h: f64,
    dx: f64,
    active: bool,
}

/// DEVIATION [ANE17 (47)]: the paper prints the sets of mixed rows the wrong way round; free rows are always active.
#[inline]
fn row(x: f64, y: f64, d: f64, lower: f64, upper: f64) -> Row {
    let target = x - y / d;
    let held = |bound: f64| Row {
        h: d * (x - bound),
        dx: bound - x,
        active: false,
    };
    if target <= lower {
        held(lower)
    } else if target >= upper {
        held(upper)
    } else {
        Row {
            h: y,
            dx: 0.0,
            active: true,
        }
    }
}

/// The factors `d`: the diagonal of `A` where it is positive, 1 elsewhere and where no scaling is asked for.
pub(crate) fn scales(
    matrix: &(impl Operator + ?Sized),
    scaled: bool,
    d: &mut [f64],
) -> Result<(), InputError> {
    if !scaled {
        d.fill(1.0);
        return Ok(());
    }
    matrix.diagonal(d);
    check_finite("the diagonal", d)?;
    for_each(d, &|_, d| {
        for d in d {
            if *d <= 0.0 {
                *d = 1.0;
            }
        }
    });
    Ok(())
}

/// The minimum map [ANE17 (11)], its active rows [ANE17 (26)] and the step of the others at `(x, y)`.
pub(crate) fn select(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    (x, y, d): (&[f64], &[f64], &[f64]),
    active: &mut [bool],
    h: &mut [f64],
    dx: &mut [f64],
) -> MeritState {
    fold(
        (
            (x, y, d),
            (problem.lower(), problem.upper()),
            (active, h, dx),
        ),
        &|_, ((x, y, d), (lower, upper), (active, h, dx))| {
            let mut state = MeritState::default();
            for i in 0..x.len() {
                let row = row(x[i], y[i], d[i], lower[i], upper[i]);
                state.squares += row.h * row.h;
                state.residual = larger(
                    state.residual,
                    natural(x[i], y[i], lower[i], upper[i]).abs(),
                );
                state.changed += usize::from(row.active != active[i]);
                state.jump = larger(state.jump, row.dx.abs());
                (active[i], h[i], dx[i]) = (row.active, row.h, row.dx);
            }
            state
        },
        &MeritState::join,
    )
}

/// The merit and the residual at `(x, y)`, without selecting anything.
pub(crate) fn measure(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    (x, y, d): (&[f64], &[f64], &[f64]),
) -> MeritState {
    fold(
        ((x, y, d), (problem.lower(), problem.upper())),
        &|_, ((x, y, d), (lower, upper))| {
            let mut state = MeritState::default();
            for i in 0..x.len() {
                let h = row(x[i], y[i], d[i], lower[i], upper[i]).h;
                state.squares += h * h;
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
