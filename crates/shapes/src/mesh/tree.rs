//! Bounding volume tree over triangles, for nearest points, ray crossings and winding numbers.
//!
//! A node has four children, nodes or triangles. Each child has a box along the axes and a flat cylinder along its
//! mean normal. The cylinder of a smooth patch is far thinner than its box: where much of the surface is nearly as
//! far, as in the middle of a ball, only cylinders tell which part of it can be the nearest.
//!
//! Boxes and cylinders are in single precision, so that four are compared at the price of one. They only say what can
//! be left out, with room for their rounding; what they don't leave out is computed in double precision.

use super::patch::{Dipole, Patch};
use super::triangle::{Corners, centroid};
use crate::bounds::Bounds;
use crate::vector::{add, norm, scale, sub};

/// Children of a node.
pub(super) const WIDTH: usize = 4;
/// Marks a child that is a triangle.
const TRIANGLE: u32 = 1 << 31;
/// Marks a child that is not there.
const NOTHING: u32 = u32::MAX;

/// A child of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Child {
    Node(u32),
    Triangle(u32),
}

/// What surrounds the four children, by coordinate, from the middle of the tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub low: [[f32; WIDTH]; 3],
    pub high: [[f32; WIDTH]; 3],
    /// A point of the axis of each cylinder, and its direction.
    pub center: [[f32; WIDTH]; 3],
    pub normal: [[f32; WIDTH]; 3],
    /// Where each cylinder ends, from its centre along its normal.
    pub ends: [[f32; WIDTH]; 2],
    pub radius: [f32; WIDTH],
    children: [u32; WIDTH],
}

impl Node {
    const EMPTY: Node = Node {
        low: [[f32::INFINITY; WIDTH]; 3],
        high: [[f32::NEG_INFINITY; WIDTH]; 3],
        center: [[0.0; WIDTH]; 3],
        normal: [[0.0; WIDTH]; 3],
        ends: [[0.0; WIDTH]; 2],
        radius: [0.0; WIDTH],
        children: [NOTHING; WIDTH],
    };

    #[inline]
    pub fn child(&self, lane: usize) -> Option<Child> {
        Child::unpacked(self.children[lane])
    }

    /// The child as a number.
    #[inline]
    pub fn packed(&self, lane: usize) -> u32 {
        self.children[lane]
    }

    fn set(&mut self, lane: usize, patch: &Patch, middle: [f64; 3], child: u32) {
        let center = sub(patch.dipole.center, middle).map(|c| c as f32);
        let normal = patch.normal.map(|c| c as f32);
        for i in 0..3 {
            self.low[i][lane] = ((patch.bounds.low[i] - middle[i]) as f32).next_down();
            self.high[i][lane] = ((patch.bounds.high[i] - middle[i]) as f32).next_up();
            (self.center[i][lane], self.normal[i][lane]) = (center[i], normal[i]);
        }
        self.ends[0][lane] = (patch.ends[0] as f32).next_down();
        self.ends[1][lane] = (patch.ends[1] as f32).next_up();
        self.radius[lane] = (patch.radius as f32).next_up();
        self.children[lane] = child;
    }
}

impl Child {
    #[inline]
    pub fn unpacked(packed: u32) -> Option<Self> {
        if packed == NOTHING {
            None
        } else if packed & TRIANGLE != 0 {
            Some(Child::Triangle(packed & !TRIANGLE))
        } else {
            Some(Child::Node(packed))
        }
    }
}

/// The tree with its triangles.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub vertices: Vec<[f64; 3]>,
    /// In the order of the leaves.
    pub triangles: Vec<[u32; 3]>,
    bounds: Bounds<3>,
    pub(super) middle: [f64; 3],
    /// From corner to corner.
    pub(super) diagonal: f64,
    pub(super) nodes: Vec<Node>,
    pub(super) dipoles: Vec<[Dipole; WIDTH]>,
}

impl Tree {
    /// The node of everything.
    pub(super) const ROOT: u32 = 0;

