//! Volumes of a scene before the simulation, by sampling on lattices.

use super::{Emitter, Scene, Volume};
use meniscus_shapes::{Bounds, Shape};
use std::array::from_fn;

/// Points along a side of a lattice.
const LATTICE: usize = 32;

/// Rays along a side on which the area of an emitter is measured, and points on each.
const RAYS: usize = 32;

/// Parts of a volume of liquid that overlaps solids, in m³ (m² in 2D).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carved {
    /// Inside the domain.
    pub whole: f64,
    /// Outside all solids.
    pub inside: f64,
    /// Inside bounded solids, which are not the container.
    pub to_bounded: f64,
}

/// The parts of each volume of liquid.
pub fn lost_to_solids<const D: usize>(scene: &Scene<D>) -> Vec<Carved> {
    let solids = scene.solids_and_walls();
    let posed = solids.over_step(0.0, 0.0);
    // Bodies are meant to displace liquid.
    let is_solid = |index: usize| index < scene.solids.len();
    let bounded: Vec<bool> = (solids.list.iter().enumerate())
        .map(|(index, body)| is_solid(index) && body.shape.bounds().is_some())
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

/// Volume of the liquid at the start, outside solids; where two overlap it counts once.
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
    let solids = scene.solids_and_walls();
    let posed = solids.over_step(0.0, 0.0);
    let near = lattice.near();
    let liquid = lattice
        .points()
        .filter(|&x| whole.distance_within(x, near) < 0.0 && posed.distance_within(x, near) > 0.0);
    liquid.count() as f64 * lattice.share
}

/// Points of the liquid at the start, outside solids, on a lattice.
pub fn liquid_points<const D: usize>(scene: &Scene<D>) -> Vec<[f64; D]> {
    let of_volume = |volume: &Volume<D>| points_of(scene, &volume.shape);
    scene.liquids.iter().flat_map(of_volume).collect()
}

/// Points of a shape in the domain, outside solids, on a lattice.
pub fn points_of<const D: usize>(scene: &Scene<D>, shape: &Shape<D>) -> Vec<[f64; D]> {
    let Some(lattice) = Lattice::around(shape, &scene.domain) else {
        return Vec::new();
    };
    let solids = scene.solids_and_walls();
    let posed = solids.over_step(0.0, 0.0);
    let near = lattice.near();
    let free = |x: &[f64; D]| {
        shape.distance_within(*x, near) < 0.0 && posed.distance_within(*x, near) > 0.0
    };
    lattice.points().filter(free).collect()
}

/// Share of a shape's part in the domain that is inside solids at a time; `None` if it is outside the domain.
pub fn share_in_solids<const D: usize>(
    scene: &Scene<D>,
    shape: &Shape<D>,
    time: f64,
) -> Option<f64> {
    let lattice = Lattice::around(shape, &scene.domain)?;
    let solids = scene.solids_and_walls();
    let posed = solids.over_step(time, 0.0);
    let near = lattice.near();
    let inside = |x: &[f64; D]| shape.distance_within(*x, near) < 0.0;
    let (mut all, mut solid) = (0, 0);
    for x in lattice.points().filter(inside) {
        all += 1;
        solid += usize::from(posed.distance_within(x, near) <= 0.0);
    }
    (all > 0).then(|| f64::from(solid as u32) / f64::from(all))
}

/// Flow rate of an emitter while it is active: the area of the shape as seen along the velocity, without parts inside
/// solids or outside the domain, times the speed.
pub fn emission_rate<const D: usize>(scene: &Scene<D>, emitter: &Emitter<D>) -> f64 {
    let Some(bounds) = emitter
        .shape
        .bounds()
        .filter(|b| b.is_finite() && !b.is_empty())
    else {
        return 0.0;
    };
    let middle: [f64; D] = from_fn(|a| 0.5 * (bounds.low[a] + bounds.high[a]));
    let reach = bounds.farthest(middle);
    let speed = emitter.speed();
    let along = emitter.velocity.map(|v| v / speed);
    let across = across(along);
    let solids = scene.solids_and_walls();
    let posed = solids.over_step(emitter.frames.seconds(scene.frame_rate).start, 0.0);
    let spacing = 2.0 * reach / RAYS as f64;
    let offset = |k: usize| (k as f64 + 0.5) * spacing - reach;
    let emits = |x: [f64; D]| {
        (0..D).all(|a| (0.0..=scene.domain[a]).contains(&x[a]))
            && emitter.shape.distance_within(x, spacing) < 0.0
            && posed.distance_within(x, spacing) > 0.0
    };
    let rays = RAYS.pow(D as u32 - 1);
    let hits = (0..rays).filter(|ray| {
        (0..RAYS).any(|depth| {
            emits(from_fn(|a| {
                let sideways: f64 = (0..D - 1)
                    .map(|k| across[k][a] * offset(ray / RAYS.pow(k as u32) % RAYS))
                    .sum();
                middle[a] + along[a] * offset(depth) + sideways
            }))
        })
    });
    hits.count() as f64 * spacing.powi(D as i32 - 1) * speed
}

/// Unit vectors at right angles to a direction and to each other; one in 2D, two in 3D.
fn across<const D: usize>(along: [f64; D]) -> Vec<[f64; D]> {
    let mut found: Vec<[f64; D]> = vec![along];
    let mut axes: Vec<usize> = (0..D).collect();
    // Axes least parallel to the direction leave the longest remainder.
    axes.sort_by(|&a, &b| along[a].abs().total_cmp(&along[b].abs()));
    for axis in axes.into_iter().take(D - 1) {
        let mut vector: [f64; D] = from_fn(|a| if a == axis { 1.0 } else { 0.0 });
        for other in &found {
            let dot: f64 = (0..D).map(|a| vector[a] * other[a]).sum();
            vector = from_fn(|a| vector[a] - dot * other[a]);
        }
        let length = vector.iter().map(|c| c * c).sum::<f64>().sqrt();
        found.push(vector.map(|c| c / length));
    }
    found.split_off(1)
}

/// Greatest height above the floor of the domain from which liquid can fall.
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

    /// Band of distances that need not be exact beyond it: only signs are used here.
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
