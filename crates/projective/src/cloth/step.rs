//! Cloth within a step: its response to the multipliers of the liquid and of its own constraints.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::bodies::BodyStep;
use crate::constraints::Constraints;
use crate::kernel::{HalfSpace, Kernel, support};
use crate::real::{Real, Vec4};
use crate::walls::Walls;

use super::contacts::{Paths, Touch};
use super::grid::{Extent, Grid};
use super::rows::{self, Kind, Row, Surroundings};
use super::vector::{V3, add, dot, length, plus, scaled, sub};
use super::{Cloth, Matrix};

/// Forces that do not balance at which the cloth has converged, over weight and inertia.
const SETTLED: f64 = 1e-3;
/// Change of the positions in a global step at which cloth with contacts has converged, in mean edge lengths.
const STILL: f64 = 3e-4;
/// Rounding of positions, in mean edge lengths.
const ROUNDING: f64 = 1e-12;
/// Local and global steps after which free cloth stops.
const MOST_RELAXATIONS: usize = 400;
/// Violation of strain limits at which they hold.
const STRAIN_ERROR: f64 = 1e-3;
/// Violation of contacts at which they hold, in spacings.
const CONTACT_ERROR: f64 = 5e-3;
/// Swept tests after which a step stops looking for new contacts.
const MOST_PASSES: usize = 6;
/// Rounds of merging parts that cross in spite of all contacts.
const MOST_MERGES: usize = 30;

/// A particle and a vertex within its support, and the gradient of the vertex's share by the position of the particle.
#[derive(Clone, Copy, Debug)]
struct Pair {
    vertex: u32,
    gradient: V3,
}

/// Cloth within a step.
pub struct ClothStep<'a, const D: usize> {
    cloth: &'a Cloth,
    matrix: &'a Matrix,
    kernel: Kernel<f64>,
    spacing: f64,
    mobility: f64,
    particle_mass: f64,
    /// Positions without forces.
    predicted: Vec<V3>,
    /// Positions.
    pub y: Vec<V3>,
    /// Force of all multipliers, in N.
    force: Vec<V3>,
    pub rows: Vec<Row>,
    /// Pairs of the particles near cloth, each with the range of its pairs.
    near: Vec<(u32, std::ops::Range<usize>)>,
    pairs: Vec<Pair>,
    /// Displacement of the vertices by the last direction, with the opposite sign.
    response: Vec<V3>,
    /// Gradient of the last direction.
    pull: Vec<V3>,
    passes: usize,
    /// Acceleration of gravity, in m/s².
    fall: f64,
    /// Positions ahead that the last projections belong to, and positions before.
    ahead: Vec<V3>,
    previous: Vec<V3>,
    /// Parameter of the acceleration, one at its beginning.
    pace: f64,
    /// Largest change of the last global step, in metres.
    moved: f64,
    /// Forces that did not balance ahead of the last global step, over weight and inertia.
    unsettled: f64,
}

/// Volume of each vertex in densities of the liquid, over that of a particle: one over the density of the surface at itself
/// (Akinci and others 2012).
pub fn shares(cloth: &Cloth, spacing: f64) -> Vec<f64> {
    let kernel = Kernel::<f64>::new::<3>(spacing);
    let reach = support::<3>() * spacing;
    let points = cloth.rest.iter().map(|x| Extent::around(&[*x])).collect();
    let grid = Grid::new(points, reach);
    (0..cloth.rest.len())
        .into_par_iter()
        .map(|v| {
            if !cloth.is_surface[v] {
                return 0.0;
            }
            let x = cloth.rest[v];
            let mut near = Vec::new();
            grid.overlapping(&Extent::around(&[x]).grown(reach), &mut near);
            let near = near.iter().filter(|&&c| cloth.is_surface[c as usize]);
            let values = near.map(|&c| kernel.value(length(sub(cloth.rest[c as usize], x))));
            1.0 / values.sum::<f64>()
        })
        .collect()
}

