//! Scalar field of the liquid: occupancy on the nodes of a grid, about 1 inside and 0 outside.
//!
//! Particles are deposited with trilinear weights. Nodes in solids take the values of their open neighbours, so that
//! liquid reaches the walls it touches. The liquid's surface is a level set of the smoothed field, without bumps of
//! single particles.

mod walls;

use super::vector::{Vec3, along, normalize};
use meniscus_shapes::PosedSolid;
use rayon::prelude::*;
use std::array::from_fn;

/// Level of the surface.
pub(super) const LEVEL: f32 = 0.4;
/// Occupancy of a full cell before clamping to one: a single layer of particles is still liquid.
const GAIN: f32 = 3.0;
/// Fraction of a full cell below which a node may be near a wall.
const PARTIAL: f32 = 0.6;
/// Largest number of nodes of the field; with more it is made coarser.
const MOST_NODES: f64 = 4e6;
/// Margin of nodes around the particles: the reach of smoothing and walls.
const MARGIN: f32 = 3.0;
/// Side in cells of the blocks for empty-space skipping.
const BLOCK: usize = 4;
/// Distance from the level of all nodes of a block that is skipped.
const CLEAR: f32 = 0.25;

/// Classification of a block of cells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Empty,
    Full,
    Mixed,
}

/// Occupancy and speed of the liquid on a grid.
pub(super) struct Volume {
    /// Distance between nodes.
    pub spacing: f32,
    /// Nodes per unit of length.
    per_length: f32,
    low: Vec3,
    nodes: [usize; 3],
    /// Field whose level set is the surface.
    occupancy: Vec<f32>,
    /// Field smoothed once more, for normals.
    soft: Vec<f32>,
    mass: Vec<f32>,
    momentum: Vec<f32>,
    blocks: Vec<Content>,
    blocks_along: [usize; 3],
}

