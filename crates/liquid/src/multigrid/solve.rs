//! The multigrid solve: truncated Newton multigrid.

use meniscus_lcp::{BoxMlcp, InputError, Observer, Progress, Report, Status};
use rayon::prelude::*;

use super::chunks::{Chunk, each, fold};
use super::conjugate::Conjugate;
use super::finest::gather;
use super::hierarchy::Hierarchy;
use super::level::{CHUNK, ENTRIES, FEWEST};
use super::response::{Coupled, Coupling};
use super::settings::Settings;
use super::sums::{Exact, Found, measure};
use crate::compiled::Compiled;
use crate::growth::Growth;
use crate::stencil::Stencil;

/// Rises of the energy below this share of its terms are rounding.
const ROUNDING: f64 = 1e-13;
/// A step is halved so often before it is given up.
const MOST_HALVINGS: usize = 10;
/// Cycles without a smaller residual after which rounding, or something worse, has the last word.
const PATIENCE: usize = 25;
/// From this ratio of residuals on the direction of the last step is worth its price.
const SLOW: f64 = 0.25;
/// If more than this share of the bounded rows change sides, the last step was for another problem.
const FEW: f64 = 0.03;
/// And if more than this share do, it was for a very different one.
const MANY: f64 = 0.1;
/// While more than this share of them look for their sides, the ratio of residuals says nothing of the cycle.
const HARDLY_ANY: f64 = 0.003;

/// Memory for the method, kept between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace<const D: usize> {
    hierarchy: Hierarchy<D>,
    state: State,
    conjugate: Conjugate,
}

impl<const D: usize> Workspace<D> {
    /// How often a step of the last solve was halved because it would have raised the energy.
    pub fn halvings(&self) -> usize {
        self.state.halvings
    }

    /// Makes the levels of a problem, unless the workspace has those of its stencil and bounds already.
    pub fn prepare(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
    ) -> Result<Prepared<'_, D>, InputError> {
        (Compiled::get().prepare)(self, problem)?;
        Ok(Prepared { workspace: self })
    }

    pub(crate) fn prepare_impl(&mut self, problem: &BoxMlcp<Stencil<D>>) -> Result<(), InputError> {
        match self.hierarchy.is_for(problem) {
            true => Ok(()),
            false => self.hierarchy.build(problem),
        }
    }

    pub(crate) fn solve_impl(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        settings: &Settings,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Report, InputError> {
        settings.check()?;
        check_start(problem, x)?;
        self.hierarchy.take(problem)?;
        self.hierarchy.uncouple();
        iterate(problem, None, settings, x, self, observer)
    }

    pub(crate) fn solve_coupled_impl(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        coupling: &mut Coupling<'_>,
        settings: &Settings,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Report, InputError> {
        settings.check()?;
        check_start(problem, x)?;
        self.hierarchy.take(problem)?;
        self.hierarchy.uncouple();
        let coupled = Coupled::new(coupling, &self.hierarchy);
        iterate(problem, Some(coupled), settings, x, self, observer)
    }
}

/// Levels of a stencil, ready to solve problems with it.
#[derive(Debug)]
pub struct Prepared<'w, const D: usize> {
    workspace: &'w mut Workspace<D>,
}