    /// A tree over at least one triangle. Vertices and triangles are put into the order of the leaves; vertices that
    /// no triangle has are left out.
    pub fn new(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Self {
        let corners = |face: u32| triangles[face as usize].map(|v| vertices[v as usize]);
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let bounds = order.iter().fold(Bounds::NOTHING, |all, &face| {
            corners(face).into_iter().fold(all, |all, corner| {
                all.union(&Bounds {
                    low: corner,
                    high: corner,
                })
            })
        });
        let mut tree = Tree {
            vertices: Vec::new(),
            triangles: Vec::with_capacity(triangles.len()),
            bounds,
            middle: scale(add(bounds.low, bounds.high), 0.5),
            diagonal: norm(sub(bounds.high, bounds.low)),
            nodes: Vec::new(),
            dipoles: Vec::new(),
        };
        let centers: Vec<[f64; 3]> = order.iter().map(|&f| centroid(corners(f))).collect();
        tree.divide(&corners, &centers, &mut order, 0);

        let mut places = vec![u32::MAX; vertices.len()];
        for &face in &order {
            let renamed = triangles[face as usize].map(|old| {
                let place = &mut places[old as usize];
                if *place == u32::MAX {
                    *place = tree.vertices.len() as u32;
                    tree.vertices.push(vertices[old as usize]);
                }
                *place
            });
            tree.triangles.push(renamed);
        }
        tree
    }

    /// Makes the node of these triangles, which are to come at `first`, and all below it.
    fn divide(
        &mut self,
        corners: &impl Fn(u32) -> Corners,
        centers: &[[f64; 3]],
        order: &mut [u32],
        first: usize,
    ) {
        let here = self.nodes.len();
        self.nodes.push(Node::EMPTY);
        self.dipoles.push([Dipole::NONE; WIDTH]);
        // Halved again and again, until there is a part for each child.
        let mut ends = [order.len(); WIDTH];
        let mut parts = 1;
        while parts < WIDTH {
            let mut from = 0;
            let whole = ends;
            for part in 0..parts {
                ends[2 * part] = from + halve(centers, &mut order[from..whole[part]]);
                ends[2 * part + 1] = whole[part];
                from = whole[part];
            }
            parts *= 2;
        }
        let mut from = 0;
        for (lane, to) in ends.into_iter().enumerate() {
            let part = &mut order[from..to];
            let start = first + from;
            from = to;
            if part.is_empty() {
                continue;
            }
            let child = if part.len() == 1 {
                start as u32 | TRIANGLE
            } else {
                self.nodes.len() as u32
            };
            let patch = Patch::of(part.iter().map(|&face| corners(face)));
            self.nodes[here].set(lane, &patch, self.middle, child);
            self.dipoles[here][lane] = patch.dipole;
            if part.len() > 1 {
                self.divide(corners, centers, part, start);
            }
        }
    }

    /// The corners of a triangle, by its place in the order of the tree.
    #[inline]
    pub fn corners(&self, face: u32) -> Corners {
        self.triangles[face as usize].map(|v| self.vertices[v as usize])
    }

    /// The box around everything.
    pub fn bounds(&self) -> Bounds<3> {
        self.bounds
    }
}

/// Puts the half of the triangles that is lower along their longest extent first; returns where the other begins.
fn halve(centers: &[[f64; 3]], order: &mut [u32]) -> usize {
    if order.len() < 2 {
        return order.len();
    }
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for &face in order.iter() {
        let center = centers[face as usize];
        for i in 0..3 {
            low[i] = low[i].min(center[i]);
            high[i] = high[i].max(center[i]);
        }
    }
    let extent = sub(high, low);
    let axis = (0..3).fold(0, |a, b| if extent[b] > extent[a] { b } else { a });
    let middle = order.len() / 2;
    let along = |face: &u32| centers[*face as usize][axis];
    // Equal ones by their number: the order is the same on every machine.
    order.select_nth_unstable_by(middle, |a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
    middle
}
