//! Units do not matter: neither the status of a solve nor the error of its answer depends on the size of rows, columns,
//! matrix, right-hand side or solution.

use crate::gallery::{Domain, Instance, Random, full};
use crate::harness::INF;
use meniscus_lcp::analysis::analyse;
use meniscus_lcp::gallery::{self as generated, banded, contact_cone};
use meniscus_lcp::registry::{self, Method, Options, accuracy};
use meniscus_lcp::{Blocks, Csr, Status};

/// Powers of ten.
const POWERS: [i32; 6] = [-12, -7, -3, 3, 8, 12];
/// Error of an answer, relative to its largest entry, beyond that of the problem as it was.
const ROUNDING: f64 = 1e-7;

fn lcp(matrix: Csr, rhs: Vec<f64>) -> Instance {
    let n = rhs.len();
    Instance {
        matrix,
        blocks: Blocks::single(n),
        rhs,
        lower: vec![0.0; n],
        upper: vec![INF; n],
    }
}

/// Problems of every kind, small ones.
fn problems() -> Vec<(&'static str, Instance)> {
    let of = |made: generated::Instance| lcp(made.matrix, made.rhs);
    let mut random = Random::new(5);
    let n = 12;
    let b: Vec<f64> = (0..n * n)
        .map(|_| random.below(2001) as f64 / 1000.0 - 1.0)
        .collect();
    // B'B + I, and a skew part.
    let monotone = full(n, |i, j| {
        let square: f64 = (0..n).map(|k| b[k * n + i] * b[k * n + j]).sum();
        square + f64::from(u8::from(i == j)) + b[i * n + j] - b[j * n + i]
    });
    let rhs: Vec<f64> = (0..n).map(|i| 2.0 * b[i * n + 3] - 0.3).collect();
    vec![
        ("banded", of(banded(40, 3, 0.5, &mut Random::new(1)))),
        (
            "dense",
            of(generated::dense(20, 0.0, 0.5, &mut Random::new(1))),
        ),
        (
            "rows of all kinds",
            Instance::with_known_solution(Domain::plane(6), 3).grounded(0.1),
        ),
        ("monotone", lcp(monotone, rhs)),
        ("cone", of(contact_cone(3, &mut Random::new(2)))),
    ]
}

/// `R A C`, `R b`, bounds over `C`, and all but `A` times `size`.
fn scaled(given: &Instance, rows: &[f64], columns: &[f64], size: f64) -> Instance {
    let n = given.len();
    let mut entries = Vec::new();
    for (i, scale) in rows.iter().enumerate() {
        let (places, values) = given.matrix.row(i);
        for (&j, value) in places.iter().zip(values) {
            entries.push((i as u32, j, scale * value * columns[j as usize]));
        }
    }
    let over = |bounds: &[f64]| (0..n).map(|i| size * bounds[i] / columns[i]).collect();
    Instance {
        matrix: Csr::from_entries(n, entries).unwrap(),
        blocks: Blocks::single(n),
        rhs: (0..n).map(|i| size * rows[i] * given.rhs[i]).collect(),
        lower: over(&given.lower),
        upper: over(&given.upper),
    }
}

/// Status, answer and accuracy of a method; `None` if it refuses the problem.
fn solved(given: &Instance, method: Method) -> Option<(Status, Vec<f64>)> {
    let bounds = given.lower.iter().zip(&given.upper);
    let mut x: Vec<f64> = bounds.map(|(&l, &u)| 0.0_f64.clamp(l, u)).collect();
    let options = Options::default().max_iterations(Some(20_000));
    let problem = given.problem();
    let solution = registry::solve(&problem, method, &options, &mut x, &mut ()).ok()?;
    let status = solution.report.status;
    let measured = accuracy(&problem, &x);
    assert_eq!(measured.residual, problem.residual_inf(&x));
    assert!(
        status != Status::Converged || measured.relative <= 1e-8,
        "{method}: {measured:?}"
    );
    Some((status, x))
}

/// Whether a method relies on a symmetric or positive semidefinite matrix, which only equal scales of rows and columns keep.
fn needs_symmetry(method: Method, name: &str) -> bool {
    matches!(method, Method::InteriorPoint | Method::Keller) && matches!(name, "monotone" | "cone")
}

/// Solves a problem as it is and in other units by all methods that fit it; compares status and answer.
fn check(name: &str, given: &Instance, scales: &[(&str, Vec<f64>, Vec<f64>, f64)]) {
    let seen = analyse(&given.problem());
    let n = given.len();
    for &method in Method::ALL {
        if method.fits(&seen).is_err() {
            continue;
        }
        let (status, x) = solved(given, method).expect(name);
        if status != Status::Converged {
            // Sweeps that have not come to an end compare by nothing.
            continue;
        }
        // Solutions of cone problems are not unique: any solution will do.
        let unique = name != "cone";
        let largest = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for (what, rows, columns, size) in scales {
            if rows != columns && needs_symmetry(method, name) {
                continue;
            }
            let (again, answer) = solved(&scaled(given, rows, columns, *size), method)
                .unwrap_or_else(|| panic!("{method} refuses {name} with {what}"));
            assert_eq!(again, status, "{method} on {name} with {what}");
            for i in 0..n {
                let back = answer[i] * columns[i] / size;
                assert!(
                    !unique || (back - x[i]).abs() <= ROUNDING * largest,
                    "{method} on {name} with {what}: {back} for {}",
                    x[i]
                );
            }
        }
    }
}

