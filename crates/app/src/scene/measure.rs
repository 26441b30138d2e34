//! Volumes of a scene before anything is simulated, from lattices of points.

use super::Scene;
use meniscus_shapes::{Bounds, Shape};
use std::array::from_fn;

/// Points along a side of a lattice.
const LATTICE: usize = 32;

/// What becomes of a volume of liquid that solids are in the way of, in m³ (m² in the plane).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carved {
    /// Within the domain, solids or not.
    pub whole: f64,
    /// Outside all solids.
    pub inside: f64,
    /// Lost to solids that have an end, so that they are not the container.
    pub to_bounded: f64,
}

/// How much of each volume of liquid is left at the start.
pub fn lost_to_solids<const D: usize>(scene: &Scene<D>) -> Vec<Carved> {
    let scenery = scene.scenery();
    let posed = scenery.during(0.0, 0.0);
    let bounded: Vec<bool> = scenery
        .bodies
        .iter()
        .map(|body| body.shape.bounds().is_some())
        .collect();
    let carve = |shape: &Shape<D>| {
        let mut carved = Carved::default();
        let Some(lattice) = Lattice::around(shape, &scene.domain) else {
            return carved;
        };
        for x in lattice.points() {
            if shape.distance_within(x, lattice.near()) >= 0.0 {
                continue;
            }
            carved.whole += lattice.share;
            match posed.closest(x) {
                Some((body, distance)) if distance < 0.0 => {
                    if bounded[body] {
                        carved.to_bounded += lattice.share;
                    }
                }
                _ => carved.inside += lattice.share,
            }
        }
        carved
    };
    scene
        .liquids
        .iter()
        .map(|volume| carve(&volume.shape))
        .collect()
}

/// Volume of the liquid at the start, outside solids; what two volumes share counts once.
pub fn liquid_volume<const D: usize>(scene: &Scene<D>) -> f64 {
    let whole = Shape::Union(
        scene
            .liquids
            .iter()
            .map(|volume| volume.shape.clone())
            .collect(),
    );
    let Some(lattice) = Lattice::around(&whole, &scene.domain) else {
        return 0.0;
    };
    let scenery = scene.scenery();
    let posed = scenery.during(0.0, 0.0);
    let near = lattice.near();
    let liquid = lattice
        .points()
        .filter(|&x| whole.distance_within(x, near) < 0.0 && posed.distance_within(x, near) > 0.0);
    liquid.count() as f64 * lattice.share
}

/// Volume that emitters bring until the last frame: cross-section times speed times time. Where liquid can leave it is
/// taken to do so once it has crossed the domain.
pub fn emitted_volume<const D: usize>(scene: &Scene<D>) -> f64 {
    let end = scene.time_of_frame(scene.frames);
    let longest = scene.domain.iter().copied().fold(0.0, f64::max);
    let gravity = scene.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
    let rates = scene.emitters.iter().map(|emitter| {
        let active = emitter.frames.seconds(scene.frame_rate);
        let mut seconds = (active.end.min(end) - active.start).max(0.0);
        if scene.has_a_way_out() {
            let fall = (2.0 * longest / gravity.max(f64::MIN_POSITIVE)).sqrt();
            seconds = seconds.min(fall.max(longest / emitter.speed()));
        }
        cross_section(&emitter.shape, emitter.velocity) * emitter.speed() * seconds
    });
    rates.sum()
}

/// Area of the shadow that the box around a shape throws along a direction.
fn cross_section<const D: usize>(shape: &Shape<D>, along: [f64; D]) -> f64 {
    let Some(bounds) = shape.bounds().filter(|b| b.is_finite() && !b.is_empty()) else {
        return 0.0;
    };
    let size: [f64; D] = from_fn(|axis| bounds.high[axis] - bounds.low[axis]);
    let length = along.iter().map(|a| a * a).sum::<f64>().sqrt();
    (0..D)
        .map(|axis| {
            let face: f64 = (0..D).filter(|&a| a != axis).map(|a| size[a]).product();
            face * along[axis].abs() / length
        })
        .sum()
}

/// The highest place, above the floor of the domain, from which liquid can fall.
pub fn highest_liquid<const D: usize>(scene: &Scene<D>) -> f64 {
    let top = scene.domain[D - 1];
    let shapes = scene.liquids.iter().map(|v| &v.shape);
    let emitters = scene.emitters.iter().map(|e| &e.shape);
    shapes
        .chain(emitters)
        .map(|shape| shape.bounds().map_or(top, |b| b.high[D - 1]).min(top))
        .fold(0.0, f64::max)
}

/// Points in the part of the domain that a shape may be in.
struct Lattice<const D: usize> {
    low: [f64; D],
    spacing: [f64; D],
    /// Volume that a point stands for.
    share: f64,
}

impl<const D: usize> Lattice<D> {
    fn around(shape: &Shape<D>, domain: &[f64; D]) -> Option<Self> {
        let domain = Bounds {
            low: [0.0; D],
            high: *domain,
        };
        let bounds = shape.bounds().unwrap_or(domain).intersection(&domain);
        if bounds.is_empty() {
            return None;
        }
        let spacing: [f64; D] =
            from_fn(|axis| (bounds.high[axis] - bounds.low[axis]) / LATTICE as f64);
        Some(Lattice {
            low: bounds.low,
            spacing,
            share: spacing.iter().product(),
        })
    }

    /// A distance within which it may matter which side a point is on: only sides are asked for here.
    fn near(&self) -> f64 {
        0.5 * self.spacing.iter().copied().fold(0.0, f64::max)
    }

    fn points(&self) -> impl Iterator<Item = [f64; D]> + '_ {
        (0..LATTICE.pow(D as u32)).map(|index| {
            from_fn(|axis| {
                let step = index / LATTICE.pow(axis as u32) % LATTICE;
                self.low[axis] + (step as f64 + 0.5) * self.spacing[axis]
            })
        })
    }
}
