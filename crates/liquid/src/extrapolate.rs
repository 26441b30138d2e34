//! Velocities beyond the liquid: layer by layer, the mean of the neighbours that are known.

use rayon::prelude::*;

use crate::tiles::Tiles;

/// A value that is not known yet.
pub const UNKNOWN: u8 = u8::MAX;

/// Fills `layers` layers of unknown entries around those of layer 0.
///
/// `layer` holds 0 where the value is known and [`UNKNOWN`] elsewhere; afterwards, the layer that reached it.
pub fn extrapolate<const D: usize>(
    tiles: &Tiles<D>,
    value: &mut [f64],
    layer: &mut [u8],
    layers: u8,
) {
    let cells = Tiles::<D>::CELLS;
    // Entries that may be filled next: at first the unknown ones beside known ones.
    let beside_known = |layer: &[u8], index: usize| {
        layer[index] == UNKNOWN
            && (0..D).any(|a| {
                layer[tiles.above(index, a)] != UNKNOWN || layer[tiles.below(index, a)] != UNKNOWN
            })
    };
    let known: &[u8] = layer;
    let mut front: Vec<u32> = (0..tiles.len())
        .into_par_iter()
        .flat_map_iter(|slot| {
            (slot * cells..(slot + 1) * cells)
                .filter(|&i| beside_known(known, i))
                .map(|i| i as u32)
        })
        .collect();
    for reached in 1..=layers {
        let (value_now, layer_now): (&[f64], &[u8]) = (value, layer);
        let filled: Vec<f64> = front
            .par_iter()
            .with_min_len(1024)
            .map(|&index| {
                let (mut sum, mut count) = (0.0, 0);
                for a in 0..D {
                    for near in [
                        tiles.below(index as usize, a),
                        tiles.above(index as usize, a),
                    ] {
                        if layer_now[near] != UNKNOWN {
                            sum += value_now[near];
                            count += 1;
                        }
                    }
                }
                sum / count as f64
            })
            .collect();
        for (&index, filled) in front.iter().zip(filled) {
            value[index as usize] = filled;
            layer[index as usize] = reached;
        }
        if reached == layers {
            break;
        }
        let layer_now: &[u8] = layer;
        let mut next: Vec<u32> = front
            .par_iter()
            .with_min_len(1024)
            .flat_map_iter(|&index| {
                (0..D)
                    .flat_map(move |a| {
                        [
                            tiles.below(index as usize, a),
                            tiles.above(index as usize, a),
                        ]
                    })
                    .filter(|&near| tiles.exists(near) && layer_now[near] == UNKNOWN)
                    .map(|near| near as u32)
            })
            .collect();
        next.par_sort_unstable();
        next.dedup();
        front = next;
    }
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
}
