//! The liquid's signed distance from its particles, and the volume it encloses.
//!
//! At a point, `phi = |x - mean of the particles near x| - r`, the mean weighted by a smooth kernel of radius
//! [`REACH`] cells. On the boundary of a half-space full of particles the mean lies a fixed share of the reach
//! away, and `r` is that distance: flat surfaces are where the particles end, without bias. Particles of sheets and
//! drops thinner than a cell have a smaller `r`, in keeping with their number, or splashes would swell.

use rayon::prelude::*;

use crate::cut_cells::{CutCells, SUBCELLS, heaviside, interpolate, mean_over_cell, range};
use crate::particles::{Bins, Particles};
use crate::tiles::{Coord, Tiles, floor};
use crate::transfer::Stencil;

/// Radius of the kernel in cells.
const REACH: f64 = 2.0;
/// Points farther than this from every particle are air, in cells.
const LONELY: f64 = 0.75;
/// Cells whose centre seems to lie inside, deeper than this, ...
const INSIDE: f64 = -0.15;
/// ... and that are emptier than this, are spray and count as air, if there is air beside them. On a flat surface the
/// surroundings of a cell's centre are half full.
const SPARSE: f64 = 0.65;
/// Distance in voids that are no air, in cells.
const VOID: f64 = -0.25;
/// Cells deeper than this inside a solid are air, in cells.
const DEEPEST: f64 = -1.5;
/// Value in air that no particle comes near, in cells.
const AIR: f64 = 1.5;

/// Distance, in cells, between a flat surface and the weighted mean of the particles below, seen from the surface:
/// the centroid of half a ball (half a disc in 2D) under the kernel `(1 - s^2)^3`.
fn half_space_mean<const D: usize>() -> f64 {
    // Integrals of s^k (1 - s^2)^3 over 0..1; the mean of the cosine over half a sphere is 1/2, half a circle 2/pi.
    let moment = |k: i32| -> f64 {
        let terms = [1.0, -3.0, 3.0, -1.0];
        (0..4)
            .map(|j| terms[j as usize] / (k + 2 * j + 1) as f64)
            .sum()
    };
    let cosine = if D == 2 {
        2.0 / std::f64::consts::PI
    } else {
        0.5
    };
    REACH * cosine * moment(D as i32) / moment(D as i32 - 1)
}

/// Filled share of a particle's surroundings below which it belongs to something thin. Particles under a flat surface
/// see more.
const THIN: f64 = 0.66;

/// The liquid's distance at the centres of cells.
#[derive(Clone, Debug, Default)]
pub struct LevelSet {
    /// In metres, negative in the liquid; `AIR` cells at most, about half a cell deep inside.
    pub phi: Vec<f64>,
    /// Radius of every particle in cells.
    radius: Vec<f32>,
    surroundings: Surroundings,
}

