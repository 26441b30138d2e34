//! The penalty method: what it solves, and that its penalties are neither too small nor in the way.

use crate::gallery;
use crate::harness::{Hostile, Run, bits, checked, difference, mic, same_for_all_threads};
use std::ops::ControlFlow;

use crate::gallery::{Domain, Instance, Random, chain, dense};
use crate::oracle::quadratic_programme;
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::{penalty, policy};
use meniscus_lcp::precondition::{Identity, Jacobi};
use meniscus_lcp::{
    BoxMlcp, Csr, InnerProgress, InputError, Observer, Progress, Status, Trace, reduce,
};
use proptest::prelude::*;

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

proptest! {
    #![proptest_config(gallery::cases(96))]

    #[test]
    fn penalties_find_the_solution_that_clarabel_finds(
        seed: u64, spatial: bool, side in 2_usize..12, weakest in prop::sample::select(vec![1.0, 0.05, 1e-4]),
        tolerance in prop::sample::select(vec![1e-6, 1e-8, 1e-10]),
    ) {
        let domain = if spatial { Domain::cube(1 + side / 2) } else { Domain::plane(side) };
        let instance = Instance::with_known_solution(Domain { weakest, ..domain }, seed).grounded(0.01);
        prop_assume!(instance.len() > 0);
        let oracle = quadratic_programme(&instance);
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        let problem = instance.problem();
        let mut random = Random::new(seed);
        let mut x: Vec<f64> = (0..instance.len()).map(|_| random.between(-20.0, 20.0)).collect();
        let settings = penalty::Settings::default().tolerance(tolerance);
        let report = checked(&problem, settings, &mut mic(&instance), &mut x, &mut ());
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
        // The matrix is at least 0.01 I, which bounds both errors by their residuals.
        let allowed = 1e-6 * reduce::largest(&oracle).max(1e-3) + 1e3 * (tolerance + problem.residual_inf(&oracle));
        prop_assert!(difference(&x, &oracle) <= allowed);
    }

    #[test]
    fn singular_matrices_with_a_solution_are_solved(
        seed: u64, side in 2_usize..10, cuts in prop::sample::select(vec![0.0, 0.1, 0.5]), start in prop::sample::select(vec![0.0, 50.0]),
    ) {
        let instance = Instance::with_known_solution(Domain { holes: 0.0, cuts, ..Domain::plane(side) }, seed);
        let mut x = vec![start; instance.len()];
        let report = checked(&instance.problem(), penalty::Settings::default(), &mut mic(&instance), &mut x, &mut ());
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
    }

    #[test]
    fn sparse_bands_with_a_known_solution_are_solved(seed: u64, n in 1_usize..200) {
        let instance = generated::banded(n, 4, 0.5, &mut Random::new(seed));
        let mut x = vec![0.0; n];
        let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
        let report = checked(&instance.problem(), penalty::Settings::default(), &mut jacobi, &mut x, &mut ());
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
        prop_assert!(difference(&x, &instance.solution) < 1e-6);
    }

    #[test]
    fn no_finite_problem_causes_a_panic_or_a_false_report(
        n in 0_usize..6, seed: u64,
        scale in prop::sample::select(vec![0.0, 1e-300, 1e-8, 1.0, 1e150, 1e300]),
    ) {
        let hostile = Hostile::new(seed, n, scale);
        let settings = penalty::Settings::default();
        checked(&hostile.problem(), settings, &mut Identity, &mut hostile.start.clone(), &mut ());
    }
}

#[test]
fn results_do_not_depend_on_the_units_of_x_and_y() {
    let plain = Instance::with_known_solution(Domain::cube(8), 3).grounded(0.01);
    let mut expected = vec![0.0; plain.len()];
    let settings = penalty::Settings::default().tolerance(1e-10);
    let report = checked(
        &plain.problem(),
        settings,
        &mut mic(&plain),
        &mut expected,
        &mut (),
    );
    assert_eq!(report.status, Status::Converged);
    for (matrix_scale, x_scale) in [(1e-9, 1.0), (1e9, 1.0), (1.0, 1e-6), (1e-3, 1e5)] {
        let instance = plain.rescaled(matrix_scale, x_scale);
        let settings = penalty::Settings::default().tolerance(1e-10 * matrix_scale * x_scale);
        // A preconditioner that knows the units, and one that does not.
        for known in [true, false] {
            let mut x = vec![0.0; instance.len()];
            let scaled = if known {
                checked(
                    &instance.problem(),
                    settings,
                    &mut mic(&instance),
                    &mut x,
                    &mut (),
                )
            } else {
                checked(
                    &instance.problem(),
                    settings,
                    &mut Identity,
                    &mut x,
                    &mut (),
                )
            };
            assert_eq!(
                scaled.status,
                Status::Converged,
                "{matrix_scale} {x_scale} {scaled:?}"
            );
            for x in &mut x {
                *x /= x_scale;
            }
            assert!(difference(&x, &expected) < 1e-6 * reduce::largest(&expected));
        }
    }
}

