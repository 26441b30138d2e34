//! Globalised semismooth Newton method, shared by `methods::fischer`, `methods::newton` with a globalisation and
//! `methods::start`.
//!
//! All look for a zero of the Fischer-Burmeister map `F` (see [`map`]) and measure progress by `1/2 F'F`, which has
//! a continuous gradient `J'F`. They differ in the direction they try first; the others, and when they are tried,
//! are described in [`direction`].
//!
//! A solve that gets stuck away from a solution is taken up again with the function smoothed, `F_m` with
//! `phi_m(a, b) = sqrt(a^2 + b^2 + 2 m^2) - a - b`, which has no kinks for the iterates to be caught in; `m` then
//! falls to zero, stage by stage.

mod direct;
mod direction;
mod jacobian;
pub(crate) mod map;
mod normal;
mod search;

use std::ops::ControlFlow;

use self::direct::Direct;
use self::direction::{Kind, Solve};
use self::map::MeritState;
use crate::error::InputError;
use crate::krylov::gmres;
use crate::methods::fischer::{Inner, Settings};
use crate::minimum_map;
use crate::monitor::{Best, Iterate, Monitor};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::report::{InnerProgress, Observer, Report, Status};

pub(crate) use self::direction::First;

/// Consecutive iterations without progress that count as a stall: an iterate may crawl round a corner.
const PATIENCE: usize = 5;

/// Reduction of the merit, and iterations in which it must be reached: a slower solve is restarted with smoothing.
const CRAWL: (f64, usize) = (0.5, 10);

/// A step this short makes one look at the next direction, too, before it is taken.
const SHORT: f64 = 0.1;

/// `m` at the first rescue, as a multiple of the largest entry of `F`; tenfold at each of the next five.
const FIRST_SMOOTHING: f64 = 100.0;

/// `m` from one stage to the next.
const LESS_SMOOTHING: f64 = 0.1;

/// Stages of a rescue.
const STAGES: usize = 5;

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    at: Point,
    trial: Point,
    /// The best point that the searches of an iteration have found.
    chosen: Point,
    /// The `x` with the smallest residual of all.
    best: Vec<f64>,
    /// Scales of the map.
    d: Vec<f64>,
    /// Diagonals of the generalised Jacobian.
    p: Vec<f64>,
    q: Vec<f64>,
    /// Diagonals of the system of the first direction, where they differ.
    first: (Vec<f64>, Vec<f64>),
    /// `J'F`
    gradient: Vec<f64>,
    dx: Vec<f64>,
    /// Residual of the linear system of the direction.
    r: Vec<f64>,
    scratch: Vec<f64>,
    /// Rows on which `q` rules.
    active: Vec<bool>,
    /// Merits of the last iterates.
    merits: Vec<f64>,
    gmres: gmres::Core,
    normal: normal::Core,
    direct: Direct,
}

impl Workspace {
    fn prepare(&mut self, n: usize, settings: &Settings) {
        for point in [&mut self.at, &mut self.trial, &mut self.chosen] {
            for array in [&mut point.x, &mut point.y, &mut point.f] {
                array.resize(n, 0.0);
            }
        }
        for array in [
            &mut self.d,
            &mut self.p,
            &mut self.q,
            &mut self.first.0,
            &mut self.first.1,
            &mut self.gradient,
            &mut self.dx,
            &mut self.r,
            &mut self.scratch,
        ] {
            array.resize(n, 0.0);
        }
        self.active.clear();
        self.active.resize(n, true);
        self.merits.clear();
        self.merits.resize(settings.memory, f64::NEG_INFINITY);
    }
}

/// A point that the method looks at.
#[derive(Clone, Debug, Default)]
struct Point {
    x: Vec<f64>,
    y: Vec<f64>,
    f: Vec<f64>,
}

