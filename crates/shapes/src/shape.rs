//! Solids as signed distances.

use crate::bounds::Bounds;
use crate::mesh::TriangleMesh;
use crate::pose::Pose;
use crate::primitive::{self, Nearness};
use crate::vector::{direction_or, norm, scale, sub, unit, up};
use std::array::from_fn;
use std::sync::Arc;

/// A solid in two or three dimensions, as plain data.
///
/// Its [`distance`](Self::distance) is exact for the simple solids and meshes and never changes faster than the
/// point moves for any of them: its magnitude is therefore at most the true distance to the surface.
/// It falls short of it inside a [`Union`](Self::Union), and outside an
/// [`Intersection`](Self::Intersection) or [`Difference`](Self::Difference) near their edges.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape<const D: usize> {
    /// A ball; a disc in two dimensions.
    Sphere {
        /// The middle.
        center: [f64; D],
        /// From the middle to the surface.
        radius: f64,
    },
    /// A box along the axes.
    Box {
        /// The lower corner.
        low: [f64; D],
        /// The upper corner.
        high: [f64; D],
    },
    /// All points within `radius` of a segment.
    Capsule {
        /// One end of the segment.
        from: [f64; D],
        /// Its other end, which may be the same.
        to: [f64; D],
        /// Around the segment.
        radius: f64,
    },
    /// A cylinder with flat ends; in two dimensions a rectangle at any angle.
    Cylinder {
        /// The middle of one end.
        from: [f64; D],
        /// The middle of the other end.
        to: [f64; D],
        /// Around the axis.
        radius: f64,
    },
    /// A cone, whole or truncated, with flat ends; in two dimensions a symmetric trapezoid.
    Cone {
        /// The middle of one end.
        from: [f64; D],
        /// The middle of the other end.
        to: [f64; D],
        /// The radius at `from`; zero for a point.
        radius_from: f64,
        /// The radius at `to`; zero for a point.
        radius_to: f64,
    },
    /// A ring; in two dimensions the two discs that a plane through the axis cuts out of it.
    Torus {
        /// The middle of the hole.
        center: [f64; D],
        /// The axis through the hole, of any length but zero.
        axis: [f64; D],
        /// From the centre to the middle of the tube.
        major: f64,
        /// The radius of the tube.
        minor: f64,
    },
    /// Everything on the side of a plane opposite to its normal.
    HalfSpace {
        /// A point of the plane.
        point: [f64; D],
        /// Out of the solid, of any length but zero.
        normal: [f64; D],
    },
    /// What triangles enclose, in three dimensions only. Shapes that are clones share it.
    Mesh(Arc<TriangleMesh>),
    /// What is in any of the parts.
    Union(Vec<Shape<D>>),
    /// What is in all of the parts.
    Intersection(Vec<Shape<D>>),
    /// What is in the first and in none of the others.
    Difference(Box<Shape<D>>, Vec<Shape<D>>),
    /// Everything outside: a container around its hollow.
    Inverted(Box<Shape<D>>),
    /// A wall along the surface, half of it on either side.
    Shell {
        /// The solid whose surface is taken.
        shape: Box<Shape<D>>,
        /// The whole thickness of the wall.
        thickness: f64,
    },
    /// The solid grown by `radius`, which rounds its convex edges where the distance is exact.
    Rounded {
        /// The solid that grows.
        shape: Box<Shape<D>>,
        /// By how much.
        radius: f64,
    },
    /// The solid, moved and turned.
    Placed {
        /// The solid as it is at the origin.
        shape: Box<Shape<D>>,
        /// Where it goes.
        pose: Pose<D>,
    },
}

impl<const D: usize> Shape<D> {
    /// The signed distance from `x` to the surface, negative inside.
    pub fn distance(&self, x: [f64; D]) -> f64 {
        if let Some(near) = self.simple(x) {
            return near.distance;
        }
        match self {
            Self::Intersection(parts) => farthest(parts, x).1,
            Self::Difference(whole, parts) => whole.distance(x).max(-nearest(parts, x).1),
            Self::Inverted(shape) => -shape.distance(x),
            Self::Shell { shape, thickness } => shape.distance(x).abs() - 0.5 * thickness,
            Self::Rounded { shape, radius } => shape.distance(x) - radius,
            Self::Placed { shape, pose } => shape.distance(pose.apply_inverse(x)),
            Self::Union(parts) => nearest(parts, x).1,
            Self::Mesh(mesh) => mesh.distance(lifted(x)),
            _ => f64::INFINITY,
        }
    }

