//! Solids as the particles feel them: the share of their kernel that is solid, and a surface that they cannot cross.
//!
//! The share of a half-space is a function of the distance alone ([`HalfSpace`]). That of a shape follows from its
//! construction: parallel faces add, edges and unions multiply. It is exact at planes and, at the surface, at right-angled
//! edges; at curved surfaces the error is of the order of the support over the radius of curvature.
//!
//! The slope is another matter. Two particles push each other with the sum of their multipliers, `(l_i + l_j) G_ij`, and a wall
//! with that of the particle alone, `l_i g_i`, half as much: with the share of a half-space, particles would be pressed onto the
//! wall wherever there is pressure, which makes room for one more in twenty and lets them slide there for ever. So the share
//! has the value of the half-space where a lattice has its first layer, half a spacing away, and twice the
//! slope of the lattice behind it ([`HalfSpace::of_wall`]): uniform pressure then leaves the lattice where it is.

use meniscus_shapes::{Bounds, Pose, ScriptedSolid, Shape};

use crate::boundary::{SampledShapes, Samples};
use crate::kernel::HalfSpace;

/// Least distance of particles from surfaces, in spacings.
pub const CLEARANCE: f64 = 0.05;

/// Solids at one time.
pub struct Walls<'a, const D: usize> {
    /// Solids that scripts move, and then bodies that the liquid moves.
    solids: Vec<Wall<'a, D>>,
    /// Number of the former.
    scripted: usize,
    table: &'a HalfSpace,
    /// Distance by which solids are shrunk: with it, a lattice that begins half a spacing from a wall has the density of the
    /// lattice everywhere.
    shift: f64,
    clearance: f64,
    /// Distance within which solids matter.
    reach: f64,
}

struct Wall<'a, const D: usize> {
    shape: &'a Shape<D>,
    world_from_body: Option<Pose<D>>,
    /// Pose at the start of the step.
    world_from_body_before: Option<Pose<D>>,
    /// Outside of these, the solid does not matter; none for containers.
    bounds: Option<Bounds<D>>,
    /// Particles on its surface that stand for its share.
    samples: Option<&'a Samples<D>>,
}

impl<'a, const D: usize> Wall<'a, D> {
    /// A solid between two poses that matters within `reach`.
    fn new(
        shape: &'a Shape<D>,
        before: Option<Pose<D>>,
        after: Option<Pose<D>>,
        reach: f64,
    ) -> Self {
        let bounds = shape.bounds().map(|bounds| {
            let bounds = match &after {
                Some(pose) => bounds.placed(pose),
                None => bounds,
            };
            bounds.expanded(reach)
        });
        Self {
            shape,
            world_from_body: after,
            world_from_body_before: before,
            bounds,
            samples: None,
        }
    }
}

impl<const D: usize> Wall<'_, D> {
    fn local(&self, x: [f64; D]) -> [f64; D] {
        match &self.world_from_body {
            Some(pose) => pose.apply_inverse(x),
            None => x,
        }
    }

    fn turned(&self, direction: [f64; D]) -> [f64; D] {
        match &self.world_from_body {
            Some(pose) => pose.rotation.apply(direction),
            None => direction,
        }
    }
}

impl<'a, const D: usize> Walls<'a, D> {
    /// Solids at the time `time`, for particles at a distance of `spacing`.
    pub fn new(
        solids: &'a [ScriptedSolid<D>],
        time: f64,
        table: &'a HalfSpace,
        spacing: f64,
    ) -> Self {
        Self::over_step(solids, time..time, table, spacing)
    }

