//! Joints between bodies, or a body and the world.

mod rows;

pub(crate) use rows::{JointRows, joint_rows, position_rows};

use std::fmt;

use meniscus_shapes::{Pose, Rotation};

use crate::linear::{Angular, is_finite, lift, norm, scale};

/// Kind of a joint, with points and axes in the world at the time when it is added.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointKind<const D: usize> {
    /// Turns about an axis through a point. In two dimensions the axis is that of the plane, whatever is given.
    Hinge {
        /// Point of the axis.
        point: [f64; D],
        /// Direction of the axis, of any length but zero.
        axis: Angular,
    },
    /// Turns about a point.
    Ball {
        /// The point.
        point: [f64; D],
    },
    /// Slides along an axis, without turning.
    Slider {
        /// Point of the first body that stays on the axis.
        point: [f64; D],
        /// Direction of the axis, of any length but zero.
        axis: [f64; D],
    },
    /// Neither moves nor turns.
    Fixed {
        /// Point at which the reaction is measured.
        point: [f64; D],
    },
    /// Keeps the distance of two points.
    Distance {
        /// Point of the first body.
        point_a: [f64; D],
        /// Point of the second body, or of the world.
        point_b: [f64; D],
    },
}

/// Goal of a motor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MotorTarget {
    /// Speed in rad/s or m/s.
    Speed(f64),
    /// Angle in rad or position in m, from where the joint was added.
    Position(f64),
}

/// A motor of a hinge or slider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// Goal.
    pub target: MotorTarget,
    /// Largest torque in N m, or force in N.
    pub max_effort: f64,
}

/// A joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint<const D: usize> {
    /// Kind.
    pub kind: JointKind<D>,
    /// Index of the first body.
    pub a: usize,
    /// Index of the second body; `None` is the world.
    pub b: Option<usize>,
    /// Lowest and highest angle in rad, or position in m, of a hinge or slider, from where the joint was added.
    pub limits: Option<[f64; 2]>,
    /// Motor of a hinge or slider.
    pub motor: Option<Motor>,
    /// Reaction in N at which the joint breaks.
    pub break_force: Option<f64>,
    /// Whether the two bodies collide. Default: false.
    pub collide: bool,
}

impl<const D: usize> Joint<D> {
    /// A joint without limits and motor.
    pub fn new(kind: JointKind<D>, a: usize, b: Option<usize>) -> Self {
        Self {
            kind,
            a,
            b,
            limits: None,
            motor: None,
            break_force: None,
            collide: false,
        }
    }

    /// Sets limits.
    #[must_use]
    pub fn limits(mut self, low: f64, high: f64) -> Self {
        self.limits = Some([low, high]);
        self
    }

    /// Sets a motor.
    #[must_use]
    pub fn motor(mut self, target: MotorTarget, max_effort: f64) -> Self {
        self.motor = Some(Motor { target, max_effort });
        self
    }

    /// Sets the reaction at which the joint breaks.
    #[must_use]
    pub fn break_force(mut self, force: f64) -> Self {
        self.break_force = Some(force);
        self
    }

    /// Sets whether the two bodies collide.
    #[must_use]
    pub fn collide(mut self, collide: bool) -> Self {
        self.collide = collide;
        self
    }

    /// Checks that all values are in range.
    pub(crate) fn validate(&self, bodies: usize) -> Result<(), JointError> {
        if self.a >= bodies || self.b.is_some_and(|b| b >= bodies) {
            return Err(JointError::UnknownBody);
        }
        if self.b == Some(self.a) {
            return Err(JointError::SameBody);
        }
        let (points, axis) = match self.kind {
            JointKind::Hinge { point, axis } => {
                ([point; 2], if D == 2 { [0.0, 0.0, 1.0] } else { axis })
            }
            JointKind::Slider { point, axis } => ([point; 2], lift(axis)),
            JointKind::Ball { point } | JointKind::Fixed { point } => ([point; 2], [1.0; 3]),
            JointKind::Distance { point_a, point_b } => {
                if point_a == point_b {
                    return Err(JointError::NoDistance);
                }
                ([point_a, point_b], [1.0; 3])
            }
        };
        let length = norm(axis);
        if !(is_finite(points[0]) && is_finite(points[1])) {
            return Err(JointError::NotFinite);
        }
        if !(length > 0.0 && length.is_finite()) {
            return Err(JointError::Axis);
        }
        let moves = matches!(
            self.kind,
            JointKind::Hinge { .. } | JointKind::Slider { .. }
        );
        if !moves && (self.limits.is_some() || self.motor.is_some()) {
            return Err(JointError::NothingToDrive);
        }
        // Not a number is no limit either.
        if self
            .limits
            .is_some_and(|[low, high]| low.is_nan() || high.is_nan() || low > high)
        {
            return Err(JointError::Limits);
        }
        if let Some(motor) = self.motor {
            let (MotorTarget::Speed(goal) | MotorTarget::Position(goal)) = motor.target;
            let effort = motor.max_effort;
            if !(goal.is_finite() && effort >= 0.0 && effort.is_finite()) {
                return Err(JointError::Motor);
            }
        }
        if self
            .break_force
            .is_some_and(|force| force.is_nan() || force <= 0.0)
        {
            return Err(JointError::BreakForce);
        }
        Ok(())
    }
}

