//! Emitters and drains.
//!
//! A lattice of points travels with the velocity of an emitter, and a point becomes a particle when it comes into the part of
//! the shape that is far enough from solids: where the shape begins at a wall, a little behind it. Which points do so between
//! two times does not depend on the steps in between.

use std::ops::Range;

use meniscus_shapes::{Bounds, ScriptedSolid, Shape};

use crate::fluid::Fluid;
use crate::real::{Real, Vec4};
use crate::walls::Walls;

/// Least distance of new particles from solids, in spacings.
const ROOM: f64 = 0.45;

/// A part of the space that liquid streams into. It is empty at first and fills from the side that the velocity comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitter<const D: usize> {
    /// Shape, which is bounded.
    pub shape: Shape<D>,
    /// Velocity of the liquid in it; not zero.
    pub velocity: [f64; D],
    /// Times at which it is active, in seconds.
    pub active: Range<f64>,
}

/// A part of the space in which liquid vanishes.
#[derive(Clone, Debug, PartialEq)]
pub struct Drain<const D: usize> {
    /// Shape.
    pub shape: Shape<D>,
    /// Times at which it is active, in seconds.
    pub active: Range<f64>,
}

/// Emitters and drains of a liquid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources<const D: usize> {
    /// Emitters. Where two overlap, the first sets the velocity.
    pub emitters: Vec<Emitter<D>>,
    /// Drains.
    pub drains: Vec<Drain<D>>,
    /// Bounds of the domain: particles outside vanish, and emitters emit nothing there.
    pub domain: Option<Bounds<D>>,
}

/// Numbers of particles that came and went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Particles that emitters added.
    pub emitted: usize,
    /// Particles that drains took.
    pub drained: usize,
}

impl<const D: usize> Sources<D> {
    /// Largest speed of the emitters that are active between two times.
    pub fn max_speed(&self, time: &Range<f64>) -> f64 {
        let active = self.emitters.iter().filter(|e| overlaps(&e.active, time));
        active.map(Emitter::speed).fold(0.0, f64::max)
    }

    /// Exchanges particles at the end of a step over `time`: drains take what is inside them, emitters add what came into
    /// them, and all particles inside an emitter move at its velocity.
    pub fn exchange<R: Real>(
        &self,
        fluid: &mut Fluid<D, R>,
        solids: &[ScriptedSolid<D>],
        time: &Range<f64>,
    ) -> Exchanged {
        let drains: Vec<&Drain<D>> = (self.drains.iter())
            .filter(|drain| overlaps(&drain.active, time))
            .collect();
        let mut exchanged = Exchanged::default();
        if !drains.is_empty() || self.domain.is_some() {
            let is_kept = |x: [f64; D]| {
                self.domain.as_ref().is_none_or(|domain| domain.contains(x))
                    && drains.iter().all(|drain| drain.shape.distance(x) > 0.0)
            };
            exchanged.drained = fluid.retain(&is_kept);
        }
        let spacing = fluid.settings().spacing;
        let table = fluid.half_space().clone();
        let walls = |time: f64| Walls::new(solids, time, &table, spacing);
        let (before, after) = (walls(time.start), walls(time.end));
        let has_room = |walls: &Walls<D>, x: [f64; D]| {
            self.domain.as_ref().is_none_or(|domain| domain.contains(x))
                && walls.distance_within(x, spacing) >= ROOM * spacing
        };
        for (number, emitter) in self.emitters.iter().enumerate() {
            if !overlaps(&emitter.active, time) {
                continue;
            }
            for velocity in fluid.velocities_within(&emitter.shape) {
                *velocity = Vec4::of(emitter.velocity);
            }
            let had_room = |x| has_room(&before, x);
            let has_room = |x| has_room(&after, x);
            for x in emitter.entering(spacing, time, had_room, has_room) {
                // Sources count from one; zero is the liquid at the start.
                fluid.add(x, emitter.velocity, number as u32 + 1);
                exchanged.emitted += 1;
            }
        }
        exchanged
    }
}

