//! The splitting methods: what they solve, how they end, and that the order of the rows is only an order.

use crate::gallery;
use crate::gallery::{Domain, Instance, Random, chain, dense};
use crate::harness::{Run, bits, difference, refused, same_for_all_threads};
use crate::oracle::quadratic_programme;
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::{jacobi, pgs, psor, spsor};
use meniscus_lcp::precondition::Identity;
use meniscus_lcp::{BoxMlcp, Csr, InputError, Order, Report, Rows, Status, Trace, reduce};
use proptest::prelude::*;

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Jacobi,
    Pgs(Order),
    Psor(Order),
    Spsor(Order),
}

const ALL: [Method; 7] = [
    Method::Jacobi,
    Method::Pgs(Order::Natural),
    Method::Pgs(Order::Colours),
    Method::Psor(Order::Natural),
    Method::Psor(Order::Colours),
    Method::Spsor(Order::Natural),
    Method::Spsor(Order::Colours),
];

#[derive(Clone, Copy)]
struct Stop {
    tolerance: f64,
    max_iterations: usize,
    check_every: usize,
}

const STOP: Stop = Stop {
    tolerance: 1e-10,
    max_iterations: 200_000,
    check_every: 1,
};

fn solve<A: Rows>(
    method: Method,
    problem: &BoxMlcp<'_, A>,
    stop: Stop,
    x: &mut [f64],
    trace: &mut Trace,
) -> Result<Report, InputError> {
    let Stop {
        tolerance,
        max_iterations,
        check_every,
    } = stop;
    match method {
        Method::Jacobi => {
            let settings = jacobi::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_iterations)
                .check_every(check_every);
            settings.attempt(problem, &mut Identity, x, trace)
        }
        Method::Pgs(order) => {
            let settings = pgs::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_iterations)
                .check_every(check_every)
                .order(order);
            settings.attempt(problem, &mut Identity, x, trace)
        }
        Method::Psor(order) => {
            let settings = psor::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_iterations)
                .check_every(check_every)
                .order(order);
            settings.attempt(problem, &mut Identity, x, trace)
        }
        Method::Spsor(order) => {
            let settings = spsor::Settings::default()
                .tolerance(tolerance)
                .max_iterations(max_iterations)
                .check_every(check_every)
                .order(order);
            spsor::solve(problem, &settings, x, &mut Default::default(), trace)
        }
    }
}

/// What holds for every report.
fn check<A: Rows>(problem: &BoxMlcp<'_, A>, report: &Report, x: &[f64], tolerance: f64) {
    assert!(x.iter().all(|x| x.is_finite()), "{report:?}");
    let residual = problem.residual_inf(x);
    assert!(report.residual == residual || (report.residual.is_nan() && residual.is_nan()));
    assert_eq!(
        report.status == Status::Converged,
        residual <= tolerance,
        "{report:?}"
    );
    for i in 0..x.len() {
        assert!(problem.lower()[i] <= x[i] && x[i] <= problem.upper()[i]);
    }
}

