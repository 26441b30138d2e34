//! Extrapolation of velocities beyond the liquid, layer by layer: the mean of the known neighbours.

use rayon::prelude::*;

use crate::disjoint_slice::DisjointSlice;
use crate::grid::cell_set::CellSet;
use crate::grid::tiles::Tiles;

/// State of the velocity on a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceState {
    /// It is known: from particles before the projection, by the projection after it.
    Known,
    /// It was extrapolated from known ones.
    Extrapolated,
    /// It is that of particles alone, and no known value came near it.
    Spray,
    /// It is that of particles alone, and stands unless known values come within two layers of it.
    Ballistic,
    /// There is none.
    Unknown,
}

impl FaceState {
    /// Whether there is a velocity that will not be replaced.
    #[inline]
    fn is_settled(self) -> bool {
        // One comparison, which the compiler vectorises.
        (self as u8) < Self::Ballistic as u8
    }
}

/// Layers in which what is continued from the liquid replaces what its own particles left there.
const WITHDRAW: u8 = 2;

/// Extrapolates known values to `layers` layers of faces around them.
///
/// What is still [`FaceState::Ballistic`] after `WITHDRAW` layers is [`FaceState::Spray`] from then on, and gets layers
/// of its own: a particle that reads a zero at one corner of its cell gets a spurious gradient, and writes more momentum than it read.
pub fn extrapolate<const D: usize>(
    tiles: &Tiles<D>,
    value: &mut [f64],
    state: &mut [FaceState],
    layers: u8,
) {
    let mut ballistic = CellSet::in_field(tiles, state, |state| state == FaceState::Ballistic);
    let mut open = CellSet::in_field(tiles, state, |state| !state.is_settled());
    let mut front =
        CellSet::in_field(tiles, state, |state| state == FaceState::Known).beside(tiles, &open);
    let (mut indices, mut filled) = (Vec::new(), Vec::new());
    let mut last = layers;
    let mut reached = 0;
    while reached < last {
        reached += 1;
        let (value_now, state_now): (&[f64], &[FaceState]) = (value, state);
        front.list(&mut indices);
        indices
            .par_iter()
            .with_min_len(1024)
            .map(|&index| mean_of_known(tiles, value_now, state_now, index as usize))
            .collect_into_vec(&mut filled);
        let (value_next, state_next) = (DisjointSlice::new(value), DisjointSlice::new(state));
        let found = indices.par_iter().zip(&filled).with_min_len(4096);
        found.for_each(|(&index, &filled)| {
            // SAFETY: no index is listed twice.
            unsafe {
                value_next.set(index as usize, filled);
                state_next.set(index as usize, FaceState::Extrapolated);
            }
        });
        open.remove(&front);
        if reached == WITHDRAW {
            ballistic.keep(&open);
            ballistic.list(&mut indices);
            if !indices.is_empty() {
                last += WITHDRAW;
            }
            for &index in &indices {
                state[index as usize] = FaceState::Spray;
            }
            open.remove(&ballistic);
            front.add(&ballistic);
        }
        front = front.beside(tiles, &open);
    }
}

fn neighbours<const D: usize>(tiles: &Tiles<D>, index: usize) -> impl Iterator<Item = usize> {
    (0..D).flat_map(move |a| [tiles.below(index, a), tiles.above(index, a)])
}

fn mean_of_known<const D: usize>(
    tiles: &Tiles<D>,
    value: &[f64],
    state: &[FaceState],
    index: usize,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for near in neighbours(tiles, index) {
        if state[near].is_settled() {
            sum += value[near];
            count += 1;
        }
    }
    sum / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_continued_as_far_as_asked_and_no_further() {
        let mut tiles = Tiles::<2>::new([32, 32]);
        tiles.cover([[16, 16]].par_iter().copied(), 8);
        let (mut value, mut state) = (Vec::new(), Vec::new());
        tiles.reset(&mut value, 0.0);
        tiles.reset(&mut state, FaceState::Unknown);
        let start = tiles.index([16, 16]);
        value[start] = 3.0;
        state[start] = FaceState::Known;
        extrapolate(&tiles, &mut value, &mut state, 5);
        for index in 0..tiles.cells() {
            let [x, y] = tiles.coord(index);
            let steps = (x - 16).abs() + (y - 16).abs();
            assert_eq!(value[index], if steps <= 5 { 3.0 } else { 0.0 });
            let expected = match steps {
                0 => FaceState::Known,
                1..=5 => FaceState::Extrapolated,
                _ => FaceState::Unknown,
            };
            assert_eq!(state[index], expected);
        }
    }

    #[test]
    fn particles_that_fly_alone_keep_their_velocity_and_those_beside_the_liquid_follow_it() {
        let mut tiles = Tiles::<2>::new([32, 32]);
        tiles.cover([[16, 16]].par_iter().copied(), 8);
        let (mut value, mut state) = (Vec::new(), Vec::new());
        tiles.reset(&mut value, 0.0);
        tiles.reset(&mut state, FaceState::Unknown);
        let liquid = tiles.index([12, 16]);
        let (near, far) = (tiles.index([14, 16]), tiles.index([19, 16]));
        let alone = FaceState::Ballistic;
        for (index, v, l) in [
            (liquid, 1.0, FaceState::Known),
            (near, 5.0, alone),
            (far, 7.0, alone),
        ] {
            value[index] = v;
            state[index] = l;
        }
        extrapolate(&tiles, &mut value, &mut state, 4);
        assert_eq!(value[near], 1.0);
        assert_eq!(value[far], 7.0);
        assert_eq!(value[tiles.index([19, 17])], 7.0);
    }
}
