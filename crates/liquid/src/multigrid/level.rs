//! One level: its unknowns, how they are coupled, and how they are stored.
//!
//! Unknowns are numbered by colour of the checkerboard, then line by line along the last axis. Only unknowns that exist have
//! a number, and several may share a cell (then all but the largest come last in their colour). Where a run of
//! unknowns of one colour is *regular* (all couplings full, nothing else), its neighbours along each side are runs of
//! the other colour, contiguous too: there the operator is a stencil that loads no weights. All other unknowns are
//! *rows* with a list of links.

use std::ops::Range;

use rayon::prelude::*;

use super::chunks::Chunk;
use crate::disjoint_slice::DisjointSlice;
use crate::grid::tiles::Coord;
use crate::growth::Growth;

/// No unknown, or no row.
pub(super) const NONE: u32 = u32::MAX;

/// Neighbours of an unknown that is not regular: no two sides of a cell have the same.
pub(super) const fn nobody<const D: usize>() -> [[u32; 2]; D] {
    [[0; 2]; D]
}

/// Unknowns that one task works on. Chunks depend on the problem only, and so does every sum over them.
pub(super) const CHUNK: usize = 512;

/// Chunks that one task does at least where each takes little time: fewer are faster done than handed to another thread.
pub(super) const FEWEST: usize = 32;

/// The same for entries of a list.
pub(super) const ENTRIES: usize = 2048;

/// Unknowns of one line and colour, in rising order along the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<const D: usize> {
    /// Coordinates of the line; zero along it.
    pub line: Coord<D>,
    pub first: u32,
    pub end: u32,
}

/// Consecutive regular unknowns of one colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<const D: usize> {
    pub first: u32,
    pub length: u32,
    /// Neighbours of the first; those of the others follow one by one.
    pub near: [[u32; 2]; D],
    /// Red children of the first, `2^(D-1)` of them; those of the others follow two by two.
    pub children: [u32; 4],
}

/// An unknown that is not regular.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub unknown: u32,
    /// Its links are `first..end`.
    pub first: u32,
    pub end: u32,
    /// One over the diagonal, zero where the unknown is not free.
    pub inverse: f32,
}

impl Row {
    #[inline]
    pub fn links(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub target: u32,
    pub weight: f32,
}

/// Unknowns that are not regular, in rising order.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub row: Vec<Row>,
    pub link: Vec<Link>,
    /// The side of the cell through which a link leaves: twice the axis, plus one on the high side.
    pub side: Vec<u8>,
    /// What the diagonal of a row has beyond the weights of its links.
    pub dirichlet: Vec<f32>,
}

impl Rows {
    pub fn clear(&mut self) {
        self.row.clear();
        self.link.clear();
        self.side.clear();
        self.dirichlet.clear();
    }

    pub fn len(&self) -> usize {
        self.row.len()
    }

    /// The links of a row.
    #[inline]
    pub fn links(&self, row: usize) -> &[Link] {
        &self.link[self.row[row].links()]
    }

    /// Adds rows whose links are counted from their own first; returns how many there were before.
    pub fn append(&mut self, other: &Rows) -> u32 {
        let (before, links) = (self.row.len() as u32, self.link.len() as u32);
        self.row.extend(other.row.iter().map(|row| Row {
            first: row.first + links,
            end: row.end + links,
            ..*row
        }));
        self.link.extend_from_slice(&other.link);
        self.side.extend_from_slice(&other.side);
        self.dirichlet.extend_from_slice(&other.dirichlet);
        before
    }

    /// Begins a row; links follow.
    pub fn push(&mut self, unknown: u32) {
        let first = self.link.len() as u32;
        self.row.push(Row {
            unknown,
            first,
            end: first,
            inverse: 0.0,
        });
        self.dirichlet.push(0.0);
    }

