//! Distances at the points of a lattice, block by block.
//!
//! What can't be nearest to any point of a block is left out once for all of them: a block hands the parts of the tree that
//! are left to its eight halves, which leave out more. Blocks of two points a side look for the triangles that are
//! left, and each of these is compared with all points of the block at once.

use super::TriangleMesh;
use super::facets::{Facet, POINTS, Points};
use super::narrow::BoxOfPoints;
use super::point_lattice::PointLattice;
use super::search::Nearest;
use super::tree::Tree;
use super::triangle;
use crate::vector::{add, norm, sub};
use std::array::from_fn;
use std::ops::Range;

/// Points along each side of the blocks that are begun with: a slab is as many layers.
pub(super) const SIDE: usize = 16;
/// Where more triangles than this are left for a block, as near the middle of a ball, its points are looked at one by one.
const MOST_FACES: usize = 4096;

/// The points of which the indices are in these ranges.
type Block = [Range<usize>; 3];

/// A point and its signed distance.
#[derive(Clone, Copy)]
struct Known {
    at: [f64; 3],
    distance: f64,
}

/// What is known before a block is looked at.
#[derive(Clone)]
struct Start {
    /// Nodes that hold everything which can be nearest, as a range of the walk's.
    nodes: Range<usize>,
    /// A triangle that is near.
    face: u32,
    /// A point nearby.
    near: Option<Known>,
}

/// The walk over some layers of a lattice.
pub(super) struct Walk<'a> {
    mesh: &'a TriangleMesh,
    facets: &'a [Facet],
    lattice: &'a PointLattice,
    layers: Range<usize>,
    /// The triangle nearest to the last point.
    last: u32,
    distances: Vec<f64>,
    /// Nodes of the tree: those of a block come after those of the block it is in.
    nodes: Vec<u32>,
    /// Triangles that are left for a block.
    faces: Vec<u32>,
    /// Those that are left for its points, and lower bounds on the squared distances of these.
    least: Vec<(u32, [f32; POINTS])>,
    /// The triangle that seems nearest to each point.
    first: [u32; POINTS],
}

impl<'a> Walk<'a> {
    pub fn new(
        mesh: &'a TriangleMesh,
        facets: &'a [Facet],
        lattice: &'a PointLattice,
        layers: Range<usize>,
    ) -> Self {
        let [width, depth, _] = lattice.size;
        Walk {
            mesh,
            facets,
            lattice,
            distances: vec![0.0; width * depth * layers.len()],
            layers,
            last: 0,
            nodes: vec![Tree::ROOT],
            faces: Vec::new(),
            least: Vec::new(),
            first: [0; POINTS],
        }
    }

    /// The distances of all points, in the order of their indices.
    pub fn distances(mut self) -> Vec<f64> {
        let [width, depth, _] = self.lattice.size;
        for y in (0..depth).step_by(SIDE) {
            for x in (0..width).step_by(SIDE) {
                let block = [
                    x..(x + SIDE).min(width),
                    y..(y + SIDE).min(depth),
                    self.layers.clone(),
                ];
                let (middle, _) = self.extent(&block);
                let start = Start {
                    nodes: 0..self.nodes.len(),
                    face: self.mesh.lattice.guess(middle),
                    near: None,
                };
                self.visit(&block, &start);
            }
        }
        self.distances
    }

    fn visit(&mut self, block: &Block, start: &Start) {
        if block.iter().any(Range::is_empty) {
            return;
        }
        let tree = &self.mesh.tree;
        let (middle, half) = self.extent(block);
        let mut nearest = tree.nearest_of(middle, start.face);
        let among = &self.nodes[start.nodes.clone()];
        if block.iter().all(|range| range.len() <= 2) {
            let last = tree.nearest_of(middle, self.last);
            if last.square < nearest.square {
                nearest = last;
            }
            let points = BoxOfPoints::new(tree, middle, half, &nearest);
            self.faces.clear();
            tree.faces_near(&mut self.faces, among, &points);
            let start = Start {
                face: nearest.face,
                ..start.clone()
            };
            return self.finish(block, &start);
        }
        nearest = tree.nearest_among(middle, nearest, among);
        let near = Known {
            at: middle,
            distance: self.signed(middle, &nearest, start.near),
        };
        let points = BoxOfPoints::new(tree, middle, half, &nearest);
        let before = self.nodes.len();
        tree.narrow(&mut self.nodes, start.nodes.clone(), &points);
        let start = Start {
            nodes: before..self.nodes.len(),
            face: nearest.face,
            near: Some(near),
        };
        let cuts = block.each_ref().map(|r| r.start + r.len().div_ceil(2));
        for part in 0..8 {
            let part = from_fn(|i| match part >> i & 1 {
                0 => block[i].start..cuts[i],
                _ => cuts[i]..block[i].end,
            });
            self.visit(&part, &start);
        }
        self.nodes.truncate(before);
    }

