//! Bodies as plain data.

use std::fmt;

use meniscus_shapes::{Motion, MotionError, Pose, ScriptedSolid, Shape, ShapeError};

use crate::linear::{Angular, add, is_finite, turned};
use crate::mass::{Mass, MassError};

/// Velocity of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist<const D: usize> {
    /// Velocity of the centre of mass, in m/s.
    pub linear: [f64; D],
    /// Angular velocity in rad/s, in world axes. In two dimensions only the last component is used.
    pub angular: Angular,
}

impl<const D: usize> Default for Twist<D> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const D: usize> Twist<D> {
    /// Rest.
    pub const ZERO: Self = Self {
        linear: [0.0; D],
        angular: [0.0; 3],
    };

    /// Velocity of the point at `arm` from the centre of mass.
    pub fn at(&self, arm: [f64; D]) -> [f64; D] {
        add(self.linear, turned(self.angular, arm))
    }
}

/// Force in N and torque about the centre of mass in N m, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrench<const D: usize> {
    /// Force.
    pub force: [f64; D],
    /// Torque. In two dimensions only the last component is used.
    pub torque: Angular,
}

impl<const D: usize> Default for Wrench<D> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const D: usize> Wrench<D> {
    /// No force.
    pub const ZERO: Self = Self {
        force: [0.0; D],
        torque: [0.0; 3],
    };
}

/// Cause of a body's motion.
#[derive(Clone, Debug, PartialEq)]
pub enum Drive<const D: usize> {
    /// None: the body stays where it is.
    Fixed,
    /// A script, whatever forces act.
    Scripted(Motion<D>),
    /// Forces.
    Free,
}

/// A rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body<const D: usize> {
    /// Name, for messages.
    pub name: String,
    /// Solid in the frame of the body.
    pub shape: Shape<D>,
    /// Mass properties. Required for free bodies and for those that are released.
    pub mass: Option<Mass<D>>,
    /// Cause of motion.
    pub drive: Drive<D>,
    /// Pose at the start, `world_from_body`. Scripted bodies have that of their script instead.
    pub pose: Pose<D>,
    /// Velocity at the start.
    pub twist: Twist<D>,
    /// Coulomb coefficient. Default: 0.5. A pair has the geometric mean.
    pub friction: f64,
    /// Restitution, from 0 to 1. Default: 0. A pair has the larger one.
    pub restitution: f64,
    /// Whether gravity acts on the body. Default: true.
    pub gravity: bool,
    /// Time from which a scripted body is free, with the velocity of its script.
    pub release_time: Option<f64>,
}

impl<const D: usize> Body<D> {
    fn with_drive(name: impl Into<String>, shape: Shape<D>, drive: Drive<D>) -> Self {
        Self {
            name: name.into(),
            shape,
            mass: None,
            drive,
            pose: Pose::IDENTITY,
            twist: Twist::ZERO,
            friction: 0.5,
            restitution: 0.0,
            gravity: true,
            release_time: None,
        }
    }

    /// A body that stays where it is.
    pub fn fixed(name: impl Into<String>, shape: Shape<D>) -> Self {
        Self::with_drive(name, shape, Drive::Fixed)
    }

    /// A body that moves by script.
    pub fn scripted(name: impl Into<String>, shape: Shape<D>, motion: Motion<D>) -> Self {
        Self::with_drive(name, shape, Drive::Scripted(motion))
    }

    /// A body that moves by forces.
    pub fn free(name: impl Into<String>, shape: Shape<D>, mass: Mass<D>) -> Self {
        Self {
            mass: Some(mass),
            ..Self::with_drive(name, shape, Drive::Free)
        }
    }

    /// Sets the pose at the start.
    #[must_use]
    pub fn at(mut self, pose: Pose<D>) -> Self {
        self.pose = pose;
        self
    }

    /// Sets the velocity at the start.
    #[must_use]
    pub fn moving(mut self, linear: [f64; D], angular: Angular) -> Self {
        self.twist = Twist { linear, angular };
        self
    }

    /// Sets the friction coefficient.
    #[must_use]
    pub fn friction(mut self, friction: f64) -> Self {
        self.friction = friction;
        self
    }

