//! An island: bodies that touch or are joined, with the rows between them.

use std::sync::Arc;

use crate::body::Twist;
use crate::inertia::{Inertia, freedoms, join, split};
use crate::linear::{Angular, Matrix3, ZERO3, add_scaled, apply3, dot, sub};
use crate::rows::Row;
use crate::settings::Cone;
use crate::state::Kinetic;

/// Size of the right-hand side, as a share of the speeds in the island, below which it is rounding.
const ROUNDING: f64 = 1e-13;

/// A body of an island. The first one of each island is the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<const D: usize> {
    /// Index of the body.
    pub body: Option<usize>,
    pub inverse_mass: f64,
    pub inverse_inertia: Matrix3,
    /// Number of the inertia that takes the place of mass and moments.
    pub inertia: Option<u32>,
    pub twist: Twist<D>,
}

/// A row, with the products that a sweep needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolverRow<const D: usize> {
    pub a: u32,
    pub b: u32,
    pub linear: [f64; D],
    pub angular_a: Angular,
    pub angular_b: Angular,
    /// `inv(I) angular`
    pub turn_a: Angular,
    pub turn_b: Angular,
    pub inverse_mass_a: f64,
    pub inverse_mass_b: f64,
    /// Diagonal of `J inv(M) J'`.
    pub diagonal: f64,
    pub bias: f64,
    pub lower: f64,
    pub upper: f64,
}

/// Entries of a contact's block of `J inv(M) J'` beside the diagonal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactBlock {
    /// Between the normal and each tangent.
    pub normal: [f64; 2],
    /// Between the two tangents.
    pub tangents: f64,
    /// The largest eigenvalue of the block of the tangents.
    pub largest: f64,
    /// Reciprocals of the diagonal, of `largest`, and of the determinant of the tangents' block; zero where there are none.
    pub inverse_diagonal: [f64; 3],
    pub inverse_largest: f64,
    pub inverse_determinant: f64,
}

/// The problem of an island: joint rows first, then `D` rows for each contact, the normal one first.
#[derive(Clone, Debug)]
pub(crate) struct Island<const D: usize> {
    pub slots: Vec<Slot<D>>,
    pub rows: Vec<SolverRow<D>>,
    /// Inertias of bodies that have a matrix of their own.
    pub inertias: Arc<Vec<Inertia>>,
    /// For each row what a unit impulse adds to the linear velocities of bodies with such an inertia; empty without them.
    shifts: Vec<[[f64; D]; 2]>,
    /// Impulses.
    pub x: Vec<f64>,
    /// Velocities without impulses.
    start: Vec<Twist<D>>,
    /// Whether the impulses to start from are those of a solve of the same step, with fewer contacts.
    pub continued: bool,
    pub joint_rows: usize,
    /// Coulomb coefficients of the contacts.
    pub friction: Vec<f64>,
    /// Blocks of `J inv(M) J'` of each contact.
    pub blocks: Vec<ContactBlock>,
    pub cone: Cone,
    /// Largest velocity in the right-hand side.
    pub scale: f64,
    /// Global numbers of the rows' joints and contacts.
    pub joint_row_ids: Vec<usize>,
    pub contact_ids: Vec<usize>,
}

impl<const D: usize> Island<D> {
    pub fn new(cone: Cone) -> Self {
        let world = Slot {
            body: None,
            inverse_mass: 0.0,
            inverse_inertia: ZERO3,
            inertia: None,
            twist: Twist::ZERO,
        };
        Self {
            slots: vec![world],
            rows: Vec::new(),
            inertias: Arc::default(),
            shifts: Vec::new(),
            x: Vec::new(),
            start: Vec::new(),
            continued: false,
            joint_rows: 0,
            friction: Vec::new(),
            blocks: Vec::new(),
            cone,
            scale: 0.0,
            joint_row_ids: Vec::new(),
            contact_ids: Vec::new(),
        }
    }

    pub fn contacts(&self) -> usize {
        self.friction.len()
    }

