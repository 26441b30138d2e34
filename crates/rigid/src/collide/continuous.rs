//! Continuous collision detection by conservative advancement.

use meniscus_shapes::Pose;

use super::narrow::separation;
use super::part::{Collider, PosedCollider};
use crate::body::Twist;
use crate::free_flight::turned;
use crate::linear::{add_scaled, norm, scale, sub};

/// Advances at most.
const MOST_ADVANCES: usize = 100;

/// A body that moves with a constant velocity over a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion<'a, const D: usize> {
    pub collider: &'a Collider<D>,
    pub pose: Pose<D>,
    /// Centre of mass in the body's frame.
    pub center: [f64; D],
    pub twist: Twist<D>,
}

impl<const D: usize> Motion<'_, D> {
    pub fn pose_at(&self, time: f64) -> Pose<D> {
        let center = add_scaled(self.pose.apply(self.center), time, self.twist.linear);
        let rotation = turned(&self.pose.rotation, scale(self.twist.angular, time));
        Pose {
            rotation,
            translation: sub(center, rotation.apply(self.center)),
        }
    }

    /// Bound on the speed of the body's points by which rotation adds to that of its centre.
    fn spin(&self) -> f64 {
        let reach = self.collider.reach(self.center);
        let angular = norm(self.twist.angular);
        if angular == 0.0 { 0.0 } else { angular * reach }
    }
}

/// The time within a step at which two bodies come within `target` of each other; `None` if they do not.
pub(crate) fn impact<const D: usize>(
    a: &Motion<'_, D>,
    b: &Motion<'_, D>,
    dt: f64,
    target: f64,
) -> Option<f64> {
    let speed = norm(sub(a.twist.linear, b.twist.linear)) + a.spin() + b.spin();
    let mut time = 0.0;
    for _ in 0..MOST_ADVANCES {
        let (x, y) = (a.pose_at(time), b.pose_at(time));
        let apart = separation(
            &PosedCollider::new(a.collider, &x),
            &PosedCollider::new(b.collider, &y),
        );
        if apart <= 1.5 * target {
            return Some(time);
        }
        time += (apart - target) / speed;
        if time >= dt || time.is_nan() {
            return None;
        }
    }
    Some(time)
}
