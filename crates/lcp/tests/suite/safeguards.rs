//! Safeguards whose absence no solution shows: line searches, forcing, stopping rules, proportioning.

use crate::gallery::{Domain, Instance, Random, dense, full};
use crate::harness::{FREE, INF, Run, noise};
use meniscus_lcp::methods::{mprgp, newton, policy};
use meniscus_lcp::precondition::{Identity, Preconditioner};
use meniscus_lcp::{Blocks, BoxMlcp, Report, Status, Trace};

/// Positive definite, with couplings of both signs: the active set of Newton's method does not settle monotonically.
fn coupled(n: usize, seed: u64) -> Instance {
    let random = &mut Random::new(seed);
    let g = noise(n * n, random);
    let gram = |i: usize, j: usize| {
        let sum: f64 = (0..n).map(|k| g[i * n + k] * g[j * n + k]).sum();
        sum + if i == j { 0.05 } else { 0.0 }
    };
    Instance {
        blocks: Blocks::single(n),
        matrix: full(n, gram),
        rhs: noise(n, random),
        lower: vec![0.0; n],
        upper: vec![INF; n],
    }
}

#[test]
fn every_step_of_newtons_method_lowers_its_merit_by_the_part_that_is_asked_for() {
    let part = 0.3;
    let (mut steps, mut shortened) = (0, 0);
    for seed in 0..60 {
        let given = coupled(30, seed);
        let settings = newton::Settings::default()
            .sufficient_decrease(part)
            .forcing(1e-10);
        let mut trace = Trace::default();
        settings.observed(&given.problem(), &mut vec![0.0; 30], &mut trace);
        for pair in trace.outer.windows(2) {
            // With exact directions the slope is -2 merit; of a step of length t at least 2 t part is won.
            let won = 1.0 - pair[1].merit / pair[0].merit;
            assert!(
                won > 0.0,
                "seed {seed}: {} to {}",
                pair[0].merit,
                pair[1].merit
            );
            steps += 1;
            shortened += usize::from(won < 2.0 * part);
        }
    }
    // Full steps are not always good enough, or the search would have nothing to do.
    assert!(shortened > 10, "{shortened} of {steps}");
}

/// A preconditioner of two numbers.
struct Diagonal([f64; 2]);

impl Preconditioner for Diagonal {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        for i in 0..2 {
            z[i] = self.0[i] * r[i];
        }
    }

    fn apply_masked_dot(&self, _: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        self.apply_dot(r, z)
    }
}

/// One step of conjugate gradients from r = (1, 1) with weights 1 and 100 leaves (0.99, -0.01): the merit falls by half, not to
/// zero as it would along an exact direction. A slope that ignores what is left asks for more than any step can give.
#[test]
fn the_slope_of_an_inexact_direction_includes_its_residual() {
    let unit = dense([[1.0, 0.0], [0.0, 1.0]]);
    let problem = BoxMlcp::new(&unit, &[1.0, 1.0], &[-INF; 2], &[INF; 2]).unwrap();
    let settings = newton::Settings::default()
        .forcing(0.75)
        .sufficient_decrease(0.4);
    let mut trace = Trace::default();
    let mut x = [0.0; 2];
    let preconditioner = &mut Diagonal([1.0, 100.0]);
    let solved = newton::solve(
        &problem,
        &settings,
        preconditioner,
        &mut x,
        &mut Default::default(),
        &mut trace,
    );
    assert_eq!(solved.unwrap().status, Status::Converged);
    let merits: Vec<f64> = trace.outer.iter().take(2).map(|seen| seen.merit).collect();
    let full_step = merits[1] / merits[0];
    assert!((full_step - 0.49).abs() < 0.01, "{merits:?}");
}

/// On a linear problem one Newton step is enough if its equation is solved as accurately as it is asked for.
#[test]
fn inner_solves_continue_to_the_tolerance_of_the_whole() {
    let mut given = Instance::with_known_solution(Domain::plane(20), 3).grounded(0.1);
    (given.lower, given.upper) = (vec![FREE.0; given.len()], vec![FREE.1; given.len()]);
    for tolerance in [1e-6, 1e-9] {
        let by_newton = newton::Settings::default()
            .tolerance(tolerance)
            .forcing(1e-14);
        let by_policy = policy::Settings::default()
            .tolerance(tolerance)
            .inner_tolerance(1e-14);
        let methods: [Box<dyn Run>; 2] = [Box::new(by_newton), Box::new(by_policy)];
        for method in methods {
            let report = method.run(&given.problem(), &mut vec![0.0; given.len()]);
            assert_eq!(
                (report.status, report.iterations),
                (Status::Converged, 1),
                "{method:?}"
            );
        }
    }
}

/// Newton's method on a problem whose solution is `size` times as large.
fn sized(given: &Instance, size: f64) -> Report {
    let times = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| size * value).collect() };
    let (rhs, lower, upper) = (times(&given.rhs), times(&given.lower), times(&given.upper));
    let problem = BoxMlcp::new(&given.matrix, &rhs, &lower, &upper).unwrap();
    let settings = newton::Settings::default().tolerance(1e-8 * size);
    settings.run(&problem, &mut vec![0.0; given.len()])
}

#[test]
fn stagnation_is_relative_to_the_size_of_x() {
    let given = Instance::with_known_solution(Domain::plane(12), 5).grounded(0.01);
    let as_it_is = sized(&given, 1.0);
    assert_eq!(as_it_is.status, Status::Converged);
    for power in [-60, -30, 30, 60] {
        let report = sized(&given, f64::from(power).exp2());
        let same = (report.status, report.iterations, report.inner_iterations);
        let expected = (
            as_it_is.status,
            as_it_is.iterations,
            as_it_is.inner_iterations,
        );
        assert_eq!(same, expected, "2^{power}");
    }
}

/// With the largest `Gamma` a face is solved to the end before any row leaves its bound, as if nothing were tested; with the
/// smallest, rows are released at every step.
#[test]
fn proportioning_releases_rows_before_their_face_is_solved_to_the_end() {
    let given = Instance::with_known_solution(Domain::plane(30), 9).grounded(1e-3);
    let steps = |gamma: f64| {
        let settings = mprgp::Settings::default().proportionality(gamma);
        let report = settings.solve(
            &given.problem(),
            &mut Identity,
            &mut vec![0.0; given.len()],
            &mut (),
        );
        assert_eq!(report.status, Status::Converged, "{gamma:e}");
        report.iterations
    };
    let (default, late, always) = (steps(1.0), steps(1e8), steps(1e-8));
    assert!(2 * default < late, "{default} {late}");
    assert!(default < always, "{default} {always}");
}
