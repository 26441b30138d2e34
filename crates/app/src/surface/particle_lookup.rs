//! Neighbour search around a point.

use meniscus_store::cache::Frame;
use std::ops::Range;

/// Particles sorted by cell, for queries around a point.
pub struct ParticleLookup<const D: usize> {
    dx: f64,
    /// Cells with particles, sorted with the last axis as the most significant, and the start of their particles.
    cells: Vec<([i32; D], u32)>,
    /// Positions and velocities, cell by cell.
    particles: Vec<[[f32; D]; 2]>,
}

impl<const D: usize> ParticleLookup<D> {
    /// Sorts the particles of a frame.
    pub fn new(frame: &Frame<D>) -> Self {
        let (positions, velocities) = (frame.positions(), frame.velocities());
        let dx = frame.spacing();
        let mut keyed: Vec<([i32; D], u32)> = positions
            .iter()
            .zip(0..)
            .map(|(&x, i)| (reversed(cell(x.map(f64::from), dx)), i))
            .collect();
        // Frames are sorted by cell already.
        if !keyed.is_sorted() {
            keyed.sort_unstable();
        }
        let mut cells: Vec<([i32; D], u32)> = Vec::new();
        for (at, (cell, _)) in keyed.iter().enumerate() {
            if cells.last().is_none_or(|last| last.0 != *cell) {
                cells.push((*cell, at as u32));
            }
        }
        let particle = |&(_, i): &([i32; D], u32)| {
            let i = i as usize;
            [positions[i], velocities[i]]
        };
        ParticleLookup {
            dx,
            cells,
            particles: keyed.iter().map(particle).collect(),
        }
    }

    /// Mean velocity of the particles around a point, weighted by a kernel of radius 1.5 cells; that of the nearest particle
    /// if there are none within it; zero if there are none within four cells. `rows` is the cache of the previous query, which
    /// probably was in the same rows of cells.
    pub fn velocity(&self, x: [f64; D], rows: &mut Rows<D>) -> [f64; D] {
        for reach in [1.5, 4.0] {
            let (mut sum, mut weights) = ([0.0; D], 0.0);
            let radius = reach * self.dx;
            let shares = 1.0 / (radius * radius);
            self.for_each_near(x, radius, rows, |[position, velocity]| {
                let square: f64 = (0..D)
                    .map(|a| (f64::from(position[a]) - x[a]).powi(2))
                    .sum();
                let rest = 1.0 - square * shares;
                if rest > 0.0 {
                    let weight = rest * rest * rest;
                    weights += weight;
                    for a in 0..D {
                        sum[a] += weight * f64::from(velocity[a]);
                    }
                }
            });
            if weights > 0.0 {
                return sum.map(|s| s / weights);
            }
        }
        [0.0; D]
    }

    /// Calls `visit` with every particle in the cells within `radius` of `x`, in a fixed order.
    fn for_each_near(
        &self,
        x: [f64; D],
        radius: f64,
        rows: &mut Rows<D>,
        mut each: impl FnMut(&[[f32; D]; 2]),
    ) {
        let low = reversed(cell(x.map(|c| c - radius), self.dx));
        let high = reversed(cell(x.map(|c| c + radius), self.dx));
        rows.move_to(self, low, high);
        let middle = reversed(x.map(|c| c / self.dx));
        let radius = radius / self.dx;
        for (at, row) in &rows.cells {
            let aside: f64 = (0..D - 1)
                .map(|a| {
                    let below = f64::from(at[a]) - middle[a];
                    below.max(-1.0 - below).max(0.0).powi(2)
                })
                .sum();
            if aside > radius * radius {
                continue;
            }
            // Remainder of the radius along the row, with a margin for rounding.
            let along = (radius * radius - aside).sqrt() + 1e-6;
            let low = floor(middle[D - 1] - along);
            let high = floor(middle[D - 1] + along);
            let cells = &self.cells[row.clone()];
            // Few rows have gaps: this estimate is seldom far off, and never too low.
            let guess = i64::from(low) - i64::from(cells[0].0[D - 1]);
            let mut first = guess.clamp(0, cells.len() as i64) as usize;
            while first > 0 && cells[first - 1].0[D - 1] >= low {
                first -= 1;
            }
            let mut last = first;
            while last < cells.len() && cells[last].0[D - 1] <= high {
                last += 1;
            }
            let start = |k: usize| {
                let next = self.cells.get(row.start + k);
                next.map_or(self.particles.len(), |c| c.1 as usize)
            };
            self.particles[start(first)..start(last)]
                .iter()
                .for_each(&mut each);
        }
    }
}

/// Cache of the rows of cells along the first axis near a point: finding them takes longer than traversing them.
pub struct Rows<const D: usize> {
    /// Lower and upper coordinates, in the order of [`ParticleLookup`]; the last is not used.
    ends: Option<[[i32; D]; 2]>,
    /// Coordinates of the rows and their cells in [`ParticleLookup`].
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
    fn move_to(&mut self, around: &ParticleLookup<D>, mut low: [i32; D], mut high: [i32; D]) {
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
    x.map(|x| floor(x / dx))
}

fn reversed<T, const D: usize>(mut vector: [T; D]) -> [T; D] {
    vector.reverse();
    vector
}

/// Floor. The standard function is a call on targets without an instruction for it.
fn floor(x: f64) -> i32 {
    let near = x as i32;
    near - i32::from(f64::from(near) > x)
}
