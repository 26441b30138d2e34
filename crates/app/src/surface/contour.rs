//! Contouring: the closed zero set of a function on a lattice in 3D, the filled region of negative values in 2D.
//!
//! Cells of the lattice have two sizes. Where they meet, faces of coarse cells are subdivided as those of their fine
//! neighbours: see `transition.rs`.

mod join;

use super::{marching_cubes_table, transition};
use join::{Piece, join};
use rayon::prelude::*;

/// Side of a block in cells.
pub const BLOCK: i32 = 8;
/// Smallest distance of a vertex from the ends of its edge, as a fraction of it: neighbours never coincide.
const NEAREST: f64 = 1e-3;
/// Range of lattice indices along every axis.
const FARTHEST: i32 = 1 << 19;

/// Side of the parts of a coarse cell, in fine parts.
pub const COARSE: usize = 2;

/// Lattice: cells of some width, each divided into `parts` along every axis if it is fine, and into half as many
/// otherwise. Point 0 is at `origin`.
#[derive(Clone, Copy, Debug)]
pub struct Lattice<const D: usize> {
    /// Position of point 0.
    pub origin: [f64; D],
    /// Width of a cell.
    pub width: f64,
    /// Parts of a fine cell along an axis, an even number.
    pub parts: i32,
}

impl<const D: usize> Lattice<D> {
    /// Position of a point.
    pub fn place(&self, point: [i32; D]) -> [f64; D] {
        let spacing = self.width / f64::from(self.parts);
        std::array::from_fn(|a| self.origin[a] + spacing * f64::from(point[a]))
    }
}

/// Function to contour.
pub trait Implicit<const D: usize>: Sync {
    /// Data prepared for a block.
    type Local: Default + Send;
    /// Prepares a block, given by its lowest cell.
    fn enter(&self, block: [i32; D], local: &mut Self::Local);
    /// Value at a lattice point, negative inside. Blocks that share a point must agree on its value.
    fn value(&self, local: &Self::Local, point: [i32; D]) -> f64;
    /// Value after subtracting solids, given that value: no smaller. For values that are incomplete without it.
    fn cut(&self, _local: &Self::Local, _point: [i32; D], value: f64) -> f64 {
        value
    }
    /// Whether the sign may change within a coarse cell; in 2D, whether any of it may be inside.
    fn matters(&self, local: &Self::Local, cell: [i32; D]) -> bool;
    /// Whether all points of a cell are outside.
    fn is_dry(&self, _local: &Self::Local, _cell: [i32; D]) -> bool {
        false
    }
    /// Whether a point is known to be outside without computing its value.
    fn is_outside(&self, _local: &Self::Local, _point: [i32; D]) -> bool {
        false
    }
    /// Whether a cell of the block, or one adjacent to it, is fine.
    fn is_fine(&self, _local: &Self::Local, _cell: [i32; D]) -> bool {
        false
    }
    /// Whether any of these cells is fine.
    fn any_fine(&self, _local: &Self::Local) -> bool {
        false
    }
    /// Smoothing weight of a vertex near a point, from 0 to 1.
    fn smoothing_weight(&self, _local: &Self::Local, _point: [i32; D]) -> f32 {
        1.0
    }
}

/// Vertices and triangles.
#[derive(Clone, Debug, Default)]
pub struct Contour<const D: usize> {
    /// Positions of the vertices.
    pub vertices: Vec<[f64; D]>,
    /// Smoothing weight of each vertex, from 0 to 1.
    pub smoothing_weight: Vec<f32>,
    /// Vertex indices, counter-clockwise as seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Error: the contour is too large for its indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Contour in these blocks, given by their lowest cells.
///
/// # Errors
/// If the lattice has too many points along an axis, or there are too many vertices.
pub fn contour<const D: usize, I: Implicit<D>>(
    lattice: &Lattice<D>,
    blocks: &[[i32; D]],
    inside: &I,
) -> Result<Contour<D>, TooLarge> {
    let largest = FARTHEST / lattice.parts - BLOCK;
    if blocks.iter().flatten().any(|c| c.abs() > largest) {
        return Err(TooLarge);
    }
    let pieces: Vec<Piece<D>> = blocks
        .par_iter()
        .map_init(
            || (Workspace::default(), I::Local::default()),
            |(work, local), &block| {
                inside.enter(block, local);
                work.piece(lattice, block, inside, local)
            },
        )
        .collect();
    join(pieces)
}

/// Scratch memory, reused from block to block.
#[derive(Default)]
pub struct Workspace {
    /// Values at the points of the block, where they are known.
    values: Vec<f64>,
    known: Vec<Known>,
    /// Vertices on the edges from a point in positive directions, and at the point itself; `NONE` if there is none.
    numbers: Vec<[u32; 4]>,
}

const NONE: u32 = u32::MAX;

/// State of a point.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Nothing,
    Outside,
    Value,
}

