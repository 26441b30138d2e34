//! No finite problem causes a panic, a hang or a false report, whatever its matrix and the size of its entries.

use crate::gallery::{self, Instance, Random, from_rows};
use crate::harness::{ABOVE_ZERO, FREE, Run, all, check, fischers};
use meniscus_lcp::methods::start::{self, Measure};
use meniscus_lcp::methods::{enumerate, interior_point, linear};
use meniscus_lcp::precondition::Identity;
use meniscus_lcp::{Csr, InputError};
use proptest::prelude::*;

/// A matrix of no kind in particular.
fn matrix(kind: usize, n: usize, scale: f64, random: &mut Random) -> Csr {
    let entry = |i: usize, j: usize, random: &mut Random| match kind {
        // Sparse with any diagonal; rows of zeros; a positive diagonal.
        0 if i == j || random.chance(0.7) => Some(random.between(-1.0, 1.0)),
        1 if i % 3 != 2 && random.chance(0.5) => Some(random.between(-1.0, 1.0)),
        2 if i == j => Some(random.between(0.01, 1.0)),
        2 if random.chance(0.7) => Some(random.between(-1.0, 1.0)),
        _ => None,
    };
    let row = |i: usize, random: &mut Random| {
        let entries = (0..n).filter_map(|j| Some((j as u32, scale * entry(i, j, random)?)));
        entries.collect()
    };
    from_rows((0..n).map(|i| row(i, random)).collect())
}

proptest! {
    #![proptest_config(gallery::cases(192))]

    #[test]
    fn every_method_reports_the_truth(
        seed: u64, n in 0_usize..6, kind in 0_usize..3, rhs in 0_usize..3, far: bool,
        scale in prop::sample::select(vec![0.0, 1e-300, 1e-150, 1e-8, 1.0, 1.0, 1e8, 1e150, 1e300]),
    ) {
        let mut random = Random::new(seed);
        let matrix = matrix(kind, n, scale, &mut random);
        let mut instance = Instance::hostile(matrix, &mut random);
        match rhs {
            0 => {}
            1 => instance.rhs = (0..n).map(|_| random.between(-5.0, 5.0) * [1.0, scale, 0.0][random.below(3)]).collect(),
            _ => instance.rhs = (0..n).map(|_| random.between(-1.0, 1.0) * scale).collect(),
        }
        let size = if far { 1e10 } else { 1.0 };
        let start: Vec<f64> = (0..n).map(|_| size * random.between(-1.0, 1.0)).collect();
        let clamped: Vec<f64> = (0..n).map(|i| start[i].clamp(instance.lower[i], instance.upper[i])).collect();
        let problem = instance.problem();
        let before = problem.residual_inf(&clamped);
        let mut methods = all();
        methods.push(Box::new(enumerate::Settings::default()));
        for measure in [Measure::Energy, Measure::Merit] {
            methods.push(Box::new(start::Settings::default().measure(measure)));
        }
        for method in methods {
            let limit = match method.name() { "fischer" => 60, "enumerate" => 1 << 20, _ => 300 };
            let method = method.within(1e-8, limit);
            let mut x = start.clone();
            match method.attempt(&problem, &mut Identity, &mut x, &mut ()) {
                Ok(report) => {
                    check(method.name(), &problem, &report, &x, 1e-8);
                    let worse = before.is_finite() && report.residual > before;
                    prop_assert!(method.name() != "fischer" || !worse, "{method:?}: {report:?}, {before} at the start");
                }
                Err(InputError::NoDivisor { .. }) => {
                    prop_assert!(matches!(method.name(), "jacobi" | "pgs" | "psor" | "spsor"), "{method:?}");
                }
                Err(InputError::Diagonal { .. }) => {}
                Err(error) => prop_assert!(false, "{method:?}: {error}"),
            }
        }
        instance.lower.fill(f64::NEG_INFINITY);
        instance.upper.fill(f64::INFINITY);
        let linear = linear::Settings::default().max_iterations(300);
        linear.run(&instance.problem(), &mut start.clone());
    }
}

#[test]
fn enormous_and_tiny_numbers_end_with_a_status() {
    let numbers = [1e300, -1e300, 1e-300, f64::MAX, 0.0, 1.0, f64::MIN_POSITIVE];
    let bounds = [
        ABOVE_ZERO,
        FREE,
        (-1e300, 1e300),
        (1.0, 1.0),
        (1e-300, 2e-300),
        (0.0, f64::MIN_POSITIVE),
        (-f64::MAX, f64::MAX),
    ];
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(4);
        let mut number = || numbers[random.below(numbers.len())];
        let row = |number: &mut dyn FnMut() -> f64| (0..n as u32).map(|j| (j, number())).collect();
        let matrix = from_rows((0..n).map(|_| row(&mut number)).collect());
        let rhs: Vec<f64> = (0..n).map(|_| number()).collect();
        let start = number();
        let mut methods: Vec<Box<dyn Run>> = crate::harness::pivoting();
        methods.push(Box::new(interior_point::Settings::default()));
        methods.push(Box::new(enumerate::Settings::default()));
        methods.push(Box::new(fischers()[0]));
        for (method, bounds) in methods
            .iter()
            .flat_map(|m| bounds.map(|bounds| (m, bounds)))
        {
            method.uniform((&matrix, &rhs, bounds), start, &mut ());
            method.uniform((&matrix, &rhs, bounds), 0.0, &mut ());
        }
    }
}
