//! A lattice around a body: where it is solid, where it is hollow, and when hollows are flooded.

use meniscus_shapes::{Bounds, Shape};
use std::array::from_fn;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// Cells of the lattice along the longest side of a body, in 2D and in 3D.
const CELLS: [f64; 2] = [128.0, 44.0];
/// Samples between two neighbouring centres, so that thin walls are found.
const BETWEEN: usize = 5;

/// Cubic cells around a shape in its own frame, with a layer of empty ones outside.
pub(super) struct Points<const D: usize> {
    low: [f64; D],
    pub spacing: f64,
    sides: [usize; D],
    /// Signed distance at each centre, near the surface.
    distances: Vec<f64>,
    /// Share of each cell that is solid.
    pub share: Vec<f64>,
    /// Whether liquid passes from each cell to the next one along each axis.
    open: Vec<[bool; D]>,
}

impl<const D: usize> Points<D> {
    /// None for a shape without bounds.
    pub fn around(shape: &Shape<D>) -> Option<Self> {
        let Bounds { low, high } = shape.bounds().filter(|b| b.is_finite() && !b.is_empty())?;
        let longest = (0..D).map(|a| high[a] - low[a]).fold(0.0, f64::max);
        let spacing = longest / CELLS[D - 2];
        if spacing <= 0.0 {
            return None;
        }
        let sides = from_fn(|a| ((high[a] - low[a]) / spacing - 1e-9).ceil() as usize + 2);
        let mut points = Self {
            // Centred, so that both ends have the same margin.
            low: from_fn(|a| 0.5 * (low[a] + high[a] - sides[a] as f64 * spacing)),
            spacing,
            sides,
            distances: Vec::new(),
            share: Vec::new(),
            open: Vec::new(),
        };
        let centers = (0..points.cells()).map(|cell| points.center(cell));
        points.distances = centers
            .map(|x| shape.distance_within(x, 2.0 * spacing))
            .collect();
        let share = |d: &f64| (0.5 - d / spacing).clamp(0.0, 1.0);
        points.share = points.distances.iter().map(share).collect();
        points.open = (0..points.cells())
            .map(|cell| {
                let at = points.coord(cell);
                from_fn(|axis| {
                    at[axis] + 1 < sides[axis]
                        && points.is_open(shape, cell, cell + points.stride(axis))
                })
            })
            .collect();
        Some(points)
    }

    pub fn cells(&self) -> usize {
        self.sides.iter().product()
    }

    pub fn cell_volume(&self) -> f64 {
        self.spacing.powi(D as i32)
    }

    /// Centre of a cell in the frame of the shape.
    pub fn center(&self, cell: usize) -> [f64; D] {
        let at = self.coord(cell);
        from_fn(|a| self.low[a] + (at[a] as f64 + 0.5) * self.spacing)
    }

    fn stride(&self, axis: usize) -> usize {
        self.sides[..axis].iter().product()
    }

    fn coord(&self, mut cell: usize) -> [usize; D] {
        from_fn(|a| {
            let at = cell % self.sides[a];
            cell /= self.sides[a];
            at
        })
    }

    /// Neighbours of a cell, with whether liquid passes to them.
    fn beside(&self, cell: usize) -> impl Iterator<Item = (usize, bool)> + use<'_, D> {
        let (at, sides) = (self.coord(cell), self.sides);
        (0..D).flat_map(move |axis| {
            let stride = self.stride(axis);
            let below = (at[axis] > 0).then(|| (cell - stride, self.open[cell - stride][axis]));
            let above =
                (at[axis] + 1 < sides[axis]).then(|| (cell + stride, self.open[cell][axis]));
            [below, above].into_iter().flatten()
        })
    }

    /// Whether liquid passes from one cell to its neighbour.
    fn is_open(&self, shape: &Shape<D>, from: usize, to: usize) -> bool {
        let (near, far) = (self.distances[from], self.distances[to]);
        if near <= 0.0 || far <= 0.0 {
            return false;
        }
        // A distance does not change faster than the position.
        if near + far > self.spacing {
            return true;
        }
        let (a, b) = (self.center(from), self.center(to));
        (1..=BETWEEN).all(|k| {
            let t = k as f64 / (BETWEEN + 1) as f64;
            let x = from_fn(|i| a[i] + t * (b[i] - a[i]));
            shape.distance_within(x, self.spacing) > 0.0
        })
    }
}