#[test]
fn sizes_of_matrix_right_hand_side_and_solution_change_neither_status_nor_error() {
    for (name, given) in problems() {
        let n = given.len();
        let mut scales = Vec::new();
        for power in POWERS {
            let s = 10.0_f64.powi(power);
            let one = vec![1.0; n];
            scales.push(("A", vec![s; n], one.clone(), 1.0 / s));
            scales.push(("A and b", vec![s; n], one.clone(), 1.0));
            scales.push(("b and x", one.clone(), one, s));
        }
        check(name, &given, &scales);
    }
}

#[test]
fn sizes_of_rows_and_columns_change_neither_status_nor_error() {
    for (name, given) in problems() {
        let n = given.len();
        let mut random = Random::new(8);
        let mut some = || -> Vec<f64> {
            (0..n)
                .map(|_| 10.0_f64.powi(random.below(25) as i32 - 12))
                .collect()
        };
        let one = vec![1.0; n];
        let mut scales = Vec::new();
        for _ in 0..2 {
            let both = some();
            scales.push(("rows and columns alike", both.clone(), both, 1.0));
            scales.push(("rows", some(), one.clone(), 1.0));
            scales.push(("columns", one.clone(), some(), 1.0));
            scales.push(("rows and columns", some(), some(), 1.0));
        }
        check(name, &given, &scales);
    }
}

/// What was called solved with `x = 0`, and what was called stagnated with a residual of rounding.
#[test]
fn small_numbers_are_solved_and_large_ones_are_known_to_be_rounded() {
    let tiny = lcp(
        full(2, |i, j| if i == j { 2e-12 } else { -1e-12 }),
        vec![-1e-12, 5e-12],
    );
    let (status, x) = solved(&tiny, Method::Auto).unwrap();
    assert_eq!(status, Status::Converged);
    assert!((x[0] - 0.5).abs() < 1e-8 && x[1] == 0.0, "{x:?}");
    // Values of 1e9 that the condition of the matrix makes, not the units: the residual is what rounding leaves.
    let n = 60;
    let chain = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 2.0 + 3e-9 - f64::from(u8::from(i == 0 || i == n - 1)),
        1 => -1.0,
        _ => 0.0,
    };
    let huge = lcp(full(n, chain), vec![-1.0 / 3.0; n]);
    for method in [
        Method::Auto,
        Method::Lemke,
        Method::Newton,
        Method::InteriorPoint,
    ] {
        let (status, x) = solved(&huge, method).unwrap();
        assert!((x[n / 2] / (1e9 / 9.0) - 1.0).abs() < 1e-3, "{}", x[n / 2]);
        assert_eq!(status, Status::Converged, "{method}");
        assert!(accuracy(&huge.problem(), &x).rounding, "{method}");
    }
}

#[test]
fn the_absolute_rule_can_be_asked_for() {
    let tiny = lcp(full(1, |_, _| 2e-12), vec![-1e-12]);
    let mut x = [0.0];
    let options = Options::default().absolute(true);
    let solution = registry::solve(&tiny.problem(), Method::Auto, &options, &mut x, &mut ());
    assert_eq!(solution.unwrap().report.status, Status::Converged);
    assert_eq!(x, [0.0]);
    let measured = accuracy(&tiny.problem(), &x);
    assert!(
        measured.relative > 0.1 && !measured.rounding,
        "{measured:?}"
    );
}

/// Independent problems in one are each solved, however small one is beside the other.
#[test]
fn a_small_problem_beside_a_large_one_is_solved() {
    let entry = |i: usize, j: usize| if i != j { 0.0 } else { [1e9, 1e-9][i] };
    let both = lcp(full(2, entry), vec![-2e9, -3e-9]);
    let (status, x) = solved(&both, Method::Auto).unwrap();
    assert_eq!(status, Status::Converged);
    assert!(
        (x[0] - 2.0).abs() < 1e-7 && (x[1] - 3.0).abs() < 1e-7,
        "{x:?}"
    );
}

/// An iterate that runs away makes the terms of a row large: that is no solution.
#[test]
fn a_ray_is_not_called_a_solution() {
    let none = lcp(
        full(2, |i, j| [[1.0, -1.0], [-1.0, 1.0]][i][j]),
        vec![-1.0, -1.0],
    );
    for &method in Method::ALL {
        if let Some((status, _)) = solved(&none, method) {
            assert_ne!(status, Status::Converged, "{method}");
        }
    }
    let measured = accuracy(&none.problem(), &[1e15, 1e15]);
    assert!(measured.relative > 1e-8, "{measured:?}");
}

/// Upwind differences can be made symmetric, by scales that grow from one side of the domain to the other beyond all measure: in
/// such units hardly any row would count.
#[test]
fn a_wind_hides_no_residual() {
    let side = 24_usize;
    let entry = |i: usize, j: usize| match (i.abs_diff(j), i < j) {
        (0, _) => 4.0,
        (1, _) if i / side != j / side => 0.0,
        (1, true) => -0.2,
        (1, false) => -1.8,
        (d, true) if d == side => -0.2,
        (d, false) if d == side => -1.8,
        _ => 0.0,
    };
    let n = side * side;
    let rhs = (0..n).map(|i| (0.05 * i as f64).sin() - 0.1).collect();
    let given = lcp(full(n, entry), rhs);
    for method in [Method::Auto, Method::Psor, Method::Fischer] {
        let mut x = vec![0.0; n];
        let solution = registry::solve(
            &given.problem(),
            method,
            &Options::default(),
            &mut x,
            &mut (),
        )
        .unwrap();
        assert_eq!(solution.report.status, Status::Converged, "{method}");
        assert!(
            solution.report.residual <= 1e-7,
            "{method}: {:?}",
            solution.report
        );
    }
}