impl Point {
    /// `y` and `F_m` of `x`.
    fn measure(
        &mut self,
        problem: &BoxMlcp<'_, impl Operator + ?Sized>,
        d: &[f64],
        smoothing: f64,
    ) -> MeritState {
        problem.affine(&self.x, &mut self.y);
        map::measure(problem, (&self.x, &self.y, d), smoothing, &mut self.f)
    }
}

/// Continuation state between the smoothed and the plain map.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    /// `m`, zero for the plain map.
    smoothing: f64,
    /// Stages left before the plain map.
    left: usize,
    /// Rescues begun.
    rescues: usize,
    /// `||F_m||` at the beginning.
    start: f64,
    /// Iterations in a row that changed next to nothing.
    patience: usize,
    /// Iterations since the merit was last compared with what it was, and what it was.
    since: usize,
    mark: f64,
}

impl Stage {
    /// Whether a smoothed problem is solved as far as it is worth.
    fn done(&self, f: &[f64]) -> bool {
        self.smoothing > 0.0 && reduce::largest(f) <= self.smoothing
    }

    /// Begins the next stage; false if there is none.
    fn advance(&mut self, limit: usize, f: &[f64]) -> bool {
        if self.smoothing == 0.0 {
            if self.rescues >= limit {
                return false;
            }
            self.smoothing =
                FIRST_SMOOTHING * 10.0_f64.powi(self.rescues.min(5) as i32) * reduce::largest(f);
            self.rescues += 1;
            // A stronger smoothing starts farther from the solution.
            self.left = STAGES + self.rescues;
        } else if self.left > 1 {
            self.smoothing *= LESS_SMOOTHING;
            self.left -= 1;
        } else {
            self.smoothing = 0.0;
        }
        self.patience = 0;
        true
    }

    /// Records the state at the beginning of the stage.
    fn begin(&mut self, state: &MeritState) {
        self.start = state.norm();
        (self.since, self.mark) = (0, state.merit());
    }

    /// Whether the merit hardly fell for many iterations. Only asks for a rescue: without one, patience decides.
    fn crawls(&mut self, state: &MeritState, limit: usize) -> bool {
        self.since += 1;
        if self.since < CRAWL.1 {
            return false;
        }
        let crawls = state.merit() > CRAWL.0 * self.mark;
        (self.since, self.mark) = (0, state.merit());
        crawls && (self.smoothing > 0.0 || self.rescues < limit)
    }
}

/// Solves the problem from `x`, which is moved into the box first. The settings must be in range.
pub(crate) fn solve(
    problem: &BoxMlcp<'_, impl Operator + ?Sized>,
    (settings, first): (&Settings, First),
    preconditioner: &mut (impl Preconditioner + ?Sized),
    x: &mut [f64],
    w: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    problem.check_start(x)?;
    w.prepare(problem.len(), settings);
    minimum_map::scales(problem.matrix(), settings.scaled, &mut w.d)?;
    if settings.inner == Inner::Direct {
        w.direct.read(problem.matrix(), &mut w.scratch);
    }
    problem.project(x);
    w.at.x.copy_from_slice(x);
    let mut best = std::mem::take(&mut w.best);
    let mut monitor = Monitor::new(settings.tolerance, settings.max_iterations, observer)
        .keep_best(Best::Residual, &mut best, x);
    let mut state = w.at.measure(problem, &w.d, 0.0);
    let mut stage = Stage::default();
    stage.begin(&state);
    let mut stalled = None;
    let status = loop {
        let iterate = Iterate::new(&w.at.x, state.residual, state.merit());
        let iterate = iterate.finite(state.squares.is_finite());
        if let Some(status) = monitor.check(iterate, None) {
            break status;
        }
        if stalled == Some(Status::Stagnated) && stage.smoothing == 0.0 {
            break Status::Stagnated; // rounding is in the way, and no smoothing helps against that
        }
        if stalled.is_some() || stage.done(&w.at.f) {
            if !stage.advance(settings.rescues, &w.at.f) {
                break stalled.unwrap_or(Status::Stagnated);
            }
            w.merits.fill(f64::NEG_INFINITY);
            state = w.at.measure(problem, &w.d, stage.smoothing);
            stage.begin(&state);
        }
        let slot = monitor.iterations() % settings.memory;
        w.merits[slot] = state.merit();
        let solve = Solve {
            problem,
            settings,
            first,
            smoothing: stage.smoothing,
            state,
            start: stage.start,
            // Far away an exact step is wasted; near the end an inexact one spoils the quadratic convergence.
            forcing: settings.forcing.min(state.norm() / stage.start),
        };
        solve.differentiate(monitor.iterations(), w);
        monitor.count(1, 0);
        let taken = match step(&solve, preconditioner, w, &mut monitor) {
            ControlFlow::Continue(taken) => taken,
            ControlFlow::Break(()) => break Status::Stopped,
        };
        match taken {
            Some(next) => {
                std::mem::swap(&mut w.at, &mut w.chosen);
                stalled = stall(settings, &mut stage, &state, &next, &w.at.x);
                state = next.state;
                if stalled.is_none() && stage.crawls(&state, settings.rescues) {
                    stalled = Some(Status::Relative);
                }
            }
            None => stalled = Some(solve.blocked(w)),
        }
    };
    monitor.restore(x);
    let residual = problem.natural_residual(x, &mut w.r);
    w.at.x.copy_from_slice(x);
    let merit = w.at.measure(problem, &w.d, 0.0).merit();
    let report = monitor.report(status, residual, merit);
    w.best = best;
    Ok(report)
}