    /// Sets the restitution.
    #[must_use]
    pub fn restitution(mut self, restitution: f64) -> Self {
        self.restitution = restitution;
        self
    }

    /// Sets whether gravity acts on the body.
    #[must_use]
    pub fn gravity(mut self, gravity: bool) -> Self {
        self.gravity = gravity;
        self
    }

    /// Makes a scripted body free from a time on.
    #[must_use]
    pub fn released(mut self, time: f64, mass: Mass<D>) -> Self {
        self.release_time = Some(time);
        self.mass = Some(mass);
        self
    }

    /// Checks that all values are in range.
    pub fn validate(&self) -> Result<(), BodyError> {
        let fault = |fault| {
            Err(BodyError {
                name: self.name.clone(),
                fault,
            })
        };
        if let Err(error) = self.shape.validate() {
            return fault(BodyFault::Shape(error));
        }
        if let Drive::Scripted(motion) = &self.drive
            && let Err(error) = motion.validate()
        {
            return fault(BodyFault::Motion(error));
        }
        if !self.pose.is_finite() || !is_finite(self.twist.linear) || !is_finite(self.twist.angular)
        {
            return fault(BodyFault::NotFinite);
        }
        if D == 2 && (self.twist.angular[0] != 0.0 || self.twist.angular[1] != 0.0) {
            return fault(BodyFault::OutOfPlane);
        }
        if !(self.friction >= 0.0 && self.friction.is_finite()) {
            return fault(BodyFault::Friction(self.friction));
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            return fault(BodyFault::Restitution(self.restitution));
        }
        let released = self.release_time.is_some();
        if released && !matches!(self.drive, Drive::Scripted(_)) {
            return fault(BodyFault::NothingToRelease);
        }
        if self.release_time.is_some_and(|time| !time.is_finite()) {
            return fault(BodyFault::NotFinite);
        }
        match &self.mass {
            Some(mass) => match mass.validated() {
                Ok(_) => Ok(()),
                Err(error) => fault(BodyFault::Mass(error)),
            },
            None if released || self.drive == Drive::Free => fault(BodyFault::NoMass),
            None => Ok(()),
        }
    }
}

impl<const D: usize> From<&ScriptedSolid<D>> for Body<D> {
    fn from(solid: &ScriptedSolid<D>) -> Self {
        if solid.moves() {
            Self::scripted(&solid.name, solid.shape.clone(), solid.motion.clone())
        } else {
            Self::fixed(&solid.name, solid.shape.clone()).at(solid.motion.world_from_body(0.0))
        }
    }
}

/// Invalid body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyError {
    /// Name of the body.
    pub name: String,
    /// Cause.
    pub fault: BodyFault,
}

/// Cause for which a body is invalid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BodyFault {
    /// Invalid shape.
    Shape(ShapeError),
    /// Invalid script.
    Motion(MotionError),
    /// Invalid mass properties.
    Mass(MassError),
    /// A free body without mass.
    NoMass,
    /// A pose, velocity or time that is not finite.
    NotFinite,
    /// A turn out of the plane, in two dimensions.
    OutOfPlane,
    /// A friction coefficient that is negative or not finite.
    Friction(f64),
    /// A restitution outside 0 to 1.
    Restitution(f64),
    /// A release time on a body that is not scripted.
    NothingToRelease,
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "body {}: ", self.name)?;
        match &self.fault {
            BodyFault::Shape(error) => error.fmt(f),
            BodyFault::Motion(error) => error.fmt(f),
            BodyFault::Mass(error) => error.fmt(f),
            BodyFault::NoMass => f.write_str("a body that moves by forces needs a mass"),
            BodyFault::NotFinite => f.write_str("pose, velocity and times must be finite"),
            BodyFault::OutOfPlane => {
                f.write_str("in two dimensions a body turns about the last axis only")
            }
            BodyFault::Friction(value) => write!(
                f,
                "friction is {value}, it must be zero or positive, and finite"
            ),
            BodyFault::Restitution(value) => {
                write!(f, "restitution is {value}, it must be from 0 to 1")
            }
            BodyFault::NothingToRelease => f.write_str("only a scripted body can be released"),
        }
    }
}

impl std::error::Error for BodyError {}
