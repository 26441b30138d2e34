//! The contact problem of an island, and its methods.

mod by_lcp;
mod convex;
mod hybrid;
mod island;
mod newton;
mod normal;
mod sweep;

pub(crate) use by_lcp::assemble;
pub(crate) use island::Island;
pub(crate) use newton::stiffness;
pub(crate) use sweep::accelerated_sweeps;

use meniscus_lcp::{Report, Status};

use crate::settings::{Method, Settings};

/// Report of the solve of one island.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SolveReport {
    /// Free bodies.
    pub bodies: usize,
    /// Contacts.
    pub contacts: usize,
    /// Rows, tangents and joints included.
    pub rows: usize,
    /// Reason for the end.
    pub status: Status,
    /// Rounds of normal problem and sweeps, or outer iterations of the method.
    pub rounds: usize,
    /// Gauss-Seidel sweeps.
    pub sweeps: usize,
    /// Newton steps, each of which solves for an active set directly.
    pub active_sets: usize,
    /// Largest natural residual in m/s, bounds of friction at the impulses that were found.
    pub residual: f64,
    /// Residual that was asked for, in m/s.
    pub tolerance: f64,
    /// Reports of the normal problems.
    pub normal: Vec<Report>,
}

impl SolveReport {
    fn new<const D: usize>(island: &Island<D>, tolerance: f64) -> Self {
        Self {
            bodies: island.free_bodies(),
            contacts: island.contacts(),
            rows: island.rows.len(),
            status: Status::IterationLimit,
            rounds: 0,
            sweeps: 0,
            active_sets: 0,
            residual: f64::INFINITY,
            tolerance,
            normal: Vec::new(),
        }
    }
}

impl SolveReport {
    /// The report of a solve that is still to come.
    pub(crate) fn pending<const D: usize>(island: &Island<D>) -> Self {
        Self::new(island, 0.0)
    }
}

/// Solves the problem of an island: impulses and velocities.
pub(crate) fn solve<const D: usize>(
    island: &mut Island<D>,
    settings: &Settings<D>,
    dt: f64,
) -> SolveReport {
    let tolerance = settings.tolerance_of(island.rows.len(), island.scale, dt);
    let mut report = SolveReport::new(island, tolerance);
    if island.rows.is_empty() {
        report.status = Status::Converged;
        report.residual = 0.0;
        return report;
    }
    match settings.method {
        // The others have bounds that follow built in.
        _ if island.is_frozen() => hybrid::solve(island, settings, dt, &mut report),
        Method::Hybrid => hybrid::solve(island, settings, dt, &mut report),
        Method::Pgs => sweep::solve(island, settings, &mut report),
        Method::Staggered | Method::FischerNewton | Method::Lemke => {
            by_lcp::solve(island, settings, &mut report)
        }
    }
    if !report.residual.is_finite() {
        report.status = Status::NonFinite;
    }
    report
}
