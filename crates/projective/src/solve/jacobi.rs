//! Projected Jacobi iteration in the dual, for one linearisation at the predicted positions, as in IISPH and DFSPH.

use rayon::prelude::*;

use super::{Problem, SolveReport, Unknowns, displace, errors};
use crate::constraints::Constraints;
use crate::real::Real;
use crate::reduce::sum_and_max;

/// Relaxation.
const RELAXATION: f64 = 0.5;

pub fn solve<const D: usize, R: Real>(
    problem: &Problem<'_, D, R>,
    constraints: &mut Constraints<R>,
    unknowns: &mut Unknowns<R>,
) -> SolveReport {
    let settings = problem.settings;
    let (mobility, compliance) = (problem.mobility(), problem.compliance());
    let n = constraints.excess.len();
    let mut report = SolveReport::default();
    let share = R::of(settings.warm_start);
    unknowns.multiplier.par_iter_mut().for_each(|l| *l *= share);
    constraints.evaluate::<D, true>(problem.kernel, &problem.walls, &unknowns.position);
    let is_active = vec![true; n];
    let mut image = vec![R::ZERO; n];
    while report.rounds < settings.rounds {
        constraints.transposed_product(&unknowns.multiplier);
        constraints.product(
            R::of(mobility),
            R::of(compliance),
            &unknowns.multiplier,
            &is_active,
            &mut image,
        );
        let excess = &constraints.excess;
        let (sum, max) = sum_and_max(n, |i| (excess[i] - image[i]).max(R::ZERO).wide());
        let is_small = max <= settings.max_error && sum <= settings.mean_error * n as f64;
        if is_small && report.rounds > 1 {
            break;
        }
        let multipliers = unknowns.multiplier.par_iter_mut().zip(&image);
        multipliers.zip(excess).zip(&constraints.diagonal).for_each(
            |(((l, &image), &excess), &diagonal)| {
                let diagonal = R::of(mobility) * diagonal + R::of(compliance);
                *l = (*l + R::of(RELAXATION) * (excess - image) / diagonal).max(R::ZERO);
            },
        );
        report.rounds += 1;
        report.inner_iterations += 1;
    }
    constraints.transposed_product(&unknowns.multiplier);
    displace(
        problem,
        constraints,
        R::of(mobility),
        &mut unknowns.position,
    );
    constraints.evaluate::<D, false>(problem.kernel, &problem.walls, &unknowns.position);
    (report.mean_error, report.max_error) = errors(constraints, &unknowns.multiplier, compliance);
    report.has_converged =
        report.max_error <= settings.max_error && report.mean_error <= settings.mean_error;
    report
}
