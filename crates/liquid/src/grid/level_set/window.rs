//! The particles around a tile, side by side in memory, and the distance of the liquid that they make.

use std::ops::Range;

use super::mirror::Mirror;
use crate::grid::cut_cells::{CutCells, direction, mean_of_corners};
use crate::grid::tile_halo;
use crate::grid::tiles::{Coord, TILE, Tiles, floor};
use crate::particles::transfer::interpolate_with_gradient;
use crate::particles::{Bins, Particles};

/// Radius of the kernel in cells.
pub const REACH: f64 = 1.75;
/// Value in air that no particle comes near, in cells.
pub const AIR: f64 = 1.5;
/// Points farther than this from every particle are air, in cells.
const LONELY: f64 = 0.75;
/// Slope of the bound on the distance that follows from [`LONELY`]: points nearer to a particle than half a cell don't
/// feel it.
const STEEPNESS: f64 = 4.0;
/// Largest value of that bound, in cells: it tells points outside from points inside, not how far outside they are.
const OUTSIDE: f64 = 0.2;
/// Cells deeper than this inside a solid are air, in cells.
const DEEPEST: f64 = -1.5;

/// Cells around a tile whose particles are within reach of the centre of one of its cells.
const MARGIN: i32 = 2;
/// Cells along the side of a window.
const SIDE: usize = (TILE + 2 * MARGIN) as usize;
/// Most rows of cells within reach of a point.
const MOST_ROWS: usize = 25;
/// Share that a mean pushed off a wall is freed of: all up to the first, in cells, where no images lie behind the edge
/// between two walls; nothing beyond the second, where the liquid itself is off the wall.
const CORNER: f64 = 0.3;
const GAP: f64 = 0.6;
/// Horizontal part of a normal that has a horizontal direction.
const LEVEL: f64 = 0.1;
/// Particles that are looked at together.
const LANES: usize = 8;
/// Where a particle is that is none, in cells: out of everybody's reach.
const NOWHERE: f32 = 1e3;

/// What a window is filled from.
pub struct Source<'a, const D: usize> {
    pub tiles: &'a Tiles<D>,
    pub particles: &'a Particles<D>,
    /// Notes the radius of every particle, in cells.
    pub bins: &'a Bins,
    pub cut: &'a CutCells<D>,
    pub mirror: &'a Mirror<'a, D>,
    pub dx: f64,
    /// Unit vector against gravity; zero without gravity.
    pub up: [f64; D],
}

/// Direction of the horizontal part of a normal.
fn level_part<const D: usize>(normal: [f64; D], up: [f64; D]) -> Option<[f64; D]> {
    let rise: f64 = (0..D).map(|a| normal[a] * up[a]).sum();
    let level: [f64; D] = std::array::from_fn(|a| normal[a] - rise * up[a]);
    let across = level.iter().map(|e| e * e).sum::<f64>().sqrt();
    (across > LEVEL).then(|| level.map(|e| e / across))
}

/// Where the distance of a cell is taken.
pub struct Centre<const D: usize> {
    /// The cell's centre, in cells.
    x: [f64; D],
    /// Distance of the solids at the centre itself, in cells; infinite in tiles that are far from them.
    pub wall: f64,
    /// Distances of the solids at the corners of the cell, in metres, if the tile is not far from them.
    corners: [f64; 8],
}

impl<const D: usize> Centre<D> {
    /// Of a cell, by its index.
    pub fn of(source: &Source<D>, index: usize) -> Self {
        let Source { tiles, cut, dx, .. } = source;
        let cell = tiles.coord(index);
        let mut centre = Self {
            x: cell.map(|c| c as f64 + 0.5),
            wall: f64::INFINITY,
            corners: [0.0; 8],
        };
        if cut.far[index / Tiles::<D>::CELLS] {
            return centre;
        }
        centre.corners = cut.corners_of(tiles, index);
        centre.wall = mean_of_corners::<D>(&centre.corners) / dx;
        centre
    }