#[test]
fn it_takes_about_as_many_systems_as_policy_iteration() {
    // The two agree in the limit of large penalties.
    let instance = Instance::with_known_solution(Domain::cube(12), 7).grounded(0.01);
    let mut x = vec![0.0; instance.len()];
    let report = checked(
        &instance.problem(),
        penalty::Settings::default(),
        &mut mic(&instance),
        &mut x,
        &mut (),
    );
    let mut y = vec![0.0; instance.len()];
    let by_policy = policy::Settings::default().preconditioned(
        &instance.problem(),
        &mut mic(&instance),
        &mut y,
    );
    assert_eq!(
        (report.status, by_policy.status),
        (Status::Converged, Status::Converged)
    );
    assert!(
        report.iterations <= 3 * by_policy.iterations,
        "{report:?} {by_policy:?}"
    );
    assert!(difference(&x, &y) < 1e-5);
    // From its own solution it has nothing to do, and near it little.
    let again = checked(
        &instance.problem(),
        penalty::Settings::default(),
        &mut mic(&instance),
        &mut x,
        &mut (),
    );
    assert_eq!(again.iterations, 0);
}

#[test]
fn a_penalty_that_is_too_small_is_no_success() {
    // One row drawn 1e6 beyond its bound, a neighbour that feels it.
    let matrix = dense([[2.0, -1.0], [-1.0, 2.0]]);
    let rhs = [1e9, -1.0];
    let (lower, upper) = ([0.0, FREE.0], [FREE.1; 2]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let run = |penalty| {
        let settings = penalty::Settings::default().penalty(penalty);
        checked(&problem, settings, &mut Identity, &mut [1.0; 2], &mut ()).status
    };
    assert_eq!(run(1e3), Status::Converged);
    assert_eq!(run(1e-12), Status::Stagnated);
}

fn end(matrix: &Csr, rhs: &[f64], bounds: (f64, f64), start: f64) -> Status {
    let n = rhs.len();
    let (lower, upper) = (vec![bounds.0; n], vec![bounds.1; n]);
    let problem = BoxMlcp::new(matrix, rhs, &lower, &upper).unwrap();
    checked(
        &problem,
        penalty::Settings::default(),
        &mut Identity,
        &mut vec![start; n],
        &mut (),
    )
    .status
}

#[test]
fn infeasible_problems_and_indefinite_matrices_are_distinguished() {
    let ring = Domain::closed([4, 4, 1])
        .laplacian(&mut Random::new(1))
        .matrix;
    let mut uneven = [-0.1; 16];
    uneven[3] = 0.7;
    for rhs in [[-0.1; 16], uneven] {
        assert_eq!(
            end(&ring, &rhs, (0.0, f64::INFINITY), 3.0),
            Status::Infeasible
        );
        assert_eq!(end(&ring, &rhs, FREE, 3.0), Status::Infeasible);
        assert_eq!(end(&ring, &rhs, (0.0, 100.0), 3.0), Status::Converged);
    }
    assert_eq!(end(&dense([[-1.0]]), &[1.0], FREE, 0.0), Status::NonDescent);
}

struct StopAt {
    outer: usize,
    inner: usize,
}

impl Observer for StopAt {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        if progress.iteration >= self.outer {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn observe_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        if progress.iteration >= self.inner {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[test]
fn limits_and_stops_are_reported() {
    let (matrix, rhs) = (
        chain(200, 0.0),
        (0..200)
            .map(|i| (f64::from(i) * 0.7).sin() - 0.3)
            .collect::<Vec<f64>>(),
    );
    let (lower, upper) = (vec![0.0; 200], vec![f64::INFINITY; 200]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let run = |settings: penalty::Settings, observer: &mut dyn Observer| {
        let mut x = vec![1.0; 200];
        settings.observed(&problem, &mut x, observer)
    };
    let mut trace = Trace::default();
    let report = run(Default::default(), &mut trace);
    assert_eq!(report.status, Status::Converged);
    assert_eq!(
        (trace.outer.len(), trace.inner.len()),
        (report.iterations + 1, report.inner_iterations)
    );
    let limited = run(penalty::Settings::default().max_iterations(1), &mut ());
    assert_eq!(
        (limited.status, limited.iterations),
        (Status::IterationLimit, 1)
    );
    for (outer, inner) in [(0, 1000), (1, 1000), (1000, 3)] {
        let report = run(Default::default(), &mut StopAt { outer, inner });
        assert_eq!(report.status, Status::Stopped);
        assert!(report.iterations <= outer && report.inner_iterations <= inner);
    }
    let good = penalty::Settings::default();
    for (expected, settings) in [
        ("tolerance", good.tolerance(0.0)),
        ("penalty", good.penalty(0.0)),
        ("inner_tolerance", good.inner_tolerance(1.0)),
    ] {
        let error = settings.attempt(&problem, &mut Identity, &mut [0.0; 200], &mut ());
        assert!(matches!(error, Err(InputError::Setting { name, .. }) if name == expected));
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let domain = Domain {
        tile: 8,
        ..Domain::cube(30)
    };
    let instance = Instance::with_known_solution(domain, 11).grounded(0.01);
    assert!(instance.len() > 20_000);
    same_for_all_threads(|| {
        let (mut x, mut trace) = (vec![0.0; instance.len()], Trace::default());
        let settings = penalty::Settings::default();
        let report = checked(
            &instance.problem(),
            settings,
            &mut mic(&instance),
            &mut x,
            &mut trace,
        );
        assert_eq!(report.status, Status::Converged);
        (bits(&x), report, trace)
    });
}
