//! Position correction: keeps the particles evenly spread, and with them the volume.
//!
//! Where a cell holds more particles than belong there, or fewer deep inside, a potential `q` with the pressure's
//! own matrix gives the smallest displacement that puts it right: `A q = (n_i - n) share / dt`, displacement
//! `-dt^2/(rho dx)` times the difference of `q`. It moves places, not velocities, so that it neither adds energy
//! nor momentum. The number density `n_i` is the volume of the particles around a cell's centre plus that of the solids
//! there, in cells: like the fluxes of the pressure problem, a volume and no ratio, so that slivers of cells count for
//! no more than they hold. The density `n` that belongs in a cell is 1, a little more while the liquid's surface encloses
//! more volume than at the start, a little less while it encloses less.

mod open_around;

use rayon::prelude::*;

use self::open_around::OpenAround;
use crate::grid::cut_cells::CutCells;
use crate::grid::tiles::Tiles;
use crate::growth::Growth;
use crate::pressure::{System, Weights};

/// Seconds in which an error would be put right but for what is left over: a rate, so that many short steps do not
/// shuffle the particles more than a few long ones.
const EVEN_TIME: f64 = 0.05;
/// A cell more than twice as full as it should be is put right sooner, ...
const CROWDED: f64 = 1.0;
/// ... within these seconds: where jets meet, the flow gathers particles faster than the usual rate parts them.
const CROWDED_TIME: f64 = 0.0125;
/// A lack of particles is corrected up to this only: near walls the number density is approximate.
const LARGEST_LACK: f64 = 0.5;
/// An excess is corrected up to this, or a place where the flow gathers particles would never empty.
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
/// Differences up to this are the noise of counting particles and are left alone: correcting them would stir liquid at rest.
const NOISE: f64 = 0.15;
/// Change of the density asked for at which noise is corrected, too, or a drift of the volume could not be.
const CHANGE_ABOVE_NOISE: f64 = 0.05;

/// Turns the number of particles around the centres of cells into a number density, with solids counted as full.
pub fn relative<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    particles_per_cell: f64,
    dx: f64,
    number: &mut [f32],
) {
    let cells = Tiles::<D>::CELLS;
    number
        .par_chunks_mut(cells)
        .take(tiles.len())
        .enumerate()
        .for_each_init(OpenAround::new, |around, (slot, number)| {
            if number.iter().all(|&number| number == 0.0) {
                return;
            }
            if cut.far[slot] {
                for number in number {
                    *number /= particles_per_cell as f32;
                }
                return;
            }
            around.come_to(tiles, cut, slot);
            for (offset, number) in number.iter_mut().enumerate() {
                if *number > 0.0 {
                    let open = around.share(offset, dx);
                    *number = (*number as f64 / particles_per_cell + 1.0 - open) as f32;
                }
            }
        });
}

/// Writes the right-hand side `b` of `A q + b = 0` for the displacement. `drift` is the change of the volume since
/// the start, as a share of it.
pub fn excess_density<const D: usize>(
    weights: &Weights<D>,
    system: &System<D>,
    crowd: &[f32],
    drift: f64,
    dt: f64,
    rhs: &mut Vec<f64>,
) {
    let beyond = drift - drift.clamp(-SMALL_DRIFT, SMALL_DRIFT);
    let wanted = 1.0 + (GAIN * beyond).clamp(-LARGEST_CHANGE, LARGEST_CHANGE);
    let noise = NOISE * (1.0 - (wanted - 1.0).abs() / CHANGE_ABOVE_NOISE).max(0.0);
    let share_within = |seconds: f64| 1.0 - (-dt / seconds).exp();
    let (share, crowded_share) = (share_within(EVEN_TIME), share_within(CROWDED_TIME));
    rhs.clear();
    rhs.make_room(system.cells.len());
    rhs.par_extend(system.cells.par_iter().with_min_len(1024).map(|&index| {
        let excess = crowd[index as usize] as f64 - wanted;
        let excess = if excess < 0.0 && near_air(weights, index as usize) {
            0.0
        } else {
            excess
        };
        let excess = excess - excess.clamp(-noise, noise);
        let excess = excess.clamp(-LARGEST_LACK, LARGEST_EXCESS);
        let beyond = (excess - CROWDED).max(0.0);
        -(share * (excess - beyond) + crowded_share * beyond) / dt
    }));
}

/// True if the cell or one around it is air: too few particles there are no fault.
fn near_air<const D: usize>(weights: &Weights<D>, index: usize) -> bool {
    weights.tiles.around(index)[..Tiles::<D>::DIRECTIONS]
        .iter()
        .any(|&near| weights.phi[near] >= 0.0 && weights.cut.open_cell(near) > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::{Motion, ScriptedSolid, Shape, Solids};

    /// The open share around a cell beside a wall, against quadrature with many points.
    fn compare<const D: usize>(shape: Shape<D>, cells: [usize; D]) -> f64 {
        let solids = Solids::new(vec![ScriptedSolid {
            name: "wall".into(),
            shape,
            motion: Motion::Still,
        }]);
        let posed = solids.over_step(0.0, 0.0);
        let mut tiles = Tiles::<D>::new(cells);
        tiles.cover([[8; D]].par_iter().copied(), 8);
        let mut cut = CutCells::new();
        cut.sample(&tiles, 1.0, &posed);
        let n = if D == 2 { 64usize } else { 24 };
        let mut worst = 0.0f64;
        for step in 0..6 {
            let mut cell = [8; D];
            cell[0] += step - 3;
            let index = tiles.index(cell);
            let (slot, offset) = (index / Tiles::<D>::CELLS, index % Tiles::<D>::CELLS);
            let mut around = OpenAround::new();
            around.come_to(&tiles, &cut, slot);
            let found = around.share(offset, 1.0);
            let mut exact = 0.0;
            for k in 0..n.pow(D as u32) {
                let at: [f64; D] = std::array::from_fn(|a| {
                    2.0 * ((k / n.pow(a as u32) % n) as f64 + 0.5) / n as f64 - 1.0
                });
                let hat: f64 = at.iter().map(|t| 1.0 - t.abs()).product();
                let x = std::array::from_fn(|a| cell[a] as f64 + 0.5 + at[a]);
                exact += hat * f64::from(solids.distance(x, 0.0) > 0.0);
            }
            exact *= (2.0 / n as f64).powi(D as i32);
            worst = worst.max((found - exact).abs());
        }
        worst
    }

    #[test]
    fn the_open_share_beside_slanted_and_curved_walls_is_right_to_three_hundredths() {
        for (normal, offset) in [([1.0, 0.0], 8.37), ([0.9, 0.3], 8.2), ([0.6, 0.8], 8.0)] {
            let wall = Shape::HalfSpace {
                point: [offset, 8.0],
                normal,
            };
            let worst = compare::<2>(wall, [16, 16]);
            assert!(worst < 0.03, "normal {normal:?}: off by {worst}");
        }
        let wall = Shape::HalfSpace {
            point: [8.3, 8.1, 8.0],
            normal: [0.7, 0.4, 0.6],
        };
        assert!(compare::<3>(wall, [16; 3]) < 0.03);
        let ball = Shape::Sphere {
            center: [3.0, 8.0, 8.5],
            radius: 5.4,
        };
        assert!(compare::<3>(ball, [16; 3]) < 0.03);
    }
}
