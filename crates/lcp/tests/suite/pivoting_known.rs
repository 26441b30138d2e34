//! Pivoting methods on problems with a name, on generated ones, and on what is not a problem at all.

use crate::gallery::{self, Domain, Instance, Random, full};
use crate::harness::{INF, Run, difference, noise, pivots};
use meniscus_lcp::gallery::{banded, contact_cone as cone, dense};
use meniscus_lcp::methods::{enumerate, policy};
use meniscus_lcp::precondition::Jacobi;
use meniscus_lcp::{BoxMlcp, Csr, Report, Status, Trace};

const ALL: &str = "lemke dantzig keller enumerate";
const PIVOTS: &str = "lemke dantzig keller";

/// Solves from zero, and checks the trace.
fn run(method: &dyn Run, problem: &BoxMlcp<'_, Csr>) -> (Report, Vec<f64>) {
    let (mut x, mut trace) = (vec![0.0; problem.len()], Trace::default());
    let report = method.observed(problem, &mut x, &mut trace);
    assert_eq!(trace.outer.len(), report.iterations + 1, "{method:?}");
    for (i, progress) in trace.outer.iter().enumerate() {
        assert_eq!(progress.iteration, i);
    }
    assert!(!report.merit.is_nan());
    (report, x)
}

/// Asserts the status of each of the methods.
fn ends(methods: &str, problem: &BoxMlcp<'_, Csr>, status: Status) {
    for method in pivots(methods) {
        let (report, _) = run(&*method, problem);
        assert_eq!(report.status, status, "{method:?}: {report:?}");
    }
}

fn lcp<const N: usize>(matrix: [[f64; N]; N], rhs: [f64; N], check: impl Fn(&BoxMlcp<'_, Csr>)) {
    let matrix = gallery::dense(matrix);
    check(&BoxMlcp::new(&matrix, &rhs, &[0.0; N], &[INF; N]).unwrap());
}

fn close(a: &[f64], b: &[f64]) -> bool {
    difference(a, b) < 1e-9
}

#[test]
fn a_single_row_is_solved_wherever_its_line_crosses() {
    for (a, b, expected) in [
        (2.0, -4.0, Some(2.0)),
        (2.0, 4.0, Some(0.0)),
        (1e-9, -1.0, Some(1e9)),
        (0.0, 1.0, Some(0.0)),
        (0.0, 0.0, Some(0.0)),
        (0.0, -1.0, None),
        (-1.0, -1.0, None),
    ] {
        lcp([[a]], [b], |problem| {
            for method in pivots(ALL) {
                let (report, x) = run(&*method, problem);
                match expected {
                    Some(expected) => {
                        assert_eq!(report.status, Status::Converged, "{method:?} {a} {b}");
                        assert!(
                            (x[0] - expected).abs() <= 1e-12 * expected,
                            "{method:?} {x:?}"
                        );
                    }
                    None if a < 0.0 && matches!(method.name(), "dantzig" | "keller") => {
                        assert_eq!(report.status, Status::NonDescent, "{method:?} {a} {b}");
                    }
                    None => assert_eq!(report.status, Status::Infeasible, "{method:?} {a} {b}"),
                }
            }
        });
    }
}

#[test]
fn a_right_hand_side_that_is_not_negative_is_solved_by_zero_without_a_pivot() {
    lcp([[-1.0, 3.0], [2.0, 0.0]], [0.0, 1.0], |problem| {
        for method in pivots(ALL) {
            let (report, x) = run(&*method, problem);
            assert_eq!((report.status, report.iterations), (Status::Converged, 0));
            assert_eq!(x, [0.0, 0.0]);
        }
    });
}

#[test]
fn no_row_of_a_definite_problem_ends_below_zero() {
    // The unconstrained minimum has negative entries; careless pivoting returns them.
    let matrix = [
        [4.0, -1.0, 2.0, 0.5],
        [-1.0, 3.0, 0.0, 1.0],
        [2.0, 0.0, 5.0, -2.0],
        [0.5, 1.0, -2.0, 3.0],
    ];
    lcp(matrix, [-1.0, 2.0, 1.0, -3.0], |problem| {
        let (_, expected) = run(&*pivots("enumerate")[0], problem);
        for method in pivots(ALL) {
            let (report, x) = run(&*method, problem);
            assert_eq!(report.status, Status::Converged);
            assert!(x.iter().all(|&x| x >= 0.0), "{method:?} {x:?}");
            assert!(close(&x, &expected), "{method:?} {x:?}");
        }
    });
}

#[test]
fn examples_on_which_careless_pivoting_goes_round_in_a_circle_end() {
    // Murty's and Kostreva's cyclic P-matrices.
    for off in [2.0, 1.5] {
        let matrix = [[1.0, off, 0.0], [0.0, 1.0, off], [off, 0.0, 1.0]];
        let third = 1.0 / (1.0 + off);
        lcp(matrix, [-1.0; 3], |problem| {
            for method in pivots(ALL) {
                let (report, x) = run(&*method, problem);
                assert_eq!(report.status, Status::Converged, "{method:?} {off}");
                assert!(close(&x, &[third; 3]), "{method:?} {x:?}");
            }
        });
    }
    // Beale's linear programme, max c'v with B v <= d, on which the simplex method cycles: [0 B'; -B 0], (-c, d).
    let b = [
        [0.25, -60.0, -1.0 / 25.0, 9.0],
        [0.5, -90.0, -1.0 / 50.0, 3.0],
        [0.0, 0.0, 1.0, 0.0],
    ];
    let (c, d) = ([0.75, -150.0, 1.0 / 50.0, -6.0], [0.0, 0.0, 1.0]);
    let mut matrix = [[0.0; 7]; 7];
    let mut rhs = [0.0; 7];
    for i in 0..3 {
        rhs[4 + i] = d[i];
        for j in 0..4 {
            matrix[j][4 + i] = b[i][j];
            matrix[4 + i][j] = -b[i][j];
            rhs[j] = -c[j];
        }
    }
    lcp(matrix, rhs, |problem| {
        for method in pivots("lemke keller enumerate") {
            let (report, x) = run(&*method, problem);
            assert_eq!(report.status, Status::Converged, "{method:?} {report:?}");
            let value: f64 = c.iter().zip(&x).map(|(c, x)| c * x).sum();
            assert!((value - 0.05).abs() < 1e-9, "{method:?} {value}");
        }
    });
}

#[test]
fn the_longest_path_is_walked_to_its_end() {
    // Murty's example with 2^n pivots, q = -(2^n - 2^i) for rows from the last.
    let n = 9;
    let matrix = full(n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Greater => 2.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Less => 0.0,
    });
    let rhs: Vec<f64> = (0..n)
        .map(|i| -((1 << n) - (1 << (n - 1 - i))) as f64)
        .collect();
    let (lower, upper) = (vec![0.0; n], vec![INF; n]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    for method in pivots(PIVOTS) {
        let (report, x) = run(&*method, &problem);
        assert_eq!(report.status, Status::Converged);
        assert!(report.iterations >= (1 << n) - 1, "{method:?} {report:?}");
        assert_eq!(x[0], -rhs[0]);
        assert!(x[1..].iter().all(|&x| x == 0.0));
    }
}

#[test]
fn equal_rows_and_zero_matrices_are_distinguished_by_their_right_hand_side() {
    lcp([[1.0; 3]; 3], [-1.0; 3], |problem| {
        ends(ALL, problem, Status::Converged);
        let found = enumerate::all(
            problem,
            &Default::default(),
            &mut Default::default(),
            &mut (),
        );
        let solutions = found.unwrap().solutions;
        assert!(solutions.iter().any(|solution| solution.is_face));
        for corner in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
            assert!(solutions.iter().any(|solution| close(&solution.x, &corner)));
        }
    });
    lcp([[0.0; 3]; 3], [1.0, 0.0, -1.0], |problem| {
        ends(ALL, problem, Status::Infeasible);
    });
}