    pub fn free_bodies(&self) -> usize {
        self.slots
            .iter()
            .filter(|slot| slot.inverse_mass > 0.0)
            .count()
    }

    /// The first free body.
    pub fn first_body(&self) -> Option<usize> {
        let mut free = self.slots.iter().filter(|slot| slot.inverse_mass > 0.0);
        free.next().and_then(|slot| slot.body)
    }

    /// Adds a body; returns its slot.
    pub fn add_slot(&mut self, body: usize, kinetic: &Kinetic<D>) -> u32 {
        if !kinetic.is_free() && kinetic.twist == Twist::ZERO {
            return 0;
        }
        self.slots.push(Slot {
            body: Some(body),
            inverse_mass: kinetic.inverse_mass,
            inverse_inertia: kinetic.inverse_inertia,
            inertia: kinetic.general,
            twist: kinetic.twist,
        });
        self.slots.len() as u32 - 1
    }

    /// Adds a row between two slots, with the impulse to start from.
    pub fn add_row(&mut self, row: &Row<D>, a: u32, b: u32, start: f64) {
        let (slot_a, slot_b) = (&self.slots[a as usize], &self.slots[b as usize]);
        if slot_a.inertia.is_some() || slot_b.inertia.is_some() {
            return self.add_general_row(row, a, b, start);
        }
        let (turn_a, turn_b) = (
            apply3(&slot_a.inverse_inertia, row.angular_a),
            apply3(&slot_b.inverse_inertia, row.angular_b),
        );
        let inverse_mass = slot_a.inverse_mass + slot_b.inverse_mass;
        if !self.shifts.is_empty() {
            self.shifts.push([[0.0; D]; 2]);
        }
        self.rows.push(SolverRow {
            a,
            b,
            linear: row.linear,
            angular_a: row.angular_a,
            angular_b: row.angular_b,
            turn_a,
            turn_b,
            inverse_mass_a: slot_a.inverse_mass,
            inverse_mass_b: slot_b.inverse_mass,
            diagonal: inverse_mass * dot(row.linear, row.linear)
                + dot(row.angular_a, turn_a)
                + dot(row.angular_b, turn_b),
            bias: row.bias,
            lower: row.lower,
            upper: row.upper,
        });
        self.x.push(start.clamp(row.lower, row.upper));
    }

    /// Adds a row of which a body at least has an inertia of its own.
    fn add_general_row(&mut self, row: &Row<D>, a: u32, b: u32, start: f64) {
        let away = row.linear.map(|c| -c);
        // What a unit impulse adds to the velocities of a body, and the linear part of it beyond the inverse mass.
        let moved = |slot: &Slot<D>, linear: [f64; D], angular: Angular| match slot.inertia {
            None => (
                slot.inverse_mass,
                [0.0; D],
                apply3(&slot.inverse_inertia, angular),
            ),
            Some(inertia) => {
                let inertia = &self.inertias[inertia as usize];
                let twist = split::<D>(&inertia.respond(&join(linear, angular), freedoms::<D>()));
                (0.0, twist.linear, twist.angular)
            }
        };
        let (inverse_mass_a, shift_a, turn_a) =
            moved(&self.slots[a as usize], row.linear, row.angular_a);
        let (inverse_mass_b, shift_b, turn_b) = moved(&self.slots[b as usize], away, row.angular_b);
        self.shifts.resize(self.rows.len(), [[0.0; D]; 2]);
        self.shifts.push([shift_a, shift_b]);
        self.rows.push(SolverRow {
            a,
            b,
            linear: row.linear,
            angular_a: row.angular_a,
            angular_b: row.angular_b,
            turn_a,
            turn_b,
            inverse_mass_a,
            inverse_mass_b,
            diagonal: (inverse_mass_a + inverse_mass_b) * dot(row.linear, row.linear)
                + dot(row.linear, shift_a)
                + dot(away, shift_b)
                + dot(row.angular_a, turn_a)
                + dot(row.angular_b, turn_b),
            bias: row.bias,
            lower: row.lower,
            upper: row.upper,
        });
        self.x.push(start.clamp(row.lower, row.upper));
    }