/// Invalid joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JointError {
    /// A body that is not there.
    UnknownBody,
    /// A body joined to itself.
    SameBody,
    /// A point that is not finite.
    NotFinite,
    /// An axis without direction.
    Axis,
    /// Points of a distance joint that are the same.
    NoDistance,
    /// Limits or a motor on a joint that neither turns about an axis nor slides.
    NothingToDrive,
    /// A lower limit above the upper one.
    Limits,
    /// A motor with a goal or effort out of range.
    Motor,
    /// A break force that is not positive.
    BreakForce,
}

impl fmt::Display for JointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownBody => "the joint names a body that is not there",
            Self::SameBody => "the joint names one body twice",
            Self::NotFinite => "the joint's points must be finite",
            Self::Axis => "the joint's axis must have a direction",
            Self::NoDistance => "the two points of a distance joint must be apart",
            Self::NothingToDrive => "only hinges and sliders have limits and motors",
            Self::Limits => "the joint's lower limit is above its upper one",
            Self::Motor => {
                "a motor needs a finite goal and a largest effort that is zero or positive"
            }
            Self::BreakForce => "the break force must be positive",
        })
    }
}

impl std::error::Error for JointError {}

/// State of a joint: everything that a step changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JointState {
    /// Angle or position.
    pub coordinate: f64,
    pub broken: bool,
    /// Impulses of the last step.
    pub impulses: [f64; MOST_ROWS],
}

/// Rows of a joint at most: six for a fixed one; five, two limits and a motor for a hinge.
pub(crate) const MOST_ROWS: usize = 8;

/// A joint in the frames of its bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointFrame<const D: usize> {
    /// Points in the frame of each body, or the world.
    pub point_a: [f64; D],
    pub point_b: [f64; D],
    /// Axis in the frame of each body, or the world.
    pub axis_a: Angular,
    pub axis_b: Angular,
    /// `rotation_b' rotation_a` when the joint was added.
    pub relative: Rotation<D>,
    /// Of a distance joint.
    pub length: f64,
}

impl<const D: usize> JointFrame<D> {
    pub fn new(joint: &Joint<D>, pose_a: &Pose<D>, pose_b: &Pose<D>) -> Self {
        let (a, b, axis) = match joint.kind {
            JointKind::Hinge { point, axis } => {
                (point, point, if D == 2 { [0.0, 0.0, 1.0] } else { axis })
            }
            JointKind::Slider { point, axis } => (point, point, lift(axis)),
            JointKind::Ball { point } | JointKind::Fixed { point } => {
                (point, point, [0.0, 0.0, 1.0])
            }
            JointKind::Distance { point_a, point_b } => (point_a, point_b, [0.0, 0.0, 1.0]),
        };
        let axis = scale(axis, 1.0 / norm(axis));
        let back = |pose: &Pose<D>| {
            crate::linear::apply3_transposed(&crate::free_flight::lifted(&pose.rotation), axis)
        };
        Self {
            point_a: pose_a.apply_inverse(a),
            point_b: pose_b.apply_inverse(b),
            axis_a: back(pose_a),
            axis_b: back(pose_b),
            relative: pose_b.rotation.inverse().compose(&pose_a.rotation),
            length: norm(crate::linear::sub(a, b)),
        }
    }
}
