//! Sparse grid: tiles of 8 cells per side around the liquid, and their neighbours.
//!
//! A field over the grid is a plain `Vec` with one block of `8^D` values per tile and one more block at the
//! end, the *null tile*, that holds the background value. Neighbours that lie outside every tile resolve to the
//! null tile, so that reading needs no special case. Storage and work follow the tiles, and so the liquid; only
//! the map from tile coordinates to tiles covers the domain, with four bytes for every `8^D` cells.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::growth::Growth;
use rayon::prelude::*;

/// Cells along the side of a tile.
pub const TILE: i32 = 1 << SHIFT;
const SHIFT: usize = 3;
const LOCAL: usize = TILE as usize - 1;
const NONE: u32 = u32::MAX;
/// Lowest tile of the map along every axis.
const LOWEST: i32 = -1;
/// The first cell of the domain is this far inside its tile: the few cells beyond a wall that are ever read then need no
/// tiles of their own.
const INSET: i32 = TILE / 2;

/// Tile of a cell.
#[inline]
fn tile_of<const D: usize>(cell: Coord<D>) -> Coord<D> {
    cell.map(|c| (c + INSET) >> SHIFT)
}

/// Coordinates of a cell inside its tile.
#[inline]
fn local_of<const D: usize>(cell: Coord<D>) -> Coord<D> {
    cell.map(|c| (c + INSET) & LOCAL as i32)
}

/// Largest integer not above `x`. The library's own is a call on processors without an instruction for it.
#[inline]
pub fn floor(x: f64) -> i32 {
    let towards_zero = x as i32;
    towards_zero - (x < towards_zero as f64) as i32
}

/// A cell, face or node, by its integer coordinates.
pub type Coord<const D: usize> = [i32; D];

/// Up to eight cells around a point; only the first `2^D` are used.
pub type Corners = [usize; 8];

/// The tiles that exist at the moment.
#[derive(Clone, Debug)]
pub struct Tiles<const D: usize> {
    extent: [usize; D],
    map: Vec<u32>,
    coords: Vec<Coord<D>>,
    neighbours: Vec<u32>,
}

impl<const D: usize> Tiles<D> {
    /// Cells in a tile.
    pub const CELLS: usize = 1 << (SHIFT * D);
    /// Cells in and around a cell.
    pub const DIRECTIONS: usize = 3usize.pow(D as u32);

    /// No tiles yet, over a domain of `cells` cells. One tile of margin on every side holds the walls.
    pub fn new(cells: [usize; D]) -> Self {
        let extent = cells.map(|n| (n + INSET as usize).div_ceil(TILE as usize) + 2);
        let mut tiles = Self {
            map: vec![NONE; extent.iter().product()],
            extent,
            coords: Vec::new(),
            neighbours: Vec::new(),
        };
        tiles.connect();
        tiles
    }

    /// How many tiles there are, the null tile not counted.
    pub fn len(&self) -> usize {
        self.coords.len()
    }

    /// Whether there are no tiles.
    pub fn is_empty(&self) -> bool {
        self.coords.is_empty()
    }

    /// Length of a field: all cells of all tiles and of the null tile.
    pub fn field_len(&self) -> usize {
        (self.coords.len() + 1) * Self::CELLS
    }

    /// Number of cells in tiles.
    pub fn cells(&self) -> usize {
        self.coords.len() * Self::CELLS
    }

    /// Prepares `field` for these tiles, every value `background`.
    pub fn reset<T: Clone>(&self, field: &mut Vec<T>, background: T) {
        field.clear();
        field.resize_closely(self.field_len(), background);
    }

    /// Coordinates of the lowest cell of a tile.
    #[inline]
    pub fn base(&self, slot: usize) -> Coord<D> {
        self.coords[slot].map(|c| c * TILE - INSET)
    }

    /// Checkerboard colour of a tile: face neighbours differ.
    pub fn colour(&self, slot: usize) -> usize {
        self.coords[slot].iter().sum::<i32>().rem_euclid(2) as usize
    }

    /// Colour of a tile among `2^D`, so that tiles of one colour are at least a tile apart in every direction.
    pub fn parity(&self, slot: usize) -> usize {
        (0..D)
            .map(|a| (self.coords[slot][a].rem_euclid(2) as usize) << a)
            .sum()
    }

    #[inline]
    const fn shift(axis: usize) -> usize {
        SHIFT * (D - 1 - axis)
    }

