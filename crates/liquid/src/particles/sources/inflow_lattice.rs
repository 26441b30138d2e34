//! A lattice of points that travels with an emitter's velocity; a point is emitted when it comes into the shape.
//!
//! Which points do so between two times does not depend on the steps in between, and the lattice has as many points in
//! a volume as the volume has particles: the amount is right whatever the step. The lattice has layers at right angles
//! to the velocity, and every layer is shifted against the one before by irrational shares of the distance between
//! points: over a few layers any opening lets through its due, even one smaller than that distance.

use meniscus_shapes::Bounds;
use rayon::prelude::*;

use super::Emitter;
use crate::particles::seed::{JITTER, Random};
use crate::settings::Settings;
use crate::solids::SolidField;

/// Openings and walls thinner than this, as a share of the distance between points, may be missed.
const THINNEST: f64 = 0.02;

/// Shift from layer to layer across the velocity, as a share of the distance between points: in 2D the golden ratio, in 3D
/// its like for pairs. No short run of layers comes near to where it was.
const SHIFT: [[f64; 2]; 2] = [
    [0.618_033_988_749_894_9, 0.0],
    [0.754_877_666_246_692_7, 0.569_840_290_998_053_2],
];

/// The lattice of one emitter.
pub struct InflowLattice<'a, const D: usize> {
    emitter: &'a Emitter<D>,
    speed: f64,
    /// Orthonormal; the first is the direction of the velocity.
    axes: [[f64; D]; D],
    /// Distance between points.
    spacing: f64,
    domain: Bounds<D>,
    seed: u64,
}

impl<'a, const D: usize> InflowLattice<'a, D> {
    /// The lattice of the emitter with this number.
    pub fn new(emitter: &'a Emitter<D>, number: usize, settings: &Settings<D>) -> Self {
        Self {
            emitter,
            speed: emitter.speed(),
            axes: axes_along(emitter.velocity),
            spacing: settings.particle_volume().powf(1.0 / D as f64),
            domain: Bounds {
                low: [0.0; D],
                high: settings.domain(),
            },
            seed: settings.physics.seed.wrapping_add(number as u64 + 1),
        }
    }

    /// Where the points are at time `end` that came into the shape after `start`.
    pub fn places(&self, solids: &dyn SolidField<D>, start: f64, end: f64) -> Vec<[f64; D]> {
        let active = &self.emitter.active;
        let (from, to) = (active.start.max(start), active.end.min(end));
        let Some(shape) = self.emitter.shape.bounds() else {
            return Vec::new();
        };
        let bounds = shape.intersection(&self.domain);
        if from >= to || bounds.is_empty() || self.speed <= 0.0 {
            return Vec::new();
        }
        let extent: [(f64, f64); D] = std::array::from_fn(|k| extent(&bounds, self.axes[k]));
        let (upstream, downstream) = extent[0];
        // A hair more than the jitter on either side.
        let first = ((upstream - self.speed * to) / self.spacing).floor() as i64 - 1;
        let last = ((downstream - self.speed * from) / self.spacing).ceil() as i64 + 1;
        let layers: Vec<Vec<[f64; D]>> = (first..=last)
            .into_par_iter()
            .map(|layer| {
                let mut places = Vec::new();
                self.each_point(layer, &extent, |way, aside| {
                    let line = Line {
                        lattice: self,
                        solids,
                        aside,
                    };
                    let (a, b) = (way + self.speed * from, way + self.speed * to);
                    if let Some(entry) = line.first_entry(a, b, upstream) {
                        let place = way + self.speed * end;
                        if line.is_free(entry, place) {
                            places.push(line.at(place));
                        }
                    }
                });
                places
            })
            .collect();
        layers.into_iter().flatten().collect()
    }

    /// Calls `point` with every point of a layer, as seen at time zero: how far along the velocity it is, and where
    /// across it.
    fn each_point(
        &self,
        layer: i64,
        extent: &[(f64, f64); D],
        mut point: impl FnMut(f64, [f64; D]),
    ) {
        let shift: [f64; D] = std::array::from_fn(|k| match k {
            0 => 0.0,
            _ => (layer as f64 * SHIFT[D - 2][k - 1]).rem_euclid(1.0),
        });
        let first: [i64; D] =
            std::array::from_fn(|k| (extent[k].0 / self.spacing - shift[k]).floor() as i64 - 1);
        let count: [i64; D] = std::array::from_fn(|k| {
            (extent[k].1 / self.spacing - shift[k]).ceil() as i64 + 2 - first[k]
        });
        for number in 0..count[1..].iter().product::<i64>() {
            let (mut rest, mut index) = (number, [layer; D]);
            for k in 1..D {
                index[k] = first[k] + rest % count[k];
                rest /= count[k];
            }
            let mut random = Random::of(index.map(|i| i as i32), self.seed);
            let place: [f64; D] = std::array::from_fn(|k| {
                let jitter = JITTER * (random.unit() - 0.5);
                (index[k] as f64 + shift[k] + jitter) * self.spacing
            });
            let aside =
                std::array::from_fn(|a| (1..D).map(|k| place[k] * self.axes[k][a]).sum::<f64>());
            point(place[0], aside);
        }
    }
}

