//! All the bodies of a scene together.

use crate::body::{Body, BodyError, PosedBody, sensible_step};
use crate::bounds::Bounds;
use crate::pose::Pose;
use crate::vector::{scale, sub};

/// The bodies of a scene: what is solid is what is inside any of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenery<const D: usize> {
    /// In an order that decides which of two equally near bodies is the closest: the first.
    pub bodies: Vec<Body<D>>,
}

impl<const D: usize> Scenery<D> {
    /// These bodies together.
    pub fn new(bodies: Vec<Body<D>>) -> Self {
        Self { bodies }
    }

    /// The scenery during the step from `t` to `t + dt`, for asking about many points.
    pub fn during(&self, t: f64, dt: f64) -> PosedScenery<'_, D> {
        let dt = sensible_step(dt);
        PosedScenery {
            bodies: self
                .bodies
                .iter()
                .map(|body| MovingBody {
                    body: body.at(t),
                    carriage: body.carriage(t, t + dt),
                    thickness: body.shape.least_thickness(),
                })
                .collect(),
            dt,
        }
    }

    /// The signed distance to the closest body; infinite if there is none. For many points at one
    /// time use [`during`](Self::during).
    pub fn distance(&self, x: [f64; D], t: f64) -> f64 {
        self.closest(x, t).map_or(f64::INFINITY, |(_, d)| d)
    }

    /// Which body is the closest, and its signed distance.
    pub fn closest(&self, x: [f64; D], t: f64) -> Option<(usize, f64)> {
        closest(self.bodies.iter().map(|body| body.distance(x, t)))
    }

    /// The unit vector out of the closest body.
    pub fn normal(&self, x: [f64; D], t: f64) -> Option<[f64; D]> {
        self.closest(x, t)
            .map(|(index, _)| self.bodies[index].normal(x, t))
    }

    /// The mean velocity over `dt` of the closest body at `x`; zero if there is none.
    pub fn velocity(&self, x: [f64; D], t: f64, dt: f64) -> [f64; D] {
        match self.closest(x, t) {
            Some((index, _)) => self.bodies[index].velocity(x, t, dt),
            None => [0.0; D],
        }
    }

    /// Whether any body ever changes its place.
    pub fn moves(&self) -> bool {
        self.bodies.iter().any(Body::moves)
    }

    /// An upper bound on the speed between `t` and `t + dt` of the points of all surfaces within
    /// `bounds`.
    pub fn max_speed(&self, t: f64, dt: f64, bounds: &Bounds<D>) -> f64 {
        self.bodies
            .iter()
            .map(|body| body.max_speed(t, dt, bounds))
            .fold(0.0, f64::max)
    }

    /// Whether every body can be meant.
    pub fn validate(&self) -> Result<(), BodyError> {
        self.bodies.iter().try_for_each(Body::validate)
    }
}

/// The scenery during one step: every pose computed once.
#[derive(Clone, Debug)]
pub struct PosedScenery<'a, const D: usize> {
    bodies: Vec<MovingBody<'a, D>>,
    dt: f64,
}

#[derive(Clone, Debug)]
struct MovingBody<'a, const D: usize> {
    body: PosedBody<'a, D>,
    carriage: Option<Pose<D>>,
    /// Which it has everywhere.
    thickness: f64,
}

impl<'a, const D: usize> PosedScenery<'a, D> {
    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// One body at the start of the step.
    pub fn body(&self, index: usize) -> &PosedBody<'a, D> {
        &self.bodies[index].body
    }

    /// The signed distance to the closest body at the start of the step; infinite if there is none.
    pub fn distance(&self, x: [f64; D]) -> f64 {
        let mut least = f64::INFINITY;
        for moving in &self.bodies {
            least = least.min(moving.body.distance(x));
        }
        least
    }

    /// The same within `band` of a surface, or a safe distance; see [`Shape::distance_within`](crate::Shape::distance_within).
    pub fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        let mut least = f64::INFINITY;
        for moving in &self.bodies {
            least = least.min(moving.body.distance_within(x, band));
        }
        least
    }

    /// Which body is the closest at the start of the step, and its signed distance.
    pub fn closest(&self, x: [f64; D]) -> Option<(usize, f64)> {
        closest(self.bodies.iter().map(|moving| moving.body.distance(x)))
    }

    /// The unit vector out of the closest body at the start of the step.
    pub fn normal(&self, x: [f64; D]) -> Option<[f64; D]> {
        self.closest(x)
            .map(|(index, _)| self.bodies[index].body.normal(x))
    }

    /// Signed distances at many points, exact within `band` as in [`distance_within`](Self::distance_within);
    /// infinite if there is no body. `closest` is called with a point and a body whenever the body is closer than those
    /// before it, so that the last call for a point names its closest body.
    pub fn sample(
        &self,
        points: &[[f64; D]],
        band: f64,
        distance: &mut [f64],
        mut closest: impl FnMut(usize, usize),
    ) {
        distance.fill(f64::INFINITY);
        for (body, moving) in self.bodies.iter().enumerate() {
            for (point, (&x, least)) in points.iter().zip(distance.iter_mut()).enumerate() {
                let here = moving.body.distance_within(x, band);
                if here < *least {
                    *least = here;
                    closest(point, body);
                }
            }
        }
    }

    /// A thickness that one body has everywhere; see [`Shape::least_thickness`](crate::Shape::least_thickness).
    pub fn least_thickness_of(&self, index: usize) -> f64 {
        self.bodies[index].thickness
    }

    /// The velocity of the closest body at `x`, the mean over the step; zero if there is none.
    pub fn velocity(&self, x: [f64; D]) -> [f64; D] {
        match self.closest(x) {
            Some((index, _)) => self.velocity_of(index, x),
            None => [0.0; D],
        }
    }

    /// The velocity of one body's point at `x`, the mean over the step.
    pub fn velocity_of(&self, index: usize, x: [f64; D]) -> [f64; D] {
        match &self.bodies[index].carriage {
            Some(carriage) => scale(sub(carriage.apply(x), x), 1.0 / self.dt),
            None => [0.0; D],
        }
    }

    /// Where one body's point at `x` is at the end of the step.
    pub fn carried_by(&self, index: usize, x: [f64; D]) -> [f64; D] {
        match &self.bodies[index].carriage {
            Some(carriage) => carriage.apply(x),
            None => x,
        }
    }
}

/// The first of the least distances.
fn closest(distances: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    distances
        .enumerate()
        .reduce(|best, next| if next.1 < best.1 { next } else { best })
}
