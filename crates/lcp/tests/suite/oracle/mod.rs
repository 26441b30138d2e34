//! An interior point method that shares no code with the methods of this crate.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};

use crate::gallery::Instance;

/// `min 1/2 x'Ax + b'x` on `[l, u]`, by Clarabel; none if it gives up.
pub fn quadratic_programme(instance: &Instance) -> Option<Vec<f64>> {
    let (status, x) = verdict(instance);
    (status == SolverStatus::Solved).then_some(x)
}

/// The same, with what Clarabel says about it.
pub fn verdict(instance: &Instance) -> (SolverStatus, Vec<f64>) {
    let n = instance.len();
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..n {
        let (indices, entries) = instance.matrix.row(column); // symmetric: a row is a column
        for (&row, &value) in indices.iter().zip(entries) {
            if row as usize <= column {
                rows.push(row as usize);
                values.push(value);
            }
        }
        starts.push(rows.len());
    }
    let upper_triangle = CscMatrix::new(n, n, starts, rows, values);

    // Equations first, then `-x <= -l` and `x <= u`.
    let mut constraints = Vec::new();
    let fixed: Vec<usize> = (0..n)
        .filter(|&i| instance.lower[i] == instance.upper[i])
        .collect();
    for &i in &fixed {
        constraints.push((i, 1.0, instance.lower[i]));
    }
    for i in (0..n).filter(|&i| instance.lower[i] < instance.upper[i]) {
        if instance.lower[i].is_finite() {
            constraints.push((i, -1.0, -instance.lower[i]));
        }
        if instance.upper[i].is_finite() {
            constraints.push((i, 1.0, instance.upper[i]));
        }
    }
    let mut by_column: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
    for (row, &(column, sign, _)) in constraints.iter().enumerate() {
        by_column[column].push((row, sign));
    }
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for entries in by_column {
        rows.extend(entries.iter().map(|entry| entry.0));
        values.extend(entries.iter().map(|entry| entry.1));
        starts.push(rows.len());
    }
    let count = constraints.len();
    let sides: Vec<f64> = constraints.iter().map(|constraint| constraint.2).collect();
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .build()
        .expect("the settings are valid");
    let mut solver = DefaultSolver::new(
        &upper_triangle,
        &instance.rhs,
        &CscMatrix::new(count, n, starts, rows, values),
        &sides,
        &[
            ZeroConeT(fixed.len()),
            NonnegativeConeT(count - fixed.len()),
        ],
        settings,
    )
    .expect("the programme is well formed");
    solver.solve();
    (solver.solution.status, solver.solution.x)
}
