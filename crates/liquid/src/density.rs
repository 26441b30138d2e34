//! Keeping the particles evenly spread, and with them the volume.
//!
//! Where more particles crowd a cell than belong there, or fewer deep inside, a potential `q` with the pressure's
//! own matrix gives the smallest displacement that puts it right: `A q = (n_i - n) share / dt`, displacement
//! `-dt^2/(rho dx)` times the difference of `q`. It moves places, not velocities, so that it neither adds energy
//! nor momentum. The crowd `n` that belongs in a cell is 1, a little more while the liquid's surface encloses more
//! volume than at the start, a little less while it encloses less.

use rayon::prelude::*;

use crate::cut_cells::CutCells;
use crate::pressure::{System, Weights};
use crate::room::Room;
use crate::tiles::Tiles;

/// Seconds in which an error would be put right but for what is left over: a rate, so that many short steps do not
/// shuffle the particles more than a few long ones.
const EVEN_TIME: f64 = 0.05;
/// Fewer particles than belong there by more than this are asked for slowly: a cell near a wall is known only roughly.
const LARGEST_LACK: f64 = 0.5;
/// More than belong there are pushed apart in earnest, or a place where the flow gathers them would never empty.
const LARGEST_EXCESS: f64 = 4.0;
/// Seconds over which a drift of the volume makes itself felt: what is measured jumps a little when liquid leaves a
/// wall, and that is no drift.
pub const DRIFT_TIME: f64 = 0.06;
/// A drift of the volume up to this is left alone.
const SMALL_DRIFT: f64 = 0.005;
/// What is beyond, times this, changes the crowd asked for: only the inside of the liquid follows, not its spray.
const GAIN: f64 = 4.0;
/// The crowd asked for differs from 1 by no more than this.
const LARGEST_CHANGE: f64 = 0.1;
/// Cells less open than this are left alone.
const LEAST_OPEN: f64 = 0.3;

/// Turns the number of particles around the centres of cells into a share of what belongs there, solids left out.
pub fn relative<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    particles_per_cell: f64,
    number: &mut [f32],
) {
    let cells = Tiles::<D>::CELLS;
    number
        .par_chunks_mut(cells)
        .take(tiles.len())
        .enumerate()
        .for_each(|(slot, number)| {
            for (offset, number) in number.iter_mut().enumerate() {
                if *number > 0.0 && cut.far[slot] {
                    *number /= particles_per_cell as f32;
                } else if *number > 0.0 {
                    let open = open_around(tiles, cut, slot * cells + offset);
                    *number /= (particles_per_cell * open.max(LEAST_OPEN)) as f32;
                }
            }
        });
}

/// Writes the right-hand side `b` of `A q + b = 0` for the displacement. `drift` is the change of the volume since
/// the start, as a share of it.
pub fn crowding<const D: usize>(
    weights: &Weights<D>,
    system: &System,
    crowd: &[f32],
    drift: f64,
    dt: f64,
    rhs: &mut Vec<f64>,
) {
    let beyond = drift - drift.clamp(-SMALL_DRIFT, SMALL_DRIFT);
    let wanted = 1.0 + (GAIN * beyond).clamp(-LARGEST_CHANGE, LARGEST_CHANGE);
    let share = 1.0 - (-dt / EVEN_TIME).exp();
    rhs.clear();
    rhs.make_room(system.cells.len());
    rhs.par_extend(system.cells.par_iter().with_min_len(1024).map(|&index| {
        let excess = crowd[index as usize] as f64 - wanted;
        let excess = if excess < 0.0 && near_air(weights, index as usize) {
            0.0
        } else {
            excess
        };
        -share * excess.clamp(-LARGEST_LACK, LARGEST_EXCESS) / dt
    }));
}

/// Open share of the neighbourhood that a cell's number of particles is counted over (linear weights, so the
/// integral of a hat function over this cell and its neighbours: 3/4 and 1/8 along each axis).
fn open_around<const D: usize>(tiles: &Tiles<D>, cut: &CutCells<D>, index: usize) -> f64 {
    let near = tiles.around(index);
    (0..Tiles::<D>::DIRECTIONS)
        .map(|k| {
            let middle = |a: u32| (k / 3usize.pow(a)) % 3 == 1;
            let share = |a: u32| if middle(a) { 0.75 } else { 0.125 };
            (0..D as u32).map(share).product::<f64>() * cut.open_cell(near[k]) as f64
        })
        .sum()
}

/// True if the cell or one around it is air: too few particles there are no fault.
fn near_air<const D: usize>(weights: &Weights<D>, index: usize) -> bool {
    weights.tiles.around(index)[..Tiles::<D>::DIRECTIONS]
        .iter()
        .any(|&near| weights.phi[near] >= 0.0 && weights.cut.open_cell(near) > 0.0)
}
