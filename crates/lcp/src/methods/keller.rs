//! Principal pivoting after Keller. [Erl13 sec. 5.1]
//!
//! The most violated row `j` is driven to where it belongs while all rows that are satisfied stay so. All variables
//! are kept as a dictionary `basic = T nonbasic`, in which a row that blocks is exchanged with its partner, a pivot
//! on `T_rr`; where `T_rr = 0` it is exchanged together with the driven row, a pivot on
//!
//! ```text
//! | T_rr  T_rj |
//! | T_jr  T_jj |
//! ```
//!
//! after which the other variable of row `j` is driven. Both pivots are principal: the diagonal of `T` keeps the
//! signs that make `y_j` grow. That is what lets it solve matrices with zeros on the diagonal, such as `[H -B'; B 0]`
//! of a quadratic programme with constraints.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `j` | the driven row |
//! | `r` | the row that blocks |
//! | `T` | the dictionary, one row and one column a pair `(x_i, y_i)` |
//!
//! ```
//! use meniscus_lcp::methods::keller;
//! use meniscus_lcp::{BoxMlcp, Dense, Status};
//!
//! // The least x^2/2 with x >= 1: its conditions have a multiplier, and a zero on the diagonal.
//! let matrix = Dense::new(2, vec![1.0, -1.0, 1.0, 0.0])?;
//! let problem = BoxMlcp::new(&matrix, &[0.0, -1.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let settings = keller::Settings::default();
//! let mut workspace = keller::Workspace::default();
//! let report = keller::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert_eq!(x, [1.0, 1.0]);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

pub use super::pivoting::Settings;

use super::pivoting::drive::{self, Basis, Drive, Exchange};
use super::pivoting::scaled::Scaled;
use super::pivoting::tableau::Tableau;
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report};
use crate::rows::Rows;

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    drive: Drive,
    dictionary: Dictionary,
}

/// Solves the problem; of the given `x`, free rows take their start and boxed rows the bound that is nearer.
///
/// Meant for positive semidefinite matrices, symmetric or not, and for P-matrices; free rows and all bounds are
/// welcome. [`Status::Infeasible`](crate::Status::Infeasible) means that a proof was found that there is no solution,
/// [`Status::NonDescent`](crate::Status::NonDescent) that the matrix is not one of these.
pub fn solve(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    let Workspace { drive, dictionary } = workspace;
    drive::solve(problem, settings, x, (drive, dictionary), observer)
}

/// The basis as a dictionary.
#[derive(Clone, Debug, Default)]
struct Dictionary {
    table: Tableau,
    /// Rows still to be made active when the dictionary is rebuilt.
    waiting: Vec<usize>,
}

/// A diagonal entry below this part of its row and column counts as zero.
const SMALLEST_PIVOT: f64 = 1e-9;
/// A pivot below this is rounding; entries of the matrix are at most about 1.
const ROUNDING: f64 = 1e-10;

impl Dictionary {
    /// Exchanges two rows with their partners at once.
    fn exchange_both(&mut self, r: usize, j: usize) {
        // Two exchanges off the diagonal; then row r holds the variable of j, and j that of r.
        self.table.exchange(r, j);
        self.table.exchange(j, r);
        self.table.swap(r, j);
    }
}

impl Basis for Dictionary {
    fn reset(&mut self, scaled: &Scaled, active: &[bool]) -> bool {
        let n = scaled.len();
        self.table.reset(n, n);
        for i in 0..n {
            self.table.row_mut(i).copy_from_slice(scaled.row(i));
        }
        self.waiting.clear();
        self.waiting.extend((0..n).filter(|&i| active[i]));
        // The largest pivot first, on the diagonal if one is good enough.
        while !self.waiting.is_empty() {
            let (mut on, mut off) = ((0.0, 0), (0.0, 0, 0));
            for (a, &i) in self.waiting.iter().enumerate() {
                for (b, &j) in self.waiting.iter().enumerate() {
                    let value = self.table.get(i, j).abs();
                    if a == b && value > on.0 {
                        on = (value, a);
                    } else if a < b {
                        let value = value.min(self.table.get(j, i).abs());
                        if value > off.0 {
                            off = (value, a, b);
                        }
                    }
                }
            }
            if on.0 > ROUNDING && on.0 >= 0.1 * off.0 {
                let i = self.waiting.swap_remove(on.1);
                self.table.exchange(i, i);
            } else if off.0 > ROUNDING {
                let j = self.waiting.swap_remove(off.2);
                let i = self.waiting.swap_remove(off.1);
                self.exchange_both(i, j);
            } else {
                return false;
            }
        }
        true
    }

    fn rates(&mut self, _: &Scaled, _: &[bool], j: usize, rates: &mut [f64]) {
        for (i, rate) in rates.iter_mut().enumerate() {
            *rate = self.table.get(i, j);
        }
    }

    fn exchange(&mut self, _: &Scaled, _: &[bool], r: usize, j: usize) -> Exchange {
        let diagonal = self.table.get(r, r);
        let (of_row, of_column) = (self.table.get(r, j), self.table.get(j, r));
        let beside = if r == j {
            0.0
        } else {
            of_row.abs().max(of_column.abs())
        };
        if diagonal > ROUNDING.max(SMALLEST_PIVOT * beside) {
            self.table.exchange(r, r);
            return Exchange::Done;
        }
        // |T_rr T_rj; T_jr T_jj| must be positive, as it is where T is positive semidefinite.
        let minor = diagonal * self.table.get(j, j) - of_row * of_column;
        if r != j && of_row.abs() > ROUNDING && minor > ROUNDING * beside * beside {
            self.exchange_both(r, j);
            Exchange::Both
        } else {
            Exchange::Impossible
        }
    }
}
