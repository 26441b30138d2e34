//! The particles around a point.

use crate::cache::Frame;

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
    /// nearest if there are only some farther away; zero if there are none within four cells.
    pub fn velocity(&self, x: [f64; D]) -> [f64; D] {
        for reach in [1.5, 4.0] {
            let (mut sum, mut weights) = ([0.0; D], 0.0);
            let radius = reach * self.frame.dx;
            self.for_each_near(x, reach.ceil() as i32, |i| {
                let square: f64 = (0..D)
                    .map(|a| (f64::from(self.frame.positions[i][a]) - x[a]).powi(2))
                    .sum();
                let weight = (1.0 - square / (radius * radius)).max(0.0).powi(3);
                weights += weight;
                for a in 0..D {
                    sum[a] += weight * f64::from(self.frame.velocities[i][a]);
                }
            });
            if weights > 0.0 {
                return sum.map(|s| s / weights);
            }
        }
        [0.0; D]
    }

    /// Calls with every particle in the cells within `reach` cells of that of `x`, in a fixed order.
    fn for_each_near(&self, x: [f64; D], reach: i32, mut each: impl FnMut(usize)) {
        let middle = reversed(cell(x, self.frame.dx));
        let side = 2 * reach + 1;
        // Cells that differ along the first axis alone follow each other.
        for row in 0..side.pow(D as u32 - 1) {
            let mut low = middle;
            let mut digits = row;
            for c in &mut low[..D - 1] {
                *c += digits % side - reach;
                digits /= side;
            }
            let mut high = low;
            low[D - 1] -= reach;
            high[D - 1] += reach;
            let first = self.cells.partition_point(|(cell, _)| *cell < low);
            for k in first..self.cells.len() {
                let (cell, from) = self.cells[k];
                if cell > high {
                    break;
                }
                let to = self
                    .cells
                    .get(k + 1)
                    .map_or(self.order.len(), |c| c.1 as usize);
                for &i in &self.order[from as usize..to] {
                    each(i as usize);
                }
            }
        }
    }
}

fn cell<const D: usize>(x: [f64; D], dx: f64) -> [i32; D] {
    x.map(|x| (x / dx).floor() as i32)
}

fn reversed<const D: usize>(mut cell: [i32; D]) -> [i32; D] {
    cell.reverse();
    cell
}