    /// Solids at the end of a step, which know where they were at its start.
    pub fn over_step(
        solids: &'a [ScriptedSolid<D>],
        step: std::ops::Range<f64>,
        table: &'a HalfSpace,
        spacing: f64,
    ) -> Self {
        let posed = |solid: &'a ScriptedSolid<D>| {
            let at = |time: f64| solid.moves().then(|| solid.motion.world_from_body(time));
            let reach = table.support() + spacing;
            Wall::new(&solid.shape, at(step.start), at(step.end), reach)
        };
        Self {
            solids: solids.iter().map(posed).collect(),
            scripted: solids.len(),
            reach: table.support() + spacing,
            table,
            shift: table.first_layer() - 0.5 * spacing,
            clearance: CLEARANCE * spacing,
        }
    }

    /// Adds a body that the liquid moves, between its poses at the start and at the end of the step.
    pub fn add_body(&mut self, shape: &'a Shape<D>, before: Pose<D>, after: Pose<D>) {
        let wall = Wall::new(shape, Some(before), Some(after), self.reach);
        self.solids.push(wall);
    }

    /// Moves a body to another pose at the end of the step.
    pub fn move_body(&mut self, body: usize, after: Pose<D>) {
        let wall = &mut self.solids[self.scripted + body];
        let samples = wall.samples;
        *wall = Wall::new(
            wall.shape,
            wall.world_from_body_before,
            Some(after),
            self.reach,
        );
        wall.samples = samples;
    }

    /// Lets the particles on the surfaces of solids and then of bodies stand for their shares.
    pub fn sample(&mut self, shapes: &'a SampledShapes<D>) {
        for (k, wall) in self.solids.iter_mut().enumerate() {
            wall.samples = shapes.get(k);
        }
    }

    /// Share of a solid at a place in its frame, its gradient there, and whether shares of its kind add.
    fn share_of_wall(&self, wall: &Wall<'_, D>, local: [f64; D]) -> (f64, [f64; D], bool) {
        match wall.samples {
            Some(samples) => {
                let (share, gradient) = samples.share(local);
                (share, gradient, true)
            }
            None => {
                let (share, gradient) = self.share_of(wall.shape, local, self.shift);
                (share, gradient, false)
            }
        }
    }

    /// Distance from a body if that is within `band`, else something larger.
    pub fn distance_from_body(&self, body: usize, x: [f64; D], band: f64) -> f64 {
        let wall = &self.solids[self.scripted + body];
        match wall.is_near(x) {
            true => wall.shape.distance_within(wall.local(x), band),
            false => f64::INFINITY,
        }
    }

    /// Gradient of the solid share around `x` by way of each body: its number, and the gradient by the position `x` with
    /// everything else at its place.
    pub fn share_of_bodies(&self, x: [f64; D], found: &mut Vec<(usize, [f64; D])>) {
        found.clear();
        let near = self
            .solids
            .iter()
            .enumerate()
            .filter(|(_, wall)| wall.is_near(x));
        let parts: Vec<(usize, f64, [f64; D], bool)> = near
            .map(|(number, wall)| {
                let (share, gradient, adds) = self.share_of_wall(wall, wall.local(x));
                (number, share, wall.turned(gradient), adds)
            })
            .collect();
        for (number, _, gradient, adds) in &parts {
            if *number >= self.scripted && gradient.iter().any(|g| *g != 0.0) {
                let others = parts
                    .iter()
                    .filter(|other| other.0 != *number && !adds && !other.3);
                let open: f64 = others.map(|other| 1.0 - other.1).product();
                found.push((number - self.scripted, gradient.map(|g| open * g)));
            }
        }
    }

    /// Signed distance to the closest solid if that is within `band`, else something larger; infinite without solids.
    pub fn distance_within(&self, x: [f64; D], band: f64) -> f64 {
        let near = self.solids.iter().filter(|wall| wall.is_near(x));
        near.map(|wall| wall.shape.distance_within(wall.local(x), band))
            .fold(f64::INFINITY, f64::min)
    }

    /// The closest solid if it is within `band`: its number, the signed distance, and the normal.
    pub fn closest(&self, x: [f64; D], band: f64) -> Option<(usize, f64, [f64; D])> {
        let mut closest: Option<(usize, f64)> = None;
        for (number, wall) in self.solids.iter().enumerate() {
            if wall.is_near(x) {
                let distance = wall.shape.distance_within(wall.local(x), band);
                if distance < band && closest.is_none_or(|(_, least)| distance < least) {
                    closest = Some((number, distance));
                }
            }
        }
        let (number, distance) = closest?;
        let wall = &self.solids[number];
        let normal = wall.turned(wall.shape.gradient(wall.local(x)));
        Some((number, distance, normal))
    }

    /// The number among the bodies that the liquid moves of a solid, if it is one.
    pub fn body_of(&self, solid: usize) -> Option<usize> {
        solid.checked_sub(self.scripted)
    }

    /// Where a solid carries the point `x` in the step.
    pub fn carried(&self, solid: usize, x: [f64; D]) -> [f64; D] {
        let wall = &self.solids[solid];
        match (&wall.world_from_body, &wall.world_from_body_before) {
            (Some(after), Some(before)) => after.apply(before.apply_inverse(x)),
            _ => x,
        }
    }

    /// Solid share of the kernel around `x`, and its gradient.
    pub fn share(&self, x: [f64; D]) -> (f64, [f64; D]) {
        let mut open = Product::one();
        let mut sum = (0.0, [0.0; D]);
        for wall in self.solids.iter().filter(|wall| wall.is_near(x)) {
            let (share, gradient, adds) = self.share_of_wall(wall, wall.local(x));
            let gradient = wall.turned(gradient);
            if adds {
                sum.0 += share;
                for axis in 0..D {
                    sum.1[axis] += gradient[axis];
                }
            } else {
                open.times(1.0 - share, gradient.map(|g| -g));
            }
        }
        let gradient = std::array::from_fn(|axis| sum.1[axis] - open.gradient[axis]);
        (sum.0 + 1.0 - open.value, gradient)
    }

    /// Moves a point that is inside a solid, or closer than the clearance, out of it along the normal; bodies that the liquid
    /// moves left out. Returns whether it was.
    pub fn push_out(&self, x: &mut [f64; D]) -> bool {
        let mut was_inside = false;
        self.push(&self.solids[..self.scripted], x, &mut |_, _| {
            was_inside = true
        });
        was_inside
    }

    /// The same for all solids. `pushed` gets the pushes of the bodies that the liquid moves, with their numbers.
    pub fn push_out_of_bodies(&self, x: &mut [f64; D], pushed: &mut dyn FnMut(usize, [f64; D])) {
        self.push(&self.solids, x, &mut |number, push| {
            if number >= self.scripted {
                pushed(number - self.scripted, push);
            }
        });
    }

    fn push(
        &self,
        solids: &[Wall<'_, D>],
        x: &mut [f64; D],
        pushed: &mut dyn FnMut(usize, [f64; D]),
    ) {
        // In a corner, a push out of one solid may end in another.
        for _ in 0..4 {
            let mut deepest: Option<(f64, usize)> = None;
            for (number, wall) in solids
                .iter()
                .enumerate()
                .filter(|(_, wall)| wall.is_near(*x))
            {
                let distance = wall
                    .shape
                    .distance_within(wall.local(*x), 2.0 * self.clearance);
                if distance < self.clearance && deepest.is_none_or(|(least, _)| distance < least) {
                    deepest = Some((distance, number));
                }
            }
            let Some((distance, number)) = deepest else {
                return;
            };
            let wall = &solids[number];
            let normal = wall.turned(wall.shape.gradient(wall.local(*x)));
            // A hair more, so that rounding does not repeat the push.
            let push = normal.map(|n| (self.clearance - distance) * (1.0 + 1e-6) * n);
            for axis in 0..D {
                x[axis] += push[axis];
            }
            pushed(number, push);
        }
    }

    /// Share behind a face at the signed distance `z` from it, and its derivative: the solid share if `shift` is positive, else
    /// the share that is open.
    fn at(&self, z: f64, shift: f64) -> (f64, f64) {
        if shift > 0.0 {
            return self.table.of_wall(z);
        }
        let (share, slope) = self.table.of_wall(-z);
        (1.0 - share, slope)
    }

    fn share_of(&self, shape: &Shape<D>, x: [f64; D], shift: f64) -> (f64, [f64; D]) {
        match shape {
            Shape::Box { low, high } => {
                // The kernel's share between two parallel planes, for every axis.
                let mut all = Product::one();
                for axis in 0..D {
                    let below = self.at(x[axis] - low[axis] - shift, -shift);
                    let above = self.at(high[axis] - x[axis] - shift, -shift);
                    let mut gradient = [0.0; D];
                    gradient[axis] = above.1 - below.1;
                    all.times(1.0 - below.0 - above.0, gradient);
                }
                (all.value, all.gradient)
            }
            Shape::Union(parts) => {
                let mut open = Product::one();
                for part in parts {
                    let (share, gradient) = self.share_of(part, x, shift);
                    open.times(1.0 - share, gradient.map(|g| -g));
                }
                (1.0 - open.value, open.gradient.map(|g| -g))
            }
            Shape::Intersection(parts) => {
                let mut all = Product::one();
                for part in parts {
                    let (share, gradient) = self.share_of(part, x, shift);
                    all.times(share, gradient);
                }
                (all.value, all.gradient)
            }
            Shape::Difference(whole, parts) => {
                let (share, gradient) = self.share_of(whole, x, shift);
                let mut rest = Product::one();
                rest.times(share, gradient);
                for part in parts {
                    let (share, gradient) = self.share_of(part, x, -shift);
                    rest.times(1.0 - share, gradient.map(|g| -g));
                }
                (rest.value, rest.gradient)
            }
            Shape::Inverted(hollow) => {
                let (share, gradient) = self.share_of(hollow, x, -shift);
                (1.0 - share, gradient.map(|g| -g))
            }
            Shape::Shell { shape, thickness } => {
                let distance = shape.distance(x);
                let normal = shape.gradient(x);
                let outer = self.at(distance - 0.5 * thickness + shift, shift);
                let inner = self.at(distance + 0.5 * thickness - shift, -shift);
                let slope = outer.1 - inner.1;
                (outer.0 - inner.0, normal.map(|n| slope * n))
            }
            Shape::Placed { shape, pose } => {
                let (share, gradient) = self.share_of(shape, pose.apply_inverse(x), shift);
                (share, pose.rotation.apply(gradient))
            }
            _ => {
                let distance = shape.distance_within(x, self.table.support() + shift.abs());
                let (share, slope) = self.at(distance + shift, shift);
                if slope == 0.0 {
                    return (share, [0.0; D]);
                }
                (share, shape.gradient(x).map(|n| slope * n))
            }
        }
    }
}

