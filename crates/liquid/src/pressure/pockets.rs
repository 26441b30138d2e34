//! Liquid without a free surface.
//!
//! The rows of a pocket sum to zero, `A 1 = 0`, and so `sum y = sum b` whatever the pressure: with separating walls
//! the problem has a solution if and only if `sum b >= 0`, with slip walls if and only if it is zero.

use super::system::System;
use crate::grid::tiles::{Coord, Tiles};
use crate::settings::Walls;
use crate::stencil::NO_NEIGHBOUR;

/// A set of connected rows without an open face to air, made solvable.
#[derive(Clone, Debug)]
pub struct Pocket {
    rows: Vec<u32>,
    /// The rows form a linear system now; the pressure is fixed afterwards up to a constant.
    linear: bool,
    /// Solids give way to its pressure.
    gives_way: bool,
    /// `sum b` that had to be taken away: negative where something pushes into the pocket.
    pub removed: f64,
}

impl Pocket {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The cell of the pocket that is nearest to its middle, to name it by.
    pub fn middle<const D: usize>(&self, system: &System<D>, tiles: &Tiles<D>) -> Coord<D> {
        let cells = || {
            let rows = self.rows.iter();
            rows.map(|&row| tiles.coord(system.cells[row as usize] as usize))
        };
        let mut sum = [0.0; D];
        for cell in cells() {
            for a in 0..D {
                sum[a] += cell[a] as f64;
            }
        }
        let mean = sum.map(|s| s / self.rows.len() as f64);
        let off =
            |cell: &Coord<D>| -> f64 { (0..D).map(|a| (cell[a] as f64 - mean[a]).powi(2)).sum() };
        cells()
            .min_by(|a, b| off(a).total_cmp(&off(b)))
            .unwrap_or([0; D])
    }
}

/// Finds the pockets and makes those solvable that are not, or barely.
///
/// Where the mean of `b` is at most half the tolerance (a piston makes it negative), and always with slip walls, it
/// is taken out of `b`; what is left is a linear problem with a solution that is fixed up to a constant. One row is
/// held at zero, and [`settle`] shifts the pressure. Pockets whose pressure moves solids need none of this: the solids
/// determine the constant.
pub fn prepare<const D: usize>(
    system: &mut System<D>,
    walls: Walls,
    tolerance: f64,
    gives_way: &dyn Fn(&[u32]) -> bool,
) -> Vec<Pocket> {
    let mut pockets = find(system);
    let problem = &mut system.problem;
    for pocket in &mut pockets {
        pocket.gives_way = gives_way(&pocket.rows);
        if pocket.gives_way {
            continue;
        }
        let sum: f64 = pocket.rows.iter().map(|&r| problem.rhs[r as usize]).sum();
        let mean = sum / pocket.rows.len() as f64;
        pocket.linear = walls != Walls::Separating || mean <= 0.5 * tolerance;
        if pocket.linear {
            pocket.removed = sum;
            for &row in &pocket.rows {
                problem.rhs[row as usize] -= mean;
                problem.lower[row as usize] = f64::NEG_INFINITY;
            }
            let held = pocket.rows[0] as usize;
            problem.lower[held] = 0.0;
            problem.upper[held] = 0.0;
        }
    }
    pockets
}

/// Shifts the pressure of prepared pockets: its smallest value on a wall is zero with separating walls, its mean
/// with slip walls. Every pocket touches a wall: what else would keep the air out?
pub fn settle<const D: usize>(
    pockets: &[Pocket],
    system: &System<D>,
    walls: Walls,
    pressure: &mut [f64],
) {
    for pocket in pockets.iter().filter(|p| p.linear) {
        let values = || {
            pocket
                .rows
                .iter()
                .map(|&r| (pressure[r as usize], system.wall[r as usize]))
        };
        let shift = match walls {
            Walls::Slip | Walls::Stick => {
                values().map(|(p, _)| p).sum::<f64>() / pocket.rows.len() as f64
            }
            Walls::Separating => values()
                .filter(|v| v.1)
                .map(|v| v.0)
                .fold(f64::INFINITY, f64::min),
        };
        if shift.is_finite() {
            for &row in &pocket.rows {
                pressure[row as usize] -= shift;
            }
        }
    }
}

/// Takes the mean out of a right-hand side in pockets that solids close: with the solids at rest their rows sum to zero.
pub fn balance(pockets: &[Pocket], rhs: &mut [f64]) {
    for pocket in pockets.iter().filter(|pocket| pocket.gives_way) {
        let sum: f64 = pocket.rows.iter().map(|&row| rhs[row as usize]).sum();
        let mean = sum / pocket.rows.len() as f64;
        for &row in &pocket.rows {
            rhs[row as usize] -= mean;
        }
    }
}

/// Connected rows of which none meets air.
fn find<const D: usize>(system: &System<D>) -> Vec<Pocket> {
    let n = system.len();
    let mut open = system.surface.clone();
    let mut stack: Vec<u32> = (0..n as u32).filter(|&r| open[r as usize]).collect();
    let spread = |stack: &mut Vec<u32>, open: &mut Vec<bool>, mut found: Option<&mut Vec<u32>>| {
        while let Some(row) = stack.pop() {
            if let Some(found) = &mut found {
                found.push(row);
            }
            let near = system.problem.stencil.neighbours(row as usize);
            for &near in near.as_flattened() {
                if near != NO_NEIGHBOUR && !open[near as usize] {
                    open[near as usize] = true;
                    stack.push(near);
                }
            }
        }
    };
    spread(&mut stack, &mut open, None);
    let mut pockets = Vec::new();
    for first in 0..n {
        if !open[first] {
            open[first] = true;
            stack.push(first as u32);
            let mut rows = Vec::new();
            spread(&mut stack, &mut open, Some(&mut rows));
            rows.sort_unstable();
            pockets.push(Pocket {
                rows,
                linear: false,
                gives_way: false,
                removed: 0.0,
            });
        }
    }
    pockets
}
