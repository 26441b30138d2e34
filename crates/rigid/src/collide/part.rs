//! Solids taken apart into what the narrow phase knows.

use meniscus_shapes::{Bounds, Polytope, Pose, Shape, SurfaceSample};

use crate::linear::{dot, norm, scale, sub};

/// Samples of a curved solid at most.
const MOST_SAMPLES: usize = 3000;
/// Samples along the longest side of a curved solid, about.
const SAMPLES_ALONG: f64 = 24.0;

/// A body's solid, as parts.
#[derive(Clone, Debug)]
pub(crate) struct Collider<const D: usize> {
    pub parts: Vec<Part<D>>,
    /// Box around the solid in the body's frame; infinite for solids without end.
    pub bounds: Bounds<D>,
    /// Shortest side of that box.
    pub size: f64,
    /// Thickness of its thinnest part.
    pub thickness: f64,
}

/// A part of a solid in the body's frame.
#[derive(Clone, Debug)]
pub(crate) struct Part<const D: usize> {
    pub kind: Kind<D>,
    /// For distances.
    pub shape: Shape<D>,
    pub bounds: Bounds<D>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind<const D: usize> {
    /// All points within a radius of a segment, which is a point for balls.
    Round {
        from: [f64; D],
        to: [f64; D],
        radius: f64,
    },
    HalfSpace {
        normal: [f64; D],
        offset: f64,
    },
    Polytope(Polytope<D>),
    /// Everything else.
    Sampled(Vec<SurfaceSample<D>>),
}

impl<const D: usize> Collider<D> {
    pub fn new(shape: &Shape<D>) -> Self {
        let mut parts = Vec::new();
        take_apart(shape, &Pose::IDENTITY, &mut parts);
        let bounds = shape.bounds().unwrap_or(Bounds::EVERYTHING);
        let size = (0..D).fold(f64::INFINITY, |size, i| {
            size.min(bounds.high[i] - bounds.low[i])
        });
        Self {
            parts,
            bounds,
            size,
            thickness: shape.thinnest().unwrap_or(f64::INFINITY).min(size),
        }
    }

    /// Distance from a point of the frame to the farthest of the solid; infinite for solids without end.
    pub fn reach(&self, from: [f64; D]) -> f64 {
        self.bounds.farthest(from)
    }
}

fn take_apart<const D: usize>(shape: &Shape<D>, pose: &Pose<D>, parts: &mut Vec<Part<D>>) {
    let is_identity = *pose == Pose::IDENTITY;
    let here = || {
        if is_identity {
            shape.clone()
        } else {
            shape.clone().placed(*pose)
        }
    };
    let mut push = |kind| {
        let shape = here();
        let bounds = shape.bounds().unwrap_or(Bounds::EVERYTHING);
        parts.push(Part {
            kind,
            shape,
            bounds,
        });
    };
    match shape {
        Shape::Sphere { center, radius } => {
            let center = pose.apply(*center);
            push(Kind::Round {
                from: center,
                to: center,
                radius: *radius,
            });
        }
        Shape::Capsule { from, to, radius } => push(Kind::Round {
            from: pose.apply(*from),
            to: pose.apply(*to),
            radius: *radius,
        }),
        Shape::HalfSpace { point, normal } => {
            let normal = pose.rotation.apply(scale(*normal, 1.0 / norm(*normal)));
            push(Kind::HalfSpace {
                normal,
                offset: dot(normal, pose.apply(*point)),
            });
        }
        Shape::Union(list) => list.iter().for_each(|part| take_apart(part, pose, parts)),
        Shape::Placed { shape, pose: inner } => take_apart(shape, &pose.compose(inner), parts),
        Shape::Inverted(hollow) => match outside(hollow) {
            Some(walls) => walls.iter().for_each(|wall| take_apart(wall, pose, parts)),
            None => push(Kind::Sampled(Vec::new())),
        },
        _ => match shape.polytope() {
            Some(polytope) => push(Kind::Polytope(polytope.placed(pose))),
            None => {
                let shape = here();
                let bounds = shape.bounds().unwrap_or(Bounds::EVERYTHING);
                let side = if bounds.is_finite() {
                    norm(sub(bounds.high, bounds.low))
                } else {
                    1.0
                };
                let samples = shape.surface_samples(side / SAMPLES_ALONG, MOST_SAMPLES);
                parts.push(Part {
                    kind: Kind::Sampled(samples),
                    shape,
                    bounds,
                });
            }
        },
    }
}

/// The outside of a convex polytope, as half-spaces.
fn outside<const D: usize>(hollow: &Shape<D>) -> Option<Vec<Shape<D>>> {
    if let Shape::Inverted(same) = hollow {
        return Some(vec![(**same).clone()]);
    }
    let polytope = hollow.polytope()?;
    let wall = |face: &meniscus_shapes::PolytopeFace<D>| Shape::HalfSpace {
        point: polytope.vertices[face.vertices[0] as usize],
        normal: scale(face.normal, -1.0),
    };
    Some(polytope.faces.iter().map(wall).collect())
}

/// A collider in the world.
#[derive(Clone, Debug)]
pub(crate) struct PosedCollider<'a, const D: usize> {
    pub parts: Vec<PosedPart<'a, D>>,
}

/// A part in the world.
#[derive(Clone, Debug)]
pub(crate) struct PosedPart<'a, const D: usize> {
    pub part: &'a Part<D>,
    pub pose: Pose<D>,
    pub bounds: Bounds<D>,
    /// In the world.
    pub polytope: Option<Polytope<D>>,
}

impl<'a, const D: usize> PosedCollider<'a, D> {
    pub fn new(collider: &'a Collider<D>, pose: &Pose<D>) -> Self {
        let posed = |part: &'a Part<D>| PosedPart {
            part,
            pose: *pose,
            bounds: part.bounds.placed(pose),
            polytope: match &part.kind {
                Kind::Polytope(polytope) => Some(polytope.placed(pose)),
                _ => None,
            },
        };
        Self {
            parts: collider.parts.iter().map(posed).collect(),
        }
    }
}

impl<const D: usize> PosedPart<'_, D> {
    /// Signed distance from a point of the world.
    pub fn distance(&self, x: [f64; D]) -> f64 {
        self.part.shape.distance(self.pose.apply_inverse(x))
    }

    /// Signed distance if it is within `band`, or something of the same sign beyond it.
    pub fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        self.part
            .shape
            .distance_within(self.pose.apply_inverse(x), band)
    }

    /// Unit vector out of the part.
    pub fn normal(&self, x: [f64; D]) -> [f64; D] {
        self.pose
            .rotation
            .apply(self.part.shape.gradient(self.pose.apply_inverse(x)))
    }
}