impl<const D: usize> Wall<'_, D> {
    fn is_near(&self, x: [f64; D]) -> bool {
        self.bounds.as_ref().is_none_or(|bounds| bounds.contains(x))
    }
}

/// A product of functions and its gradient.
struct Product<const D: usize> {
    value: f64,
    gradient: [f64; D],
}

impl<const D: usize> Product<D> {
    fn one() -> Self {
        Self {
            value: 1.0,
            gradient: [0.0; D],
        }
    }

    fn times(&mut self, value: f64, gradient: [f64; D]) {
        for axis in 0..D {
            self.gradient[axis] = self.gradient[axis] * value + self.value * gradient[axis];
        }
        self.value *= value;
    }
}

#[cfg(test)]
mod tests {
    use meniscus_shapes::{Pose, Rotation};

    use super::*;

    const SPACING: f64 = 0.1;

    fn shapes() -> Vec<Shape<3>> {
        let ball = Shape::Sphere {
            center: [0.5; 3],
            radius: 0.8,
        };
        let block = Shape::Box {
            low: [0.2, 0.1, 0.3],
            high: [0.9, 0.8, 0.45],
        };
        let turned = Rotation::exp(&[[0.0, -0.4, 0.2], [0.4, 0.0, -0.1], [-0.2, 0.1, 0.0]]);
        vec![
            ball.clone(),
            block.clone(),
            block.clone().inverted(),
            block.clone().shell(0.07),
            ball.clone().without(vec![block.clone()]),
            Shape::Union(vec![block.clone(), ball.clone()]),
            Shape::Intersection(vec![block.clone(), ball]),
            block.placed(Pose {
                rotation: turned,
                translation: [0.1, -0.2, 0.05],
            }),
        ]
    }