/// The way of one point.
struct Line<'a, const D: usize> {
    lattice: &'a InflowLattice<'a, D>,
    solids: &'a dyn SolidField<D>,
    aside: [f64; D],
}

impl<const D: usize> Line<'_, D> {
    fn at(&self, along: f64) -> [f64; D] {
        std::array::from_fn(|a| self.aside[a] + along * self.lattice.axes[0][a])
    }

    /// Distance to the open part of the shape; exact only below `enough`.
    fn distance(&self, along: f64, enough: f64) -> f64 {
        let x = self.at(along);
        let domain = &self.lattice.domain;
        let beyond = (0..D)
            .map(|a| (domain.low[a] - x[a]).max(x[a] - domain.high[a]))
            .fold(f64::NEG_INFINITY, f64::max);
        let distance = beyond.max(self.lattice.emitter.shape.distance(x));
        if distance > enough {
            return distance;
        }
        distance.max(-self.solids.distance(x))
    }

    /// Where the point comes into the shape, if it does so for the first time between `a` and `b`.
    ///
    /// Whatever `a` and `b`, a point that is inside at `b` is no longer outside there for what comes after: it enters
    /// once.
    fn first_entry(&self, a: f64, b: f64, upstream: f64) -> Option<f64> {
        let ahead = self.distance(a, b - a);
        if ahead <= 0.0 || ahead > b - a {
            return None;
        }
        let entry = self.first_inside(a, b)?;
        // What lies behind another part of the shape is reached through that part.
        match self.first_inside(upstream.min(a), a) {
            Some(_) => None,
            None => Some(entry),
        }
    }

    /// The first place from `a` to `b` that is inside the shape.
    fn first_inside(&self, a: f64, b: f64) -> Option<f64> {
        let least = THINNEST * self.lattice.spacing;
        let mut along = a;
        loop {
            let distance = self.distance(along, b - along);
            if distance <= 0.0 {
                return Some(along);
            }
            if along >= b {
                return None;
            }
            along = (along + distance.max(least)).min(b);
        }
    }

    /// Whether no solid is between `a` and `b`, and `b` is inside the domain.
    fn is_free(&self, a: f64, b: f64) -> bool {
        let least = THINNEST * self.lattice.spacing;
        let mut along = a;
        loop {
            // The entry is on the surface of a solid if the shape begins there, but for rounding.
            let distance = self.solids.distance(self.at(along));
            if distance <= 0.0 && along > a {
                return false;
            }
            if along >= b {
                return self.lattice.domain.contains(self.at(b));
            }
            along = (along + distance.max(least)).min(b);
        }
    }
}

/// From where to where a box reaches along a direction.
fn extent<const D: usize>(bounds: &Bounds<D>, direction: [f64; D]) -> (f64, f64) {
    let along = |least: bool| {
        (0..D)
            .map(|a| {
                let (low, high) = (bounds.low[a] * direction[a], bounds.high[a] * direction[a]);
                if least { low.min(high) } else { low.max(high) }
            })
            .sum()
    };
    (along(true), along(false))
}

