//! Estimate of where liquid comes to rest: a priority flood of the space between solids.
//!
//! Liquid falls along gravity until it meets a solid, and fills the lowest cells that it can reach until all of it has
//! found room or the flood reaches a drain or an open side. The grid is coarse; walls thinner than its cells are found by
//! samples between the centres of cells.

use super::Scene;
use meniscus_shapes::PosedSolids;
use std::array::from_fn;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cells of the flood along the longest side, in 2D and in 3D.
const CELLS: [f64; 2] = [96.0, 40.0];
/// Samples between two neighbouring centres.
const BETWEEN: usize = 7;

/// Liquid at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Height of its surface, against gravity.
    pub level: f64,
    /// Volume that stays; the rest leaves through drains and open sides.
    pub held: f64,
    /// Lowest height, against gravity, at which falling liquid first meets a solid.
    pub landing: f64,
}

/// Height of a point, against gravity; none without gravity.
pub fn height<const D: usize>(scene: &Scene<D>, x: [f64; D]) -> Option<f64> {
    let strength = scene.physics.gravity_magnitude();
    let along: f64 = (0..D).map(|a| -scene.physics.gravity[a] * x[a]).sum();
    (strength > 0.0).then(|| along / strength)
}

/// The rest state of `volume` released at the given points; `None` without gravity or points.
pub fn rest<const D: usize>(scene: &Scene<D>, points: &[[f64; D]], volume: f64) -> Option<Rest> {
    height(scene, [0.0; D])?;
    let solids = scene.solids_and_walls();
    let mut flood = Flood::new(scene, solids.over_step(0.0, 0.0));
    let mut starts: Vec<usize> = points.iter().map(|&x| flood.cell_of(x)).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut landed: Vec<usize> = starts.into_iter().map(|cell| flood.fall(cell)).collect();
    landed.sort_unstable();
    landed.dedup();
    let heights = landed.iter().map(|&cell| flood.height_of(cell));
    let landing = heights.fold(f64::INFINITY, f64::min);
    landing.is_finite().then(|| {
        let (level, held) = flood.fill(&landed, volume);
        Rest {
            level,
            held,
            landing: landing - 0.5 * flood.spacing,
        }
    })
}

struct Flood<'a, const D: usize> {
    scene: &'a Scene<D>,
    solids: PosedSolids<'a, D>,
    spacing: f64,
    cells: [usize; D],
    /// Distance of the solids at the centres; NaN until needed.
    distance: Vec<f64>,
    /// Axis that gravity is most along, and whether it points to the high end.
    down: (usize, bool),
}

impl<'a, const D: usize> Flood<'a, D> {
    fn new(scene: &'a Scene<D>, solids: PosedSolids<'a, D>) -> Self {
        let longest = scene.domain.iter().copied().fold(0.0, f64::max);
        let spacing = longest / CELLS[D - 2];
        let cells = scene
            .domain
            .map(|side| ((side / spacing - 1e-9).ceil() as usize).max(1));
        let strongest = |a: &usize, b: &usize| {
            let (a, b) = (
                scene.physics.gravity[*a].abs(),
                scene.physics.gravity[*b].abs(),
            );
            a.total_cmp(&b)
        };
        let axis = (0..D).max_by(strongest).unwrap_or(D - 1);
        Flood {
            scene,
            solids,
            spacing,
            cells,
            distance: vec![f64::NAN; cells.iter().product()],
            down: (axis, scene.physics.gravity[axis] > 0.0),
        }
    }

    fn coord(&self, mut cell: usize) -> [usize; D] {
        from_fn(|a| {
            let at = cell % self.cells[a];
            cell /= self.cells[a];
            at
        })
    }

    fn cell_of(&self, x: [f64; D]) -> usize {
        (0..D).rev().fold(0, |cell, a| {
            let at = (x[a] / self.spacing).max(0.0) as usize;
            cell * self.cells[a] + at.min(self.cells[a] - 1)
        })
    }

    fn centre(&self, cell: usize) -> [f64; D] {
        self.coord(cell).map(|at| (at as f64 + 0.5) * self.spacing)
    }

    fn height_of(&self, cell: usize) -> f64 {
        height(self.scene, self.centre(cell)).unwrap_or(0.0)
    }

    /// The neighbour along an axis; none beyond the domain.
    fn beside(&self, cell: usize, axis: usize, high: bool) -> Option<usize> {
        let at = self.coord(cell)[axis];
        let stride: usize = self.cells[..axis].iter().product();
        match high {
            true => (at + 1 < self.cells[axis]).then(|| cell + stride),
            false => (at > 0).then(|| cell - stride),
        }
    }

    fn distance_at(&mut self, cell: usize) -> f64 {
        if self.distance[cell].is_nan() {
            self.distance[cell] = self.solids.distance(self.centre(cell));
        }
        self.distance[cell]
    }

    /// Whether liquid can pass between two neighbours.
    fn joined(&mut self, one: usize, other: usize) -> bool {
        let (a, b) = (self.distance_at(one), self.distance_at(other));
        if a.min(b) <= 0.0 || a.max(b) > self.spacing {
            return a.min(b) > 0.0;
        }
        let (from, to) = (self.centre(one), self.centre(other));
        (1..=BETWEEN).all(|k| {
            let share = k as f64 / (BETWEEN + 1) as f64;
            let x = from_fn(|axis| from[axis] + share * (to[axis] - from[axis]));
            self.solids.distance(x) > 0.0
        })
    }

