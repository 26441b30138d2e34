//! Solids as the liquid sees them: a signed distance, a normal, and the velocity of a material point.
//!
//! Both traits are object-safe: the liquid is compiled once, whatever its solids are.

use meniscus_shapes::{Bounds, PosedSolids, Solids};

/// One solid of a [`SolidField`]; solids are numbered from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SolidId(pub u32);

/// Solids that may move.
pub trait SolidMotion<const D: usize>: Sync {
    /// The solids over one step: distances at time `t`, velocities as the mean from `t` to `t + dt`.
    fn over_step(&self, t: f64, dt: f64) -> Box<dyn SolidField<D> + '_>;

    /// Bound on the speed of solids inside the box from `low` to `high` between `t` and `t + dt`.
    fn max_speed(&self, t: f64, dt: f64, low: [f64; D], high: [f64; D]) -> f64;
}

/// Solids at one instant. Distances are negative inside.
pub trait SolidField<const D: usize>: Send + Sync {
    /// Number of solids.
    fn count(&self) -> usize;

    /// Distances at many points, exact within `band` of a surface as in [`distance_within`](Self::distance_within), and
    /// the closest solid of each point. Without solids the distance is infinite and the owner is not changed.
    fn sample(&self, points: &[[f64; D]], band: f64, distance: &mut [f64], owner: &mut [SolidId]);

    /// Signed distance at `x`, or a lower bound of its magnitude; infinite without solids.
    fn distance(&self, x: [f64; D]) -> f64;

    /// Signed distance to one solid. It must not change faster than the position (be 1-Lipschitz).
    fn distance_to(&self, solid: SolidId, x: [f64; D]) -> f64;

    /// The same within `band` of the surface; farther away any magnitude between `band` and the exact one.
    fn distance_to_within(&self, solid: SolidId, x: [f64; D], band: f64) -> f64 {
        let _ = band;
        self.distance_to(solid, x)
    }

    /// Signed distance within `band` of the surface; farther away any magnitude between `band` and the exact one.
    fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        let _ = band;
        self.distance(x)
    }

    /// Radius of a ball around `x` that no solid enters; negative if `x` itself is inside a solid. Close to a solid it
    /// may be zero, if that is cheaper.
    fn clearance(&self, x: [f64; D]) -> f64 {
        self.distance(x)
    }

    /// Lower bound of the thickness of a solid's walls; zero if nothing is known.
    fn least_thickness(&self, solid: SolidId) -> f64 {
        let _ = solid;
        0.0
    }

    /// Whether the open shares of faces follow curved surfaces and edges between the corners of a face: what solids that the
    /// liquid moves need, for the force on them to be that of the volume they displace. Otherwise they are linear.
    fn has_curved_faces(&self) -> bool {
        false
    }

    /// Distance in cells up to which a face is closed if all of its corners are that close to a solid: bodies that touch rest with
    /// a gap, and a face in it would be open to nothing.
    fn contact_gap(&self) -> f64 {
        0.0
    }

    /// The solid closest to `x`.
    fn closest(&self, x: [f64; D]) -> Option<SolidId>;

    /// Unit normal out of the closest solid; zero without solids.
    fn normal(&self, x: [f64; D]) -> [f64; D];

    /// Velocity of a solid's material point at `x`.
    fn velocity(&self, solid: SolidId, x: [f64; D]) -> [f64; D];
}

impl<const D: usize> SolidMotion<D> for Solids<D> {
    fn over_step(&self, t: f64, dt: f64) -> Box<dyn SolidField<D> + '_> {
        Box::new(self.over_step(t, dt))
    }

    fn max_speed(&self, t: f64, dt: f64, low: [f64; D], high: [f64; D]) -> f64 {
        Solids::max_speed(self, t, dt, &Bounds { low, high })
    }
}

impl<const D: usize> SolidField<D> for PosedSolids<'_, D> {
    fn count(&self) -> usize {
        self.len()
    }

    fn sample(&self, points: &[[f64; D]], band: f64, distance: &mut [f64], owner: &mut [SolidId]) {
        PosedSolids::sample(self, points, band, distance, |point, body| {
            owner[point] = SolidId(body as u32);
        });
    }

    fn distance(&self, x: [f64; D]) -> f64 {
        PosedSolids::distance(self, x)
    }

    fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        PosedSolids::distance_within(self, x, band)
    }

    fn distance_to(&self, solid: SolidId, x: [f64; D]) -> f64 {
        self.solid(solid.0 as usize).distance(x)
    }

    fn distance_to_within(&self, solid: SolidId, x: [f64; D], band: f64) -> f64 {
        self.solid(solid.0 as usize).distance_within(x, band)
    }

    fn least_thickness(&self, solid: SolidId) -> f64 {
        self.least_thickness_of(solid.0 as usize)
    }

    fn closest(&self, x: [f64; D]) -> Option<SolidId> {
        PosedSolids::closest(self, x).map(|(body, _)| SolidId(body as u32))
    }

    fn normal(&self, x: [f64; D]) -> [f64; D] {
        PosedSolids::normal(self, x).unwrap_or([0.0; D])
    }

    fn velocity(&self, solid: SolidId, x: [f64; D]) -> [f64; D] {
        self.velocity_of(solid.0 as usize, x)
    }
}
