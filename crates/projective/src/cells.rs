//! Sorting of particles by cell, and lists of their neighbours.

use rayon::prelude::*;

use crate::real::{Real, Vec4};
use crate::simd::{Width, for_every_width};

/// Lists are padded to a multiple of this with the index of a particle far away.
pub const LANES: usize = 8;
/// Particles of a chunk: lists are made and used chunk by chunk.
pub const CHUNK: usize = 512;
/// Share of the support by which lists reach farther, for particles that approach each other within a step. A pair that is
/// missed at 0.98 of the support weighs a hundred-thousandth.
const MARGIN: f64 = 0.02;
/// Where the particle of the padding is, in metres: farther than any support from every domain.
pub const FAR: f64 = 1e6;

/// Cells as wide as the support, in rows along the first axis. Rows are a table, the cells of a row a sorted list: only the
/// area across the rows costs memory, however far spray flies.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    low: [f64; 3],
    per_metre: f64,
    rows: [usize; 2],
    /// First entry of `cells` of every row, and one more.
    row_start: Vec<u32>,
    /// Column of each occupied cell and its first particle; one more at the end.
    cells: Vec<(u32, u32)>,
}

/// A key that orders particles: row, column, identifier, and the index in the old order.
type Key = (u64, u64, u32);

impl Cells {
    /// Cells of particles, and the order of the particles by cell and then by identifier: it does not depend on the order in
    /// which they are given.
    pub fn new<R: Real>(position: &[Vec4<R>], id: &[u64], support: f64) -> (Self, Vec<u32>) {
        let width = support * (1.0 + MARGIN);
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for x in position {
            for axis in 0..3 {
                low[axis] = low[axis].min(x.0[axis].wide());
                high[axis] = high[axis].max(x.0[axis].wide());
            }
        }
        if position.is_empty() {
            (low, high) = ([0.0; 3], [0.0; 3]);
        }
        let per_metre = 1.0 / width;
        let count = |axis: usize| ((high[axis] - low[axis]) * per_metre) as usize + 1;
        let rows = [count(1), count(2)];
        let mut cells = Self {
            low,
            per_metre,
            rows,
            row_start: vec![0; rows[0] * rows[1] + 1],
            cells: Vec::with_capacity(position.len() / 4 + 1),
        };
        let mut keys: Vec<Key> = position
            .par_iter()
            .zip(id)
            .enumerate()
            .map(|(i, (x, &id))| {
                let (row, column) = cells.place(x);
                (((row as u64) << 32) | column as u64, id, i as u32)
            })
            .collect();
        keys.par_sort_unstable();
        for (sorted, &(cell, _, _)) in keys.iter().enumerate() {
            let (row, column) = ((cell >> 32) as usize, cell as u32);
            let is_new = sorted == 0 || keys[sorted - 1].0 != cell;
            if is_new {
                cells.cells.push((column, sorted as u32));
                cells.row_start[row + 1] += 1;
            }
        }
        for row in 0..rows[0] * rows[1] {
            cells.row_start[row + 1] += cells.row_start[row];
        }
        cells.cells.push((u32::MAX, position.len() as u32));
        (cells, keys.into_iter().map(|(_, _, i)| i).collect())
    }

    /// Row and column of a point within the bounds of the particles.
    fn place<R: Real>(&self, x: &Vec4<R>) -> (usize, usize) {
        let cell = |axis: usize| ((x.0[axis].wide() - self.low[axis]) * self.per_metre) as usize;
        (
            cell(2).min(self.rows[1] - 1) * self.rows[0] + cell(1).min(self.rows[0] - 1),
            cell(0),
        )
    }

    /// Calls `run` with every run of sorted particles in the cells around a point.
    fn around<R: Real>(&self, x: &Vec4<R>, mut run: impl FnMut(usize, usize)) {
        let (row, column) = self.place(x);
        let (j, k) = (row % self.rows[0], row / self.rows[0]);
        for k in k.saturating_sub(1)..=(k + 1).min(self.rows[1] - 1) {
            for j in j.saturating_sub(1)..=(j + 1).min(self.rows[0] - 1) {
                let row = k * self.rows[0] + j;
                let (first, last) = (
                    self.row_start[row] as usize,
                    self.row_start[row + 1] as usize,
                );
                let row = &self.cells[first..last];
                let from = row.partition_point(|&(c, _)| (c as usize) + 1 < column);
                let to = row.partition_point(|&(c, _)| c as usize <= column + 1);
                if from < to {
                    run(
                        self.cells[first + from].1 as usize,
                        self.cells[first + to].1 as usize,
                    );
                }
            }
        }
    }
}

/// Neighbours of the particles of a chunk, and what a linearisation keeps for each pair.
#[derive(Clone, Debug, Default)]
pub struct ListChunk<R> {
    /// First neighbour of each particle, and one more.
    pub start: Vec<u32>,
    /// Neighbours; the particle itself is none of them.
    pub neighbour: Vec<u32>,
    /// `s_ij = V W'(r) / r` of each pair.
    pub slope: Vec<R>,
}

impl<R: Real> ListChunk<R> {
    /// Range of the neighbours of a particle of the chunk.
    #[inline(always)]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.start[i] as usize..self.start[i + 1] as usize
    }
}

/// Lists of the neighbours of sorted particles at the positions `position`, which end with that of the padding.
pub fn lists<R: Real>(
    cells: &Cells,
    position: &[Vec4<R>],
    support: f64,
    chunks: &mut Vec<ListChunk<R>>,
) {
    let n = position.len() - 1;
    let reach = R::of((support * (1.0 + MARGIN)).powi(2));
    let width = Width::widest();
    chunks.resize_with(n.div_ceil(CHUNK), ListChunk::default);
    chunks.par_iter_mut().enumerate().for_each(|(chunk, list)| {
        list.start.clear();
        list.neighbour.clear();
        list.start.push(0);
        // Neighbours in the order of particles are often of one cell.
        let (mut runs, mut place) = (Vec::new(), None);
        for i in chunk * CHUNK..((chunk + 1) * CHUNK).min(n) {
            let own = cells.place(&position[i]);
            if place.replace(own) != Some(own) {
                runs.clear();
                cells.around(&position[i], |from, to| runs.push((from, to)));
            }
            neighbours_of::<R>(width, position, i, &runs, reach, &mut list.neighbour);
            while list.neighbour.len() % LANES != 0 {
                list.neighbour.push(n as u32);
            }
            list.start.push(list.neighbour.len() as u32);
        }
        list.slope.clear();
        list.slope.resize(list.neighbour.len(), R::ZERO);
    });
}

for_every_width! {
    /// Appends the particles of some runs whose squared distance from one is below `reach`.
    fn neighbours_of<R>(
        position: &[Vec4<R>],
        own: usize,
        runs: &[(usize, usize)],
        reach: R,
        found: &mut Vec<u32>,
    ) {
        let most: usize = runs.iter().map(|(from, to)| to - from).sum();
        let mut len = found.len();
        found.resize(len + most, 0);
        let x = position[own];
        for &(from, to) in runs {
            for (j, other) in (from as u32..).zip(&position[from..to]) {
                // Without branches: every candidate is written, and overwritten unless it is a neighbour.
                let apart = *other - x;
                found[len] = j;
                len += usize::from((apart.dot(apart) < reach) & (j as usize != own));
            }
        }
        found.truncate(len);
    }
}