/// What a surface counts for in the density of a particle: a function of the sum over its vertices, which is one on the surface.
///
/// Particles push each other with the sum of their multipliers, vertices with that of the particle alone, and a layer of
/// vertices that counted as particles would have its surface half a spacing in front of it: soft bodies a few spacings wide would
/// float too high. So a power of the sum counts that has, half a spacing from a flat surface, the value and slope of a wall.
#[derive(Clone, Copy, Debug, Default)]
pub struct SurfaceShare {
    factor: f64,
    power: f64,
}

impl SurfaceShare {
    pub fn new(spacing: f64) -> Self {
        let plane = HalfSpace::new::<3>(spacing);
        let (share, slope) = plane.of_wall(plane.first_layer());
        // The share of a half-space grows by that of the planes in it.
        let sum = |z: f64| plane.at(z).1 / plane.at(0.0).1;
        let (place, step) = (0.5 * spacing, 1e-3 * spacing);
        let sum_slope = (sum(place + step) - sum(place - step)) / (2.0 * step);
        let power = slope / share * sum(place) / sum_slope;
        Self {
            factor: share / sum(place).powf(power),
            power,
        }
    }

    /// Value and derivative for a sum.
    pub fn at(self, sum: f64) -> (f64, f64) {
        // Where surfaces meet, the sum may be above one.
        let below = sum.min(1.0);
        let slope = self.factor * self.power * below.powf(self.power - 1.0);
        let value = self.factor * below.powf(self.power);
        (value + slope * (sum - below), slope)
    }
}

/// What a step of the cloth takes from that of the liquid.
pub struct Setting<const D: usize> {
    pub gravity: [f64; D],
    pub spacing: f64,
    pub particle_mass: f64,
    /// Time at the end of the step.
    pub end: f64,
    pub dt: f64,
    /// Time that gravity acts for.
    pub fall_time: f64,
}

impl<'a, const D: usize> ClothStep<'a, D> {
    /// The step of cloth that is prepared for its length.
    pub fn new(cloth: &'a Cloth, setting: &Setting<D>) -> Option<Self> {
        let matrix = cloth.matrix.as_ref()?;
        let dt = setting.dt;
        let fall: V3 = std::array::from_fn(|axis| {
            if axis < D {
                setting.gravity[axis] * dt * setting.fall_time
            } else {
                0.0
            }
        });
        let n = cloth.rest.len();
        let mut predicted = Vec::with_capacity(n);
        let mut y = Vec::with_capacity(n);
        for v in 0..n {
            let s = add(plus(cloth.position[v], dt, cloth.velocity[v]), fall);
            predicted.push(s);
            y.push(cloth.pin_place(v, setting.end).unwrap_or(s));
        }
        Some(Self {
            cloth,
            matrix,
            kernel: Kernel::new::<3>(setting.spacing),
            spacing: setting.spacing,
            mobility: dt * dt / setting.particle_mass,
            particle_mass: setting.particle_mass,
            predicted,
            fall: setting.gravity.iter().map(|g| g * g).sum::<f64>().sqrt(),
            ahead: y.clone(),
            previous: y.clone(),
            pace: 1.0,
            y,
            force: vec![[0.0; 3]; n],
            rows: Vec::new(),
            near: Vec::new(),
            pairs: Vec::new(),
            response: vec![[0.0; 3]; n],
            pull: vec![[0.0; 3]; n],
            passes: 0,
            moved: 0.0,
            unsettled: 0.0,
        })
    }