impl LevelSet {
    /// Rebuilds the distance in all tiles. `crowd` is the number of particles around the centres of cells, as a share
    /// of what belongs there.
    ///
    /// Cells whose centre is within half a cell of a wall, or inside, see the liquid half a cell off the wall: the
    /// distance is continued into the solid along its normal, or every wall would look like a free surface.
    pub fn build<const D: usize>(
        &mut self,
        tiles: &Tiles<D>,
        particles: &Particles<D>,
        bins: &Bins<D>,
        cut: &CutCells<D>,
        crowd: &[f32],
        dx: f64,
    ) {
        tiles.reset(&mut self.phi, AIR * dx);
        let cells = Tiles::<D>::CELLS;
        let full = half_space_mean::<D>();
        // A sheet of thickness t has a cell's centre inside only here and there, and the volume measured between
        // centres goes with the square of its radius; so the radius goes with the root of the thickness.
        self.radius.clear();
        self.radius
            .par_extend(particles.position.par_iter().with_min_len(1024).map(|x| {
                let share = Stencil::new(tiles, x.map(|x| x as f64 / dx), [0.5; D]).value(crowd);
                (full * (share / THIN).min(1.0)) as f32
            }));
        self.surroundings.look(tiles, bins, cut);
        let surroundings = &self.surroundings.flags;
        let lookup = Lookup {
            tiles,
            particles,
            bins,
            dx,
            radius: &self.radius,
        };
        let spray: Vec<Vec<u32>> = self.phi[..tiles.cells()]
            .par_chunks_mut(cells)
            .enumerate()
            .map(|(slot, phi)| {
                let mut spray = Vec::new();
                for (offset, phi) in phi.iter_mut().enumerate() {
                    let index = slot * cells + offset;
                    if surroundings[index] & BESIDE == 0 {
                        continue;
                    }
                    if surroundings[index] & DEEP != 0 {
                        *phi = -full * dx;
                        continue;
                    }
                    let (distance, wall) = lookup.at_centre(cut, index);
                    *phi = distance * dx;
                    // Beside a wall the share is known too roughly.
                    if distance < INSIDE && wall > 1.0 && (crowd[index] as f64) < SPARSE {
                        spray.push(index as u32);
                    }
                }
                spray
            })
            .collect();
        // Farther from the particles only what lies beside liquid is ever read.
        let phi = &self.phi;
        let rim: Vec<(u32, f64)> = (0..tiles.len())
            .into_par_iter()
            .flat_map_iter(|slot| slot * cells..(slot + 1) * cells)
            .filter(|&index| surroundings[index] & (NEAR | BESIDE) == NEAR)
            .filter(|&index| {
                let near = tiles.around(index);
                near[..Tiles::<D>::DIRECTIONS].iter().any(|&n| phi[n] < 0.0)
            })
            .map(|index| (index as u32, lookup.at_centre(cut, index).0 * dx))
            .collect();
        for (index, distance) in rim {
            self.phi[index as usize] = distance;
        }
        self.open_up(tiles, cut, crowd, dx, spray.concat());
        self.fill_voids(tiles, cut, dx);
    }

    /// Turns cells of spray into air, those with air beside them only.
    fn open_up<const D: usize>(
        &mut self,
        tiles: &Tiles<D>,
        cut: &CutCells<D>,
        crowd: &[f32],
        dx: f64,
        mut spray: Vec<u32>,
    ) {
        let air = |near: usize| self.phi[near] >= 0.0 && cut.cell[near] > 0.0;
        spray.retain(|&index| {
            let near = tiles.around(index as usize);
            near[..Tiles::<D>::DIRECTIONS].iter().any(|&near| air(near))
        });
        for index in spray {
            self.phi[index as usize] = (SPARSE - crowd[index as usize] as f64) * dx;
        }
    }

    /// Turns voids of a few cells inside the liquid into liquid: they are gaps between particles, and as air all the
    /// pressure around would drive the liquid together there.
    fn fill_voids<const D: usize>(&mut self, tiles: &Tiles<D>, cut: &CutCells<D>, dx: f64) {
        let cells = Tiles::<D>::CELLS;
        let is_near = &self.surroundings.flags;
        let phi = &self.phi;
        let void: Vec<u32> = (0..tiles.len())
            .into_par_iter()
            .flat_map_iter(|slot| slot * cells..(slot + 1) * cells)
            .filter(|&index| {
                is_near[index] & NEAR != 0 && phi[index] >= 0.0 && cut.cell[index] > 0.0
            })
            .flat_map_iter(|index| small_void(tiles, cut, phi, index))
            .collect();
        for index in void {
            self.phi[index as usize] = VOID * dx;
        }
    }

    /// Volume of the liquid outside solids (area in 2D), by quadrature over cut cells.
    pub fn volume<const D: usize>(&self, tiles: &Tiles<D>, cut: &CutCells<D>, dx: f64) -> f64 {
        let cells = Tiles::<D>::CELLS;
        let h = dx / SUBCELLS as f64;
        let of_tile = |slot: usize| -> f64 {
            (slot * cells..(slot + 1) * cells)
                .filter(|&index| self.surroundings.flags[index] & NEAR != 0)
                .filter(|&index| cut.cell[index] > 0.0)
                .map(|index| self.filled(tiles, cut, index, h))
                .sum()
        };
        let tiles_in_order: Vec<f64> = (0..tiles.len()).into_par_iter().map(of_tile).collect();
        tiles_in_order.iter().sum::<f64>() * dx.powi(D as i32)
    }

