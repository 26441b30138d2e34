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
/// Position of each part's mean between the nodes around it.
const BETWEEN: [f64; PARTS] = [
    0.5 + MEAN[0] + 1.0 - NODE[0] as f64,
    0.5 + MEAN[1] + 1.0 - NODE[1] as f64,
    0.5 + MEAN[2] + 1.0 - NODE[2] as f64,
    0.5 + MEAN[3] + 1.0 - NODE[3] as f64,
];
/// Shares that are kept.
const KEPT: usize = 64;

/// The solids' distances at the nodes around one tile.
pub struct OpenAround<const D: usize> {
    node: CellWindow<D, BESIDE>,
    /// Shares found before. Along flat walls the same distances come again and again.
    kept: Vec<Kept>,
}

/// The distances at the nodes of a neighbourhood, and its open share.
#[derive(Clone)]
struct Kept {
    nodes: [f32; ALL],
    share: f64,
}

impl<const D: usize> OpenAround<D> {
    /// Of no tile yet.
    pub fn new() -> Self {
        Self {
            node: CellWindow::new(),
            kept: vec![
                Kept {
                    nodes: [f32::NAN; ALL],
                    share: 1.0,
                };
                KEPT
            ],
        }
    }

    /// Takes the nodes around a tile.
    pub fn come_to(&mut self, tiles: &Tiles<D>, cut: &CutCells<D>, slot: usize) {
        self.node.fill(tiles, slot, &cut.node);
    }

    /// Open share of the neighbourhood that a cell's particles are counted over, weighted as they are: the integral of
    /// the hat function around the cell's centre over the open space. The cell is the one at `offset` in the tile.
    ///
    /// By half cells along every axis: each has its share of the hat's integral, and the wall is taken as a plane through
    /// the distance at the hat's mean position in it.
    pub fn share(&mut self, offset: usize, dx: f64) -> f64 {
        // The widest instructions that there are do the same operations in the same order.
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            return unsafe { self.share_by_avx2(offset, dx) };
        }
        self.share_or_kept(offset, dx)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn share_by_avx2(&mut self, offset: usize, dx: f64) -> f64 {
        self.share_or_kept(offset, dx)
    }

    #[inline(always)]
    fn share_or_kept(&mut self, offset: usize, dx: f64) -> f64 {
        let local = Tiles::<D>::local(offset);
        let lower: usize = (0..D)
            .map(|a| (local[a] as usize + BESIDE) * tile_halo::stride::<D>(BESIDE, a))
            .sum();
        if interpolate(&self.node.corners(lower), [0.5; D]) > dx * (D as f64).sqrt() {
            return 1.0;
        }
        let nodes = self.nodes(lower - tile_halo::to_corner::<D>(BESIDE, (1 << D) - 1));
        let place = (0..ALL).step_by(21).fold(0u32, |sum, node| {
            sum.wrapping_mul(0x9e37_79b1)
                .wrapping_add(nodes[node].to_bits())
        });
        // The highest bits: those of numbers with few digits differ nowhere else.
        let place = (place.wrapping_mul(0x9e37_79b1) >> (32 - KEPT.ilog2())) as usize;
        let is_same = |kept: &Kept| {
            let pairs = kept.nodes.iter().zip(&nodes);
            pairs.fold(true, |same, (a, b)| same & (a.to_bits() == b.to_bits()))
        };
        if !is_same(&self.kept[place]) {
            let share = Planes::<D>::between(&nodes).share();
            self.kept[place] = Kept { nodes, share };
        }
        self.kept[place].share
    }

    /// The nodes of a neighbourhood, from the lowest on; the last axis runs fastest.
    #[inline(always)]
    fn nodes(&self, lowest: usize) -> [f32; ALL] {
        let mut nodes = [0.0; ALL];
        for (row, nodes) in nodes[..PARTS.pow(D as u32)]
            .as_chunks_mut::<PARTS>()
            .0
            .iter_mut()
            .enumerate()
        {
            let (mut rest, mut first) = (row, lowest);
            for a in (0..D - 1).rev() {
                first += rest % PARTS * tile_halo::stride::<D>(BESIDE, a);
                rest /= PARTS;
            }
            nodes.copy_from_slice(&self.node.values[first..][..PARTS]);
        }
        nodes
    }
}

/// Replaces values at nodes along an axis by those at the mean positions of the parts.
#[inline(always)]
fn between(values: &mut [f64], stride: usize) {
    for i in 0..stride {
        let node: [f64; PARTS] = std::array::from_fn(|k| values[k * stride + i]);
        for (part, at) in BETWEEN.into_iter().enumerate() {
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
    /// Distance and gradient at the mean positions of all parts, multilinear between nodes: along one axis after the
    /// other, so that parts that share a line of nodes share the work.
    #[inline(always)]
    fn between(nodes: &[f32; ALL]) -> Self {
        let mut planes = Planes {
            distance: nodes.map(f64::from),
            gradient: [[0.0; ALL]; D],
        };
        for a in (0..D).rev() {
            // Parts along this axis are so far apart; those along later axes lie in between.
            let stride = PARTS.pow((D - 1 - a) as u32);
            for line in 0..PARTS.pow(a as u32) {
                let all = line * PARTS * stride..(line + 1) * PARTS * stride;
                let differences = &mut planes.gradient[a][all.clone()];
                let values = &mut planes.distance[all.clone()];
                differences_between(values, differences, stride);
                between(values, stride);
                for gradient in &mut planes.gradient[a + 1..] {
                    between(&mut gradient[all.clone()], stride);
                }
            }
        }
        planes
    }

    /// Open share of the whole neighbourhood.
    #[inline(always)]
    fn share(&self) -> f64 {
        let mut sum = 0.0;
        for k in 0..PARTS.pow(D as u32) {
            let (mut rest, mut weight, mut place) = (k, 1.0, 0);
            for _ in 0..D {
                weight *= SHARE[rest % PARTS];
                place = place * PARTS + rest % PARTS;
                rest /= PARTS;
            }
            sum += weight * self.open(place);
        }
        sum
    }

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
