//! Damping of motion too slow for the grid to resolve.
//!
//! A wave that moves the surface by a few hundredths of a cell is smaller than the error of the surface itself: such
//! errors start it, and without viscosity nothing would end it. Velocities below a small share of `sqrt(g dx)`, the speed
//! of waves as long as a cell, therefore decay. Motion ten times as fast is damped ten thousand times more slowly. There is
//! none without gravity, where slow motion is as good as fast, and none while solids move, which may carry the liquid along.

use crate::particles::gradient::Gradient;
use crate::settings::Settings;

/// Speed at which the damping has a quarter of its rate, as a share of `sqrt(g dx)`.
const SLOW: f64 = 0.02;
/// Time in which slower motion decays, in seconds.
const DECAY: f64 = 0.25;

/// The damping of one step.
pub struct Rest {
    /// Exponent for motion at no speed.
    decay: f32,
    /// Inverse square of the speed at which it is a quarter of that.
    inverse_square: f32,
}

impl Rest {
    /// None without gravity.
    pub fn new<const D: usize>(settings: &Settings<D>, dt: f64) -> Option<Self> {
        let gravity = settings.physics.gravity_magnitude();
        let square = SLOW * SLOW * gravity * settings.dx;
        (square > 0.0).then(|| Self {
            decay: (dt / DECAY) as f32,
            inverse_square: (1.0 / square) as f32,
        })
    }

    /// Slows down a particle.
    pub fn damp<const D: usize>(&self, velocity: &mut [f32; D], affine: &mut Gradient<D>) {
        let square = velocity.iter().map(|v| v * v).sum::<f32>();
        let faster = 1.0 + square * self.inverse_square;
        let exponent = self.decay / (faster * faster);
        // Nothing that is left of fast motion differs in single precision.
        if exponent < 1e-7 {
            return;
        }
        let keep = (-exponent).exp();
        for v in velocity.iter_mut() {
            *v *= keep;
        }
        *affine = Gradient::new(affine.entries().map(|row| row.map(|g| g * keep)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_motion_decays_and_waves_that_the_grid_resolves_do_not() {
        let settings = Settings::<2>::new([24, 24], 0.02);
        let wave = (9.81f64 * 0.02).sqrt() as f32;
        let after_a_second = |start: f32| {
            let (mut velocity, mut affine) = ([start, 0.0], Gradient::NONE);
            for _ in 0..48 {
                let rest = Rest::new(&settings, 1.0 / 48.0).unwrap();
                rest.damp(&mut velocity, &mut affine);
            }
            velocity[0] / start
        };
        assert!(after_a_second(0.001 * wave) < 0.05);
        assert!(after_a_second(0.5 * wave) > 0.99);
        let mut weightless = settings;
        weightless.physics.gravity = [0.0; 2];
        assert!(Rest::new(&weightless, 0.01).is_none());
    }
}
