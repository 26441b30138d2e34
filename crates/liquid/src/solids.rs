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

    /// A distance within which no point is inside a solid; negative if `x` itself is inside. It may be zero close to a
    /// solid, if that is cheaper.
    fn clearance(&self, x: [f64; D]) -> f64 {
        self.distance(x)
    }

    /// A thickness that all walls are known to have everywhere; zero if nothing is known.
    fn least_thickness(&self) -> f64 {
        0.0
    }

    /// A thickness that the solid nearest to `x` is known to have everywhere; zero if nothing is known.
    fn least_thickness_near(&self, x: [f64; D]) -> f64 {
        let _ = x;
        self.least_thickness()
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

    fn least_thickness(&self) -> f64 {
        PosedScenery::least_thickness(self)
    }

    fn least_thickness_near(&self, x: [f64; D]) -> f64 {
        PosedScenery::least_thickness_near(self, x)
    }

    fn normal(&self, x: [f64; D]) -> [f64; D] {
        PosedScenery::normal(self, x).unwrap_or([0.0; D])
    }

    fn velocity(&self, x: [f64; D]) -> [f64; D] {
        PosedScenery::velocity(self, x)
    }
}
