//! The hybrid method: the normal problem exactly, then Gauss-Seidel sweeps on all rows, alternated.
//!
//! Sweeps find how sliding changes the normal impulses, where staggering needs many rounds or fails; the normal problem
//! carries loads through stacks and large mass ratios, where sweeps are slow. Newton steps finish what these have begun: they
//! solve for the active set directly.

use meniscus_lcp::Status;

use super::SolveReport;
use super::island::Island;
use super::newton::Newton;
use super::normal::NormalProblem;
use super::sweep::sweeps;
use crate::settings::Settings;

/// Sweeps before the first round: enough for single bodies and warm starts.
const FIRST_SWEEPS: usize = 8;
/// Rounds without progress after which the best iterate is accepted.
const PATIENCE: usize = 6;
/// The same for islands with many rows, where a round takes long and the next step continues from what this one reached.
const PATIENCE_OF_LARGE: usize = 1;
/// Rows from which an island is large.
const LARGE: usize = 1000;

/// Newton steps in a round at most.
const NEWTON_STEPS: usize = 16;
/// The same for islands with many rows.
const NEWTON_STEPS_OF_LARGE: usize = 4;
/// Newton steps without a better residual after which sweeps continue from before them.
const FRUITLESS: usize = 4;

pub(super) fn solve<const D: usize>(
    island: &mut Island<D>,
    settings: &Settings<D>,
    report: &mut SolveReport,
) {
    if D == 3 {
        solve_blocks::<D, 6>(island, settings, report);
    } else {
        solve_blocks::<D, 3>(island, settings, report);
    }
}

/// `B` is the number of velocities of a body.
fn solve_blocks<const D: usize, const B: usize>(
    island: &mut Island<D>,
    settings: &Settings<D>,
    report: &mut SolveReport,
) {
    let tolerance = report.tolerance;
    report.sweeps += sweeps(island, FIRST_SWEEPS.min(settings.max_sweeps), tolerance);
    let mut best = Best::new(island);
    let (mut newton, mut normal) = (None, None);
    let (patience, newton_steps) = if island.rows.len() < LARGE {
        (PATIENCE, NEWTON_STEPS)
    } else {
        (PATIENCE_OF_LARGE, NEWTON_STEPS_OF_LARGE)
    };
    let mut stale = 0;
    while report.rounds < settings.max_rounds && best.residual > tolerance {
        let newton = newton.get_or_insert_with(|| Newton::<B>::new(island));
        report.active_sets += improve(island, newton, newton_steps, tolerance);
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

/// Newton steps until the tolerance is reached or they do not help; returns their number. The best impulses are kept.
fn improve<const D: usize, const B: usize>(
    island: &mut Island<D>,
    newton: &mut Newton<B>,
    most: usize,
    tolerance: f64,
) -> usize {
    let mut best = Best::new(island);
    let (mut done, mut fruitless) = (0, 0);
    while done < most && fruitless < FRUITLESS && best.residual > tolerance {
        if !newton.step(island) {
            break;
        }
        done += 1;
        fruitless = if best.keep(island) { 0 } else { fruitless + 1 };
    }
    island.restart(&best.x);
    done
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
