//! The open share of the neighbourhoods that particles are counted over.

use crate::grid::cut_cells::{CutCells, interpolate};
use crate::grid::tile_halo::{self, CellWindow};
use crate::grid::tiles::Tiles;

/// Nodes around a tile that the neighbourhoods of its cells reach.
const BESIDE: usize = 2;
/// Parts of a neighbourhood along an axis, half a cell each, and as many nodes.
const PARTS: usize = 4;
/// All parts in space; in the plane fewer are used.
const ALL: usize = PARTS.pow(3);
/// Share of the hat's integral in each part along an axis.
const SHARE: [f64; PARTS] = [0.125, 0.375, 0.375, 0.125];
/// Mean position of the hat in each part, in cells from the centre.
const MEAN: [f64; PARTS] = [-2.0 / 3.0, -2.0 / 9.0, 2.0 / 9.0, 2.0 / 3.0];
/// Node below that position, from the one below the cell's lower node on.
const NODE: [usize; PARTS] = [0, 1, 1, 2];
/// Width of a part in cells.
const WIDTH: f64 = 0.5;
/// A plane farther off than its ramp is wide leaves all open or nothing. The least bit more, for rounding.
const BEYOND_RAMP: f64 = 0.25 * WIDTH * WIDTH * (1.0 + 1e-9);

/// The solids' distances at the nodes around one tile.
pub struct OpenAround<const D: usize> {
    node: CellWindow<D, BESIDE>,
}

impl<const D: usize> OpenAround<D> {
    /// Of no tile yet.
    pub fn new() -> Self {
        Self {
            node: CellWindow::new(),
        }
    }

    /// Takes the nodes around a tile.
    pub fn come_to(&mut self, tiles: &Tiles<D>, cut: &CutCells<D>, slot: usize) {
        self.node.fill(tiles, slot, &cut.node);
    }

    /// Open share of the neighbourhood that a cell's particles are counted over, weighted as they are: the integral of
    /// the hat function around the cell's centre over the open space. The cell is the one at `offset` in the tile, whose
    /// lowest cell is `base`.
    ///
    /// By half cells along every axis: each has its share of the hat's integral, and the wall is taken as a plane through
    /// the distance at the hat's mean position in it.
    pub fn share(&self, base: [i32; D], offset: usize, dx: f64) -> f64 {
        // The widest instructions that there are do the same operations in the same order.
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            return unsafe { self.share_by_avx2(base, offset, dx) };
        }
        self.share_by_parts(base, offset, dx)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn share_by_avx2(&self, base: [i32; D], offset: usize, dx: f64) -> f64 {
        self.share_by_parts(base, offset, dx)
    }

    #[inline(always)]
    fn share_by_parts(&self, base: [i32; D], offset: usize, dx: f64) -> f64 {
        let local = Tiles::<D>::local(offset);
        let lower: usize = (0..D)
            .map(|a| (local[a] as usize + BESIDE) * tile_halo::stride::<D>(BESIDE, a))
            .sum();
        if interpolate(&self.node.corners(lower), [0.5; D]) > dx * (D as f64).sqrt() {
            return 1.0;
        }
        let lowest = lower - tile_halo::to_corner::<D>(BESIDE, (1 << D) - 1);
        let at = std::array::from_fn(|a| {
            let cell = base[a] + local[a];
            std::array::from_fn(|part| {
                cell as f64 + 0.5 + MEAN[part] - (cell - 1 + NODE[part] as i32) as f64
            })
        });
        let planes = self.planes(lowest, at);
        let mut sum = 0.0;
        for k in 0..PARTS.pow(D as u32) {
            let (mut rest, mut weight, mut place) = (k, 1.0, 0);
            for _ in 0..D {
                weight *= SHARE[rest % PARTS];
                place = place * PARTS + rest % PARTS;
                rest /= PARTS;
            }
            sum += weight * planes.open(place);
        }
        sum
    }

    /// Distance and gradient at the mean positions of all parts, multilinear between nodes: along one axis after the
    /// other, so that parts that share a line of nodes share the work. `at` are the positions between nodes.
    #[inline(always)]
    fn planes(&self, lowest: usize, at: [[f64; PARTS]; D]) -> Planes<D> {
        let mut planes = Planes {
            distance: [0.0; ALL],
            gradient: [[0.0; ALL]; D],
        };
        let rows = PARTS.pow(D as u32 - 1);
        for row in 0..rows {
            let (mut rest, mut first) = (row, lowest);
            for a in (0..D - 1).rev() {
                first += rest % PARTS * tile_halo::stride::<D>(BESIDE, a);
                rest /= PARTS;
            }
            for (to, &from) in planes.distance[row * PARTS..][..PARTS]
                .iter_mut()
                .zip(&self.node.values[first..][..PARTS])
            {
                *to = from as f64;
            }
        }
        for a in (0..D).rev() {
            // Parts along this axis are so far apart; those along later axes lie in between.
            let stride = PARTS.pow((D - 1 - a) as u32);
            for line in 0..PARTS.pow(a as u32) {
                let all = line * PARTS * stride..(line + 1) * PARTS * stride;
                let differences = &mut planes.gradient[a][all.clone()];
                let values = &mut planes.distance[all.clone()];
                differences_between(values, differences, stride);
                between(values, at[a], stride);
                for gradient in &mut planes.gradient[a + 1..] {
                    between(&mut gradient[all.clone()], at[a], stride);
                }
            }
        }
        planes
    }
}

/// Replaces values at nodes along an axis by those at the mean positions of the parts.
#[inline(always)]
fn between(values: &mut [f64], at: [f64; PARTS], stride: usize) {
    for i in 0..stride {
        let node: [f64; PARTS] = std::array::from_fn(|k| values[k * stride + i]);
        for (part, at) in at.into_iter().enumerate() {
            let below = node[NODE[part]];
            values[part * stride + i] = below + at * (node[NODE[part] + 1] - below);
        }
    }
}

/// Differences along an axis between the nodes on both sides of the parts.
#[inline(always)]
fn differences_between(values: &[f64], differences: &mut [f64], stride: usize) {
    for (part, difference) in differences.chunks_exact_mut(stride).enumerate() {
        let below = &values[NODE[part] * stride..];
        let above = &values[(NODE[part] + 1) * stride..];
        for ((difference, below), above) in difference.iter_mut().zip(below).zip(above) {
            *difference = above - below;
        }
    }
}

/// The walls as planes, one for every part; the last axis runs fastest.
struct Planes<const D: usize> {
    /// Distance in metres.
    distance: [f64; ALL],
    /// Its change from cell to cell along every axis.
    gradient: [[f64; ALL]; D],
}

impl<const D: usize> Planes<D> {
    /// Open share of a part.
    #[inline(always)]
    fn open(&self, part: usize) -> f64 {
        let distance = self.distance[part];
        let square: f64 = (0..D)
            .map(|a| self.gradient[a][part] * self.gradient[a][part])
            .sum();
        // Most parts end here, without the root.
        if distance * distance > BEYOND_RAMP * square {
            return f64::from(distance > 0.0);
        }
        // A ramp as wide as the half cell has the variance of the plane's share whatever its direction.
        let across = WIDTH * square.sqrt();
        if across > 0.0 {
            (0.5 + distance / across).clamp(0.0, 1.0)
        } else {
            f64::from(distance > 0.0)
        }
    }
}
