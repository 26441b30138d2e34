//! An island: bodies that touch or are joined, with the rows between them.

use crate::body::Twist;
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
}

/// The problem of an island: joint rows first, then `D` rows for each contact, the normal one first.
#[derive(Clone, Debug)]
pub(crate) struct Island<const D: usize> {
    pub slots: Vec<Slot<D>>,
    pub rows: Vec<SolverRow<D>>,
    /// Impulses.
    pub x: Vec<f64>,
    /// Velocities without impulses.
    start: Vec<Twist<D>>,
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
            twist: Twist::ZERO,
        };
        Self {
            slots: vec![world],
            rows: Vec::new(),
            x: Vec::new(),
            start: Vec::new(),
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

    /// Adds a body; returns its slot.
    pub fn add_slot(&mut self, body: usize, kinetic: &Kinetic<D>) -> u32 {
        if !kinetic.is_free() && kinetic.twist == Twist::ZERO {
            return 0;
        }
        self.slots.push(Slot {
            body: Some(body),
            inverse_mass: kinetic.inverse_mass,
            inverse_inertia: kinetic.inverse_inertia,
            twist: kinetic.twist,
        });
        self.slots.len() as u32 - 1
    }

    /// Adds a row between two slots, with the impulse to start from.
    pub fn add_row(&mut self, row: &Row<D>, a: u32, b: u32, start: f64) {
        let (slot_a, slot_b) = (&self.slots[a as usize], &self.slots[b as usize]);
        let (turn_a, turn_b) = (
            apply3(&slot_a.inverse_inertia, row.angular_a),
            apply3(&slot_b.inverse_inertia, row.angular_b),
        );
        let inverse_mass = slot_a.inverse_mass + slot_b.inverse_mass;
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
        let p = self.rows[n + 1].diagonal;
        if D == 2 {
            return ContactBlock {
                normal: [self.coupling(n, n + 1), 0.0],
                tangents: 0.0,
                largest: p,
            };
        }
        let (q, off) = (self.rows[n + 2].diagonal, self.coupling(n + 1, n + 2));
        ContactBlock {
            normal: [self.coupling(n, n + 1), self.coupling(n, n + 2)],
            tangents: off,
            largest: 0.5 * (p + q) + (0.25 * (p - q).powi(2) + off * off).sqrt(),
        }
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