/// Tries one direction after the other, and leaves the best point found in `w.chosen`.
fn step(
    solve: &Solve<'_, '_, impl Operator + ?Sized>,
    preconditioner: &mut (impl Preconditioner + ?Sized),
    w: &mut Workspace,
    monitor: &mut Monitor<'_, impl Observer + ?Sized>,
) -> ControlFlow<(), Option<Taken>> {
    let mut taken: Option<Taken> = None;
    let kinds: &[Kind] = match solve.first {
        First::Gradient => &[Kind::Gradient],
        _ => &[Kind::Newton, Kind::Regularised, Kind::Gradient],
    };
    for &kind in kinds {
        let before = monitor.inner_iterations();
        let mut watch = |iteration: usize, norm: f64| {
            // The largest entry is not known without another pass; it is no larger than the norm.
            monitor.check_inner(&InnerProgress::new(before + iteration, norm, norm))
        };
        let found = solve.direction(kind, preconditioner, w, &mut watch);
        monitor.count(0, found.iterations);
        if found.stopped {
            return ControlFlow::Break(());
        }
        let Some(next) = found.slope.and_then(|slope| solve.search(kind, slope, w)) else {
            continue;
        };
        if taken.is_none_or(|last| next.state.squares < last.state.squares) {
            std::mem::swap(&mut w.trial, &mut w.chosen);
            taken = Some(next);
        }
        if next.step >= SHORT || kind == Kind::Regularised {
            break;
        }
    }
    ControlFlow::Continue(taken)
}

/// A step that a search has accepted.
#[derive(Clone, Copy, Debug)]
struct Taken {
    state: MeritState,
    /// `max |x_new - x|`
    moved: f64,
    /// Its length, 1 for the whole direction.
    step: f64,
}

/// Whether the last steps changed next to nothing. [Erl13 (108)], [Erl13 (109)]
fn stall(
    settings: &Settings,
    stage: &mut Stage,
    before: &MeritState,
    taken: &Taken,
    x: &[f64],
) -> Option<Status> {
    let change = (taken.state.merit() - before.merit()).abs();
    let status = if taken.moved <= settings.stagnation * reduce::largest(x) {
        Status::Stagnated
    } else if change <= settings.relative * before.merit() {
        Status::Relative
    } else {
        stage.patience = 0;
        return None;
    };
    stage.patience += 1;
    (stage.patience >= PATIENCE).then_some(status)
}
