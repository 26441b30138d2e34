//! Newton's method on a convex energy of the velocities, which a line search lets converge from anywhere.
//!
//! Coulomb's law is the solution of a convex problem once the sliding speeds `s = mu |y_t|` in it are held: `y + s n` in the
//! dual of the friction cone `K`, complementary to `x` in `K` (De Saxce). With impulses `x_0` to start from and a small
//! compliance `c`, the impulses follow from the velocities, and these minimise an energy:
//!
//! ```text
//! x(v) = P_K(x_0 - (y + s n) / c)          E(v) = 1/2 (v - v_0)' M (v - v_0) + sum c / 2 |x(v)|^2
//! ```
//!
//! The gradient is `M (v - v_0) - J' x(v)`, the second derivative `M + J' K J` with the derivatives `K` of the projections,
//! symmetric and positive definite. Then `x_0` and `s` follow the solution, until neither changes.

use meniscus_lcp::factor::Block;

use super::hybrid::Best;
use super::island::Island;
use super::newton::{Newton, Response, RowGroup, groups, jacobian};

/// Compliance of a row, as a share of its diagonal: of the first energy, which few steps minimise, and of the last ones, each
/// of which comes close to the solution.
const COMPLIANCE: (f64, f64) = (1e-2, 1e-6);
/// Compliance of an energy, as a share of the last one's.
const STIFFER: f64 = 0.1;
/// Energies that are minimised at most.
const MOST_ENERGIES: usize = 12;
/// Steps for one of them at most, and for all.
const MOST_STEPS: (usize, usize) = (40, 120);
/// Part of the residual that remains of it: the next energy differs.
const ENOUGH: f64 = 0.02;
/// Energies without a clearly better residual after which the best impulses are accepted.
const PATIENCE: usize = 3;
/// Slope along a step, as a share of the first one, at which a line search ends.
const SLOPE: f64 = 0.3;
/// Evaluations of a line search at most.
const MOST_TRIALS: usize = 8;

/// Minimises energies until the tolerance is reached or they do not help; returns the number of steps. The best impulses are
/// kept.
pub(super) fn improve<const D: usize, const B: usize>(
    island: &mut Island<D>,
    newton: &mut Newton<B>,
    tolerance: f64,
) -> usize {
    let mut best = Best::new(island);
    let mut energy = Energy::<D, B>::new(island, newton);
    let (mut steps, mut stale) = (0, 0);
    let mut compliance = COMPLIANCE.0;
    for _ in 0..MOST_ENERGIES {
        energy.hold(island, compliance);
        let enough = f64::max(0.1 * tolerance, ENOUGH * best.residual);
        let Some(done) = energy.minimise(island, newton, enough) else {
            break;
        };
        steps += done;
        island.restart(&energy.x);
        let before = best.residual;
        best.keep(island);
        stale = match best.residual < 0.5 * before {
            true => 0,
            false => stale + 1,
        };
        if best.residual <= tolerance || stale == PATIENCE || steps >= MOST_STEPS.1 {
            break;
        }
        compliance = f64::max(STIFFER * compliance, COMPLIANCE.1);
    }
    island.restart(&best.x);
    steps
}

struct Energy<const D: usize, const B: usize> {
    mass: Vec<Block<B>>,
    /// Velocities without impulses, and velocities.
    start: Vec<[f64; B]>,
    v: Vec<[f64; B]>,
    /// Velocities of the rows, and their change along a step.
    y: Vec<f64>,
    dy: Vec<f64>,
    /// Impulses to start from.
    held: Vec<f64>,
    /// Impulses at the velocities.
    x: Vec<f64>,
    /// Sliding speeds of contacts, times the coefficient of friction.
    sliding: Vec<f64>,
    /// Reciprocal compliance of each group of rows; zero for those without effect.
    rate: Vec<f64>,
}

