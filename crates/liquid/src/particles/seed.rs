//! Filling a shape with particles.

use rayon::prelude::*;

use crate::grid::cut_cells::heaviside;
use crate::grid::tiles::{Coord, TILE};
use crate::particles::Particles;
use crate::settings::Settings;
use crate::solids::SolidField;

/// Share of its part of a cell that a particle is jittered over: enough to break patterns, little enough to leave the
/// surface smooth.
pub const JITTER: f64 = 0.25;

/// Adds jittered particles where `volume` is negative, outside solids.
///
/// Every cell is cut into equal parts, and every full part gets a particle (a share of them, if the number asked for
/// is no square or cube). Parts that the surface cuts get one with a chance equal to their filled share; the chances
/// are drawn from an additive sequence over the parts instead of independently, so that the surface is rough only
/// from part to part: waves of any length would otherwise be born with the liquid. The places depend on the cell
/// and the seed only.
pub fn fill<const D: usize>(
    particles: &mut Particles<D>,
    settings: &Settings<D>,
    volume: &(dyn Fn([f64; D]) -> f64 + Sync),
    velocity: &(dyn Fn([f64; D]) -> [f64; D] + Sync),
    solids: &dyn SolidField<D>,
) {
    let dx = settings.dx;
    let tiles = settings.cells.map(|n| n.div_ceil(TILE as usize));
    let reach = 0.5 * TILE as f64 * dx * (D as f64).sqrt();
    let inside = |x: [f64; D]| volume(x).max(-solids.distance(x));
    let found: Vec<Vec<[f64; D]>> = (0..tiles.iter().product::<usize>())
        .into_par_iter()
        .map(|k| {
            let base = unpack(k, tiles).map(|c| c * TILE);
            let mut places = Vec::new();
            // Distances grow no faster than the way, so a tile whose centre is far outside holds nothing.
            if volume(base.map(|c| (c as f64 + 0.5 * TILE as f64) * dx)) > reach {
                return places;
            }
            for offset in 0..(TILE as usize).pow(D as u32) {
                let local = unpack(offset, [TILE as usize; D]);
                let cell: Coord<D> = std::array::from_fn(|a| base[a] + local[a]);
                if (0..D).all(|a| (cell[a] as usize) < settings.cells[a]) {
                    fill_cell(cell, settings, &inside, &mut places);
                }
            }
            places
        })
        .collect();
    particles.make_room(found.iter().map(Vec::len).sum());
    for x in found.into_iter().flatten() {
        particles.push(x, velocity(x));
    }
}

fn unpack<const D: usize>(mut k: usize, extent: [usize; D]) -> Coord<D> {
    let mut coord = [0; D];
    for a in (0..D).rev() {
        coord[a] = (k % extent[a]) as i32;
        k /= extent[a];
    }
    coord
}

/// Adds the places of a cell's particles. `inside` is the distance to what is to be filled.
fn fill_cell<const D: usize>(
    cell: Coord<D>,
    settings: &Settings<D>,
    inside: &impl Fn([f64; D]) -> f64,
    places: &mut Vec<[f64; D]>,
) {
    let count = settings.physics.particles_per_cell;
    let side = (1..=count).find(|m| m.pow(D as u32) >= count).unwrap_or(1);
    let parts = side.pow(D as u32);
    let width = settings.dx / side as f64;
    let mut random = Random::of(cell, settings.physics.seed);
    for k in 0..parts {
        let part = unpack(k, [side; D]);
        let jitter: [f64; D] = std::array::from_fn(|_| JITTER * (random.unit() - 0.5));
        let depth = 0.5 + JITTER * (random.unit() - 0.5);
        let lattice: [i64; D] =
            std::array::from_fn(|a| cell[a] as i64 * side as i64 + part[a] as i64);
        let centre = lattice.map(|l| (l as f64 + 0.5) * width);
        let share = heaviside(-inside(centre), width);
        if chance(lattice) >= share * count as f64 / parts as f64 {
            continue;
        }
        let mut x: [f64; D] = std::array::from_fn(|a| centre[a] + jitter[a] * width);
        // A place outside is moved to a random depth of the filled share, along the way in.
        let out = inside(x);
        let target = -depth * share * width;
        if out > -1e-3 * width {
            let slope: [f64; D] = std::array::from_fn(|a| {
                let (mut low, mut high) = (x, x);
                low[a] -= 1e-3 * width;
                high[a] += 1e-3 * width;
                (inside(high) - inside(low)) / (2e-3 * width)
            });
            let steep = slope.iter().map(|s| s * s).sum::<f64>().max(1e-6);
            for a in 0..D {
                x[a] += (target - out) * slope[a] / steep;
            }
        }
        if inside(x) < 0.0 {
            places.push(x);
        }
    }
}

/// A number from 0 to 1 for every part of the grid, evenly spread over neighbouring parts: an additive recurrence
/// whose discrepancy is low along rows and columns (2D) and in planes along the axes (3D), as surfaces mostly lie.
fn chance<const D: usize>(lattice: [i64; D]) -> f64 {
    // Found by search: the largest least value of `n |n a|` over the first 64 multiples in 2D, of `max(i, j)^2 |i a + j b|`
    // in 3D, where horizontal planes have the two-dimensional sequence of the plastic number.
    const STEPS: [[f64; 3]; 2] = [
        [0.439_560_876_7, 0.721_235_605_8, 0.0],
        [0.754_877_666_2, 0.569_840_291_0, 0.109_28],
    ];
    let sum: f64 = (0..D)
        .map(|a| (lattice[a] as f64 * STEPS[D - 2][a]).rem_euclid(1.0))
        .sum();
    sum.rem_euclid(1.0)
}

/// A small generator (SplitMix64), seeded by a cell so that it does not matter who asks first.
pub struct Random(u64);

impl Random {
    /// Seeded by the coordinates of a cell.
    pub fn of<const D: usize>(cell: Coord<D>, seed: u64) -> Self {
        let mut random = Self(seed);
        for c in cell {
            random.0 = random.next() ^ (c as u32 as u64);
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 up to but not including 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_in<const D: usize>(
        per_cell: usize,
        inside: impl Fn([f64; D]) -> f64,
    ) -> Vec<[f64; D]> {
        let mut settings = Settings::<D>::new([8; D], 1.0);
        settings.physics.particles_per_cell = per_cell;
        let mut places = Vec::new();
        for k in 0..8usize.pow(D as u32) {
            fill_cell(unpack(k, [8; D]), &settings, &inside, &mut places);
        }
        places
    }

    #[test]
    fn full_cells_get_the_number_asked_for() {
        for per_cell in [1, 4, 8, 9, 20] {
            let places = count_in::<2>(per_cell, |_| -1.0);
            assert!(
                (places.len() as f64 / (64 * per_cell) as f64 - 1.0).abs() < 0.02,
                "{}",
                places.len()
            );
        }
        assert_eq!(count_in::<3>(8, |_| -1.0).len(), 8 * 512);
    }

    #[test]
    fn a_cut_region_gets_particles_in_proportion_to_its_volume_and_none_outside() {
        for height in [3.1, 3.236, 3.5, 3.77] {
            let places = count_in::<3>(8, |x| x[2] - height);
            assert!(places.iter().all(|x| x[2] < height));
            assert!(
                (places.len() as f64 / (8.0 * 64.0 * height) - 1.0).abs() < 0.01,
                "{height}: {}",
                places.len()
            );
        }
    }
}