/// Block being contoured.
pub struct Block<'a, const D: usize, I: Implicit<D>> {
    lattice: &'a Lattice<D>,
    pub(super) inside: &'a I,
    pub(super) local: &'a I::Local,
    lowest: [i32; D],
    /// Stride of lattice points: a block without fine cells uses every other one.
    unit: i32,
    side: usize,
    work: &'a mut Workspace,
    piece: Piece<D>,
}

impl Workspace {
    fn piece<const D: usize, I: Implicit<D>>(
        &mut self,
        lattice: &Lattice<D>,
        block: [i32; D],
        inside: &I,
        local: &I::Local,
    ) -> Piece<D> {
        let any_fine = inside.any_fine(local);
        let unit = if any_fine { 1 } else { COARSE as i32 };
        let parts = lattice.parts / unit;
        let side = (BLOCK * parts) as usize + 1;
        self.values.resize(side.pow(D as u32), 0.0);
        self.known.clear();
        self.known.resize(side.pow(D as u32), Known::Nothing);
        self.numbers.clear();
        self.numbers.resize(side.pow(D as u32), [NONE; 4]);
        let mut at_work = Block {
            lattice,
            inside,
            local,
            lowest: block.map(|c| c * lattice.parts),
            unit,
            side,
            work: self,
            piece: Piece {
                keys: Vec::new(),
                vertices: Vec::new(),
                triangles: Vec::new(),
            },
        };
        for offset in offsets::<D>(BLOCK) {
            let cell = std::array::from_fn(|a| block[a] + offset[a]);
            let fine = any_fine && inside.is_fine(local, cell);
            let transition = any_fine && !fine && transition::beside_fine(inside, local, cell);
            let matters = if fine || transition {
                !inside.is_dry(local, cell)
            } else {
                inside.matters(local, cell)
            };
            if !matters {
                continue;
            }
            let step = if any_fine && !fine { COARSE } else { 1 };
            for part in offsets::<D>(parts / step as i32) {
                let low =
                    std::array::from_fn(|a| (offset[a] * parts) as usize + part[a] as usize * step);
                if transition {
                    let last = parts / step as i32 - 1;
                    transition::cell(&mut at_work, cell, low, part, last);
                } else {
                    at_work.small_cell(low, step);
                }
            }
        }
        at_work.piece
    }
}

/// All offsets below `n`, the first axis fastest.
fn offsets<const D: usize>(n: i32) -> impl Iterator<Item = [i32; D]> {
    (0..n.pow(D as u32)).map(move |mut k| {
        std::array::from_fn(|_| {
            let digit = k % n;
            k /= n;
            digit
        })
    })
}

