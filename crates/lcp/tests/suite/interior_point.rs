//! The interior point method: monotone problems of every kind, and those that have no solution.

use crate::gallery;
use crate::harness::{difference, refused};
use std::ops::ControlFlow;

use crate::gallery::{Domain, Instance, Random, chain, dense, from_rows};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::interior_point::{Settings, Workspace, solve};
use meniscus_lcp::{
    BoxMlcp, Csr, InnerProgress, Observer, Operator, Progress, Report, Rows, Status, Trace, reduce,
};
use proptest::prelude::*;

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const ABOVE_ZERO: (f64, f64) = (0.0, f64::INFINITY);

/// Solves, and checks what holds for every report.
fn run<A: Rows>(problem: &BoxMlcp<'_, A>, settings: &Settings, x: &mut [f64]) -> Report {
    let report = solve(problem, settings, x, &mut Workspace::default(), &mut ()).unwrap();
    assert!(x.iter().all(|x| x.is_finite()), "{report:?}");
    let residual = problem.residual_inf(x);
    assert!(
        report.residual == residual || (report.residual.is_nan() && residual.is_nan()),
        "{report:?}"
    );
    assert_eq!(
        report.status == Status::Converged,
        residual <= settings.tolerance,
        "{report:?}"
    );
    for i in 0..x.len() {
        assert!(problem.lower()[i] <= x[i] && x[i] <= problem.upper()[i]);
    }
    report
}

fn run_uniform(matrix: &Csr, rhs: &[f64], bounds: (f64, f64), x: &mut [f64]) -> Report {
    let (lower, upper) = (vec![bounds.0; rhs.len()], vec![bounds.1; rhs.len()]);
    let problem = BoxMlcp::new(matrix, rhs, &lower, &upper).unwrap();
    run(&problem, &Settings::default(), x)
}

/// A problem that is made from its solution.
struct Known {
    matrix: Csr,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    x: Vec<f64>,
}

impl Known {
    fn problem(&self) -> BoxMlcp<'_, Csr> {
        BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &self.upper).unwrap()
    }
}

/// Rows of every kind: free, bounded below, above and on both sides, fixed; a share of them degenerate (`x` at its
/// bound and `y` zero).
fn known(matrix: Csr, degenerate: f64, random: &mut Random) -> Known {
    let n = matrix.rows();
    let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]);
    let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let kind = random.below(5);
        x[i] = random.between(-5.0, 5.0);
        let push = if random.chance(degenerate) {
            0.0
        } else {
            random.between(0.1, 5.0)
        };
        let (room_below, room_above) = (random.between(0.1, 5.0), random.between(0.1, 5.0));
        let place = random.below(3);
        if kind == 4 {
            (lower[i], upper[i]) = (x[i], x[i]);
            y[i] = random.between(-5.0, 5.0);
            continue;
        }
        if kind == 1 || kind == 3 {
            lower[i] = x[i] - room_below;
            if place == 0 {
                (lower[i], y[i]) = (x[i], push);
            }
        }
        if kind == 2 || kind == 3 {
            upper[i] = x[i] + room_above;
            if place == 1 {
                (upper[i], y[i]) = (x[i], -push);
            }
        }
    }
    let mut rhs = vec![0.0; n];
    matrix.apply(&x, &mut rhs);
    for (b, y) in rhs.iter_mut().zip(&y) {
        *b = y - *b;
    }
    let known = Known {
        matrix,
        rhs,
        lower,
        upper,
        x,
    };
    assert!(known.problem().residual_inf(&known.x) < 1e-11);
    known
}

