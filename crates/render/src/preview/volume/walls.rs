//! Field of the liquid at solids: it reaches the walls that liquid touches, and ends in thin ones.

use super::{LEVEL, Volume};
use crate::preview::vector::{Vec3, mix, scale};
use meniscus_shapes::PosedSolid;
use rayon::prelude::*;
use std::array::from_fn;

impl Volume {
    /// Extends the liquid into the solids that it touches. Returns nodes beyond thin walls and inside them, with an upper
    /// bound after smoothing: liquid ends in a wall and is not visible on its other side.
    pub(super) fn reach_walls<const D: usize>(
        &mut self,
        bodies: &[PosedSolid<'_, D>],
        centres: &[Vec3],
        partial: f32,
    ) -> Vec<(usize, f32)> {
        if bodies.is_empty() {
            return Vec::new();
        }
        let near = near_liquid(&self.occupancy, self.nodes);
        let spacing = self.spacing;
        let distance = |x: Vec3| {
            let x = from_fn(|i| f64::from(x[i]));
            let band = 1.5 * f64::from(spacing);
            let distances = bodies.iter().map(|body| body.distance_within(x, band));
            distances.fold(f64::INFINITY, f64::min) as f32
        };
        // Only nodes that are not full: elsewhere walls have no effect. Below zero: behind a wall.
        let open: Vec<f32> = (0..self.mass.len())
            .into_par_iter()
            .map(|index| {
                let mass = self.mass[index];
                if !near[index] || mass >= partial {
                    return 1.0;
                }
                let x = self.place(index);
                let here = distance(x);
                if mass > 0.0 && here > 0.0 && here < 1.2 * spacing {
                    let centre = scale(centres[index], 1.0 / mass);
                    let between = |share: f32| distance(mix(x, centre, share)) < 0.0;
                    if [0.2, 0.4, 0.6, 0.8].into_iter().any(between) {
                        return -1.0;
                    }
                }
                open_share(here / spacing)
            })
            .collect();
        let behind: Vec<usize> = (0..open.len()).filter(|&index| open[index] < 0.0).collect();
        for &index in &behind {
            self.occupancy[index] = 0.0;
        }
        const LEAST_OPEN: f32 = 0.15;
        let mut known: Vec<bool> = open
            .iter()
            .map(|&open| !(0.0..LEAST_OPEN).contains(&open))
            .collect();
        for (occupancy, &open) in self.occupancy.iter_mut().zip(&open) {
            if open >= LEAST_OPEN {
                *occupancy = (*occupancy / open).min(1.0);
            }
        }
        for _ in 0..2 {
            let filled: Vec<(usize, f32)> = (0..known.len())
                .into_par_iter()
                .filter(|&index| !known[index])
                .filter_map(|index| Some((index, self.mean_around(index, &known)?)))
                .collect();
            for (index, value) in filled {
                self.occupancy[index] = value;
                known[index] = true;
            }
        }
        let air = |index: usize| open[index] < 0.0 || open[index] > 0.5 && self.mass[index] == 0.0;
        let is_thin =
            |&index: &usize| (0.0..0.5).contains(&open[index]) && self.around(index).any(air);
        let thin = (0..open.len()).into_par_iter().filter(is_thin);
        let thin: Vec<(usize, f32)> = thin.map(|index| (index, 0.98 * LEVEL)).collect();
        behind
            .into_iter()
            .map(|index| (index, 0.0))
            .chain(thin)
            .collect()
    }

    /// A node and its neighbours, corners included.
    fn around(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let [i, j, k] = self.coordinates(index);
        let range = |c: usize, axis: usize| c.saturating_sub(1)..(c + 2).min(self.nodes[axis]);
        let (xs, ys) = (range(i, 0), range(j, 1));
        range(k, 2).flat_map(move |z| {
            let xs = xs.clone();
            ys.clone().flat_map(move |y| {
                let row = (z * self.nodes[1] + y) * self.nodes[0];
                xs.clone().map(move |x| row + x)
            })
        })
    }

    /// Mean of the known neighbours of a node.
    fn mean_around(&self, index: usize, known: &[bool]) -> Option<f32> {
        let (mut sum, mut count) = (0.0, 0.0);
        for at in self.around(index).filter(|&at| known[at]) {
            sum += self.occupancy[at];
            count += 1.0;
        }
        (count > 0.0).then(|| sum / count)
    }
}

/// Fraction of a node's trilinear weights outside a wall at this distance, in cells; negative in the wall.
fn open_share(distance: f32) -> f32 {
    let s = distance.clamp(-1.0, 1.0);
    if s >= 0.0 {
        1.0 - 0.5 * (1.0 - s) * (1.0 - s)
    } else {
        0.5 * (1.0 + s) * (1.0 + s)
    }
}

/// Nodes within two of one that has liquid, by dilation along one axis after the other.
fn near_liquid(occupancy: &[f32], nodes: [usize; 3]) -> Vec<bool> {
    let mut near: Vec<bool> = occupancy.iter().map(|&o| o > 0.0).collect();
    let strides = [1, nodes[0], nodes[0] * nodes[1]];
    for axis in 0..3 {
        let last = near.clone();
        let (stride, count) = (strides[axis], nodes[axis]);
        near.par_iter_mut().enumerate().for_each(|(index, node)| {
            let at = index / stride % count;
            *node = (at.saturating_sub(2)..(at + 3).min(count))
                .any(|other| last[index + other * stride - at * stride]);
        });
    }
    near
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SPACING, particles};
    use super::*;
    use meniscus_shapes::{ScriptedSolid, Shape};

    #[test]
    fn liquid_is_not_visible_through_a_thin_wall() {
        let plate = ScriptedSolid::still(
            "plate",
            Shape::Box {
                low: [0.49, -1.0, -1.0],
                high: [0.51, 2.0, 2.0],
            },
        );
        let posed = [plate.at(0.0)];
        let field = Volume::new(&particles(|x| x[0] < 0.48), SPACING, 8.0, &posed);
        for height in [0.3, 0.42, 0.5, 0.61] {
            let at = |x: f32| field.occupancy([x, 0.5, height]);
            assert!(at(0.44) > LEVEL && at(0.3) > 0.9, "{}", at(0.44));
            for x in [0.52, 0.55, 0.6, 0.7] {
                assert!(at(x) < LEVEL, "{} at {x}", at(x));
            }
        }
    }
}
