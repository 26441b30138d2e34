//! Projected Gauss-Seidel sweeps with bounds of friction updated from the normal impulses. [Erl13 sec. 5.2] [TB20 (14)]

use meniscus_lcp::Status;

use super::SolveReport;
use super::island::{ContactBlock, Island, SolverRow, project};
use crate::linear::{add, add_scaled, dot, sub};
use crate::settings::{Cone, Settings};

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
pub(crate) fn sweeps<const D: usize>(island: &mut Island<D>, most: usize, tolerance: f64) -> usize {
    for done in 1..=most {
        let changed = sweep(island, done % 2 == 0);
        if changed <= tolerance && island.residual() <= tolerance {
            return done;
        }
    }
    most
}

/// One sweep; returns the largest change of a row's velocity.
fn sweep<const D: usize>(island: &mut Island<D>, backward: bool) -> f64 {
    let mut changed = 0.0_f64;
    for i in 0..island.joint_rows {
        changed = changed.max(relax(island, i));
    }
    let count = island.contacts();
    for k in 0..count {
        let contact = if backward { count - 1 - k } else { k };
        changed = changed.max(relax_contact(island, contact));
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
    if rows[0].diagonal > 0.0 {
        new[0] = (old[0] - y[0] / rows[0].diagonal).clamp(0.0, rows[0].upper);
        for k in 1..D {
            y[k] += block.normal[k - 1] * (new[0] - old[0]);
        }
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
            let d = rows[k].diagonal;
            if d > 0.0 {
                new[k] = (old[k] - y[k] / d).clamp(-reach, reach);
            }
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
    let off = block.tangents;
    let determinant = p * q - off * off;
    let stuck = [
        old[0] - (q * y[0] - off * y[1]) / determinant,
        old[1] - (p * y[1] - off * y[0]) / determinant,
    ];
    if determinant > 1e-12 * p * q && stuck[0] * stuck[0] + stuck[1] * stuck[1] <= reach * reach {
        return stuck;
    }
    project(
        [old[0] - y[0] / block.largest, old[1] - y[1] / block.largest],
        reach,
    )
}