/// `definite I + skew (K - K')` plus a few squares of sparse rows, with a random sparse `K`.
fn monotone(n: usize, definite: f64, skew: f64, squares: usize, random: &mut Random) -> Csr {
    let mut entries = Vec::new();
    for i in 0..n as u32 {
        entries.push((i, i, definite));
        for _ in 0..3 {
            let (j, value) = (random.below(n) as u32, skew * random.between(-1.0, 1.0));
            if i != j {
                entries.push((i, j, value));
                entries.push((j, i, -value));
            }
        }
    }
    for _ in 0..squares {
        let row: Vec<(u32, f64)> = (0..3)
            .map(|_| (random.below(n) as u32, random.between(-1.0, 1.0)))
            .collect();
        for &(i, a) in &row {
            for &(j, b) in &row {
                entries.push((i, j, a * b));
            }
        }
    }
    Csr::from_entries(n, entries).unwrap()
}

/// `min 1/2 x'Ax + b'x` on `[l, u]`, by Clarabel; none if it gives up.
fn quadratic_programme(problem: &BoxMlcp<'_, Csr>) -> Option<Vec<f64>> {
    let n = problem.len();
    let columns = |of: &dyn Fn(usize) -> Vec<(usize, f64)>, rows: usize| {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for column in 0..n {
            for (row, value) in of(column) {
                indices.push(row);
                values.push(value);
            }
            starts.push(indices.len());
        }
        CscMatrix::new(rows, n, starts, indices, values)
    };
    let upper_triangle = columns(
        &|column| {
            let (rows, values) = problem.matrix().row(column); // symmetric: a row is a column
            let entries = rows
                .iter()
                .zip(values)
                .map(|(&row, &value)| (row as usize, value));
            entries.filter(|entry| entry.0 <= column).collect()
        },
        n,
    );
    // Equations first, then `-x <= -l` and `x <= u`.
    let fixed = |i: usize| problem.lower()[i] == problem.upper()[i];
    let mut constraints: Vec<(usize, f64, f64)> = (0..n)
        .filter(|&i| fixed(i))
        .map(|i| (i, 1.0, problem.lower()[i]))
        .collect();
    let equations = constraints.len();
    for i in (0..n).filter(|&i| !fixed(i)) {
        for (sign, bound) in [(-1.0, problem.lower()[i]), (1.0, problem.upper()[i])] {
            if bound.is_finite() {
                constraints.push((i, sign, sign * bound));
            }
        }
    }
    let of_column = |column: usize| {
        let of = constraints
            .iter()
            .enumerate()
            .filter(|(_, constraint)| constraint.0 == column);
        of.map(|(row, constraint)| (row, constraint.1)).collect()
    };
    let sides: Vec<f64> = constraints.iter().map(|constraint| constraint.2).collect();
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .build()
        .unwrap();
    let cones = [
        ZeroConeT(equations),
        NonnegativeConeT(constraints.len() - equations),
    ];
    let constraint_matrix = columns(&of_column, constraints.len());
    let mut solver = DefaultSolver::new(
        &upper_triangle,
        problem.rhs(),
        &constraint_matrix,
        &sides,
        &cones,
        settings,
    )
    .unwrap();
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then_some(solver.solution.x)
}

