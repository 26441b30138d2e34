//! Thickness of solids, to decide whether a grid resolves them.

use crate::bounds::Bounds;
use crate::shape::Shape;
use crate::vector::{add_scaled, norm, sub};
use std::array::from_fn;

/// Points along a side of the lattice from which the surface is looked for.
const LATTICE: usize = 24;
/// Rays through the solid, at most so many.
const RAYS: usize = 512;
/// Share of the surface that may be thinner: near sharp edges and the rims of holes every solid is.
const EDGES: f64 = 0.2;
/// Newton steps to the surface.
const TO_SURFACE: usize = 8;
/// Steps through the solid.
const THROUGH: usize = 400;

impl<const D: usize> Shape<D> {
    /// The thickness of the thinnest part, sharp edges aside; `None` for what has no end or is all hollow.
    ///
    /// Exact for the simple solids. Where solids are cut out of each other it is looked for with rays from points all
    /// over the surface, and parts far smaller than the whole may be missed.
    pub fn thinnest(&self) -> Option<f64> {
        match self {
            Self::Sphere { radius, .. } | Self::Capsule { radius, .. } => Some(2.0 * radius),
            Self::Box { low, high } => (0..D)
                .map(|axis| high[axis] - low[axis])
                .min_by(f64::total_cmp),
            Self::Cylinder { from, to, radius } => Some(norm(sub(*to, *from)).min(2.0 * radius)),
            Self::Cone {
                from,
                to,
                radius_from,
                radius_to,
            } => Some(norm(sub(*to, *from)).min(2.0 * radius_from.max(*radius_to))),
            Self::Torus { minor, .. } => Some(2.0 * minor),
            Self::HalfSpace { .. } | Self::Inverted(_) => None,
            Self::Union(parts) => parts
                .iter()
                .filter_map(Self::thinnest)
                .min_by(f64::total_cmp),
            Self::Shell { thickness, .. } => Some(*thickness),
            Self::Rounded { shape, radius } => Some(shape.thinnest()? + 2.0 * radius),
            Self::Placed { shape, .. } => shape.thinnest(),
            Self::Intersection(_) | Self::Difference(..) | Self::Mesh(_) => self.thinnest_by_rays(),
        }
    }

    /// A thickness that the solid has everywhere, sharp edges and corners included: whoever goes from the nearest point
    /// of the surface straight in is still inside after that distance. Zero where nothing is known without looking.
    pub fn least_thickness(&self) -> f64 {
        match self {
            Self::Sphere { .. }
            | Self::Box { .. }
            | Self::Capsule { .. }
            | Self::Cylinder { .. }
            | Self::Torus { .. } => self.thinnest().unwrap_or(0.0),
            Self::HalfSpace { .. } => f64::INFINITY,
            Self::Inverted(hollow) => match &**hollow {
                Self::Inverted(same) => same.least_thickness(),
                hollow if hollow.is_convex() => f64::INFINITY,
                _ => 0.0,
            },
            // The nearest part is as thick as it is by itself, or thicker.
            Self::Union(parts) => parts
                .iter()
                .map(Self::least_thickness)
                .fold(f64::INFINITY, f64::min),
            Self::Shell { shape, thickness } if shape.is_simple_and_convex() => *thickness,
            Self::Rounded { shape, radius } if *radius >= 0.0 => shape.least_thickness(),
            Self::Placed { shape, .. } => shape.least_thickness(),
            Self::Cone { .. }
            | Self::Mesh(_)
            | Self::Intersection(_)
            | Self::Difference(..)
            | Self::Shell { .. }
            | Self::Rounded { .. } => 0.0,
        }
    }

    /// Whether the solid is known to be convex: whoever leaves it straight out never comes back.
    fn is_convex(&self) -> bool {
        match self {
            Self::Intersection(parts) => parts.iter().all(Self::is_convex),
            Self::Rounded { shape, radius } => *radius >= 0.0 && shape.is_convex(),
            Self::Placed { shape, .. } => shape.is_convex(),
            _ => self.is_simple_and_convex(),
        }
    }

    /// Whether it is a convex solid of which the exact distance is known.
    fn is_simple_and_convex(&self) -> bool {
        match self {
            Self::Sphere { .. }
            | Self::Box { .. }
            | Self::Capsule { .. }
            | Self::Cylinder { .. }
            | Self::Cone { .. }
            | Self::HalfSpace { .. } => true,
            Self::Placed { shape, .. } => shape.is_simple_and_convex(),
            _ => false,
        }
    }

    /// The thickness that all but a small share of the surface exceeds.
    fn thinnest_by_rays(&self) -> Option<f64> {
        let bounds = self.bounds().filter(Bounds::is_finite)?;
        let size: [f64; D] = from_fn(|axis| bounds.high[axis] - bounds.low[axis]);
        let longest = size.iter().copied().fold(0.0, f64::max);
        if longest <= 0.0 {
            return None;
        }
        let spacing = size.map(|side| side / LATTICE as f64);
        let near = spacing.iter().copied().fold(0.0, f64::max);
        let at_surface: Vec<[f64; D]> = (0..LATTICE.pow(D as u32))
            .filter_map(|index| {
                let x = from_fn(|axis| {
                    let step = index / LATTICE.pow(axis as u32) % LATTICE;
                    bounds.low[axis] + (step as f64 + 0.5) * spacing[axis]
                });
                (self.distance_within(x, near).abs() <= near).then_some(x)
            })
            .collect();
        let mut found: Vec<f64> = at_surface
            .iter()
            .step_by(at_surface.len().div_ceil(RAYS).max(1))
            .filter_map(|&x| self.thickness_near(x, longest))
            .collect();
        if found.is_empty() {
            return None;
        }
        found.sort_by(f64::total_cmp);
        found.get((EDGES * found.len() as f64) as usize).copied()
    }

    /// How far a ray goes through the solid that enters it at the surface near `x`.
    fn thickness_near(&self, mut x: [f64; D], longest: f64) -> Option<f64> {
        let surface = 1e-6 * longest;
        for _ in 0..TO_SURFACE {
            let distance = self.distance(x);
            if distance.abs() < surface {
                break;
            }
            x = add_scaled(x, -distance, self.gradient(x));
        }
        if self.distance(x).abs() >= surface {
            return None;
        }
        // Into the solid, seen from outside: at an edge of two parts the normal inside may be the other one's.
        let normal = self.gradient(add_scaled(x, 10.0 * surface, self.gradient(x)));
        let distance_after = |gone: f64| self.distance(add_scaled(x, -gone, normal));
        let mut gone = 10.0 * surface;
        let mut inside = 0.0;
        for _ in 0..THROUGH {
            let distance = distance_after(gone);
            if distance >= 0.0 {
                // One that leaves at once came in along an edge.
                return (gone > 20.0 * surface)
                    .then(|| exit(distance_after, inside, gone, surface));
            }
            if gone > longest {
                return Some(gone);
            }
            inside = gone;
            gone += (-distance).max(2e-3 * longest).min(longest);
        }
        Some(gone)
    }
}

/// Where a ray leaves a solid, between a point inside and one outside, by bisection.
fn exit(distance_after: impl Fn(f64) -> f64, inside: f64, outside: f64, tolerance: f64) -> f64 {
    let (mut inside, mut outside) = (inside, outside);
    while outside - inside > tolerance {
        let middle = 0.5 * (inside + outside);
        if distance_after(middle) < 0.0 {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    outside
}
