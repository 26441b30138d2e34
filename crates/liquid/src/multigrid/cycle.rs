//! One V-cycle as a preconditioner.

use std::sync::{Mutex, MutexGuard, PoisonError};

use meniscus_lcp::precondition::Preconditioner;
use meniscus_lcp::{BoxMlcp, InputError};

use super::hierarchy::Hierarchy;
use crate::compiled::Compiled;
use crate::stencil::Stencil;

/// A V-cycle of the multigrid hierarchy, symmetric and positive definite, for conjugate gradients and for methods that work on
/// a part of the rows: those follow the rows that have a lower bound into the coarse levels.
#[derive(Debug, Default)]
pub struct Cycle<const D: usize> {
    // A preconditioner is applied by shared reference, and the cycle needs memory.
    state: Mutex<State<D>>,
    /// The mask of the last announcement.
    mask: Vec<bool>,
    sweeps: usize,
}

#[derive(Debug, Default)]
struct State<const D: usize> {
    hierarchy: Hierarchy<D>,
    /// Whether the hierarchy follows the mask at the moment.
    masked: bool,
}

impl<const D: usize> Cycle<D> {
    /// Builds the hierarchy of a problem, see [`solve`](super::solve()), with so many sweeps down and up.
    pub fn rebuild(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        sweeps: usize,
    ) -> Result<(), InputError> {
        (Compiled::get().rebuild_cycle)(self, problem, sweeps)
    }

    pub(crate) fn rebuild_impl(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        sweeps: usize,
    ) -> Result<(), InputError> {
        if sweeps == 0 {
            return Err(InputError::Setting {
                name: "sweeps",
                must: "at least 1",
            });
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !state.hierarchy.is_for(problem) {
            state.hierarchy.build(problem)?;
        }
        state.hierarchy.take(problem)?;
        state.follow(None);
        self.sweeps = sweeps;
        self.mask.clear();
        self.mask.resize(problem.len(), true);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State<D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<const D: usize> State<D> {
    fn follow(&mut self, mask: Option<&[bool]>) {
        let rows = std::mem::take(&mut self.hierarchy.finest.matrix_row);
        let at_bound = |unknown: usize| mask.is_some_and(|mask| !mask[rows[unknown] as usize]);
        self.hierarchy.activate(|_, unknown| at_bound(unknown));
        self.hierarchy.finest.matrix_row = rows;
        self.masked = mask.is_some();
    }

    /// `z = P r` on the rows that `keep` keeps, `z = r` elsewhere.
    fn apply(&mut self, sweeps: usize, keep: impl Fn(usize) -> bool, r: &[f64], z: &mut [f64]) {
        let largest = r.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        if !(largest > 0.0 && largest.is_finite()) {
            z.copy_from_slice(r);
            return;
        }
        let hierarchy = &mut self.hierarchy;
        let (top, finest) = (&mut hierarchy.levels[0], &hierarchy.finest);
        for (&row, scaled) in finest.matrix_row.iter().zip(&mut top.r) {
            let row = row as usize;
            *scaled = if keep(row) {
                (r[row] / largest) as f32
            } else {
                0.0
            };
        }
        for row in top.rows.row.iter().filter(|row| row.inverse == 0.0) {
            top.r[row.unknown as usize] = 0.0;
        }
        hierarchy.cycle(sweeps);
        let scale = largest / hierarchy.finest.full_weight;
        for (row, (z, &unknown)) in z.iter_mut().zip(&hierarchy.finest.unknown).enumerate() {
            *z = if keep(row) {
                scale * hierarchy.top().e[unknown as usize] as f64
            } else {
                r[row]
            };
        }
    }
}

impl<const D: usize> Cycle<D> {
    pub(crate) fn apply_impl(&self, r: &[f64], z: &mut [f64]) {
        let mut state = self.lock();
        if state.masked {
            state.follow(None);
        }
        state.apply(self.sweeps, |_| true, r, z);
    }

    pub(crate) fn apply_masked_impl(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        let mut state = self.lock();
        if !state.masked {
            state.follow(Some(&self.mask));
        }
        state.apply(self.sweeps, |row| active[row], r, z);
        meniscus_lcp::reduce::dot(r, z)
    }

    pub(crate) fn restrict_impl(&mut self, active: &[bool]) {
        self.mask.clear();
        self.mask.extend_from_slice(active);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.follow(Some(active));
    }
}

impl<const D: usize> Preconditioner for Cycle<D> {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        (Compiled::get().apply_cycle)(self, r, z);
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        (Compiled::get().apply_cycle_masked)(self, active, r, z)
    }

    fn restrict(&mut self, active: &[bool]) {
        (Compiled::get().restrict_cycle)(self, active);
    }
}
