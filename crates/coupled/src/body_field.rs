//! Bodies as the solids of a liquid.

use std::sync::{Arc, OnceLock};

use meniscus_liquid::{SolidField, SolidId, SolidMotion};
use meniscus_rigid::{Bodies, Drive, Twist};
use meniscus_shapes::{Bounds, Pose, Rotation, Shape};

/// Shape of a body, with what is known about it.
#[derive(Clone, Debug)]
struct BodyShape<const D: usize> {
    shape: Shape<D>,
    bounds: Option<Bounds<D>>,
    /// Which it has everywhere.
    thickness: f64,
}

/// Shapes of all bodies, shared by all steps.
#[derive(Clone, Debug, Default)]
pub struct BodyShapes<const D: usize>(Arc<Vec<BodyShape<D>>>);

impl<const D: usize> BodyShapes<D> {
    /// Shapes of the bodies of a simulation.
    pub fn new(bodies: &Bodies<D>) -> Self {
        let of = |index: usize| {
            let shape = bodies.body(index).shape.clone();
            BodyShape {
                bounds: shape.bounds(),
                thickness: shape.least_thickness(),
                shape,
            }
        };
        Self(Arc::new((0..bodies.len()).map(of).collect()))
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Thickness that a body has everywhere.
    pub fn thickness(&self, body: usize) -> f64 {
        self.0[body].thickness
    }

    /// Largest distance of a point of the body from `center`, both in the frame of the body; infinite without bounds.
    pub(crate) fn reach(&self, body: usize, center: [f64; D]) -> f64 {
        match &self.0[body].bounds {
            Some(bounds) => bounds.farthest(center),
            None => f64::INFINITY,
        }
    }
}

/// Gap of bodies that touch, in cells, as the liquid sees it: a little more than the one they rest with.
const CONTACT_GAP: f64 = 0.03;
/// Bodies that are few enough to be looked at in any order.
const FEW: usize = 4;

/// Motion of a body over a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPath<const D: usize> {
    /// Pose at the end of the step.
    pub end: Pose<D>,
    /// Velocity during the step, about the centre of mass at its start.
    pub twist: Twist<D>,
}

#[derive(Clone, Copy, Debug)]
struct Start<const D: usize> {
    pose: Pose<D>,
    center: [f64; D],
    local_center: [f64; D],
    removed: bool,
    free: bool,
    /// Velocity, with what gravity adds to it in the step.
    speed: Twist<D>,
    /// Of bodies that are not free.
    path: Option<BodyPath<D>>,
}

/// Bodies over one step, as solids. Free ones stand still until [`set_paths`](Self::set_paths) says how they move.
#[derive(Clone, Debug)]
pub struct BodyMotion<const D: usize> {
    shapes: BodyShapes<D>,
    start: Vec<Start<D>>,
    time: f64,
    dt: f64,
    moved: OnceLock<Vec<BodyPath<D>>>,
}

impl<const D: usize> BodyMotion<D> {
    /// The bodies as they are, for a step of `dt` seconds from `time` on.
    pub fn new(shapes: &BodyShapes<D>, bodies: &Bodies<D>, time: f64, dt: f64) -> Self {
        let of = |index: usize| {
            let (body, pose) = (bodies.body(index), bodies.pose(index));
            let local_center = body.mass.map_or([0.0; D], |mass| mass.center);
            let free = bodies.is_free(index);
            let path = match &body.drive {
                _ if free || bodies.is_removed(index) => None,
                Drive::Scripted(motion) => {
                    let end = motion.world_from_body(time + dt);
                    let twist = mean_twist(&pose, &end, local_center, dt);
                    Some(BodyPath { end, twist })
                }
                _ => None,
            };
            let mut speed = path.map_or(bodies.twist(index), |path| path.twist);
            if free {
                let fall = bodies.settings().gravity.map(|g| g * dt);
                let size = |v: [f64; D]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
                // Larger than the velocity of a body that falls on.
                let faster = size(speed.linear) + size(fall);
                speed.linear = std::array::from_fn(|a| if a == 0 { faster } else { 0.0 });
            }
            Start {
                pose,
                center: pose.apply(local_center),
                local_center,
                removed: bodies.is_removed(index),
                free,
                speed,
                path,
            }
        };
        Self {
            shapes: shapes.clone(),
            start: (0..shapes.len()).map(of).collect(),
            time,
            dt,
            moved: OnceLock::new(),
        }
    }

    /// Says how the bodies move in the step. Once only.
    pub fn set_paths(&self, paths: Vec<BodyPath<D>>) {
        // A second call would be for the same step, and is ignored.
        let _ = self.moved.set(paths);
    }

    fn path(&self, body: usize) -> Option<&BodyPath<D>> {
        match self.moved.get() {
            Some(moved) if self.start[body].free => moved.get(body),
            _ => self.start[body].path.as_ref(),
        }
    }