impl<const D: usize, const B: usize> Energy<D, B> {
    fn new(island: &Island<D>, newton: &Newton<B>) -> Self {
        let own = |twist: &crate::Twist<D>| -> [f64; B] {
            std::array::from_fn(|i| match i < D {
                true => twist.linear[i],
                false => twist.angular[3 + i - B],
            })
        };
        let slots = || newton.slots().map(|slot| slot as usize);
        Self {
            mass: slots().map(|slot| newton.mass(island, slot)).collect(),
            start: slots().map(|slot| own(island.start(slot))).collect(),
            v: slots().map(|slot| own(&island.slots[slot].twist)).collect(),
            y: (0..island.rows.len()).map(|i| island.y(i)).collect(),
            dy: vec![0.0; island.rows.len()],
            held: Vec::new(),
            x: island.x.clone(),
            sliding: vec![0.0; island.contacts()],
            rate: Vec::new(),
        }
    }

    /// Takes over impulses and sliding speeds of the island, for an energy with a compliance.
    fn hold(&mut self, island: &Island<D>, compliance: f64) {
        let rate = |group: RowGroup| {
            let rows = &island.rows[group.first..group.first + group.len];
            let largest = rows.iter().fold(0.0, |d: f64, row| d.max(row.diagonal));
            let works = rows[0].diagonal > 0.0 && rows[0].upper > rows[0].lower;
            if works {
                1.0 / (compliance * largest)
            } else {
                0.0
            }
        };
        self.rate.clear();
        self.rate.extend(groups(island).map(rate));
        self.held.clone_from(&island.x);
        for (contact, sliding) in self.sliding.iter_mut().enumerate() {
            let n = island.normal_row(contact);
            let squares: f64 = (1..D).map(|k| island.y(n + k).powi(2)).sum();
            *sliding = island.friction[contact] * squares.sqrt();
        }
    }

    /// Steps until velocities and impulses agree within `enough`; their number, or `None` without any.
    fn minimise(
        &mut self,
        island: &Island<D>,
        newton: &mut Newton<B>,
        enough: f64,
    ) -> Option<usize> {
        let mut responses = Vec::new();
        for done in 0..MOST_STEPS.0 {
            self.respond(island, &mut responses);
            let mut force = self.force(island, newton);
            if done > 0 && self.mismatch(&force) <= enough {
                return Some(done);
            }
            let first = force.clone();
            if !newton.solve_with(island, &responses, &mut force) {
                return (done > 0).then_some(done);
            }
            self.along(island, newton, &force);
            let share = self.line_search(island, &first, &force);
            for (v, dv) in self.v.iter_mut().zip(&force) {
                (0..B).for_each(|i| v[i] += share * dv[i]);
            }
            for (y, dy) in self.y.iter_mut().zip(&self.dy) {
                *y += share * dy;
            }
        }
        self.respond(island, &mut responses);
        Some(MOST_STEPS.0)
    }

    /// Impulses at the velocities, with the derivatives of the projections.
    fn respond(&mut self, island: &Island<D>, responses: &mut Vec<Response<D>>) {
        responses.clear();
        for group in groups(island) {
            let rate = self.rate[group.index];
            let mut response = Response::open();
            let p = self.wish(island, &group, 0.0);
            let x = project(island, &group, p, rate);
            self.x[group.first..group.first + group.len].copy_from_slice(&x[..group.len]);
            if group.len == 1 {
                let row = &island.rows[group.first];
                if p[0] > row.lower && p[0] < row.upper && rate > 0.0 {
                    response.stiffness[0][0] = rate;
                    response.loaded = true;
                }
            } else if rate > 0.0 {
                let mu = island.friction[group.index - island.joint_rows];
                response.loaded = derivative(p, mu, rate, &mut response.stiffness);
            }
            responses.push(response);
        }
    }

    /// `x_0 - (y + s n) / c` for velocities a share of the step further.
    #[inline(always)]
    fn wish(&self, island: &Island<D>, group: &RowGroup, share: f64) -> [f64; D] {
        let rate = self.rate[group.index];
        let mut p = [0.0; D];
        for k in 0..group.len {
            let i = group.first + k;
            let mut y = self.y[i] + share * self.dy[i];
            if k == 0 && group.len > 1 {
                y += self.sliding[group.index - island.joint_rows];
            }
            p[k] = self.held[i] - rate * y;
        }
        p
    }