proptest! {
    #![proptest_config(gallery::cases(96))]

    #[test]
    fn symmetric_problems_have_the_solution_that_clarabel_finds(
        seed: u64, spatial: bool, side in 2_usize..10, weakest in prop::sample::select(vec![1.0, 0.05, 1e-4]),
    ) {
        let domain = if spatial { Domain::cube(1 + side / 2) } else { Domain::plane(side) };
        let instance = Instance::with_known_solution(Domain { weakest, ..domain }, seed).grounded(0.01);
        prop_assume!(instance.len() > 0);
        let oracle = quadratic_programme(&instance.problem());
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        let mut x = vec![0.0; instance.len()];
        let report = run(&instance.problem(), &Settings::default(), &mut x);
        prop_assert_eq!(report.status, Status::Converged);
        // The matrix is at least 0.01 I, which bounds the error of either by its residual.
        let residual = instance.problem().residual_inf(&oracle) + report.residual;
        prop_assert!(difference(&x, &oracle) <= 1e-6 * reduce::largest(&oracle) + 1e3 * residual);
    }

    #[test]
    fn singular_symmetric_problems_with_a_solution_are_solved(
        seed: u64, spatial: bool, side in 2_usize..10, cuts in prop::sample::select(vec![0.0, 0.1, 0.5]),
    ) {
        let domain = if spatial { Domain::cube(1 + side / 2) } else { Domain::plane(side) };
        let instance = Instance::with_known_solution(Domain { holes: 0.0, cuts, ..domain }, seed);
        let mut x = vec![0.0; instance.len()];
        let report = run(&instance.problem(), &Settings::default(), &mut x);
        prop_assert_eq!(report.status, Status::Converged);
    }

    #[test]
    fn definite_problems_without_symmetry_have_their_known_solution(
        seed: u64, n in 1_usize..80, skew in prop::sample::select(vec![0.0, 1.0, 30.0]), degenerate: bool,
    ) {
        let mut random = Random::new(seed);
        let matrix = monotone(n, 1.0, skew, n / 2, &mut random);
        let known = known(matrix, if degenerate { 0.5 } else { 0.0 }, &mut random);
        let mut x = vec![0.0; n];
        let report = run(&known.problem(), &Settings::default(), &mut x);
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
        prop_assert!(difference(&x, &known.x) < 1e-4, "{}", difference(&x, &known.x));
        if !degenerate {
            prop_assert!(difference(&x, &known.x) < 1e-9, "{:?}", report);
        }
    }

    #[test]
    fn monotone_problems_with_a_singular_symmetric_part_are_solved(
        seed: u64, n in 2_usize..80, squares in 0_usize..20,
    ) {
        let mut random = Random::new(seed);
        let matrix = monotone(n, 0.0, 1.0, squares, &mut random);
        let known = known(matrix, 0.1, &mut random);
        let report = run(&known.problem(), &Settings::default(), &mut vec![0.0; n]);
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
    }

    #[test]
    fn results_do_not_depend_on_units(seed: u64, by_x in -8_i32..8, by_y in -8_i32..8) {
        let mut random = Random::new(seed);
        let matrix = monotone(30, 1.0, 1.0, 10, &mut random);
        let known = known(matrix, 0.0, &mut random);
        let (by_x, by_y) = (10_f64.powi(by_x), 10_f64.powi(by_y));
        let (row_starts, columns, mut values) = known.matrix.clone().into_parts();
        values.iter_mut().for_each(|value| *value *= by_y / by_x);
        let matrix = Csr::new(30, row_starts, columns, values).unwrap();
        let times = |array: &[f64], factor: f64| array.iter().map(|a| a * factor).collect::<Vec<f64>>();
        let (rhs, lower, upper) = (times(&known.rhs, by_y), times(&known.lower, by_x), times(&known.upper, by_x));
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let mut x = vec![0.0; 30];
        // The residual mixes the units of x and y, so no tolerance fits all: go on to the end.
        let settings = Settings::default().tolerance(1e-300);
        run(&problem, &settings, &mut x);
        prop_assert!(difference(&times(&x, 1.0 / by_x), &known.x) < 1e-7);
    }
}

#[test]
fn a_strictly_complementary_solution_is_found_to_rounding() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        for instance in [
            generated::banded(200, 3, 0.5, &mut random),
            generated::dense(60, 0.0, 0.5, &mut random),
        ] {
            let mut x = vec![0.0; instance.rhs.len()];
            let report = run(&instance.problem(), &Settings::default(), &mut x);
            assert_eq!(report.status, Status::Converged);
            assert!(report.residual < 1e-13, "{report:?}");
            assert!(report.iterations <= 20, "{report:?}");
        }
    }
}

