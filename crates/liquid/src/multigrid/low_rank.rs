//! A term of low rank, `C'W C`, carried through all levels. [TB20 (9)]
//!
//! Rigid bodies respond to the pressure by a few numbers each: a body that is pushed moves as a whole, and the divergence
//! in all cells around it changes. Beside the stencil `L` of a level stands `2^(-D l) C_l' W C_l`, where a column of `C_l` is
//! the sum of the columns of an unknown's free children. The smoother contains the term exactly: with the sweep `M` of the
//! stencil, one of the whole matrix is
//!
//! ```text
//! M_A = M + C'W C,    inv(M_A) = inv(M) - Z K C inv(M),    Z = inv(M) C',    K = inv(inv(W) + C Z)
//! ```
//!
//! and `M_A + M_A' - A = M + M' - L + C'W C` is positive definite whatever `W` is, so that it always converges. With the term in
//! the residual alone the cycle diverges as soon as bodies are light or thin on a coarse level.
//! After a sweep that ends with black unknowns their residual is zero, as without the term.
//!
//! `inv(W)` is sparse where `W` is not: masses, and the stiffness of contacts between bodies that touch. `C Z` has blocks for
//! bodies that share cells. So `K` is applied by sparse factors, see [`Stiffness`].

use super::level::{Level, NONE};
use super::stiffness::{Factor, SquareBlock, Stiffness};

/// Unknowns of a group at most: translations and rotations of a body in space.
pub const FREEDOMS: usize = 6;

/// Unknowns of a group in `D` dimensions: translations, then rotations.
pub const fn freedoms<const D: usize>() -> usize {
    D * (D + 1) / 2
}

/// What the motion of a group adds to a row: a block of `C'`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplingEntry {
    /// Row of the stencil.
    pub row: u32,
    /// Group of degrees of freedom.
    pub group: u32,
    /// Translations, then rotations; the first [`freedoms`] count.
    pub value: [f64; FREEDOMS],
}

/// A block of `C'` or of `Z` on a level.
#[derive(Clone, Copy, Debug)]
struct Entry {
    unknown: u32,
    group: u32,
    value: [f32; FREEDOMS],
}

/// The direction of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sweep {
    /// Red, then black.
    Down,
    /// Black, then red.
    Up,
}

/// The term on all levels.
#[derive(Clone, Debug, Default)]
pub(super) struct LowRank {
    /// Degrees of freedom of all rows of `inv(W)`; zero without a term.
    size: usize,
    /// `inv(W)`, in the units of the levels.
    stiffness: Stiffness,
    /// Its factors.
    factor: Factor,
    levels: Vec<LevelTerm>,
}

/// The term on one level.
#[derive(Clone, Debug, Default)]
struct LevelTerm {
    /// `C'`, by unknown and group; free unknowns only.
    entries: Vec<Entry>,
    /// `Z` of both directions.
    ring: [Vec<Entry>; 2],
    /// Blocks of `C Z` of sweeps down; that of sweeps up is its transpose.
    gram: Vec<(u32, u32, SquareBlock)>,
    /// Factors of `inv(K)` of both directions.
    factor: [Factor; 2],
    /// `2^(-D l)`
    scale: f64,
    /// Right-hand side of the unknowns in `entries` without the term.
    saved: Vec<f32>,
    /// `C e` before the sweep.
    before: Vec<f64>,
    after: Vec<f64>,
}

/// One over the diagonal of an unknown; zero if it is not free.
fn inverse_of<const D: usize>(level: &Level<D>, unknown: usize) -> f32 {
    match level.row_of[unknown] {
        NONE => 1.0 / ((2 * D) as f32 * level.full_weight),
        row => level.rows.row[row as usize].inverse,
    }
}

fn scaled(value: [f32; FREEDOMS], by: f32) -> [f32; FREEDOMS] {
    value.map(|v| v * by)
}

/// Brings blocks into the order of unknowns and groups, and adds those of the same place.
fn join(entries: &mut Vec<Entry>) {
    entries.sort_by_key(|entry| (entry.unknown, entry.group));
    entries.dedup_by(|next, kept| {
        let same = (next.unknown, next.group) == (kept.unknown, kept.group);
        if same {
            for (kept, next) in kept.value.iter_mut().zip(next.value) {
                *kept += next;
            }
        }
        same
    });
}

/// `sum += C e`
fn gather<const D: usize>(entries: &[Entry], e: &[f32], sum: &mut Vec<f64>, size: usize) {
    let f = freedoms::<D>();
    sum.clear();
    sum.resize(size, 0.0);
    for entry in entries {
        let e = e[entry.unknown as usize] as f64;
        let sum = &mut sum[entry.group as usize * f..][..f];
        for (sum, value) in sum.iter_mut().zip(entry.value) {
            *sum += value as f64 * e;
        }
    }
}

