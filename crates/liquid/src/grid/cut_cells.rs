//! Cut cells: open fractions of faces and cells beside solids.
//!
//! Distances are sampled at nodes, the lower corners of cells, and taken as linear in between.

mod alike;
mod curved;
mod owners;

use rayon::prelude::*;

use self::alike::Alike;
use self::curved::Face;
use self::owners::Owners;
use crate::grid::tiles::{Coord, Corners, TILE, Tiles};
use crate::particles::transfer::{Stencil, face_offset, interpolate_with_gradient};
use crate::solids::{SolidField, SolidId};

/// Faces less open than this are closed, ...
const LEAST_OPEN: f64 = 1e-3;
/// ... and these, where no bodies need the exact shares: in the corners of slanted walls, slivers behind such faces hold no particle
/// and seem to be air, into which the liquid above would fall again and again.
const LEAST_OPEN_AT_WALLS: f64 = 0.03;
/// Distances below this share of a cell count as zero, so that rounding cannot open a face that lies in a wall.
const ON_THE_WALL: f64 = 1e-5;
/// A distance that grows by less than this over a cell, in metres, has no direction.
const FLAT: f64 = 1e-12;
/// Distance outside all tiles, and where there is no solid at all, in metres: finite, so that shares of it are.
const FAR_AWAY: f64 = 1e9;
/// Cells from a solid within which its distance is exact: what cutting and moving particles need, and some.
const EXACT: f64 = 4.0;

/// The block of tiles in which everything is open.
const OPEN: u32 = 0;

/// Distances of the solids at nodes, and the open fractions they leave.
///
/// Most tiles are open everywhere. They share one block of fractions, and so do others that are alike.
#[derive(Clone, Debug)]
pub struct CutCells<const D: usize> {
    /// Signed distance of the solids at nodes, in metres.
    pub node: Vec<f32>,
    /// Tiles in which, and in the cells around which, everything is open.
    pub far: Vec<bool>,
    /// Which block of fractions belongs to a tile, the null tile included.
    block: Vec<u32>,
    /// Open share of the low face of every cell along every axis, by blocks.
    face: [Vec<f32>; D],
    /// Open share of every cell, by blocks.
    cell: Vec<f32>,
    /// The solids that cover the rest of the faces.
    owners: Owners<D>,
}

impl<const D: usize> Default for CutCells<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const D: usize> CutCells<D> {
    /// Nothing sampled yet.
    pub fn new() -> Self {
        Self {
            node: Vec::new(),
            far: Vec::new(),
            block: Vec::new(),
            face: std::array::from_fn(|_| Vec::new()),
            cell: Vec::new(),
            owners: Owners::default(),
        }
    }

    #[inline]
    fn place(&self, index: usize) -> usize {
        let cells = Tiles::<D>::CELLS;
        self.block[index / cells] as usize * cells + index % cells
    }

    /// Open share of the low face of a cell along `axis`.
    #[inline]
    pub fn open_face(&self, axis: usize, index: usize) -> f32 {
        self.face[axis][self.place(index)]
    }

    /// Open share of a cell.
    #[inline]
    pub fn open_cell(&self, index: usize) -> f32 {
        self.cell[self.place(index)]
    }

    /// The solid that covers a face that is not fully open.
    #[inline]
    pub fn owner(&self, axis: usize, index: usize) -> Option<SolidId> {
        self.owners.of(axis, index)
    }

    /// Velocity of the solid beside a face whose centre is at `x`: the one that covers a part of it, else the closest.
    pub fn solid_velocity(
        &self,
        solids: &dyn SolidField<D>,
        axis: usize,
        face: usize,
        x: [f64; D],
    ) -> [f64; D] {
        let owner = match self.open_face(axis, face) < 1.0 {
            true => self.owner(axis, face),
            false => solids.closest(x),
        };
        owner.map_or([0.0; D], |solid| solids.velocity(solid, x))
    }

    /// Whether a tile is open everywhere.
    pub fn is_open(&self, slot: usize) -> bool {
        self.block[slot] == OPEN
    }

