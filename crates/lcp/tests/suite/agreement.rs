//! The methods agree with each other, and with an interior point method that shares no code with them.

use crate::gallery;
use crate::gallery::{Domain, Instance, Random};
use crate::harness::{Run, difference};
use crate::oracle::quadratic_programme;
use meniscus_lcp::methods::{newton, policy};
use meniscus_lcp::precondition::{Jacobi, Mic0, Mic0Settings};
use meniscus_lcp::{Operator, Status, reduce};
use proptest::prelude::*;

fn newton(instance: &Instance, x: &mut [f64]) {
    let settings = newton::Settings::default().tolerance(1e-10);
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
    let report = settings.preconditioned(&instance.problem(), &mut mic, x);
    assert_eq!(report.status, Status::Converged, "Newton: {report:?}");
    assert_eq!(report.residual, instance.problem().residual_inf(x));
    assert!(report.residual <= 1e-10);
}

fn policy(instance: &Instance, x: &mut [f64]) {
    let settings = policy::Settings::default().tolerance(1e-10);
    let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
    let report = settings.preconditioned(&instance.problem(), &mut jacobi, x);
    assert_eq!(
        report.status,
        Status::Converged,
        "policy iteration: {report:?}"
    );
    assert_eq!(report.residual, instance.problem().residual_inf(x));
    assert!(report.residual <= 1e-10);
}

/// `1/2 x'Ax + b'x`
fn objective(instance: &Instance, x: &[f64]) -> f64 {
    0.5 * instance.matrix.apply_dot(x, &mut vec![0.0; x.len()]) + reduce::dot(&instance.rhs, x)
}

/// Cold, from far above, and from noise.
fn start(instance: &Instance, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed ^ 0xABCD);
    let kind = random.below(3);
    (0..instance.len())
        .map(|_| match kind {
            0 => 0.0,
            1 => 1e3,
            _ => random.between(-100.0, 100.0),
        })
        .collect()
}

proptest! {
    #![proptest_config(gallery::cases(128))]

    #[test]
    fn newton_policy_iteration_and_clarabel_find_the_same_solution(
        seed: u64, spatial: bool, side in 2_usize..12, weakest in prop::sample::select(vec![1.0, 0.05, 1e-4]),
    ) {
        let domain = if spatial { Domain::cube(1 + side / 2) } else { Domain::plane(side) };
        // Every row holds to a hole, however weakly, so that the solution is unique.
        let instance = Instance::with_known_solution(Domain { weakest, ..domain }, seed).grounded(0.01);
        prop_assume!(instance.len() > 0);
        let oracle = quadratic_programme(&instance);
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        let largest = reduce::largest(&oracle).max(1e-3);

        let mut by_newton = start(&instance, seed);
        newton(&instance, &mut by_newton);
        let mut by_policy = start(&instance, !seed);
        policy(&instance, &mut by_policy);

        prop_assert!(difference(&by_newton, &by_policy) <= 1e-6 * largest);
        prop_assert!(objective(&instance, &by_newton) <= objective(&instance, &oracle) + 1e-7 * largest);
        // The oracle is not exact, least of all where x and y are both nearly zero. The matrix is at least 0.01 I, which bounds its error by its residual.
        let oracle_residual = instance.problem().residual_inf(&oracle);
        prop_assert!(oracle_residual < 1e-3);
        prop_assert!(difference(&by_newton, &oracle) <= 1e-6 * largest + 1e3 * oracle_residual);
    }

    #[test]
    fn singular_matrices_with_a_solution_are_solved(
        seed: u64, spatial: bool, side in 2_usize..12, cuts in prop::sample::select(vec![0.0, 0.1, 0.5]),
    ) {
        let domain = if spatial { Domain::cube(1 + side / 2) } else { Domain::plane(side) };
        let instance = Instance::with_known_solution(Domain { holes: 0.0, cuts, ..domain }, seed);
        newton(&instance, &mut start(&instance, seed));
        policy(&instance, &mut start(&instance, seed));
    }
}

#[test]
fn a_warm_start_needs_fewer_iterations_than_a_cold_one() {
    let mut instance = Instance::with_known_solution(Domain::cube(12), 7).grounded(0.01);
    let settings = newton::Settings::default();
    let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
    let mut workspace = newton::Workspace::default();
    let mut x = vec![0.0; instance.len()];
    let cold = newton::solve(
        &instance.problem(),
        &settings,
        &mut jacobi,
        &mut x,
        &mut workspace,
        &mut (),
    )
    .unwrap();
    for b in &mut instance.rhs {
        *b *= 1.001;
    }
    let warm = newton::solve(
        &instance.problem(),
        &settings,
        &mut jacobi,
        &mut x,
        &mut workspace,
        &mut (),
    )
    .unwrap();
    assert_eq!(
        (cold.status, warm.status),
        (Status::Converged, Status::Converged)
    );
    assert!(
        warm.inner_iterations < cold.inner_iterations,
        "{warm:?} {cold:?}"
    );
}

#[test]
fn results_do_not_depend_on_the_units_of_x_and_y() {
    let plain = Instance::with_known_solution(Domain::cube(8), 3).grounded(0.01);
    let mut expected = vec![0.0; plain.len()];
    newton(&plain, &mut expected);
    for (matrix_scale, x_scale) in [(1e-9, 1.0), (1e9, 1.0), (1.0, 1e-6), (1e-3, 1e5)] {
        let instance = plain.rescaled(matrix_scale, x_scale);
        let tolerance = 1e-10 * matrix_scale * x_scale;
        let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
        mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
        for method in ["newton", "policy"] {
            let mut x = vec![0.0; instance.len()];
            let problem = instance.problem();
            let report = if method == "newton" {
                let settings = newton::Settings::default().tolerance(tolerance);
                settings.attempt(&problem, &mut mic, &mut x, &mut ())
            } else {
                let settings = policy::Settings::default().tolerance(tolerance);
                settings.attempt(&problem, &mut mic, &mut x, &mut ())
            };
            assert_eq!(
                report.unwrap().status,
                Status::Converged,
                "{method} {matrix_scale} {x_scale}"
            );
            let back: Vec<f64> = x.iter().map(|x| x / x_scale).collect();
            assert!(difference(&back, &expected) < 1e-6 * reduce::largest(&expected));
        }
    }
}
