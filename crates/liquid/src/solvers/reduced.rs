//! Problems without the rows that are held, for methods that know lower bounds only.

use meniscus_lcp::{BoxMlcp, Csr, InputError, Report};

use super::Posed;
use crate::grid::tiles::Coord;

/// Solves a problem by a method that is given the rows that are not held, and their cells.
pub(super) fn without_held<const D: usize>(
    posed: &Posed<D>,
    x: &mut [f64],
    mut method: impl FnMut(&BoxMlcp<Csr>, &[Coord<D>], &mut [f64]) -> Result<Report, InputError>,
) -> Result<Report, InputError> {
    match Reduced::new(posed.problem, posed.cells)? {
        None => method(posed.problem, posed.cells, x),
        Some(reduced) => reduced.solve(posed.problem, x, method),
    }
}

/// The rows that are not held.
struct Reduced<const D: usize> {
    matrix: Csr,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    cells: Vec<Coord<D>>,
    /// Their rows in the whole problem.
    rows: Vec<usize>,
}

impl<const D: usize> Reduced<D> {
    /// `None` if no row is held.
    fn new(problem: &BoxMlcp<Csr>, cells: &[Coord<D>]) -> Result<Option<Self>, InputError> {
        let (lower, upper) = (problem.lower(), problem.upper());
        if cells.len() != problem.len() {
            return Err(InputError::Length {
                what: "cells",
                expected: problem.len(),
                found: cells.len(),
            });
        }
        let rows: Vec<usize> = (0..problem.len())
            .filter(|&row| lower[row] != upper[row])
            .collect();
        if rows.len() == problem.len() {
            return Ok(None);
        }
        let mut number = vec![None; problem.len()];
        for (k, &row) in rows.iter().enumerate() {
            number[row] = Some(k as u32);
        }
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut rhs = Vec::with_capacity(rows.len());
        for &row in &rows {
            let mut b = problem.rhs()[row];
            let (own, entries) = problem.matrix().row(row);
            for (&column, &value) in own.iter().zip(entries) {
                match number[column as usize] {
                    Some(column) => {
                        columns.push(column);
                        values.push(value);
                    }
                    None => b += value * lower[column as usize],
                }
            }
            starts.push(columns.len());
            rhs.push(b);
        }
        Ok(Some(Self {
            matrix: Csr::new(rows.len(), starts, columns, values)?,
            rhs,
            lower: rows.iter().map(|&row| lower[row]).collect(),
            upper: rows.iter().map(|&row| upper[row]).collect(),
            cells: rows.iter().map(|&row| cells[row]).collect(),
            rows,
        }))
    }

    /// Solves the reduced problem, and brings its solution into the whole one.
    fn solve(
        &self,
        whole: &BoxMlcp<Csr>,
        x: &mut [f64],
        mut method: impl FnMut(&BoxMlcp<Csr>, &[Coord<D>], &mut [f64]) -> Result<Report, InputError>,
    ) -> Result<Report, InputError> {
        let problem = BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &self.upper)?;
        let mut part: Vec<f64> = self.rows.iter().map(|&row| x[row]).collect();
        let mut report = method(&problem, &self.cells, &mut part)?;
        for (x, &held) in x.iter_mut().zip(whole.lower()) {
            *x = held; // all others are overwritten
        }
        for (&row, &value) in self.rows.iter().zip(&part) {
            x[row] = value;
        }
        report.residual = whole.residual_inf(x);
        Ok(report)
    }
}