    /// The negative gradient: `J' x - M (v - v_0)`.
    fn force(&self, island: &Island<D>, newton: &Newton<B>) -> Vec<[f64; B]> {
        let mut force = vec![[0.0; B]; self.v.len()];
        for (row, &x) in island.rows.iter().zip(&self.x) {
            if x != 0.0 {
                let (on_a, on_b) = jacobian::<D, B>(row);
                for (slot, on) in [(row.a, on_a), (row.b, on_b)] {
                    if let Some(at) = newton.row_of_slot(slot) {
                        (0..B).for_each(|i| force[at][i] += x * on[i]);
                    }
                }
            }
        }
        for (at, force) in force.iter_mut().enumerate() {
            let change: [f64; B] = std::array::from_fn(|i| self.v[at][i] - self.start[at][i]);
            for i in 0..B {
                force[i] -= (0..B).map(|j| self.mass[at][i][j] * change[j]).sum::<f64>();
            }
        }
        force
    }

    /// The largest velocity that the force gives to a body by its mass.
    fn mismatch(&self, force: &[[f64; B]]) -> f64 {
        let of_body = |(force, mass): (&[f64; B], &Block<B>)| {
            (0..B).fold(0.0, |most: f64, i| most.max((force[i] / mass[i][i]).abs()))
        };
        force
            .iter()
            .zip(&self.mass)
            .map(of_body)
            .fold(0.0, f64::max)
    }

    /// Changes of the rows' velocities along a step.
    fn along(&mut self, island: &Island<D>, newton: &Newton<B>, step: &[[f64; B]]) {
        for (row, dy) in island.rows.iter().zip(&mut self.dy) {
            let (on_a, on_b) = jacobian::<D, B>(row);
            *dy = 0.0;
            for (slot, on) in [(row.a, on_a), (row.b, on_b)] {
                if let Some(at) = newton.row_of_slot(slot) {
                    *dy += (0..B).map(|i| on[i] * step[at][i]).sum::<f64>();
                }
            }
        }
    }

    /// The share of a step at which the energy has its minimum along it, about; one where that is good enough.
    fn line_search(&self, island: &Island<D>, force: &[[f64; B]], step: &[[f64; B]]) -> f64 {
        let (mut inertia, mut square) = (0.0, 0.0);
        let mut first = 0.0;
        for (at, step) in step.iter().enumerate() {
            for i in 0..B {
                let (mut moved, mut by) = (0.0, 0.0);
                for j in 0..B {
                    moved += self.mass[at][i][j] * (self.v[at][j] - self.start[at][j]);
                    by += self.mass[at][i][j] * step[j];
                }
                inertia += step[i] * moved;
                square += step[i] * by;
                first -= step[i] * force[at][i];
            }
        }
        let slope = |share: f64| {
            let mut slope = inertia + share * square;
            for group in groups(island) {
                let p = self.wish(island, &group, share);
                let x = project(island, &group, p, self.rate[group.index]);
                for k in 0..group.len {
                    slope -= x[k] * self.dy[group.first + k];
                }
            }
            slope
        };
        let enough = SLOPE * first.abs();
        let (mut low, mut high) = ((0.0, first), (1.0, slope(1.0)));
        if high.1 <= enough || first >= 0.0 {
            return 1.0;
        }
        // The slope rises along the step. False position, with the value at an end halved that stays (Illinois).
        let mut last = 0;
        for _ in 0..MOST_TRIALS {
            let share = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let here = slope(share);
            if here.abs() <= enough {
                return share;
            }
            if here < 0.0 {
                low = (share, here);
                if last == -1 {
                    high.1 *= 0.5;
                }
                last = -1;
            } else {
                high = (share, here);
                if last == 1 {
                    low.1 *= 0.5;
                }
                last = 1;
            }
        }
        if low.0 > 0.0 { low.0 } else { high.0 }
    }
}

