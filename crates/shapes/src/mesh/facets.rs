//! Triangles in single precision, each to be compared with a few points at once.

use super::tree::Tree;
use super::triangle::{Corners, cross, doubled_area};
use crate::vector::{direction_or, dot, norm, sub};
use std::array::from_fn;

/// Points that a triangle is compared with at once.
pub(super) const POINTS: usize = 8;
/// What rounding may do to a coordinate, as a share of the diagonal of the mesh.
const ROUNDING: f64 = 1e-7;

/// Some points by coordinate, from the middle of a tree.
pub(super) type Points = [[f32; POINTS]; 3];

/// A coordinate along some unit vector.
#[derive(Clone, Copy, Debug)]
struct Axis {
    direction: [f32; 3],
    origin: f32,
}

/// A side of a triangle, in its plane.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// Away from the triangle, from the side on.
    outward: Axis,
    /// From the first corner to the second.
    along: Axis,
    length: f32,
}

/// A triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facet {
    height: Axis,
    sides: [Side; 3],
    /// Less than this inside of a side counts as beyond it.
    margin: f32,
    is_sound: bool,
}

impl Axis {
    const NONE: Axis = Axis {
        direction: [0.0; 3],
        origin: 0.0,
    };

    fn new(from: [f64; 3], direction: [f64; 3]) -> Self {
        let direction = direction.map(|c| c as f32);
        Axis {
            direction,
            origin: dot(direction.map(f64::from), from) as f32,
        }
    }

    /// The least and the greatest coordinate of some points, that of `from` being zero.
    fn span(&self, points: &Corners, from: [f64; 3]) -> [f64; 2] {
        let along = points.map(|x| dot(self.direction.map(f64::from), sub(x, from)));
        [
            along.into_iter().fold(0.0, f64::min),
            along.into_iter().fold(0.0, f64::max),
        ]
    }

    #[inline(always)]
    fn of(&self, points: &Points) -> [f32; POINTS] {
        from_fn(|k| {
            let [x, y, z] = [points[0][k], points[1][k], points[2][k]];
            let [u, v, w] = self.direction;
            u * x + v * y + w * z - self.origin
        })
    }
}

impl Facet {
    /// Is nowhere far.
    const ANYWHERE: Facet = Facet {
        height: Axis::NONE,
        sides: [Side {
            outward: Axis::NONE,
            along: Axis::NONE,
            length: 0.0,
        }; 3],
        margin: 1.0,
        is_sound: false,
    };

    /// All triangles of a tree, in its order.
    pub fn all(tree: &Tree) -> Vec<Facet> {
        let margin = ROUNDING * tree.diagonal;
        let faces = 0..tree.triangles.len() as u32;
        faces
            .map(|face| {
                let corners = tree.corners(face).map(|corner| sub(corner, tree.middle));
                Facet::new(corners, margin)
            })
            .collect()
    }

    fn new(corners: Corners, margin: f64) -> Self {
        let [a, b, c] = corners;
        let normal = direction_or(doubled_area(corners), [0.0; 3]);
        let height = Axis::new(a, normal);
        let sides = [(a, b), (b, c), (c, a)].map(|(from, to)| {
            let way = sub(to, from);
            Side {
                outward: Axis::new(from, direction_or(cross(way, normal), [0.0; 3])),
                along: Axis::new(from, direction_or(way, [0.0; 3])),
                length: norm(way) as f32,
            }
        });
        // A triangle that is too narrow for rounded axes.
        let [below, above] = height.span(&corners, a);
        let beyond = [0, 1, 2].map(|i| sides[i].outward.span(&corners, corners[i])[1]);
        let off = beyond.into_iter().fold(above.max(-below), f64::max);
        if off > margin {
            return Self::ANYWHERE;
        }
        Facet {
            height,
            sides,
            margin: margin as f32,
            is_sound: true,
        }
    }

    /// Whether [`least_squares`](Self::least_squares) are the squared distances, up to rounding.
    #[inline]
    pub fn is_sound(&self) -> bool {
        self.is_sound
    }

    /// The squared distances to some points, not larger than they are but for rounding; `None` if all are above their
    /// limits.
    #[inline(always)]
    pub fn least_squares(&self, points: &Points, limits: &[f32; POINTS]) -> Option<[f32; POINTS]> {
        let height = self.height.of(points);
        let beyond = self.sides.each_ref().map(|side| side.outward.of(points));
        // As if the sides had no ends, which is enough for most.
        let is_near = |k: usize| {
            let most = larger(
                larger(beyond[0][k], beyond[1][k]),
                larger(beyond[2][k], 0.0),
            );
            height[k] * height[k] + most * most <= limits[k]
        };
        if !(0..POINTS).fold(false, |any, k| any | is_near(k)) {
            return None;
        }
        // In the plane: nothing above the inside, or else to a side that the point is beyond.
        let mut aside = [f32::INFINITY; POINTS];
        for (side, beyond) in self.sides.iter().zip(beyond) {
            let along = side.along.of(points);
            for k in 0..POINTS {
                let past = larger(larger(-along[k], along[k] - side.length), 0.0);
                let square = beyond[k] * beyond[k] + past * past;
                let counts = (beyond[k] > -self.margin) & (square < aside[k]);
                aside[k] = if counts { square } else { aside[k] };
            }
        }
        let aside = aside.map(|square| if square < f32::INFINITY { square } else { 0.0 });
        Some(from_fn(|k| height[k] * height[k] + aside[k]))
    }
}

/// One instruction, unlike `f32::max`, which has to care for what is not a number.
#[inline]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