impl Volume {
    /// Field of particles with their speeds, `per_cell` of them in a cell of `spacing`.
    pub fn new<const D: usize>(
        particles: &[(Vec3, f32)],
        spacing: f32,
        per_cell: f32,
        bodies: &[PosedSolid<'_, D>],
    ) -> Self {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for (position, _) in particles {
            low = from_fn(|i| low[i].min(position[i]));
            high = from_fn(|i| high[i].max(position[i]));
        }
        if particles.is_empty() {
            (low, high) = ([0.0; 3], [0.0; 3]);
        }
        let volume: f64 = (0..3)
            .map(|i| f64::from(high[i] - low[i] + 2.0 * MARGIN * spacing))
            .product();
        let coarser = ((volume / MOST_NODES).cbrt() as f32 / spacing).max(1.0);
        let per_cell = per_cell * coarser.powi(3);
        let spacing = spacing * coarser;
        // Aligned to whole cells, so that the grid does not shift from frame to frame.
        let low: Vec3 = low.map(|c| ((c / spacing).floor() - MARGIN) * spacing);
        let nodes: [usize; 3] =
            from_fn(|i| ((high[i] - low[i]) / spacing + MARGIN).ceil() as usize + 1);
        let count: usize = nodes.iter().product();
        let mut field = Self {
            spacing,
            per_length: 1.0 / spacing,
            low,
            nodes,
            occupancy: Vec::new(),
            soft: Vec::new(),
            mass: vec![0.0; count],
            momentum: vec![0.0; count],
            blocks: Vec::new(),
            blocks_along: nodes.map(|n| (n - 1).div_ceil(BLOCK)),
        };
        let centres = field.deposit(particles);
        let scale = GAIN / per_cell.max(1.0);
        field.occupancy = field.mass.iter().map(|m| (scale * m).min(1.0)).collect();
        let partial = PARTIAL * per_cell.max(1.0);
        let beyond = field.reach_walls(bodies, &centres, partial);
        field.occupancy = smooth(&field.occupancy, nodes);
        for (index, most) in beyond {
            field.occupancy[index] = field.occupancy[index].min(most);
        }
        field.soft = smooth(&field.occupancy, nodes);
        field.classify_blocks();
        field
    }

    /// Adds every particle to the eight nodes around it, and returns the sums of their positions at every node.
    fn deposit(&mut self, particles: &[(Vec3, f32)]) -> Vec<Vec3> {
        let mut centres = vec![[0.0; 3]; self.mass.len()];
        let strides = self.strides();
        for &(position, speed) in particles {
            let Some((index, f)) = self.cell_of(position) else {
                continue;
            };
            for corner in 0..8_usize {
                let (mut weight, mut at) = (1.0, index);
                for axis in 0..3 {
                    if corner >> axis & 1 == 1 {
                        weight *= f[axis];
                        at += strides[axis];
                    } else {
                        weight *= 1.0 - f[axis];
                    }
                }
                self.mass[at] += weight;
                self.momentum[at] += weight * speed;
                centres[at] = along(centres[at], weight, position);
            }
        }
        centres
    }

    /// Classifies every block of cells.
    fn classify_blocks(&mut self) {
        let along = self.blocks_along;
        let content = |block: usize| {
            let at = [
                block % along[0],
                block / along[0] % along[1],
                block / (along[0] * along[1]),
            ];
            let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
            let range = |axis: usize| {
                at[axis] * BLOCK..(at[axis] * BLOCK + BLOCK + 1).min(self.nodes[axis])
            };
            for z in range(2) {
                for y in range(1) {
                    let row = (z * self.nodes[1] + y) * self.nodes[0];
                    for &value in &self.occupancy[row + range(0).start..row + range(0).end] {
                        low = low.min(value);
                        high = high.max(value);
                    }
                }
            }
            if high < LEVEL - CLEAR {
                Content::Empty
            } else if low > LEVEL + CLEAR {
                Content::Full
            } else {
                Content::Mixed
            }
        };
        let count = along.iter().product();
        self.blocks = (0..count).into_par_iter().map(content).collect();
    }

    fn strides(&self) -> [usize; 3] {
        [1, self.nodes[0], self.nodes[0] * self.nodes[1]]
    }

    fn coordinates(&self, index: usize) -> [usize; 3] {
        let [nx, ny, _] = self.nodes;
        [index % nx, index / nx % ny, index / (nx * ny)]
    }

    fn place(&self, index: usize) -> Vec3 {
        let at = self.coordinates(index);
        from_fn(|i| self.low[i] + at[i] as f32 * self.spacing)
    }

    /// Lowest node of the cell of a point, and the position within it; none outside the grid.
    fn cell_of(&self, x: Vec3) -> Option<(usize, Vec3)> {
        let mut index = 0;
        let mut inside = [0.0; 3];
        let strides = self.strides();
        for axis in 0..3 {
            let at = (x[axis] - self.low[axis]) * self.per_length;
            // Casts clamp negative values and NaN to zero.
            let cell = at as usize;
            if at.is_nan() || at < 0.0 || cell + 1 >= self.nodes[axis] {
                return None;
            }
            index += cell * strides[axis];
            inside[axis] = at - cell as f32;
        }
        Some((index, inside))
    }

    fn sample(&self, values: &[f32], x: Vec3) -> f32 {
        let Some((index, [fx, fy, fz])) = self.cell_of(x) else {
            return 0.0;
        };
        let [_, sy, sz] = self.strides();
        let line = |at: usize| {
            let pair = &values[at..at + 2];
            pair[0] + fx * (pair[1] - pair[0])
        };
        let face = |at: usize| {
            let (a, b) = (line(at), line(at + sy));
            a + fy * (b - a)
        };
        let (a, b) = (face(index), face(index + sz));
        a + fz * (b - a)
    }

    /// Occupancy at a point; zero outside the grid.
    pub fn occupancy(&self, x: Vec3) -> f32 {
        self.sample(&self.occupancy, x)
    }

    /// Gradient of the occupancy, by central differences of the smoother field.
    pub fn gradient(&self, x: Vec3) -> Vec3 {
        let step = 0.8 * self.spacing;
        from_fn(|axis| {
            let offset = |s: f32| from_fn(|i| if i == axis { x[i] + s } else { x[i] });
            let difference =
                self.sample(&self.soft, offset(step)) - self.sample(&self.soft, offset(-step));
            0.5 * difference / step
        })
    }

    /// Outward unit normal of the surface.
    pub fn normal(&self, x: Vec3) -> Vec3 {
        normalize(self.gradient(x).map(|g| -g))
    }

    /// Mean speed of the particles around a point.
    pub fn speed(&self, x: Vec3) -> f32 {
        let mass = self.sample(&self.mass, x);
        if mass > 0.0 {
            self.sample(&self.momentum, x) / mass
        } else {
            0.0
        }
    }

    /// Lower and upper corner of the grid.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let high = from_fn(|i| self.low[i] + (self.nodes[i] - 1) as f32 * self.spacing);
        (self.low, high)
    }

    /// Classification of the block of a point, and its corners.
    pub fn block(&self, x: Vec3) -> (Content, Vec3, Vec3) {
        let side = BLOCK as f32 * self.spacing;
        let at: [usize; 3] = from_fn(|i| {
            (((x[i] - self.low[i]) / side) as usize).min(self.blocks_along[i].saturating_sub(1))
        });
        let index = (at[2] * self.blocks_along[1] + at[1]) * self.blocks_along[0] + at[0];
        let content = self.blocks.get(index).copied().unwrap_or(Content::Empty);
        let low = from_fn(|i| self.low[i] + at[i] as f32 * side);
        (content, low, low.map(|c| c + side))
    }

