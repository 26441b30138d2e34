//! Tiles that solids cut in the same way.
//!
//! Along a flat wall nearly all tiles are alike: what is open of them has to be worked out and kept only once.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::grid::tiles::{TILE, Tiles};

/// Tiles in groups whose nodes, those of the cells' upper corners included, have the same distances to the last bit.
pub struct Alike {
    /// The first tile of every group.
    pub first: Vec<usize>,
    /// The group of every tile that was asked for.
    pub group: Vec<usize>,
}

impl Alike {
    /// Groups some of the tiles.
    pub fn new<const D: usize>(tiles: &Tiles<D>, node: &[f32], slots: &[usize]) -> Self {
        let same = with_the_same_nodes(node, Tiles::<D>::CELLS);
        let mut groups: HashMap<[usize; 8], usize> = HashMap::new();
        let mut first = Vec::new();
        let group = slots.iter().map(|&slot| {
            // The nodes that the cells of a tile use are its own and those of the tiles above.
            let last = tiles.base(slot).map(|c| c + TILE - 1);
            let corners = tiles.corners(last);
            let mut key = [0; 8];
            for (key, &corner) in key.iter_mut().zip(&corners[..1 << D]) {
                *key = same[corner / Tiles::<D>::CELLS];
            }
            *groups.entry(key).or_insert_with(|| {
                first.push(slot);
                first.len() - 1
            })
        });
        let group = group.collect();
        Self { first, group }
    }
}

/// For every block of nodes the first that has the same values.
fn with_the_same_nodes(node: &[f32], length: usize) -> Vec<usize> {
    let blocks = || node.chunks_exact(length);
    let digests: Vec<u64> = node.par_chunks_exact(length).map(digest).collect();
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    let same = digests.iter().zip(blocks()).enumerate();
    let same = same.map(|(slot, (&digest, values))| {
        let others = seen.entry(digest).or_default();
        let is_same = |&&other: &&usize| {
            let other = &node[other * length..][..length];
            let pairs = values.iter().zip(other);
            pairs.fold(true, |same, (a, b)| same & (a.to_bits() == b.to_bits()))
        };
        match others.iter().find(is_same) {
            Some(&other) => other,
            None => {
                others.push(slot);
                slot
            }
        }
    });
    same.collect()
}

/// A number that differs where the values do, as a rule.
fn digest(values: &[f32]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    values.iter().fold(0, |digest: u64, value| {
        (digest.rotate_left(5) ^ u64::from(value.to_bits())).wrapping_mul(FACTOR)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_over_a_flat_floor_are_alike_and_one_with_a_bump_is_not() {
        let mut tiles = Tiles::<3>::new([64, 64, 16]);
        let cells: Vec<[i32; 3]> = (0..64 * 64).map(|k| [k % 64, k / 64, 2]).collect();
        tiles.cover(cells.par_iter().copied(), 2);
        let mut node = Vec::new();
        tiles.reset(&mut node, 1e9f32);
        for (index, node) in node.iter_mut().enumerate().take(tiles.cells()) {
            *node = tiles.coord(index)[2] as f32 - 0.25;
        }
        let floor: Vec<usize> = (0..tiles.len())
            .filter(|&slot| tiles.base(slot)[2] < 0 && tiles.base(slot)[..2] == [20, 20])
            .chain((0..tiles.len()).filter(|&slot| {
                let base = tiles.base(slot);
                base[2] < 0 && (4..40).contains(&base[0]) && (4..40).contains(&base[1])
            }))
            .collect();
        assert!(floor.len() > 9);
        let alike = Alike::new(&tiles, &node, &floor);
        assert_eq!(alike.first, [floor[0]]);
        assert!(alike.group.iter().all(|&group| group == 0));

        // A node that belongs to one tile, and to the cells of those below it along every axis.
        node[tiles.index([20, 20, 0])] += 0.5;
        let alike = Alike::new(&tiles, &node, &floor);
        let groups = |cell: [i32; 3]| {
            let slot = tiles.index(cell) / Tiles::<3>::CELLS;
            let place = floor.iter().position(|&other| other == slot);
            place.map(|k| alike.group[k])
        };
        let far = groups([30, 30, 0]);
        for cell in [[20, 20, 0], [19, 20, 0], [20, 19, 0], [19, 19, 0]] {
            assert!(groups(cell).is_some() && groups(cell) != far, "{cell:?}");
        }
        assert_eq!(groups([28, 20, 0]), far);
    }
}
