//! Projected Gauss-Seidel sweeps with bounds of friction updated from the normal impulses. [Erl13 sec. 5.2] [TB20 (14)]

use meniscus_lcp::Status;

use super::SolveReport;
use super::island::Island;
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
        let changed = sweep(island);
        if changed <= tolerance && island.residual() <= tolerance {
            return done;
        }
    }
    most
}

/// One sweep; returns the largest change of a row's velocity.
fn sweep<const D: usize>(island: &mut Island<D>) -> f64 {
    let mut changed = 0.0_f64;
    for i in 0..island.joint_rows {
        let (lower, upper) = (island.rows[i].lower, island.rows[i].upper);
        changed = changed.max(relax(island, i, lower, upper));
    }
    for contact in 0..island.contacts() {
        changed = changed.max(relax_contact(island, contact));
    }
    changed
}

/// Relaxes the normal impulse of a contact, then its tangents within the new bounds.
#[inline(always)]
fn relax_contact<const D: usize>(island: &mut Island<D>, contact: usize) -> f64 {
    let n = island.normal_row(contact);
    let upper = island.rows[n].upper;
    let mut changed = relax(island, n, 0.0, upper);
    let reach = island.friction[contact] * island.x[n];
    if D == 2 || island.cone == Cone::Pyramid {
        for k in 1..D {
            changed = changed.max(relax(island, n + k, -reach, reach));
        }
    } else {
        changed = changed.max(relax_disc(island, contact, reach));
    }
    changed
}

#[inline(always)]
fn relax<const D: usize>(island: &mut Island<D>, i: usize, lower: f64, upper: f64) -> f64 {
    let d = island.rows[i].diagonal;
    if d <= 0.0 {
        return 0.0;
    }
    let old = island.x[i];
    let new = (old - island.y(i) / d).clamp(lower, upper);
    island.set(i, new);
    d * (new - old).abs()
}

/// Relaxes two tangents together: exactly where they stick, by a projected gradient step where they slide.
#[inline(always)]
fn relax_disc<const D: usize>(island: &mut Island<D>, contact: usize, reach: f64) -> f64 {
    let t = island.normal_row(contact) + 1;
    let (p, q, off) = (
        island.rows[t].diagonal,
        island.rows[t + 1].diagonal,
        island.tangent_blocks[contact][0],
    );
    let determinant = p * q - off * off;
    let (old1, old2) = (island.x[t], island.x[t + 1]);
    let mut new = [0.0; 2];
    if reach > 0.0 {
        let (y1, y2) = (island.y(t), island.y(t + 1));
        let stuck = [
            old1 - (q * y1 - off * y2) / determinant,
            old2 - (p * y2 - off * y1) / determinant,
        ];
        let inside = determinant > 1e-12 * p * q
            && stuck[0] * stuck[0] + stuck[1] * stuck[1] <= reach * reach;
        new = if inside {
            stuck
        } else {
            island.disc_step(contact, reach)
        };
    }
    island.set(t, new[0]);
    island.set(t + 1, new[1]);
    p.max(q) * (new[0] - old1).abs().max((new[1] - old2).abs())
}
