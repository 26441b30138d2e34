//! Rigid bodies that the liquid moves.
//!
//! The solid share of a particle depends on its place relative to a body, so that a multiplier `l` pushes the particle by
//! `-l g` and the body by `l g` at the same place: momentum and angular momentum are conserved to rounding. In the dual, a body
//! adds `dt² J M⁻¹ Jᵀ` with the rows `J = (g, r × g)` to the matrix `B`, six numbers per body. Contacts between bodies are the
//! business of whoever moves them ([`Movers`]): after every round it says which velocities the impulses so far lead to.

use meniscus_shapes::{Pose, Rotation, Shape};

use crate::constraints::Constraints;
use crate::real::{Real, Vec4};
use crate::walls::Walls;

/// Numbers per freedom of a body: translations first, then rotations; three of them in 2D, six in 3D.
pub type Freedoms = [f64; 6];

/// What moves rigid bodies: their inertia, other forces, contacts. The lifetime is that of their shapes.
pub trait Movers<'a, const D: usize> {
    /// Number of bodies.
    fn count(&self) -> usize;
    /// Shape of a body, in its frame.
    fn shape(&self, body: usize) -> &'a Shape<D>;
    /// Pose at the start of the step.
    fn pose(&self, body: usize) -> Pose<D>;
    /// Centre of mass at the start of the step.
    fn center(&self, body: usize) -> [f64; D];
    /// Inverse of the inertia about the centre of mass; zero if the liquid cannot move it.
    fn inverse_inertia(&self, body: usize) -> [Freedoms; 6];
    /// Sets the velocities of the bodies, those of their centres of mass first, that impulses of the liquid lead to.
    fn respond(&mut self, impulses: &[Freedoms], velocities: &mut [Freedoms]);
    /// Ends the step with the last impulses. Nothing changes if this returns false.
    fn finish(&mut self) -> bool;
}

/// Number of freedoms of a body.
const fn freedoms<const D: usize>() -> usize {
    if D == 2 { 3 } else { 6 }
}

/// A force at `arm` from the centre of mass by freedoms.
fn wrench<const D: usize>(force: [f64; D], arm: [f64; D]) -> Freedoms {
    let mut sum = [0.0; 6];
    sum[..D].copy_from_slice(&force);
    if D == 2 {
        sum[2] = arm[0] * force[1] - arm[1] * force[0];
    } else {
        for k in 0..3 {
            let (a, b) = ((k + 1) % 3, (k + 2) % 3);
            sum[3 + k] = arm[a] * force[b] - arm[b] * force[a];
        }
    }
    sum
}

fn dot(a: &Freedoms, b: &Freedoms) -> f64 {
    (0..6).map(|k| a[k] * b[k]).sum()
}

fn plus(sum: &mut Freedoms, factor: f64, a: &Freedoms) {
    for k in 0..6 {
        sum[k] += factor * a[k];
    }
}

/// A particle that feels a body.
#[derive(Clone, Copy, Debug)]
struct Row {
    particle: u32,
    body: u32,
    /// Derivative of the excess by the motion of the particle with the body as if it were a part of it.
    row: Freedoms,
}

/// Bodies within a step.
pub struct BodyStep<'m, 'a, const D: usize> {
    movers: &'m mut dyn Movers<'a, D>,
    dt: f64,
    particle_mass: f64,
    pose: Vec<Pose<D>>,
    center: Vec<[f64; D]>,
    inverse: Vec<[Freedoms; 6]>,
    /// Impulses of the liquid so far, about the centres of mass at the end of the step.
    impulse: Vec<Freedoms>,
    velocity: Vec<Freedoms>,
    /// Particles near bodies.
    near: Vec<u32>,
    rows: Vec<Row>,
    /// Rows of cloth that touches bodies: the number of the row, the body, and the same derivative.
    cloth_rows: Vec<(usize, usize, Freedoms)>,
    /// Displacements of the bodies by the last direction.
    response: Vec<Freedoms>,
}