    /// Adds a link to the row that was begun last.
    pub fn push_link(&mut self, target: u32, side: u8, weight: f32) {
        self.link.push(Link { target, weight });
        self.side.push(side);
        if let Some(row) = self.row.last_mut() {
            row.end += 1;
        }
    }
}

/// One over the diagonal of a row, zero if it is not free.
pub(super) fn inverse(weights: impl Iterator<Item = f32>, dirichlet: f32, free: bool) -> f32 {
    let diagonal = weights.sum::<f32>() + dirichlet;
    if free && diagonal > 0.0 {
        1.0 / diagonal
    } else {
        0.0
    }
}

/// A level of the hierarchy.
#[derive(Clone, Debug, Default)]
pub(super) struct Level<const D: usize> {
    pub unknowns: usize,
    /// The first so many unknowns are red.
    pub red: usize,
    /// Weight of a full face, `4^-l`: everything is in units of the finest one.
    pub full_weight: f32,

    pub spans: Vec<Span<D>>,
    /// Coordinate along the line of every unknown.
    pub along: Vec<i32>,
    /// Which corner of its coarse cell an unknown's cell is, a bit an axis.
    pub octant: Vec<u8>,

    pub runs: Vec<Run<D>>,
    pub rows: Rows,
    pub chunks: Vec<Chunk>,
    /// The row of every unknown, [`NONE`] of regular ones.
    pub row_of: Vec<u32>,
    /// Neighbours of every regular unknown, [`nobody`] of others.
    pub near: Vec<[[u32; 2]; D]>,
    /// Whether the unknown fills its cell and none of the finest rows below it can ever be at a bound.
    pub whole: Vec<bool>,
    /// Which children are free, a bit an octant; on the finest level 1 if the unknown is.
    pub free: Vec<u8>,
    /// Which children there are.
    pub present: Vec<u8>,

    /// On the coarser level; one past its last unknown if there is none.
    pub parent: Vec<u32>,
    /// Children of unknown `i`, in rising order, are `child[child_start[i]..child_start[i + 1]]`.
    pub child_start: Vec<u32>,
    pub child: Vec<u32>,

    /// The correction, and a zero at the end for those who have no parent.
    pub e: Vec<f32>,
    /// The residual it is for.
    pub r: Vec<f32>,
    /// What of it is left on red unknowns after the way down.
    pub left: Vec<f32>,
}

impl<const D: usize> Level<D> {
    /// Every link of an unknown: where to, its weight and its side.
    #[inline(always)]
    pub fn links(&self, unknown: usize) -> impl Iterator<Item = (u32, f32, u8)> {
        let row = self.row_of[unknown];
        let links = match row {
            NONE => 0..2 * D,
            row => self.rows.row[row as usize].links(),
        };
        links.map(move |l| match row {
            NONE => (self.near[unknown][l / 2][l % 2], self.full_weight, l as u8),
            _ => {
                let Link { target, weight } = self.rows.link[l];
                (target, weight, self.rows.side[l])
            }
        })
    }

    #[inline]
    pub fn is_free(&self, unknown: u32) -> bool {
        self.free[unknown as usize] != 0
    }

    pub fn children(&self, unknown: usize) -> &[u32] {
        &self.child[self.child_start[unknown] as usize..self.child_start[unknown + 1] as usize]
    }

    /// `1 / diagonal` of a row, zero if it is not free.
    pub fn invert_diagonal(&mut self, row: usize) {
        let (links, dirichlet) = (self.rows.links(row), self.rows.dirichlet[row]);
        let free = self.is_free(self.rows.row[row].unknown);
        let weights = links.iter().map(|link| link.weight);
        self.rows.row[row].inverse = inverse(weights, dirichlet, free);
    }

    /// Room for the cycle, and the runs and chunks of what [`near`](Self::near) and [`row_of`](Self::row_of) say; of a problem
    /// whose cycles are shared among threads, or not.
    pub fn finish(&mut self, is_shared: bool) {
        let n = self.unknowns;
        for values in [&mut self.e, &mut self.r] {
            values.clear();
            values.resize_closely(n + 1, 0.0);
        }
        self.left.clear();
        self.left.resize_closely(self.red, 0.0);
        self.find_runs(is_shared);
    }

