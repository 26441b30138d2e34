//! Gradient steps before a Newton method: they never make things worse, and help it.

use crate::gallery;
use crate::gallery::{Domain, Instance, Random};
use crate::harness::Run;
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::newton;
use meniscus_lcp::methods::start::{self, Measure, Settings};
use meniscus_lcp::precondition::Jacobi;
use meniscus_lcp::{BoxMlcp, Csr, Operator, Status, Trace, reduce};
use proptest::prelude::*;

const INF: f64 = f64::INFINITY;

fn steps(measure: Measure, max_iterations: usize) -> Settings {
    Settings::default()
        .measure(measure)
        .max_iterations(max_iterations)
}

/// `1/2 x'Ax + b'x`
fn energy(instance: &Instance, x: &[f64]) -> f64 {
    0.5 * instance.matrix.apply_dot(x, &mut vec![0.0; x.len()]) + reduce::dot(&instance.rhs, x)
}

proptest! {
    #![proptest_config(gallery::cases(64))]

    #[test]
    fn every_step_lowers_the_energy_and_stays_in_the_box(seed: u64, side in 2_usize..12, far: bool) {
        let instance = Instance::with_known_solution(Domain::plane(side), seed);
        prop_assume!(instance.len() > 0);
        let problem = instance.problem();
        let mut x = vec![if far { 100.0 } else { 0.0 }; instance.len()];
        (steps(Measure::Energy, 0)).run(&problem, &mut x);
        let mut last = energy(&instance, &x);
        for _ in 0..20 {
            let report =
                (steps(Measure::Energy, 1)).run(&problem, &mut x);
            let now = energy(&instance, &x);
            prop_assert!(now <= last + 1e-12 * last.abs(), "{now} {last} {report:?}");
            prop_assert!((0..x.len()).all(|i| instance.lower[i] <= x[i] && x[i] <= instance.upper[i]));
            prop_assert_eq!(report.residual, problem.residual_inf(&x));
            last = now;
        }
    }

    #[test]
    fn every_step_lowers_the_merit_whatever_the_matrix(seed: u64, n in 1_usize..12) {
        let mut random = Random::new(seed);
        let row = |random: &mut Random| (0..n).map(|j| (j as u32, random.between(-1.0, 1.0))).collect();
        let matrix: Csr = gallery::from_rows((0..n).map(|_| row(&mut random)).collect());
        let rhs: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        let lower: Vec<f64> = (0..n).map(|_| [0.0, -INF, -1.0][random.below(3)]).collect();
        let upper: Vec<f64> = (0..n).map(|_| [1.0, INF][random.below(2)]).collect();
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let mut trace = Trace::default();
        let mut x = vec![0.5; n];
        let report =
            (steps(Measure::Merit, 20)).observed(&problem, &mut x, &mut trace);
        prop_assert!(trace.outer.windows(2).all(|pair| pair[1].merit < pair[0].merit));
        prop_assert_eq!(report.residual, problem.residual_inf(&x));
        prop_assert_eq!(report.inner_iterations, 0);
    }
}

#[test]
fn enough_steps_reach_the_solution() {
    let instance = generated::banded(200, 3, 0.5, &mut Random::new(5));
    for (measure, iterations) in [(Measure::Energy, 2_000), (Measure::Merit, 20_000)] {
        let mut x = vec![0.0; 200];
        let settings = steps(measure, iterations);
        let report = settings.run(&instance.problem(), &mut x);
        assert_eq!(report.status, Status::Converged, "{measure:?} {report:?}");
        for (x, solution) in x.iter().zip(&instance.solution) {
            assert!((x - solution).abs() < 1e-6, "{measure:?}");
        }
    }
}

#[test]
fn a_start_by_gradient_steps_saves_newton_iterations() {
    let (mut cold, mut begun) = (0, 0);
    for seed in 0..20 {
        let instance = generated::banded(1000, 3, 0.5, &mut Random::new(seed));
        let problem = instance.problem();
        let newton = |gradient_steps| {
            let mut x = vec![0.0; 1000];
            let settings = steps(Measure::Energy, gradient_steps);
            settings.run(&problem, &mut x);
            let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
            let settings = newton::Settings::default();
            let report = settings.preconditioned(&problem, &mut jacobi, &mut x);
            assert_eq!(report.status, Status::Converged);
            report.iterations
        };
        cold += newton(0);
        begun += newton(10);
    }
    assert!(begun < cold, "{begun} {cold}");
}

#[test]
fn hostile_problems_end_with_a_finite_point() {
    for scale in [0.0, 1e-300, 1.0, 1e300] {
        for sign in [1.0, -1.0] {
            let matrix = gallery::dense([[sign * scale, 0.0], [scale, 0.0]]);
            let problem = BoxMlcp::new(&matrix, &[-1.0, 1.0], &[0.0, -INF], &[INF, 3.0]).unwrap();
            for measure in [Measure::Energy, Measure::Merit] {
                let mut x = [1.0, 2.0];
                let settings = steps(measure, 50);
                let report = settings.run(&problem, &mut x);
                assert!(
                    x.iter().all(|x| x.is_finite()),
                    "{measure:?} {scale} {report:?}"
                );
                let residual = problem.residual_inf(&x);
                assert_eq!(report.status == Status::Converged, residual <= 1e-8);
            }
        }
    }
    let none = gallery::from_rows(vec![]);
    let problem = BoxMlcp::new(&none, &[], &[], &[]).unwrap();
    let report = start::Settings::default().run(&problem, &mut []);
    assert_eq!(report.status, Status::Converged);
}