    /// The lowest cell that liquid falls to from a cell.
    fn fall(&mut self, mut cell: usize) -> usize {
        let (axis, high) = self.down;
        while let Some(below) = self.beside(cell, axis, high) {
            if self.is_exit(cell) || !self.joined(cell, below) {
                break;
            }
            cell = below;
        }
        cell
    }

    /// Whether liquid leaves from a cell, through an open side or a drain.
    fn is_exit(&self, cell: usize) -> bool {
        let at = self.coord(cell);
        let open = (0..D).any(|a| {
            let [low, high] = self.scene.open[a];
            low && at[a] == 0 || high && at[a] + 1 == self.cells[a]
        });
        let centre = self.centre(cell);
        let near = 0.5 * self.spacing;
        open || self
            .scene
            .drains
            .iter()
            .any(|drain| drain.shape.distance(centre) < near)
    }

    /// Fills from the given cells upward; returns the level and how much of the volume stays.
    fn fill(&mut self, starts: &[usize], volume: f64) -> (f64, f64) {
        let each = self.spacing.powi(D as i32);
        // Heights as whole numbers, so that cells of one layer are equal.
        let rank = |height: f64, spacing: f64| (height / spacing * 1024.0).round() as i64;
        let mut seen = vec![false; self.distance.len()];
        let mut next = BinaryHeap::new();
        for &cell in starts {
            seen[cell] = true;
            next.push(Reverse((rank(self.height_of(cell), self.spacing), cell)));
        }
        let mut filled = 0.0;
        // Of the highest layer so far: its rank, its height and its volume.
        let mut layer = (i64::MIN, self.height_of(starts[0]), 0.0);
        // Volume filled before the flood went over a rim and down: it stays if the rest leaves there.
        let mut before_spill = None;
        while let Some(Reverse((rank_now, cell))) = next.pop() {
            if filled >= volume && rank_now > layer.0 {
                break;
            }
            if self.is_exit(cell) {
                let held: f64 = before_spill.unwrap_or(filled);
                return (self.height_of(cell), held.min(volume));
            }
            before_spill = match rank_now < layer.0 {
                true => before_spill.or(Some(filled)),
                false => None,
            };
            filled += each;
            match rank_now.cmp(&layer.0) {
                std::cmp::Ordering::Greater => layer = (rank_now, self.height_of(cell), each),
                std::cmp::Ordering::Equal => layer.2 += each,
                std::cmp::Ordering::Less => {}
            }
            for axis in 0..D {
                for high in [false, true] {
                    let Some(other) = self.beside(cell, axis, high) else {
                        continue;
                    };
                    if !seen[other] && self.joined(cell, other) {
                        seen[other] = true;
                        next.push(Reverse((rank(self.height_of(other), self.spacing), other)));
                    }
                }
            }
        }
        // The highest layer is full only in part.
        let (_, height, of_layer) = layer;
        let part = (1.0 - (filled - volume).max(0.0) / of_layer.max(each)).clamp(0.0, 1.0);
        (height + (part - 0.5) * self.spacing, volume)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::{ScriptedSolid, Shape};

    fn tank() -> Scene<2> {
        Scene::new("tank", "", [2.0, 1.0], 64)
    }

    #[test]
    fn a_column_comes_to_rest_at_its_mean_depth() {
        let found = rest(&tank(), &[[0.3, 0.4]], 0.5).unwrap();
        assert!((found.level - 0.25).abs() < 0.01, "{found:?}");
        assert_eq!(found.held, 0.5);
        assert!(found.landing.abs() < 0.02, "{found:?}");
    }

    #[test]
    fn a_thin_cup_holds_what_fits_and_the_rest_leaves_through_open_sides() {
        let mut scene = tank();
        scene.open[0] = [true, true];
        // A cup 0.4 m wide and 0.3 m high inside, with walls thinner than a cell of the flood.
        let cup =
            |low: [f64; 2], high: [f64; 2]| ScriptedSolid::still("cup", Shape::Box { low, high });
        scene.solids = vec![
            cup([0.8, 0.1], [1.2, 0.11]),
            cup([0.79, 0.1], [0.8, 0.41]),
            cup([1.2, 0.1], [1.21, 0.41]),
        ];
        let all = rest(&scene, &[[1.0, 0.9]], 10.0).unwrap();
        assert!((all.held / 0.12 - 1.0).abs() < 0.15, "{all:?}");
        let little = rest(&scene, &[[1.0, 0.9]], 0.04).unwrap();
        assert_eq!(little.held, 0.04);
        assert!((little.level - 0.21).abs() < 0.03, "{little:?}");
        assert!((little.landing - 0.11).abs() < 0.03, "{little:?}");
        let beside = rest(&scene, &[[0.4, 0.9]], 0.04).unwrap();
        assert!(beside.held < 0.01, "nothing holds it: {beside:?}");
    }

    #[test]
    fn without_gravity_nothing_comes_to_rest() {
        let mut scene = tank();
        scene.physics.gravity = [0.0; 2];
        assert_eq!(rest(&scene, &[[0.5, 0.5]], 0.1), None);
    }
}