impl<const D: usize> Prepared<'_, D> {
    /// Solves a problem, starting from `x`: that which the levels were prepared for, or another one with the same stencil, in which
    /// only rows that had a bound or were held then may have one, or be held.
    ///
    /// An iteration of the report is a V-cycle, its merit the energy `1/2 x'Ax + b'x`. With other bounds, rounding is
    /// that of the levels of the problem that they were prepared for.
    pub fn solve(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        settings: &Settings,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Report, InputError> {
        (Compiled::get().multigrid)(self.workspace, problem, settings, x, observer)
    }

    /// Solves `y = A x + b + C'v(x)` with velocities that respond to the unknowns, see [`Coupling`]. Otherwise as
    /// [`solve`](Self::solve).
    pub fn solve_coupled(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        coupling: &mut Coupling<'_>,
        settings: &Settings,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Report, InputError> {
        (Compiled::get().multigrid_coupled)(
            self.workspace,
            problem,
            coupling,
            settings,
            x,
            observer,
        )
    }
}

/// The iterate, in the numbering of the finest level.
#[derive(Clone, Debug, Default)]
struct State {
    p: Vec<f64>,
    /// Bounded rows before the last step.
    before: Vec<f64>,
    /// What residuals are divided by for the cycle, and what its correction is multiplied by.
    scale: f64,
    step: f64,
    /// How often a step was halved.
    halvings: usize,
}

/// Solves a problem, starting from `x`. Rows may have a lower bound or be held (`l = u`).
///
/// Levels that the workspace has of the same stencil and bounds are not made again; the result has the same bits either way.
pub fn solve<const D: usize>(
    problem: &BoxMlcp<Stencil<D>>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Report, InputError> {
    workspace
        .prepare(problem)?
        .solve(problem, settings, x, observer)
}

/// The iteration, once the levels are there.
fn iterate<const D: usize>(
    problem: &BoxMlcp<Stencil<D>>,
    mut coupled: Option<Coupled<'_, '_>>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace<D>,
    observer: &mut dyn Observer,
) -> Result<Report, InputError> {
    let Workspace {
        hierarchy,
        state,
        conjugate,
    } = workspace;
    state.begin(hierarchy, problem, x);
    let coupled = &mut coupled;
    state.respond(hierarchy, coupled);
    state.relax_bounded(hierarchy, coupled, settings.bound_sweeps);
    let mut found = state.measure(hierarchy, coupled);
    let mut cycles = 0;
    let mut best = (f64::INFINITY, 0);
    let (mut slow, mut settled) = (false, false);
    conjugate.restart();
    let status = loop {
        let progress = Progress::new(cycles, cycles, found.residual, found.energy);
        let stop = observer.observe(&progress).is_break();
        if !(found.residual + found.energy).is_finite() {
            break Status::NonFinite;
        }
        if found.residual <= settings.tolerance {
            // The sums above are in another order than the matrix: its word is the one that counts.
            state.write(hierarchy, x);
            let residual = largest_residual(problem, coupled, x)?;
            if residual <= settings.tolerance {
                return Ok(Report::new(
                    Status::Converged,
                    cycles,
                    cycles,
                    residual,
                    found.energy,
                ));
            }
        }
        if found.residual < best.0 {
            best = (found.residual, cycles);
        } else if cycles >= best.1 + PATIENCE {
            break Status::Stagnated;
        }
        if stop {
            break Status::Stopped;
        }
        if cycles >= settings.max_iterations {
            break Status::IterationLimit;
        }
        let mut changed = state.activate(hierarchy);
        if cycles == 0 {
            // Whatever rows were active in the last solve.
            changed = hierarchy.active();
        }
        // Whether the last step was for the same matrix.
        let mut settled_matrix = changed == 0;
        if let Some(coupled) = coupled {
            settled_matrix &= !coupled.update_term(hierarchy, changed > 0 || cycles == 0);
        }
        let share = changed as f64 / hierarchy.top().rows.len().max(1) as f64;
        // Until rows have found their sides, a better correction would be one for the wrong problem.
        let fewer = (share > FEW) as usize + (share > MANY) as usize;
        hierarchy.cycle(settings.sweeps.saturating_sub(fewer).max(1));
        cycles += 1;
        let accelerated = (slow || coupled.is_some()) && share <= FEW;
        if accelerated {
            conjugate.improve(hierarchy, settled_matrix);
        } else {
            conjugate.restart();
        }
        let length = state.step_length(hierarchy, coupled, conjugate);
        if std::env::var_os("MEN_TRACE").is_some() { eprintln!("cycle {cycles}: residual {:.3e} energy {:.12e} changed {changed} settled {settled_matrix} accelerated {accelerated} length {length:.4}", found.residual, found.energy); } // TRACE
        let settled_rows = accelerated && changed == 0;
        match state.advance(hierarchy, coupled, settings, &found, (length, settled_rows)) {
            Ok(next) => {
                let telling = settled && share <= HARDLY_ANY;
                let slowly = telling && next.residual > SLOW * found.residual;
                slow = share <= FEW && (slow || slowly);
                settled = share <= HARDLY_ANY;
                found = next;
            }
            Err(status) => break status,
        }
    };
    state.write(hierarchy, x);
    Ok(Report::new(
        status,
        cycles,
        cycles,
        largest_residual(problem, coupled, x)?,
        found.energy,
    ))
}

/// The natural residual in the order of the matrix.
fn largest_residual<const D: usize>(
    problem: &BoxMlcp<Stencil<D>>,
    coupled: &Option<Coupled<'_, '_>>,
    x: &[f64],
) -> Result<f64, InputError> {
    let Some(coupled) = coupled else {
        return Ok(problem.largest_residual(x));
    };
    let mut rhs = problem.rhs().to_vec();
    coupled.add_to_rhs::<D>(&mut rhs);
    let coupled = BoxMlcp::new(problem.matrix(), &rhs, problem.lower(), problem.upper())?;
    Ok(coupled.largest_residual(x))
}

fn check_start<const D: usize>(problem: &BoxMlcp<Stencil<D>>, x: &[f64]) -> Result<(), InputError> {
    if x.len() != problem.len() {
        return Err(InputError::Length {
            what: "x",
            expected: problem.len(),
            found: x.len(),
        });
    }
    let not_finite = |v: &f64| !v.is_finite();
    match x
        .par_iter()
        .with_min_len(ENTRIES)
        .position_first(not_finite)
    {
        Some(index) => Err(InputError::NotFinite { what: "x", index }),
        None => Ok(()),
    }
}

impl State {
    /// Takes the start, moved into the bounds.
    fn begin<const D: usize>(
        &mut self,
        hierarchy: &Hierarchy<D>,
        problem: &BoxMlcp<Stencil<D>>,
        x: &[f64],
    ) {
        let finest = &hierarchy.finest;
        let (lower, upper) = (problem.lower(), problem.upper());
        gather(&finest.matrix_row, &mut self.p, |row| {
            x[row].clamp(lower[row], upper[row])
        });
        self.before.clear();
        self.before.resize_closely(hierarchy.top().rows.len(), 0.0);
        // The largest of all has no order.
        let largest = |values: &[f64]| {
            let parts = values.par_chunks(CHUNK).with_min_len(FEWEST);
            let parts = parts.map(|part| part.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
            parts.reduce(|| 0.0, f64::max)
        };
        let size = largest(&finest.b).max(finest.full_weight * largest(&self.p));
        self.scale = if size > 0.0 && size.is_finite() {
            size
        } else {
            1.0
        };
        self.step = self.scale / finest.full_weight;
        self.halvings = 0;
    }

    fn write<const D: usize>(&self, hierarchy: &Hierarchy<D>, x: &mut [f64]) {
        let unknowns = hierarchy.finest.unknown.par_chunks(CHUNK);
        let parts = x.par_chunks_mut(CHUNK).zip(unknowns);
        parts.with_min_len(FEWEST).for_each(|(x, unknowns)| {
            for (x, &unknown) in x.iter_mut().zip(unknowns) {
                *x = self.p[unknown as usize];
            }
        });
    }

    /// Rows at their bounds become active; returns how many changed sides.
    fn activate<const D: usize>(&self, hierarchy: &mut Hierarchy<D>) -> usize {
        let p = &self.p;
        let changed = hierarchy.activate(|lower, unknown| p[unknown] <= lower);
        let top = &mut hierarchy.levels[0];
        let rows = &top.rows.row;
        each(&top.chunks, &mut top.r, &|chunk: &Chunk, r: &mut [f32]| {
            let rows = rows[chunk.rows.clone()].iter();
            for row in rows.filter(|row| row.inverse == 0.0) {
                r[row.unknown as usize - chunk.unknowns.start] = 0.0;
            }
        });
        changed
    }

    /// Brings velocities and right-hand side up to date.
    fn respond<const D: usize>(
        &self,
        hierarchy: &mut Hierarchy<D>,
        coupled: &mut Option<Coupled<'_, '_>>,
    ) {
        if let Some(coupled) = coupled {
            coupled.respond::<D>(&self.p, &mut hierarchy.finest.b);
        }
    }

    /// Residual for the cycle, and what there is to know of it.
    fn measure<const D: usize>(
        &self,
        hierarchy: &mut Hierarchy<D>,
        coupled: &mut Option<Coupled<'_, '_>>,
    ) -> Found {
        self.respond(hierarchy, coupled);
        let mut r = std::mem::take(&mut hierarchy.levels[0].r);
        let exact = self.exact(hierarchy);
        let width = hierarchy.width;
        let found = fold(
            &hierarchy.top().chunks,
            &mut r,
            &|chunk, r| measure(width, &exact, chunk, r),
            &Found::and,
        );
        hierarchy.levels[0].r = r;
        let mut found = found.unwrap_or(Found::NOTHING);
        if let Some(coupled) = coupled.as_ref().filter(|coupled| coupled.has_energy()) {
            found.energy += coupled.energy;
            found.size += coupled.energy.abs();
        }
        found
    }

    /// Share of the correction that is taken, before bounds are looked at: less than all of it where contacts open or close.
    fn step_length<const D: usize>(
        &self,
        hierarchy: &Hierarchy<D>,
        coupled: &mut Option<Coupled<'_, '_>>,
        conjugate: &mut Conjugate,
    ) -> f64 {
        let Some(coupled) = coupled.as_mut().filter(|coupled| !coupled.is_affine()) else {
            return 1.0;
        };
        let (e_le, r_e) = conjugate.curvature(hierarchy);
        let (step, e) = (self.step, &hierarchy.top().e);
        // Of all that acts, and then without the groups, which respond to the length.
        let slope =
            -step * self.scale * r_e - coupled.power::<D>(|unknown| step * e[unknown] as f64);
        let curvature = step * step * hierarchy.finest.full_weight * e_le;
        coupled.step_length::<D>(|unknown| step * e[unknown] as f64, slope, curvature)
    }

    fn exact<'a, const D: usize>(&'a self, hierarchy: &'a Hierarchy<D>) -> Exact<'a, D> {
        let finest = &hierarchy.finest;
        Exact {
            level: hierarchy.top(),
            full_weight: finest.full_weight,
            p: &self.p,
            b: &finest.b,
            diagonal: &finest.diagonal,
            weight: &finest.weight,
            lower: &finest.lower,
            scale: 1.0 / self.scale,
        }
    }

    /// Projected Gauss-Seidel on the bounded rows alone, colour by colour.
    fn relax_bounded<const D: usize>(
        &mut self,
        hierarchy: &Hierarchy<D>,
        coupled: &Option<Coupled<'_, '_>>,
        sweeps: usize,
    ) {
        let (finest, top) = (&hierarchy.finest, hierarchy.top());
        let rows = &top.rows;
        let mut velocity = coupled.as_ref().map(|coupled| coupled.velocity.clone());
        let with_groups = coupled.as_ref().map(|coupled| &coupled.is_coupled[..]);
        let is_coupled = |row: usize| with_groups.is_some_and(|rows| rows[row]);
        for half in 0..2 * sweeps {
            let (red, black) = self.p.split_at_mut(top.red);
            let (own, other, first_other) = match half % 2 {
                0 => (red, &*black, top.red),
                _ => (black, &*red, 0),
            };
            let chunks = top.coloured_chunks()[half % 2];
            each(chunks, own, &|chunk: &Chunk, p: &mut [f64]| {
                for row in chunk.rows.clone() {
                    let (lower, diagonal) = (finest.lower[row], finest.diagonal[row]);
                    if lower == f64::NEG_INFINITY || diagonal <= 0.0 || is_coupled(row) {
                        continue;
                    }
                    let links = rows.row[row].links();
                    let unknown = rows.row[row].unknown as usize;
                    let mut sum = -finest.b[unknown];
                    for (link, weight) in rows.link[links.clone()].iter().zip(&finest.weight[links])
                    {
                        sum += weight * other[link.target as usize - first_other];
                    }
                    p[unknown - chunk.unknowns.start] = (sum / diagonal).max(lower);
                }
            });
            if let Some((coupled, velocity)) = coupled.as_ref().zip(velocity.as_mut()) {
                let colour = match half % 2 {
                    0 => 0..top.red,
                    _ => top.red..top.unknowns,
                };
                coupled.relax_bounded(hierarchy, colour, &mut self.p, velocity);
            }
        }
    }

    /// Adds the correction, shortened until the energy does not rise.
    fn advance<const D: usize>(
        &mut self,
        hierarchy: &mut Hierarchy<D>,
        coupled: &mut Option<Coupled<'_, '_>>,
        settings: &Settings,
        last: &Found,
        (mut length, conjugate): (f64, bool),
    ) -> Result<Found, Status> {
        let top = hierarchy.top();
        let finite = |part: &[f32]| part.iter().fold(true, |all, e| all & e.is_finite());
        if !top.e.par_chunks(CHUNK).with_min_len(FEWEST).all(finite) {
            return Err(Status::NonFinite);
        }
        let (before, p) = (self.before.par_iter_mut().zip(&top.rows.row), &self.p);
        before
            .with_min_len(ENTRIES)
            .for_each(|(before, row)| *before = p[row.unknown as usize]);
        // Without an energy there is no telling how long a step should be.
        let has_energy = coupled.as_ref().is_none_or(|coupled| coupled.has_energy());
        self.step_by(hierarchy, 0.0, length);
        if conjugate {
            // Relaxing bounded rows would spoil the directions, and is not needed while none of them wants to change sides.
            let found = self.measure(hierarchy, coupled);
            let stays =
                (found.energy <= last.energy || !has_energy) && found.release <= settings.tolerance;
            if stays && !self.is_cut_off(hierarchy) {
                return Ok(found);
            }
        }
        for _ in 0..MOST_HALVINGS {
            if coupled.is_some() {
                self.respond(hierarchy, coupled);
            }
            self.relax_bounded(hierarchy, coupled, settings.bound_sweeps);
            let found = self.measure(hierarchy, coupled);
            let rounding = ROUNDING * last.size.max(found.size);
            if found.energy <= last.energy + rounding || !has_energy {
                return Ok(found);
            }
            let shorter = 0.5 * length;
            self.step_by(hierarchy, length, shorter);
            length = shorter;
            self.halvings += 1;
        }
        self.step_by(hierarchy, length, 0.0);
        Err(Status::NonDescent)
    }

    /// Whether a free row has come to its bound.
    fn is_cut_off<const D: usize>(&self, hierarchy: &Hierarchy<D>) -> bool {
        let (top, lower) = (hierarchy.top(), &hierarchy.finest.lower);
        let rows = top.rows.row.iter().zip(lower);
        rows.filter(|(row, _)| row.inverse != 0.0)
            .any(|(row, &lower)| self.p[row.unknown as usize] <= lower)
    }

    /// Replaces a step of one length by one of another.
    fn step_by<const D: usize>(&mut self, hierarchy: &Hierarchy<D>, taken: f64, length: f64) {
        let (top, lower) = (hierarchy.top(), &hierarchy.finest.lower);
        let (before, step) = (&self.before, self.step);
        each(&top.chunks, &mut self.p, &|chunk: &Chunk, p: &mut [f64]| {
            let e = &top.e[chunk.unknowns.clone()];
            for (p, &e) in p.iter_mut().zip(e) {
                *p += (length - taken) * step * e as f64;
            }
            for row in chunk.rows.clone() {
                let unknown = top.rows.row[row].unknown as usize;
                let p = &mut p[unknown - chunk.unknowns.start];
                *p = (before[row] + length * step * top.e[unknown] as f64).max(lower[row]);
            }
        });
    }
}