    /// Horizontal direction away from a wall within reach.
    fn away(&self, source: &Source<D>) -> Option<[f64; D]> {
        let within_reach = (DEEPEST..REACH).contains(&self.wall);
        let normal = within_reach.then(|| {
            let (_, gradient) = interpolate_with_gradient(self.corners, [0.5; D]);
            direction(gradient)
        })?;
        level_part(normal, source.up)
    }
}

/// Points of a tile and around it, by rows of cells along the last axis, and in a row by cells.
///
/// Single precision is enough for sums over a few hundred particles within two cells.
struct Rows<const D: usize> {
    /// For every row: where the points of its cells begin, and where the last ones end. Points that are none
    /// follow, so that a group which begins in a row ends before the next one begins.
    starts: Vec<[u32; SIDE + 1]>,
    /// Place in cells from the lower corner of the tile.
    place: [Vec<f32>; D],
    radius: Vec<f32>,
}

impl<const D: usize> Rows<D> {
    fn new() -> Self {
        Self {
            starts: Vec::new(),
            place: std::array::from_fn(|_| Vec::new()),
            radius: Vec::new(),
        }
    }

    /// Takes the points around a tile: `take` adds those of a run of cells and writes where those of each begin. Runs that have
    /// none are passed over.
    fn fill(
        &mut self,
        tiles: &Tiles<D>,
        slot: usize,
        has_some: impl Fn(Range<usize>) -> bool,
        mut take: impl FnMut(Range<usize>, &mut [Vec<f32>; D], &mut Vec<f32>, &mut [u32]),
    ) {
        self.starts.clear();
        self.radius.clear();
        for place in &mut self.place {
            place.clear();
        }
        tile_halo::rows(tiles, slot, MARGIN as usize, |_, runs| {
            let mut starts = [self.radius.len() as u32; SIDE + 1];
            let mut cell = 0;
            for run in runs {
                let starts = &mut starts[cell..cell + run.len()];
                cell += run.len();
                if tiles.exists(run.start) && has_some(run.clone()) {
                    take(run, &mut self.place, &mut self.radius, starts);
                } else {
                    starts.fill(self.radius.len() as u32);
                }
            }
            starts[SIDE] = self.radius.len() as u32;
            self.starts.push(starts);
            if starts[0] < starts[SIDE] {
                let padded = self.radius.len() + LANES - 1;
                for place in &mut self.place {
                    place.resize(padded, NOWHERE);
                }
                self.radius.resize(padded, 0.0);
            }
        });
    }

    /// Calls `visit` for the particles of every row of a [`Neighbourhood`] around a cell of the tile, until it returns false.
    #[inline(always)]
    fn rows_around(
        &self,
        cell: Coord<D>,
        neighbourhood: &Neighbourhood,
        mut visit: impl FnMut(usize, usize) -> bool,
    ) {
        if self.starts.is_empty() {
            return;
        }
        let inside = cell.map(|c| (c + MARGIN) as usize);
        let own = inside[..D - 1].iter().fold(0, |row, c| row * SIDE + c);
        for &(aside, along) in &neighbourhood.rows {
            let starts = &self.starts[own.wrapping_add_signed(aside)];
            let first = starts[inside[D - 1] - along];
            let last = starts[inside[D - 1] + along + 1];
            if first < last && !visit(first as usize, last as usize) {
                return;
            }
        }
    }

