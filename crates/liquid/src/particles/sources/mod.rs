//! Sources and drains: where liquid comes in and where it leaves.
//!
//! At the end of every step the drains take away what is inside them, the emitters add what came into them during the
//! step, and everything inside an emitter moves at its speed from then on. All of it depends on the time alone and on
//! nothing that is remembered.

mod inflow_lattice;

use std::ops::Range;

use meniscus_shapes::Shape;
use rayon::prelude::*;

use crate::particles::Particles;
use crate::particles::gradient::Gradient;
use crate::settings::Settings;
use crate::solids::SolidField;

/// A part of the space that liquid streams into, like the mouth of a pipe that ends there.
///
/// What comes in does so through the side that the velocity comes from: the area of the shape as seen along the
/// velocity, times the speed, times the time. It passes the shape at that speed, and so does all other liquid inside.
/// A shape is empty when its time begins and fills from that side. Where it lies inside a solid or outside the
/// domain, it is as if it began where they end.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitter<const D: usize> {
    /// The shape; it must have an end on every side.
    pub shape: Shape<D>,
    /// How fast the liquid comes in; not zero.
    pub velocity: [f64; D],
    /// When, in seconds.
    pub active: Range<f64>,
}

/// A part of the space in which liquid vanishes.
#[derive(Clone, Debug, PartialEq)]
pub struct Drain<const D: usize> {
    /// The shape.
    pub shape: Shape<D>,
    /// When, in seconds.
    pub active: Range<f64>,
}

/// How deep the drain of an open side is, in cells: deeper than the margin that particles keep from the end of the domain.
const SILL: f64 = 0.01;

impl<const D: usize> Drain<D> {
    /// An open side of the domain, at the given place along an axis, through which liquid leaves at all times.
    ///
    /// The solids must be open there, too, for several cells beyond the side: what is there counts as air.
    pub fn open_side(axis: usize, high: bool, at: f64, dx: f64) -> Self {
        let (mut point, mut normal) = ([0.0; D], [0.0; D]);
        (point[axis], normal[axis]) = match high {
            true => (at - SILL * dx, -1.0),
            false => (at + SILL * dx, 1.0),
        };
        Drain {
            shape: Shape::HalfSpace { point, normal },
            active: f64::NEG_INFINITY..f64::INFINITY,
        }
    }
}

/// All emitters and drains of a liquid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources<const D: usize> {
    /// Where liquid comes in. Where two overlap, the first gives the velocity.
    pub emitters: Vec<Emitter<D>>,
    /// Where it leaves.
    pub drains: Vec<Drain<D>>,
    /// Index of the material of what each emitter brings. Default: 0.
    pub materials: Vec<u8>,
}

/// Volumes that came and went in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Exchanged {
    pub emitted: f64,
    pub drained: f64,
}

impl<const D: usize> Emitter<D> {
    fn speed(&self) -> f64 {
        self.velocity.iter().map(|v| v * v).sum::<f64>().sqrt()
    }
}

impl<const D: usize> Sources<D> {
    /// Speed of the fastest emitter at work between `t` and `t + dt`.
    pub(crate) fn max_speed(&self, t: f64, dt: f64) -> f64 {
        self.emitters
            .iter()
            .filter(|e| e.active.start <= t + dt && e.active.end > t)
            .map(Emitter::speed)
            .fold(0.0, f64::max)
    }

    /// Drains and emits what the step between two times asks for. `solids` are those at its end.
    pub(crate) fn exchange(
        &self,
        particles: &mut Particles<D>,
        settings: &Settings<D>,
        solids: &dyn SolidField<D>,
        (start, end): (f64, f64),
    ) -> Exchanged {
        // Steps end where frames do but for rounding: the middle of a step tells whether it counts.
        let counts = |active: &Range<f64>| active.contains(&(0.5 * (start + end)));
        let before = particles.len();
        for drain in self.drains.iter().filter(|d| counts(&d.active)) {
            let bounds = drain.shape.bounds();
            let outside = |x: [f64; D]| bounds.is_some_and(|b| !b.contains(x));
            particles.keep(|x| outside(x) || drain.shape.distance(x) >= 0.0);
        }
        let kept = particles.len();
        for (number, emitter) in self.emitters.iter().enumerate() {
            let coming = inflow_lattice::InflowLattice::new(emitter, number, settings);
            for x in coming.places(solids, start, end) {
                particles.push(x, emitter.velocity);
            }
            let material = self.materials.get(number).copied().unwrap_or(0);
            particles.attribute_new(end, number as u32 + 1, material);
        }
        for emitter in self.emitters.iter().rev().filter(|e| counts(&e.active)) {
            // Velocities belong to the middle of the step: half of it later they are what was asked for.
            let half = 0.5 * (end - start);
            let velocity: [f64; D] =
                std::array::from_fn(|a| emitter.velocity[a] - half * settings.physics.gravity[a]);
            emitter.carry(particles, velocity);
        }
        Exchanged {
            emitted: (particles.len() - kept) as f64 * settings.particle_volume(),
            drained: (before - kept) as f64 * settings.particle_volume(),
        }
    }
}

impl<const D: usize> Emitter<D> {
    /// Gives all that is inside the same velocity.
    fn carry(&self, particles: &mut Particles<D>, velocity: [f64; D]) {
        let Some(bounds) = self.shape.bounds() else {
            return;
        };
        let velocity = velocity.map(|v| v as f32);
        let all = particles
            .position
            .par_iter()
            .zip(particles.velocity.par_iter_mut())
            .zip(particles.affine.par_iter_mut());
        all.with_min_len(4096).for_each(|((x, v), affine)| {
            let x = x.map(|x| x as f64);
            if bounds.contains(x) && self.shape.distance(x) < 0.0 {
                *v = velocity;
                *affine = Gradient::NONE;
            }
        });
    }
}
