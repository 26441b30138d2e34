//! All the solids of a scene together.

use crate::bounds::Bounds;
use crate::pose::Pose;
use crate::scripted_solid::{PosedSolid, ScriptedSolid, SolidError, sensible_step};
use crate::vector::{scale, sub};

/// The solids of a scene: what is solid is what is inside any of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solids<const D: usize> {
    /// In an order that decides which of two equally near solids is the closest: the first.
    pub list: Vec<ScriptedSolid<D>>,
}

impl<const D: usize> Solids<D> {
    /// These solids together.
    pub fn new(list: Vec<ScriptedSolid<D>>) -> Self {
        Self { list }
    }

    /// The solids over the step from `t` to `t + dt`, for asking about many points.
    pub fn over_step(&self, t: f64, dt: f64) -> PosedSolids<'_, D> {
        let dt = sensible_step(dt);
        PosedSolids {
            list: self
                .list
                .iter()
                .map(|solid| MovingSolid {
                    solid: solid.at(t),
                    carriage: solid.carriage(t, t + dt),
                    thickness: solid.shape.least_thickness(),
                })
                .collect(),
            dt,
        }
    }

    /// The signed distance to the closest solid; infinite if there is none. For many points at one
    /// time use [`over_step`](Self::over_step).
    pub fn distance(&self, x: [f64; D], t: f64) -> f64 {
        self.closest(x, t).map_or(f64::INFINITY, |(_, d)| d)
    }

    /// Which solid is the closest, and its signed distance.
    pub fn closest(&self, x: [f64; D], t: f64) -> Option<(usize, f64)> {
        closest(self.list.iter().map(|solid| solid.distance(x, t)))
    }

    /// The unit vector out of the closest solid.
    pub fn normal(&self, x: [f64; D], t: f64) -> Option<[f64; D]> {
        self.closest(x, t)
            .map(|(index, _)| self.list[index].normal(x, t))
    }

    /// The mean velocity over `dt` of the closest solid at `x`; zero if there is none.
    pub fn velocity(&self, x: [f64; D], t: f64, dt: f64) -> [f64; D] {
        match self.closest(x, t) {
            Some((index, _)) => self.list[index].velocity(x, t, dt),
            None => [0.0; D],
        }
    }

    /// Whether any solid ever changes its place.
    pub fn moves(&self) -> bool {
        self.list.iter().any(ScriptedSolid::moves)
    }

    /// An upper bound on the speed between `t` and `t + dt` of the points of all surfaces within
    /// `bounds`.
    pub fn max_speed(&self, t: f64, dt: f64, bounds: &Bounds<D>) -> f64 {
        self.list
            .iter()
            .map(|solid| solid.max_speed(t, dt, bounds))
            .fold(0.0, f64::max)
    }

    /// Checks that all values of every solid are in range.
    pub fn validate(&self) -> Result<(), SolidError> {
        self.list.iter().try_for_each(ScriptedSolid::validate)
    }
}

/// The solids over one step: every pose computed once.
#[derive(Clone, Debug)]
pub struct PosedSolids<'a, const D: usize> {
    list: Vec<MovingSolid<'a, D>>,
    dt: f64,
}

#[derive(Clone, Debug)]
struct MovingSolid<'a, const D: usize> {
    solid: PosedSolid<'a, D>,
    carriage: Option<Pose<D>>,
    /// Which it has everywhere.
    thickness: f64,
}

impl<'a, const D: usize> PosedSolids<'a, D> {
    /// How many solids there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no solids.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One solid at the start of the step.
    pub fn solid(&self, index: usize) -> &PosedSolid<'a, D> {
        &self.list[index].solid
    }

    /// The signed distance to the closest solid at the start of the step; infinite if there is none.
    pub fn distance(&self, x: [f64; D]) -> f64 {
        let mut least = f64::INFINITY;
        for moving in &self.list {
            least = least.min(moving.solid.distance(x));
        }
        least
    }

    /// The same within `band` of a surface, or a safe distance; see [`Shape::distance_within`](crate::Shape::distance_within).
    pub fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        let mut least = f64::INFINITY;
        for moving in &self.list {
            least = least.min(moving.solid.distance_within(x, band));
        }
        least
    }

    /// Which solid is the closest at the start of the step, and its signed distance.
    pub fn closest(&self, x: [f64; D]) -> Option<(usize, f64)> {
        closest(self.list.iter().map(|moving| moving.solid.distance(x)))
    }

    /// The unit vector out of the closest solid at the start of the step.
    pub fn normal(&self, x: [f64; D]) -> Option<[f64; D]> {
        self.closest(x)
            .map(|(index, _)| self.list[index].solid.normal(x))
    }

    /// Signed distances at many points, exact within `band` as in [`distance_within`](Self::distance_within);
    /// infinite if there is no solid. `closest` is called with a point and a solid whenever the solid is closer than those
    /// before it, so that the last call for a point names its closest solid.
    pub fn sample(
        &self,
        points: &[[f64; D]],
        band: f64,
        distance: &mut [f64],
        mut closest: impl FnMut(usize, usize),
    ) {
        distance.fill(f64::INFINITY);
        for (solid, moving) in self.list.iter().enumerate() {
            for (point, (&x, least)) in points.iter().zip(distance.iter_mut()).enumerate() {
                let here = moving.solid.distance_within(x, band);
                if here < *least {
                    *least = here;
                    closest(point, solid);
                }
            }
        }
    }

    /// A thickness that one solid has everywhere; see [`Shape::least_thickness`](crate::Shape::least_thickness).
    pub fn least_thickness_of(&self, index: usize) -> f64 {
        self.list[index].thickness
    }

    /// The velocity of the closest solid at `x`, the mean over the step; zero if there is none.
    pub fn velocity(&self, x: [f64; D]) -> [f64; D] {
        match self.closest(x) {
            Some((index, _)) => self.velocity_of(index, x),
            None => [0.0; D],
        }
    }

    /// The velocity of one solid's point at `x`, the mean over the step.
    pub fn velocity_of(&self, index: usize, x: [f64; D]) -> [f64; D] {
        match &self.list[index].carriage {
            Some(carriage) => scale(sub(carriage.apply(x), x), 1.0 / self.dt),
            None => [0.0; D],
        }
    }

    /// Where one solid's point at `x` is at the end of the step.
    pub fn carried_by(&self, index: usize, x: [f64; D]) -> [f64; D] {
        match &self.list[index].carriage {
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
