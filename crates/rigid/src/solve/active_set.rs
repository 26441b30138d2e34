//! Newton steps on the active set of a small island, friction included.
//!
//! The impulses say which contacts are open, stick or slide. With `p = x_t - y_t / rho`, `d = p / |p|` and the radius of the
//! disc `mu x_n`, the equations of a contact are
//!
//! ```text
//! open:   x = 0          stick:  y_n = 0, y_t = 0          slide:  y_n = 0, x_t = mu x_n d
//! ```
//!
//! and the derivative of `d` is `(I - d d') / |p|`. Contacts are redundant as a rule and the matrix singular: a small multiple
//! of its diagonal is added, which makes every step a proximal one.

use meniscus_lcp::factor::Lu;

use super::island::Island;
use crate::settings::Cone;

/// Unknowns of a dense system at most.
const MOST_UNKNOWNS: usize = 160;
/// Newton steps.
const MOST_STEPS: usize = 16;
/// Share of the diagonal that makes the matrix regular.
const PROXIMAL: f64 = 1e-7;
/// Solves with one factorisation.
const SOLVES: usize = 3;

/// An unknown impulse with its equation.
#[derive(Clone, Copy)]
enum Equation {
    /// `y = 0`
    Still,
    /// `x_t = mu x_n d` for the tangents of a sliding contact.
    Slide(Slide),
}

/// Sliding of a contact, for one of its tangents.
#[derive(Clone, Copy)]
struct Slide {
    /// Normal row.
    normal: usize,
    /// First tangent of the block: one row in the plane and for pyramids, two for discs.
    first: usize,
    tangents: usize,
    /// Which of them.
    k: usize,
    mu: f64,
    /// Direction of the impulse.
    d: [f64; 2],
    /// Radius of the disc over `|p|`, zero where the direction cannot turn.
    turn: f64,
    rate: f64,
}

/// Improves the impulses; returns the number of active sets that were solved for.
pub(super) fn improve<const D: usize>(island: &mut Island<D>, tolerance: f64) -> usize {
    let loaded =
        (0..island.contacts()).filter(|&contact| island.x[island.normal_row(contact)] > 0.0);
    if island.joint_rows + D * loaded.count() > MOST_UNKNOWNS {
        return 0;
    }
    let mut best = (island.residual(), island.x.clone());
    let mut done = 0;
    while done < MOST_STEPS && best.0 > tolerance {
        let unknowns = select(island);
        if unknowns.is_empty() || unknowns.len() > MOST_UNKNOWNS {
            break;
        }
        solve_for(island, &unknowns);
        done += 1;
        let residual = island.residual();
        if residual < best.0 {
            best = (residual, island.x.clone());
        }
        if !residual.is_finite() {
            break;
        }
    }
    island.restart(&best.1);
    done
}

/// Rows of the active set with their equations; the impulses of the others are set to their bounds.
fn select<const D: usize>(island: &mut Island<D>) -> Vec<(usize, Equation)> {
    let mut unknowns = Vec::new();
    for i in 0..island.joint_rows {
        let row = &island.rows[i];
        if row.diagonal <= 0.0 {
            continue;
        }
        let wish = island.x[i] - island.y(i) / row.diagonal;
        let (lower, upper) = (row.lower, row.upper);
        if wish > lower && wish < upper {
            unknowns.push((i, Equation::Still));
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
        unknowns.push((n, Equation::Still));
        if D == 3 && island.cone == Cone::Disc {
            block(
                island,
                contact,
                n + 1,
                2,
                island.disc_diagonal(contact),
                &mut unknowns,
            );
        } else {
            for t in n + 1..n + D {
                block(
                    island,
                    contact,
                    t,
                    1,
                    island.rows[t].diagonal,
                    &mut unknowns,
                );
            }
        }
    }
    unknowns
}

/// Equations of the tangents that share a bound.
fn block<const D: usize>(
    island: &Island<D>,
    contact: usize,
    first: usize,
    tangents: usize,
    rate: f64,
    unknowns: &mut Vec<(usize, Equation)>,
) {
    let (mu, normal) = (island.friction[contact], island.normal_row(contact));
    let reach = mu * island.x[normal].max(0.0);
    let mut p = [0.0; 2];
    for k in 0..tangents {
        p[k] = island.x[first + k] - island.y(first + k) / rate;
    }
    let length = (p[0] * p[0] + p[1] * p[1]).sqrt();
    for k in 0..tangents {
        let equation = if length <= reach {
            Equation::Still
        } else {
            let turn = if tangents == 2 { reach / length } else { 0.0 };
            let d = p.map(|p| p / length);
            Equation::Slide(Slide {
                normal,
                first,
                tangents,
                k,
                mu,
                d,
                turn,
                rate,
            })
        };
        unknowns.push((first + k, equation));
    }
}

/// Solves the linear problem of an active set.
fn solve_for<const D: usize>(island: &mut Island<D>, unknowns: &[(usize, Equation)]) {
    let n = unknowns.len();
    // To a unit diagonal: masses may differ by many powers of ten.
    let scale: Vec<f64> = unknowns
        .iter()
        .map(|&(row, _)| 1.0 / island.rows[row].diagonal.sqrt())
        .collect();
    let entry = |(row, equation): (usize, Equation), column: usize| match equation {
        Equation::Still => island.coupling(row, column),
        Equation::Slide(slide) => slide_entry(island, &slide, column),
    };
    let mut lu = Lu::default();
    lu.factorise(n, |i, values| {
        for j in 0..n {
            let regular = if i == j { PROXIMAL } else { 0.0 };
            values[j] = scale[i] * scale[j] * entry(unknowns[i], unknowns[j].0) + regular;
        }
    });
    for _ in 0..SOLVES {
        let left = |&(row, equation): &(usize, Equation)| match equation {
            Equation::Still => island.y(row),
            Equation::Slide(slide) => {
                slide.rate * (island.x[row] - slide.mu * island.x[slide.normal] * slide.d[slide.k])
            }
        };
        let mut change: Vec<f64> = unknowns
            .iter()
            .zip(&scale)
            .map(|(unknown, scale)| -scale * left(unknown))
            .collect();
        lu.solve(&mut change);
        for (i, &(row, _)) in unknowns.iter().enumerate() {
            island.set(row, island.x[row] + scale[i] * change[i]);
        }
        if unknowns
            .iter()
            .any(|(_, equation)| matches!(equation, Equation::Slide(_)))
        {
            // Directions have changed: the next step has them.
            break;
        }
    }
}

/// Derivative of `rate (x_t - mu x_n d)` by the impulse of a row.
fn slide_entry<const D: usize>(island: &Island<D>, slide: &Slide, column: usize) -> f64 {
    let k = slide.k;
    let mut sum = 0.0;
    for m in 0..slide.tangents {
        let across = f64::from(u8::from(k == m)) - slide.d[k] * slide.d[m];
        if slide.turn > 0.0 {
            sum += slide.turn * across * island.coupling(slide.first + m, column);
        }
        if column == slide.first + m {
            sum += slide.rate * (f64::from(u8::from(k == m)) - slide.turn * across);
        }
    }
    if column == slide.normal {
        sum -= slide.rate * slide.mu * slide.d[k];
    }
    sum
}