    #[test]
    fn gradients_are_those_of_the_shares() {
        let table = HalfSpace::new::<3>(SPACING);
        for shape in shapes() {
            let solids = [ScriptedSolid::still("solid", shape)];
            let walls = Walls::new(&solids, 0.0, &table, SPACING);
            for k in 0..200 {
                let x = [0.37, 0.61, 0.83].map(|step| (0.13 + f64::from(k) * step).fract());
                let (share, gradient) = walls.share(x);
                assert!((-1e-9..=1.0 + 1e-9).contains(&share), "{share} at {x:?}");
                for axis in 0..3 {
                    let at = |sign: f64| {
                        let mut near = x;
                        near[axis] += sign * 1e-6;
                        walls.share(near).0
                    };
                    let difference = (at(1.0) - at(-1.0)) / 2e-6;
                    // Distances of combined shapes have edges, where one-sided differences disagree.
                    let is_smooth = (at(1.0) + at(-1.0) - 2.0 * share).abs() < 1e-9;
                    let error = (difference - gradient[axis]).abs();
                    assert!(!is_smooth || error < 1e-3, "{solids:?} at {x:?}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_point_in_a_solid_is_pushed_out_of_it() {
        let table = HalfSpace::new::<2>(SPACING);
        let tank = Shape::Box {
            low: [0.0; 2],
            high: [1.0; 2],
        };
        let solids = [ScriptedSolid::still("tank", tank.inverted())];
        let walls = Walls::new(&solids, 0.0, &table, SPACING);
        let mut x = [-0.3, 0.5];
        assert!(walls.push_out(&mut x));
        assert!((x[0] - CLEARANCE * SPACING).abs() < 1e-6 && x[1] == 0.5);
        let mut corner = [-0.1, -0.2];
        assert!(walls.push_out(&mut corner));
        assert!(corner.iter().all(|c| *c >= CLEARANCE * SPACING));
        let mut free = [0.5, 0.5];
        assert!(!walls.push_out(&mut free));
    }
}
