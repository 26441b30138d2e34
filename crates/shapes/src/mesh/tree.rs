//! A tree of boxes over triangles, for nearest points, lines and winding numbers.
//!
//! Every node has a box along the axes and, across its mean normal, a slab. The slab of a smooth patch is far
//! thinner than its box: deep inside a ball, where all of the surface is nearly as far, only slabs tell which part of
//! it can be the nearest.

use super::triangle::{self, Corners, centroid, doubled_area};
use crate::bounds::Bounds;
use crate::vector::{add, add_scaled, direction_or, dot, norm, scale, sub, up};
use std::f64::consts::PI;

/// Triangles that are not divided any further.
const LEAF: usize = 4;
/// Halving more than 2^32 triangles takes no more nodes than this on the way down.
const DEEPEST: usize = 40;
/// From this many times its reach away, a patch is seen as one dipole.
const FAR: f64 = 2.0;

/// A point of the surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// The triangle, in the order of the tree.
    pub face: u32,
    pub point: [f64; 3],
    /// The square of the distance to it.
    pub square: f64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    low: [f64; 3],
    high: [f64; 3],
    normal: [f64; 3],
    /// Least and greatest extent along the normal.
    slab: [f64; 2],
    /// The first triangle of a leaf, or the second child: the first one follows its parent.
    next: u32,
    /// Triangles of a leaf; zero for a node with children.
    count: u32,
}

/// What a patch looks like from afar [first term of the expansion of its solid angle].
#[derive(Clone, Copy, Debug)]
struct Dipole {
    center: [f64; 3],
    /// The sum of areas along normals.
    moment: [f64; 3],
    /// The square of the distance from which it is used.
    far: f64,
}

/// The tree with its triangles.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub vertices: Vec<[f64; 3]>,
    /// In the order of the leaves.
    pub triangles: Vec<[u32; 3]>,
    nodes: Vec<Node>,
    dipoles: Vec<Dipole>,
}

impl Tree {
    /// A tree over at least one triangle. Vertices and triangles are put into the order of the leaves; vertices that
    /// no triangle has are left out.
    pub fn new(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Self {
        let corners = |face: u32| triangles[face as usize].map(|v| vertices[v as usize]);
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let centers: Vec<[f64; 3]> = order.iter().map(|&f| centroid(corners(f))).collect();
        let mut tree = Tree {
            vertices: Vec::new(),
            triangles: Vec::new(),
            nodes: Vec::new(),
            dipoles: Vec::new(),
        };
        tree.divide(&corners, &centers, &mut order, 0);

        let mut places = vec![u32::MAX; vertices.len()];
        tree.triangles.reserve_exact(order.len());
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
        let (mut node, dipole) = summary(order.iter().map(|&face| corners(face)));
        (node.next, node.count) = (first as u32, order.len() as u32);
        self.nodes.push(node);
        self.dipoles.push(dipole);
        if order.len() <= LEAF {
            return;
        }
        let spread = order.iter().fold(Bounds::NOTHING, |all, &face| {
            let center = centers[face as usize];
            all.union(&Bounds {
                low: center,
                high: center,
            })
        });
        let extent = sub(spread.high, spread.low);
        let axis = (0..3).fold(0, |a, b| if extent[b] > extent[a] { b } else { a });
        let middle = order.len() / 2;
        let along = |face: &u32| centers[*face as usize][axis];
        order.select_nth_unstable_by(middle, |a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
        let (lower, upper) = order.split_at_mut(middle);
        self.divide(corners, centers, lower, first);
        let second = self.nodes.len() as u32;
        self.divide(corners, centers, upper, first + middle);
        (self.nodes[here].next, self.nodes[here].count) = (second, 0);
    }

    /// The corners of a triangle, by its place in the order of the tree.
    #[inline]
    pub fn corners(&self, face: u32) -> Corners {
        self.triangles[face as usize].map(|v| self.vertices[v as usize])
    }

    /// The box around everything.
    pub fn bounds(&self) -> Bounds<3> {
        let root = &self.nodes[0];
        Bounds {
            low: root.low,
            high: root.high,
        }
    }

    /// The nearest point of one triangle.
    pub fn nearest_of(&self, x: [f64; 3], face: u32) -> Nearest {
        let corners = self.corners(face);
        let (point, square) = triangle::nearest_point(x, corners, f64::INFINITY)
            .unwrap_or((corners[0], f64::INFINITY));
        Nearest {
            face,
            point,
            square,
        }
    }

    /// The nearest point of all triangles, none of which is farther than `best`.
    pub fn nearest(&self, x: [f64; 3], mut best: Nearest) -> Nearest {
        let mut waiting = [(0, 0.0); DEEPEST];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (mut at, bound) = waiting[count];
            if bound >= best.square {
                continue;
            }
            loop {
                let node = &self.nodes[at as usize];
                if node.count > 0 {
                    for face in node.next..node.next + node.count {
                        let found = triangle::nearest_point(x, self.corners(face), best.square);
                        if let Some((point, square)) = found {
                            best = Nearest {
                                face,
                                point,
                                square,
                            };
                        }
                    }
                    break;
                }
                let (mut near, mut far) = (at + 1, node.next);
                let mut near_bound = self.nodes[near as usize].least_square(x);
                let mut far_bound = self.nodes[far as usize].least_square(x);
                if far_bound < near_bound {
                    (near, far) = (far, near);
                    (near_bound, far_bound) = (far_bound, near_bound);
                }
                if far_bound < best.square {
                    waiting[count] = (far, far_bound);
                    count += 1;
                }
                if near_bound >= best.square {
                    break;
                }
                at = near;
            }
        }
        best
    }

    /// How often the surface winds around `x`: one inside of a closed surface, zero outside, up to the error of
    /// seeing distant patches as dipoles, which is about a hundredth.
    pub fn winding_number(&self, x: [f64; 3]) -> f64 {
        let mut angle = 0.0;
        let mut waiting = [0; DEEPEST];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let at = waiting[count];
            let dipole = &self.dipoles[at as usize];
            let way = sub(dipole.center, x);
            let square = dot(way, way);
            if square > dipole.far {
                angle += dot(way, dipole.moment) / (square * square.sqrt());
                continue;
            }
            let node = &self.nodes[at as usize];
            if node.count > 0 {
                for face in node.next..node.next + node.count {
                    angle += triangle::solid_angle(x, self.corners(face));
                }
            } else {
                waiting[count] = node.next;
                waiting[count + 1] = at + 1;
                count += 2;
            }
        }
        angle / (4.0 * PI)
    }