    /// Share of a cell that is liquid and outside solids.
    fn filled<const D: usize>(
        &self,
        tiles: &Tiles<D>,
        cut: &CutCells<D>,
        index: usize,
        h: f64,
    ) -> f64 {
        let near = tiles.around(index).map(|near| self.phi[near]);
        let (low, high) = range(&near[..Tiles::<D>::DIRECTIONS]);
        if low >= 0.5 * h {
            return 0.0;
        }
        if high <= -0.5 * h {
            return cut.cell[index] as f64;
        }
        // Between the centres of cells phi is multilinear, so the cell meets 2^D boxes of centres, one per corner.
        let place =
            |bits: usize| -> usize { (0..D).map(|a| (bits >> a & 1) * 3usize.pow(a as u32)).sum() };
        let mut boxes = [[0.0; 8]; 8];
        for c in 0..1 << D {
            for k in 0..1 << D {
                boxes[c][k] = near[place(c) + place(k)];
            }
        }
        let corners = tiles.corners(tiles.coord(index));
        let mut solid = [0.0; 8];
        for c in 0..1 << D {
            solid[c] = cut.node[corners[c]] as f64;
        }
        let dry = range(&solid[..1 << D]).0 >= SUBCELLS as f64 * h;
        mean_over_cell::<D>(|at| {
            let side: usize = (0..D).map(|a| ((at[a] > 0.5) as usize) << a).sum();
            let within = at.map(|s| if s > 0.5 { s - 0.5 } else { s + 0.5 });
            let inside_liquid = -interpolate::<D>(&boxes[side], within);
            if dry {
                return heaviside(inside_liquid, h);
            }
            let outside_solid = interpolate::<D>(&solid, at);
            heaviside(inside_liquid.min(outside_solid), h)
        })
    }
}

/// The cells of the air around `start` if they are `2^D` at most and shut in by liquid and solids, nothing otherwise.
fn small_void<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    phi: &[f64],
    start: usize,
) -> impl Iterator<Item = u32> {
    let beside = |index: usize| {
        (0..D).flat_map(move |a| {
            let high = tiles.above(index, a);
            [(index, tiles.below(index, a)), (high, high)]
                .into_iter()
                .filter(move |&(face, other)| cut.face[a][face] > 0.0 && phi[other] >= 0.0)
                .map(|(_, other)| other)
        })
    };
    let mut void = [start as u32; 8];
    // Air that is not shut in by half of its faces is no corner of a small void; most air ends here.
    let mut count = if beside(start).count() > D { 0 } else { 1 };
    let mut seen = 0;
    while seen < count {
        for other in beside(void[seen] as usize) {
            if void[..count].contains(&(other as u32)) {
                continue;
            }
            if count == 1 << D {
                return void.into_iter().take(0);
            }
            void[count] = other as u32;
            count += 1;
        }
        seen += 1;
    }
    void.into_iter().take(count)
}

struct Lookup<'a, const D: usize> {
    tiles: &'a Tiles<D>,
    particles: &'a Particles<D>,
    bins: &'a Bins<D>,
    dx: f64,
    /// Of every particle, in cells.
    radius: &'a [f32],
}

