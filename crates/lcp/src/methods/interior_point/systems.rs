//! Solvers of the linear systems of the path.

use std::borrow::Cow;

use crate::csr::Csr;
use crate::error::InputError;
use crate::krylov::pcg;
use crate::operator::Operator;
use crate::precondition::{Amg, AmgSettings, MaskedPreconditioner, Preconditioner};
use crate::reduce;
use crate::sparse_factor::{Broken, Factor, Left, Sparse, System};
use crate::split::for_each;

/// Solver of the systems of a problem.
pub(super) trait Systems {
    /// Sets the matrix.
    fn prepare(&mut self, matrix: &Sparse, same_pattern: bool) -> Result<(), InputError>;

    /// Sets the diagonal that is added to it, and the rows to keep.
    fn factorise(&mut self, system: &System<'_>) -> Result<(), Broken>;

    /// Solves the system as accurately as a direction of the path must be.
    fn solve(&mut self, system: &System<'_>, c: &[f64], x: &mut [f64]) -> Left;

    /// Solves the system as accurately as possible.
    fn solve_exactly(&mut self, system: &System<'_>, c: &[f64], x: &mut [f64]) -> Left {
        self.solve(system, c, x)
    }
}

impl Systems for Factor {
    fn prepare(&mut self, matrix: &Sparse, same_pattern: bool) -> Result<(), InputError> {
        Factor::prepare(self, matrix, same_pattern);
        Ok(())
    }

    fn factorise(&mut self, system: &System<'_>) -> Result<(), Broken> {
        Factor::factorise(self, system)
    }

    fn solve(&mut self, system: &System<'_>, c: &[f64], x: &mut [f64]) -> Left {
        Factor::solve(self, system, c, x)
    }
}

/// Residual of a direction, as a part of its right-hand side: what is left goes into the next one.
const DIRECTION: f64 = 1e-6;
/// The same where the active set is known.
const EXACT: f64 = 1e-13;
/// Iterations for a system at most.
const MOST_ITERATIONS: usize = 400;

/// Conjugate gradients, preconditioned by aggregation multigrid.
#[derive(Default)]
pub(super) struct Multigrid {
    amg: Option<Amg<'static>>,
    c: Vec<f64>,
    workspace: pcg::Workspace,
}

impl Multigrid {
    fn solve_to(&mut self, part: f64, system: &System<'_>, c: &[f64], x: &mut [f64]) -> Left {
        x.fill(0.0);
        let Self {
            amg,
            c: own,
            workspace,
        } = self;
        own.clear();
        own.extend_from_slice(c);
        keep_rows(own, system.keep);
        let nothing = Left {
            norm: reduce::sum_of_squares(own).sqrt(),
            largest: reduce::largest(own),
        };
        let Some(amg) = amg else { return nothing };
        let matrix = Shifted {
            matrix: amg.finest(),
            shift: system.shift,
            keep: system.keep,
        };
        let preconditioner = MaskedPreconditioner {
            inner: &*amg,
            active: system.keep,
        };
        let settings = pcg::Settings::default()
            .relative_tolerance(part)
            .max_iterations(MOST_ITERATIONS);
        match pcg::solve(&matrix, own, &settings, &preconditioner, x, workspace) {
            Ok(report) => Left {
                norm: report.norm,
                largest: report.largest,
            },
            Err(_) => nothing,
        }
    }
}

fn keep_rows(vector: &mut [f64], keep: &[bool]) {
    for (value, &keep) in vector.iter_mut().zip(keep) {
        if !keep {
            *value = 0.0;
        }
    }
}

impl Systems for Multigrid {
    fn prepare(&mut self, matrix: &Sparse, _same_pattern: bool) -> Result<(), InputError> {
        if !matrix.is_symmetric() {
            return Err(InputError::Setting {
                name: "matrix",
                must: "symmetric for multigrid",
            });
        }
        let settings = AmgSettings::default().smoothed(false).corrections(2);
        self.amg = Some(Amg::of(Cow::Owned(matrix.to_csr()?), settings)?);
        Ok(())
    }

    fn factorise(&mut self, system: &System<'_>) -> Result<(), Broken> {
        if reduce::largest(system.shift).is_finite()
            && let Some(amg) = &mut self.amg
        {
            amg.set_shift(system.shift);
            amg.restrict(system.keep);
            Ok(())
        } else {
            Err(Broken)
        }
    }

    fn solve(&mut self, system: &System<'_>, c: &[f64], x: &mut [f64]) -> Left {
        self.solve_to(DIRECTION, system, c, x)
    }

    fn solve_exactly(&mut self, system: &System<'_>, c: &[f64], x: &mut [f64]) -> Left {
        self.solve_to(EXACT, system, c, x)
    }
}

/// `A + diag(shift)` on the rows to keep, the identity on the others.
struct Shifted<'a> {
    matrix: &'a Csr,
    shift: &'a [f64],
    keep: &'a [bool],
}

impl Operator for Shifted<'_> {
    fn len(&self) -> usize {
        self.shift.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        for_each(y, &|first, y: &mut [f64]| {
            for (i, y) in y.iter_mut().enumerate() {
                let row = first + i;
                if !self.keep[row] {
                    *y = x[row];
                    continue;
                }
                let (columns, values) = self.matrix.row(row);
                let terms = columns.iter().zip(values);
                let kept = terms.filter(|(j, _)| self.keep[**j as usize]);
                *y = kept.fold(self.shift[row] * x[row], |sum, (&j, value)| {
                    sum + value * x[j as usize]
                });
            }
        });
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        self.apply(x, y);
    }

    fn diagonal(&self, d: &mut [f64]) {
        self.matrix.diagonal(d);
        for (row, d) in d.iter_mut().enumerate() {
            *d = if self.keep[row] {
                *d + self.shift[row]
            } else {
                1.0
            };
        }
    }
}