    /// Distance in memory between neighbours along `axis` inside a tile. The last axis is contiguous.
    #[inline]
    pub const fn stride(axis: usize) -> usize {
        1 << Self::shift(axis)
    }

    /// Coordinates inside its tile of the cell with this offset in the tile.
    #[inline]
    pub fn local(offset: usize) -> Coord<D> {
        std::array::from_fn(|a| ((offset >> Self::shift(a)) & LOCAL) as i32)
    }

    /// Coordinates of the cell with this index.
    #[inline]
    pub fn coord(&self, index: usize) -> Coord<D> {
        let base = self.base(index >> (SHIFT * D));
        let local = Self::local(index);
        std::array::from_fn(|a| base[a] + local[a])
    }

    #[inline]
    fn offset(local: Coord<D>) -> usize {
        (0..D).map(|a| (local[a] as usize) << Self::shift(a)).sum()
    }

    #[inline]
    fn slot(&self, tile: Coord<D>) -> usize {
        let mut at = 0;
        for a in 0..D {
            let i = tile[a] - LOWEST;
            if i < 0 || i as usize >= self.extent[a] {
                return self.coords.len();
            }
            at = at * self.extent[a] + i as usize;
        }
        match self.map[at] {
            NONE => self.coords.len(),
            slot => slot as usize,
        }
    }

    /// Index of a cell, in the null tile if no tile holds it.
    #[inline]
    pub fn index(&self, cell: Coord<D>) -> usize {
        self.slot(tile_of(cell)) * Self::CELLS + Self::offset(local_of(cell))
    }

    /// True if the index lies in a tile that exists.
    #[inline]
    pub fn exists(&self, index: usize) -> bool {
        index < self.cells()
    }

    /// Index of the next cell along `axis`.
    #[inline]
    pub fn above(&self, index: usize, axis: usize) -> usize {
        if (index >> Self::shift(axis)) & LOCAL < LOCAL {
            index + Self::stride(axis)
        } else {
            let slot = self.neighbours
                [(index >> (SHIFT * D)) * Self::DIRECTIONS + Self::direction_along(axis, 1)];
            slot as usize * Self::CELLS + (index & (Self::CELLS - 1)) - LOCAL * Self::stride(axis)
        }
    }

    /// Index of the previous cell along `axis`.
    #[inline]
    pub fn below(&self, index: usize, axis: usize) -> usize {
        if (index >> Self::shift(axis)) & LOCAL > 0 {
            index - Self::stride(axis)
        } else {
            let slot = self.neighbours
                [(index >> (SHIFT * D)) * Self::DIRECTIONS + Self::direction_along(axis, -1)];
            slot as usize * Self::CELLS + (index & (Self::CELLS - 1)) + LOCAL * Self::stride(axis)
        }
    }

    /// The tile that lies one `step` (-1 or 1) away along `axis`, by its slot; the null tile's if there is none.
    #[inline]
    pub fn neighbour(&self, slot: usize, axis: usize, step: i32) -> usize {
        self.neighbours[slot * Self::DIRECTIONS + Self::direction_along(axis, step)] as usize
    }

    /// The slots of a tile and of those around it, itself in the middle; the last axis runs fastest.
    #[inline]
    pub fn around_tile(&self, slot: usize) -> &[u32] {
        &self.neighbours[slot * Self::DIRECTIONS..][..Self::DIRECTIONS]
    }

    #[inline]
    fn direction_along(axis: usize, step: i32) -> usize {
        let mut direction = 0;
        for a in 0..D {
            direction = direction * 3 + if a == axis { (step + 1) as usize } else { 1 };
        }
        direction
    }

    /// Indices of the `2^D` cells from `base` to `base + 1` along every axis; bit `a` of the corner number is the
    /// step along axis `a`.
    #[inline]
    pub fn corners(&self, base: Coord<D>) -> Corners {
        self.corners_in(self.slot(tile_of(base)), local_of(base))
    }

    /// [`Tiles::corners`] from the cell with this index on: there is no tile to be looked up.
    #[inline]
    pub fn corners_of(&self, index: usize) -> Corners {
        self.corners_in(index >> (SHIFT * D), Self::local(index))
    }

