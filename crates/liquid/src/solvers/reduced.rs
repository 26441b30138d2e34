//! Problems without the rows that are held, for methods that know lower bounds only.

use meniscus_lcp::{BoxMlcp, Csr, InputError, Report};
use rayon::prelude::*;

use crate::stencil::{NO_NEIGHBOUR, Stencil, StencilProblem, StencilRow, with_matrix};

/// Solves a problem by a method that is given the rows that are not held, with their matrix and stencil.
pub(super) fn without_held<const D: usize>(
    problem: &BoxMlcp<Stencil<D>>,
    x: &mut [f64],
    mut method: impl FnMut(&BoxMlcp<Csr>, &Stencil<D>, &mut [f64]) -> Result<Report, InputError>,
) -> Result<Report, InputError> {
    let Some(reduced) = Reduced::new(problem)? else {
        return method(&with_matrix(problem)?, problem.matrix(), x);
    };
    let Reduced { part, rows } = reduced;
    let mut free: Vec<f64> = rows.iter().map(|&row| x[row]).collect();
    let mut report = method(&part.with_matrix()?, &part.stencil, &mut free)?;
    for (x, &held) in x.iter_mut().zip(problem.lower()) {
        *x = held; // all others are overwritten
    }
    for (&row, &value) in rows.iter().zip(&free) {
        x[row] = value;
    }
    report.residual = problem.largest_residual(x);
    Ok(report)
}

/// The rows that are not held.
struct Reduced<const D: usize> {
    part: StencilProblem<D>,
    /// Their rows in the whole problem.
    rows: Vec<usize>,
}

impl<const D: usize> Reduced<D> {
    /// `None` if no row is held.
    fn new(problem: &BoxMlcp<Stencil<D>>) -> Result<Option<Self>, InputError> {
        let (whole, lower, upper) = (problem.matrix(), problem.lower(), problem.upper());
        let rows: Vec<usize> = (0..problem.len())
            .filter(|&row| lower[row] != upper[row])
            .collect();
        if rows.len() == problem.len() {
            return Ok(None);
        }
        let mut number = vec![NO_NEIGHBOUR; problem.len()];
        for (k, &row) in rows.iter().enumerate() {
            number[row] = k as u32;
        }
        let mut rhs = Vec::with_capacity(rows.len());
        for &row in &rows {
            let StencilRow {
                neighbours, weight, ..
            } = whole.row(row);
            let beside = neighbours.as_flattened().iter().zip(weight.as_flattened());
            let held = beside.filter(|(near, _)| {
                **near != NO_NEIGHBOUR && number[**near as usize] == NO_NEIGHBOUR
            });
            let of_held: f64 = held
                .map(|(&near, weight)| weight * lower[near as usize])
                .sum();
            rhs.push(problem.rhs()[row] - of_held);
        }
        let mut stencil = Stencil::default();
        let cells = rows.par_iter().map(|&row| whole.cells()[row]);
        stencil.assemble(cells, whole.full_weight(), |k, _| {
            let mut row = whole.row(rows[k]);
            for side in 0..2 * D {
                let (axis, high) = (side / 2, side % 2);
                let near = &mut row.neighbours[axis][high];
                if *near == NO_NEIGHBOUR {
                    continue;
                }
                *near = number[*near as usize];
                if *near == NO_NEIGHBOUR {
                    // What is held acts as a Dirichlet value does.
                    row.weight[axis][high] = 0.0;
                    row.air |= 1 << side;
                }
            }
            Ok(row)
        })?;
        let part = StencilProblem {
            stencil,
            rhs,
            lower: rows.iter().map(|&row| lower[row]).collect(),
            upper: rows.iter().map(|&row| upper[row]).collect(),
        };
        Ok(Some(Self { part, rows }))
    }
}