    /// Samples the solids at the nodes of all tiles and cuts faces and cells.
    pub fn sample(&mut self, tiles: &Tiles<D>, dx: f64, solids: &dyn SolidField<D>) {
        tiles.reset(&mut self.node, FAR_AWAY as f32);
        let cells = Tiles::<D>::CELLS;
        // Farthest that a node which a cell of the tile uses lies from the tile's centre.
        let reach = 0.5 * (TILE + 2) as f64 * dx * (D as f64).sqrt();
        let band = EXACT * dx;
        let nodes = self.node[..tiles.cells()].par_chunks_mut(cells);
        let batch = || {
            (
                Vec::with_capacity(cells),
                vec![0.0; cells],
                vec![SolidId::default(); cells],
            )
        };
        nodes
            .enumerate()
            .map_init(batch, |(points, distance, owner), (slot, node)| {
                let base = tiles.base(slot);
                let at = solids
                    .distance_within(
                        base.map(|c| (c as f64 + 0.5 * TILE as f64) * dx),
                        reach + band,
                    )
                    .min(FAR_AWAY);
                if at > reach {
                    node.fill((at - reach) as f32);
                    return true;
                }
                points.clear();
                points.extend((0..cells).map(|offset| -> [f64; D] {
                    let local = Tiles::<D>::local(offset);
                    std::array::from_fn(|a| (base[a] + local[a]) as f64 * dx)
                }));
                solids.sample(points, band, distance, owner);
                for (node, distance) in node.iter_mut().zip(&*distance) {
                    let distance = distance.min(FAR_AWAY);
                    *node = if distance.abs() < ON_THE_WALL * dx {
                        0.0
                    } else {
                        distance as f32
                    };
                }
                false
            })
            .collect_into_vec(&mut self.far);
        let slots = self.give_blocks(tiles);
        let node = &self.node;
        let fill = |blocks: &mut Vec<f32>, open: &(dyn Fn(usize) -> f64 + Sync)| {
            let needed = (slots.len() + 1) * cells;
            if blocks.capacity() < needed {
                // A little to spare, not twice as much as a vector takes by itself.
                *blocks = Vec::with_capacity(needed + needed / 16);
            }
            blocks.resize(needed, 1.0);
            let blocks = blocks.par_chunks_mut(cells).skip(1);
            blocks.zip(&slots).for_each(|(block, &slot)| {
                for (offset, share) in block.iter_mut().enumerate() {
                    *share = open(slot * cells + offset) as f32;
                }
            });
        };
        let is_curved = solids.has_curved_faces();
        let least = match is_curved {
            true => LEAST_OPEN,
            false => LEAST_OPEN_AT_WALLS,
        };
        let gap = solids.contact_gap() * dx;
        for axis in 0..D {
            fill(&mut self.face[axis], &|index| {
                let corners = face_corners(tiles, node, index, axis);
                if gap > 0.0
                    && corners[..1 << (D - 1)].iter().all(|&c| c <= gap)
                    && is_between(tiles, dx, solids, gap, (index, axis))
                {
                    return 0.0;
                }
                let face = Face {
                    solids,
                    dx,
                    band,
                    axis,
                    cell: tiles.coord(index),
                };
                let curved = is_curved.then(|| face.open_share(corners)).flatten();
                curved.unwrap_or_else(|| open_face::<D>(corners, least))
            });
        }
        fill(&mut self.cell, &|index| open_cell(tiles, node, index, dx));
        let mut owners = std::mem::take(&mut self.owners);
        owners.find(tiles, self, dx, solids);
        self.owners = owners;
    }

    /// Gives every tile with a solid in it a block, the same to tiles that are alike; returns a tile for each of these blocks.
    fn give_blocks(&mut self, tiles: &Tiles<D>) -> Vec<usize> {
        let cells = Tiles::<D>::CELLS;
        let mut open: Vec<bool> = self
            .node
            .par_chunks(cells)
            .map(|node| node.iter().all(|&distance| distance > 0.0))
            .collect();
        // The nodes that the cells of a tile use are its own and those of the tiles above.
        let own = open.clone();
        for slot in (0..tiles.len()).filter(|&slot| !self.far[slot]) {
            let last = tiles.base(slot).map(|c| c + TILE - 1);
            let near = &tiles.corners(last)[..1 << D];
            open[slot] = near.iter().all(|&index| own[index / cells]);
        }
        let slots: Vec<usize> = (0..tiles.len()).filter(|&slot| !open[slot]).collect();
        self.block.clear();
        self.block.resize(tiles.len() + 1, OPEN);
        let alike = Alike::new(tiles, &self.node, &slots);
        for (&slot, &group) in slots.iter().zip(&alike.group) {
            self.block[slot] = OPEN + 1 + group as u32;
        }
        alike.first
    }

    /// Closes a face that solids leave open.
    pub fn close(&mut self, axis: usize, index: usize) {
        let cells = Tiles::<D>::CELLS;
        // Others may have the same block.
        let shared = self.block[index / cells] as usize * cells;
        self.block[index / cells] = (self.cell.len() / cells) as u32;
        for blocks in self.face.iter_mut().chain([&mut self.cell]) {
            blocks.extend_from_within(shared..shared + cells);
        }
        let place = self.place(index);
        self.face[axis][place] = 0.0;
    }

    /// No solid is nearer than this to a point of a tile; nothing is said of tiles beside solids.
    pub fn clearance(&self, slot: usize) -> f64 {
        if self.far[slot] {
            self.node[slot * Tiles::<D>::CELLS] as f64
        } else {
            f64::NEG_INFINITY
        }
    }