    #[inline]
    fn corners_in(&self, slot: usize, local: Coord<D>) -> Corners {
        let mut corners = [0; 8];
        corners[0] = slot * Self::CELLS + Self::offset(local);
        if local.iter().all(|&l| l < LOCAL as i32) {
            for a in 0..D {
                for c in 0..1 << a {
                    corners[c + (1 << a)] = corners[c] + Self::stride(a);
                }
            }
        } else {
            // Offsets in a tile first, then the tiles they lie in.
            corners[0] = Self::offset(local);
            let mut direction = [Self::DIRECTIONS / 2; 8];
            for a in 0..D {
                let (step, beyond) = if local[a] < LOCAL as i32 {
                    (Self::stride(a) as isize, 0)
                } else {
                    let back = LOCAL * Self::stride(a);
                    (-(back as isize), 3usize.pow((D - 1 - a) as u32))
                };
                for c in 0..1 << a {
                    corners[c + (1 << a)] = corners[c].wrapping_add_signed(step);
                    direction[c + (1 << a)] = direction[c] + beyond;
                }
            }
            let near = &self.neighbours[slot * Self::DIRECTIONS..(slot + 1) * Self::DIRECTIONS];
            for c in 0..1 << D {
                corners[c] += near[direction[c]] as usize * Self::CELLS;
            }
        }
        corners
    }

    /// Index of `base` if the `3^D` cells from there to `base + 2` along every axis lie in one tile.
    #[inline]
    pub fn block(&self, base: Coord<D>) -> Option<usize> {
        let local = local_of(base);
        let inside = local.iter().all(|&l| l < LOCAL as i32 - 1);
        inside.then(|| self.slot(tile_of(base)) * Self::CELLS + Self::offset(local))
    }

    /// Indices of the `3^D` cells around a cell, itself in the middle; only the first `3^D` are used. The first axis
    /// runs fastest.
    #[inline]
    pub fn around(&self, index: usize) -> [usize; 27] {
        let mut near = [0; 27];
        let local = Self::local(index);
        if local.iter().all(|&l| l > 0 && l < LOCAL as i32) {
            for (k, near) in near[..Self::DIRECTIONS].iter_mut().enumerate() {
                let step = |a: usize| (k / 3usize.pow(a as u32) % 3) as isize - 1;
                let along = (0..D).map(|a| step(a) * Self::stride(a) as isize);
                *near = index.wrapping_add_signed(along.sum());
            }
            return near;
        }
        // For every axis and step: the place in the tile it ends in, and where that tile lies.
        let slots = self.around_tile(index >> (SHIFT * D));
        let to = |a: usize| -> [(usize, usize); 3] {
            std::array::from_fn(|step| {
                let from = (local[a] + TILE - 1) as usize + step;
                (
                    (from & LOCAL) << Self::shift(a),
                    (from >> SHIFT) * 3usize.pow((D - 1 - a) as u32),
                )
            })
        };
        // Axis after axis, each with all that the axes before it made: place in the tile, and which tile.
        let mut found = [(0, 0); 27];
        let mut count = 1;
        for a in 0..D {
            for (step, (place, beyond)) in to(a).into_iter().enumerate().rev() {
                for k in 0..count {
                    let (offset, direction) = found[k];
                    found[step * count + k] = (offset + place, direction + beyond);
                }
            }
            count *= 3;
        }
        for (near, (offset, direction)) in near.iter_mut().zip(found).take(Self::DIRECTIONS) {
            *near = slots[direction] as usize * Self::CELLS + offset;
        }
        near
    }

    /// Makes exactly the tiles that lie within `band` cells (at most a tile) of one of the `cells`.
    pub fn cover(&mut self, cells: impl IndexedParallelIterator<Item = Coord<D>>, band: i32) {
        let wanted = Self::directions_within(band);
        let marks: Vec<AtomicU32> = (0..self.map.len()).map(|_| AtomicU32::new(0)).collect();
        cells.with_min_len(4096).for_each(|cell| {
            let at = self.place(tile_of(cell));
            let bits = wanted[Self::offset(local_of(cell))];
            if marks[at].load(Ordering::Relaxed) & bits != bits {
                marks[at].fetch_or(bits, Ordering::Relaxed);
            }
        });
        self.map.fill(NONE);
        for (at, mark) in marks.iter().enumerate() {
            let bits = mark.load(Ordering::Relaxed);
            if bits != 0 {
                let tile = self.tile_at(at);
                for direction in 0..Self::DIRECTIONS {
                    if bits >> direction & 1 != 0 {
                        let step = Self::step_of(direction);
                        let at = self.place(std::array::from_fn(|a| tile[a] + step[a]));
                        self.map[at] = 0;
                    }
                }
            }
        }
        self.coords.clear();
        for at in 0..self.map.len() {
            if self.map[at] != NONE {
                self.map[at] = self.coords.len() as u32;
                self.coords.push(self.tile_at(at));
            }
        }
        self.connect();
    }