    /// Nodes in the liquid, as cubes of one cell each.
    pub fn filled(&self) -> Vec<Vec3> {
        let inside = self
            .occupancy
            .iter()
            .enumerate()
            .filter(|(_, o)| **o > LEVEL);
        inside.map(|(index, _)| self.place(index)).collect()
    }
}

/// Binomial filter along every axis; the border is clamped.
fn smooth(values: &[f32], nodes: [usize; 3]) -> Vec<f32> {
    let [length, rows, slabs] = nodes;
    let mut from = values.to_vec();
    let mut to = vec![0.0; values.len()];
    for axis in 0..3 {
        let slab_of = |k: usize, part: &mut [f32]| {
            for (j, row) in part.chunks_mut(length).enumerate() {
                let at = |k: usize, j: usize| &from[(k * rows + j) * length..][..length];
                let here = at(k, j);
                match axis {
                    0 => blend_along(row, here),
                    1 => {
                        let after = at(k, (j + 1).min(rows - 1));
                        blend_across(row, at(k, j.saturating_sub(1)), here, after);
                    }
                    _ => {
                        let after = at((k + 1).min(slabs - 1), j);
                        blend_across(row, at(k.saturating_sub(1), j), here, after);
                    }
                }
            }
        };
        to.par_chunks_mut(length * rows)
            .enumerate()
            .for_each(|(k, part)| slab_of(k, part));
        std::mem::swap(&mut from, &mut to);
    }
    from
}

fn blend(before: f32, here: f32, after: f32) -> f32 {
    0.25 * (before + after) + 0.5 * here
}

/// Filters a row along itself.
fn blend_along(row: &mut [f32], values: &[f32]) {
    let last = values.len() - 1;
    for (value, three) in row[1..].iter_mut().zip(values.windows(3)) {
        *value = blend(three[0], three[1], three[2]);
    }
    row[0] = blend(values[0], values[0], values[1.min(last)]);
    row[last] = blend(values[last.saturating_sub(1)], values[last], values[last]);
}

/// Filters a row with the rows on either side of it.
fn blend_across(row: &mut [f32], before: &[f32], here: &[f32], after: &[f32]) {
    let rows = before.iter().zip(here).zip(after);
    for (value, ((&before, &here), &after)) in row.iter_mut().zip(rows) {
        *value = blend(before, here, after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::{ScriptedSolid, Shape};

    pub(super) const SPACING: f32 = 0.1;

    /// Eight particles per cell in the part of the unit cube selected by `inside`.
    pub(super) fn particles(inside: impl Fn(Vec3) -> bool) -> Vec<(Vec3, f32)> {
        let lattice = (0..8000).map(|k| [k % 20, k / 20 % 20, k / 400]);
        lattice
            .map(|at| at.map(|c| (c as f32 + 0.5) * 0.5 * SPACING))
            .filter(|&x| inside(x))
            .map(|x| (x, 2.0))
            .collect()
    }

    #[test]
    fn liquid_reaches_the_walls_and_ends_at_its_surface() {
        let room = ScriptedSolid::still(
            "room",
            Shape::Box {
                low: [0.0; 3],
                high: [1.0; 3],
            }
            .inverted(),
        );
        let posed = [room.at(0.0)];
        let field = Volume::new(&particles(|x| x[2] < 0.5), SPACING, 8.0, &posed);
        for x in [[0.5, 0.5, 0.25], [0.001, 0.5, 0.25], [0.999, 0.001, 0.001]] {
            assert!(field.occupancy(x) > 0.9, "{x:?}: {}", field.occupancy(x));
        }
        for x in [[0.5, 0.5, 0.62], [0.001, 0.5, 0.65], [0.5, 0.5, 0.9]] {
            assert!(field.occupancy(x) < LEVEL, "{x:?}: {}", field.occupancy(x));
        }
        for x in [[0.5, 0.5, 0.52], [0.03, 0.5, 0.52]] {
            assert!(field.normal(x)[2] > 0.9, "{x:?}: {:?}", field.normal(x));
        }
        assert!((field.speed([0.5, 0.5, 0.25]) - 2.0).abs() < 1e-3);
    }

    #[test]
    fn skipped_blocks_contain_no_surface() {
        let ball = |x: Vec3| x.map(|c| (c - 0.5) * (c - 0.5)).iter().sum::<f32>() < 0.12;
        let field = Volume::new::<3>(&particles(ball), SPACING, 8.0, &[]);
        let mut kinds = [0; 3];
        for k in 0..1000 {
            let x = [k % 10, k / 10 % 10, k / 100].map(|c| (c as f32 + 0.5) * 0.1);
            let value = field.occupancy(x);
            match field.block(x).0 {
                Content::Empty => assert!(value < LEVEL),
                Content::Full => assert!(value > LEVEL),
                Content::Mixed => {}
            }
            kinds[field.block(x).0 as usize] += 1;
        }
        assert!(kinds[2] > 0 && kinds[0] > 0, "{kinds:?}");
    }
}
