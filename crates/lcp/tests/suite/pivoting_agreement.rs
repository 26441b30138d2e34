//! Pivoting methods agree with an interior point method that shares no code with them.

use crate::gallery;
use crate::gallery::Random;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus,
};
use meniscus_lcp::methods::{dantzig, keller, lemke};
use meniscus_lcp::{BoxMlcp, Dense, Operator, Report, Status, reduce};
use proptest::prelude::*;

/// `min 1/2 x'Ax + b'x` on `[l, u]` by Clarabel; what it says about it, and its `x`.
fn quadratic_programme(problem: &BoxMlcp<'_, Dense>) -> (SolverStatus, Vec<f64>) {
    let n = problem.len();
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..n {
        for row in 0..=column {
            rows.push(row);
            values.push(problem.matrix().get(row, column));
        }
        starts.push(rows.len());
    }
    let upper_triangle = CscMatrix::new(n, n, starts, rows, values);
    // -x <= -l and x <= u
    let (mut starts, mut rows, mut values, mut sides) = (vec![0], vec![], vec![], vec![]);
    for i in 0..n {
        for (sign, bound) in [(-1.0, problem.lower()[i]), (1.0, problem.upper()[i])] {
            if bound.is_finite() {
                rows.push(sides.len());
                values.push(sign);
                sides.push(sign * bound);
            }
        }
        starts.push(rows.len());
    }
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .build()
        .expect("the settings are valid");
    let mut solver = DefaultSolver::new(
        &upper_triangle,
        problem.rhs(),
        &CscMatrix::new(sides.len(), n, starts, rows, values),
        &sides,
        &[NonnegativeConeT(sides.len())],
        settings,
    )
    .expect("the programme is well formed");
    solver.solve();
    (solver.solution.status, solver.solution.x)
}

/// `1/2 x'Ax + b'x`
fn objective(problem: &BoxMlcp<'_, Dense>, x: &[f64]) -> f64 {
    let mut product = vec![0.0; x.len()];
    0.5 * problem.matrix().apply_dot(x, &mut product) + reduce::dot(problem.rhs(), x)
}

/// The report and the point of each method.
fn all(problem: &BoxMlcp<'_, Dense>) -> [(Report, Vec<f64>); 3] {
    let start = vec![0.0; problem.len()];
    let (mut a, mut b, mut c) = (start.clone(), start.clone(), start);
    let settings = lemke::Settings::default();
    let reports = [
        lemke::solve(problem, &settings, &mut a, &mut Default::default(), &mut ()),
        dantzig::solve(problem, &settings, &mut b, &mut Default::default(), &mut ()),
        keller::solve(problem, &settings, &mut c, &mut Default::default(), &mut ()),
    ];
    let [x, y, z] = reports.map(Result::unwrap);
    [(x, a), (y, b), (z, c)]
}

proptest! {
    #![proptest_config(gallery::cases(200))]

    #[test]
    fn they_find_the_minimum_of_a_convex_function_on_a_box_or_that_there_is_none(
        seed: u64, n in 1_usize..40, rank in 0.2_f64..1.2, mixed: bool,
    ) {
        let mut random = Random::new(seed);
        let columns = ((n as f64 * rank) as usize).max(1);
        let g: Vec<f64> = (0..n * columns).map(|_| random.between(-1.0, 1.0)).collect();
        let matrix = Dense::from_fn(n, |i, j| {
            (0..columns).map(|k| g[i * columns + k] * g[j * columns + k]).sum()
        });
        let rhs: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        let (lower, upper): (Vec<f64>, Vec<f64>) = (0..n)
            .map(|_| match if mixed { random.below(5) } else { 0 } {
                0 | 1 => (0.0, f64::INFINITY),
                2 => (-1.0, 1.0),
                3 => (f64::NEG_INFINITY, 0.5),
                _ => (f64::NEG_INFINITY, f64::INFINITY),
            })
            .unzip();
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let (verdict, oracle) = quadratic_programme(&problem);
        for (report, x) in all(&problem) {
            match verdict {
                SolverStatus::Solved => {
                    prop_assert_eq!(report.status, Status::Converged);
                    let (ours, theirs) = (objective(&problem, &x), objective(&problem, &oracle));
                    prop_assert!((ours - theirs).abs() <= 1e-6 * (1.0 + theirs.abs()), "{ours} {theirs}");
                }
                // No minimum: the function falls for ever.
                SolverStatus::DualInfeasible => prop_assert_eq!(report.status, Status::Infeasible),
                _ => {}
            }
        }
    }
}
