//! Boxes in the cells of a grid, for candidates of contacts.

use super::vector::V3;

/// Cells that a box may cover before it is kept apart.
const MOST_CELLS: i64 = 512;

/// A box with sides along the axes.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub low: V3,
    pub high: V3,
}

impl Extent {
    /// The least box around some points.
    pub fn around(points: &[V3]) -> Self {
        let mut extent = Self {
            low: [f64::INFINITY; 3],
            high: [f64::NEG_INFINITY; 3],
        };
        for x in points {
            for axis in 0..3 {
                extent.low[axis] = extent.low[axis].min(x[axis]);
                extent.high[axis] = extent.high[axis].max(x[axis]);
            }
        }
        extent
    }

    /// The box grown by `margin` on all sides.
    pub fn grown(self, margin: f64) -> Self {
        Self {
            low: self.low.map(|x| x - margin),
            high: self.high.map(|x| x + margin),
        }
    }

    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }

    fn joined(self, other: &Self) -> Self {
        Self {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
        }
    }
}

/// Boxes by the cells that they cover.
pub struct Grid {
    whole: Extent,
    per_metre: f64,
    count: [i64; 3],
    /// Cell and box, sorted.
    entries: Vec<(u64, u32)>,
    /// Boxes that cover too many cells.
    large: Vec<u32>,
    boxes: Vec<Extent>,
}

impl Grid {
    /// Boxes in cells of about the given width.
    pub fn new(boxes: Vec<Extent>, width: f64) -> Self {
        let mut whole = Extent::around(&[]);
        for extent in &boxes {
            whole = whole.joined(extent);
        }
        if boxes.is_empty() || !whole.low.iter().chain(&whole.high).all(|x| x.is_finite()) {
            whole = Extent::around(&[[0.0; 3]]);
        }
        // Few enough cells for a number of 20 bits along each axis.
        let longest = (0..3).map(|axis| whole.high[axis] - whole.low[axis]);
        let width = width.max(longest.fold(0.0, f64::max) / 1e6);
        let per_metre = 1.0 / width;
        let count = std::array::from_fn(|axis| {
            ((whole.high[axis] - whole.low[axis]) * per_metre) as i64 + 1
        });
        let mut grid = Self {
            whole,
            per_metre,
            count,
            entries: Vec::new(),
            large: Vec::new(),
            boxes,
        };
        let mut entries = Vec::with_capacity(4 * grid.boxes.len());
        for (number, extent) in grid.boxes.iter().enumerate() {
            let Some((low, high)) = grid.cells(extent) else {
                continue;
            };
            let covered: i64 = (0..3).map(|axis| high[axis] - low[axis] + 1).product();
            if covered > MOST_CELLS {
                grid.large.push(number as u32);
                continue;
            }
            each(low, high, |cell| entries.push((cell, number as u32)));
        }
        entries.sort_unstable();
        grid.entries = entries;
        grid
    }

    /// Boxes that overlap `extent`, in order and each once.
    pub fn overlapping(&self, extent: &Extent, found: &mut Vec<u32>) {
        found.clear();
        if self.boxes.is_empty() || !self.whole.overlaps(extent) {
            return;
        }
        let Some((low, high)) = self.cells(extent) else {
            return;
        };
        let covered: i64 = (0..3).map(|axis| high[axis] - low[axis] + 1).product();
        if covered > MOST_CELLS {
            found.extend(0..self.boxes.len() as u32);
        } else {
            each(low, high, |cell| {
                let from = self.entries.partition_point(|entry| entry.0 < cell);
                let here = self.entries[from..].iter();
                found.extend(
                    here.take_while(|entry| entry.0 == cell)
                        .map(|entry| entry.1),
                );
            });
            found.extend(&self.large);
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&number| self.boxes[number as usize].overlaps(extent));
    }

    /// First and last cell along each axis; `None` if the box is not finite.
    fn cells(&self, extent: &Extent) -> Option<([i64; 3], [i64; 3])> {
        let is_finite = extent.low.iter().chain(&extent.high).all(|x| x.is_finite());
        let cell = |x: f64, axis: usize| {
            (((x - self.whole.low[axis]) * self.per_metre) as i64).clamp(0, self.count[axis] - 1)
        };
        is_finite.then(|| {
            (
                std::array::from_fn(|axis| cell(extent.low[axis], axis)),
                std::array::from_fn(|axis| cell(extent.high[axis], axis)),
            )
        })
    }
}

fn each(low: [i64; 3], high: [i64; 3], mut visit: impl FnMut(u64)) {
    for k in low[2]..=high[2] {
        for j in low[1]..=high[1] {
            for i in low[0]..=high[0] {
                visit(((k as u64) << 42) | ((j as u64) << 21) | i as u64);
            }
        }
    }
}