impl<const D: usize, I: Implicit<D>> Block<'_, D, I> {
    fn small_cell(&mut self, low: [usize; D], step: usize) {
        let corner = |c: usize| std::array::from_fn(|a| low[a] + (c >> a & 1) * step);
        let case = (0..1 << D).fold(0, |case, c| {
            case | usize::from(self.is_inside(corner(c))) << c
        });
        if case == 0 {
            return;
        }
        if D == 3 {
            for triangle in &marching_cubes_table::TRIANGLES[case] {
                let triangle = triangle.map(|e| {
                    let (c, axis) = marching_cubes_table::edge(e);
                    self.crossing(corner(c), axis, step)
                });
                self.piece.triangles.push(triangle);
            }
        } else {
            self.square(case, corner, step);
        }
    }

    /// Fills the inside part of a square, from the corners that are inside and the crossings on its edges in
    /// order. Two opposite corners stay separate.
    fn square(&mut self, case: usize, corner: impl Fn(usize) -> [usize; D], step: usize) {
        const ROUND: [usize; 4] = [0, 1, 3, 2];
        let inside = |k: usize| case >> ROUND[k % 4] & 1 == 1;
        let mut polygon = Vec::with_capacity(8);
        for k in 0..4 {
            let (from, to) = (ROUND[k], ROUND[(k + 1) % 4]);
            if inside(k) {
                polygon.push(self.corner(corner(from)));
            }
            if inside(k) != inside(k + 1) {
                let axis = usize::from(from ^ to == 2);
                polygon.push(self.crossing(corner(from & to), axis, step));
            }
        }
        let apart = case == 0b0110 || case == 0b1001;
        let pieces: Vec<Vec<u32>> = if apart {
            // Each corner with the crossings before and after it.
            let n = polygon.len();
            let first = usize::from(!inside(0));
            [first + n, first + 3 + n]
                .map(|k| (0..3).map(|i| polygon[(k + i + n - 1) % n]).collect())
                .into()
        } else {
            vec![polygon]
        };
        for polygon in pieces {
            for k in 1..polygon.len() - 1 {
                self.piece
                    .triangles
                    .push([polygon[0], polygon[k], polygon[k + 1]]);
            }
        }
    }

    fn index(&self, point: [usize; D]) -> usize {
        (0..D).rev().fold(0, |at, a| at * self.side + point[a])
    }

    fn point(&self, local: [usize; D]) -> [i32; D] {
        std::array::from_fn(|a| self.lowest[a] + local[a] as i32 * self.unit)
    }

    /// Whether a point is inside. Most are known to be outside without their value or solids.
    pub(super) fn is_inside(&mut self, local: [usize; D]) -> bool {
        let index = self.index(local);
        if self.work.known[index] == Known::Nothing {
            let point = self.point(local);
            self.work.known[index] = Known::Outside;
            if !self.inside.is_outside(self.local, point) {
                let value = self.inside.value(self.local, point);
                if value < 0.0 {
                    self.work.known[index] = Known::Value;
                    self.work.values[index] = self.inside.cut(self.local, point, value);
                }
            }
        }
        self.work.known[index] == Known::Value && self.work.values[index] < 0.0
    }

    fn value(&mut self, local: [usize; D]) -> f64 {
        let index = self.index(local);
        if self.work.known[index] != Known::Value {
            let point = self.point(local);
            let value = self.inside.value(self.local, point);
            self.work.known[index] = Known::Value;
            self.work.values[index] = self.inside.cut(self.local, point, value);
        }
        self.work.values[index]
    }

    /// Vertex on the edge from a point along an axis, `step` points long.
    pub(super) fn crossing(&mut self, local: [usize; D], axis: usize, step: usize) -> u32 {
        let mut above = local;
        above[axis] += step;
        let (from, to) = (self.value(local), self.value(above));
        let share = (from / (from - to)).clamp(NEAREST, 1.0 - NEAREST);
        self.vertex(local, axis, share * step as f64)
    }

    /// Vertex at a point.
    fn corner(&mut self, local: [usize; D]) -> u32 {
        self.vertex(local, CORNER, 0.0)
    }

    /// Vertex `distance` points from a point along an axis.
    fn vertex(&mut self, local: [usize; D], kind: usize, distance: f64) -> u32 {
        let index = self.index(local);
        if self.work.numbers[index][kind] == NONE {
            let point = self.point(local);
            let mut place = self.lattice.place(point);
            if kind < D {
                let spacing = self.lattice.width / f64::from(self.lattice.parts);
                place[kind] += distance * f64::from(self.unit) * spacing;
            }
            let loose = self.inside.smoothing_weight(self.local, point);
            self.work.numbers[index][kind] = self.push(key(point, kind), place, loose);
        }
        self.work.numbers[index][kind]
    }

    fn push(&mut self, key: u64, place: [f64; D], loose: f32) -> u32 {
        self.piece.keys.push(key);
        self.piece.vertices.push((place, loose));
        self.piece.keys.len() as u32 - 1
    }

    /// Triangulates a polygon around its centroid, in a cell that has no other vertex of this kind at this point.
    pub(super) fn fan(&mut self, local: [usize; D], kind: usize, polygon: &[u32]) {
        let all = polygon.iter().map(|&v| self.piece.vertices[v as usize]);
        let (mut place, mut loose) = ([0.0; D], 0.0);
        for (x, l) in all {
            for a in 0..D {
                place[a] += x[a] / polygon.len() as f64;
            }
            loose += l / polygon.len() as f32;
        }
        let middle = self.push(key(self.point(local), kind), place, loose);
        for (k, &from) in polygon.iter().enumerate() {
            self.triangle([from, polygon[(k + 1) % polygon.len()], middle]);
        }
    }

    pub(super) fn triangle(&mut self, triangle: [u32; 3]) {
        self.piece.triangles.push(triangle);
    }
}

/// Kinds of vertices: along each axis, at a point itself, and at the centroids of polygons.
const CORNER: usize = 3;
pub(super) const MIDDLES: std::ops::Range<usize> = 4..16;

/// Unique key of a vertex.
fn key<const D: usize>(point: [i32; D], kind: usize) -> u64 {
    let place = (0..D)
        .rev()
        .fold(0u64, |key, a| key << 20 | (point[a] + FARTHEST) as u64);
    place << 4 | kind as u64
}

#[cfg(test)]
mod tests;