#[test]
fn without_the_exact_end_more_iterations_leave_a_larger_residual() {
    let instance = generated::banded(300, 4, 0.5, &mut Random::new(5));
    let path_only = Settings::default().polish(false);
    let mut x = vec![0.0; 300];
    let plain = run(&instance.problem(), &path_only, &mut x);
    let polished = run(&instance.problem(), &Settings::default(), &mut x.clone());
    assert_eq!(
        (plain.status, polished.status),
        (Status::Converged, Status::Converged)
    );
    x.fill(0.0);
    let cold = run(&instance.problem(), &Settings::default(), &mut x);
    assert!(plain.iterations > cold.iterations && plain.residual > 100.0 * cold.residual);
}

#[test]
fn shorter_steps_need_more_iterations() {
    let instance = generated::banded(300, 4, 0.5, &mut Random::new(5));
    let iterations = |step: f64| {
        let settings = Settings::default().step(step).polish(false);
        let report = run(&instance.problem(), &settings, &mut vec![0.0; 300]);
        assert_eq!(report.status, Status::Converged);
        report.iterations
    };
    assert!(iterations(0.5) > iterations(0.99));
}

#[test]
fn cone_problems_are_solved_although_they_are_not_monotone() {
    // No theory says so; it is what happens. Every one of these is solved, and if that changes we want to know.
    for (cones, seeds) in [(1, 50), (3, 50), (10, 30), (40, 10)] {
        for seed in 0..seeds {
            let instance = generated::contact_cone(cones, &mut Random::new(seed));
            let mut x = vec![0.0; instance.rhs.len()];
            let report = run(&instance.problem(), &Settings::default(), &mut x);
            assert_eq!(
                report.status,
                Status::Converged,
                "{cones} {seed}: {report:?}"
            );
        }
    }
}

#[test]
fn problems_without_a_solution_are_infeasible() {
    // A ring without ground: A 1 = 0, so sum y = sum b, and nothing can make it zero or positive.
    let ring = Domain::closed([4, 4, 1])
        .laplacian(&mut Random::new(1))
        .matrix;
    for bounds in [ABOVE_ZERO, FREE] {
        let report = run_uniform(&ring, &[-0.1; 16], bounds, &mut [3.0; 16]);
        assert_eq!(report.status, Status::Infeasible, "{report:?}");
    }
    // y = b < 0 whatever x is.
    let report = run_uniform(&dense([[0.0]]), &[-1.0], ABOVE_ZERO, &mut [0.0]);
    assert_eq!(report.status, Status::Infeasible);
    // Skew: y_1 = -x_0 - 1 is negative for all x >= 0.
    let skew = dense([[0.0, 1.0], [-1.0, 0.0]]);
    let report = run_uniform(&skew, &[0.0, -1.0], ABOVE_ZERO, &mut [0.0; 2]);
    assert_eq!(report.status, Status::Infeasible, "{report:?}");
    // The same beside rows that have a solution.
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let matrix = monotone(20, 1.0, 1.0, 5, &mut random);
        let mut rows: Vec<Vec<(u32, f64)>> = (0..20)
            .map(|row| {
                let (columns, values) = matrix.row(row);
                columns
                    .iter()
                    .copied()
                    .zip(values.iter().copied())
                    .collect()
            })
            .collect();
        rows.push(vec![(21, 1.0)]);
        rows.push(vec![(20, -1.0)]);
        let matrix = from_rows(rows);
        let mut rhs: Vec<f64> = (0..22).map(|_| random.between(-1.0, 1.0)).collect();
        rhs[21] = -1.0;
        let report = run_uniform(&matrix, &rhs, ABOVE_ZERO, &mut [0.0; 22]);
        assert_eq!(report.status, Status::Infeasible, "{report:?}");
    }
}