    /// What a unit impulse of a row adds to linear velocities beyond the inverse masses.
    #[inline(always)]
    pub fn shifts(&self, i: usize) -> Option<&[[f64; D]; 2]> {
        self.shifts.get(i)
    }

    /// Measures the right-hand side, then applies the impulses to start from.
    pub fn begin(&mut self) {
        let largest =
            (0..self.rows.len()).fold(0.0, |largest: f64, i| largest.max(self.y(i).abs()));
        let speed = self.slots.iter().fold(0.0, |speed: f64, slot| {
            let reach = slot.twist.linear.iter().chain(&slot.twist.angular);
            reach.fold(speed, |speed, c| speed.max(c.abs()))
        });
        self.scale = largest
            .max(ROUNDING / 1e-9 * speed)
            .max(f64::MIN_POSITIVE / f64::EPSILON);
        self.blocks = (0..self.contacts())
            .map(|contact| self.contact_block(self.normal_row(contact)))
            .collect();
        self.clamp_start();
        self.start = self.slots.iter().map(|slot| slot.twist).collect();
        let x = self.x.clone();
        self.restart(&x);
    }

    /// Solves with the tangential impulses as they are, as forces from outside. The velocities are those without impulses.
    pub fn with_frozen_tangents<T>(&mut self, solve: impl FnOnce(&mut Self) -> T) -> T {
        let friction = self.friction.clone();
        let without: Vec<Twist<D>> = self.slots.iter().map(|slot| slot.twist).collect();
        let mut tangents = vec![0.0; self.rows.len()];
        for contact in 0..self.contacts() {
            let n = self.normal_row(contact);
            for i in n + 1..n + D {
                tangents[i] = self.x[i];
                self.apply(i, self.x[i]);
                self.x[i] = 0.0;
            }
            self.friction[contact] = 0.0;
        }
        self.begin();
        let result = solve(self);
        self.friction = friction;
        self.start = without;
        for (x, tangent) in self.x.iter_mut().zip(&tangents) {
            *x += tangent;
        }
        self.update_velocities();
        result
    }

    /// Solves with another coefficient of friction at all contacts that have friction.
    pub fn with_friction<T>(&mut self, coefficient: f64, solve: impl FnOnce(&mut Self) -> T) -> T {
        let friction = self.friction.clone();
        for own in &mut self.friction {
            *own = if *own > 0.0 { coefficient } else { 0.0 };
        }
        let result = solve(self);
        self.friction = friction;
        result
    }

    /// The island with contacts that let bodies slide, at the same velocities: its derivative is that of responses with
    /// tangential impulses that stay as they are.
    pub fn with_open_tangents(&self) -> Self {
        let mut open = self.clone();
        open.friction.fill(0.0);
        for contact in 0..open.contacts() {
            let n = open.normal_row(contact);
            open.x[n + 1..n + D].fill(0.0);
        }
        open
    }

    /// Velocity of a slot without impulses.
    pub fn start(&self, slot: usize) -> &Twist<D> {
        &self.start[slot]
    }

    /// Sets all impulses, and the velocities with them.
    pub fn restart(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
        self.update_velocities();
    }

    /// Velocities from those without impulses and the impulses.
    pub fn update_velocities(&mut self) {
        for (slot, start) in self.slots.iter_mut().zip(&self.start) {
            slot.twist = *start;
        }
        for i in 0..self.rows.len() {
            if self.x[i] != 0.0 {
                self.apply(i, self.x[i]);
            }
        }
    }

