//! Queries of a bounding volume tree: nearest points, ray crossings, winding numbers.

use super::tree::{Child, Node, Tree, WIDTH};
use super::triangle;
use crate::vector::{dot, norm, sub};
use std::array::from_fn;
use std::f64::consts::PI;

/// Room for what waits on the way down: three children on each of the levels that 2^31 triangles make, and more.
const WAITING: usize = 64;
/// What single precision may get wrong about a distance, as a share of the lengths that enter it.
const SLACK: f64 = 1e-6;

/// A point of the surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// The triangle, in the order of the tree.
    pub face: u32,
    pub point: [f64; 3],
    /// The square of the distance to it.
    pub square: f64,
}

impl Tree {
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

    /// The nearest point of all triangles if one is nearer than `best`, or else `best`.
    pub fn nearest(&self, x: [f64; 3], best: Nearest) -> Nearest {
        self.nearest_among(x, best, &[Self::ROOT])
    }

    /// What single precision may get wrong about a distance from `x` to anything in the tree.
    #[inline]
    pub(super) fn slack(&self, x: [f64; 3]) -> f64 {
        SLACK * (norm(sub(x, self.middle)) + self.diagonal)
    }

    /// What is above this in single precision is no nearer than `best`.
    #[inline]
    pub(super) fn limit(&self, best: &Nearest, slack: f64) -> f32 {
        let reach = best.square.sqrt() + slack;
        (reach * reach) as f32
    }

    /// The nearest point of the triangles below some nodes if one is nearer than `best`, or else `best`.
    pub(super) fn nearest_among(&self, x: [f64; 3], mut best: Nearest, nodes: &[u32]) -> Nearest {
        let from_middle = sub(x, self.middle);
        let slack = self.slack(x);
        let mut limit_now = self.limit(&best, slack);
        let at = from_middle.map(|c| c as f32);
        let mut waiting = [(0.0_f32, 0_u32); WAITING];
        let mut count = 0;
        let mut next = nodes.iter();
        loop {
            if count == 0 {
                let Some(&index) = next.next() else {
                    return best;
                };
                waiting[0] = (0.0, index);
                count = 1;
            }
            count -= 1;
            let (bound, packed) = waiting[count];
            if bound > limit_now {
                continue;
            }
            match Child::unpacked(packed) {
                Some(Child::Node(index)) => {
                    let node = &self.nodes[index as usize];
                    let bounds = node.least_squares(at);
                    // The nearest of them comes last, to be looked at first.
                    let start = count;
                    for lane in 0..WIDTH {
                        if bounds[lane] > limit_now {
                            continue;
                        }
                        let mut place = count;
                        while place > start && waiting[place - 1].0 < bounds[lane] {
                            waiting[place] = waiting[place - 1];
                            place -= 1;
                        }
                        waiting[place] = (bounds[lane], node.packed(lane));
                        count += 1;
                    }
                }
                Some(Child::Triangle(face)) => {
                    let found = triangle::nearest_point(x, self.corners(face), best.square);
                    if let Some((point, square)) = found {
                        best = Nearest {
                            face,
                            point,
                            square,
                        };
                        limit_now = self.limit(&best, slack);
                    }
                }
                None => {}
            }
        }
    }

    /// How often the surface winds around `x`: one inside of a closed surface, zero outside, up to the error of
    /// seeing distant patches as dipoles, which is about a hundredth.
    pub fn winding_number(&self, x: [f64; 3]) -> f64 {
        let mut angle = 0.0;
        let mut waiting = [0; WAITING];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let index = waiting[count];
            let (node, dipoles) = (&self.nodes[index as usize], &self.dipoles[index as usize]);
            for lane in 0..WIDTH {
                let dipole = &dipoles[lane];
                let way = sub(dipole.center, x);
                let square = dot(way, way);
                match node.child(lane) {
                    None => {}
                    Some(_) if square > dipole.far => {
                        angle += dot(way, dipole.moment) / (square * square.sqrt());
                    }
                    Some(Child::Triangle(face)) => {
                        angle += triangle::solid_angle(x, self.corners(face));
                    }
                    Some(Child::Node(child)) => {
                        waiting[count] = child;
                        count += 1;
                    }
                }
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
        let from_middle = sub(from, self.middle);
        let mut waiting = [0; WAITING];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let node = &self.nodes[waiting[count] as usize];
            for lane in 0..WIDTH {
                let reach = first.map_or(f64::INFINITY, |(_, way)| way);
                match node.child(lane) {
                    Some(_) if !node.is_met(lane, from_middle, direction, reach) => {}
                    Some(Child::Node(child)) => {
                        waiting[count] = child;
                        count += 1;
                    }
                    Some(Child::Triangle(face)) => {
                        if let Some(way) = triangle::crossing(from, direction, self.corners(face))
                            && way > least
                            && way < reach
                        {
                            first = Some((face, way));
                        }
                    }
                    None => {}
                }
            }
        }
        first
    }
}

impl Node {
    /// Lower bounds on the squared distances to the children, up to rounding; infinite for those that are not there.
    #[inline]
    pub(super) fn least_squares(&self, x: [f32; 3]) -> [f32; WIDTH] {
        let mut to_box = [0.0_f32; WIDTH];
        let (mut along, mut whole) = ([0.0_f32; WIDTH], [0.0_f32; WIDTH]);
        for i in 0..3 {
            for k in 0..WIDTH {
                let gap = larger(larger(self.low[i][k] - x[i], x[i] - self.high[i][k]), 0.0);
                to_box[k] += gap * gap;
                let way = x[i] - self.center[i][k];
                along[k] += way * self.normal[i][k];
                whole[k] += way * way;
            }
        }
        from_fn(|k| {
            let gap = larger(
                larger(self.ends[0][k] - along[k], along[k] - self.ends[1][k]),
                0.0,
            );
            let away = larger(whole[k] - along[k] * along[k], 0.0).sqrt();
            let aside = larger(away - self.radius[k], 0.0);
            larger(to_box[k], gap * gap + aside * aside)
        })
    }

    /// Whether a line passes the box of a child before it has gone `reach`.
    fn is_met(&self, lane: usize, from: [f64; 3], direction: [f64; 3], reach: f64) -> bool {
        let (mut enter, mut leave) = (0.0_f64, reach);
        for i in 0..3 {
            let inverse = 1.0 / direction[i];
            let (low, high) = (f64::from(self.low[i][lane]), f64::from(self.high[i][lane]));
            let (a, b) = ((low - from[i]) * inverse, (high - from[i]) * inverse);
            // Not a number where the line runs in a side of the box: max and min then keep the other operand.
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        enter <= leave
    }
}

/// One instruction, unlike `f32::max`, which has to care for what is not a number.
#[inline]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