    /// Finds pairs and contacts at the start of a step.
    pub fn begin<R: Real>(
        &mut self,
        walls: &Walls<'_, D>,
        start: &[Vec4<R>],
        predicted: &[Vec4<R>],
    ) {
        self.find_pairs(predicted);
        let cloth = self.cloth;
        for (k, edge) in cloth.edges.iter().enumerate() {
            if edge.limit.is_finite() {
                let mut row = Row::new(Kind::Stretch(k as u32));
                row.multiplier = cloth.edge_multiplier[k];
                self.rows.push(row);
            }
        }
        let band = 2.0 * self.spacing;
        let is_near = |x: V3, band: f64| {
            walls.distance_within(std::array::from_fn(|axis| x[axis]), band) < band
        };
        for v in 0..cloth.rest.len() {
            let reach = 0.5 * cloth.thickness[v] + band;
            if cloth.pinned[v].is_some()
                || !cloth.is_surface[v]
                || !(is_near(cloth.position[v], reach) || is_near(self.y[v], reach))
            {
                continue;
            }
            let first = self.rows.len();
            self.rows.push(Row::new(Kind::Solid(v as u32)));
            self.rows.push(Row::new(Kind::Friction));
            self.rows.push(Row::new(Kind::Friction));
            // The multipliers of the last step, in the directions of this one.
            let kept = cloth.contact_multiplier[v];
            let at: [f64; D] = std::array::from_fn(|axis| self.y[v][axis]);
            if kept != [0.0; 3]
                && let Some((_, _, normal)) = walls.closest(at, 8.0 * self.spacing)
            {
                let mut wide = [0.0; 3];
                wide[..D].copy_from_slice(&normal);
                let (t, u) = rows::tangents(wide);
                self.rows[first].multiplier = dot(kept, wide).max(0.0);
                self.rows[first + 1].multiplier = dot(kept, t);
                self.rows[first + 2].multiplier = dot(kept, u);
            }
        }
        let close = Paths {
            cloth,
            from: &cloth.position,
            to: &cloth.position,
            particles_from: start,
            particles_to: start,
            spacing: self.spacing,
        };
        for touch in close.close() {
            self.rows.push(Row::new(Kind::Touch(touch)));
        }
        // Forces of the multipliers that are carried over.
        self.linearise_rows(walls, predicted);
        for row in &self.rows {
            row.add_to(-row.multiplier, &mut self.force);
        }
    }

    fn find_pairs<R: Real>(&mut self, particles: &[Vec4<R>]) {
        let cloth = self.cloth;
        // Within a step, both move by less than half a spacing against each other in nearly all cases.
        let reach = (support::<3>() + 0.5) * self.spacing;
        let points = self.y.iter().map(|x| Extent::around(&[*x])).collect();
        let grid = Grid::new(points, reach);
        let lists: Vec<(u32, Vec<u32>)> = particles
            .par_iter()
            .enumerate()
            .filter_map(|(i, x)| {
                let x: V3 = x.point();
                let mut near = Vec::new();
                grid.overlapping(&Extent::around(&[x]).grown(reach), &mut near);
                near.retain(|&c| {
                    let apart = sub(self.y[c as usize], x);
                    cloth.share[c as usize] > 0.0 && dot(apart, apart) < reach * reach
                });
                (!near.is_empty()).then_some((i as u32, near))
            })
            .collect();
        for (i, near) in lists {
            let first = self.pairs.len();
            self.pairs.extend(near.into_iter().map(|vertex| Pair {
                vertex,
                gradient: [0.0; 3],
            }));
            self.near.push((i, first..self.pairs.len()));
        }
    }

    /// Local and global steps of the elastic energies: one if multipliers of contacts or strain limits are at work, whose solve
    /// then follows, else until the forces balance.
    ///
    /// With the solve, a step minimises a quadratic bound of the energies under the linearised constraints: a step of a
    /// projected gradient method in the norm of `H`. Its rate is that of a gradient method, as `H` resists rotations that cost
    /// no energy; so the projections are those of a point ahead (Nesterov's acceleration, which begins again where it would
    /// go back; O'Donoghue and Candès 2015). Forces that do not balance turn with the cloth and would feed its motion.
    pub fn relax(&mut self) {
        let limit = if self.is_constrained() {
            1
        } else {
            MOST_RELAXATIONS
        };
        for _ in 0..limit {
            self.relax_once();
            if self.unsettled <= SETTLED {
                break;
            }
        }
    }

    /// Whether multipliers are at work, or may be.
    fn is_constrained(&self) -> bool {
        !self.near.is_empty() || self.rows.iter().any(Row::is_working)
    }