/// A row of `C'` or `Z` times a vector.
fn block_dot<const D: usize>(entry: &Entry, x: &[f64]) -> f64 {
    let f = freedoms::<D>();
    let x = &x[entry.group as usize * f..][..f];
    x.iter().zip(entry.value).map(|(x, v)| x * v as f64).sum()
}

impl LowRank {
    /// Removes the term.
    pub fn clear(&mut self) {
        self.size = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Takes the blocks of the finest level, in units of a full face, and carries them to all levels. Rows at their bounds
    /// are left out: to be called again when they change, and [`set_stiffness`](Self::set_stiffness) after it.
    pub fn build<const D: usize>(
        &mut self,
        levels: &[Level<D>],
        groups: usize,
        entries: impl Iterator<Item = (u32, u32, [f64; FREEDOMS])>,
    ) {
        self.levels.resize_with(levels.len(), LevelTerm::default);
        let finest = entries.map(|(unknown, group, value)| Entry {
            unknown,
            group,
            value: value.map(|v| v as f32),
        });
        let mut own: Vec<Entry> = finest.collect();
        let mut places = Vec::new();
        let mut scale = 1.0;
        let mut finer: Option<&Level<D>> = None;
        for (term, level) in self.levels.iter_mut().zip(levels) {
            if let Some(finer) = finer {
                for entry in &mut own {
                    entry.unknown = finer.parent[entry.unknown as usize];
                }
            }
            // An unknown without a parent has the number after the last.
            own.retain(|entry| {
                let unknown = entry.unknown as usize;
                unknown < level.unknowns && inverse_of(level, unknown) != 0.0
            });
            join(&mut own);
            term.scale = scale;
            term.entries.clone_from(&own);
            term.make_rings(level);
            term.make_gram::<D>(groups, &mut places);
            scale /= (1 << D) as f64;
            finer = Some(level);
        }
    }

    /// Sets `inv(W)`, times a scale that makes its units those of the levels.
    pub fn set_stiffness<const D: usize>(&mut self, stiffness: &Stiffness, scale: f64) {
        stiffness.scale_to(&mut self.stiffness, scale);
        self.size = stiffness.rows * freedoms::<D>();
        self.factor = Factor::new::<D>(&self.stiffness, 1.0, &[], false);
        for term in &mut self.levels {
            for (factor, transposed) in term.factor.iter_mut().zip([false, true]) {
                *factor = Factor::new::<D>(&self.stiffness, term.scale, &term.gram, transposed);
            }
        }
    }

    /// Adds the term of the coarsest level to its matrix, `n` by `n`, of which the lower triangle counts.
    pub fn add_to<const D: usize>(&self, level: usize, matrix: &mut [f64], n: usize) {
        if self.is_empty() {
            return;
        }
        let (term, f) = (&self.levels[level], freedoms::<D>());
        let mut column = vec![0.0; self.size];
        for by_unknown in term.entries.chunk_by(|a, b| a.unknown == b.unknown) {
            column.fill(0.0);
            for entry in by_unknown {
                let place = &mut column[entry.group as usize * f..][..f];
                for (sum, value) in place.iter_mut().zip(entry.value) {
                    *sum += term.scale * value as f64;
                }
            }
            self.factor.solve(&mut column);
            let j = by_unknown[0].unknown as usize;
            for entry in &term.entries {
                let i = entry.unknown as usize;
                if j <= i {
                    matrix[i * n + j] += block_dot::<D>(entry, &column);
                }
            }
        }
    }

    /// Keeps the right-hand side of a level, whose correction is zero.
    pub fn start<const D: usize>(&mut self, at: usize, level: &Level<D>) {
        if self.is_empty() {
            return;
        }
        let term = &mut self.levels[at];
        term.saved.clear();
        let saved = term.entries.iter();
        term.saved
            .extend(saved.map(|entry| level.r[entry.unknown as usize]));
        term.before.clear();
        term.before.resize(self.size, 0.0);
    }

    /// Moves the term to the right-hand side, for the correction as it is.
    pub fn begin_sweep<const D: usize>(&mut self, at: usize, level: &mut Level<D>) {
        if self.is_empty() {
            return;
        }
        let term = &mut self.levels[at];
        gather::<D>(&term.entries, &level.e, &mut term.before, self.size);
        term.after.clone_from(&term.before);
        self.factor.solve(&mut term.after);
        term.restore(level);
        for entry in &term.entries {
            let change = term.scale * block_dot::<D>(entry, &term.after);
            level.r[entry.unknown as usize] -= change as f32;
        }
    }

    /// Makes a sweep of the stencil one of the whole matrix.
    pub fn end_sweep<const D: usize>(&mut self, at: usize, level: &mut Level<D>, sweep: Sweep) {
        if self.is_empty() {
            return;
        }
        let term = &mut self.levels[at];
        gather::<D>(&term.entries, &level.e, &mut term.after, self.size);
        for (after, before) in term.after.iter_mut().zip(&term.before) {
            *after -= before;
        }
        term.factor[sweep as usize].solve(&mut term.after);
        for entry in &term.ring[sweep as usize] {
            level.e[entry.unknown as usize] -= block_dot::<D>(entry, &term.after) as f32;
        }
    }

    /// Adds the correction of the coarser level to black unknowns with an entry. All others need none, see
    /// [`prolong`](super::kernels::prolong).
    pub fn prolong<const D: usize>(&self, at: usize, level: &mut Level<D>, coarse: &Level<D>) {
        if self.is_empty() {
            return;
        }
        let mut last = NONE;
        for entry in &self.levels[at].entries {
            let unknown = entry.unknown as usize;
            if unknown >= level.red && entry.unknown != last {
                level.e[unknown] += coarse.e[level.parent[unknown] as usize];
            }
            last = entry.unknown;
        }
    }

    /// Restores the right-hand side of a level.
    pub fn finish<const D: usize>(&self, at: usize, level: &mut Level<D>) {
        if !self.is_empty() {
            self.levels[at].restore(level);
        }
    }

    /// Adds the term's part of `A e` on the finest level, and returns that of `e'Ae`.
    pub fn add_product<const D: usize>(&self, e: &[f32], product: &mut [f32]) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let term = &self.levels[0];
        let mut moved = Vec::new();
        gather::<D>(&term.entries, e, &mut moved, self.size);
        let mut image = moved.clone();
        self.factor.solve(&mut image);
        for entry in &term.entries {
            product[entry.unknown as usize] += block_dot::<D>(entry, &image) as f32;
        }
        moved.iter().zip(&image).map(|(a, b)| a * b).sum()
    }
}