    /// Distance at a cell's centre.
    #[inline]
    pub fn centre(&self, tiles: &Tiles<D>, cell: Coord<D>) -> f64 {
        mean_of_corners::<D>(&self.corners(tiles, cell))
    }

    /// Distance at a point given in cells, linear between nodes.
    #[inline]
    pub fn distance(&self, tiles: &Tiles<D>, x: [f64; D]) -> f64 {
        Stencil::new(tiles, x, [0.0; D]).value(&self.node)
    }

    /// Unit normal out of the solids at a point given in cells; zero where the distance has no slope.
    #[inline]
    pub fn normal(&self, tiles: &Tiles<D>, x: [f64; D]) -> [f64; D] {
        let (_, gradient) = Stencil::new(tiles, x, [0.0; D]).value_and_gradient(&self.node);
        direction(gradient)
    }

    /// The gradient of the distance, per cell, at the centre of a face.
    #[inline]
    pub fn gradient_on_face(&self, tiles: &Tiles<D>, axis: usize, index: usize) -> [f64; D] {
        interpolate_with_gradient(self.corners_of(tiles, index), face_offset(axis)).1
    }

    /// Distances at the corners of a cell; only the first `2^D` are used.
    #[inline]
    pub fn corners(&self, tiles: &Tiles<D>, cell: Coord<D>) -> [f64; 8] {
        values_at::<D>(&self.node, &tiles.corners(cell))
    }

    /// The same for the cell with this index, which is quicker.
    #[inline]
    pub fn corners_of(&self, tiles: &Tiles<D>, index: usize) -> [f64; 8] {
        values_at::<D>(&self.node, &tiles.corners_of(index))
    }
}

/// Values at up to eight nodes; only the first `2^D` are used.
#[inline]
fn values_at<const D: usize>(node: &[f32], corners: &Corners) -> [f64; 8] {
    let mut values = [0.0; 8];
    for (value, &corner) in values[..1 << D].iter_mut().zip(corners) {
        *value = node[corner] as f64;
    }
    values
}

/// Whether the centre of a face is in a gap between two solids.
fn is_between<const D: usize>(
    tiles: &Tiles<D>,
    dx: f64,
    solids: &dyn SolidField<D>,
    gap: f64,
    (index, axis): (usize, usize),
) -> bool {
    let cell = tiles.coord(index);
    let x = std::array::from_fn(|a| (cell[a] as f64 + if a == axis { 0.0 } else { 0.5 }) * dx);
    let close = |solid: &u32| solids.distance_to_within(SolidId(*solid), x, 2.0 * gap) <= gap;
    (0..solids.count() as u32).filter(close).nth(1).is_some()
}

/// Mean of the `2^D` corner values, the value at a cell's centre.
#[inline]
pub fn mean_of_corners<const D: usize>(corners: &[f64; 8]) -> f64 {
    corners[..1 << D].iter().sum::<f64>() / (1 << D) as f64
}

/// Unit vector along a gradient of the distance; zero where the distance has no slope.
#[inline]
pub fn direction<const D: usize>(gradient: [f64; D]) -> [f64; D] {
    let steep = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    if steep < FLAT || !steep.is_finite() {
        [0.0; D]
    } else {
        gradient.map(|g| g / steep)
    }
}

/// Distances at the corners of the low face of a cell, in order around it; the first `2^(D - 1)` count.
fn face_corners<const D: usize>(
    tiles: &Tiles<D>,
    node: &[f32],
    index: usize,
    axis: usize,
) -> [f64; 4] {
    let corner = |n: usize| node[n] as f64;
    let along = |n: usize, skip: usize| tiles.above(n, (axis + skip) % D);
    let b = along(index, 1);
    if D == 2 {
        return [corner(index), corner(b), 0.0, 0.0];
    }
    let d = along(index, 2);
    [corner(index), corner(b), corner(along(b, 2)), corner(d)]
}

fn open_face<const D: usize>(corners: [f64; 4], least: f64) -> f64 {
    let open = open_share::<D>(corners);
    if open < least { 0.0 } else { open }
}

/// Open share of a face from the distances at its corners, in order around it; the first `2^(D - 1)` count.
pub fn open_share<const D: usize>(corners: [f64; 4]) -> f64 {
    match D {
        2 => open_segment(corners[0], corners[1]),
        _ => open_square(corners),
    }
}

/// Share of a segment with positive distance.
fn open_segment(a: f64, b: f64) -> f64 {
    match (a > 0.0, b > 0.0) {
        (true, true) => 1.0,
        (false, false) => 0.0,
        (true, false) => a / (a - b),
        (false, true) => b / (b - a),
    }
}

