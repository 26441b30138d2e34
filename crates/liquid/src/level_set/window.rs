//! The particles around a tile, side by side in memory, and the distance of the liquid that they make.

use crate::cut_cells::CutCells;
use crate::particles::{Bins, Particles};
use crate::tiles::{Coord, TILE, Tiles, floor};

/// Radius of the kernel in cells.
pub const REACH: f64 = 2.0;
/// Value in air that no particle comes near, in cells.
pub const AIR: f64 = 1.5;
/// Points farther than this from every particle are air, in cells.
const LONELY: f64 = 0.75;
/// Cells deeper than this inside a solid are air, in cells.
const DEEPEST: f64 = -1.5;

/// Cells around a tile whose particles are within reach of the centre of one of its cells.
const MARGIN: i32 = 2;
/// The same where a wall has moved that centre out of the tile.
const WALL_MARGIN: i32 = 4;
/// Most cells along the side of a window.
const SIDE: usize = (TILE + 2 * WALL_MARGIN) as usize;
/// Particles that are looked at together.
const LANES: usize = 4;
/// Where a particle is that is none, in cells: out of everybody's reach.
const NOWHERE: f32 = 1e3;

/// What a window is filled from.
pub struct Source<'a, const D: usize> {
    pub tiles: &'a Tiles<D>,
    pub particles: &'a Particles<D>,
    /// Notes the radius of every particle, in cells.
    pub bins: &'a Bins,
    pub cut: &'a CutCells<D>,
    pub dx: f64,
}

/// The particles of a tile and around it, by rows of cells along the last axis, and in a row by cells.
///
/// Single precision is enough for sums over a few hundred particles within two cells.
pub struct Window<const D: usize> {
    /// The tile, if there is one yet.
    slot: Option<usize>,
    base: Coord<D>,
    /// Cells around the tile on every side.
    margin: i32,
    /// For every row: where the particles of its cells begin, and where the last ones end. Particles that are none
    /// follow, so that a group which begins in a row ends before the next one begins.
    starts: Vec<[u32; SIDE + 1]>,
    /// Place in cells from the lower corner of the tile.
    place: [Vec<f32>; D],
    radius: Vec<f32>,
}

impl<const D: usize> Window<D> {
    /// No particles yet.
    pub fn new() -> Self {
        Self {
            slot: None,
            base: [0; D],
            margin: 0,
            starts: Vec::new(),
            place: std::array::from_fn(|_| Vec::new()),
            radius: Vec::new(),
        }
    }

    /// Cells along the side.
    fn side(&self) -> usize {
        (TILE + 2 * self.margin) as usize
    }

    /// Takes the particles around a tile.
    fn fill(&mut self, source: &Source<D>, slot: usize, margin: i32) {
        let Source {
            tiles,
            particles,
            bins,
            dx,
            ..
        } = source;
        self.slot = Some(slot);
        self.base = tiles.base(slot);
        self.margin = margin;
        let (margin, side) = (margin as usize, self.side());
        let base = self.base.map(|c| c as f64);
        let inverse_dx = 1.0 / dx;
        self.starts.clear();
        self.radius.clear();
        for place in &mut self.place {
            place.clear();
        }
        for row in 0..side.pow(D as u32 - 1) {
            let mut first = self.base.map(|c| c - self.margin);
            let mut rest = row;
            for a in (0..D - 1).rev() {
                first[a] += (rest % side) as i32;
                rest /= side;
            }
            let mut starts = [self.radius.len() as u32; SIDE + 1];
            let mut cell = 0;
            // The row crosses three tiles.
            for length in [margin, TILE as usize, margin] {
                let index = tiles.index(first);
                if tiles.exists(index) {
                    let here = self.radius.len();
                    let of_cells = bins.of_cells(index..index + length);
                    for k in 0..length {
                        starts[cell + k] =
                            (here + bins.of(index + k).start - of_cells.start) as u32;
                    }
                    for p in of_cells {
                        let x = particles.position[p];
                        for a in 0..D {
                            self.place[a].push((x[a] as f64 * inverse_dx - base[a]) as f32);
                        }
                        self.radius.push(bins.noted(p));
                    }
                } else {
                    starts[cell..cell + length].fill(self.radius.len() as u32);
                }
                cell += length;
                first[D - 1] += length as i32;
            }
            starts[side] = self.radius.len() as u32;
            self.starts.push(starts);
            if starts[0] < starts[side] {
                let padded = self.radius.len() + LANES - 1;
                for place in &mut self.place {
                    place.resize(padded, NOWHERE);
                }
                self.radius.resize(padded, 0.0);
            }
        }
    }

    /// Distance of the liquid and of the solids at the centre of a cell, in cells. Cells of one tile are best asked
    /// about one after the other.
    pub fn at_centre(&mut self, source: &Source<D>, index: usize) -> (f64, f64) {
        let cell = source.tiles.coord(index);
        let mut x: [f64; D] = cell.map(|c| c as f64 + 0.5);
        let wall = source.cut.centre(source.tiles, cell) / source.dx;
        let mut normal = None;
        if wall < REACH + 0.5 {
            if wall < DEEPEST {
                return (AIR, wall);
            }
            let away = source.cut.normal(source.tiles, x);
            for a in 0..D {
                x[a] += (0.5 - wall).max(0.0) * away[a];
            }
            normal = Some(away);
        }
        let slot = index / Tiles::<D>::CELLS;
        if self.slot != Some(slot) {
            self.fill(source, slot, MARGIN);
        }
        let base = source.tiles.base(slot);
        let inside = |a: usize| (0.0..=TILE as f64).contains(&(x[a] - base[a] as f64));
        if self.margin == MARGIN && !(0..D).all(inside) {
            self.fill(source, slot, WALL_MARGIN);
        }
        (self.distance(x, normal).min(AIR), wall)
    }