    fn relax_once(&mut self) {
        let (cloth, matrix) = (self.cloth, self.matrix);
        // Whether the way from the last point ahead leads back.
        let mut turn = 0.0;
        for &v in &cloth.free {
            let v = v as usize;
            let back = sub(self.ahead[v], self.y[v]);
            turn += cloth.mass[v] * dot(back, sub(self.y[v], self.previous[v]));
        }
        // Points ahead would slide where friction holds, and leave the liquid that presses.
        if turn > 0.0 || !self.near.is_empty() || self.rows.iter().any(Row::is_at_solid) {
            self.pace = 1.0;
        }
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.pace * self.pace).sqrt());
        let share = (self.pace - 1.0) / next;
        self.pace = next;
        for v in 0..self.y.len() {
            self.ahead[v] = plus(self.y[v], share, sub(self.y[v], self.previous[v]));
        }
        self.previous.copy_from_slice(&self.y);
        let inertia = 1.0 / (matrix.dt * matrix.dt);
        let mut force: Vec<V3> = (0..cloth.rest.len())
            .map(|v| {
                let late = sub(self.predicted[v], self.ahead[v]);
                plus(self.force[v], cloth.mass[v] * inertia, late)
            })
            .collect();
        cloth.elastic.pull(&self.ahead, &mut force);
        let (mut left, mut moved, mut mass) = (0.0, 0.0, 0.0);
        for &v in &cloth.free {
            let (v, m) = (v as usize, cloth.mass[v as usize]);
            let change = scaled(sub(self.ahead[v], self.predicted[v]), inertia);
            left += dot(force[v], force[v]) / m;
            moved += m * dot(change, change);
            mass += m;
        }
        let scale = moved.sqrt() + mass.sqrt() * (self.fall + ROUNDING * cloth.mean_edge * inertia);
        self.unsettled = left.sqrt() / scale.max(1e-300);
        matrix.response(&cloth.free, &mut force, &cloth.pinned);
        self.moved = 0.0;
        for &v in &cloth.free {
            let v = v as usize;
            let next = add(self.ahead[v], force[v]);
            self.moved = self.moved.max(length(sub(next, self.y[v])));
            self.y[v] = next;
        }
    }

    /// Adds the shares of the vertices to the densities of the particles, and evaluates the rows.
    pub fn linearise<R: Real>(
        &mut self,
        walls: &Walls<'_, D>,
        constraints: &mut Constraints<R>,
        particles: &[Vec4<R>],
    ) {
        let (cloth, kernel, y) = (self.cloth, self.kernel, &self.y);
        let stiffness = &self.matrix.diagonal;
        // Groups of pairs are disjoint; values are added in order.
        let evaluated: Vec<(f64, V3, f64, Vec<V3>)> = self
            .near
            .par_iter()
            .map(|(i, range)| {
                let x: V3 = particles[*i as usize].point();
                let (mut share, mut sum, mut response) = (0.0, [0.0; 3], 0.0);
                let gradients = self.pairs[range.clone()].iter().map(|pair| {
                    let c = pair.vertex as usize;
                    let apart = sub(x, y[c]);
                    let square = dot(apart, apart);
                    share += cloth.share[c] * kernel.value(square.sqrt());
                    let gradient = scaled(apart, cloth.share[c] * kernel.slope(square));
                    sum = add(sum, gradient);
                    response += dot(gradient, gradient) / stiffness[c];
                    gradient
                });
                let mut gradients: Vec<V3> = gradients.collect();
                let (share, slope) = cloth.surface_share.at(share);
                for gradient in &mut gradients {
                    *gradient = scaled(*gradient, slope);
                }
                (
                    share,
                    scaled(sum, slope),
                    slope * slope * response,
                    gradients,
                )
            })
            .collect();
        for ((i, range), (share, sum, response, gradients)) in self.near.iter().zip(evaluated) {
            for (pair, gradient) in self.pairs[range.clone()].iter_mut().zip(gradients) {
                pair.gradient = gradient;
            }
            constraints.add_share(*i as usize, share, sum, response / self.mobility);
        }
        self.linearise_rows(walls, particles);
    }

    /// Evaluates the rows.
    pub fn linearise_rows<R: Real>(&mut self, walls: &Walls<'_, D>, particles: &[Vec4<R>]) {
        let around = Surroundings {
            cloth: self.cloth,
            walls,
            stiffness: &self.matrix.diagonal,
            mobility: self.mobility,
            unit: self.spacing,
        };
        rows::linearise(&mut self.rows, &around, &self.y, particles);
    }

    /// Evaluates the rows that touch bodies, whose motion adds to their diagonals.
    pub fn linearise_bodies(&mut self, bodies: &mut BodyStep<'_, '_, D>) {
        let narrow = |x: V3| -> [f64; D] { std::array::from_fn(|axis| x[axis]) };
        let rows = self.rows.iter().enumerate();
        let touching = rows.filter_map(|(number, row)| {
            let (body, place, gradient) = row.at_body()?;
            Some((number, body, narrow(place), narrow(gradient)))
        });
        for (number, added) in bodies.linearise_cloth(touching) {
            self.rows[number].diagonal += added;
        }
    }

    /// Multipliers of the rows.
    pub fn multipliers(&self) -> Vec<f64> {
        self.rows.iter().map(|row| row.multiplier).collect()
    }

    /// Whether strain limits and contacts hold, and the elastic energies are at their minimum.
    pub fn has_converged(&self, rounds: usize) -> bool {
        let (strain, contact) = rows::errors(&self.rows);
        // Forces of the last step have one round to change.
        if rounds == 0 && self.rows.iter().any(|row| row.is_working()) {
            return false;
        }
        // What contacts, limits and liquid press on need not balance as well: friction and pressure take more energy.
        (self.unsettled <= SETTLED
            || self.is_constrained() && self.moved <= STILL * self.cloth.mean_edge)
            && strain <= STRAIN_ERROR
            && contact <= CONTACT_ERROR
    }

    /// Square roots of the inverse diagonals of the rows; zero for rows that take no part.
    pub fn scales(&self) -> impl Iterator<Item = f64> {
        let is_active = rows::select(&self.rows);
        let rows = self.rows.iter().zip(is_active);
        rows.map(|(row, is_active)| {
            if is_active {
                1.0 / (row.diagonal + row.compliance).sqrt()
            } else {
                0.0
            }
        })
    }

    /// Appends the bounds of the changes of the rows' multipliers, and the right-hand side.
    pub fn bounds(&self, lower: &mut Vec<f64>, right: &mut Vec<f64>) {
        for row in &self.rows {
            lower.push(match row.kind {
                Kind::Friction => f64::NEG_INFINITY,
                _ => -row.multiplier,
            });
            right.push(row.excess - row.compliance * row.multiplier);
        }
    }

    /// The response of the cloth to multipliers of the liquid and of rows, whose pull on particles is added to `force`.
    pub fn respond<R: Real>(&mut self, liquid: &[R], of_rows: &[f64], force: &mut [Vec4<R>]) {
        self.pull.fill([0.0; 3]);
        for (i, range) in &self.near {
            let l = liquid[*i as usize].wide();
            if l != 0.0 {
                for pair in &self.pairs[range.clone()] {
                    let at = pair.vertex as usize;
                    self.pull[at] = plus(self.pull[at], -l, pair.gradient);
                }
            }
        }
        for (row, &l) in self.rows.iter().zip(of_rows) {
            if l != 0.0 {
                row.add_to(l, &mut self.pull);
                if let Some((i, gradient)) = row.particle {
                    let at = &mut force[i as usize];
                    *at = at.plus(R::of(l), Vec4::of(gradient));
                }
            }
        }
        self.response.copy_from_slice(&self.pull);
        self.matrix
            .response(&self.cloth.free, &mut self.response, &self.cloth.pinned);
    }

    /// Adds the response to the products of the liquid, and returns those of the rows.
    pub fn product<R: Real>(
        &self,
        force: &[Vec4<R>],
        of_rows: &[f64],
        image: &mut [R],
    ) -> Vec<f64> {
        for (i, range) in &self.near {
            let pairs = self.pairs[range.clone()].iter();
            let sum: f64 = pairs
                .map(|pair| -dot(pair.gradient, self.response[pair.vertex as usize]))
                .sum();
            image[*i as usize] += R::of(sum);
        }
        let product = |(row, l): (&Row, &f64)| {
            let own = row.particle.map_or(0.0, |(i, gradient)| {
                self.mobility * dot(gradient, force[i as usize].point())
            });
            row.product(&self.response) + own + row.compliance * l
        };
        self.rows.iter().zip(of_rows).map(product).collect()
    }

    /// Adds changes to the multipliers of the rows, as far as friction allows. Returns what was added.
    pub fn clamp(&mut self, change: &[f64]) -> Vec<f64> {
        let mut change = change.to_vec();
        rows::clamp(&mut self.rows, &self.cloth.friction, &mut change);
        change
    }

    /// Moves the vertices by the last response.
    pub fn displace(&mut self) {
        for v in 0..self.y.len() {
            self.force[v] = sub(self.force[v], self.pull[v]);
            self.y[v] = sub(self.y[v], self.response[v]);
        }
    }

    /// Looks for crossings on the way from the start. Returns whether there are new contacts.
    pub fn find_contacts<R: Real>(&mut self, start: &[Vec4<R>], particles: &[Vec4<R>]) -> bool {
        if self.passes == MOST_PASSES {
            return false;
        }
        self.passes += 1;
        let found = self.paths(start, particles).crossings();
        let mut known: BTreeMap<_, usize> = BTreeMap::new();
        for (k, row) in self.rows.iter().enumerate() {
            if let Kind::Touch(touch) = &row.kind {
                known.insert(touch.key(), k);
            }
        }
        let is_new = !found.is_empty();
        for touch in found {
            match known.get(&touch.key()) {
                Some(&k) => self.rows[k].kind = Kind::Touch(touch),
                None => self.rows.push(Row::new(Kind::Touch(touch))),
            }
        }
        is_new
    }

    fn paths<'b, R: Real>(&'b self, start: &'b [Vec4<R>], end: &'b [Vec4<R>]) -> Paths<'b, R> {
        Paths {
            cloth: self.cloth,
            from: &self.cloth.position,
            to: &self.y,
            particles_from: start,
            particles_to: &end[..start.len()],
            spacing: self.spacing,
        }
    }

    /// Force of the pins over the step: what changes the momentum besides gravity and the multipliers.
    pub fn pin_force(&self) -> V3 {
        let inertia = 1.0 / (self.matrix.dt * self.matrix.dt);
        let mut sum = [0.0; 3];
        for v in 0..self.y.len() {
            let moved = sub(self.y[v], self.predicted[v]);
            sum = plus(sum, self.cloth.mass[v] * inertia, moved);
            sum = sub(sum, self.force[v]);
        }
        sum
    }

    /// Pushes vertices out of solids, and lets parts that would still cross each other move together: with the mean of
    /// their displacements, so that momentum is conserved.
    pub fn separate<R: Real>(
        &mut self,
        walls: &Walls<'_, D>,
        start: &[Vec4<R>],
        particles: &mut [Vec4<R>],
    ) {
        for v in 0..self.y.len() {
            if self.cloth.pinned[v].is_none() && self.cloth.is_surface[v] {
                let mut point: [f64; D] = std::array::from_fn(|axis| self.y[v][axis]);
                if walls.push_out(&mut point) {
                    self.y[v][..D].copy_from_slice(&point);
                }
            }
        }
        let n = self.y.len();
        let mut zone: Vec<usize> = (0..n + start.len()).collect();
        for _ in 0..MOST_MERGES {
            let crossings = self.paths(start, particles).crossings();
            if crossings.is_empty() {
                return;
            }
            self.merge(&crossings, &mut zone, start, particles);
        }
    }

    fn merge<R: Real>(
        &mut self,
        crossings: &[Touch],
        zone: &mut [usize],
        start: &[Vec4<R>],
        particles: &mut [Vec4<R>],
    ) {
        let n = self.y.len();
        fn root(zone: &mut [usize], mut i: usize) -> usize {
            while zone[i] != i {
                zone[i] = zone[zone[i]];
                i = zone[i];
            }
            i
        }
        for touch in crossings {
            let vertices = touch.touching().iter().map(|&v| v as usize);
            let members: Vec<usize> = vertices
                .chain(touch.particle.map(|i| n + i as usize))
                .collect();
            for &member in &members[1..] {
                let (first, other) = (root(zone, members[0]), root(zone, member));
                zone[first.max(other)] = first.min(other);
            }
        }
        // Members of every zone that has more than one.
        let mut zones: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for i in 0..zone.len() {
            let at = root(zone, i);
            if at != i {
                zones.entry(at).or_insert_with(|| vec![at]).push(i);
            }
        }
        for members in zones.into_values() {
            let (mut sum, mut mass, mut held) = ([0.0; 3], 0.0, None);
            for &i in &members {
                let (moved, m) = if i < n {
                    let moved = sub(self.y[i], self.cloth.position[i]);
                    if self.cloth.pinned[i].is_some() {
                        held = held.or(Some(moved));
                    }
                    (moved, self.cloth.mass[i])
                } else {
                    let moved = particles[i - n] - start[i - n];
                    (moved.point(), self.particle_mass)
                };
                sum = plus(sum, m, moved);
                mass += m;
            }
            let moved = held.unwrap_or(scaled(sum, 1.0 / mass));
            for &i in &members {
                if i >= n {
                    let place = add(start[i - n].point(), moved);
                    particles[i - n] = Vec4::of(place);
                } else if self.cloth.pinned[i].is_none() {
                    self.y[i] = add(self.cloth.position[i], moved);
                }
            }
        }
    }

    /// Whether all positions are finite.
    pub fn is_finite(&self) -> bool {
        self.y.iter().flatten().all(|x| x.is_finite())
    }

    /// What later steps need: positions, multipliers of edges and of contacts with solids, force of the pins.
    pub fn outcome(self, pin_force: V3) -> Outcome {
        let mut outcome = Outcome {
            edge_multiplier: vec![0.0; self.cloth.edges.len()],
            contact_multiplier: vec![[0.0; 3]; self.cloth.rest.len()],
            pin_force,
            position: self.y,
        };
        let mut k = 0;
        while k < self.rows.len() {
            let row = &self.rows[k];
            match row.kind {
                Kind::Stretch(edge) => outcome.edge_multiplier[edge as usize] = row.multiplier,
                Kind::Solid(v) if row.count > 0 => {
                    // Gradients are minus the normal and the tangents, over the unit.
                    let scale = self.spacing;
                    let mut kept = scaled(row.vertices[0].1, -scale * row.multiplier);
                    for t in 1..3 {
                        let row = &self.rows[k + t];
                        kept = plus(kept, scale * row.multiplier, row.vertices[0].1);
                    }
                    outcome.contact_multiplier[v as usize] = kept;
                }
                _ => {}
            }
            k += 1;
        }
        outcome
    }
}

