//! A rigid body without contacts for tests.

use meniscus_projective::{Freedoms, Movers};
use meniscus_shapes::{Pose, Shape};

/// A ball that impulses and gravity move.
pub struct Stone<'a> {
    shape: &'a Shape<3>,
    mass: f64,
    center: [f64; 3],
    velocity: [f64; 3],
    dt: f64,
    /// Velocity that the last impulses lead to.
    next: [f64; 3],
}

impl<'a> Stone<'a> {
    pub fn new(shape: &'a Shape<3>, center: [f64; 3], mass: f64) -> Self {
        Self {
            shape,
            mass,
            center,
            velocity: [0.0; 3],
            dt: 0.0,
            next: [0.0; 3],
        }
    }

    /// Begins a step of `dt` seconds.
    pub fn begin(&mut self, dt: f64) {
        self.dt = dt;
    }

    pub fn velocity(&self) -> [f64; 3] {
        self.velocity
    }

    pub fn center(&self) -> [f64; 3] {
        self.center
    }
}

impl<'a> Movers<'a, 3> for Stone<'a> {
    fn count(&self) -> usize {
        1
    }

    fn shape(&self, _body: usize) -> &'a Shape<3> {
        self.shape
    }

    fn pose(&self, _body: usize) -> Pose<3> {
        Pose::translated(self.center)
    }

    fn center(&self, _body: usize) -> [f64; 3] {
        self.center
    }

    fn inverse_inertia(&self, _body: usize) -> [Freedoms; 6] {
        let mut inverse = [[0.0; 6]; 6];
        for axis in 0..3 {
            inverse[axis][axis] = 1.0 / self.mass;
        }
        inverse
    }

    fn respond(&mut self, impulses: &[Freedoms], velocities: &mut [Freedoms]) {
        let gravity = [0.0, 0.0, -9.81];
        velocities[0] = [0.0; 6];
        for axis in 0..3 {
            self.next[axis] =
                self.velocity[axis] + self.dt * gravity[axis] + impulses[0][axis] / self.mass;
            velocities[0][axis] = self.next[axis];
        }
    }

    fn finish(&mut self) -> bool {
        self.velocity = self.next;
        for axis in 0..3 {
            self.center[axis] += self.dt * self.velocity[axis];
        }
        true
    }
}