    /// The first triangle that a line meets farther than `least` along a unit direction, and how far that is.
    pub fn first_crossing(
        &self,
        from: [f64; 3],
        direction: [f64; 3],
        least: f64,
    ) -> Option<(u32, f64)> {
        let mut first: Option<(u32, f64)> = None;
        let mut waiting = [0; DEEPEST];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let at = waiting[count];
            let node = &self.nodes[at as usize];
            let reach = first.map_or(f64::INFINITY, |(_, way)| way);
            if !node.is_met(from, direction, reach) {
                continue;
            }
            if node.count == 0 {
                waiting[count] = node.next;
                waiting[count + 1] = at + 1;
                count += 2;
                continue;
            }
            for face in node.next..node.next + node.count {
                let reach = first.map_or(f64::INFINITY, |(_, way)| way);
                if let Some(way) = triangle::crossing(from, direction, self.corners(face))
                    && way > least
                    && way < reach
                {
                    first = Some((face, way));
                }
            }
        }
        first
    }
}

impl Node {
    /// A lower bound on the squared distance to any of the node's triangles.
    #[inline]
    fn least_square(&self, x: [f64; 3]) -> f64 {
        let mut square = 0.0;
        for i in 0..3 {
            let gap = (self.low[i] - x[i]).max(x[i] - self.high[i]).max(0.0);
            square += gap * gap;
        }
        let across = dot(self.normal, x);
        let gap = (self.slab[0] - across).max(across - self.slab[1]).max(0.0);
        square.max(gap * gap)
    }

    /// Whether a line passes the box before it has gone `reach`.
    fn is_met(&self, from: [f64; 3], direction: [f64; 3], reach: f64) -> bool {
        let (mut enter, mut leave) = (0.0_f64, reach);
        for i in 0..3 {
            let inverse = 1.0 / direction[i];
            let (a, b) = (
                (self.low[i] - from[i]) * inverse,
                (self.high[i] - from[i]) * inverse,
            );
            // Not a number where the line runs in a side of the box: max and min then keep the other operand.
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        enter <= leave
    }
}

/// Box, slab and dipole of some triangles.
fn summary(triangles: impl Iterator<Item = Corners> + Clone) -> (Node, Dipole) {
    let mut bounds = Bounds::NOTHING;
    let (mut moment, mut area, mut center) = ([0.0; 3], 0.0, [0.0; 3]);
    for corners in triangles.clone() {
        for corner in corners {
            for i in 0..3 {
                bounds.low[i] = bounds.low[i].min(corner[i]);
                bounds.high[i] = bounds.high[i].max(corner[i]);
            }
        }
        let doubled = doubled_area(corners);
        let weight = 0.5 * norm(doubled);
        moment = add_scaled(moment, 0.5, doubled);
        center = add_scaled(center, weight, centroid(corners));
        area += weight;
    }
    center = if area > 0.0 {
        scale(center, 1.0 / area)
    } else {
        scale(add(bounds.low, bounds.high), 0.5)
    };
    let normal = direction_or(moment, up());
    let (mut slab, mut reach) = ([f64::INFINITY, f64::NEG_INFINITY], 0.0_f64);
    for corner in triangles.flatten() {
        let across = dot(normal, corner);
        slab = [slab[0].min(across), slab[1].max(across)];
        let way = sub(corner, center);
        reach = reach.max(dot(way, way));
    }
    let node = Node {
        low: bounds.low,
        high: bounds.high,
        normal,
        slab,
        next: 0,
        count: 0,
    };
    let dipole = Dipole {
        center,
        moment,
        far: FAR * FAR * reach,
    };
    (node, dipole)
}
