//! Velocities beyond the liquid: layer by layer, the mean of the neighbours that are known.

use rayon::prelude::*;

use crate::marks::Marks;
use crate::scatter::Scatter;
use crate::tiles::Tiles;

/// A value that is not known yet.
pub const UNKNOWN: u8 = u8::MAX;
/// A value of particles that fly alone: it stands unless known values come within [`WITHDRAW`] layers of it.
pub const FLYING: u8 = UNKNOWN - 1;
/// A value of particles that fly alone, in the end.
pub const FLEW: u8 = FLYING - 1;
/// Layers in which what is continued from the liquid replaces what its own particles left there.
const WITHDRAW: u8 = 2;

/// Fills `layers` layers of unknown entries around those of layer 0.
///
/// `layer` holds 0 where the value is known, [`FLYING`] or [`UNKNOWN`]; afterwards, the layer that reached it. What
/// still flies after [`WITHDRAW`] layers is known from then on, as [`FLEW`], and gets `layers` layers of its own: a particle that
/// reads a zero at one corner of its cell makes up a gradient, and writes more than it read.
pub fn extrapolate<const D: usize>(
    tiles: &Tiles<D>,
    value: &mut [f64],
    layer: &mut [u8],
    layers: u8,
) {
    let mut flying = Marks::in_field(tiles, layer, |layer| layer == FLYING);
    let mut open = Marks::in_field(tiles, layer, |layer| layer >= FLYING);
    let mut front = Marks::in_field(tiles, layer, |layer| layer == 0).beside(tiles, &open);
    let (mut indices, mut filled) = (Vec::new(), Vec::new());
    let mut last = layers;
    let mut reached = 0;
    while reached < last {
        reached += 1;
        let (value_now, layer_now): (&[f64], &[u8]) = (value, layer);
        front.list(&mut indices);
        indices
            .par_iter()
            .with_min_len(1024)
            .map(|&index| mean_of_known(tiles, value_now, layer_now, index as usize))
            .collect_into_vec(&mut filled);
        let (value_next, layer_next) = (Scatter::new(value), Scatter::new(layer));
        let found = indices.par_iter().zip(&filled).with_min_len(4096);
        found.for_each(|(&index, &filled)| {
            // SAFETY: no index is listed twice.
            unsafe {
                value_next.set(index as usize, filled);
                layer_next.set(index as usize, reached);
            }
        });
        open.remove(&front);
        if reached == WITHDRAW {
            flying.keep(&open);
            flying.list(&mut indices);
            if !indices.is_empty() {
                last += WITHDRAW;
            }
            for &index in &indices {
                layer[index as usize] = FLEW;
            }
            open.remove(&flying);
            front.add(&flying);
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
    layer: &[u8],
    index: usize,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for near in neighbours(tiles, index) {
        if layer[near] < FLYING {
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
        let (mut value, mut layer) = (Vec::new(), Vec::new());
        tiles.reset(&mut value, 0.0);
        tiles.reset(&mut layer, UNKNOWN);
        let start = tiles.index([16, 16]);
        value[start] = 3.0;
        layer[start] = 0;
        extrapolate(&tiles, &mut value, &mut layer, 5);
        for index in 0..tiles.cells() {
            let [x, y] = tiles.coord(index);
            let steps = (x - 16).abs() + (y - 16).abs();
            assert_eq!(value[index], if steps <= 5 { 3.0 } else { 0.0 });
            assert_eq!(layer[index], if steps <= 5 { steps as u8 } else { UNKNOWN });
        }
    }

    #[test]
    fn particles_that_fly_alone_keep_their_velocity_and_those_beside_the_liquid_follow_it() {
        let mut tiles = Tiles::<2>::new([32, 32]);
        tiles.cover([[16, 16]].par_iter().copied(), 8);
        let (mut value, mut layer) = (Vec::new(), Vec::new());
        tiles.reset(&mut value, 0.0);
        tiles.reset(&mut layer, UNKNOWN);
        let liquid = tiles.index([12, 16]);
        let (near, far) = (tiles.index([14, 16]), tiles.index([19, 16]));
        for (index, v, l) in [(liquid, 1.0, 0), (near, 5.0, FLYING), (far, 7.0, FLYING)] {
            value[index] = v;
            layer[index] = l;
        }
        extrapolate(&tiles, &mut value, &mut layer, 4);
        assert_eq!(value[near], 1.0);
        assert_eq!(value[far], 7.0);
        assert_eq!(value[tiles.index([19, 17])], 7.0);
    }
}
