//! The levels, and a V-cycle through them.

use meniscus_lcp::{BoxMlcp, InputError};
use rayon::prelude::*;

use super::chunks::{SHARED, each};
use super::coarse_weights::{self, compute_all};
use super::coarsen::{self, coarsen};
use super::coarsest::{Coarsest, LARGEST};
use super::finest::Finest;
use super::kernels;
use super::level::{ENTRIES, Level};
use super::low_rank::{FREEDOMS, LowRank, Sweep};
use super::simd::Width;
use super::stiffness::Stiffness;
use crate::growth::Growth;
use crate::stencil::Stencil;

/// The smoother's colours.
const RED: usize = 0;
const BLACK: usize = 1;

/// All levels of a problem.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy<const D: usize> {
    /// The finest first. Only the first `depth` are in use.
    pub levels: Vec<Level<D>>,
    depth: usize,
    /// The stencil that the levels belong to.
    pub prepared: Option<u64>,
    pub finest: Finest,
    coarsest: Coarsest,
    /// What stands beside the stencil.
    pub low_rank: LowRank,
    coarsen: coarsen::Scratch<D>,
    pub weights: coarse_weights::Scratch,
    /// Which rows of the finest level change sides.
    turns: Vec<bool>,
    pub width: Width,
}

impl<const D: usize> Default for Hierarchy<D> {
    fn default() -> Self {
        Self {
            levels: vec![Level::default()],
            depth: 1,
            prepared: None,
            finest: Finest::default(),
            coarsest: Coarsest::default(),
            low_rank: LowRank::default(),
            coarsen: coarsen::Scratch::default(),
            weights: coarse_weights::Scratch::default(),
            turns: Vec::new(),
            width: Width::widest(),
        }
    }
}

impl<const D: usize> Hierarchy<D> {
    /// Builds the levels of a problem, with no row at its bound but those that are held.
    pub fn build(&mut self, problem: &BoxMlcp<Stencil<D>>) -> Result<(), InputError> {
        self.prepared = None;
        self.low_rank.clear();
        self.finest.read(problem, &mut self.levels[0])?;
        let is_shared = self.levels[0].unknowns >= SHARED;
        self.levels[0].finish(is_shared);
        self.depth = 1;
        while self.levels[self.depth - 1].unknowns > LARGEST {
            if self.levels.len() == self.depth {
                self.levels.push(Level::default());
            }
            let (fine, coarse) = self.levels.split_at_mut(self.depth);
            let (fine, coarse) = (&mut fine[self.depth - 1], &mut coarse[0]);
            coarsen(fine, coarse, &mut self.coarsen);
            if coarse.unknowns == 0 {
                break;
            }
            coarse.finish(is_shared);
            compute_all(fine, coarse, &mut self.weights);
            self.depth += 1;
        }
        // Coarse levels took held rows for free ones.
        let finest = &self.levels[0];
        self.weights.changed.clear();
        let rows = finest.rows.row.iter().map(|row| row.unknown);
        let held = rows.filter(|&unknown| !finest.is_free(unknown));
        self.weights.changed.extend(held);
        self.propagate();
        self.factorise();
        self.prepared = Some(problem.matrix().identity());
        Ok(())
    }

    /// How many rows are at their bounds.
    pub fn active(&self) -> usize {
        let level = &self.levels[0];
        let rows = level.rows.row.iter().zip(&self.finest.lower);
        let active =
            rows.filter(|(row, lower)| **lower != f64::NEG_INFINITY && !level.is_free(row.unknown));
        active.count()
    }

    /// Brings all levels up to date with what changed on the finest.
    pub fn follow_changes(&mut self) {
        if !self.weights.changed.is_empty() {
            self.propagate();
            self.factorise();
        }
    }

    /// Says which unknowns of the finest level are at their bounds: `at_bound(lower, unknown)` for those that have one.
    /// Returns how many changed sides.
    pub fn activate(&mut self, at_bound: impl Fn(f64, usize) -> bool + Sync) -> usize {
        self.weights.changed.clear();
        let finest = &mut self.levels[0];
        let (rows, free) = (&finest.rows.row, &finest.free);
        let bounded = |lower: f64| lower != f64::NEG_INFINITY;
        self.turns.resize_closely(rows.len(), false);
        let turns = self.turns.par_iter_mut().zip(rows).zip(&self.finest.lower);
        turns
            .with_min_len(ENTRIES)
            .for_each(|((turns, row), &lower)| {
                let unknown = row.unknown as usize;
                let is_free = free[unknown] != 0;
                *turns = bounded(lower) && is_free == at_bound(lower, unknown);
            });
        for row in 0..finest.rows.len() {
            if self.turns[row] {
                let unknown = finest.rows.row[row].unknown;
                finest.free[unknown as usize] ^= 1;
                finest.invert_diagonal(row);
                self.weights.changed.push(unknown);
            }
        }
        let changed = self.weights.changed.len();
        self.follow_changes();
        changed
    }

