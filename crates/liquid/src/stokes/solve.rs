//! The solve: drops directly, the rest by FGMRES with one coupled V-cycle per iteration.

use meniscus_lcp::{InputError, reduce};

use super::bodies::{BodiesInLiquid, BodyFaces};
use super::components;
use super::cycle::Cycle;
use super::direct::Direct;
use super::fgmres::{self, Preconditioned};
use super::kernels::{Pair, residual};
use super::motion::Motion;
use super::system::System;
use crate::compiled::Compiled;

/// Connected parts with at most so many unknowns are solved directly.
const DROP: usize = 800;

/// Stopping criteria.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Norm of the residual, relative to that of the right-hand side. Default: 1e-6.
    pub tolerance: f64,
    /// Iterations. Default: 100.
    pub max_iterations: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            max_iterations: 100,
        }
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The tolerance is met.
    Converged,
    /// The iteration limit was reached, or the residual no longer falls.
    Unconverged,
    /// A number is not finite.
    NonFinite,
}

/// Report of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Iterations of FGMRES.
    pub iterations: usize,
    /// Norm of the residual relative to that of the right-hand side, recomputed.
    pub residual: f64,
    /// Levels of the multigrid hierarchy.
    pub levels: usize,
    /// Unknowns that were solved directly as drops.
    pub in_drops: usize,
    /// Difference of the velocities of bodies between liquid and contacts, where contacts did not settle; else zero.
    pub unsettled: f64,
}

impl Report {
    /// Of no solve.
    pub(crate) const NONE: Self = Self {
        status: Status::Converged,
        iterations: 0,
        residual: 0.0,
        levels: 0,
        in_drops: 0,
        unsettled: 0.0,
    };
}

/// A system with its multigrid hierarchy, ready to be solved for right-hand sides.
pub struct Solver<'a, const D: usize> {
    system: &'a System<D>,
    cycle: Cycle<D>,
    drops: Direct,
    x: Pair<D, f64>,
    r: Pair<D, f64>,
    zero: Pair<D, f64>,
    /// Bodies, whose unknowns follow those of the system.
    bodies: Option<&'a BodyFaces>,
    motion: Motion,
}

impl<'a, const D: usize> Solver<'a, D> {
    /// Builds the hierarchy.
    ///
    /// # Errors
    /// If a coefficient is not finite.
    pub fn new(system: &'a System<D>) -> Result<Self, InputError> {
        (Compiled::get().stokes_solver)(system)
    }

    pub(crate) fn new_impl(system: &'a System<D>) -> Result<Self, InputError> {
        Self::with_bodies(system, None)
    }

    /// With bodies whose motion is [set](Self::set_motion) before the first solve.
    pub(crate) fn with_bodies(
        system: &'a System<D>,
        bodies: Option<BodiesInLiquid<'a, D>>,
    ) -> Result<Self, InputError> {
        let none = BodyFaces::default();
        let faces = bodies.as_ref().map_or(&none, |bodies| bodies.faces);
        let drops = match system.len() <= DROP {
            true => Default::default(),
            false => components::drops(&system.level, DROP, faces),
        };
        let tiles = &system.level.tiles;
        Ok(Self {
            bodies: bodies.as_ref().map(|bodies| bodies.faces),
            motion: Motion::default(),
            cycle: Cycle::new(system, &drops, bodies.as_ref())?,
            drops: Direct::new(&system.level, drops)?,
            x: Pair::zeros(tiles),
            r: Pair::zeros(tiles),
            zero: Pair::zeros(tiles),
            system,
        })
    }

    /// Says how the bodies respond.
    pub(crate) fn set_motion(&mut self, motion: &Motion) {
        self.cycle.set_motion(motion);
        self.motion = motion.clone();
    }

    /// Solves `K x = b`, starting from `x`. The right-hand side must be [solvable](System::make_solvable).
    pub fn solve(&mut self, b: &[f64], settings: &Settings, x: &mut [f64]) -> Report {
        (Compiled::get().stokes_solve)(self, b, settings, x)
    }

    pub(crate) fn solve_impl(&mut self, b: &[f64], settings: &Settings, x: &mut [f64]) -> Report {
        self.solve_drops(b, x);
        self.choose_start(b, x);
        let norm = reduce::sum_of_squares(b).sqrt();
        let limit = settings.tolerance * norm;
        let mut r = vec![0.0; b.len()];
        let mut report = Report {
            levels: self.cycle.levels(),
            in_drops: self.drops.solution().1.len(),
            ..Report::NONE
        };
        let mut last = f64::INFINITY;
        loop {
            self.apply(x, &mut r);
            r.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
            let left = reduce::sum_of_squares(&r).sqrt();
            report.residual = if norm > 0.0 { left / norm } else { left };
            report.status = match left {
                left if !left.is_finite() => Status::NonFinite,
                left if left <= limit => Status::Converged,
                _ => Status::Unconverged,
            };
            // The rotations may be ahead of the true residual by rounding: then it continues from there.
            let stalled = left > 0.5 * last;
            if report.status != Status::Unconverged
                || report.iterations >= settings.max_iterations
                || stalled
            {
                return report;
            }
            last = left;
            let most = settings.max_iterations - report.iterations;
            report.iterations += fgmres::solve(self, &r, x, limit, most).iterations;
        }
    }

