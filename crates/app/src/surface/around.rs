//! The particles around a point.

use crate::cache::Frame;
use std::ops::Range;

/// Particles by cell, for asking what is near a point.
pub struct Around<'a, const D: usize> {
    frame: &'a Frame<D>,
    /// Cells that hold particles, in order, the last axis first, and where their particles begin in `order`.
    cells: Vec<([i32; D], u32)>,
    order: Vec<u32>,
}

impl<'a, const D: usize> Around<'a, D> {
    /// Sorts the particles of a frame.
    pub fn new(frame: &'a Frame<D>) -> Self {
        let mut keyed: Vec<([i32; D], u32)> = frame
            .positions
            .iter()
            .zip(0..)
            .map(|(&x, i)| (reversed(cell(x.map(f64::from), frame.dx)), i))
            .collect();
        // Frames come sorted by cell already.
        if !keyed.is_sorted() {
            keyed.sort_unstable();
        }
        let mut cells: Vec<([i32; D], u32)> = Vec::new();
        for (at, (cell, _)) in keyed.iter().enumerate() {
            if cells.last().is_none_or(|last| last.0 != *cell) {
                cells.push((*cell, at as u32));
            }
        }
        Around {
            frame,
            cells,
            order: keyed.into_iter().map(|(_, i)| i).collect(),
        }
    }

    /// The mean velocity of the particles around a point, near ones more than those a cell and a half away; of the
    /// nearest if there are only some farther away; zero if there are none within four cells. `rows` is that of the point
    /// before, which is likely to be in the same rows of cells.
    pub fn velocity(&self, x: [f64; D], rows: &mut Rows<D>) -> [f64; D] {
        for reach in [1.5, 4.0] {
            let (mut sum, mut weights) = ([0.0; D], 0.0);
            let radius = reach * self.frame.dx;
            let shares = 1.0 / (radius * radius);
            self.for_each_near(x, radius, rows, |i| {
                let square: f64 = (0..D)
                    .map(|a| (f64::from(self.frame.positions[i][a]) - x[a]).powi(2))
                    .sum();
                let rest = 1.0 - square * shares;
                if rest > 0.0 {
                    let weight = rest * rest * rest;
                    weights += weight;
                    for a in 0..D {
                        sum[a] += weight * f64::from(self.frame.velocities[i][a]);
                    }
                }
            });
            if weights > 0.0 {
                return sum.map(|s| s / weights);
            }
        }
        [0.0; D]
    }

    /// Calls with every particle in the cells within `radius` of `x`, in a fixed order.
    fn for_each_near(
        &self,
        x: [f64; D],
        radius: f64,
        rows: &mut Rows<D>,
        mut each: impl FnMut(usize),
    ) {
        let low = reversed(cell(x.map(|c| c - radius), self.frame.dx));
        let high = reversed(cell(x.map(|c| c + radius), self.frame.dx));
        rows.come_to(self, low, high);
        let middle = reversed(x.map(|c| c / self.frame.dx));
        let radius = radius / self.frame.dx;
        for (at, row) in &rows.cells {
            let aside: f64 = (0..D - 1)
                .map(|a| {
                    let below = f64::from(at[a]) - middle[a];
                    below.max(-1.0 - below).max(0.0).powi(2)
                })
                .sum();
            // What is left of the radius along the row; a hair more, for rounding.
            let along = (radius * radius - aside).max(0.0).sqrt() + 1e-6;
            let low = (middle[D - 1] - along).floor() as i32;
            let high = (middle[D - 1] + along).floor() as i32;
            let cells = &self.cells[row.clone()];
            let first = cells.partition_point(|(cell, _)| cell[D - 1] < low);
            let last = cells[first..]
                .iter()
                .take_while(|(cell, _)| cell[D - 1] <= high)
                .count();
            let start = |k: usize| {
                let next = self.cells.get(row.start + first + k);
                next.map_or(self.order.len(), |c| c.1 as usize)
            };
            for &i in &self.order[start(0)..start(last)] {
                each(i as usize);
            }
        }
    }
}

/// Rows of cells along the first axis, near a point: looking them up takes longer than going through them.
pub struct Rows<const D: usize> {
    /// Their lowest and highest coordinates, in the order of [`Around`]; the last is not used.
    ends: Option<[[i32; D]; 2]>,
    /// Their coordinates and their cells in [`Around`].
    cells: Vec<([i32; D], Range<usize>)>,
}

impl<const D: usize> Default for Rows<D> {
    fn default() -> Self {
        Rows {
            ends: None,
            cells: Vec::new(),
        }
    }
}

impl<const D: usize> Rows<D> {
    fn come_to(&mut self, around: &Around<'_, D>, mut low: [i32; D], mut high: [i32; D]) {
        low[D - 1] = i32::MIN;
        high[D - 1] = i32::MAX;
        if self.ends == Some([low, high]) {
            return;
        }
        self.ends = Some([low, high]);
        self.cells.clear();
        let mut row = low;
        loop {
            let mut end = row;
            end[D - 1] = i32::MAX;
            let first = around.cells.partition_point(|(cell, _)| *cell < row);
            let count = around.cells[first..].partition_point(|(cell, _)| *cell <= end);
            if count > 0 {
                self.cells.push((row, first..first + count));
            }
            let Some(a) = (0..D - 1).find(|&a| row[a] < high[a]) else {
                return;
            };
            row[a] += 1;
            row[..a].copy_from_slice(&low[..a]);
        }
    }
}

fn cell<const D: usize>(x: [f64; D], dx: f64) -> [i32; D] {
    x.map(|x| (x / dx).floor() as i32)
}

fn reversed<T, const D: usize>(mut vector: [T; D]) -> [T; D] {
    vector.reverse();
    vector
}
