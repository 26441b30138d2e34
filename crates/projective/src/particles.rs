//! Particles of a liquid.

use rayon::prelude::*;

use crate::real::{Real, Vec4};

/// Particles of a liquid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles<R> {
    /// Positions, in metres.
    pub position: Vec<Vec4<R>>,
    /// Velocities, in m/s.
    pub velocity: Vec<Vec4<R>>,
    /// Multipliers of the density constraints: volume times pressure, in J.
    pub multiplier: Vec<R>,
    /// Identifiers that are stable from birth.
    pub id: Vec<u64>,
    /// Times of birth, in seconds.
    pub birth: Vec<f32>,
    /// Numbers of the volumes and emitters that they come from.
    pub source: Vec<u32>,
}

impl<R: Real> Particles<R> {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// The particles in another order.
    pub(crate) fn permuted(&self, order: &[u32]) -> Self {
        fn permuted<T: Copy + Send + Sync>(values: &[T], order: &[u32]) -> Vec<T> {
            order.par_iter().map(|&i| values[i as usize]).collect()
        }
        Self {
            position: permuted(&self.position, order),
            velocity: permuted(&self.velocity, order),
            multiplier: permuted(&self.multiplier, order),
            id: permuted(&self.id, order),
            birth: permuted(&self.birth, order),
            source: permuted(&self.source, order),
        }
    }

    /// Removes the particles for which `is_kept` is false.
    pub(crate) fn retain(&mut self, is_kept: &[bool]) {
        fn retain<T>(values: &mut Vec<T>, is_kept: &[bool]) {
            let mut kept = is_kept.iter();
            values.retain(|_| kept.next().is_none_or(|kept| *kept));
        }
        retain(&mut self.position, is_kept);
        retain(&mut self.velocity, is_kept);
        retain(&mut self.multiplier, is_kept);
        retain(&mut self.id, is_kept);
        retain(&mut self.birth, is_kept);
        retain(&mut self.source, is_kept);
    }

    /// Adds a particle without pressure.
    pub(crate) fn push(
        &mut self,
        position: Vec4<R>,
        velocity: Vec4<R>,
        id: u64,
        birth: f64,
        source: u32,
    ) {
        self.position.push(position);
        self.velocity.push(velocity);
        self.multiplier.push(R::ZERO);
        self.id.push(id);
        self.birth.push(birth as f32);
        self.source.push(source);
    }
}
