//! A shape with a name and a motion.

use crate::bounds::Bounds;
use crate::motion::{Motion, MotionError};
use crate::pose::Pose;
use crate::shape::Shape;
use crate::validate::ShapeError;
use crate::vector::{scale, sub};
use std::array::from_fn;
use std::error::Error;
use std::fmt;

/// Steps shorter than this say nothing about a velocity but rounding errors, in seconds.
const SHORTEST_STEP: f64 = 1e-6;

/// A solid that moves by script.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedSolid<const D: usize> {
    /// Name in messages.
    pub name: String,
    /// The solid in the frame of the body.
    pub shape: Shape<D>,
    /// Where that frame is.
    pub motion: Motion<D>,
}

impl<const D: usize> ScriptedSolid<D> {
    /// A body that stays where its shape is.
    pub fn still(name: impl Into<String>, shape: Shape<D>) -> Self {
        Self {
            name: name.into(),
            shape,
            motion: Motion::Still,
        }
    }

    /// The body at the time `t`, for asking about many points.
    pub fn at(&self, t: f64) -> PosedSolid<'_, D> {
        PosedSolid {
            shape: &self.shape,
            world_from_body: self.placement(t),
        }
    }

    /// The signed distance at the time `t`. For many points at one time use [`at`](Self::at).
    pub fn distance(&self, x: [f64; D], t: f64) -> f64 {
        self.at(t).distance(x)
    }

    /// The unit vector out of the solid at the time `t`.
    pub fn normal(&self, x: [f64; D], t: f64) -> [f64; D] {
        self.at(t).normal(x)
    }

    /// Where the point of the body that is at `x` at the time `t0` is at the time `t1`.
    pub fn carried(&self, x: [f64; D], t0: f64, t1: f64) -> [f64; D] {
        self.carriage(t0, t1).map_or(x, |carry| carry.apply(x))
    }

    /// The motion of the body's points from `t0` to `t1`, or `None` if the body is still.
    pub fn carriage(&self, t0: f64, t1: f64) -> Option<Pose<D>> {
        self.moves().then(|| {
            let (from, to) = (
                self.motion.world_from_body(t0),
                self.motion.world_from_body(t1),
            );
            to.compose(&from.inverse())
        })
    }

    /// The mean velocity over `dt` of the point of the body that is at `x` at the time `t`; with
    /// `dt` zero, the velocity at `t`.
    pub fn velocity(&self, x: [f64; D], t: f64, dt: f64) -> [f64; D] {
        let dt = sensible_step(dt);
        scale(sub(self.carried(x, t, t + dt), x), 1.0 / dt)
    }

    /// Whether the body ever changes its place.
    pub fn moves(&self) -> bool {
        self.motion.moves()
    }

    /// An upper bound on the speed between `t` and `t + dt` of the points of the body's surface
    /// within `bounds`.
    pub fn max_speed(&self, t: f64, dt: f64, bounds: &Bounds<D>) -> f64 {
        // A container has the surface of its hollow.
        let mut shape = &self.shape;
        while let Shape::Inverted(hollow) = shape {
            shape = hollow;
        }
        let reach = match shape.bounds() {
            Some(own) => own.farthest([0.0; D]),
            None => f64::INFINITY,
        };
        self.motion.speed_bound(t, dt, bounds, reach)
    }

    /// Checks that all values of the shape and the motion are in range.
    pub fn validate(&self) -> Result<(), SolidError> {
        let named = |fault| SolidError {
            name: self.name.clone(),
            fault,
        };
        self.shape
            .validate()
            .map_err(|e| named(SolidFault::Shape(e)))?;
        self.motion
            .validate()
            .map_err(|e| named(SolidFault::Motion(e)))
    }

    fn placement(&self, t: f64) -> Option<Pose<D>> {
        match self.motion {
            Motion::Still => None,
            Motion::Keyframes { .. } => Some(self.motion.world_from_body(t)),
        }
    }
}

/// A body at one time.
#[derive(Clone, Copy, Debug)]
pub struct PosedSolid<'a, const D: usize> {
    shape: &'a Shape<D>,
    world_from_body: Option<Pose<D>>,
}

impl<const D: usize> PosedSolid<'_, D> {
    /// The signed distance, negative inside.
    pub fn distance(&self, x: [f64; D]) -> f64 {
        match &self.world_from_body {
            Some(pose) => self.shape.distance(pose.apply_inverse(x)),
            None => self.shape.distance(x),
        }
    }

    /// The signed distance within `band` of the surface, or a safe one; see [`Shape::distance_within`].
    pub fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        let x = match &self.world_from_body {
            Some(pose) => pose.apply_inverse(x),
            None => x,
        };
        self.shape.distance_within(x, band)
    }

    /// The line from `x` in a direction, in the frame of the body.
    pub fn line(&self, x: [f64; D], direction: [f64; D]) -> BodyLine<'_, D> {
        let (from, direction) = match &self.world_from_body {
            Some(pose) => (
                pose.apply_inverse(x),
                pose.rotation.apply_inverse(direction),
            ),
            None => (x, direction),
        };
        BodyLine {
            shape: self.shape,
            from,
            direction,
        }
    }

    /// The unit vector out of the solid.
    pub fn normal(&self, x: [f64; D]) -> [f64; D] {
        match &self.world_from_body {
            Some(pose) => pose
                .rotation
                .apply(self.shape.gradient(pose.apply_inverse(x))),
            None => self.shape.gradient(x),
        }
    }
}

/// A line in the frame of a body, for many distances along it.
#[derive(Clone, Copy, Debug)]
pub struct BodyLine<'a, const D: usize> {
    shape: &'a Shape<D>,
    from: [f64; D],
    direction: [f64; D],
}

impl<const D: usize> BodyLine<'_, D> {
    /// The signed distance at the parameter `t` of the line, exact within `band` of the surface, else a safe one; see
    /// [`Shape::distance_within`].
    pub fn distance_within(&self, t: f64, band: f64) -> f64 {
        let x = from_fn(|a| self.from[a] + t * self.direction[a]);
        self.shape.distance_within(x, band)
    }
}

/// Faults of a scripted body.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidError {
    /// Which body.
    pub name: String,
    /// What is wrong with it.
    pub fault: SolidFault,
}

/// What is wrong with a body.
#[derive(Clone, Debug, PartialEq)]
pub enum SolidFault {
    /// Its shape.
    Shape(ShapeError),
    /// Its motion.
    Motion(MotionError),
}

impl fmt::Display for SolidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            SolidFault::Shape(e) => write!(f, "body {}: {e}", self.name),
            SolidFault::Motion(e) => write!(f, "body {}: {e}", self.name),
        }
    }
}

impl Error for SolidError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.fault {
            SolidFault::Shape(e) => Some(e),
            SolidFault::Motion(e) => Some(e),
        }
    }
}

/// `dt`, or the shortest step of the same sense that can be divided by.
pub(crate) fn sensible_step(dt: f64) -> f64 {
    if dt.abs() >= SHORTEST_STEP {
        dt
    } else {
        SHORTEST_STEP.copysign(dt)
    }
}