impl<const D: usize> Lookup<'_, D> {
    /// Particles of the cells from `first` to `last` along the last axis, which lie one after the other in memory
    /// inside a tile.
    fn row(&self, first: Coord<D>, last: i32) -> impl Iterator<Item = usize> {
        let mut split = first;
        split[D - 1] = Tiles::<D>::end_of_tile(first[D - 1]);
        let here = self.run(first, last.min(split[D - 1] - 1));
        let beyond = if last >= split[D - 1] {
            self.run(split, last)
        } else {
            0..0
        };
        here.chain(beyond)
    }

    fn run(&self, first: Coord<D>, last: i32) -> std::ops::Range<usize> {
        let index = self.tiles.index(first);
        if self.tiles.exists(index) {
            self.bins
                .of_cells(index..index + (last - first[D - 1]) as usize + 1)
        } else {
            0..0
        }
    }

    /// Distance of the liquid and of the solids at the centre of a cell, in cells.
    fn at_centre(&self, cut: &CutCells<D>, index: usize) -> (f64, f64) {
        let cell = self.tiles.coord(index);
        let mut x: [f64; D] = cell.map(|c| c as f64 + 0.5);
        let wall = cut.centre(self.tiles, cell) / self.dx;
        let mut normal = None;
        if wall < REACH + 0.5 {
            if wall < DEEPEST {
                return (AIR, wall);
            }
            let away = cut.normal(self.tiles, x);
            for a in 0..D {
                x[a] += (0.5 - wall).max(0.0) * away[a];
            }
            normal = Some(away);
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
        let low = x.map(|x| floor(x - REACH));
        let high = x.map(|x| floor(x + REACH));
        let span: [usize; D] = std::array::from_fn(|a| (high[a] - low[a] + 1) as usize);
        let rows = span[..D - 1].iter().product::<usize>();
        let inverse_dx = 1.0 / self.dx;
        let (mut weight, mut radius, mut mean, mut nearest) = (0.0, 0.0, [0.0; D], f64::INFINITY);
        for k in 0..rows {
            let (mut rest, mut first, mut aside) = (k, low, 0.0);
            for a in (0..D - 1).rev() {
                first[a] += (rest % span[a]) as i32;
                rest /= span[a];
                let gap = first[a] as f64 - x[a];
                let gap = gap.max(-1.0 - gap).max(0.0);
                aside += gap * gap;
            }
            let left = REACH * REACH - aside;
            if left <= 0.0 {
                continue;
            }
            let along = left.sqrt();
            first[D - 1] = floor(x[D - 1] - along);
            for p in self.row(first, floor(x[D - 1] + along)) {
                let position = self.particles.position[p];
                let (mut away, mut square) = ([0.0; D], 0.0);
                for a in 0..D {
                    away[a] = position[a] as f64 * inverse_dx - x[a];
                    square += away[a] * away[a];
                }
                let rest = 1.0 - square / (REACH * REACH);
                if rest > 0.0 {
                    let kernel = rest * rest * rest;
                    nearest = nearest.min(square);
                    weight += kernel;
                    radius += kernel * self.radius[p] as f64;
                    for a in 0..D {
                        mean[a] += kernel * away[a];
                    }
                }
            }
        }
        if weight < 1e-9 {
            return AIR;
        }
        let mut mean = mean.map(|m| m / weight);
        if let Some(normal) = wall {
            let pushed = (0..D).map(|a| mean[a] * normal[a]).sum::<f64>().max(0.0);
            for a in 0..D {
                mean[a] -= pushed * normal[a];
            }
        }
        let distance = mean.iter().map(|m| m * m).sum::<f64>().sqrt() - radius / weight;
        distance.max(nearest.sqrt() - LONELY)
    }
}

/// The cell is within two cells of a particle.
const NEAR: u8 = 1;
/// The cell holds a particle or is beside one that does.
const BESIDE: u8 = 4;
/// The cell and all around it hold particles or are solid, and one of them is near: no surface crosses it.
const DEEP: u8 = 2;

/// What is worth knowing of a cell before its particles are looked at.
#[derive(Clone, Debug, Default)]
struct Surroundings {
    flags: Vec<u8>,
    scratch: Vec<u8>,
}

impl Surroundings {
    /// Spreads the flags axis by axis: `NEAR` to two cells on both sides, `BESIDE` and not `DEEP` to one.
    fn look<const D: usize>(&mut self, tiles: &Tiles<D>, bins: &Bins<D>, cut: &CutCells<D>) {
        let cells = Tiles::<D>::CELLS;
        let Self { flags, scratch } = self;
        tiles.reset(flags, 0);
        tiles.reset(scratch, 0);
        flags
            .par_chunks_mut(cells)
            .take(tiles.len())
            .enumerate()
            .for_each(|(slot, flags)| {
                for (offset, flag) in flags.iter_mut().enumerate() {
                    let index = slot * cells + offset;
                    *flag = if !bins.of(index).is_empty() {
                        NEAR | BESIDE | DEEP
                    } else if cut.cell[index] < 0.1 {
                        DEEP
                    } else {
                        0
                    };
                }
            });
        for axis in 0..D {
            let before: &[u8] = flags;
            scratch
                .par_chunks_mut(cells)
                .take(tiles.len())
                .enumerate()
                .for_each(|(slot, spread)| {
                    for (offset, spread) in spread.iter_mut().enumerate() {
                        let index = slot * cells + offset;
                        let (low, high) = (tiles.below(index, axis), tiles.above(index, axis));
                        let beside = before[index] | before[low] | before[high];
                        let near = beside
                            | before[tiles.below(low, axis)]
                            | before[tiles.above(high, axis)];
                        let deep = before[index] & before[low] & before[high];
                        *spread = (near & NEAR) | (beside & BESIDE) | (deep & DEEP);
                    }
                });
            std::mem::swap(flags, scratch);
        }
    }
}