    /// Pose at a time of the step.
    fn pose(&self, body: usize, time: f64) -> Pose<D> {
        let start = &self.start[body];
        let Some(path) = self.path(body) else {
            return start.pose;
        };
        let share = (time - self.time) / self.dt;
        if share.is_nan() || share <= 0.0 {
            return start.pose;
        }
        if share > 1.0 - 1e-9 {
            return path.end;
        }
        let turn = path.end.rotation.compose(&start.pose.rotation.inverse());
        let generator = turn.log().map(|row| row.map(|g| g * share));
        let rotation = Rotation::exp(&generator).compose(&start.pose.rotation);
        let end = path.end.apply(start.local_center);
        let center: [f64; D] =
            std::array::from_fn(|a| start.center[a] + share * (end[a] - start.center[a]));
        let arm = rotation.apply(start.local_center);
        Pose {
            rotation,
            translation: std::array::from_fn(|a| center[a] - arm[a]),
        }
    }

    /// Bound on the speed of a body's points within a box.
    fn speed(&self, body: usize, around: &Bounds<D>) -> f64 {
        let start = &self.start[body];
        if start.removed {
            return 0.0;
        }
        let twist = match self.path(body) {
            None if !start.free => return 0.0,
            None => start.speed,
            Some(path) => {
                // The correction of positions is part of the way.
                let end = path.end.apply(start.local_center);
                let way: [f64; D] =
                    std::array::from_fn(|a| (end[a] - start.center[a]) / self.dt.max(1e-12));
                let faster = norm(&way).max(norm(&path.twist.linear));
                Twist {
                    linear: std::array::from_fn(|a| if a == 0 { faster } else { 0.0 }),
                    ..path.twist
                }
            }
        };
        let turning = norm(&twist.angular);
        let reach = match turning > 0.0 {
            true => self
                .shapes
                .reach(body, start.local_center)
                .min(around.farthest(start.center)),
            false => 0.0,
        };
        norm(&twist.linear) + turning * reach
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|c| c * c).sum::<f64>().sqrt()
}

/// Velocity that leads from one pose to another.
fn mean_twist<const D: usize>(from: &Pose<D>, to: &Pose<D>, center: [f64; D], dt: f64) -> Twist<D> {
    if dt.is_nan() || dt <= 0.0 {
        return Twist::ZERO;
    }
    let (x, y) = (from.apply(center), to.apply(center));
    let turn = to.rotation.compose(&from.rotation.inverse()).log();
    let angular = match D {
        2 => [0.0, 0.0, turn[1][0]],
        _ => [turn[2][1], turn[0][2], turn[1][0]],
    };
    Twist {
        linear: std::array::from_fn(|a| (y[a] - x[a]) / dt),
        angular: angular.map(|w| w / dt),
    }
}

impl<const D: usize> SolidMotion<D> for BodyMotion<D> {
    fn over_step(&self, t: f64, _: f64) -> Box<dyn SolidField<D> + '_> {
        let posed = |body: usize| {
            let pose = self.pose(body, t);
            Posed {
                bounds: (self.shapes.0[body].bounds.as_ref()).map(|bounds| bounds.placed(&pose)),
                pose,
                removed: self.start[body].removed,
            }
        };
        let posed: Vec<Posed<D>> = (0..self.start.len()).map(posed).collect();
        let mut order: Vec<usize> = (0..posed.len()).collect();
        order.sort_by_key(|&body| posed[body].bounds.is_some());
        Box::new(BodyField {
            motion: self,
            posed,
            order,
        })
    }

    fn max_speed(&self, _: f64, _: f64, low: [f64; D], high: [f64; D]) -> f64 {
        let around = Bounds { low, high };
        let speeds = (0..self.start.len()).map(|body| self.speed(body, &around));
        speeds.fold(0.0, f64::max)
    }
}

struct Posed<const D: usize> {
    pose: Pose<D>,
    bounds: Option<Bounds<D>>,
    removed: bool,
}

/// Bodies at one instant of a step.
struct BodyField<'a, const D: usize> {
    motion: &'a BodyMotion<D>,
    posed: Vec<Posed<D>>,
    /// Bodies in the order in which they are looked at: those without bounds first.
    order: Vec<usize>,
}