/// The nearest impulses within the bounds of a joint or the cone of a contact.
#[inline(always)]
fn project<const D: usize>(
    island: &Island<D>,
    group: &RowGroup,
    p: [f64; D],
    rate: f64,
) -> [f64; D] {
    let mut x = [0.0; D];
    if group.len == 1 {
        let row = &island.rows[group.first];
        x[0] = p[0].clamp(row.lower, row.upper);
    } else if rate > 0.0 {
        let mu = island.friction[group.index - island.joint_rows];
        let length = (1..D).map(|k| p[k] * p[k]).sum::<f64>().sqrt();
        if length <= mu * p[0] {
            return p;
        }
        let n = (p[0] + mu * length) / (1.0 + mu * mu);
        if n > 0.0 {
            x[0] = n;
            (1..D).for_each(|k| x[k] = mu * n * p[k] / length);
        }
    }
    x
}

/// Derivative of the projection onto the cone, times the rate; false if it is zero.
fn derivative<const D: usize>(p: [f64; D], mu: f64, rate: f64, k: &mut [[f64; D]; D]) -> bool {
    let length = (1..D).map(|i| p[i] * p[i]).sum::<f64>().sqrt();
    if length <= mu * p[0] {
        (0..D).for_each(|i| k[i][i] = rate);
        return true;
    }
    let n = (p[0] + mu * length) / (1.0 + mu * mu);
    if n <= 0.0 {
        return false;
    }
    // Along the side of the cone, and around it.
    let mut along = [1.0; D];
    (1..D).for_each(|i| along[i] = mu * p[i] / length);
    let turn = mu * n / length;
    for i in 0..D {
        for j in 0..D {
            k[i][j] = rate * along[i] * along[j] / (1.0 + mu * mu);
            if i > 0 && j > 0 {
                let same = f64::from(u8::from(i == j));
                k[i][j] += rate * turn * (same - p[i] * p[j] / (length * length));
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Cone;
    use crate::state::Kinetic;

    /// An island of one contact with a coefficient of friction.
    fn contact<const D: usize>(mu: f64) -> Island<D> {
        let mut island = Island::new(Cone::Disc);
        let row = crate::Row {
            a: 0,
            b: None,
            linear: [0.0; D],
            angular_a: [0.0; 3],
            angular_b: [0.0; 3],
            bias: 0.0,
            lower: 0.0,
            upper: f64::INFINITY,
        };
        island.add_slot(0, &Kinetic::world());
        (0..D).for_each(|_| island.add_row(&row, 0, 0, 0.0));
        island.friction.push(mu);
        island
    }

    /// The projection is the nearest point of the cone: the rest is in the polar cone and at a right angle to it. Its
    /// derivative is that of differences.
    fn check<const D: usize>() {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        for k in 0..300 {
            let mu = [0.0, 0.3, 1.5][k % 3];
            let island = contact::<D>(mu);
            let group = || groups(&island).next().unwrap();
            let p: [f64; D] = std::array::from_fn(|_| random());
            let x = project(&island, &group(), p, 1.0);
            let length = |x: &[f64; D]| (1..D).map(|i| x[i] * x[i]).sum::<f64>().sqrt();
            assert!(length(&x) <= mu * x[0] + 1e-12, "{x:?}");
            let rest: [f64; D] = std::array::from_fn(|i| p[i] - x[i]);
            assert!(rest[0] + mu * length(&rest) <= 1e-12, "{rest:?}");
            let product: f64 = (0..D).map(|i| rest[i] * x[i]).sum();
            assert!(product.abs() < 1e-12);
            let mut exact = [[0.0; D]; D];
            derivative(p, mu, 1.0, &mut exact);
            for j in 0..D {
                const H: f64 = 1e-7;
                let moved = |by: f64| {
                    let mut q = p;
                    q[j] += by;
                    project(&island, &group(), q, 1.0)
                };
                let (low, high) = (moved(-H), moved(H));
                for i in 0..D {
                    let difference = (high[i] - low[i]) / (2.0 * H);
                    assert!((difference - exact[i][j]).abs() < 1e-5, "{p:?} {mu}");
                }
            }
        }
    }

    #[test]
    fn impulses_are_projected_onto_the_friction_cone_with_their_derivative() {
        check::<2>();
        check::<3>();
    }
}
