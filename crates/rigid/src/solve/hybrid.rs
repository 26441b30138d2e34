//! The hybrid method: the normal problem exactly, then Gauss-Seidel sweeps on all rows, alternated.
//!
//! Sweeps find how sliding changes the normal impulses, where staggering needs many rounds or fails; the normal problem
//! carries loads through stacks and large mass ratios, where sweeps are slow. Small islands are finished by solving for
//! their active set directly.

use meniscus_lcp::Status;

use super::island::Island;
use super::normal::NormalProblem;
use super::sweep::sweeps;
use super::{SolveReport, active_set};
use crate::settings::Settings;

/// Sweeps before the first round: enough for single bodies and warm starts.
const FIRST_SWEEPS: usize = 8;
/// Rounds without progress after which the best iterate is accepted.
const PATIENCE: usize = 6;
/// The same for islands with many rows, where a round takes long and the next step continues from what this one reached.
const PATIENCE_OF_LARGE: usize = 1;
/// Rows from which an island is large.
const LARGE: usize = 1000;

pub(super) fn solve<const D: usize>(
    island: &mut Island<D>,
    settings: &Settings<D>,
    report: &mut SolveReport,
) {
    let tolerance = report.tolerance;
    report.sweeps += sweeps(island, FIRST_SWEEPS.min(settings.max_sweeps), tolerance);
    let mut best = Best::new(island);
    let mut normal = None;
    let patience = if island.rows.len() < LARGE {
        PATIENCE
    } else {
        PATIENCE_OF_LARGE
    };
    let mut stale = 0;
    while report.rounds < settings.max_rounds && best.residual > tolerance {
        report.active_sets += active_set::improve(island, tolerance);
        if best.keep(island) && best.residual <= tolerance {
            break;
        }
        if normal.is_none() {
            normal = NormalProblem::new(island).ok();
        }
        if let Some(normal) = &mut normal
            && let Ok(solved) = normal.solve(island, 0.1 * tolerance)
        {
            report.normal.push(solved);
        }
        report.sweeps += sweeps(island, settings.max_sweeps, tolerance);
        report.rounds += 1;
        let before = best.residual;
        best.keep(island);
        stale = if best.residual < 0.5 * before {
            0
        } else {
            stale + 1
        };
        if stale >= patience {
            break;
        }
    }
    island.restart(&best.x);
    report.residual = best.residual;
    report.status = if best.residual <= tolerance {
        Status::Converged
    } else if stale >= patience {
        Status::Stagnated
    } else {
        Status::IterationLimit
    };
}

/// The impulses of least residual.
struct Best {
    residual: f64,
    x: Vec<f64>,
}

impl Best {
    fn new<const D: usize>(island: &Island<D>) -> Self {
        Self {
            residual: island.residual(),
            x: island.x.clone(),
        }
    }

    /// Keeps the impulses if they are better than all before.
    fn keep<const D: usize>(&mut self, island: &Island<D>) -> bool {
        let residual = island.residual();
        let better = residual < self.residual;
        if better {
            self.residual = residual;
            self.x.copy_from_slice(&island.x);
        }
        better
    }
}
