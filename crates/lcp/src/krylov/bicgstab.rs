//! Stabilised biconjugate gradients, preconditioned from the right.
//!
//! For `A x = c` with any square `A`. Unlike GMRES it keeps no basis: memory and the time of an iteration (two products)
//! do not grow. In exchange nothing is guaranteed: the residual jumps about, and the recursion can break down. Then it
//! restarts, and if that does not help, the status is [`Status::Breakdown`], as for most skew matrices.
//!
//! | symbol | is |
//! | --- | --- |
//! | `s0` | the shadow: the residual at the start |
//! | `p`, `v` | direction, `A P p` |
//! | `s`, `t` | residual after half an iteration, `A P s` |
//! | `alpha`, `omega` | length of the two halves |
//!
//! ```
//! use meniscus_lcp::krylov::bicgstab;
//! use meniscus_lcp::precondition::Identity;
//! use meniscus_lcp::Csr;
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, 1.0, -1.0, 3.0])?;
//! let mut x = [0.0; 2];
//! let mut workspace = bicgstab::Workspace::default();
//! let report = bicgstab::solve(&matrix, &[4.0, 5.0], &Default::default(), &Identity, &mut x, &mut workspace)?;
//! assert_eq!(report.status, bicgstab::Status::Converged);
//! assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 2.0).abs() < 1e-6);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use std::ops::ControlFlow;

pub use super::pcg::Settings;
use super::restart::{self, End, Point, Shared, combine};
pub use super::restart::{Report, Status};
use crate::error::InputError;
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::reduce;

/// An inner product this small, as a part of what it could be, counts as zero.
const ORTHOGONAL: f64 = 1e-12;

/// Scratch memory of the iteration, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    shared: Shared,
    core: Core,
}

#[derive(Clone, Debug, Default)]
struct Core {
    shadow: Vec<f64>,
    p: Vec<f64>,
    v: Vec<f64>,
    t: Vec<f64>,
    z: Vec<f64>,
}

/// Solves `A x = c`, starting from the given `x`.
///
/// The preconditioner need be neither symmetric nor positive. If the iteration does not converge, `x` is the iterate with
/// (nearly) the smallest residual.
pub fn solve(
    matrix: &(impl Operator + ?Sized),
    c: &[f64],
    settings: &Settings,
    preconditioner: &(impl Preconditioner + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
) -> Result<Report, InputError> {
    let watch = &mut |_: &Report| ControlFlow::Continue(());
    solve_watched(matrix, c, settings, preconditioner, x, workspace, watch)
}

/// [`solve`], with a function that is called after each iteration and may stop it.
pub fn solve_watched(
    matrix: &(impl Operator + ?Sized),
    c: &[f64],
    settings: &Settings,
    preconditioner: &(impl Preconditioner + ?Sized),
    x: &mut [f64],
    workspace: &mut Workspace,
    watch: &mut dyn FnMut(&Report) -> ControlFlow<()>,
) -> Result<Report, InputError> {
    settings.check()?;
    super::check(matrix, c, x)?;
    let Workspace { shared, core } = workspace;
    for array in [
        &mut core.shadow,
        &mut core.p,
        &mut core.v,
        &mut core.t,
        &mut core.z,
    ] {
        array.resize(x.len(), 0.0);
    }
    let recursion = |point: &mut Point<'_>| core.run(matrix, preconditioner, point);
    Ok(restart::solve(
        matrix, c, settings, x, shared, watch, recursion,
    ))
}

impl Core {
    fn run(
        &mut self,
        matrix: &(impl Operator + ?Sized),
        preconditioner: &(impl Preconditioner + ?Sized),
        point: &mut Point<'_>,
    ) -> End {
        let Self { shadow, p, v, t, z } = self;
        shadow.copy_from_slice(point.r);
        p.copy_from_slice(point.r);
        let shadow_norm = norm(shadow);
        let mut rho = reduce::dot(shadow, point.r);
        loop {
            preconditioner.apply(p, z);
            matrix.apply(z, v);
            let slope = reduce::dot(shadow, v);
            if !slope.is_finite() || !rho.is_finite() {
                return End::NonFinite;
            }
            if slope.abs() <= ORTHOGONAL * shadow_norm * norm(v) {
                return End::Broken;
            }
            let alpha = rho / slope;
            combine(point.x, 1.0, alpha, z);
            combine(point.r, 1.0, -alpha, v); // r is s from here on
            preconditioner.apply(point.r, z);
            matrix.apply(z, t);
            let (squares, overlap) = (reduce::sum_of_squares(t), reduce::dot(t, point.r));
            if !squares.is_finite() || !overlap.is_finite() {
                return End::NonFinite;
            }
            // Orthogonal to t, the second half cannot lower the residual, and the next direction needs its length.
            let stuck = overlap.abs() <= ORTHOGONAL * squares.sqrt() * norm(point.r);
            let omega = if stuck { 0.0 } else { overlap / squares };
            combine(point.x, 1.0, omega, z);
            combine(point.r, 1.0, -omega, t);
            if let Some(end) = point.count() {
                return end;
            }
            let rho_before = rho;
            rho = reduce::dot(shadow, point.r);
            if stuck || rho.abs() <= ORTHOGONAL * shadow_norm * norm(point.r) {
                return End::Broken;
            }
            let beta = (rho / rho_before) * (alpha / omega);
            combine(p, 1.0, -omega, v);
            combine(p, beta, 1.0, point.r);
        }
    }
}

fn norm(a: &[f64]) -> f64 {
    reduce::sum_of_squares(a).sqrt()
}