impl<'m, 'a, const D: usize> BodyStep<'m, 'a, D> {
    /// Bodies at the start of a step, which become part of `walls` at the end of a step without liquid.
    pub fn new<'w>(
        movers: &'m mut dyn Movers<'a, D>,
        walls: &mut Walls<'w, D>,
        dt: f64,
        particle_mass: f64,
    ) -> Self
    where
        'a: 'w,
    {
        let count = movers.count();
        let zero = vec![[0.0; 6]; count];
        let mut step = Self {
            dt,
            particle_mass,
            pose: (0..count).map(|body| movers.pose(body)).collect(),
            center: (0..count).map(|body| movers.center(body)).collect(),
            inverse: (0..count)
                .map(|body| movers.inverse_inertia(body))
                .collect(),
            impulse: zero.clone(),
            velocity: zero.clone(),
            near: Vec::new(),
            rows: Vec::new(),
            cloth_rows: Vec::new(),
            response: zero,
            movers,
        };
        step.movers.respond(&step.impulse, &mut step.velocity);
        for body in 0..count {
            walls.add_body(
                step.movers.shape(body),
                step.pose[body],
                step.pose_at_end(body),
            );
        }
        step
    }

    fn center_at_end(&self, body: usize) -> [f64; D] {
        let (from, velocity) = (self.center[body], &self.velocity[body]);
        std::array::from_fn(|axis| from[axis] + self.dt * velocity[axis])
    }

    fn pose_at_end(&self, body: usize) -> Pose<D> {
        let velocity = &self.velocity[body];
        let mut generator = [[0.0; D]; D];
        for a in 0..D {
            for b in 0..D {
                // The cross product with the angular velocity.
                let turn = match (D, (3 + b - a) % 3) {
                    (_, 0) => 0.0,
                    (2, _) => velocity[2] * if a < b { -1.0 } else { 1.0 },
                    (_, 1) => -velocity[3 + (b + 1) % 3],
                    _ => velocity[3 + (a + 1) % 3],
                };
                generator[a][b] = self.dt * turn;
            }
        }
        let rotation = Rotation::exp(&generator);
        let (before, center) = (&self.pose[body], self.center[body]);
        let arm = std::array::from_fn(|axis| before.translation[axis] - center[axis]);
        let (turned, center) = (rotation.apply(arm), self.center_at_end(body));
        Pose {
            rotation: rotation.compose(&before.rotation),
            translation: std::array::from_fn(|axis| center[axis] + turned[axis]),
        }
    }

    /// Finds the particles that bodies may touch in this step, and pushes them out of bodies.
    pub fn begin<R: Real>(&mut self, walls: &Walls<'_, D>, reach: f64, y: &mut [Vec4<R>]) {
        let is_near = |x: &Vec4<R>| {
            let x = x.point();
            (0..self.pose.len()).any(|body| walls.distance_from_body(body, x, reach) < reach)
        };
        let near = y.iter().enumerate().filter(|(_, x)| is_near(x));
        self.near = near.map(|(i, _)| i as u32).collect();
        self.push(walls, y);
    }

    /// Pushes particles out of bodies, which get the momentum.
    pub fn push<R: Real>(&mut self, walls: &Walls<'_, D>, y: &mut [Vec4<R>]) {
        for &i in &self.near {
            let mut x: [f64; D] = y[i as usize].point();
            let before = x;
            let mut pushes: Vec<(usize, [f64; D])> = Vec::new();
            walls.push_out_of_bodies(&mut x, &mut |body, push| pushes.push((body, push)));
            for (body, push) in pushes {
                let impulse = push.map(|p| -p * self.particle_mass / self.dt);
                let arm = self.arm(body, before);
                plus(&mut self.impulse[body], 1.0, &wrench(impulse, arm));
            }
            if x != before {
                y[i as usize] = Vec4::of(x);
            }
        }
    }

    fn arm(&self, body: usize, x: [f64; D]) -> [f64; D] {
        let center = self.center_at_end(body);
        std::array::from_fn(|axis| x[axis] - center[axis])
    }

    /// Evaluates the rows, and adds to the diagonal.
    pub fn linearise<R: Real>(
        &mut self,
        walls: &Walls<'_, D>,
        constraints: &mut Constraints<R>,
        mobility: f64,
        y: &[Vec4<R>],
    ) {
        self.rows.clear();
        let mut found = Vec::new();
        for &i in &self.near {
            let x: [f64; D] = y[i as usize].point();
            walls.share_of_bodies(x, &mut found);
            for &(body, gradient) in &found {
                let row = wrench(gradient, self.arm(body, x));
                let own = dot(&row, &self.displacement(body, &row));
                constraints.diagonal[i as usize] += R::of(own / mobility);
                self.rows.push(Row {
                    particle: i,
                    body: body as u32,
                    row,
                });
            }
        }
    }

    /// How far a force of one step moves a body.
    fn displacement(&self, body: usize, force: &Freedoms) -> Freedoms {
        let inverse = &self.inverse[body];
        let mut moved = [0.0; 6];
        for k in 0..freedoms::<D>() {
            moved[k] = self.dt * self.dt * dot(&inverse[k], force);
        }
        moved
    }

    /// Takes the rows of cloth that touches bodies: for each its number, the body, the place, and the derivative of its excess
    /// by the place of the cloth. Returns what the motion of the body adds to the diagonal of each.
    pub fn linearise_cloth(
        &mut self,
        touching: impl Iterator<Item = (usize, usize, [f64; D], [f64; D])>,
    ) -> Vec<(usize, f64)> {
        self.cloth_rows.clear();
        let mut added = Vec::new();
        for (number, body, place, gradient) in touching {
            let row = wrench(gradient, self.arm(body, place));
            added.push((number, dot(&row, &self.displacement(body, &row))));
            self.cloth_rows.push((number, body, row));
        }
        added
    }

    fn forces<R: Real>(&self, multiplier: &[R], of_rows: &[f64]) -> Vec<Freedoms> {
        let mut forces = vec![[0.0; 6]; self.pose.len()];
        if !of_rows.is_empty() {
            for (number, body, row) in &self.cloth_rows {
                plus(&mut forces[*body], of_rows[*number], row);
            }
        }
        for row in &self.rows {
            let l = multiplier[row.particle as usize].wide();
            plus(&mut forces[row.body as usize], l, &row.row);
        }
        forces
    }

    /// Adds what the motion of the bodies adds to the product of `B` with a direction, on active particles and on the rows
    /// of cloth.
    pub fn add_product<R: Real>(
        &mut self,
        direction: &[R],
        of_rows: &[f64],
        is_active: &[bool],
        image: &mut [R],
        image_of_rows: &mut [f64],
    ) {
        let forces = self.forces(direction, of_rows);
        for (body, force) in forces.iter().enumerate() {
            self.response[body] = self.displacement(body, force);
        }
        for row in &self.rows {
            let i = row.particle as usize;
            if is_active[i] {
                image[i] += R::of(dot(&row.row, &self.response[row.body as usize]));
            }
        }
        if !of_rows.is_empty() {
            for (number, body, row) in &self.cloth_rows {
                image_of_rows[*number] += dot(row, &self.response[*body]);
            }
        }
    }

    /// Adds changes of the multipliers of particles and of the rows of cloth to the impulses.
    pub fn add_impulses<R: Real>(&mut self, change: &[R], of_rows: &[f64]) {
        let forces = self.forces(change, of_rows);
        for (impulse, force) in self.impulse.iter_mut().zip(&forces) {
            plus(impulse, self.dt, force);
        }
    }

    /// Moves the bodies with the impulses so far.
    pub fn displace(&mut self, walls: &mut Walls<'_, D>) {
        self.movers.respond(&self.impulse, &mut self.velocity);
        for body in 0..self.pose.len() {
            walls.move_body(body, self.pose_at_end(body));
        }
    }

    /// Ends the step of the bodies. Nothing changes if this returns false.
    pub fn finish(&mut self) -> bool {
        self.movers.respond(&self.impulse, &mut self.velocity);
        self.movers.finish()
    }
}