    /// The signed distance if it is within `band` of the surface; farther away something of the same sign between
    /// `band` and [`distance`](Self::distance). Far from meshes that is much faster, for other solids the same.
    pub fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        let of_all = |parts: &[Self], start: f64, choose: fn(f64, f64) -> f64| {
            parts
                .iter()
                .fold(start, |d, part| choose(d, part.distance_within(x, band)))
        };
        match self {
            Self::Mesh(mesh) => mesh.distance_within(lifted(x), band),
            Self::Union(parts) => of_all(parts, f64::INFINITY, f64::min),
            Self::Intersection(parts) => of_all(parts, f64::NEG_INFINITY, f64::max),
            Self::Difference(whole, parts) => {
                let without = -of_all(parts, f64::INFINITY, f64::min);
                whole.distance_within(x, band).max(without)
            }
            Self::Inverted(shape) => -shape.distance_within(x, band),
            Self::Shell { shape, thickness } => {
                let half = 0.5 * thickness;
                shape.distance_within(x, band + half).abs() - half
            }
            Self::Rounded { shape, radius } => shape.distance_within(x, band + radius) - radius,
            Self::Placed { shape, pose } => shape.distance_within(pose.apply_inverse(x), band),
            _ => self.distance(x),
        }
    }

    /// The unit vector in which the distance grows: out of the solid, at right angles to its surface.
    ///
    /// Where two parts are equally near, the first of them is taken; where every direction is as good,
    /// as at the centre of a sphere, one is chosen.
    pub fn gradient(&self, x: [f64; D]) -> [f64; D] {
        if let Some(near) = self.simple(x) {
            return near.normal;
        }
        match self {
            Self::Union(parts) => match nearest(parts, x).0 {
                Some(part) => part.gradient(x),
                None => up(),
            },
            Self::Intersection(parts) => match farthest(parts, x).0 {
                Some(part) => part.gradient(x),
                None => up(),
            },
            Self::Difference(whole, parts) => match nearest(parts, x) {
                (Some(part), distance) if -distance > whole.distance(x) => {
                    scale(part.gradient(x), -1.0)
                }
                _ => whole.gradient(x),
            },
            Self::Inverted(shape) => scale(shape.gradient(x), -1.0),
            Self::Shell { shape, .. } if shape.distance(x) < 0.0 => scale(shape.gradient(x), -1.0),
            Self::Shell { shape, .. } | Self::Rounded { shape, .. } => shape.gradient(x),
            Self::Placed { shape, pose } => {
                pose.rotation.apply(shape.gradient(pose.apply_inverse(x)))
            }
            Self::Mesh(mesh) => lifted(mesh.gradient(lifted(x))),
            _ => up(),
        }
    }

    /// Distance and normal if this is one of the simple solids.
    #[inline(always)]
    fn simple(&self, x: [f64; D]) -> Option<Nearness<D>> {
        Some(match *self {
            Self::Sphere { center, radius } => primitive::sphere(x, center, radius),
            Self::Box { low, high } => primitive::cuboid(x, low, high),
            Self::Capsule { from, to, radius } => primitive::capsule(x, from, to, radius),
            Self::Cylinder { from, to, radius } => primitive::cylinder(x, from, to, radius),
            Self::Cone {
                from,
                to,
                radius_from,
                radius_to,
            } => primitive::cone(x, from, to, radius_from, radius_to),
            Self::Torus {
                center,
                axis,
                major,
                minor,
            } => primitive::torus(x, center, axis, major, minor),
            Self::HalfSpace { point, normal } => primitive::half_space(x, point, normal),
            _ => return None,
        })
    }

    /// A box around the solid, or `None` if none is known because the solid has no end.
    ///
    /// An intersection whose parts are apart has an [empty](Bounds::is_empty) box.
    pub fn bounds(&self) -> Option<Bounds<D>> {
        let bounds = self.bounds_of_level(0.0);
        (bounds.is_empty() || bounds.is_finite()).then_some(bounds)
    }

    /// A box around {distance <= level}, for `level >= 0`.
    ///
    /// The level is passed down rather than added at the end: the grown intersection of two solids
    /// reaches farther than their common part does.
    fn bounds_of_level(&self, level: f64) -> Bounds<D> {
        match self {
            Self::Sphere { center, radius } => around(*center, *center, [radius + level; D]),
            Self::Box { low, high } => around(*low, *high, [level; D]),
            Self::Capsule { from, to, radius } => around(*from, *to, [radius + level; D]),
            Self::Cylinder { from, to, radius } => disc(*from, *from, *to, *radius)
                .union(&disc(*to, *from, *to, *radius))
                .expanded(level),
            Self::Cone {
                from,
                to,
                radius_from,
                radius_to,
            } => disc(*from, *from, *to, *radius_from)
                .union(&disc(*to, *from, *to, *radius_to))
                .expanded(level),
            Self::Torus {
                center,
                axis,
                major,
                minor,
            } => disc(*center, [0.0; D], *axis, *major).expanded(minor + level),
            Self::HalfSpace { point, normal } => {
                let mut bounds = Bounds::EVERYTHING;
                let length = norm(*normal);
                for i in 0..D {
                    if normal[i] == length {
                        bounds.high[i] = point[i] + level;
                    } else if normal[i] == -length {
                        bounds.low[i] = point[i] - level;
                    }
                }
                bounds
            }
            Self::Mesh(mesh) => {
                let Bounds { low, high } = mesh.bounds();
                around(lifted(low), lifted(high), [level; D])
            }
            Self::Union(parts) => parts.iter().fold(Bounds::NOTHING, |all, part| {
                all.union(&part.bounds_of_level(level))
            }),
            Self::Intersection(parts) => parts.iter().fold(Bounds::EVERYTHING, |all, part| {
                all.intersection(&part.bounds_of_level(level))
            }),
            Self::Difference(whole, _) => whole.bounds_of_level(level),
            Self::Inverted(shape) => match &**shape {
                Self::Inverted(same) => same.bounds_of_level(level),
                _ => Bounds::EVERYTHING,
            },
            Self::Shell { shape, thickness } => shape.bounds_of_level(level + 0.5 * thickness),
            Self::Rounded { shape, radius } => shape.bounds_of_level(level + radius),
            Self::Placed { shape, pose } => shape.bounds_of_level(level).placed(pose),
        }
    }

    /// Everything outside this solid.
    pub fn inverted(self) -> Self {
        Self::Inverted(Box::new(self))
    }

    /// This solid without the others.
    pub fn without(self, others: Vec<Self>) -> Self {
        Self::Difference(Box::new(self), others)
    }

    /// This solid, moved and turned.
    pub fn placed(self, pose: Pose<D>) -> Self {
        Self::Placed {
            shape: Box::new(self),
            pose,
        }
    }

    /// A wall along this solid's surface.
    pub fn shell(self, thickness: f64) -> Self {
        Self::Shell {
            shape: Box::new(self),
            thickness,
        }
    }

    /// This solid grown by `radius`.
    pub fn rounded(self, radius: f64) -> Self {
        Self::Rounded {
            shape: Box::new(self),
            radius,
        }
    }
}