fn overlaps(active: &Range<f64>, time: &Range<f64>) -> bool {
    active.start < time.end && time.start < active.end
}

impl<const D: usize> Emitter<D> {
    fn speed(&self) -> f64 {
        self.velocity.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    /// Places at the end of `time` of the lattice points that came since its start into the part of the shape where there is
    /// room for particles, at the start and at the end.
    fn entering(
        &self,
        spacing: f64,
        time: &Range<f64>,
        had_room: impl Fn([f64; D]) -> bool,
        has_room: impl Fn([f64; D]) -> bool,
    ) -> Vec<[f64; D]> {
        let (from, to) = (
            self.active.start.max(time.start),
            self.active.end.min(time.end),
        );
        let speed = self.speed();
        let Some(bounds) = self.shape.bounds().filter(|_| speed > 0.0 && from < to) else {
            return Vec::new();
        };
        let axes = axes_along(self.velocity, speed);
        // Extent of the shape along each axis, in spacings.
        let extent: [(f64, f64); D] = axes.map(|axis| {
            let (mut middle, mut reach) = (0.0, 0.0);
            for k in 0..D {
                middle += axis[k] * 0.5 * (bounds.low[k] + bounds.high[k]);
                reach += axis[k].abs() * 0.5 * (bounds.high[k] - bounds.low[k]);
            }
            ((middle - reach) / spacing, (middle + reach) / spacing)
        });
        // The lattice is centred across the velocity.
        let across: [(i64, f64); D] = extent.map(|(low, high)| {
            let count = ((high - low) + 1e-6).floor().max(1.0);
            (count as i64, 0.5 * (low + high) - 0.5 * (count - 1.0))
        });
        let (start, end) = (speed * from / spacing, speed * to / spacing);
        let first = (extent[0].0 - end).floor() as i64;
        let last = (extent[0].1 - start).ceil() as i64;
        let per_layer: i64 = across[1..].iter().map(|(count, _)| count).product();
        let place = |along: f64, aside: &[f64; D]| -> [f64; D] {
            std::array::from_fn(|k| {
                let sum: f64 = (1..D).map(|axis| aside[axis] * axes[axis][k]).sum();
                (along * axes[0][k] + sum) * spacing
            })
        };
        let mut found = Vec::new();
        for layer in first..=last {
            for number in 0..per_layer {
                let (mut rest, mut aside) = (number, [0.0; D]);
                for axis in 1..D {
                    let (count, low) = across[axis];
                    aside[axis] = low + (rest % count) as f64;
                    rest /= count;
                }
                let along = layer as f64 + 0.5;
                let is_inside = |x: [f64; D]| self.shape.distance(x) <= 0.0;
                let (old, new) = (place(along + start, &aside), place(along + end, &aside));
                let was_inside = is_inside(old) && had_room(old);
                if !was_inside && is_inside(new) && has_room(new) {
                    let at_end = along + speed * time.end / spacing;
                    found.push(place(at_end, &aside));
                }
            }
        }
        found
    }
}

/// Orthonormal axes, the first along `velocity`.
fn axes_along<const D: usize>(velocity: [f64; D], speed: f64) -> [[f64; D]; D] {
    let mut axes = [[0.0; D]; D];
    axes[0] = velocity.map(|v| v / speed);
    // Unit vectors made orthogonal, those closest to orthogonal first.
    let mut order: Vec<usize> = (0..D).collect();
    order.sort_by(|&a, &b| axes[0][a].abs().total_cmp(&axes[0][b].abs()));
    for (found, unit) in (1..D).zip(order) {
        let mut axis = [0.0; D];
        axis[unit] = 1.0;
        for known in &axes[..found] {
            let product: f64 = (0..D).map(|k| axis[k] * known[k]).sum();
            for k in 0..D {
                axis[k] -= product * known[k];
            }
        }
        let length = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
        axes[found] = axis.map(|a| a / length);
    }
    axes
}