    /// The distances of a block of at most two points a side.
    fn finish(&mut self, block: &Block, start: &Start) {
        let tree = &self.mesh.tree;
        let index: [[usize; 3]; POINTS] =
            from_fn(|k| from_fn(|i| (block[i].start + (k >> i & 1)).min(block[i].end - 1)));
        let places = index.map(|index| self.lattice.point(index));
        let one_by_one = self.faces.len() > MOST_FACES;
        if !one_by_one {
            self.compare(&places, start.face);
        }
        let lanes = (0..POINTS).filter(|&k| (0..3).all(|i| k >> i & 1 < block[i].len()));
        for k in lanes {
            let x = places[k];
            let nearest = if one_by_one {
                let guess = tree.nearest_of(x, start.face);
                tree.nearest_among(x, guess, &self.nodes[start.nodes.clone()])
            } else {
                self.nearest_of_left(x, k)
            };
            let [width, depth, _] = self.lattice.size;
            let [column, row, layer] = index[k];
            let place = column + width * (row + depth * (layer - self.layers.start));
            let distance = self.signed(x, &nearest, start.near);
            self.distances[place] = distance;
            self.last = nearest.face;
        }
    }

    /// Compares the triangles that are left with some points, a near one first, and leaves out those that are nearest to none;
    /// by the widest instructions that there are, which do the same operations, so that the result is the same.
    fn compare(&mut self, places: &[[f64; 3]; POINTS], near: u32) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            return unsafe { self.compare_by_avx2(places, near) };
        }
        self.compare_by_lanes(places, near);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn compare_by_avx2(&mut self, places: &[[f64; 3]; POINTS], near: u32) {
        self.compare_by_lanes(places, near);
    }

    #[inline(always)]
    fn compare_by_lanes(&mut self, places: &[[f64; 3]; POINTS], near: u32) {
        let tree = &self.mesh.tree;
        let points: Points = from_fn(|i| from_fn(|k| (places[k][i] - tree.middle[i]) as f32));
        // Twice: for the triangle that a limit is from, and for the one that is compared with it.
        let room: [f32; POINTS] = from_fn(|k| (2.0 * tree.slack(places[k])) as f32);
        let mut limits = [f32::INFINITY; POINTS];
        let (mut first, mut lowest) = ([near; POINTS], [f32::INFINITY; POINTS]);
        self.least.clear();
        for &face in [near].iter().chain(&self.faces) {
            let facet = &self.facets[face as usize];
            let Some(least) = facet.least_squares(&points, &limits) else {
                continue;
            };
            self.least.push((face, least));
            for k in 0..POINTS {
                let lower = least[k] < lowest[k];
                first[k] = if lower { face } else { first[k] };
                lowest[k] = if lower { least[k] } else { lowest[k] };
            }
            if facet.is_sound() {
                for k in 0..POINTS {
                    let reach = least[k].sqrt() + room[k];
                    let limit = reach * reach;
                    limits[k] = if limit < limits[k] { limit } else { limits[k] };
                }
            }
        }
        self.first = first;
    }

    /// The nearest point of the triangles that are left, to the point of a lane.
    fn nearest_of_left(&self, x: [f64; 3], lane: usize) -> Nearest {
        let tree = &self.mesh.tree;
        // What seems nearest comes first: hardly anything else is left then.
        let first = self.first[lane];
        let slack = tree.slack(x);
        let mut best = tree.nearest_of(x, first);
        let mut limit = tree.limit(&best, slack);
        for &(face, least) in &self.least {
            if least[lane] > limit || face == first {
                continue;
            }
            let found = triangle::nearest_point(x, tree.corners(face), best.square);
            if let Some((point, square)) = found {
                best = Nearest {
                    face,
                    point,
                    square,
                };
                limit = tree.limit(&best, slack);
            }
        }
        best
    }

    /// The middle of a block, and how far it reaches from there along each axis.
    fn extent(&self, block: &Block) -> ([f64; 3], [f64; 3]) {
        let first = self.lattice.point(from_fn(|i| block[i].start));
        let last = self
            .lattice
            .point(from_fn(|i| block[i].end.saturating_sub(1)));
        let half: [f64; 3] = from_fn(|i| 0.5 * (last[i] - first[i]));
        (add(first, half), half.map(f64::abs))
    }

    /// The signed distance of `x`, on the side of a point nearby unless the surface may be in between.
    fn signed(&self, x: [f64; 3], nearest: &Nearest, near: Option<Known>) -> f64 {
        let distance = nearest.square.sqrt();
        // Balls without any surface in them that reach into each other.
        let is_linked = |near: &Known| {
            let apart = norm(sub(x, near.at)) + self.mesh.tree.slack(x);
            distance > 0.0 && apart < distance + near.distance.abs()
        };
        match near.filter(is_linked) {
            Some(near) => distance.copysign(near.distance),
            None => self.mesh.signed(x, nearest),
        }
    }
}
