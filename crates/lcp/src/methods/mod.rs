//! Methods for the box MLCP, one file each, all with the same `solve`.

pub mod dantzig;
pub mod enumerate;
pub mod fas;
pub mod fischer;
pub mod fmg;
pub mod interior_point;
pub mod jacobi;
pub mod keller;
pub mod lemke;
pub mod linear;
pub mod mprgp;
pub mod newton;
pub mod penalty;
pub mod pgs;
pub mod pgs_following;
pub mod policy;
pub mod psor;
pub mod spsor;
pub mod staggered;
pub mod start;

mod pivoting;

use crate::error::InputError;
use crate::minimum_map::Standing;
use crate::operator::Operator;
use crate::problem::BoxMlcp;
use crate::report::{InnerProgress, Observer, Progress, Report, Status};

/// Ends a solve: recomputes the residual from the problem.
fn finish<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    status: Status,
    counts: Counts,
    merit: f64,
    x: &[f64],
    scratch: &mut [f64],
) -> Report {
    let residual = problem.natural_residual(x, scratch);
    Report {
        status,
        iterations: counts.outer,
        inner_iterations: counts.inner,
        residual,
        merit,
    }
}

/// Iterations done.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    outer: usize,
    inner: usize,
}

impl Counts {
    fn progress(&self, standing: &Standing) -> Progress {
        Progress {
            iteration: self.outer,
            inner_iterations: self.inner,
            residual: standing.residual,
            merit: standing.merit(),
        }
    }
}

/// Hands the progress of an inner solve to the observer of the outer one.
fn watch_inner<O: Observer + ?Sized>(
    observer: &mut O,
    before: usize,
) -> impl FnMut(&crate::krylov::pcg::Report) -> std::ops::ControlFlow<()> {
    move |inner| {
        observer.observe_inner(&InnerProgress {
            iteration: before + inner.iterations,
            norm: inner.norm,
            largest: inner.largest,
        })
    }
}

/// Checks that the tolerance can be met at all.
fn check_tolerance(tolerance: f64) -> Result<(), InputError> {
    crate::error::check_positive("tolerance", tolerance)
}

/// Checks the number of merits that a search looks back on.
fn check_memory(memory: usize) -> Result<(), InputError> {
    if memory == 0 {
        return Err(InputError::Setting {
            name: "memory",
            must: "at least 1",
        });
    }
    Ok(())
}