    /// Adds the particles of a row from `first` to before `last`. Some that follow do no harm: they are out of reach.
    #[inline(always)]
    fn add(&self, first: usize, last: usize, x: [f32; D], sums: &mut Sums<D>) {
        const INVERSE_SQUARE: f32 = (1.0 / (REACH * REACH)) as f32;
        let mut from = first;
        while from < last {
            let Some(radius) = self.radius[from..].first_chunk::<LANES>() else {
                return;
            };
            let mut away = [[0.0; LANES]; D];
            let mut square = [0.0; LANES];
            for a in 0..D {
                let Some(place) = self.place[a][from..].first_chunk::<LANES>() else {
                    return;
                };
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

/// The rows of cells that come within some distance of the centre of a cell: how far each lies from the cell's own in the list
/// of rows, and how many cells of it on either side are within that distance.
struct Neighbourhood {
    rows: Vec<(isize, usize)>,
}

impl Neighbourhood {
    fn new<const D: usize>(reach: f64) -> Self {
        let cells = -MARGIN..=MARGIN;
        let mut rows = Vec::with_capacity(MOST_ROWS);
        let width = cells.clone().count();
        for k in 0..width.pow(D as u32 - 1) {
            let (mut rest, mut row, mut scale, mut aside) = (k, 0, 1, 0.0);
            for _ in 0..D - 1 {
                let cell = (rest % width) as i32 - MARGIN;
                rest /= width;
                row += scale * cell as isize;
                scale *= SIDE as isize;
                let gap = (cell.unsigned_abs() as f64 - 0.5).max(0.0);
                aside += gap * gap;
            }
            let left = reach * reach - aside;
            if left > 0.0 {
                let along = (0.5 + left.sqrt()).floor() as usize;
                rows.push((row, along));
            }
        }
        Self { rows }
    }
}

/// The particles of a tile and around it, and their images behind walls.
pub struct Window<const D: usize> {
    /// The tile, if there is one yet.
    slot: Option<usize>,
    base: Coord<D>,
    own: Rows<D>,
    mirrored: Rows<D>,
    within_reach: Neighbourhood,
    not_lonely: Neighbourhood,
}

impl<const D: usize> Window<D> {
    /// No particles yet.
    pub fn new() -> Self {
        Self {
            slot: None,
            base: [0; D],
            own: Rows::new(),
            mirrored: Rows::new(),
            within_reach: Neighbourhood::new::<D>(REACH),
            not_lonely: Neighbourhood::new::<D>(LONELY),
        }
    }

    /// Takes the particles around a tile.
    fn fill(&mut self, source: &Source<D>, slot: usize) {
        let Source {
            tiles,
            particles,
            bins,
            mirror,
            dx,
            ..
        } = source;
        self.slot = Some(slot);
        self.base = tiles.base(slot);
        let base = self.base.map(|c| c as f64);
        let inverse_dx = 1.0 / dx;
        let has_some = |cells: Range<usize>| !bins.of_cells(cells).is_empty();
        self.own
            .fill(tiles, slot, has_some, |cells, place, radius, starts| {
                let here = radius.len();
                let all = bins.of_cells(cells.clone());
                for (start, index) in starts.iter_mut().zip(cells) {
                    *start = (here + bins.of(index).start - all.start) as u32;
                }
                // Axis by axis: each is one loop over what lies side by side.
                let positions = &particles.position[all.clone()];
                for (a, place) in place.iter_mut().enumerate() {
                    let along = |x: &[f32; D]| (x[a] as f64 * inverse_dx - base[a]) as f32;
                    place.extend(positions.iter().map(along));
                }
                radius.extend(bins.noted(all));
            });
        if !mirror.is_around(tiles, slot) {
            self.mirrored.starts.clear();
            return;
        }
        let has_some = |cells: Range<usize>| mirror.has_some(cells);
        self.mirrored
            .fill(tiles, slot, has_some, |cells, place, radius, starts| {
                let here = radius.len();
                let own = mirror.starts(cells);
                let (first, last) = (own[0], own[own.len() - 1]);
                for (start, own) in starts.iter_mut().zip(own) {
                    *start = here as u32 + own - first;
                }
                let all = first as usize..last as usize;
                for (a, place) in place.iter_mut().enumerate() {
                    let along = |&x: &f32| (x as f64 - base[a]) as f32;
                    place.extend(mirror.place[a][all.clone()].iter().map(along));
                }
                radius.extend_from_slice(&mirror.radius[all]);
            });
    }

    /// Prepares for a cell. Cells of one tile should follow one another.
    fn come_to(&mut self, source: &Source<D>, index: usize) {
        let slot = index / Tiles::<D>::CELLS;
        if self.slot != Some(slot) {
            self.fill(source, slot);
        }
    }

    /// Whether a particle is within [`LONELY`] of a cell's centre.
    pub fn is_close(&mut self, source: &Source<D>, index: usize, centre: &Centre<D>) -> bool {
        if centre.wall < DEEPEST {
            return false;
        }
        self.come_to(source, index);
        let cell = self.cell(centre);
        let at = cell.map(|c| c as f32 + 0.5);
        let mut close = false;
        for points in [&self.own, &self.mirrored] {
            points.rows_around(cell, &self.not_lonely, |first, last| {
                for p in first..last {
                    let square: f32 = (0..D)
                        .map(|a| (points.place[a][p] - at[a]) * (points.place[a][p] - at[a]))
                        .sum();
                    if square < (LONELY * LONELY) as f32 {
                        close = true;
                        return false;
                    }
                }
                true
            });
            if close {
                break;
            }
        }
        close
    }

    /// Distance of the liquid at the centre of a cell, in cells.
    ///
    /// There are no images behind the edge where two walls meet, and so the mean is pushed away from it; that part is
    /// left out, or the surface would seem to drop towards every corner. No point is inside that has no particle within
    /// [`LONELY`]: neither the middle of a gap between two surfaces, which is also the mean of what lies around it,
    /// nor a wall that the liquid has left.
    pub fn distance(&mut self, source: &Source<D>, index: usize, centre: &Centre<D>) -> f64 {
        if centre.wall < DEEPEST {
            return AIR;
        }
        self.come_to(source, index);
        self.sums(self.cell(centre))
            .distance(centre.away(source))
            .min(AIR)
    }

    /// The cell of a centre, from the lower corner of the tile.
    fn cell(&self, centre: &Centre<D>) -> Coord<D> {
        // Cells below the domain have negative coordinates.
        std::array::from_fn(|a| floor(centre.x[a]) - self.base[a])
    }

    /// Sums over the particles within reach of the centre of a cell, by the widest instructions that there are. These do the same
    /// operations in the same order, so that the result is the same.
    fn sums(&self, cell: Coord<D>) -> Sums<D> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            return unsafe { self.sums_by_avx2(cell) };
        }
        self.sums_by_lanes(cell)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn sums_by_avx2(&self, cell: Coord<D>) -> Sums<D> {
        self.sums_by_lanes(cell)
    }

    #[inline(always)]
    fn sums_by_lanes(&self, cell: Coord<D>) -> Sums<D> {
        let at = cell.map(|c| c as f32 + 0.5);
        // The rows first: what adds up the particles is then one loop without calls, which keeps its sums in registers.
        let mut sums = Sums::<D>::new();
        for points in [&self.own, &self.mirrored] {
            let mut rows = [(0, 0); MOST_ROWS];
            let mut count = 0;
            points.rows_around(cell, &self.within_reach, |first, last| {
                rows[count] = (first, last);
                count += 1;
                count < MOST_ROWS
            });
            for &(first, last) in &rows[..count] {
                points.add(first, last, at, &mut sums);
            }
        }
        sums
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

    fn distance(&self, away: Option<[f64; D]>) -> f64 {
        let total = |lanes: &[f32; LANES]| lanes.iter().map(|&v| v as f64).sum::<f64>();
        let weight = total(&self.weight);
        if weight < 1e-9 {
            return AIR;
        }
        let nearest = self.nearest.iter().fold(f32::INFINITY, |m, &v| m.min(v)) as f64;
        let mut mean: [f64; D] = std::array::from_fn(|a| total(&self.mean[a]) / weight);
        if let Some(away) = away {
            let pushed = (0..D).map(|a| mean[a] * away[a]).sum::<f64>().max(0.0);
            let pushed = pushed * ((GAP - pushed) / (GAP - CORNER)).clamp(0.0, 1.0);
            for a in 0..D {
                mean[a] -= pushed * away[a];
            }
        }
        let distance =
            mean.iter().map(|m| m * m).sum::<f64>().sqrt() - total(&self.radius) / weight;
        distance.max((STEEPNESS * (nearest.sqrt() - LONELY)).min(OUTSIDE))
    }
}
