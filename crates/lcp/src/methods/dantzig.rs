//! Incremental pivoting after Dantzig and Baraff. [Erl13 sec. 5.1.1]
//!
//! The most violated row is driven to where it belongs while all rows that are satisfied stay so: `x_j` grows (or
//! shrinks, at an upper bound) until `y_j = 0` or `x_j` is at its other bound; a row that would be violated on the
//! way changes sides. No row is ever violated again, so at most `n` rows are driven.
//!
//! ```text
//! dx_A = -inv(A_AA) A_Aj        dy_F = A_Fj + A_FA dx_A        dy_j = A_jj + A_jA dx_A
//! ```
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `j` | the driven row |
//! | `A` | the active rows, `y = 0`; `inv(A_AA)` by an updated factorisation, [`Ldu`] |
//! | `F` | the rows at a bound |
//!
//! DEVIATION [Erl13 sec. 5.1.1]: the signs of the printed changes are corrected, bounds may be any, free rows come
//! first, and the row to drive is the most violated one rather than the next.
//!
//! DEVIATION [Erl13 (43)]: the driven row limits its own growth where its change is positive.
//!
//! ```
//! use meniscus_lcp::methods::dantzig;
//! use meniscus_lcp::{BoxMlcp, Dense, Status};
//!
//! let matrix = Dense::new(2, vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = dantzig::Settings::default();
//! let mut workspace = dantzig::Workspace::default();
//! let report = dantzig::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert_eq!(x, [0.5, 0.0]);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

pub use super::pivoting::Settings;

use super::pivoting::drive::{self, Basis, Drive, Exchange};
use super::pivoting::scaled::Scaled;
use crate::error::InputError;
use crate::factor::Ldu;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report};
use crate::rows::Rows;

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    drive: Drive,
    factor: Factor,
}

/// Solves the problem; of the given `x`, free rows take their start and boxed rows the bound that is nearer.
///
/// Meant for symmetric positive semidefinite matrices and for positive definite ones that are not symmetric; free
/// rows and all bounds are welcome. [`Status::Infeasible`](crate::Status::Infeasible) means that a proof was found that there is no
/// solution, [`Status::NonDescent`](crate::Status::NonDescent) that the matrix is not one of these.
pub fn solve(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    let Workspace { drive, factor } = workspace;
    drive::solve(problem, settings, x, (drive, factor), observer)
}

/// The basis as a factorisation of `A_AA`.
#[derive(Clone, Debug, Default)]
struct Factor {
    ldu: Ldu,
    members: Vec<usize>,
    previous: Vec<usize>,
    row: Vec<f64>,
    column: Vec<f64>,
    direction: Vec<f64>,
}

/// A pivot below this is rounding; entries are at most about 1.
const SMALLEST_PIVOT: f64 = 1e-12;

impl Factor {
    /// Refactorises the active rows.
    fn rebuild(&mut self, scaled: &Scaled) -> bool {
        self.ldu.reset(scaled.len());
        self.previous.clear();
        self.previous.append(&mut self.members);
        (0..self.previous.len()).all(|at| self.insert(scaled, self.previous[at]))
    }

    fn insert(&mut self, scaled: &Scaled, r: usize) -> bool {
        let of_row = scaled.row(r);
        self.row.clear();
        self.row.extend(self.members.iter().map(|&i| of_row[i]));
        self.column.clear();
        self.column
            .extend(self.members.iter().map(|&i| scaled.row(i)[r]));
        let fits = self
            .ldu
            .insert(&self.row, &self.column, of_row[r], SMALLEST_PIVOT);
        if fits {
            self.members.push(r);
        }
        fits
    }
}

impl Basis for Factor {
    fn reset(&mut self, scaled: &Scaled, active: &[bool]) -> bool {
        let n = scaled.len();
        self.direction.resize(n, 0.0);
        for rows in [&mut self.members, &mut self.previous] {
            rows.clear();
            rows.reserve(n);
        }
        for numbers in [&mut self.row, &mut self.column] {
            numbers.clear();
            numbers.reserve(n);
        }
        self.members.extend((0..n).filter(|&row| active[row]));
        self.rebuild(scaled)
    }

    fn rates(&mut self, scaled: &Scaled, active: &[bool], j: usize, rates: &mut [f64]) {
        self.column.clear();
        if active[j] {
            // Driven by y_j: A_AA dx_A = e_j
            let units = self.members.iter().map(|&i| f64::from(u8::from(i == j)));
            self.column.extend(units);
        } else {
            self.column
                .extend(self.members.iter().map(|&i| -scaled.row(i)[j]));
        }
        self.ldu.solve(&mut self.column);
        self.direction.fill(0.0);
        self.direction[j] = 1.0;
        for (&i, &dx) in self.members.iter().zip(&self.column) {
            self.direction[i] = dx;
        }
        // dx on the active rows, dy on all others
        scaled.apply_unless(active, &self.direction, rates);
    }

    fn exchange(&mut self, scaled: &Scaled, active: &[bool], r: usize, _: usize) -> Exchange {
        if active[r] {
            let place = self.members.iter().position(|&member| member == r);
            let place = place.expect("an active row is a member of the factorisation");
            let sound = self.ldu.remove(place);
            self.members.remove(place);
            if sound || self.rebuild(scaled) {
                Exchange::Done
            } else {
                Exchange::Impossible
            }
        } else if self.insert(scaled, r) {
            Exchange::Done
        } else {
            Exchange::Impossible
        }
    }
}
