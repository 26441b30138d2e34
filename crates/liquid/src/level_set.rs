//! The liquid's signed distance from its particles, and the volume it encloses.
//!
//! At a point, `phi = |x - mean of the particles near x| - r`, the mean weighted by a smooth kernel of radius
//! [`REACH`] cells. On the boundary of a half-space full of particles the mean lies a fixed share of the reach
//! away, and `r` is that distance: flat surfaces are where the particles end, without bias.

use rayon::prelude::*;

use crate::cut_cells::{CutCells, SUBCELLS, heaviside, interpolate, mean_over_cell, range};
use crate::particles::{Bins, Particles};
use crate::tiles::{Coord, Tiles};

/// Radius of the kernel in cells.
const REACH: f64 = 2.0;
/// Near a wall, points farther than this from every particle are air, in cells.
const LONELY: f64 = 0.8;
/// Value in air that no particle comes near, in cells.
const AIR: f64 = 1.5;

/// Distance, in cells, between a flat surface and the weighted mean of the particles below, seen from the surface:
/// the centroid of half a ball (half a disc in 2D) under the kernel `(1 - s^2)^3`.
fn half_space_mean<const D: usize>() -> f64 {
    // Integrals of s^k (1 - s^2)^3 over 0..1; the mean of the cosine over half a sphere is 1/2, half a circle 2/pi.
    let moment = |k: i32| -> f64 {
        let terms = [1.0, -3.0, 3.0, -1.0];
        (0..4).map(|j| terms[j as usize] / (k + 2 * j + 1) as f64).sum()
    };
    let cosine = if D == 2 { 2.0 / std::f64::consts::PI } else { 0.5 };
    REACH * cosine * moment(D as i32) / moment(D as i32 - 1)
}

/// The liquid's distance at the centres of cells.
#[derive(Clone, Debug, Default)]
pub struct LevelSet {
    /// In metres, negative in the liquid; `AIR` cells at most, about half a cell deep inside.
    pub phi: Vec<f64>,
}

impl LevelSet {
    /// Rebuilds the distance in all tiles.
    ///
    /// Cells whose centre is within half a cell of a wall, or inside, see the liquid half a cell off the wall: the
    /// distance is continued into the solid along its normal, or every wall would look like a free surface.
    pub fn build<const D: usize>(
        &mut self,
        tiles: &Tiles<D>,
        particles: &Particles<D>,
        bins: &Bins,
        cut: &CutCells<D>,
        dx: f64,
    ) {
        tiles.reset(&mut self.phi, AIR * dx);
        let cells = Tiles::<D>::CELLS;
        let radius = half_space_mean::<D>();
        let lookup = Lookup { tiles, particles, bins, dx, radius };
        self.phi[..tiles.cells()].par_chunks_mut(cells).enumerate().for_each(|(slot, phi)| {
            for (offset, phi) in phi.iter_mut().enumerate() {
                let index = slot * cells + offset;
                let cell = tiles.coord(index);
                if !bins.of(index).is_empty() && lookup.is_deep(cell, cut) {
                    *phi = -radius * dx;
                    continue;
                }
                let mut x: [f64; D] = cell.map(|c| c as f64 + 0.5);
                let wall = cut.centre(tiles, cell) / dx;
                let mut normal = None;
                if wall < REACH + 0.5 {
                    if wall < -1.5 {
                        continue;
                    }
                    let away = cut.normal(tiles, x, dx);
                    for a in 0..D {
                        x[a] += (0.5 - wall).max(0.0) * away[a];
                    }
                    normal = Some(away);
                }
                *phi = (lookup.distance(x, normal) * dx).min(AIR * dx);
            }
        });
    }

    /// Volume of the liquid outside solids (area in 2D), by quadrature over cut cells.
    pub fn volume<const D: usize>(&self, tiles: &Tiles<D>, cut: &CutCells<D>, dx: f64) -> f64 {
        let cells = Tiles::<D>::CELLS;
        let h = dx / SUBCELLS as f64;
        let of_tile = |slot: usize| -> f64 {
            (slot * cells..(slot + 1) * cells)
                .filter(|&index| cut.cell[index] > 0.0)
                .map(|index| self.filled(tiles, cut, tiles.coord(index), h))
                .sum()
        };
        let tiles_in_order: Vec<f64> = (0..tiles.len()).into_par_iter().map(of_tile).collect();
        tiles_in_order.iter().sum::<f64>() * dx.powi(D as i32)
    }

