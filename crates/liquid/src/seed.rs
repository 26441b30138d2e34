//! Filling a shape with particles.

use rayon::prelude::*;

use crate::particles::Particles;
use crate::settings::Settings;
use crate::solids::PosedSolids;
use crate::tiles::{Coord, TILE};

/// Adds jittered particles where `volume` is negative, outside solids. Every full cell gets the same number, each in
/// a part of the cell of its own. The places depend on the cell and the seed only.
pub fn fill<const D: usize>(
    particles: &mut Particles<D>,
    settings: &Settings<D>,
    volume: &(impl Fn([f64; D]) -> f64 + Sync),
    velocity: &(impl Fn([f64; D]) -> [f64; D] + Sync),
    solids: &impl PosedSolids<D>,
) {
    let dx = settings.dx;
    let tiles = settings.cells.map(|n| n.div_ceil(TILE as usize));
    let reach = 0.5 * TILE as f64 * dx * (D as f64).sqrt();
    let unpack = |mut k: usize, extent: [usize; D]| -> Coord<D> {
        let mut coord = [0; D];
        for a in (0..D).rev() {
            coord[a] = (k % extent[a]) as i32;
            k /= extent[a];
        }
        coord
    };
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
                    let candidates = places_in(cell, settings.particles_per_cell, settings.seed);
                    let inside = candidates.map(|x: [f64; D]| x.map(|x| x * dx));
                    places.extend(inside.filter(|&x| volume(x) < 0.0 && solids.distance(x) > 0.0));
                }
            }
            places
        })
        .collect();
    for x in found.into_iter().flatten() {
        particles.push(x, velocity(x));
    }
}

/// The places of a cell's particles, in cells: as many parts of the cell as particles, drawn without repetition, and
/// a random place in each.
fn places_in<const D: usize>(cell: Coord<D>, count: usize, seed: u64) -> impl Iterator<Item = [f64; D]> {
    let side = (1..).find(|m: &usize| m.pow(D as u32) >= count).unwrap_or(1);
    let mut random = Random::of(cell, seed);
    let mut parts: Vec<usize> = (0..side.pow(D as u32)).collect();
    for k in 0..count {
        let other = k + (random.unit() * (parts.len() - k) as f64) as usize;
        parts.swap(k, other);
    }
    parts.into_iter().take(count).map(move |part| {
        std::array::from_fn(|a| {
            let place = (part / side.pow(a as u32)) % side;
            cell[a] as f64 + (place as f64 + random.unit()) / side as f64
        })
    })
}

/// A small generator (SplitMix64), seeded by a cell so that it does not matter who asks first.
struct Random(u64);

impl Random {
    fn of<const D: usize>(cell: Coord<D>, seed: u64) -> Self {
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
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_gets_the_number_asked_for_spread_over_it_and_the_same_each_time() {
        for count in [1, 4, 8, 9, 20] {
            let places: Vec<[f64; 2]> = places_in([3, -2], count, 7).collect();
            assert_eq!(places.len(), count);
            assert!(places.iter().all(|x| x[0].floor() == 3.0 && x[1].floor() == -2.0));
            assert_eq!(places, places_in([3, -2], count, 7).collect::<Vec<_>>());
        }
        let quadrant = |x: &[f64; 2]| ((x[0] > 0.5) as usize, (x[1] > 0.5) as usize);
        let mut quadrants: Vec<_> = places_in([0, 0], 4, 1).map(|x| quadrant(&x)).collect();
        quadrants.sort();
        quadrants.dedup();
        assert_eq!(quadrants.len(), 4);
    }
}