    /// Zeros in place of a start that is worse: the stresses of a rough velocity in thick liquid are far larger than those of the
    /// solution.
    fn choose_start(&mut self, b: &[f64], x: &mut [f64]) {
        let mut r = vec![0.0; b.len()];
        let mut left = |solver: &mut Self, x: &[f64]| {
            solver.apply(x, &mut r);
            r.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
            reduce::sum_of_squares(&r)
        };
        let given = left(self, x);
        let mut none = vec![0.0; b.len()];
        self.solve_drops(b, &mut none);
        // A start that is not finite is not kept either.
        let is_better = given <= left(self, &none);
        if !is_better {
            x.copy_from_slice(&none);
        }
    }

    /// Replaces the entries of drops by their solution.
    fn solve_drops(&mut self, b: &[f64], x: &mut [f64]) {
        if self.drops.solution().1.is_empty() {
            return;
        }
        let mut fields = std::mem::replace(
            &mut self.r,
            Pair {
                t: std::array::from_fn(|_| Vec::new()),
                q: Vec::new(),
            },
        );
        self.system.scatter(b, &mut fields);
        self.drops.solve(|places, rhs| {
            let faces = places
                .faces
                .iter()
                .map(|&(axis, index)| fields.t[axis as usize][index as usize]);
            let cells = places.cells.iter().map(|&index| fields.q[index as usize]);
            rhs.iter_mut()
                .zip(faces.chain(cells))
                .for_each(|(rhs, b)| *rhs = b);
        });
        self.system.scatter(x, &mut fields);
        let (places, solution) = self.drops.solution();
        let (t, q) = solution.split_at(places.faces.len());
        for (&(axis, index), &t) in places.faces.iter().zip(t) {
            fields.t[axis as usize][index as usize] = t;
        }
        for (&index, &q) in places.cells.iter().zip(q) {
            fields.q[index as usize] = q;
        }
        gather(self.system, &fields, 1.0, x);
        self.r = fields;
    }
}

/// Collects the unknowns from the grid, times `by`.
fn gather<const D: usize>(system: &System<D>, from: &Pair<D, f64>, by: f64, x: &mut [f64]) {
    let faces = system.faces().map(|(axis, index)| from.t[axis][index]);
    let cells = system.cells().map(|index| from.q[index]);
    x.iter_mut()
        .zip(faces.chain(cells))
        .for_each(|(x, from)| *x = by * from);
}

impl<const D: usize> Preconditioned for Solver<'_, D> {
    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        self.system.scatter(x, &mut self.x);
        let of_bodies = &x[self.system.len()..];
        let v = self.motion.apply(of_bodies);
        if let Some(bodies) = self.bodies {
            bodies.fluxes(&v, |axis, index, mass, flux| {
                if mass == 0.0 {
                    self.x.t[axis][index] = flux;
                }
            });
        }
        residual(&self.system.level, &self.zero, &self.x, &mut self.r);
        if let Some(bodies) = self.bodies {
            bodies.fluxes(&v, |axis, index, mass, flux| {
                self.r.t[axis][index] += mass * flux;
            });
        }
        gather(self.system, &self.r, -1.0, y);
        if let Some(bodies) = self.bodies {
            let pulled = bodies.gradient(&self.system.level, &self.x, &v);
            let rows = of_bodies.iter().zip(self.motion.transposed(&pulled));
            let own = &mut y[self.system.len()..];
            own.iter_mut()
                .zip(rows)
                .for_each(|(y, (own, pulled))| *y = own + pulled);
        }
    }

    fn precondition(&mut self, v: &[f64], z: &mut [f32]) {
        // The cycle is linear but for rounding, so that any scale will do for its single precision.
        let largest = reduce::largest(v);
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let b = self.cycle.b();
        let (t, q) = v.split_at(self.system.velocities());
        for ((axis, index), &v) in self.system.faces().zip(t) {
            b.t[axis][index] = (scale * v) as f32;
        }
        for (index, &v) in self.system.cells().zip(q) {
            b.q[index] = (scale * v) as f32;
        }
        let first = self.system.len();
        if let Some((rows, _)) = self.cycle.body_rows() {
            *rows = v[first..].iter().map(|v| scale * v).collect();
        }
        let x = self.cycle.run();
        let faces = self.system.faces().map(|(axis, index)| x.t[axis][index]);
        let cells = self.system.cells().map(|index| x.q[index]);
        z.iter_mut()
            .zip(faces.chain(cells))
            .for_each(|(z, x)| *z = x * largest as f32);
        if let Some((_, y)) = self.cycle.body_rows() {
            let own = z[first..].iter_mut().zip(y);
            own.for_each(|(z, y)| *z = (y * largest) as f32);
        }
    }
}