/// Cloth at the end of a step.
pub struct Outcome {
    position: Vec<V3>,
    edge_multiplier: Vec<f64>,
    contact_multiplier: Vec<V3>,
    pin_force: V3,
}

impl Outcome {
    /// Makes this the state of the cloth, after a step of `dt` seconds.
    pub fn apply(self, cloth: &mut Cloth, dt: f64) {
        for (v, y) in self.position.iter().enumerate() {
            cloth.velocity[v] = scaled(sub(*y, cloth.position[v]), 1.0 / dt);
        }
        cloth.position = self.position;
        cloth.edge_multiplier = self.edge_multiplier;
        cloth.contact_multiplier = self.contact_multiplier;
        cloth.pin_force = self.pin_force;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_surface_has_the_share_and_the_push_of_a_wall_half_a_spacing_away() {
        let plane = HalfSpace::new::<3>(1.0);
        let (share, slope) = plane.of_wall(plane.first_layer());
        let surface = SurfaceShare::new(1.0);
        // A fine square lattice of vertices with their volumes.
        let kernel = Kernel::<f64>::new::<3>(1.0);
        let sum = |z: f64| -> f64 {
            let places = (-12..=12).flat_map(|i| (-12..=12).map(move |j| (i, j)));
            let values = places.map(|(i, j)| {
                let across = 0.2 * 0.2 * f64::from(i * i + j * j);
                kernel.value((z * z + across).sqrt())
            });
            values.sum()
        };
        let at = |z: f64| surface.at(sum(z) / sum(0.0)).0;
        assert!((at(0.5) - share).abs() < 1e-3, "{} {share}", at(0.5));
        let found = (at(0.501) - at(0.499)) / 0.002;
        assert!((found / slope - 1.0).abs() < 0.02, "{found} {slope}");
        assert!(at(0.0) < 1.0 && at(1.5) < 1e-4);
        let (value, slope) = surface.at(1.2);
        assert!((surface.at(1.2 + 1e-6).0 - value - 1e-6 * slope).abs() < 1e-9);
    }
}
