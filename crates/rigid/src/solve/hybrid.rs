//! The hybrid method: the normal problem exactly, then Gauss-Seidel sweeps on all rows, alternated.
//!
//! Sweeps find how sliding changes the normal impulses, where staggering needs many rounds or fails; the normal problem
//! carries loads through stacks and large mass ratios, where sweeps are slow. Newton steps finish what these have begun: they
//! solve for the active set directly.

use meniscus_lcp::Status;

use super::SolveReport;
use super::convex;
use super::island::Island;
use super::newton::Newton;
use super::normal::NormalProblem;
use super::sweep::sweeps_that_help;
use crate::settings::{Cone, Settings};

/// Sweeps before the first round: enough for single bodies and warm starts.
const FIRST_SWEEPS: usize = 8;
/// Residual to start from, relative to the largest velocity in the right-hand side, below which Newton steps come first.
const CLOSE: f64 = 1e-3;
/// Rounds without progress after which the best iterate is accepted.
const PATIENCE: usize = 6;
/// The same for islands with many rows, where a round takes long and the next step continues from what this one reached; and
/// for residuals that are small beside what is asked of them.
const PATIENCE_OF_LARGE: usize = 1;
/// Sweeps of a large island, as a share of the limit, that have to lower its residual: where they stagnate, as while a heap
/// breaks, the next step continues from what they reached. Of a solve that is repeated with more contacts, fewer.
const WINDOW: f64 = 0.5;
const WINDOW_OF_CONTINUED: f64 = 0.15;
/// Such a residual, as a share of that of large islands.
const SMALL: f64 = 0.01;
/// Bodies of an island up to which Newton steps are worth their factorisation: beyond, heaps fill it in.
const DIRECT_BODIES: usize = 600;
/// Multiplications of a factorisation up to which the same holds for islands with many rows, for each row: chains, no heaps.
const DIRECT_WORK: f64 = 200.0;
/// Newton steps in a round at most.
const NEWTON_STEPS: usize = 16;
/// Rows of islands that are tried from several starts.
const MOST_RESTARTED: usize = 120;
/// Coefficient of friction with which contacts stick.
const STICKING: f64 = 1e3;
/// Newton steps without a better residual after which sweeps continue from before them.
const FRUITLESS: usize = 4;

pub(super) fn solve<const D: usize>(
    island: &mut Island<D>,
    settings: &Settings<D>,
    dt: f64,
    report: &mut SolveReport,
) {
    if D == 3 {
        solve_blocks::<D, 6>(island, settings, dt, report);
    } else {
        solve_blocks::<D, 3>(island, settings, dt, report);
    }
}

/// `B` is the number of velocities of a body.
fn solve_blocks<const D: usize, const B: usize>(
    island: &mut Island<D>,
    settings: &Settings<D>,
    dt: f64,
    report: &mut SolveReport,
) {
    attempt::<D, B>(island, settings, dt, report);
    if report.status == Status::Converged || island.rows.len() > MOST_RESTARTED {
        return;
    }
    // The problem with friction may have several solutions, or none nearby: sliding contacts that wedge a body let impulses grow
    // without bound, where contacts that stick would hold it. So it is tried from no impulses, and from contacts that stick or
    // have no friction.
    let mut best = Best::new(island);
    for start in [None, Some(STICKING), Some(0.0)] {
        island.restart(&vec![0.0; best.x.len()]);
        if let Some(coefficient) = start {
            island.with_friction(coefficient, |island| {
                let mut aside = SolveReport::pending(island);
                aside.tolerance = report.tolerance;
                attempt::<D, B>(island, settings, dt, &mut aside);
            });
        }
        attempt::<D, B>(island, settings, dt, report);
        best.keep(island);
        if report.status == Status::Converged {
            return;
        }
    }
    island.restart(&best.x);
    report.residual = best.residual;
}