    /// Distance to the liquid at `x`, in cells. `wall` is the normal of a wall within reach.
    ///
    /// There are no particles inside the wall, and so their mean is pushed away from it; that part is left out,
    /// or the surface would seem to drop towards every wall. No point is inside that has no particle within
    /// [`LONELY`]: neither the middle of a gap between two surfaces, which is also the mean of what lies around it,
    /// nor a wall that the liquid has left.
    fn distance(&self, x: [f64; D], wall: Option<[f64; D]>) -> f64 {
        let x: [f64; D] = std::array::from_fn(|a| x[a] - self.base[a] as f64);
        let inside = |c: i32| (c + self.margin).clamp(0, self.side() as i32 - 1) as usize;
        let low = x.map(|x| inside(floor(x - REACH)));
        let high = x.map(|x| inside(floor(x + REACH)));
        let span: [usize; D] = std::array::from_fn(|a| high[a] - low[a] + 1);
        let rows = span[..D - 1].iter().product::<usize>();
        let mut sums = Sums::<D>::new();
        for k in 0..rows {
            let (mut rest, mut row, mut scale, mut aside) = (k, 0, 1, 0.0);
            for a in (0..D - 1).rev() {
                let cell = low[a] + rest % span[a];
                rest /= span[a];
                row += scale * cell;
                scale *= self.side();
                let gap = (cell as i32 - self.margin) as f64 - x[a];
                let gap = gap.max(-1.0 - gap).max(0.0);
                aside += gap * gap;
            }
            let left = REACH * REACH - aside;
            if left <= 0.0 {
                continue;
            }
            let along = left.sqrt();
            let starts = &self.starts[row];
            let first = starts[inside(floor(x[D - 1] - along))];
            let last = starts[inside(floor(x[D - 1] + along)) + 1];
            self.add(
                first as usize,
                last as usize,
                x.map(|x| x as f32),
                &mut sums,
            );
        }
        sums.distance(wall)
    }

    /// Adds the particles of a row from `first` to before `last`. Some that follow do no harm: they are out of reach.
    #[inline]
    fn add(&self, first: usize, last: usize, x: [f32; D], sums: &mut Sums<D>) {
        const INVERSE_SQUARE: f32 = (1.0 / (REACH * REACH)) as f32;
        let mut from = first;
        while from < last {
            let lanes = |values: &[f32]| -> [f32; LANES] { std::array::from_fn(|l| values[l]) };
            let group = from..from + LANES;
            let radius = lanes(&self.radius[group.clone()]);
            let mut away = [[0.0; LANES]; D];
            let mut square = [0.0; LANES];
            for a in 0..D {
                let place = lanes(&self.place[a][group.clone()]);
                for l in 0..LANES {
                    away[a][l] = place[l] - x[a];
                    square[l] += away[a][l] * away[a][l];
                }
            }
            for l in 0..LANES {
                let rest = 1.0 - square[l] * INVERSE_SQUARE;
                let rest = if rest > 0.0 { rest } else { 0.0 };
                let kernel = rest * rest * rest;
                let nearest = &mut sums.nearest[l];
                *nearest = if square[l] < *nearest {
                    square[l]
                } else {
                    *nearest
                };
                sums.weight[l] += kernel;
                sums.radius[l] += kernel * radius[l];
                for a in 0..D {
                    sums.mean[a][l] += kernel * away[a][l];
                }
            }
            from += LANES;
        }
    }
}

/// Sums over the particles around a point, by lanes.
struct Sums<const D: usize> {
    weight: [f32; LANES],
    radius: [f32; LANES],
    mean: [[f32; LANES]; D],
    /// Squared distance of the nearest particle.
    nearest: [f32; LANES],
}

impl<const D: usize> Sums<D> {
    fn new() -> Self {
        Self {
            weight: [0.0; LANES],
            radius: [0.0; LANES],
            mean: [[0.0; LANES]; D],
            nearest: [f32::INFINITY; LANES],
        }
    }

    fn distance(&self, wall: Option<[f64; D]>) -> f64 {
        let total = |lanes: &[f32; LANES]| lanes.iter().map(|&v| v as f64).sum::<f64>();
        let weight = total(&self.weight);
        if weight < 1e-9 {
            return AIR;
        }
        let nearest = self.nearest.iter().fold(f32::INFINITY, |m, &v| m.min(v)) as f64;
        let mut mean: [f64; D] = std::array::from_fn(|a| total(&self.mean[a]) / weight);
        if let Some(normal) = wall {
            let pushed = (0..D).map(|a| mean[a] * normal[a]).sum::<f64>().max(0.0);
            for a in 0..D {
                mean[a] -= pushed * normal[a];
            }
        }
        let distance =
            mean.iter().map(|m| m * m).sum::<f64>().sqrt() - total(&self.radius) / weight;
        distance.max(nearest.sqrt() - LONELY)
    }
}
