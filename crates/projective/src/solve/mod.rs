//! Methods that solve the density constraints of a step.

mod bounded;
mod differential;
mod dual;
mod jacobi;
mod paper;
#[cfg(test)]
mod tests;

pub use paper::bulk_modulus_of_weight;
use rayon::prelude::*;

use crate::bodies::BodyStep;
use crate::cloth::step::ClothStep;
use crate::constraints::Constraints;
use crate::kernel::Kernel;
use crate::real::{Real, Vec4};
use crate::reduce::sum_and_max;
use crate::settings::{Method, Settings};
use crate::walls::Walls;

/// Density constraints of a step: everything but the unknowns.
pub struct Problem<'a, const D: usize, R> {
    pub settings: &'a Settings<D>,
    pub kernel: &'a Kernel<R>,
    pub walls: Walls<'a, D>,
    /// Positions at the start of the step.
    pub start: &'a [Vec4<R>],
    /// Positions without constraints.
    pub predicted: &'a [Vec4<R>],
    /// Length of the step.
    pub dt: f64,
}

impl<const D: usize, R: Real> Problem<'_, D, R> {
    /// `dt² / m`.
    fn mobility(&self) -> f64 {
        self.dt * self.dt / self.settings.particle_mass()
    }

    /// `1 / (K V)`.
    fn compliance(&self) -> f64 {
        1.0 / (self.settings.bulk_modulus * self.settings.particle_volume())
    }
}

/// Unknowns of a step.
#[derive(Clone, Debug, Default)]
pub struct Unknowns<R> {
    /// Positions, with that of the padding at the end.
    pub position: Vec<Vec4<R>>,
    /// Multipliers of the constraints: volume times pressure, in J.
    pub multiplier: Vec<R>,
}

/// How a solve ended.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SolveReport {
    /// Rounds.
    pub rounds: usize,
    /// Iterations inside the rounds, of conjugate gradients or of Newton's method.
    pub inner_iterations: usize,
    /// Mean relative excess of density at the end.
    pub mean_error: f64,
    /// Largest relative excess of density at the end.
    pub max_error: f64,
    /// Whether both errors are within their tolerances.
    pub has_converged: bool,
    /// Number of constraints by the iterations of their projection, with [`Method::Paper`].
    pub newton_histogram: Vec<usize>,
}

/// What moves in a step besides particles.
pub struct Others<'s, 'c, 'm, 'b, const D: usize> {
    pub cloth: Option<&'s mut ClothStep<'c, D>>,
    pub bodies: Option<&'s mut BodyStep<'m, 'b, D>>,
}

/// Moves `unknowns` from the predicted positions to positions that satisfy the constraints. Cloth and bodies take part in
/// [`Method::Dual`] only.
pub fn solve<const D: usize, R: Real>(
    problem: &mut Problem<'_, D, R>,
    constraints: &mut Constraints<R>,
    unknowns: &mut Unknowns<R>,
    others: Others<'_, '_, '_, '_, D>,
) -> SolveReport {
    match problem.settings.method {
        Method::Dual => dual::solve(problem, constraints, unknowns, others),
        Method::Jacobi => jacobi::solve(problem, constraints, unknowns),
        Method::Paper => paper::solve(problem, constraints, unknowns),
    }
}

/// Mean and maximum of `C_i - α l_i` where it is positive: the excess of density beyond the compression that the pressure
/// itself causes.
fn errors<R: Real>(constraints: &Constraints<R>, multiplier: &[R], compliance: f64) -> (f64, f64) {
    let excess = &constraints.excess;
    let (sum, max) = sum_and_max(excess.len(), |i| {
        let error = excess[i].wide() - compliance * multiplier[i].wide();
        // NaN stays NaN.
        if error < 0.0 { 0.0 } else { error }
    });
    (sum / excess.len().max(1) as f64, max)
}

/// `position -= factor * force`, and out of solids.
fn displace<const D: usize, R: Real>(
    problem: &Problem<'_, D, R>,
    constraints: &Constraints<R>,
    factor: R,
    position: &mut [Vec4<R>],
) {
    let n = constraints.excess.len();
    let moved = position[..n].par_iter_mut().zip(&constraints.force[..n]);
    moved
        .zip(&constraints.is_near_wall)
        .for_each(|((x, force), &is_near_wall)| {
            *x = x.plus(-factor, *force).xyz();
            if is_near_wall {
                push_out(&problem.walls, x);
            }
        });
}

/// Moves a particle out of solids.
pub fn push_out<const D: usize, R: Real>(walls: &Walls<'_, D>, x: &mut Vec4<R>) -> bool {
    let mut point = x.point();
    let was_inside = walls.push_out(&mut point);
    if was_inside {
        *x = Vec4::of(point);
    }
    was_inside
}