    fn contact_block(&self, n: usize) -> ContactBlock {
        let reciprocal = |value: f64| if value > 0.0 { 1.0 / value } else { 0.0 };
        let diagonal = |k: usize| {
            if k < D {
                self.rows[n + k].diagonal
            } else {
                0.0
            }
        };
        let (p, q) = (diagonal(1), diagonal(2));
        let mut block = ContactBlock {
            normal: [self.coupling(n, n + 1), 0.0],
            largest: p,
            inverse_diagonal: std::array::from_fn(|k| reciprocal(diagonal(k))),
            ..ContactBlock::default()
        };
        if D == 3 {
            let off = self.coupling(n + 1, n + 2);
            block.normal[1] = self.coupling(n, n + 2);
            block.tangents = off;
            block.largest = 0.5 * (p + q) + (0.25 * (p - q).powi(2) + off * off).sqrt();
            let determinant = p * q - off * off;
            if determinant > 1e-12 * p * q {
                block.inverse_determinant = 1.0 / determinant;
            }
        }
        block.inverse_largest = reciprocal(block.largest);
        block
    }

    /// Moves the tangents into the cones of the normal impulses.
    fn clamp_start(&mut self) {
        for contact in 0..self.contacts() {
            let first = self.normal_row(contact);
            let reach = self.friction[contact] * self.x[first].max(0.0);
            let length = (1..D)
                .map(|k| self.x[first + k].powi(2))
                .sum::<f64>()
                .sqrt();
            if length > reach {
                for k in 1..D {
                    self.x[first + k] *= reach / length;
                }
            }
        }
    }

    /// The normal row of a contact; its tangents follow.
    #[inline(always)]
    pub fn normal_row(&self, contact: usize) -> usize {
        self.joint_rows + contact * D
    }

    /// `y_i = J_i v + bias_i`
    #[inline(always)]
    pub fn y(&self, i: usize) -> f64 {
        let row = &self.rows[i];
        let (a, b) = (
            &self.slots[row.a as usize].twist,
            &self.slots[row.b as usize].twist,
        );
        dot(row.linear, sub(a.linear, b.linear))
            + dot(row.angular_a, a.angular)
            + dot(row.angular_b, b.angular)
            + row.bias
    }

    /// Adds a change of one impulse to the velocities: `v += inv(M) J_i' change`.
    #[inline(always)]
    pub fn apply(&mut self, i: usize, change: f64) {
        let row = &self.rows[i];
        let a = &mut self.slots[row.a as usize].twist;
        a.linear = add_scaled(a.linear, change * row.inverse_mass_a, row.linear);
        a.angular = add_scaled(a.angular, change, row.turn_a);
        let b = &mut self.slots[row.b as usize].twist;
        b.linear = add_scaled(b.linear, -change * row.inverse_mass_b, row.linear);
        b.angular = add_scaled(b.angular, change, row.turn_b);
        if let Some([shift_a, shift_b]) = self.shifts.get(i) {
            let (a, b) = (row.a as usize, row.b as usize);
            let of_a = &mut self.slots[a].twist.linear;
            *of_a = add_scaled(*of_a, change, *shift_a);
            let of_b = &mut self.slots[b].twist.linear;
            *of_b = add_scaled(*of_b, change, *shift_b);
        }
    }

    /// Sets an impulse.
    #[inline(always)]
    pub fn set(&mut self, i: usize, value: f64) {
        let change = value - self.x[i];
        if change != 0.0 {
            self.apply(i, change);
            self.x[i] = value;
        }
    }

    /// Entry `(i, j)` of `J inv(M) J'`; `j` acts on `i` through the bodies that they share.
    pub fn coupling(&self, i: usize, j: usize) -> f64 {
        let (row, by) = (&self.rows[i], &self.rows[j]);
        let mut sum = 0.0;
        if let Some(shifts) = self.shifts.get(j) {
            for (slot, sign) in [(row.a, 1.0), (row.b, -1.0)] {
                for (other, shift) in [(by.a, shifts[0]), (by.b, shifts[1])] {
                    if slot == other && slot != 0 {
                        sum += sign * dot(row.linear, shift);
                    }
                }
            }
        }
        for (slot, sign, angular) in [(row.a, 1.0, row.angular_a), (row.b, -1.0, row.angular_b)] {
            for (other, other_sign, inverse_mass, turn) in [
                (by.a, 1.0, by.inverse_mass_a, by.turn_a),
                (by.b, -1.0, by.inverse_mass_b, by.turn_b),
            ] {
                if slot == other && slot != 0 {
                    sum += sign * other_sign * inverse_mass * dot(row.linear, by.linear)
                        + dot(angular, turn);
                }
            }
        }
        sum
    }