impl<const D: usize> BodyField<'_, D> {
    /// No point of the body is nearer to the box than this; zero if nothing is known.
    fn least(&self, body: usize, low: &[f64; D], high: &[f64; D]) -> f64 {
        let Some(bounds) = &self.posed[body].bounds else {
            return 0.0;
        };
        let gap = |a: usize| {
            (bounds.low[a] - high[a])
                .max(low[a] - bounds.high[a])
                .max(0.0)
        };
        (0..D).map(|a| gap(a).powi(2)).sum::<f64>().sqrt()
    }

    fn own_distance(&self, body: usize, x: [f64; D], band: Option<f64>) -> f64 {
        let posed = &self.posed[body];
        if posed.removed {
            return f64::INFINITY;
        }
        // Outside of its bounds by the band the way to them will do, which takes no search.
        let away = match band {
            Some(band) => Some(self.least(body, &x, &x)).filter(|away| *away > band),
            None => None,
        };
        if let Some(away) = away {
            return away;
        }
        let (shape, x) = (
            &self.motion.shapes.0[body].shape,
            posed.pose.apply_inverse(x),
        );
        match band {
            Some(band) => shape.distance_within(x, band),
            None => shape.distance(x),
        }
    }

    /// The body whose bounds are the closest, of those that are not around the point.
    fn promising(&self, x: &[f64; D]) -> Option<usize> {
        let bounded = (0..self.posed.len()).filter(|&body| self.posed[body].bounds.is_some());
        let present = bounded.filter(|&body| !self.posed[body].removed);
        let outside = present.map(|body| (body, self.least(body, x, x)));
        let closest = outside.min_by(|a, b| a.1.total_cmp(&b.1));
        closest
            .filter(|closest| closest.1 > 0.0)
            .map(|closest| closest.0)
    }

    /// The closest body, and its distance; the first of them if several are equally close.
    fn nearest(&self, x: [f64; D], band: Option<f64>) -> (Option<usize>, f64) {
        let mut best: (Option<usize>, f64) = (None, f64::INFINITY);
        // The most promising one spares searches in the others. Those without bounds are mostly planes: cheap, and close to
        // most points.
        let first = self.promising(&x).filter(|_| self.posed.len() > FEW);
        let others = self.order.iter().filter(|&&body| Some(body) != first);
        for &body in first.iter().chain(others) {
            // Inside its bounds a body may be the deepest of all.
            let least = self.least(body, &x, &x);
            if self.posed[body].removed || (least > 0.0 && least > best.1) {
                continue;
            }
            // Farther than the best so far any distance up to the exact one will do.
            let enough = match least > 0.0 && best.1.is_finite() {
                // Slightly more, so that a farther body is not taken for an equally close one.
                true => Some(band.map_or(best.1.next_up(), |band| band.min(best.1.next_up()))),
                false => band,
            };
            let here = self.own_distance(body, x, enough);
            if here < best.1 || (here == best.1 && best.0.is_some_and(|other| body < other)) {
                best = (Some(body), here);
            }
        }
        best
    }
}

impl<const D: usize> SolidField<D> for BodyField<'_, D> {
    fn count(&self) -> usize {
        self.posed.len()
    }

    fn sample(&self, points: &[[f64; D]], band: f64, distance: &mut [f64], owner: &mut [SolidId]) {
        let (mut low, mut high) = ([f64::INFINITY; D], [f64::NEG_INFINITY; D]);
        for x in points {
            for a in 0..D {
                low[a] = low[a].min(x[a]);
                high[a] = high[a].max(x[a]);
            }
        }
        distance.fill(f64::INFINITY);
        for body in 0..self.posed.len() {
            if self.posed[body].removed {
                continue;
            }
            // Farther than the band any distance up to the exact one will do.
            let away = self.least(body, &low, &high);
            let far = (away > band).then_some(away);
            for ((&x, least), owner) in points.iter().zip(&mut *distance).zip(&mut *owner) {
                let here = far.unwrap_or_else(|| self.own_distance(body, x, Some(band)));
                if here < *least {
                    *least = here;
                    *owner = SolidId(body as u32);
                }
            }
        }
    }

    fn distance(&self, x: [f64; D]) -> f64 {
        self.nearest(x, None).1
    }

    fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        self.nearest(x, Some(band)).1
    }

    fn distance_to(&self, solid: SolidId, x: [f64; D]) -> f64 {
        self.own_distance(solid.0 as usize, x, None)
    }

    fn distance_to_within(&self, solid: SolidId, x: [f64; D], band: f64) -> f64 {
        self.own_distance(solid.0 as usize, x, Some(band))
    }

    fn least_thickness(&self, solid: SolidId) -> f64 {
        self.motion.shapes.thickness(solid.0 as usize)
    }

    fn has_curved_faces(&self) -> bool {
        true
    }

    fn contact_gap(&self) -> f64 {
        CONTACT_GAP
    }

    fn closest(&self, x: [f64; D]) -> Option<SolidId> {
        self.nearest(x, None).0.map(|body| SolidId(body as u32))
    }

    fn normal(&self, x: [f64; D]) -> [f64; D] {
        let Some(body) = self.nearest(x, None).0 else {
            return [0.0; D];
        };
        let pose = &self.posed[body].pose;
        let shape = &self.motion.shapes.0[body].shape;
        pose.rotation.apply(shape.gradient(pose.apply_inverse(x)))
    }

    fn velocity(&self, solid: SolidId, x: [f64; D]) -> [f64; D] {
        let body = solid.0 as usize;
        let start = &self.motion.start[body];
        match self.motion.path(body) {
            // The centre where it was at the start: as the pressure problem has it.
            Some(path) => path
                .twist
                .at(std::array::from_fn(|a| x[a] - start.center[a])),
            None => [0.0; D],
        }
    }
}