proptest! {
    #![proptest_config(gallery::cases(48))]

    #[test]
    fn every_sweep_finds_the_solution_that_clarabel_finds(
        seed: u64, spatial: bool, side in 2_usize..9, weakest in prop::sample::select(vec![1.0, 0.05]),
    ) {
        let domain = if spatial { Domain::cube(1 + side / 2) } else { Domain::plane(side) };
        let instance = Instance::with_known_solution(Domain { weakest, ..domain }, seed).grounded(0.05);
        prop_assume!(instance.len() > 0);
        let oracle = quadratic_programme(&instance);
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        let allowed = 1e-6 * reduce::largest(&oracle).max(1e-3) + 1e3 * instance.problem().residual_inf(&oracle);
        let mut random = Random::new(seed);
        for method in ALL {
            let mut x: Vec<f64> = (0..instance.len()).map(|_| random.between(-20.0, 20.0)).collect();
            let report = solve(method, &instance.problem(), STOP, &mut x, &mut Trace::default()).unwrap();
            prop_assert_eq!(report.status, Status::Converged, "{:?} {:?}", method, report);
            check(&instance.problem(), &report, &x, STOP.tolerance);
            prop_assert!(difference(&x, &oracle) <= allowed, "{method:?}");
        }
    }

    #[test]
    fn sparse_and_dense_matrices_with_a_known_solution_are_solved(seed: u64, n in 1_usize..60) {
        let mut random = Random::new(seed);
        let banded = generated::banded(n, 3.min(n), 0.5, &mut random);
        for method in ALL {
            let mut x = vec![0.0; n];
            let report = solve(method, &banded.problem(), STOP, &mut x, &mut Trace::default()).unwrap();
            prop_assert_eq!(report.status, Status::Converged, "{:?} {:?}", method, report);
            prop_assert!(difference(&x, &banded.solution) < 1e-8);

            // The same matrix with every entry stored.
            let matrix = banded.matrix.to_dense();
            let problem = BoxMlcp::new(&matrix, &banded.rhs, &banded.lower, &banded.upper).unwrap();
            x.fill(0.0);
            let report = solve(method, &problem, STOP, &mut x, &mut Trace::default()).unwrap();
            prop_assert_eq!(report.status, Status::Converged, "{:?} {:?}", method, report);
            prop_assert!(difference(&x, &banded.solution) < 1e-8);
        }
        // Jacobi need not converge on this kind; Gauss-Seidel must.
        let dense = generated::dense(n, 0.0, 0.5, &mut random);
        for method in ALL.into_iter().filter(|method| *method != Method::Jacobi) {
            let mut x = vec![0.0; n];
            let stop = Stop { tolerance: 1e-9, ..STOP };
            let report = solve(method, &dense.problem(), stop, &mut x, &mut Trace::default()).unwrap();
            prop_assert_eq!(report.status, Status::Converged, "{:?} {:?}", method, report);
            prop_assert!(difference(&x, &dense.solution) < 1e-9 * 1e2 * n as f64);
        }
    }

    #[test]
    fn no_finite_problem_causes_a_panic_or_a_false_report(
        n in 0_usize..6, seed: u64,
        scale in prop::sample::select(vec![1e-300, 1e-8, 1.0, 1e150, 1e300]),
    ) {
        let mut random = Random::new(seed);
        let mut entries = vec![Vec::new(); n];
        for i in 0..n {
            for j in 0..n {
                if i == j {
                    entries[i].push((j as u32, scale * random.between(0.01, 1.0)));
                } else if random.chance(0.7) {
                    entries[i].push((j as u32, scale * random.between(-1.0, 1.0)));
                }
            }
        }
        let matrix = gallery::from_rows(entries);
        let (mut lower, mut upper) = (vec![FREE.0; n], vec![FREE.1; n]);
        for i in 0..n {
            match random.below(5) {
                0 => lower[i] = 0.0,
                1 => upper[i] = random.between(-1.0, 1.0),
                2 => (lower[i], upper[i]) = (-1.0, 1e300),
                3 => (lower[i], upper[i]) = (0.5, 0.5),
                _ => {}
            }
        }
        let rhs: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0) * scale).collect();
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        for method in ALL {
            let mut x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0) * 1e10).collect();
            let stop = Stop { tolerance: 1e-8, max_iterations: 300, ..STOP };
            match solve(method, &problem, stop, &mut x, &mut Trace::default()) {
                Ok(report) => check(&problem, &report, &x, 1e-8),
                // Scaled by 1e-300, an entry can be zero.
                Err(error) => prop_assert!(matches!(error, InputError::NoDivisor { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn one_sweep_of_gauss_seidel_is_the_one_done_by_hand() {
    let matrix = dense([[2.0, -1.0, 0.5], [-1.0, 4.0, -1.0], [0.25, -1.0, 2.0]]);
    let (rhs, lower, upper) = ([-2.0, -1.0, 8.0], [0.0; 3], [f64::INFINITY, 0.4, 9.0]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let one = Stop {
        max_iterations: 1,
        ..STOP
    };
    // From (0, 0, 1): row 0 (2 - 0.5)/2 = 0.75, row 1 (0.75 + 1 + 1)/4 held at 0.4, row 2 (0.4 - 0.1875 - 8)/2 held at 0.
    let mut x = [0.0, 0.0, 1.0];
    solve(
        Method::Pgs(Order::Natural),
        &problem,
        one,
        &mut x,
        &mut Trace::default(),
    )
    .unwrap();
    assert_eq!(x, [0.75, 0.4, 0.0]);
    // With a relaxation of 1.4: row 0 1.4 * 0.75 = 1.05; the others are held as before.
    let mut x = [0.0, 0.0, 1.0];
    solve(
        Method::Psor(Order::Natural),
        &problem,
        one,
        &mut x,
        &mut Trace::default(),
    )
    .unwrap();
    assert!(difference(&x, &[1.05, 0.4, 0.0]) < 1e-15);
    // Jacobi, 2/3 of every step: row 0 0.5; row 1 2/3 of 0.5; row 2 1 - 2/3 (2 + 8)/2 held at 0.
    let mut x = [0.0, 0.0, 1.0];
    solve(Method::Jacobi, &problem, one, &mut x, &mut Trace::default()).unwrap();
    assert!(difference(&x, &[0.5, 1.0 / 3.0, 0.0]) < 1e-15);
}

#[test]
fn a_symmetric_sweep_treats_both_ends_alike() {
    // A chain that looks the same from both ends, and a start that does too: after a sweep there and back with no bound
    // in the way, the operator is symmetric, so e_i' S e_j = e_j' S e_i for the error propagated from j to i times A.
    let n = 12;
    let matrix = chain(n, 0.1);
    let free = (vec![FREE.0; n], vec![FREE.1; n]);
    let zero = vec![0.0; n];
    let problem = BoxMlcp::new(&matrix, &zero, &free.0, &free.1).unwrap();
    let sweep = |method, j: usize| {
        let mut x = vec![0.0; n];
        x[j] = 1.0;
        let settings = Stop {
            tolerance: 1e-300,
            max_iterations: 1,
            check_every: 1,
        };
        let mut trace = Trace::default();
        solve(method, &problem, settings, &mut x, &mut trace).unwrap();
        let mut product = vec![0.0; n];
        for i in 0..n {
            product[i] = matrix.row_dot(i, &x);
        }
        product
    };
    let asymmetry = |method| {
        let columns: Vec<Vec<f64>> = (0..n).map(|j| sweep(method, j)).collect();
        (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .map(|(i, j)| (columns[i][j] - columns[j][i]).abs())
            .fold(0.0, f64::max)
    };
    assert!(asymmetry(Method::Spsor(Order::Natural)) < 1e-14);
    assert!(asymmetry(Method::Spsor(Order::Colours)) < 1e-14);
    assert!(asymmetry(Method::Psor(Order::Natural)) > 1e-2);
}

#[test]
fn a_diagonal_that_cannot_be_divided_by_is_named() {
    let matrix = dense([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, -1.0, 0.0]]);
    let negative = dense([[1.0, 0.0], [0.0, -2.0]]);
    let zero = [0.0; 3];
    for method in ALL {
        let mut x = [0.0; 3];
        let mut trace = Trace::default();
        let problem = BoxMlcp::new(&matrix, &zero, &zero, &[1.0; 3]).unwrap();
        let error = solve(method, &problem, STOP, &mut x, &mut trace).unwrap_err();
        assert_eq!(error, InputError::NoDivisor { row: 2, value: 0.0 });
        assert!(error.to_string().contains("row 2"), "{error}");
        assert!(trace.outer.is_empty());

        // A row that cannot move needs no divisor.
        let problem = BoxMlcp::new(&matrix, &[1.0, -2.0, 0.0], &zero, &[1.0, 1.0, 0.0]).unwrap();
        let report = solve(method, &problem, STOP, &mut x, &mut trace).unwrap();
        assert_eq!(report.status, Status::Converged, "{method:?}");
        assert!(difference(&x, &[0.0, 1.0, 0.0]) < 1e-9);

        let problem = BoxMlcp::new(&negative, &zero[..2], &zero[..2], &[1.0; 2]).unwrap();
        let error = solve(method, &problem, STOP, &mut [0.0; 2], &mut trace).unwrap_err();
        assert_eq!(
            error,
            InputError::NoDivisor {
                row: 1,
                value: -2.0
            }
        );
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let good = psor::Settings::default();
    for relaxation in [0.0, 2.0, -1.0, f64::NAN] {
        refused(good.relaxation(relaxation), "relaxation");
    }
    refused(good.check_every(0), "check_every");
    refused(good.tolerance(0.0), "tolerance");
    refused(good.relative(-1.0), "relative");
    refused(good.stagnation(f64::NAN), "stagnation");
}

#[test]
fn every_exit_is_reported() {
    let (matrix, rhs) = (chain(30, 0.0), vec![-1.0; 30]);
    let (lower, upper) = (vec![0.0; 30], vec![f64::INFINITY; 30]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let run = |settings: psor::Settings| {
        let mut x = vec![0.0; 30];
        let report = settings.run(&problem, &mut x);
        check(&problem, &report, &x, settings.tolerance);
        report
    };
    let good = psor::Settings::default();
    assert_eq!(run(good).status, Status::Converged);
    let limited = run(good.max_iterations(7).check_every(4));
    assert_eq!(
        (limited.status, limited.iterations),
        (Status::IterationLimit, 7)
    );
    let relative = run(good.relative(1e-2));
    assert_eq!(relative.status, Status::Relative);
    let stagnated = run(good.tolerance(1e-300));
    assert_eq!(stagnated.status, Status::Stagnated);
    assert!(stagnated.residual < 1e-11);

    // Three rows that pull at each other: positive definite, but no matrix for Jacobi without damping.
    let matrix = dense([[1.0, 0.9, 0.9], [0.9, 1.0, 0.9], [0.9, 0.9, 1.0]]);
    let (lower, upper) = ([FREE.0; 3], [FREE.1; 3]);
    let problem = BoxMlcp::new(&matrix, &[-1.0, 0.5, 0.5], &lower, &upper).unwrap();
    let settings = jacobi::Settings::default().relaxation(1.0);
    let mut x = [3.0, -4.0, 7.0];
    let report = settings.run(&problem, &mut x);
    assert_eq!(report.status, Status::NonFinite);
    check(&problem, &report, &x, 1e-8);
    let start = problem.residual_inf(&[3.0, -4.0, 7.0]);
    assert!(report.residual <= start, "the best iterate is kept");
}

#[test]
fn checking_less_often_changes_no_iterate() {
    let instance = Instance::with_known_solution(Domain::plane(12), 5).grounded(0.1);
    for method in ALL {
        let run = |check_every| {
            let mut x = vec![0.0; instance.len()];
            let stop = Stop {
                tolerance: 1e-300,
                max_iterations: 12,
                check_every,
            };
            let mut trace = Trace::default();
            solve(method, &instance.problem(), stop, &mut x, &mut trace).unwrap();
            (x, trace)
        };
        let ((often, all), (rarely, some)) = (run(1), run(5));
        assert_eq!(all.outer.len(), 13);
        assert_eq!(
            some.outer.iter().map(|p| p.iteration).collect::<Vec<_>>(),
            [0, 5, 10, 12]
        );
        for progress in &some.outer {
            assert_eq!(progress, &all.outer[progress.iteration], "{method:?}");
        }
        assert_eq!(often, rarely);
    }
}

#[test]
fn a_workspace_that_has_seen_another_pattern_gives_the_same_bits() {
    // The second pattern has fewer couplings, so the colours of the first would separate it, too.
    let first = Instance::with_known_solution(Domain::plane(14), 2).grounded(0.1);
    let second = Instance::with_known_solution(
        Domain {
            cuts: 0.6,
            ..Domain::plane(14)
        },
        2,
    )
    .grounded(0.1);
    let settings = pgs::Settings::default()
        .order(Order::Colours)
        .max_iterations(9)
        .tolerance(1e-300);
    let run = |instance: &Instance, workspace: &mut pgs::Workspace| {
        let mut x = vec![0.0; instance.len()];
        pgs::solve(&instance.problem(), &settings, &mut x, workspace, &mut ()).unwrap();
        x
    };
    let mut used = pgs::Workspace::default();
    run(&first, &mut used);
    assert_eq!(
        run(&second, &mut used),
        run(&second, &mut Default::default())
    );
}

#[test]
fn sweeps_by_colours_give_the_same_bits_for_any_number_of_threads() {
    let domain = Domain {
        tile: 8,
        ..Domain::cube(36)
    };
    let instance = Instance::with_known_solution(domain, 11).grounded(0.05);
    assert!(instance.len() > 35_000);
    let methods = [
        Method::Jacobi,
        Method::Psor(Order::Colours),
        Method::Spsor(Order::Colours),
    ];
    for method in methods {
        same_for_all_threads(|| {
            let (mut x, mut trace) = (vec![0.0; instance.len()], Trace::default());
            let stop = Stop {
                max_iterations: 8,
                ..STOP
            };
            let report = solve(method, &instance.problem(), stop, &mut x, &mut trace).unwrap();
            (bits(&x), report, trace)
        });
    }
}

#[test]
fn over_relaxation_pays_on_a_chain() {
    let (matrix, rhs) = (chain(40, 0.0), vec![-1.0; 40]);
    let (lower, upper) = (vec![0.0; 40], vec![f64::INFINITY; 40]);
    let problem: BoxMlcp<'_, Csr> = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let sweeps = |method| {
        let mut x = vec![0.0; 40];
        let report = solve(method, &problem, STOP, &mut x, &mut Trace::default()).unwrap();
        assert_eq!(report.status, Status::Converged);
        report.iterations
    };
    let (jacobi, pgs) = (sweeps(Method::Jacobi), sweeps(Method::Pgs(Order::Natural)));
    let (psor, spsor) = (
        sweeps(Method::Psor(Order::Natural)),
        sweeps(Method::Spsor(Order::Natural)),
    );
    assert!(2 * pgs < jacobi, "{pgs} {jacobi}");
    assert!(2 * psor < pgs, "{psor} {pgs}");
    assert!(spsor < psor, "{spsor} {psor}");
}