    /// `1/2 x'(y + y0)` for the velocities `y0` of the rows without impulses: what the contact problem adds to the energy of
    /// the bodies.
    pub fn dual_energy(&self) -> f64 {
        let rows = (0..self.rows.len()).filter(|&i| self.x[i] != 0.0);
        rows.map(|i| 0.5 * self.x[i] * (self.y(i) + self.start_speed(i)))
            .sum()
    }

    /// `y_i` without impulses.
    pub fn start_speed(&self, i: usize) -> f64 {
        let row = &self.rows[i];
        let (a, b) = (&self.start[row.a as usize], &self.start[row.b as usize]);
        dot(row.linear, sub(a.linear, b.linear))
            + dot(row.angular_a, a.angular)
            + dot(row.angular_b, b.angular)
            + row.bias
    }

    /// For each row whether it is held, see [`Newton::derivative`](super::Newton::derivative).
    pub fn active_rows(&self) -> Vec<bool> {
        super::newton::held_rows(self)
    }

    /// The largest natural residual in m/s, with the bounds of friction at the impulses.
    pub fn residual(&self) -> f64 {
        let mut largest = 0.0_f64;
        let mut see = |r: f64| {
            largest = if r.is_nan() {
                f64::INFINITY
            } else {
                largest.max(r.abs())
            }
        };
        for i in 0..self.joint_rows {
            see(self.box_residual(i, self.rows[i].lower, self.rows[i].upper));
        }
        for contact in 0..self.contacts() {
            let n = self.normal_row(contact);
            see(self.box_residual(n, self.rows[n].lower, self.rows[n].upper));
            let reach = self.friction[contact] * self.x[n].max(0.0);
            if D == 2 || self.cone == Cone::Pyramid {
                for k in 1..D {
                    see(self.box_residual(n + k, -reach, reach));
                }
            } else {
                let r = self.disc_step(contact, reach);
                see((self.x[n + 1] - r[0]) * self.disc_diagonal(contact));
                see((self.x[n + 2] - r[1]) * self.disc_diagonal(contact));
            }
        }
        largest
    }

    fn box_residual(&self, i: usize, lower: f64, upper: f64) -> f64 {
        let d = self.rows[i].diagonal;
        if d <= 0.0 {
            return 0.0;
        }
        d * (self.x[i] - (self.x[i] - self.y(i) / d).clamp(lower, upper))
    }

    /// The largest eigenvalue of the block of a contact's two tangents.
    #[inline(always)]
    pub fn disc_diagonal(&self, contact: usize) -> f64 {
        self.blocks[contact].largest
    }

    /// The projection onto the disc of a gradient step from two tangents: its fixed points oppose the sliding velocity.
    #[inline(always)]
    pub fn disc_step(&self, contact: usize, reach: f64) -> [f64; 2] {
        let t = self.normal_row(contact) + 1;
        let d = self.disc_diagonal(contact);
        if d <= 0.0 {
            return [0.0; 2];
        }
        let step = |i: usize| self.x[i] - self.y(i) / d;
        project([step(t), step(t + 1)], reach)
    }
}

/// The nearest point of a disc.
#[inline(always)]
pub(super) fn project(p: [f64; 2], reach: f64) -> [f64; 2] {
    let length = (p[0] * p[0] + p[1] * p[1]).sqrt();
    if length <= reach {
        p
    } else {
        [p[0] * reach / length, p[1] * reach / length]
    }
}