    /// Share of a cell that is liquid and outside solids.
    fn filled<const D: usize>(&self, tiles: &Tiles<D>, cut: &CutCells<D>, cell: Coord<D>, h: f64) -> f64 {
        // Between the centres of cells phi is multilinear, so the cell meets 2^D boxes of centres, one per corner.
        let boxes: [[f64; 8]; 8] = std::array::from_fn(|c| {
            let mut values = [0.0; 8];
            if c < 1 << D {
                let corners = tiles.corners(std::array::from_fn(|a| cell[a] - 1 + (c >> a & 1) as i32));
                for k in 0..1 << D {
                    values[k] = self.phi[corners[k]];
                }
            }
            values
        });
        let ranges = boxes[..1 << D].iter().map(|b| range(&b[..1 << D]));
        let (low, high) = ranges.fold((f64::INFINITY, f64::NEG_INFINITY), |r, s| (r.0.min(s.0), r.1.max(s.1)));
        if low >= 0.5 * h {
            return 0.0;
        }
        let index = tiles.index(cell);
        if high <= -0.5 * h {
            return cut.cell[index] as f64;
        }
        let corners = tiles.corners(cell);
        let solid: [f64; 8] = std::array::from_fn(|c| if c < 1 << D { cut.node[corners[c]] } else { 0.0 });
        mean_over_cell::<D>(|at| {
            let side: usize = (0..D).map(|a| ((at[a] > 0.5) as usize) << a).sum();
            let within = at.map(|s| if s > 0.5 { s - 0.5 } else { s + 0.5 });
            let inside_liquid = -interpolate::<D>(&boxes[side], within);
            let outside_solid = interpolate::<D>(&solid, at);
            heaviside(inside_liquid.min(outside_solid), h)
        })
    }
}

struct Lookup<'a, const D: usize> {
    tiles: &'a Tiles<D>,
    particles: &'a Particles<D>,
    bins: &'a Bins,
    dx: f64,
    /// Distance to the mean on a flat surface, in cells.
    radius: f64,
}

impl<const D: usize> Lookup<'_, D> {
    /// True if the cell and all around it hold particles or are solid: no surface comes near its centre.
    fn is_deep(&self, cell: Coord<D>, cut: &CutCells<D>) -> bool {
        (0..3usize.pow(D as u32)).all(|k| {
            let near = std::array::from_fn(|a| cell[a] - 1 + ((k / 3usize.pow(a as u32)) % 3) as i32);
            let index = self.tiles.index(near);
            !self.bins.of(index).is_empty() || (self.tiles.exists(index) && cut.cell[index] < 0.1)
        })
    }

    /// Distance to the liquid at `x`, in cells. `wall` is the normal of a wall within reach.
    ///
    /// There are no particles inside the wall, and so their mean is pushed away from it; that part is left out,
    /// or the surface would seem to drop towards every wall. Liquid that has left the wall does not count as
    /// touching it: no point is inside that has no particle within [`LONELY`].
    fn distance(&self, x: [f64; D], wall: Option<[f64; D]>) -> f64 {
        let low = x.map(|x| (x - REACH).floor() as i32);
        let high = x.map(|x| (x + REACH).floor() as i32);
        let span: [usize; D] = std::array::from_fn(|a| (high[a] - low[a] + 1) as usize);
        let inverse_dx = 1.0 / self.dx;
        let (mut weight, mut mean, mut nearest) = (0.0, [0.0; D], f64::INFINITY);
        for k in 0..span.iter().product::<usize>() {
            let mut rest = k;
            let mut cell = low;
            for a in (0..D).rev() {
                cell[a] += (rest % span[a]) as i32;
                rest /= span[a];
            }
            for p in self.bins.of(self.tiles.index(cell)) {
                let position = self.particles.position[p];
                let away: [f64; D] = std::array::from_fn(|a| position[a] as f64 * inverse_dx - x[a]);
                let square = away.iter().map(|d| d * d).sum::<f64>();
                let rest = 1.0 - square / (REACH * REACH);
                if rest > 0.0 {
                    let kernel = rest * rest * rest;
                    nearest = nearest.min(square);
                    weight += kernel;
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
        let distance = mean.iter().map(|m| m * m).sum::<f64>().sqrt() - self.radius;
        if wall.is_some() { distance.max(nearest.sqrt() - LONELY) } else { distance }
    }
}