#[test]
fn a_distant_solution_is_not_called_infeasible() {
    // x = 1e6 / 1e-3: far, but there.
    let report = run_uniform(&dense([[1e-3]]), &[-1e6], ABOVE_ZERO, &mut [0.0]);
    assert_eq!(report.status, Status::Converged);
    let mut x = vec![0.0; 400];
    let report = run_uniform(&chain(400, 0.0), &[-1.0; 400], ABOVE_ZERO, &mut x);
    assert_eq!(report.status, Status::Converged, "{report:?}");
    assert!(reduce::largest(&x) > 1e4);
}

#[test]
fn smallest_problems() {
    let report = run_uniform(&Csr::default(), &[], FREE, &mut []);
    assert_eq!((report.status, report.iterations), (Status::Converged, 0));
    for (value, b, bounds, expected) in [
        (2.0, -4.0, ABOVE_ZERO, 2.0),
        (2.0, 4.0, ABOVE_ZERO, 0.0),
        (2.0, 4.0, FREE, -2.0),
        (2.0, -4.0, (0.0, 1.0), 1.0),
        (2.0, 4.0, (-1.0, f64::INFINITY), -1.0),
        (2.0, -4.0, (f64::NEG_INFINITY, 1.0), 1.0),
        (0.0, 1.0, ABOVE_ZERO, 0.0),
        (0.0, -1.0, (-3.0, 7.0), 7.0),
        (0.0, -1.0, (5.0, 5.0), 5.0),
        (-1.0, 1.0, (-3.0, -2.0), -3.0),
    ] {
        let mut x = [0.0];
        let report = run_uniform(&dense([[value]]), &[b], bounds, &mut x);
        assert_eq!(report.status, Status::Converged, "{value} {b} {bounds:?}");
        assert!(
            (x[0] - expected).abs() < 1e-9,
            "{value} {b} {bounds:?}: {}",
            x[0]
        );
    }
}

#[test]
fn a_start_that_is_a_solution_needs_no_iteration() {
    let report = run_uniform(&chain(5, 0.0), &[1.0; 5], ABOVE_ZERO, &mut [0.0; 5]);
    assert_eq!(
        (report.status, report.iterations, report.merit),
        (Status::Converged, 0, 0.0)
    );
}

#[test]
fn whatever_the_numbers_x_stays_finite_and_the_status_true() {
    // `run` checks both.
    let huge = [1e300, -1e300, 1e-300, f64::MAX, 0.0, 1.0, f64::MIN_POSITIVE];
    let mut random = Random::new(8);
    for _ in 0..300 {
        let n = 1 + random.below(4);
        let mut number = || huge[random.below(huge.len())];
        let matrix = from_rows(
            (0..n)
                .map(|_| (0..n as u32).map(|column| (column, number())).collect())
                .collect(),
        );
        let rhs: Vec<f64> = (0..n).map(|_| number()).collect();
        let x: Vec<f64> = (0..n).map(|_| number()).collect();
        for bounds in [
            ABOVE_ZERO,
            FREE,
            (-1e300, 1e300),
            (1.0, 1.0),
            (1e-300, 2e-300),
        ] {
            run_uniform(&matrix, &rhs, bounds, &mut x.clone());
        }
    }
    // Not monotone at all.
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(12);
        let matrix = from_rows(
            (0..n)
                .map(|_| {
                    (0..n as u32)
                        .map(|column| (column, random.between(-1.0, 1.0)))
                        .collect()
                })
                .collect(),
        );
        let rhs: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        for bounds in [ABOVE_ZERO, FREE, (-1.0, 0.5)] {
            run_uniform(&matrix, &rhs, bounds, &mut vec![0.0; n]);
        }
    }
}

#[test]
fn a_tolerance_below_rounding_ends_without_success() {
    let instance = Instance::with_known_solution(Domain::plane(12), 4).grounded(0.01);
    let settings = Settings::default().tolerance(1e-300);
    let mut x = vec![0.0; instance.len()];
    let report = run(&instance.problem(), &settings, &mut x);
    assert_eq!(report.status, Status::Stagnated);
    assert!(report.residual < 1e-10, "{report:?}");
}