/// A vector of a shape as one of a mesh, or the other way: they are the same, for in two dimensions no mesh passes
/// [`Shape::validate`].
fn lifted<const N: usize, const D: usize>(x: [f64; N]) -> [f64; D] {
    from_fn(|i| x.get(i).copied().unwrap_or(0.0))
}

/// The part of least distance; infinitely far if there is none.
fn nearest<const D: usize>(parts: &[Shape<D>], x: [f64; D]) -> (Option<&Shape<D>>, f64) {
    let mut best = (None, f64::INFINITY);
    for part in parts {
        let distance = part.distance(x);
        if distance < best.1 {
            best = (Some(part), distance);
        }
    }
    best
}

/// The part of greatest distance; infinitely deep if there is none.
fn farthest<const D: usize>(parts: &[Shape<D>], x: [f64; D]) -> (Option<&Shape<D>>, f64) {
    let mut best = (None, f64::NEG_INFINITY);
    for part in parts {
        let distance = part.distance(x);
        if distance > best.1 {
            best = (Some(part), distance);
        }
    }
    best
}

fn around<const D: usize>(a: [f64; D], b: [f64; D], reach: [f64; D]) -> Bounds<D> {
    Bounds {
        low: from_fn(|i| a[i].min(b[i]) - reach[i]),
        high: from_fn(|i| a[i].max(b[i]) + reach[i]),
    }
}

/// The box around a disc at right angles to the axis `from` - `to`.
fn disc<const D: usize>(center: [f64; D], from: [f64; D], to: [f64; D], radius: f64) -> Bounds<D> {
    let axis = direction_or(sub(to, from), unit(0));
    let reach = axis.map(|a| radius * (1.0 - a * a).max(0.0).sqrt());
    around(center, center, reach)
}
