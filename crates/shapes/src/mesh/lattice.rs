//! Coarse lattice over a mesh: the nearest triangle, and the side, at the centre of each cell.
//!
//! The triangle gives searches nearby a good first guess. The side is that of every point which two balls without
//! any surface in them connect with the middle of the cell.

use super::search::Nearest;
use super::tree::Tree;
use crate::vector::{add_scaled, norm, sub};
use std::array::from_fn;

/// Cells of the lattice for each triangle, and bounds on the whole.
const CELLS_PER_TRIANGLE: f64 = 0.5;
const FEWEST_CELLS: f64 = 4096.0;
const MOST_CELLS: f64 = 1048576.0;
/// How far the lattice reaches beyond the mesh, as a share of its longest side.
const MARGIN: f64 = 0.05;

#[derive(Clone, Copy, Debug)]
struct Sample {
    /// The signed distance, its magnitude rounded down.
    distance: f32,
    face: u32,
}

/// The lattice.
#[derive(Clone, Debug)]
pub(crate) struct Lattice {
    low: [f64; 3],
    spacing: f64,
    size: [usize; 3],
    samples: Vec<Sample>,
}

impl Lattice {
    pub fn new(tree: &Tree) -> Self {
        let bounds = tree.bounds();
        let longest = (0..3).fold(0.0, |l: f64, i| l.max(bounds.high[i] - bounds.low[i]));
        let room = bounds.expanded(MARGIN * longest);
        let extent = sub(room.high, room.low);
        let cells =
            (CELLS_PER_TRIANGLE * tree.triangles.len() as f64).clamp(FEWEST_CELLS, MOST_CELLS);
        let spacing = (extent[0] * extent[1] * extent[2] / cells).cbrt();
        let size = extent.map(|e| ((e / spacing).ceil() as usize).max(1));
        let mut lattice = Lattice {
            low: room.low,
            spacing,
            size,
            samples: Vec::with_capacity(size[0] * size[1] * size[2]),
        };
        for z in 0..size[2] {
            for y in 0..size[1] {
                for x in 0..size[0] {
                    let sample = lattice.sampled(tree, [x, y, z]);
                    lattice.samples.push(sample);
                }
            }
        }
        lattice
    }

    /// The sample of the next cell, from its neighbours that are there already.
    fn sampled(&self, tree: &Tree, cell: [usize; 3]) -> Sample {
        let middle = self.middle(cell);
        let strides = [1, self.size[0], self.size[0] * self.size[1]];
        let next = self.samples.len();
        let neighbours = || {
            (0..3)
                .filter(|&i| cell[i] > 0)
                .map(|i| self.samples[next - strides[i]])
        };
        let guess = neighbours().next().map_or(0, |sample| sample.face);
        let nearest = tree.nearest(middle, tree.nearest_of(middle, guess));
        let distance = nearest.square.sqrt();
        let linked = neighbours().find(|n| self.spacing < distance + f64::from(n.distance.abs()));
        let inside = match linked {
            Some(neighbour) => neighbour.distance < 0.0,
            None => tree.winding_number(middle) > 0.5,
        };
        let rounded_down = (distance * (1.0 - f64::from(f32::EPSILON))) as f32;
        Sample {
            distance: if inside { -rounded_down } else { rounded_down },
            face: nearest.face,
        }
    }

    /// The nearest triangle of the nearest cell.
    #[inline]
    pub fn guess(&self, x: [f64; 3]) -> u32 {
        self.samples[self.index(self.cell(x))].face
    }

    /// What the cell of `x` tells about its signed distance: the sign, and a magnitude that is not too large; `None`
    /// if the surface may pass between `x` and the middle of the cell.
    #[inline]
    pub fn far(&self, x: [f64; 3]) -> Option<f64> {
        let cell = self.cell(x);
        let distance = f64::from(self.samples[self.index(cell)].distance);
        let least = distance.abs() - norm(sub(x, self.middle(cell)));
        (least > 0.0).then_some(least.copysign(distance))
    }

    /// Whether `x`, inside the bounds of the mesh and off its surface, is inside the mesh; `None` where the lattice
    /// can't tell.
    #[inline]
    pub fn side(&self, x: [f64; 3], nearest: &Nearest) -> Option<bool> {
        let distance = nearest.square.sqrt();
        let away = add_scaled(x, self.spacing / distance, sub(x, nearest.point));
        [x, away].into_iter().find_map(|near| {
            let cell = self.cell(near);
            let sample = self.samples[self.index(cell)];
            let apart = norm(sub(x, self.middle(cell)));
            (apart < distance + f64::from(sample.distance.abs())).then_some(sample.distance < 0.0)
        })
    }

    fn middle(&self, cell: [usize; 3]) -> [f64; 3] {
        from_fn(|i| self.low[i] + (cell[i] as f64 + 0.5) * self.spacing)
    }

    /// The cell of `x`, or the nearest one.
    #[inline]
    fn cell(&self, x: [f64; 3]) -> [usize; 3] {
        // The cast takes what is negative or not a number to zero.
        from_fn(|i| (((x[i] - self.low[i]) / self.spacing) as usize).min(self.size[i] - 1))
    }

    #[inline]
    fn index(&self, cell: [usize; 3]) -> usize {
        cell[0] + self.size[0] * (cell[1] + self.size[1] * cell[2])
    }
}