#[test]
fn iteration_limits_are_respected_and_reported() {
    let instance = generated::banded(100, 3, 0.5, &mut Random::new(2));
    for max_iterations in [0, 1, 2] {
        let settings = Settings::default().max_iterations(max_iterations);
        let report = run(&instance.problem(), &settings, &mut vec![0.0; 100]);
        assert_eq!(
            (report.status, report.iterations),
            (Status::IterationLimit, max_iterations)
        );
    }
}

/// Stops at the given call.
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
fn an_observer_sees_every_iteration_and_may_stop_them() {
    let instance = generated::banded(100, 3, 0.5, &mut Random::new(2));
    let problem = instance.problem();
    let mut workspace = Workspace::default();
    let mut trace = Trace::default();
    let report = solve(
        &problem,
        &Settings::default(),
        &mut vec![0.0; 100],
        &mut workspace,
        &mut trace,
    )
    .unwrap();
    assert_eq!(trace.outer.len(), report.iterations + 1);
    assert_eq!(trace.inner.len(), report.inner_iterations);
    assert_eq!(trace.outer.last().unwrap().residual, report.residual);
    for (outer, inner) in [(0, 1000), (2, 1000), (1000, 3)] {
        let mut x = vec![0.0; 100];
        let mut stop = StopAt { outer, inner };
        let report = solve(
            &problem,
            &Settings::default(),
            &mut x,
            &mut workspace,
            &mut stop,
        )
        .unwrap();
        assert_eq!(report.status, Status::Stopped);
        assert!(report.iterations <= outer.min(2) && report.inner_iterations <= inner.min(4));
    }
}

#[test]
fn a_workspace_serves_other_problems() {
    let mut workspace = Workspace::default();
    // The first two differ in their pattern only by where rows end.
    let first = Csr::new(
        3,
        vec![0, 2, 3, 4],
        vec![0, 1, 1, 2],
        vec![2.0, 0.5, 2.0, 2.0],
    )
    .unwrap();
    let second = Csr::new(
        3,
        vec![0, 1, 2, 4],
        vec![0, 1, 1, 2],
        vec![2.0, 2.0, 0.5, 2.0],
    )
    .unwrap();
    let larger = chain(50, 1.0);
    for matrix in [&first, &second, &larger, &first] {
        let n = matrix.rows();
        let (rhs, lower, upper) = (vec![-1.0; n], vec![0.0; n], vec![10.0; n]);
        let problem = BoxMlcp::new(matrix, &rhs, &lower, &upper).unwrap();
        let (mut shared, mut fresh) = (vec![0.0; n], vec![0.0; n]);
        let settings = Settings::default();
        let report = solve(&problem, &settings, &mut shared, &mut workspace, &mut ()).unwrap();
        assert_eq!(report, run(&problem, &settings, &mut fresh));
        assert_eq!(shared, fresh);
        assert_eq!(report.status, Status::Converged);
    }
}

#[test]
fn stored_densely_or_sparsely_the_result_is_the_same() {
    let instance = generated::dense(20, 0.2, 0.5, &mut Random::new(6));
    let matrix = instance.matrix.to_dense();
    let problem = BoxMlcp::new(&matrix, &instance.rhs, &instance.lower, &instance.upper).unwrap();
    let (mut a, mut b) = (vec![0.0; 20], vec![0.0; 20]);
    assert_eq!(
        run(&problem, &Settings::default(), &mut a).iterations,
        run(&instance.problem(), &Settings::default(), &mut b).iterations
    );
    assert_eq!(a, b);
}

#[test]
fn settings_out_of_range_are_refused() {
    let good = Settings::default();
    refused(good.tolerance(0.0), "tolerance");
    refused(good.tolerance(f64::NAN), "tolerance");
    refused(good.step(1.0), "step");
    refused(good.step(0.0), "step");
}