/// The lattice of a body in some orientation.
pub(super) struct Lattice<const D: usize> {
    pub points: Rc<Points<D>>,
    /// Height of each centre along gravity.
    pub height: Vec<f64>,
    /// Share of each cell that is hollow: flooded at a level above its own only.
    pub hollow: Vec<f64>,
    /// Level outside at which each cell is flooded: infinite in closed hollows and solids.
    pub flooded: Vec<f64>,
}

impl<const D: usize> Lattice<D> {
    /// With `up` in the frame of the shape.
    pub fn new(points: Rc<Points<D>>, up: [f64; D]) -> Self {
        let height_of = |cell: usize| {
            let x = points.center(cell);
            (0..D).map(|a| up[a] * x[a]).sum()
        };
        let mut lattice = Self {
            height: (0..points.cells()).map(height_of).collect(),
            hollow: Vec::new(),
            flooded: Vec::new(),
            points,
        };
        lattice.flooded = lattice.flood();
        lattice.find_hollows();
        lattice
    }

    /// Finds the hollow share of every cell. The open part of a cell whose centre is solid is shared among its neighbours.
    fn find_hollows(&mut self) {
        let points = &*self.points;
        let distances = &points.distances;
        let is_hollow = |cell: usize| self.flooded[cell] > self.height[cell] + 1e-9;
        let mut found = vec![(0.0, f64::INFINITY); points.cells()];
        for (cell, found) in found.iter_mut().enumerate() {
            let open = 1.0 - points.share[cell];
            if distances[cell] > 0.0 {
                let hollow = if is_hollow(cell) { open } else { 0.0 };
                *found = (hollow, self.flooded[cell]);
                continue;
            }
            let (mut beside, mut hollow, mut level) = (0.0, 0.0, f64::NEG_INFINITY);
            for (next, _) in points.beside(cell).filter(|next| distances[next.0] > 0.0) {
                beside += 1.0;
                if is_hollow(next) {
                    hollow += 1.0;
                    level = level.max(self.flooded[next]);
                }
            }
            if hollow > 0.0 {
                *found = (open * hollow / beside, level);
            }
        }
        (self.hollow, self.flooded) = found.into_iter().unzip();
    }

    /// Level at which liquid from outside reaches each cell.
    fn flood(&self) -> Vec<f64> {
        let points = &*self.points;
        let mut flooded = vec![f64::INFINITY; points.cells()];
        // Order of non-negative floating-point numbers is that of their bits.
        let lowest = self.height.iter().copied().fold(f64::INFINITY, f64::min);
        let key = |level: f64| (level - lowest).max(0.0).to_bits();
        let mut queue = BinaryHeap::new();
        for (cell, level) in flooded.iter_mut().enumerate() {
            let at = points.coord(cell);
            if (0..D).any(|a| at[a] == 0 || at[a] + 1 == points.sides[a]) {
                *level = self.height[cell];
                queue.push(Reverse((key(*level), cell)));
            }
        }
        while let Some(Reverse((order, cell))) = queue.pop() {
            if order > key(flooded[cell]) {
                continue;
            }
            for (next, is_open) in points.beside(cell) {
                let level = flooded[cell].max(self.height[next]);
                if is_open && level < flooded[next] {
                    flooded[next] = level;
                    queue.push(Reverse((key(level), next)));
                }
            }
        }
        flooded
    }
}
