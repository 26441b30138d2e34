//! Newton steps on the active set of a small island, friction included.
//!
//! The impulses say which contacts are open, stick or slide, and in which direction. With that fixed the problem is linear:
//!
//! ```text
//! stick:  y_n = 0, y_t = 0          slide:  y_n = 0, x_t = mu x_n s          open:  x = 0
//! ```
//!
//! Contacts are redundant as a rule and the matrix singular: a small multiple of its diagonal is added, and taken out again
//! by a second solve with what the first one left (a proximal step).

use meniscus_lcp::factor::Lu;

use super::island::Island;
use crate::settings::Cone;

/// Unknowns of a dense system at most.
const MOST_UNKNOWNS: usize = 160;
/// Newton steps.
const MOST_STEPS: usize = 12;
/// Share of the diagonal that makes the matrix regular.
const PROXIMAL: f64 = 1e-7;
/// Solves with one factorisation.
const PROXIMAL_STEPS: usize = 4;

/// What an unknown impulse does: its row, and for contacts that slide the tangents that follow it.
struct Unknown {
    row: usize,
    /// `mu s`, zero unless the contact slides.
    slides: [f64; 2],
}

/// Improves the impulses; returns the number of active sets that were solved for.
pub(super) fn improve<const D: usize>(island: &mut Island<D>, tolerance: f64) -> usize {
    let mut best = (island.residual(), island.x.clone());
    for step in 0..MOST_STEPS {
        let Some(unknowns) = select(island) else {
            break;
        };
        solve_for(island, &unknowns);
        let residual = island.residual();
        if residual < best.0 {
            best = (residual, island.x.clone());
        }
        if best.0 <= tolerance {
            return step + 1;
        }
        if !residual.is_finite() {
            break;
        }
    }
    for (i, x) in best.1.iter().enumerate() {
        island.set(i, *x);
    }
    // Impulses that overflowed leave velocities that do not come back by subtraction.
    MOST_STEPS
}

/// The active set of the impulses; the others are set to their bounds.
fn select<const D: usize>(island: &mut Island<D>) -> Option<Vec<Unknown>> {
    let mut unknowns = Vec::new();
    for i in 0..island.joint_rows {
        let row = &island.rows[i];
        if row.diagonal <= 0.0 {
            continue;
        }
        let wish = island.x[i] - island.y(i) / row.diagonal;
        let (lower, upper) = (row.lower, row.upper);
        if wish > lower && wish < upper {
            unknowns.push(Unknown {
                row: i,
                slides: [0.0; 2],
            });
        } else {
            island.set(i, wish.clamp(lower, upper));
        }
    }
    for contact in 0..island.contacts() {
        let n = island.normal_row(contact);
        let d = island.rows[n].diagonal;
        let wish = if d > 0.0 {
            island.x[n] - island.y(n) / d
        } else {
            0.0
        };
        if wish <= 0.0 || island.rows[n].upper <= 0.0 {
            (0..D).for_each(|k| island.set(n + k, 0.0));
            continue;
        }
        let mu = island.friction[contact];
        let reach = mu * island.x[n].max(wish);
        let slot = unknowns.len();
        unknowns.push(Unknown {
            row: n,
            slides: [0.0; 2],
        });
        if D == 3 && island.cone == Cone::Disc {
            let rate = island.disc_diagonal(contact);
            let p = [0, 1].map(|k| island.x[n + 1 + k] - island.y(n + 1 + k) / rate);
            let length = (p[0] * p[0] + p[1] * p[1]).sqrt();
            if length > reach {
                unknowns[slot].slides = p.map(|p| mu * p / length);
            } else {
                unknowns.extend([1, 2].map(|k| Unknown {
                    row: n + k,
                    slides: [0.0; 2],
                }));
            }
        } else {
            for k in 1..D {
                let p = island.x[n + k] - island.y(n + k) / island.rows[n + k].diagonal;
                if p.abs() > reach {
                    unknowns[slot].slides[k - 1] = mu.copysign(p);
                } else {
                    unknowns.push(Unknown {
                        row: n + k,
                        slides: [0.0; 2],
                    });
                }
            }
        }
    }
    (unknowns.len() <= MOST_UNKNOWNS && !unknowns.is_empty()).then_some(unknowns)
}

/// Solves the linear problem of an active set.
fn solve_for<const D: usize>(island: &mut Island<D>, unknowns: &[Unknown]) {
    // Tangents that slide follow their normal from now on.
    for unknown in unknowns {
        follow(island, unknown);
    }
    let n = unknowns.len();
    // To a unit diagonal: masses may differ by many powers of ten.
    let scale: Vec<f64> = unknowns
        .iter()
        .map(|u| 1.0 / island.rows[u.row].diagonal.sqrt())
        .collect();
    let entry = |i: usize, j: usize| {
        let (row, by) = (unknowns[i].row, &unknowns[j]);
        let mut sum = island.coupling(row, by.row);
        for k in 0..D - 1 {
            if by.slides[k] != 0.0 {
                sum += by.slides[k] * island.coupling(row, by.row + 1 + k);
            }
        }
        scale[i] * scale[j] * sum + if i == j { PROXIMAL } else { 0.0 }
    };
    let mut lu = Lu::default();
    lu.factorise(n, |i, values| (0..n).for_each(|j| values[j] = entry(i, j)));
    for _ in 0..PROXIMAL_STEPS {
        let mut change: Vec<f64> = (0..n)
            .map(|i| -scale[i] * island.y(unknowns[i].row))
            .collect();
        lu.solve(&mut change);
        for (i, unknown) in unknowns.iter().enumerate() {
            island.set(unknown.row, island.x[unknown.row] + scale[i] * change[i]);
            follow(island, unknown);
        }
    }
}

fn follow<const D: usize>(island: &mut Island<D>, unknown: &Unknown) {
    for k in 0..D - 1 {
        if unknown.slides[k] != 0.0 {
            island.set(
                unknown.row + 1 + k,
                unknown.slides[k] * island.x[unknown.row],
            );
        }
    }
}