/// A solve from the impulses that the island has.
fn attempt<const D: usize, const B: usize>(
    island: &mut Island<D>,
    settings: &Settings<D>,
    dt: f64,
    report: &mut SolveReport,
) {
    let tolerance = report.tolerance;
    let mut rounds = 0;
    let small = SMALL * settings.coarse_tolerance_of(dt);
    let coarse = settings.coarse_tolerance > 0.0 && island.rows.len() >= settings.coarse_rows;
    let mut best = Best::new(island);
    let mut newton = None;
    if best.residual > tolerance && report.bodies <= DIRECT_BODIES {
        let made = Newton::<B>::new(island);
        newton = (!coarse || made.work() <= DIRECT_WORK * island.rows.len() as f64).then_some(made);
    }
    let large = coarse && newton.is_none();
    let (patience, first) = if large {
        (PATIENCE_OF_LARGE, usize::MAX)
    } else {
        (PATIENCE, FIRST_SWEEPS)
    };
    let mut stagnated = false;
    // From a good start, as at rest, Newton steps are the shorter way.
    let close = newton.is_some() && best.residual <= CLOSE * island.scale;
    if best.residual > tolerance && !close {
        let most = settings.max_sweeps.min(first);
        let done;
        let help = (window(island, settings, large), best.residual);
        (done, stagnated) = sweeps_that_help(island, most, tolerance, help);
        report.sweeps += done;
        best = Best::new(island);
    }
    let mut normal = None;
    let mut stale = 0;
    // What a solve with fewer contacts did not reach, another round does not reach either.
    let max_rounds = if large && (island.continued || stagnated) {
        0
    } else {
        settings.max_rounds
    };
    while rounds < max_rounds && best.residual > tolerance {
        if let Some(newton) = &mut newton {
            report.active_sets += improve(island, newton, tolerance);
            if best.keep(island) && best.residual <= tolerance {
                break;
            }
            if rounds == 0 && island.cone == Cone::Disc {
                report.active_sets += convex::improve(island, newton, tolerance);
                best.keep(island);
                if best.residual <= tolerance.max(small) {
                    stale = 1;
                    break;
                }
            }
        }
        if normal.is_none() && !large {
            normal = NormalProblem::new(island).ok();
        }
        if let Some(normal) = &mut normal
            && let Ok(solved) = normal.solve(island, 0.1 * tolerance)
        {
            report.normal.push(solved);
        }
        let done;
        let help = (window(island, settings, large), best.residual);
        (done, stagnated) = sweeps_that_help(island, settings.max_sweeps, tolerance, help);
        report.sweeps += done;
        report.rounds += 1;
        rounds += 1;
        let before = best.residual;
        best.keep(island);
        stale = if best.residual < 0.5 * before {
            0
        } else {
            stale + 1
        };
        if stagnated || stale >= patience || stale >= PATIENCE_OF_LARGE && best.residual <= small {
            break;
        }
    }
    island.restart(&best.x);
    report.residual = best.residual;
    report.status = if best.residual <= tolerance {
        Status::Converged
    } else if stagnated || stale > 0 {
        Status::Stagnated
    } else {
        Status::IterationLimit
    };
}

/// Sweeps that have to lower the residual clearly.
fn window<const D: usize>(island: &Island<D>, settings: &Settings<D>, large: bool) -> usize {
    let share = match (large, island.continued) {
        (false, _) => return usize::MAX,
        (true, false) => WINDOW,
        (true, true) => WINDOW_OF_CONTINUED,
    };
    (share * settings.max_sweeps as f64).ceil() as usize
}

/// Newton steps until the tolerance is reached or they do not help; returns their number. The best impulses are kept.
fn improve<const D: usize, const B: usize>(
    island: &mut Island<D>,
    newton: &mut Newton<B>,
    tolerance: f64,
) -> usize {
    let mut best = Best::new(island);
    let (mut done, mut fruitless) = (0, 0);
    while done < NEWTON_STEPS && fruitless < FRUITLESS && best.residual > tolerance {
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
pub(super) struct Best {
    pub residual: f64,
    pub x: Vec<f64>,
}

impl Best {
    pub fn new<const D: usize>(island: &Island<D>) -> Self {
        Self {
            residual: island.residual(),
            x: island.x.clone(),
        }
    }

    /// Keeps the impulses if they are better than all before.
    pub fn keep<const D: usize>(&mut self, island: &Island<D>) -> bool {
        let residual = island.residual();
        let better = residual < self.residual;
        if better {
            self.residual = residual;
            self.x.copy_from_slice(&island.x);
        }
        better
    }
}
