//! Gauss-Seidel by colours: the rows of a colour in parallel, with the same bits for any number of threads.

use super::project;
use crate::colouring::Colouring;
use crate::problem::BoxMlcp;
use crate::rows::Rows;
use crate::split::fold;

/// A colouring, with the pattern it belongs to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Colours {
    colouring: Colouring,
    /// Of the matrix that was coloured.
    pattern: Option<(usize, u64)>,
    /// New values of the rows of a colour.
    values: Vec<f64>,
}

impl Colours {
    /// Colours the matrix, unless its pattern is the one that was coloured last.
    pub fn prepare(&mut self, matrix: &(impl Rows + ?Sized)) {
        let pattern = (matrix.len(), fingerprint(matrix));
        if self.pattern != Some(pattern) {
            self.colouring = Colouring::welsh_powell(matrix);
            self.pattern = Some(pattern);
        }
        self.values.resize(matrix.len(), 0.0);
    }

    /// Gauss-Seidel, one colour after the other; returns the largest change of an entry.
    ///
    /// The new values of a colour go to memory of their own first. No row of the colour reads another's, so this
    /// changes nothing but lets all of them be computed at once.
    pub fn sweep(
        &mut self,
        problem: &BoxMlcp<'_, impl Rows + ?Sized>,
        d: &[f64],
        omega: f64,
        backward: bool,
        x: &mut [f64],
    ) -> f64 {
        let values = &mut self.values;
        let mut work = |rows: &[u32]| {
            let values = &mut values[..rows.len()];
            let moved = relax(problem, d, omega, rows, x, values);
            for (&row, &value) in rows.iter().zip(&*values) {
                x[row as usize] = value;
            }
            moved
        };
        if backward {
            self.colouring
                .colours()
                .rev()
                .map(&mut work)
                .fold(0.0, f64::max)
        } else {
            self.colouring.colours().map(&mut work).fold(0.0, f64::max)
        }
    }
}

/// The new values of some rows, all from the same `x`; returns the largest change.
fn relax(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    d: &[f64],
    omega: f64,
    rows: &[u32],
    x: &[f64],
    values: &mut [f64],
) -> f64 {
    let (matrix, b) = (problem.matrix(), problem.rhs());
    let (lower, upper) = (problem.lower(), problem.upper());
    fold(
        (values, rows),
        &|_, (values, rows): (&mut [f64], &[u32])| {
            let mut moved = 0.0_f64;
            for (value, &row) in values.iter_mut().zip(rows) {
                let i = row as usize;
                let y = matrix.row_dot(i, x) + b[i];
                *value = project(x[i] - omega * y / d[i], lower[i], upper[i]);
                moved = moved.max((*value - x[i]).abs());
            }
            moved
        },
        &f64::max,
    )
}

/// A number that two matrices share if their entries are in the same places, and otherwise next to never.
fn fingerprint(matrix: &(impl Rows + ?Sized)) -> u64 {
    let mut hash = 0_u64;
    for row in 0..matrix.len() {
        matrix.visit_row(row, &mut |column, _| {
            hash = (hash.rotate_left(5) ^ column as u64).wrapping_mul(0x517c_c1b7_2722_0a95);
        });
        // Ends the row, so that entries that move from one row to the next are seen.
        hash = (hash.rotate_left(5) ^ u64::MAX).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    hash
}