/// Share of a square with positive distance, corners in order around it. The square is cut into four triangles
/// at its centre, so that the answer does not depend on where one starts nor on the way round.
fn open_square(corners: [f64; 4]) -> f64 {
    if corners.iter().all(|&c| c > 0.0) {
        return 1.0;
    }
    if corners.iter().all(|&c| c <= 0.0) {
        return 0.0;
    }
    let centre = ((corners[0] + corners[2]) + (corners[1] + corners[3])) / 4.0;
    let triangle = |k: usize| open_triangle(centre, corners[k], corners[(k + 1) % 4]);
    ((triangle(0) + triangle(2)) + (triangle(1) + triangle(3))) / 4.0
}

fn open_triangle(a: f64, b: f64, c: f64) -> f64 {
    let share = |p: f64, q: f64, r: f64| p / (p - q) * (p / (p - r));
    match (a > 0.0, b > 0.0, c > 0.0) {
        (true, true, true) => 1.0,
        (false, false, false) => 0.0,
        (true, false, false) => share(a, b, c),
        (false, true, false) => share(b, c, a),
        (false, false, true) => share(c, a, b),
        (false, true, true) => 1.0 - share(a, b, c),
        (true, false, true) => 1.0 - share(b, c, a),
        (true, true, false) => 1.0 - share(c, a, b),
    }
}

fn open_cell<const D: usize>(tiles: &Tiles<D>, node: &[f32], index: usize, dx: f64) -> f64 {
    let values = values_at::<D>(node, &tiles.corners_of(index));
    let (low, high) = range(&values[..1 << D]);
    if low >= 0.0 {
        return 1.0;
    }
    if high <= 0.0 {
        return 0.0;
    }
    mean_over_cell::<D>(|at| heaviside(interpolate::<D>(&values, at), dx / SUBCELLS as f64))
}

/// Sample points along each axis of a cell.
pub const SUBCELLS: usize = 4;

/// Mean over a cell of a function of the position in it (0 to 1 along every axis), by the midpoints of subcells.
pub fn mean_over_cell<const D: usize>(value: impl Fn([f64; D]) -> f64) -> f64 {
    let count = SUBCELLS.pow(D as u32);
    let sum: f64 = (0..count)
        .map(|k| {
            value(
                std::array::from_fn(|a| ((k / SUBCELLS.pow(a as u32)) % SUBCELLS) as f64 + 0.5)
                    .map(|s| s / SUBCELLS as f64),
            )
        })
        .sum();
    sum / count as f64
}

/// Share of a small cell of width `h` with positive distance, from the distance at its centre.
#[inline]
pub fn heaviside(distance: f64, h: f64) -> f64 {
    (0.5 + distance / h).clamp(0.0, 1.0)
}

/// Multilinear interpolation between the `2^D` corner values.
#[inline]
pub fn interpolate<const D: usize>(corners: &[f64; 8], at: [f64; D]) -> f64 {
    let mut values = *corners;
    for a in (0..D).rev() {
        // Corners whose bit `a` is set lie in the upper half of what is left.
        for c in 0..1 << a {
            values[c] += at[a] * (values[c + (1 << a)] - values[c]);
        }
    }
    values[0]
}

/// Smallest and largest.
pub fn range(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| {
            (low.min(v), high.max(v))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_cuts_a_square_to_its_exact_share() {
        for (normal, offset) in [([1.0, 0.0], -0.25), ([0.6, 0.8], -0.7), ([0.6, -0.8], 0.1)] {
            let at = |x: f64, y: f64| normal[0] * x + normal[1] * y + offset;
            let open = open_square([at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)]);
            let n = 2000;
            let count = (0..n * n)
                .filter(|k| at((k % n) as f64 / n as f64, (k / n) as f64 / n as f64) > 0.0)
                .count();
            assert!(
                (open - count as f64 / (n * n) as f64).abs() < 1e-3,
                "{open}"
            );
        }
    }

    #[test]
    fn a_square_that_repeats_an_edge_is_as_open_as_the_edge() {
        for (a, b) in [
            (0.3, -0.7),
            (-1.0, 0.2),
            (0.0, 1.0),
            (0.0, 0.0),
            (0.0, -1.0),
        ] {
            assert!((open_square([a, b, b, a]) - open_segment(a, b)).abs() < 1e-15);
        }
    }

    #[test]
    fn a_face_inside_a_wall_plane_is_closed_and_one_beside_it_open() {
        assert_eq!(open_square([0.0; 4]), 0.0);
        assert_eq!(open_square([0.0, 0.0, 1.0, 1.0]), 1.0);
        assert_eq!(open_square([0.0, 0.0, -1.0, -1.0]), 0.0);
    }

    #[test]
    fn interpolation_takes_the_corner_values_at_the_corners() {
        let corners = [1.0, 2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0];
        for c in 0..8 {
            let at = std::array::from_fn(|a| (c >> a & 1) as f64);
            assert_eq!(interpolate::<3>(&corners, at), corners[c]);
        }
    }
}
