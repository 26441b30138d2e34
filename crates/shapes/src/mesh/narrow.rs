//! What of a tree can be nearest to some point of a box.

use super::search::Nearest;
use super::tree::{Child, Node, Tree, WIDTH};
use crate::vector::{norm, sub};
use std::array::from_fn;
use std::ops::Range;

/// Parts of the tree with a radius of more than this many half diagonals of a box are opened for it.
const WIDE: f64 = 1.0;

/// A box of points, from the middle of a tree, and a point of the surface.
pub(super) struct BoxOfPoints {
    middle: [f32; 3],
    /// Twice the reach from the middle along each axis.
    sides: [f32; 3],
    /// Half a diagonal.
    reach: f32,
    /// The point of the surface.
    witness: [f32; 3],
    /// Its squared distance from the middle, with room for the rounding of what is added to it.
    square: f32,
    /// Room for the rounding of a distance.
    slack: f32,
}

impl BoxOfPoints {
    /// The box around `middle` that reaches `half` along each axis; `witness` is best near to the middle.
    pub fn new(tree: &Tree, middle: [f64; 3], half: [f64; 3], witness: &Nearest) -> Self {
        let slack = tree.slack(middle);
        BoxOfPoints {
            middle: sub(middle, tree.middle).map(|c| c as f32),
            sides: half.map(|c| (2.0 * c) as f32),
            reach: norm(half) as f32,
            witness: sub(witness.point, tree.middle).map(|c| c as f32),
            square: (witness.square + 2.0 * slack * half.iter().sum::<f64>()) as f32,
            slack: slack as f32,
        }
    }
}

impl Tree {
    /// Appends nodes that hold every triangle which can be nearest to a point of the box. Nodes at `among` hold them as well.
    pub fn narrow(&self, nodes: &mut Vec<u32>, among: Range<usize>, points: &BoxOfPoints) {
        let wide = WIDE as f32 * points.reach;
        let mut waiting = Vec::new();
        for place in among {
            waiting.push(nodes[place]);
            while let Some(index) = waiting.pop() {
                let node = &self.nodes[index as usize];
                let kept = node.may_hold_nearest(points);
                let lanes = || (0..WIDTH).filter(|&lane| kept[lane]);
                let count = lanes().count();
                let opens = lanes().all(|lane| matches!(node.child(lane), Some(Child::Node(_))))
                    && (count == 1 || lanes().any(|lane| node.radius[lane] > wide));
                if opens {
                    waiting.extend(lanes().map(|lane| node.packed(lane)));
                } else if count > 0 {
                    nodes.push(index);
                }
            }
        }
    }

    /// Appends the triangles below some nodes that can be nearest to a point of the box.
    pub fn faces_near(&self, faces: &mut Vec<u32>, nodes: &[u32], points: &BoxOfPoints) {
        let mut waiting = nodes.to_vec();
        while let Some(index) = waiting.pop() {
            let node = &self.nodes[index as usize];
            let kept = node.may_hold_nearest(points);
            for lane in 0..WIDTH {
                if kept[lane] {
                    match node.child(lane) {
                        Some(Child::Node(child)) => waiting.push(child),
                        Some(Child::Triangle(face)) => faces.push(face),
                        None => {}
                    }
                }
            }
        }
    }
}

impl Node {
    /// For each child, whether something in it can be nearer to a point of the box than the witness is.
    ///
    /// With `p` the witness, `q` a point of the child and `c + u` a point of the box around `c`,
    /// `|c + u - q|^2 - |c + u - p|^2 = |c - q|^2 - |c - p|^2 + 2 u (p - q)`, which is positive for all `u` if a lower
    /// bound on the first square is above the second one by the most that the last term can take away. For `q` near
    /// to `p` that is little, however far away both are.
    #[inline]
    fn may_hold_nearest(&self, points: &BoxOfPoints) -> [bool; WIDTH] {
        let least = self.least_squares(points.middle);
        let mut most = [points.square; WIDTH];
        for i in 0..3 {
            for k in 0..WIDTH {
                let below = points.witness[i] - self.low[i][k];
                let above = self.high[i][k] - points.witness[i];
                most[k] += points.sides[i] * if below > above { below } else { above };
            }
        }
        // Children that are not there are infinitely far, and what is not a number leaves nothing out.
        from_fn(|k| {
            let reach = most[k].sqrt() + points.slack;
            let is_beyond = least[k] > reach * reach;
            !is_beyond && self.child(k).is_some()
        })
    }
}
