//! Keeping the particles evenly spread, and with them the volume.
//!
//! Where more particles crowd a cell than belong there, or fewer deep inside, a potential `q` with the pressure's
//! own matrix gives the smallest displacement that puts it right: `A q = (n_i - 1) share / dt`, displacement
//! `-dt^2/(rho dx)` times the difference of `q`. It moves places, not velocities, so that it neither adds energy
//! nor momentum.

use rayon::prelude::*;

use crate::cut_cells::CutCells;
use crate::pressure::{System, Weights};
use crate::tiles::Tiles;

/// Share of the error that is put right in one step.
const SHARE: f64 = 0.1;
/// Errors beyond this are cut: a cell near a wall is known only roughly.
const LARGEST: f64 = 0.5;
/// Cells less open than this are left alone.
const LEAST_OPEN: f64 = 0.3;

/// Writes the right-hand side `b` of `A q + b = 0` for the displacement.
pub fn crowding<const D: usize>(
    weights: &Weights<D>,
    system: &System,
    number: &[f64],
    particles_per_cell: f64,
    dt: f64,
    rhs: &mut Vec<f64>,
) {
    let tiles = weights.tiles;
    rhs.clear();
    rhs.par_extend(system.cells.par_iter().with_min_len(1024).map(|&index| {
        let index = index as usize;
        let (open, near_air) = surroundings(tiles, weights.cut, weights.phi, index);
        if open < LEAST_OPEN {
            return 0.0;
        }
        let crowd = number[index] / (particles_per_cell * open) - 1.0;
        let crowd = if near_air { crowd.max(0.0) } else { crowd };
        -SHARE * crowd.clamp(-LARGEST, LARGEST) / dt
    }));
}

/// Open share of the neighbourhood that a cell's number of particles is counted over (linear weights, so the
/// integral of a hat function over this cell and its neighbours: 3/4 and 1/8 along each axis), and whether it
/// reaches into air.
fn surroundings<const D: usize>(tiles: &Tiles<D>, cut: &CutCells<D>, phi: &[f64], index: usize) -> (f64, bool) {
    let cell = tiles.coord(index);
    let (mut open, mut near_air) = (0.0, false);
    for k in 0..3usize.pow(D as u32) {
        let step: [i32; D] = std::array::from_fn(|a| ((k / 3usize.pow(a as u32)) % 3) as i32 - 1);
        let near = tiles.index(std::array::from_fn(|a| cell[a] + step[a]));
        let weight: f64 = step.iter().map(|&s| if s == 0 { 0.75 } else { 0.125 }).product();
        open += weight * cut.cell[near] as f64;
        near_air |= phi[near] >= 0.0 && cut.cell[near] > 0.0;
    }
    (open, near_air)
}
