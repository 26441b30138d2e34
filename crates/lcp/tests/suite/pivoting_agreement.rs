//! Pivoting methods agree with an interior point method that shares no code with them.

use crate::gallery::{self, Instance, Random, full};
use crate::harness::{INF, noise, pivoting};
use crate::oracle::verdict;
use clarabel::solver::SolverStatus;
use meniscus_lcp::{Blocks, Operator, Status, reduce};
use proptest::prelude::*;

/// `1/2 x'Ax + b'x`
fn objective(instance: &Instance, x: &[f64]) -> f64 {
    let mut product = vec![0.0; x.len()];
    0.5 * instance.matrix.apply_dot(x, &mut product) + reduce::dot(&instance.rhs, x)
}

proptest! {
    #![proptest_config(gallery::cases(200))]

    #[test]
    fn they_find_the_minimum_of_a_convex_function_on_a_box_or_that_there_is_none(
        seed: u64, n in 1_usize..40, rank in 0.2_f64..1.2, mixed: bool,
    ) {
        let mut random = Random::new(seed);
        let columns = ((n as f64 * rank) as usize).max(1);
        let g = noise(n * columns, &mut random);
        let gram = |i: usize, j: usize| (0..columns).map(|k| g[i * columns + k] * g[j * columns + k]).sum();
        let rhs = noise(n, &mut random);
        let (lower, upper) = (0..n)
            .map(|_| match if mixed { random.below(5) } else { 0 } {
                0 | 1 => (0.0, INF),
                2 => (-1.0, 1.0),
                3 => (-INF, 0.5),
                _ => (-INF, INF),
            })
            .unzip();
        let matrix = full(n, gram);
        let instance = Instance { blocks: Blocks::single(n), matrix, rhs, lower, upper };
        let (verdict, oracle) = verdict(&instance);
        for method in pivoting() {
            let mut x = vec![0.0; n];
            let report = method.run(&instance.problem(), &mut x);
            match verdict {
                SolverStatus::Solved => {
                    prop_assert_eq!(report.status, Status::Converged);
                    let (ours, theirs) = (objective(&instance, &x), objective(&instance, &oracle));
                    prop_assert!((ours - theirs).abs() <= 1e-6 * (1.0 + theirs.abs()), "{ours} {theirs}");
                }
                // No minimum: the function falls for ever.
                SolverStatus::DualInfeasible => prop_assert_eq!(report.status, Status::Infeasible),
                _ => {}
            }
        }
    }
}
