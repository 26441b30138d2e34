//! Gradient steps before a Newton method: they never make things worse, and help it.

use crate::gallery::{self, Domain, Instance, Random};
use crate::harness::{INF, Run, difference, noise};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::newton;
use meniscus_lcp::methods::start::{Measure, Settings};
use meniscus_lcp::precondition::Jacobi;
use meniscus_lcp::{BoxMlcp, Csr, Operator, Status, Trace, reduce};
use proptest::prelude::*;

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
        steps(Measure::Energy, 0).run(&problem, &mut x);
        let mut last = energy(&instance, &x);
        for _ in 0..20 {
            let report = steps(Measure::Energy, 1).run(&problem, &mut x);
            let now = energy(&instance, &x);
            prop_assert!(now <= last + 1e-12 * last.abs(), "{now} {last} {report:?}");
            last = now;
        }
    }

    #[test]
    fn every_step_lowers_the_merit_whatever_the_matrix(seed: u64, n in 1_usize..12) {
        let mut random = Random::new(seed);
        let row = |random: &mut Random| (0..n).map(|j| (j as u32, random.between(-1.0, 1.0))).collect();
        let matrix: Csr = gallery::from_rows((0..n).map(|_| row(&mut random)).collect());
        let rhs = noise(n, &mut random);
        let lower: Vec<f64> = (0..n).map(|_| [0.0, -INF, -1.0][random.below(3)]).collect();
        let upper: Vec<f64> = (0..n).map(|_| [1.0, INF][random.below(2)]).collect();
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let mut trace = Trace::default();
        let mut x = vec![0.5; n];
        let report = steps(Measure::Merit, 20).observed(&problem, &mut x, &mut trace);
        prop_assert!(trace.outer.windows(2).all(|pair| pair[1].merit < pair[0].merit));
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
        assert!(difference(&x, &instance.solution) < 1e-6, "{measure:?}");
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