    fn find_runs(&mut self, is_shared: bool) {
        let mut chunks = std::mem::take(&mut self.chunks);
        chunks.clear();
        for colour in [0..self.red, self.red..self.unknowns] {
            chunks.extend(colour.clone().step_by(CHUNK).map(|first| Chunk {
                is_shared,
                unknowns: first..(first + CHUNK).min(colour.end),
                runs: 0..0,
                rows: 0..0,
            }));
        }
        // Looked for twice: first to know how many there are.
        chunks
            .par_iter_mut()
            .with_min_len(FEWEST)
            .for_each(|chunk| {
                chunk.runs.end = self.runs_in(chunk.unknowns.clone(), |_| ());
                let row_of = &self.row_of[chunk.unknowns.clone()];
                chunk.rows.end = row_of.iter().filter(|&&row| row != NONE).count();
            });
        let (mut run, mut row) = (0, 0);
        for chunk in &mut chunks {
            chunk.runs = run..run + chunk.runs.end;
            chunk.rows = row..row + chunk.rows.end;
            (run, row) = (chunk.runs.end, chunk.rows.end);
        }
        let mut runs = std::mem::take(&mut self.runs);
        let nothing = Run {
            first: 0,
            length: 0,
            near: nobody(),
            children: [0; 4],
        };
        runs.resize_closely(run, nothing);
        let places = DisjointSlice::new(&mut runs);
        chunks.par_iter().with_min_len(FEWEST).for_each(|chunk| {
            let mut place = chunk.runs.start;
            self.runs_in(chunk.unknowns.clone(), |run| {
                // SAFETY: every chunk has places of its own.
                unsafe { places.set(place, run) };
                place += 1;
            });
        });
        (self.runs, self.chunks) = (runs, chunks);
    }

    /// Calls `found` with every run among these unknowns, and returns how many there are.
    fn runs_in(&self, unknowns: Range<usize>, mut found: impl FnMut(Run<D>)) -> usize {
        let mut count = 0;
        let mut last: Option<Run<D>> = None;
        for unknown in unknowns {
            if self.row_of[unknown] != NONE {
                continue;
            }
            let here = self.run_from(unknown);
            match &mut last {
                Some(run) if follows(run, &here) => run.length += 1,
                _ => {
                    count += 1;
                    if let Some(run) = last.replace(here) {
                        found(run);
                    }
                }
            }
        }
        if let Some(run) = last {
            found(run);
        }
        count
    }

    fn run_from(&self, unknown: usize) -> Run<D> {
        let mut children = [0; 4];
        if !self.child_start.is_empty() {
            // A regular unknown has all its children, half of them red, and red ones come first.
            let all = self.children(unknown);
            let red = 1 << (D - 1);
            children[..red].copy_from_slice(&all[..red]);
        }
        Run {
            first: unknown as u32,
            length: 1,
            near: self.near[unknown],
            children,
        }
    }

    /// Chunks of red unknowns, and of black ones.
    pub fn coloured_chunks(&self) -> [&[Chunk]; 2] {
        let red = self.red.div_ceil(CHUNK);
        [&self.chunks[..red], &self.chunks[red..]]
    }
}

/// Whether a run of one unknown continues another run.
fn follows<const D: usize>(run: &Run<D>, next: &Run<D>) -> bool {
    let length = run.length;
    let half = 1 << (D - 1);
    run.first + length == next.first
        && (0..D).all(|a| (0..2).all(|s| run.near[a][s] + length == next.near[a][s]))
        && (run.children == [0; 4] && next.children == [0; 4]
            || (0..half).all(|m| run.children[m] + 2 * length == next.children[m]))
}