    fn propagate(&mut self) {
        for level in 1..self.depth {
            let (fine, coarse) = self.levels.split_at_mut(level);
            coarse_weights::update(&fine[level - 1], &mut coarse[0], &mut self.weights);
        }
    }

    fn factorise(&mut self) {
        let coarsest = &self.levels[self.depth - 1];
        if coarsest.unknowns <= LARGEST {
            let at = self.depth - 1;
            self.coarsest.factorise(coarsest, |matrix, n| {
                self.low_rank.add_to::<D>(at, matrix, n);
            });
        }
    }

    /// Puts a term of low rank beside the stencil, for the rows that are free now.
    pub fn couple(
        &mut self,
        groups: usize,
        entries: impl Iterator<Item = (u32, u32, [f64; FREEDOMS])>,
        (stiffness, scale): (&Stiffness, f64),
    ) {
        let levels = &self.levels[..self.depth];
        self.low_rank.build(levels, groups, entries);
        self.low_rank.set_stiffness::<D>(stiffness, scale);
        self.factorise();
    }

    /// Removes that term.
    pub fn uncouple(&mut self) {
        if !self.low_rank.is_empty() {
            self.low_rank.clear();
            self.factorise();
        }
    }

    /// Replaces the stiffness of that term.
    pub fn stiffen(&mut self, (stiffness, scale): (&Stiffness, f64)) {
        self.low_rank.set_stiffness::<D>(stiffness, scale);
        self.factorise();
    }

    /// The levels of the problem, the finest first.
    #[cfg(test)]
    pub fn in_use(&self) -> &[Level<D>] {
        &self.levels[..self.depth]
    }

    /// The finest level.
    pub fn top(&self) -> &Level<D> {
        &self.levels[0]
    }

    /// `e` of the finest level approximates `inv(A) r`: a V-cycle with so many sweeps down, and as many up.
    pub fn cycle(&mut self, sweeps: usize) {
        self.descend(0, sweeps);
    }

    fn descend(&mut self, at: usize, sweeps: usize) {
        let width = self.width;
        let last = at + 1 == self.depth;
        if last && self.levels[at].unknowns <= LARGEST {
            self.coarsest.solve(&mut self.levels[at]);
            return;
        }
        let (level, low_rank) = (&mut self.levels[at], &mut self.low_rank);
        low_rank.start(at, level);
        relax_alone(level, width);
        relax(level, width, BLACK);
        low_rank.end_sweep(at, level, Sweep::Down);
        for _ in 1..sweeps {
            low_rank.begin_sweep(at, level);
            relax(level, width, RED);
            relax(level, width, BLACK);
            low_rank.end_sweep(at, level, Sweep::Down);
        }
        if last {
            // Every unknown is alone: this was exact.
            low_rank.finish(at, level);
            return;
        }
        low_rank.begin_sweep(at, level);
        let mut left = std::mem::take(&mut level.left);
        each(level.coloured_chunks()[RED], &mut left, &|chunk, left| {
            kernels::residual(width, level, chunk, left);
        });
        let coarse = &mut self.levels[at + 1];
        let mut r = std::mem::take(&mut coarse.r);
        each(&coarse.chunks, &mut r, &|chunk, r| {
            kernels::restrict(width, coarse, &left, chunk, r);
        });
        coarse.r = r;
        self.levels[at].left = left;

        self.descend(at + 1, sweeps);

        let (fine, coarse) = self.levels.split_at_mut(at + 1);
        let (level, coarse) = (&mut fine[at], &coarse[0]);
        let low_rank = &mut self.low_rank;
        let mut e = std::mem::take(&mut level.e);
        each(level.coloured_chunks()[RED], &mut e, &|chunk, e| {
            kernels::prolong(width, level, &coarse.e, chunk, e);
        });
        level.e = e;
        low_rank.prolong(at, level, coarse);
        for _ in 0..sweeps {
            low_rank.begin_sweep(at, level);
            relax(level, width, BLACK);
            relax(level, width, RED);
            low_rank.end_sweep(at, level, Sweep::Up);
        }
        low_rank.finish(at, level);
    }
}

/// Relaxes one colour.
fn relax<const D: usize>(level: &mut Level<D>, width: Width, colour: usize) {
    let mut e = std::mem::take(&mut level.e);
    let (red, black) = e.split_at_mut(level.red);
    let (own, other, first_other) = if colour == RED {
        (red, &*black, level.red)
    } else {
        (black, &*red, 0)
    };
    each(level.coloured_chunks()[colour], own, &|chunk, e| {
        kernels::relax(width, level, &level.r, chunk, e, other, first_other);
    });
    level.e = e;
}

/// Relaxes the red unknowns while black ones are zero.
fn relax_alone<const D: usize>(level: &mut Level<D>, width: Width) {
    let mut e = std::mem::take(&mut level.e);
    each(level.coloured_chunks()[RED], &mut e, &|chunk, e| {
        kernels::relax_alone(width, level, &level.r, chunk, e);
    });
    level.e = e;
}
