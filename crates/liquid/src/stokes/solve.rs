//! The solve: drops directly, the rest by FGMRES with one coupled V-cycle per iteration.

use meniscus_lcp::{InputError, reduce};

use super::components;
use super::cycle::Cycle;
use super::direct::Direct;
use super::fgmres::{self, Preconditioned};
use super::kernels::{Pair, residual};
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
}

/// A system with its multigrid hierarchy, ready to be solved for right-hand sides.
pub struct Solver<'a, const D: usize> {
    system: &'a System<D>,
    cycle: Cycle<D>,
    drops: Direct,
    x: Pair<D, f64>,
    r: Pair<D, f64>,
    zero: Pair<D, f64>,
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
        let drops = match system.len() <= DROP {
            true => Default::default(),
            false => components::drops(&system.level, DROP),
        };
        let tiles = &system.level.tiles;
        Ok(Self {
            cycle: Cycle::new(system, &drops)?,
            drops: Direct::new(&system.level, drops)?,
            x: Pair::zeros(tiles),
            r: Pair::zeros(tiles),
            zero: Pair::zeros(tiles),
            system,
        })
    }

    /// Solves `K x = b`, starting from `x`. The right-hand side must be [solvable](System::make_solvable).
    pub fn solve(&mut self, b: &[f64], settings: &Settings, x: &mut [f64]) -> Report {
        (Compiled::get().stokes_solve)(self, b, settings, x)
    }

    pub(crate) fn solve_impl(&mut self, b: &[f64], settings: &Settings, x: &mut [f64]) -> Report {
        self.solve_drops(b, x);
        let norm = reduce::sum_of_squares(b).sqrt();
        let limit = settings.tolerance * norm;
        let mut r = vec![0.0; b.len()];
        let mut report = Report {
            status: Status::Converged,
            iterations: 0,
            residual: 0.0,
            levels: self.cycle.levels(),
            in_drops: self.drops.solution().1.len(),
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
        residual(&self.system.level, &self.zero, &self.x, &mut self.r);
        gather(self.system, &self.r, -1.0, y);
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
        let x = self.cycle.run();
        let faces = self.system.faces().map(|(axis, index)| x.t[axis][index]);
        let cells = self.system.cells().map(|index| x.q[index]);
        z.iter_mut()
            .zip(faces.chain(cells))
            .for_each(|(z, x)| *z = x * largest as f32);
    }
}
