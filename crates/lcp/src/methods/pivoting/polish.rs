//! Iterative refinement on the active set that a pivoting method found.

use super::scaled::Scaled;
use crate::factor::Lu;

/// Solves `y_A = 0` for the active rows `A` with a new factorisation, which has none of the rounding of many pivots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polish {
    lu: Lu,
    rows: Vec<usize>,
    change: Vec<f64>,
    trial: Vec<f64>,
    y: Vec<f64>,
    scratch: Vec<f64>,
}

/// Corrections with one factorisation.
const ROUNDS: usize = 4;

impl Polish {
    /// Scratch vector.
    pub fn scratch(&mut self, n: usize) -> &mut [f64] {
        self.scratch.resize(n, 0.0);
        &mut self.scratch
    }

    /// Changes `x` as long as its natural residual falls.
    pub fn improve(&mut self, scaled: &Scaled, active: &[bool], x: &mut [f64]) {
        let n = scaled.len();
        self.rows.clear();
        self.rows.extend((0..n).filter(|&i| active[i]));
        let rows = &self.rows;
        self.lu.factorise(rows.len(), |i, out| {
            let row = scaled.row(rows[i]);
            for (out, &j) in out.iter_mut().zip(rows) {
                *out = row[j];
            }
        });
        self.change.resize(rows.len(), 0.0);
        self.trial.resize(n, 0.0);
        self.y.resize(n, 0.0);
        // Rows at a bound lie exactly on it.
        for i in 0..n {
            if !active[i] {
                x[i] = x[i].clamp(scaled.lower[i], scaled.upper[i]);
            }
        }
        scaled.affine(x, &mut self.y);
        let mut residual = scaled.residual(x, &self.y);
        for _ in 0..ROUNDS {
            for (change, &i) in self.change.iter_mut().zip(rows) {
                *change = -self.y[i];
            }
            self.lu.solve(&mut self.change);
            self.trial.copy_from_slice(x);
            for (change, &i) in self.change.iter().zip(rows) {
                self.trial[i] = (x[i] + change).clamp(scaled.lower[i], scaled.upper[i]);
            }
            scaled.affine(&self.trial, &mut self.y);
            let new = scaled.residual(&self.trial, &self.y);
            // NaN is no improvement.
            if new.is_nan() || new >= residual {
                break;
            }
            residual = new;
            x.copy_from_slice(&self.trial);
        }
    }
}
