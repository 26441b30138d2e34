//! Flexible GMRES: right preconditioned, with a preconditioner that may differ from one iteration to the next.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `V` | orthonormal basis of the residuals |
//! | `Z` | preconditioned basis, `z_j = M_j v_j`, in single precision |
//! | `H` | `A Z_m = V_(m+1) H`, one column per direction, rotated to a triangle as it grows |
//! | `g` | `||r|| e_1` after the same rotations: its last entry is the norm of the residual |

use meniscus_lcp::reduce;
use rayon::prelude::*;

/// Rows that are worth a thread.
const MIN_ROWS: usize = 8192;

/// A linear system with its preconditioner.
pub(crate) trait Preconditioned {
    /// `y = A x`
    fn apply(&mut self, x: &[f64], y: &mut [f64]);
    /// `z = M v`
    fn precondition(&mut self, v: &[f64], z: &mut [f32]);
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    /// Iterations done.
    pub iterations: usize,
    /// Norm of the residual, as the rotations have it.
    pub norm: f64,
}

/// Reduces the residual `r` of a system to `tolerance` and adds the correction to `x`; at most `max_iterations` of them.
pub(crate) fn solve(
    system: &mut impl Preconditioned,
    r: &[f64],
    x: &mut [f64],
    tolerance: f64,
    max_iterations: usize,
) -> Run {
    let norm = reduce::sum_of_squares(r).sqrt();
    let mut run = Run {
        iterations: 0,
        norm,
    };
    if norm <= tolerance || !norm.is_finite() {
        return run;
    }
    let mut v = vec![scaled(r, 1.0 / norm)];
    let mut z: Vec<Vec<f32>> = Vec::new();
    let mut w = vec![0.0; r.len()];
    let mut wide = vec![0.0; r.len()];
    let mut h: Vec<Vec<f64>> = Vec::new();
    let mut rotations: Vec<(f64, f64)> = Vec::new();
    let mut g = vec![norm];
    while run.iterations < max_iterations && run.norm > tolerance {
        let j = run.iterations;
        let mut direction = vec![0.0f32; r.len()];
        system.precondition(&v[j], &mut direction);
        widen(&direction, &mut wide);
        z.push(direction);
        system.apply(&wide, &mut w);
        // Modified Gram-Schmidt.
        let mut column: Vec<f64> = Vec::with_capacity(j + 2);
        for v in &v {
            let share = reduce::dot(v, &w);
            subtract(share, v, &mut w);
            column.push(share);
        }
        let rest = reduce::sum_of_squares(&w).sqrt();
        column.push(rest);
        for (i, &(c, s)) in rotations.iter().enumerate() {
            (column[i], column[i + 1]) = (
                c * column[i] + s * column[i + 1],
                c * column[i + 1] - s * column[i],
            );
        }
        let length = column[j].hypot(column[j + 1]);
        if !(length.is_finite() && length > 0.0) {
            z.pop();
            break;
        }
        let (c, s) = (column[j] / length, column[j + 1] / length);
        rotations.push((c, s));
        (column[j], column[j + 1]) = (length, 0.0);
        h.push(column);
        g.push(-s * g[j]);
        g[j] *= c;
        run.norm = g[j + 1].abs();
        run.iterations += 1;
        if rest <= f64::EPSILON * length {
            break;
        }
        v.push(scaled(&w, 1.0 / rest));
    }
    // H y = g by back substitution.
    let count = z.len();
    let mut y = g;
    for j in (0..count).rev() {
        y[j] /= h[j][j];
        for i in 0..j {
            y[i] -= h[j][i] * y[j];
        }
    }
    for (y, z) in y.iter().zip(&z) {
        let (x, z) = (x.par_iter_mut(), z.par_iter());
        x.zip(z)
            .with_min_len(MIN_ROWS)
            .for_each(|(x, &z)| *x += y * z as f64);
    }
    run
}

fn scaled(from: &[f64], by: f64) -> Vec<f64> {
    from.par_iter()
        .with_min_len(MIN_ROWS)
        .map(|v| by * v)
        .collect()
}

fn subtract(share: f64, v: &[f64], w: &mut [f64]) {
    let (w, v) = (w.par_iter_mut(), v.par_iter());
    w.zip(v)
        .with_min_len(MIN_ROWS)
        .for_each(|(w, v)| *w -= share * v);
}

fn widen(from: &[f32], to: &mut [f64]) {
    let (to, from) = (to.par_iter_mut(), from.par_iter());
    to.zip(from)
        .with_min_len(MIN_ROWS)
        .for_each(|(to, &from)| *to = from as f64);
}