#[test]
fn free_rows_that_contradict_each_other_have_no_solution_and_equal_ones_do() {
    let matrix = full(3, |i, j| {
        if i < 2 && j < 2 {
            1.0
        } else {
            f64::from(u8::from(i == j))
        }
    });
    let (lower, upper) = ([-INF; 3], [INF; 3]);
    for (rhs, status) in [
        ([1.0, 1.0, 2.0], Status::Converged),
        ([1.0, 1.5, 2.0], Status::Infeasible),
    ] {
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        ends(ALL, &problem, status);
    }
}

#[test]
fn infeasibility_is_reported_only_with_a_proof() {
    // y >= 0 can be met, by x = (0, 1), but no point is complementary: y_1 > 0 holds x_1 at 0, and then y_0 < 0.
    lcp([[0.0, 1.0], [1.0, 0.0]], [-1.0, 1.0], |problem| {
        assert_eq!(
            run(&*pivots("enumerate")[0], problem).0.status,
            Status::Infeasible
        );
        ends(PIVOTS, problem, Status::NonDescent);
    });
    // Not even the signs can be met, which no path shows by itself: y_0 < 0.
    let matrix = [[0.0, -1.0, -1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]];
    lcp(matrix, [-0.5, -1.0, 1.0], |problem| {
        ends("lemke enumerate", problem, Status::Infeasible);
    });
}

#[test]
fn where_the_usual_path_ends_on_a_ray_another_one_leads_to_a_solution() {
    // A game of two: no entry is negative, so that nothing limits the first variable to enter.
    let matrix = [
        [0.0, 0.0, 10.0, 20.0],
        [0.0, 0.0, 30.0, 15.0],
        [10.0, 20.0, 0.0, 0.0],
        [30.0, 15.0, 0.0, 0.0],
    ];
    lcp(matrix, [-1.0; 4], |problem| {
        assert_eq!(
            run(&*pivots("lemke")[0], problem).0.status,
            Status::Converged
        );
    });
}