/// Unit vectors at right angles to each other, the first along `velocity`.
fn axes_along<const D: usize>(velocity: [f64; D]) -> [[f64; D]; D] {
    let mut axes = [[0.0; D]; D];
    let unit = |v: [f64; D]| {
        let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
        v.map(|c| c / length.max(f64::MIN_POSITIVE))
    };
    axes[0] = unit(velocity);
    // The coordinate axes farthest from the velocity are the best to begin with.
    let mut order: [usize; D] = std::array::from_fn(|a| a);
    order.sort_by(|&a, &b| axes[0][a].abs().total_cmp(&axes[0][b].abs()));
    for k in 1..D {
        let mut axis = [0.0; D];
        axis[order[k - 1]] = 1.0;
        for other in &axes[..k] {
            let common: f64 = (0..D).map(|a| axis[a] * other[a]).sum();
            for a in 0..D {
                axis[a] -= common * other[a];
            }
        }
        axes[k] = unit(axis);
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::{ScriptedSolid, Shape, Solids};

    fn settings<const D: usize>() -> Settings<D> {
        Settings::new([64; D], 1.0 / 32.0)
    }

    /// Emits for a second and a half in windows of the given lengths, one after the other; particles as a volume, and
    /// the places they would all have at the end if they went on.
    fn emit<const D: usize>(
        shape: &Shape<D>,
        velocity: [f64; D],
        solids: &Solids<D>,
        steps: &[f64],
    ) -> (f64, Vec<[f64; D]>) {
        let settings = settings::<D>();
        let emitter = Emitter {
            shape: shape.clone(),
            velocity,
            active: 0.25..1.75,
        };
        let lattice = InflowLattice::new(&emitter, 0, &settings);
        let (mut time, mut places, mut k) = (0.0, Vec::new(), 0);
        while time < 2.0 {
            let end = time + steps[k % steps.len()];
            let found = lattice.places(&solids.over_step(end, 0.0), time, end);
            let gone_on = |x: [f64; D]| std::array::from_fn(|a| x[a] + (10.0 - end) * velocity[a]);
            places.extend(found.into_iter().map(gone_on));
            (time, k) = (end, k + 1);
        }
        (places.len() as f64 * settings.particle_volume(), places)
    }

    fn right_amount<const D: usize>(shape: Shape<D>, velocity: [f64; D], area: f64) {
        let open = Solids::new(vec![]);
        let speed = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
        let due = area * speed * 1.5;
        for steps in [&[0.004][..], &[0.1], &[0.03, 0.001, 0.09]] {
            let (volume, _) = emit(&shape, velocity, &open, steps);
            assert!(
                (volume / due - 1.0).abs() < 0.02,
                "{D}D, steps {steps:?}: {volume} instead of {due} from {shape:?}"
            );
        }
    }

    #[test]
    fn an_emitter_adds_its_area_times_speed_times_time_in_2d() {
        let plate = |low: [f64; 2], high: [f64; 2]| Shape::Box { low, high };
        right_amount(plate([0.5, 0.5], [0.7, 0.637]), [1.3, 0.0], 0.137);
        // Thinner than the way of a step, and than the distance between points.
        right_amount(plate([0.5, 0.5], [0.5004, 0.637]), [2.9, 0.0], 0.137);
        right_amount(plate([0.5, 0.5], [1.2, 0.507]), [4.0, 0.0], 0.007);
        let ball = |x: f64, y: f64| Shape::Sphere {
            center: [x, y],
            radius: 0.11,
        };
        right_amount(ball(1.0, 1.0), [0.7, -1.1], 0.22);
        right_amount(
            Shape::Union(vec![ball(1.0, 1.0), ball(1.0, 1.5)]),
            [1.0, 0.0],
            0.44,
        );
        // One behind the other is seen as one.
        right_amount(
            Shape::Union(vec![ball(1.0, 1.0), ball(1.5, 1.0)]),
            [1.0, 0.0],
            0.22,
        );
    }

    #[test]
    fn an_emitter_adds_its_area_times_speed_times_time_in_3d() {
        let disc = |thickness: f64| Shape::Cylinder {
            from: [1.0, 1.0, 1.5],
            to: [1.0, 1.0, 1.5 - thickness],
            radius: 0.09,
        };
        let area = std::f64::consts::PI * 0.09 * 0.09;
        right_amount(disc(0.05), [0.0, 0.0, -1.7], area);
        right_amount(disc(0.001), [0.0, 0.0, -1.7], area);
        let ball = Shape::Sphere {
            center: [1.0; 3],
            radius: 0.09,
        };
        right_amount(ball, [0.6, 0.9, -0.5], area);
        let ring = Shape::Torus {
            center: [1.0; 3],
            axis: [0.0, 1.0, 0.0],
            major: 0.2,
            minor: 0.05,
        };
        let ring_area = std::f64::consts::PI * (0.25f64.powi(2) - 0.15f64.powi(2));
        right_amount(ring, [0.0, 1.0, 0.0], ring_area);
    }

    #[test]
    fn the_same_points_come_whatever_the_steps() {
        let open = Solids::new(vec![]);
        let ball = Shape::Sphere {
            center: [1.0, 1.0],
            radius: 0.11,
        };
        let velocity = [0.35, -0.55];
        let sorted = |steps: &[f64]| {
            let (_, mut places) = emit(&ball, velocity, &open, steps);
            places.sort_by(|a, b| a[0].total_cmp(&b[0]));
            places
        };
        let (once, often) = (sorted(&[2.0]), sorted(&[0.007, 0.03]));
        assert!(once.len() > 200);
        assert_eq!(once.len(), often.len());
        for (a, b) in once.iter().zip(&often) {
            assert!((0..2).all(|k| (a[k] - b[k]).abs() < 1e-9), "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_shape_that_reaches_into_a_wall_begins_where_the_wall_ends() {
        let wall = Shape::HalfSpace {
            point: [0.513, 0.0],
            normal: [1.0, 0.0],
        };
        let plate = Shape::Box {
            low: [1.2, 0.0],
            high: [1.3, 2.0],
        };
        let solids = Solids::new(vec![
            ScriptedSolid::still("wall", wall),
            ScriptedSolid::still("plate", plate),
        ]);
        let beam = Shape::Box {
            low: [0.3, 0.5],
            high: [1.6, 0.637],
        };
        for steps in [&[0.004][..], &[0.1], &[1.0]] {
            let (volume, places) = emit(&beam, [1.0, 0.0], &solids, steps);
            // What would have passed the plate within a step is not emitted.
            let due = 0.137 * if steps[0] < 0.5 { 1.5 } else { 0.687 + 0.437 };
            assert!(
                (volume / due - 1.0).abs() < 0.03,
                "{volume} instead of {due}"
            );
            assert!(!places.is_empty());
        }
        let inside = Shape::Box {
            low: [0.1, 0.5],
            high: [0.4, 0.6],
        };
        assert_eq!(emit(&inside, [1.0, 0.0], &solids, &[0.05]).1.len(), 0);
    }
}
