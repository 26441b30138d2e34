//! Preconditioned conjugate residuals.
//!
//! For `A x = c` with `A` symmetric, definite or not, and a preconditioner that is positive definite. Where conjugate
//! gradients make the error small in a norm that an indefinite `A` does not have, this makes the residual small: with
//! each iteration `r'P r` falls.
//!
//! | symbol | is |
//! | --- | --- |
//! | `z` | `P r` |
//! | `p` | direction, `(A p_i)'P (A p_j) = 0` for different ones |
//! | `q` | `P A p` |
//!
//! If `z'A z` is zero, as can be if `A` is indefinite, the direction `z` changes nothing. The step then follows the
//! part of `P A z` that is conjugate to `z`, which does, and the recursion restarts.
//!
//! ```
//! use meniscus_lcp::krylov::cr;
//! use meniscus_lcp::precondition::Identity;
//! use meniscus_lcp::Csr;
//!
//! // Indefinite: the eigenvalues are 1 and -1.
//! let matrix = Csr::new(2, vec![0, 1, 2], vec![1, 0], vec![1.0, 1.0])?;
//! let mut x = [0.0; 2];
//! let mut workspace = cr::Workspace::default();
//! let report = cr::solve(&matrix, &[1.0, 2.0], &Default::default(), &Identity, &mut x, &mut workspace)?;
//! assert_eq!(report.status, cr::Status::Converged);
//! assert!((x[0] - 2.0).abs() < 1e-12 && (x[1] - 1.0).abs() < 1e-12);
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

/// A step that lowers `r'P r` by no more than this part of it changes nothing but rounding.
const STANDSTILL: f64 = 1e-12;
/// A first step that lowers it by no more than this, along a `z` with `||A z|| / ||z||` smaller than the second number
/// times the largest one met: what is left is out of reach. No matrix with a condition below 1e10 does both.
const FAINT: f64 = 1e-10;
const NULL: f64 = 1e-5;
/// Such a ratio on the way is made of rounding, and so are the next directions.
const LOST: f64 = 1e-9;

/// Scratch memory of the iteration, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    shared: Shared,
    core: Core,
}

#[derive(Clone, Debug, Default)]
struct Core {
    z: Vec<f64>,
    az: Vec<f64>,
    p: Vec<f64>,
    ap: Vec<f64>,
    q: Vec<f64>,
}

/// Solves `A x = c`, starting from the given `x`.
///
/// If the iteration does not converge, `x` is the iterate with (nearly) the smallest residual.
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
        &mut core.z,
        &mut core.az,
        &mut core.p,
        &mut core.ap,
        &mut core.q,
    ] {
        array.resize(x.len(), 0.0);
    }
    let mut largest_quotient = 0.0;
    let recursion =
        |point: &mut Point<'_>| core.run(matrix, preconditioner, &mut largest_quotient, point);
    Ok(restart::solve(
        matrix, c, settings, x, shared, watch, recursion,
    ))
}

impl Core {
    fn run(
        &mut self,
        matrix: &(impl Operator + ?Sized),
        preconditioner: &(impl Preconditioner + ?Sized),
        largest_quotient: &mut f64,
        point: &mut Point<'_>,
    ) -> End {
        let Self { z, az, p, ap, q } = self;
        let mut rho = preconditioner.apply_dot(point.r, z);
        let mut curvature = matrix.apply_dot(z, az);
        p.copy_from_slice(z);
        ap.copy_from_slice(az);
        let mut started = true;
        loop {
            if !rho.is_finite() || !curvature.is_finite() {
                return End::NonFinite;
            }
            if rho <= 0.0 {
                return End::Broken;
            }
            let quotient = (reduce::sum_of_squares(az) / reduce::sum_of_squares(z)).sqrt();
            *largest_quotient = largest_quotient.max(quotient);
            let energy = preconditioner.apply_dot(ap, q); // (A p)'P (A p)
            if energy.is_nan() || energy == f64::INFINITY || quotient.is_nan() {
                return End::NonFinite;
            }
            if energy < 0.0 {
                return End::Broken;
            }
            // The step lowers r'P r by (z'A z)^2 / (A p)'P (A p), the first one by nearly all of it where A has a say.
            let gain = curvature * curvature / energy;
            if started && gain <= FAINT * rho && quotient <= NULL * *largest_quotient {
                return End::Singular;
            }
            let lost = quotient <= LOST * *largest_quotient;
            if gain.is_nan() || gain <= STANDSTILL * rho || lost {
                if !started {
                    return End::Aside; // only with p = z is the way round it short
                }
                return self.step_aside(matrix, preconditioner, energy, point);
            }
            let alpha = curvature / energy;
            combine(point.x, 1.0, alpha, p);
            combine(point.r, 1.0, -alpha, ap);
            if let Some(end) = point.count() {
                return end;
            }
            combine(z, 1.0, -alpha, q);
            // z is kept by a recursion of its own, so r'z is no longer positive by itself.
            rho = reduce::dot(point.r, z);
            let curvature_before = curvature;
            curvature = matrix.apply_dot(z, az);
            let beta = curvature / curvature_before;
            combine(p, beta, 1.0, z);
            combine(ap, beta, 1.0, az);
            started = false;
        }
    }

    /// A step along the part of `P A z` that is conjugate to `z`.
    fn step_aside(
        &mut self,
        matrix: &(impl Operator + ?Sized),
        preconditioner: &(impl Preconditioner + ?Sized),
        energy: f64,
        point: &mut Point<'_>,
    ) -> End {
        let Self { z, az, p, ap, q } = self;
        matrix.apply(q, ap);
        let share = reduce::dot(ap, q) / energy;
        p.copy_from_slice(q);
        combine(p, 1.0, -share, z);
        combine(ap, 1.0, -share, az);
        let gain = reduce::dot(z, ap);
        let energy = preconditioner.apply_dot(ap, q);
        let alpha = gain / energy;
        if !alpha.is_finite() {
            return End::Broken;
        }
        combine(point.x, 1.0, alpha, p);
        combine(point.r, 1.0, -alpha, ap);
        point.count().unwrap_or(End::Aside)
    }
}
