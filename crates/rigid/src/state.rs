//! State of bodies, and what a step needs of it.

use meniscus_shapes::Pose;

use crate::body::{Body, Drive, Twist};
use crate::free_flight::{lifted, rotation_between};
use crate::linear::{Matrix3, ZERO3, add, apply3, conjugated, dot, inverse3, scale, sub};

/// State of one body: everything that a step changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BodyState<const D: usize> {
    pub pose: Pose<D>,
    pub twist: Twist<D>,
    /// Seconds for which the body has been slow.
    pub rest_time: f64,
    pub asleep: bool,
    pub removed: bool,
}

/// A body in a step: where its mass is, and how it moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kinetic<const D: usize> {
    /// Centre of mass in the world. For bodies without mass, the origin of their frame.
    pub center: [f64; D],
    /// Zero unless the body is free.
    pub inverse_mass: f64,
    /// In world axes; zero unless the body is free.
    pub inverse_inertia: Matrix3,
    /// In world axes.
    pub inertia: Matrix3,
    pub mass: f64,
    /// Number of the inertia that takes the place of mass and moments in the contact problem.
    pub general: Option<u32>,
    pub twist: Twist<D>,
}

impl<const D: usize> Body<D> {
    /// Whether forces move the body at a time.
    pub(crate) fn is_free(&self, time: f64) -> bool {
        match self.drive {
            Drive::Free => true,
            Drive::Fixed => false,
            Drive::Scripted(_) => self.release_time.is_some_and(|release| time >= release),
        }
    }

    /// Centre of mass in the body's frame.
    pub(crate) fn local_center(&self) -> [f64; D] {
        self.mass.map_or([0.0; D], |mass| mass.center)
    }

    /// Pose in which the body is at a time if a script moves it.
    pub(crate) fn scripted_pose(&self, time: f64) -> Option<Pose<D>> {
        match &self.drive {
            Drive::Scripted(motion) if !self.is_free(time) => Some(motion.world_from_body(time)),
            _ => None,
        }
    }

    /// Mean velocity of a script over a step.
    pub(crate) fn scripted_twist(&self, time: f64, dt: f64) -> Twist<D> {
        let Drive::Scripted(motion) = &self.drive else {
            return Twist::ZERO;
        };
        let (from, to) = (
            motion.world_from_body(time),
            motion.world_from_body(time + dt),
        );
        let center = self.local_center();
        Twist {
            linear: scale(sub(to.apply(center), from.apply(center)), 1.0 / dt),
            angular: scale(rotation_between(&from.rotation, &to.rotation), 1.0 / dt),
        }
    }

    pub(crate) fn kinetic(&self, state: &BodyState<D>, time: f64, dt: f64) -> Kinetic<D> {
        let center = state.pose.apply(self.local_center());
        let free = self.is_free(time) && !state.removed;
        match &self.mass {
            Some(mass) if free => {
                let turn = lifted(&state.pose.rotation);
                let inertia = conjugated(&turn, &mass.inertia);
                Kinetic {
                    center,
                    inverse_mass: 1.0 / mass.mass,
                    inverse_inertia: inverse_inertia::<D>(&inertia),
                    inertia,
                    mass: mass.mass,
                    general: None,
                    twist: state.twist,
                }
            }
            _ => Kinetic {
                center,
                inverse_mass: 0.0,
                inverse_inertia: ZERO3,
                inertia: ZERO3,
                mass: 0.0,
                general: None,
                twist: self.scripted_twist(time, dt),
            },
        }
    }
}

fn inverse_inertia<const D: usize>(inertia: &Matrix3) -> Matrix3 {
    if D == 2 {
        let mut inverse = ZERO3;
        inverse[2][2] = 1.0 / inertia[2][2];
        return inverse;
    }
    inverse3(inertia)
}

impl<const D: usize> Kinetic<D> {
    pub fn is_free(&self) -> bool {
        self.inverse_mass > 0.0
    }

    /// Velocity of the point of the body at `x`.
    pub fn velocity(&self, x: [f64; D]) -> [f64; D] {
        self.twist.at(sub(x, self.center))
    }

    pub fn kinetic_energy(&self) -> f64 {
        let Twist { linear, angular } = self.twist;
        0.5 * self.mass * dot(linear, linear) + 0.5 * dot(angular, apply3(&self.inertia, angular))
    }

    /// Adds an impulse and a twist of the body's momentum.
    pub fn push(&mut self, impulse: [f64; D], moment: [f64; 3]) {
        self.twist.linear = add(self.twist.linear, scale(impulse, self.inverse_mass));
        self.twist.angular = add(self.twist.angular, apply3(&self.inverse_inertia, moment));
    }
}

impl<const D: usize> Kinetic<D> {
    /// The world, as a body that does not move.
    pub fn world() -> Self {
        Self {
            center: [0.0; D],
            inverse_mass: 0.0,
            inverse_inertia: ZERO3,
            inertia: ZERO3,
            mass: 0.0,
            general: None,
            twist: Twist::ZERO,
        }
    }
}
