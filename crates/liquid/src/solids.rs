//! What the liquid knows of solids: a signed distance and a velocity at a point.

use meniscus_shapes::{Bounds, PosedScenery, Scenery};

/// Solids that may move, as the liquid sees them.
pub trait Solids<const D: usize>: Sync {
    /// The solids during one step.
    type Posed<'a>: PosedSolids<D>
    where
        Self: 'a;

    /// Distances at time `t`, velocities as the mean from `t` to `t + dt`.
    fn during(&self, t: f64, dt: f64) -> Self::Posed<'_>;

    /// Bound on the speed of solids inside the box from `low` to `high` between `t` and `t + dt`.
    fn max_speed(&self, t: f64, dt: f64, low: [f64; D], high: [f64; D]) -> f64;
}

/// Solids during one step. Distances are negative inside.
pub trait PosedSolids<const D: usize>: Sync {
    /// Signed distance at `x`, or a lower bound of its magnitude; infinite where there is no solid at all.
    fn distance(&self, x: [f64; D]) -> f64;

    /// The same within `band` of the surface; farther away a magnitude between `band` and that may do, if it is cheaper.
    fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        let _ = band;
        self.distance(x)
    }

    /// Whether `x` is inside a solid.
    fn is_inside(&self, x: [f64; D]) -> bool {
        self.distance(x) < 0.0
    }

    /// Unit normal out of the nearest solid.
    fn normal(&self, x: [f64; D]) -> [f64; D];

    /// Velocity of the nearest solid's material point at `x`.
    fn velocity(&self, x: [f64; D]) -> [f64; D];
}

impl<const D: usize> Solids<D> for Scenery<D> {
    type Posed<'a> = PosedScenery<'a, D>;

    fn during(&self, t: f64, dt: f64) -> PosedScenery<'_, D> {
        Scenery::during(self, t, dt)
    }

    fn max_speed(&self, t: f64, dt: f64, low: [f64; D], high: [f64; D]) -> f64 {
        Scenery::max_speed(self, t, dt, &Bounds { low, high })
    }
}

impl<const D: usize> PosedSolids<D> for PosedScenery<'_, D> {
    fn distance(&self, x: [f64; D]) -> f64 {
        PosedScenery::distance(self, x)
    }

    fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        PosedScenery::distance_within(self, x, band)
    }

    fn normal(&self, x: [f64; D]) -> [f64; D] {
        PosedScenery::normal(self, x).unwrap_or([0.0; D])
    }

    fn velocity(&self, x: [f64; D]) -> [f64; D] {
        PosedScenery::velocity(self, x)
    }
}