impl LevelTerm {
    fn restore<const D: usize>(&self, level: &mut Level<D>) {
        for (entry, &saved) in self.entries.iter().zip(&self.saved) {
            level.r[entry.unknown as usize] = saved;
        }
    }

    /// `Z = inv(M) C'`: one sweep from zero with every column of `C'` as right-hand side.
    fn make_rings<const D: usize>(&mut self, level: &Level<D>) {
        let is_red = |entry: &Entry| (entry.unknown as usize) < level.red;
        for (sweep, ring) in self.ring.iter_mut().enumerate() {
            let is_first = |entry: &Entry| is_red(entry) == (sweep == Sweep::Down as usize);
            ring.clear();
            let (first, second): (Vec<Entry>, Vec<Entry>) =
                self.entries.iter().partition(|entry| is_first(entry));
            let mut others = second;
            for mut entry in first {
                let unknown = entry.unknown as usize;
                entry.value = scaled(entry.value, inverse_of(level, unknown));
                for (target, weight, _) in level.links(unknown) {
                    others.push(Entry {
                        unknown: target,
                        group: entry.group,
                        value: scaled(entry.value, weight),
                    });
                }
                ring.push(entry);
            }
            join(&mut others);
            for entry in &mut others {
                entry.value = scaled(entry.value, inverse_of(level, entry.unknown as usize));
            }
            ring.extend(others);
        }
    }

    /// `G = C Z`. `places` is scratch.
    fn make_gram<const D: usize>(&mut self, groups: usize, places: &mut Vec<u32>) {
        let f = freedoms::<D>();
        self.gram.clear();
        // Where the block of a pair is.
        places.clear();
        places.resize(groups * groups, NONE);
        let mut ring: Vec<&Entry> = self.ring[Sweep::Down as usize].iter().collect();
        ring.sort_unstable_by_key(|entry| (entry.unknown, entry.group));
        let mut from = 0;
        for entry in &self.entries {
            while from < ring.len() && ring[from].unknown < entry.unknown {
                from += 1;
            }
            for other in ring[from..]
                .iter()
                .take_while(|other| other.unknown == entry.unknown)
            {
                let place = &mut places[entry.group as usize * groups + other.group as usize];
                if *place == NONE {
                    *place = self.gram.len() as u32;
                    let block = [[0.0; FREEDOMS]; FREEDOMS];
                    self.gram.push((entry.group, other.group, block));
                }
                let block = &mut self.gram[*place as usize].2;
                for (row, value) in block[..f].iter_mut().zip(entry.value) {
                    for (sum, other) in row[..f].iter_mut().zip(other.value) {
                        *sum += value as f64 * other as f64;
                    }
                }
            }
        }
    }
}
