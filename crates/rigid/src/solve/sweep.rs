//! Projected Gauss-Seidel sweeps with bounds of friction updated from the normal impulses. [Erl13 sec. 5.2] [TB20 (14)]

use meniscus_lcp::Status;

use super::SolveReport;
use super::island::{ContactBlock, Island, SolverRow, project};
use crate::body::Twist;
use crate::linear::{add, add_scaled, dot, sub};
use crate::settings::{Cone, Settings};

/// Parts of the list of contacts that a sweep goes through side by side.
const STREAMS: usize = 4;

/// A residual as a share of the one before, beyond which the sweeps between were of no help.
const CLEARLY: f64 = 0.85;

/// Sweeps until the tolerance or the limit is reached.
pub(super) fn solve<const D: usize>(
    island: &mut Island<D>,
    settings: &Settings<D>,
    report: &mut SolveReport,
) {
    report.sweeps += sweeps(island, settings.max_sweeps, report.tolerance);
    report.rounds = 1;
    report.residual = island.residual();
    report.status = if report.residual <= report.tolerance {
        Status::Converged
    } else {
        Status::IterationLimit
    };
}

/// At most so many sweeps, until no velocity changes by more than the tolerance; returns their number.
///
/// Impulses of redundant contacts may creep for ever while the velocities stand: they are no criterion.
fn sweeps<const D: usize>(island: &mut Island<D>, most: usize, tolerance: f64) -> usize {
    for done in 1..=most {
        let changed = sweep(island, done % 2 == 0);
        if changed <= tolerance && island.residual() <= tolerance {
            return done;
        }
    }
    most
}

/// The same with every sweep as a step of nonlinear conjugate gradients, which carries loads through stacks in fewer.
pub(crate) fn accelerated_sweeps<const D: usize>(
    island: &mut Island<D>,
    most: usize,
    tolerance: f64,
) -> usize {
    sweeps_that_help(island, most, tolerance, (usize::MAX, f64::INFINITY)).0
}

/// Accelerated sweeps that end, too, where `window` of them did not lower the residual clearly, at first the one from `before`
/// them; returns their number, and whether that was why they ended.
pub(super) fn sweeps_that_help<const D: usize>(
    island: &mut Island<D>,
    most: usize,
    tolerance: f64,
    (window, mut before): (usize, f64),
) -> (usize, bool) {
    let mut ahead = Acceleration::new(island);
    for done in 1..=most {
        ahead.begin(island);
        let changed = sweep(island, done % 2 == 0);
        let look = changed <= tolerance || done % window == 0;
        let residual = if look {
            island.residual()
        } else {
            f64::INFINITY
        };
        if done == most || changed <= tolerance && residual <= tolerance {
            return (done, false);
        }
        if done % window == 0 {
            if residual > CLEARLY * before {
                return (done, true);
            }
            before = residual;
        }
        ahead.extrapolate(island);
    }
    (most, false)
}

/// Nonsmooth nonlinear conjugate gradients (Silcowitz, Niebe, Erleben 2010): the change that a sweep makes stands for the
/// negative gradient, the rule of Fletcher and Reeves gives the direction, which starts anew where changes grow. Velocities
/// are linear in the impulses, so they follow without a product.
struct Acceleration<const D: usize> {
    x: Vec<f64>,
    twists: Vec<Twist<D>>,
    direction: Vec<f64>,
    turn: Vec<Twist<D>>,
    /// Size of the last change, squared.
    last: f64,
}

impl<const D: usize> Acceleration<D> {
    fn new(island: &Island<D>) -> Self {
        Self {
            x: vec![0.0; island.x.len()],
            twists: vec![Twist::ZERO; island.slots.len()],
            direction: vec![0.0; island.x.len()],
            turn: vec![Twist::ZERO; island.slots.len()],
            last: 0.0,
        }
    }

    fn begin(&mut self, island: &Island<D>) {
        self.x.copy_from_slice(&island.x);
        for (to, slot) in self.twists.iter_mut().zip(&island.slots) {
            *to = slot.twist;
        }
    }

    fn extrapolate(&mut self, island: &mut Island<D>) {
        let mut size = 0.0;
        for ((row, &new), old) in island.rows.iter().zip(&island.x).zip(&mut self.x) {
            *old = new - *old;
            size += row.diagonal * *old * *old;
        }
        let share = if self.last > 0.0 && size < self.last {
            size / self.last
        } else {
            0.0
        };
        self.last = size;
        for ((x, change), along) in island.x.iter_mut().zip(&self.x).zip(&mut self.direction) {
            *along *= share;
            *x += *along;
            *along += change;
        }
        for ((slot, old), along) in (island.slots.iter_mut().zip(&self.twists)).zip(&mut self.turn)
        {
            let Twist { linear, angular } = &mut slot.twist;
            follow(linear, &old.linear, &mut along.linear, share);
            follow(angular, &old.angular, &mut along.angular, share);
        }
    }
}

/// Moves velocities by `share` of the last direction, and adds their change to it.
#[inline(always)]
fn follow<const N: usize>(now: &mut [f64; N], old: &[f64; N], along: &mut [f64; N], share: f64) {
    for i in 0..N {
        let change = now[i] - old[i];
        along[i] *= share;
        now[i] += along[i];
        along[i] += change;
    }
}