#[test]
fn two_bounds_hold_a_matrix_that_is_not_definite_so_that_there_is_always_a_solution() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(7);
        let matrix = full(n, |_, _| random.between(-1.0, 1.0));
        let rhs = noise(n, &mut random);
        let (lower, upper) = (vec![-1.0; n], vec![1.0; n]);
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        ends("lemke enumerate", &problem, Status::Converged);
    }
}

#[test]
fn generated_problems_are_solved_to_rounding() {
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let cones = cone(12 + 4 * seed as usize, &mut random);
        let (report, _) = run(&*pivots("lemke")[0], &cones.problem());
        assert_eq!(report.status, Status::Converged, "cones, {seed}");
        assert!(report.residual < 1e-12);
        for (name, instance) in [
            ("banded", banded(120, 3, 0.5, &mut random)),
            ("dense", dense(60, 0.0, 0.5, &mut random)),
            ("half singular", dense(60, 0.5, 0.5, &mut random)),
            ("nearly null", dense(60, 0.9, 0.3, &mut random)),
        ] {
            for method in pivots(PIVOTS) {
                let (report, x) = run(&*method, &instance.problem());
                assert_eq!(report.status, Status::Converged, "{name} {method:?} {seed}");
                assert!(report.residual < 1e-11, "{name} {method:?} {report:?}");
                if name == "banded" || name == "dense" {
                    assert!(close(&x, &instance.solution), "{name} {method:?} {seed}");
                }
            }
        }
    }
}

#[test]
fn laplacians_with_all_kinds_of_rows_are_solved_as_policy_iteration_does() {
    for seed in 0..12 {
        let instance = Instance::with_known_solution(Domain::plane(9), seed).grounded(0.01);
        let problem = instance.problem();
        let settings = policy::Settings::default().tolerance(1e-12);
        let mut expected = vec![0.0; instance.len()];
        let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
        settings.preconditioned(&problem, &mut jacobi, &mut expected);
        assert!(problem.residual_inf(&expected) < 1e-9);
        for method in pivots(PIVOTS) {
            let (report, x) = run(&*method, &problem);
            assert_eq!(report.status, Status::Converged, "{method:?} {seed}");
            assert!(difference(&x, &expected) < 1e-6, "{method:?} {seed}");
        }
        // Without ground most of these are singular, and all have a solution.
        let singular = Instance::with_known_solution(
            Domain {
                holes: 0.0,
                cuts: 0.4,
                ..Domain::plane(9)
            },
            seed,
        );
        for method in pivots(PIVOTS) {
            let (report, _) = run(&*method, &singular.problem());
            assert_eq!(
                report.status,
                Status::Converged,
                "{method:?} {seed} {report:?}"
            );
        }
    }
}

#[test]
fn badly_scaled_problems_are_solved_as_well() {
    let plain = Instance::with_known_solution(Domain::plane(6), 5).grounded(0.01);
    for (matrix_scale, x_scale) in [
        (1e-9, 1.0),
        (1e9, 1.0),
        (1.0, 1e-6),
        (1e-100, 1e100),
        (1e150, 1e-140),
    ] {
        let instance = plain.rescaled(matrix_scale, x_scale);
        for method in pivots(PIVOTS) {
            let tolerance = 1e-12 * (matrix_scale * x_scale).max(x_scale);
            let mut x = vec![0.0; instance.len()];
            let method = method.within(tolerance, 10_000);
            let report = method.run(&instance.problem(), &mut x);
            assert_eq!(
                report.status,
                Status::Converged,
                "{method:?} {matrix_scale} {x_scale} {report:?}"
            );
        }
    }
    // Rows in different units: D A D with entries from 1e-6 to 1e6 in D.
    let n = plain.len();
    let d: Vec<f64> = (0..n).map(|i| 10_f64.powi(i as i32 % 13 - 6)).collect();
    let rows = (0..n).map(|i| {
        let (columns, values) = plain.matrix.row(i);
        columns
            .iter()
            .zip(values)
            .map(|(&j, a)| (j, d[i] * a * d[j as usize]))
            .collect()
    });
    let matrix = gallery::from_rows(rows.collect());
    let times = |values: &[f64], factor: &dyn Fn(usize) -> f64| -> Vec<f64> {
        values
            .iter()
            .enumerate()
            .map(|(i, value)| value * factor(i))
            .collect()
    };
    let (rhs, lower, upper) = (
        times(&plain.rhs, &|i| d[i]),
        times(&plain.lower, &|i| 1.0 / d[i]),
        times(&plain.upper, &|i| 1.0 / d[i]),
    );
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    ends(PIVOTS, &problem, Status::Converged);
}