    /// Place of a tile in the map; what lies outside is moved to the margin.
    #[inline]
    fn place(&self, tile: Coord<D>) -> usize {
        let mut at = 0;
        for a in 0..D {
            let i = (tile[a] - LOWEST).clamp(0, self.extent[a] as i32 - 1);
            at = at * self.extent[a] + i as usize;
        }
        at
    }

    fn tile_at(&self, mut at: usize) -> Coord<D> {
        let mut tile = [0; D];
        for a in (0..D).rev() {
            tile[a] = (at % self.extent[a]) as i32 + LOWEST;
            at /= self.extent[a];
        }
        tile
    }

    fn step_of(mut direction: usize) -> Coord<D> {
        let mut step = [0; D];
        for a in (0..D).rev() {
            step[a] = (direction % 3) as i32 - 1;
            direction /= 3;
        }
        step
    }

    /// For every cell of a tile: the directions of the tiles that lie within `band` cells of it, as bits.
    fn directions_within(band: i32) -> Vec<u32> {
        let near = |local: i32, step: i32| match step {
            -1 => local < band,
            0 => true,
            _ => local >= TILE - band,
        };
        (0..Self::CELLS)
            .map(|offset| {
                let local = Self::local(offset);
                (0..Self::DIRECTIONS)
                    .filter(|&d| (0..D).all(|a| near(local[a], Self::step_of(d)[a])))
                    .map(|d| 1 << d)
                    .sum()
            })
            .collect()
    }

    fn connect(&mut self) {
        let mut neighbours = std::mem::take(&mut self.neighbours);
        neighbours.clear();
        for slot in 0..=self.coords.len() {
            for direction in 0..Self::DIRECTIONS {
                let step = Self::step_of(direction);
                neighbours.push(match self.coords.get(slot) {
                    Some(tile) => self.slot(std::array::from_fn(|a| tile[a] + step[a])) as u32,
                    None => slot as u32,
                });
            }
        }
        self.neighbours = neighbours;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around<const D: usize>(cells: &[Coord<D>], band: i32) -> Tiles<D> {
        let mut tiles = Tiles::new([40; D]);
        tiles.cover(cells.par_iter().copied(), band);
        tiles
    }

    #[test]
    fn walking_between_cells_agrees_with_looking_them_up() {
        let tiles = around(&[[3, 9, 17], [30, 30, 30], [15, 8, 16]], 4);
        for index in 0..tiles.cells() {
            let cell = tiles.coord(index);
            assert_eq!(tiles.index(cell), index);
            let corners = tiles.corners(cell);
            assert!(!tiles.exists(corners[0]) || tiles.corners_of(corners[0]) == corners);
            for (k, near) in tiles.around(index).into_iter().enumerate() {
                let step = [k % 3, k / 3 % 3, k / 9].map(|s| s as i32 - 1);
                assert_eq!(
                    near,
                    tiles.index(std::array::from_fn(|a| cell[a] + step[a]))
                );
            }
            for axis in 0..3 {
                let mut next = cell;
                next[axis] += 1;
                let found = tiles.above(index, axis);
                assert_eq!(tiles.exists(found), tiles.exists(tiles.index(next)));
                assert_eq!(corners[1 << axis], found);
                if tiles.exists(found) {
                    assert_eq!(tiles.coord(found), next);
                    assert_eq!(tiles.below(found, axis), index);
                }
            }
        }
    }

    #[test]
    fn every_cell_within_the_band_has_a_tile_and_distant_ones_have_none() {
        let tiles = around(&[[12, 12]], 4);
        for x in -4..30 {
            for y in -4..30 {
                let near = (x - 12i32).abs() <= 4 && (y - 12i32).abs() <= 4;
                let exists = tiles.exists(tiles.index([x, y]));
                assert!(exists || !near, "{x} {y}");
            }
        }
        assert!(tiles.len() <= 4);
        assert!(!tiles.exists(tiles.index([35, 35])));
    }
}