/// One sweep; returns the largest change of a row's velocity.
fn sweep<const D: usize>(island: &mut Island<D>, backward: bool) -> f64 {
    let mut changed = 0.0_f64;
    for i in 0..island.joint_rows {
        changed = changed.max(relax(island, i));
    }
    // Contacts one after the other share bodies and wait for each other's velocities; those of different streams do not, so
    // that a processor works on several at a time.
    let count = island.contacts();
    let length = count.div_ceil(STREAMS);
    for k in 0..length {
        let place = if backward { length - 1 - k } else { k };
        for stream in 0..STREAMS {
            let contact = stream * length + place;
            if contact < count {
                changed = changed.max(relax_contact(island, contact));
            }
        }
    }
    changed
}

/// Relaxes the row of a joint.
#[inline(always)]
fn relax<const D: usize>(island: &mut Island<D>, i: usize) -> f64 {
    let SolverRow {
        diagonal: d,
        lower,
        upper,
        ..
    } = island.rows[i];
    if d <= 0.0 {
        return 0.0;
    }
    let old = island.x[i];
    let new = (old - island.y(i) / d).clamp(lower, upper);
    island.set(i, new);
    d * (new - old).abs()
}

/// Relaxes the normal impulse of a contact, then its tangents within the new bounds. Velocities within the contact follow from
/// its own block; those of the two bodies are changed once, at the end.
#[inline(always)]
fn relax_contact<const D: usize>(island: &mut Island<D>, contact: usize) -> f64 {
    let n = island.normal_row(contact);
    let rows: &[SolverRow<D>; D] = match island.rows[n..n + D].try_into() {
        Ok(rows) => rows,
        Err(_) => unreachable!("a slice of D rows"),
    };
    let (a, b) = (rows[0].a as usize, rows[0].b as usize);
    let (mut first, mut second) = (island.slots[a].twist, island.slots[b].twist);
    let apart = sub(first.linear, second.linear);
    let mut y: [f64; D] = std::array::from_fn(|k| {
        dot(rows[k].linear, apart)
            + dot(rows[k].angular_a, first.angular)
            + dot(rows[k].angular_b, second.angular)
            + rows[k].bias
    });
    let block = &island.blocks[contact];
    let old: [f64; D] = std::array::from_fn(|k| island.x[n + k]);
    let mut new = old;
    new[0] = (old[0] - y[0] * block.inverse_diagonal[0]).clamp(0.0, rows[0].upper);
    for k in 1..D {
        y[k] += block.normal[k - 1] * (new[0] - old[0]);
    }
    let reach = island.friction[contact] * new[0];
    if D == 3 && island.cone == Cone::Disc {
        let within = relax_disc(
            [old[1], old[2]],
            [y[1], y[2]],
            [rows[1].diagonal, rows[2].diagonal],
            block,
            reach,
        );
        new[1..].copy_from_slice(&within);
    } else {
        for k in 1..D {
            new[k] = (old[k] - y[k] * block.inverse_diagonal[k]).clamp(-reach, reach);
            if k + 1 < D {
                y[k + 1] += block.tangents * (new[k] - old[k]);
            }
        }
    }
    if new == old {
        return 0.0;
    }
    let mut changed = 0.0_f64;
    let (mut push, mut turn_a, mut turn_b) = ([0.0; D], [0.0; 3], [0.0; 3]);
    for k in 0..D {
        let change = new[k] - old[k];
        push = add_scaled(push, change, rows[k].linear);
        turn_a = add_scaled(turn_a, change, rows[k].turn_a);
        turn_b = add_scaled(turn_b, change, rows[k].turn_b);
        changed = changed.max(rows[k].diagonal * change.abs());
    }
    for k in 0..D {
        if let Some([shift_a, shift_b]) = island.shifts(n + k) {
            first.linear = add_scaled(first.linear, new[k] - old[k], *shift_a);
            second.linear = add_scaled(second.linear, new[k] - old[k], *shift_b);
        }
    }
    first.linear = add_scaled(first.linear, rows[0].inverse_mass_a, push);
    first.angular = add(first.angular, turn_a);
    second.linear = add_scaled(second.linear, -rows[0].inverse_mass_b, push);
    second.angular = add(second.angular, turn_b);
    island.slots[a].twist = first;
    island.slots[b].twist = second;
    island.x[n..n + D].copy_from_slice(&new);
    changed
}

/// Relaxes two tangents together: exactly where they stick, by a projected gradient step where they slide.
#[inline(always)]
fn relax_disc(
    old: [f64; 2],
    y: [f64; 2],
    [p, q]: [f64; 2],
    block: &ContactBlock,
    reach: f64,
) -> [f64; 2] {
    if reach <= 0.0 || block.largest <= 0.0 {
        return [0.0; 2];
    }
    let (off, inverse) = (block.tangents, block.inverse_determinant);
    let stuck = [
        old[0] - (q * y[0] - off * y[1]) * inverse,
        old[1] - (p * y[1] - off * y[0]) * inverse,
    ];
    if inverse > 0.0 && stuck[0] * stuck[0] + stuck[1] * stuck[1] <= reach * reach {
        return stuck;
    }
    let step = block.inverse_largest;
    project([old[0] - y[0] * step, old[1] - y[1] * step], reach)
}
