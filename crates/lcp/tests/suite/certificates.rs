//! Proofs that a problem has no solution: verified, the same in any units, and never given where there is one.

use crate::gallery::{Instance, Random, full};
use crate::harness::INF;
use meniscus_lcp::certificate::proves_infeasible;
use meniscus_lcp::registry::{self, Method, Options};
use meniscus_lcp::{Blocks, Csr, Status};

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

/// A chain that a spring at each node holds, pulled at: `x` is the pull over the spring.
fn held(n: usize, spring: f64) -> Instance {
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 2.0 + spring - f64::from(u8::from(i == 0)) - f64::from(u8::from(i == n - 1)),
        1 => -1.0,
        _ => 0.0,
    };
    lcp(full(n, entry), vec![-1.0; n])
}

/// Rows and columns multiplied.
fn scaled(given: &Instance, rows: &[f64], columns: &[f64]) -> Instance {
    let n = given.len();
    let matrix = full(n, |i, j| rows[i] * given.matrix.get(i, j) * columns[j]);
    let rhs = given.rhs.iter().zip(rows).map(|(b, r)| b * r).collect();
    lcp(matrix, rhs)
}

fn status(given: &Instance, method: Method) -> Option<Status> {
    let options = Options::default().max_iterations(Some(3_000));
    let mut x = vec![0.0; given.len()];
    let solved = registry::solve(&given.problem(), method, &options, &mut x, &mut ());
    solved.ok().map(|solution| solution.report.status)
}

/// Powers of ten, one for each row.
fn powers(n: usize, random: &mut Random) -> Vec<f64> {
    (0..n)
        .map(|_| 10.0_f64.powi(random.below(25) as i32 - 12))
        .collect()
}

#[test]
fn large_solutions_are_never_called_infeasible() {
    let n = 12;
    for spring in [1e-6, 1e-8, 1e-9, 3e-10, 1e-11, 1e-12] {
        let given = held(n, spring);
        assert!(!proves_infeasible(&given.problem(), &vec![1.0; n]));
        for absolute in [false, true] {
            for &method in Method::ALL {
                let options = Options::default()
                    .absolute(absolute)
                    .max_iterations(Some(3_000));
                let mut x = vec![0.0; n];
                let solved = registry::solve(&given.problem(), method, &options, &mut x, &mut ());
                let Ok(solution) = solved else { continue };
                for attempt in &solution.attempts {
                    let ended = attempt.report.status;
                    assert_ne!(
                        ended,
                        Status::Infeasible,
                        "{method}, {spring:e}, {attempt:?}"
                    );
                }
            }
        }
        // The interior point method, which took these sizes for endless, finds the solution.
        if spring >= 1e-9 {
            assert_eq!(
                status(&given, Method::InteriorPoint),
                Some(Status::Converged),
                "{spring:e}"
            );
        }
    }
}

#[test]
fn proofs_hold_in_any_units() {
    let n = 12;
    let loose = held(n, 0.0);
    let mut random = Random::new(3);
    for round in 0..6 {
        let one = vec![1.0; n];
        let (rows, columns) = match round % 3 {
            0 => (powers(n, &mut random), one),
            1 => (one, powers(n, &mut random)),
            _ => (powers(n, &mut random), powers(n, &mut random)),
        };
        let given = scaled(&loose, &rows, &columns);
        let v: Vec<f64> = rows.iter().map(|row| 1.0 / row).collect();
        assert!(proves_infeasible(&given.problem(), &v), "{round}");
        for method in [Method::Auto, Method::Lemke, Method::Policy, Method::Newton] {
            assert_eq!(
                status(&given, method),
                Some(Status::Infeasible),
                "{method}, {round}"
            );
        }
    }
}

#[test]
fn a_direction_that_misses_a_condition_proves_nothing() {
    let loose = held(4, 0.0);
    let proves = |given: &Instance, v: [f64; 4]| proves_infeasible(&given.problem(), &v);
    assert!(proves(&loose, [1.0; 4]));
    assert!(!proves(&loose, [0.0; 4]));
    assert!(!proves(&loose, [f64::NAN; 4]));
    // The wrong sign, slopes that are not zero, and a pull the other way.
    assert!(!proves(&loose, [-1.0; 4]));
    assert!(!proves(&loose, [1.0, 1.0, 1.0, 1.0 + 1e-12]));
    let pushed = lcp(loose.matrix.clone(), vec![1.0; 4]);
    assert!(!proves(&pushed, [1.0; 4]));
    // A row that cannot move beyond 3 takes part in no direction.
    let mut ended = held(4, 0.0);
    ended.upper[2] = 3.0;
    assert!(!proves(&ended, [1.0; 4]));
    assert_eq!(status(&ended, Method::Auto), Some(Status::Converged));
}

/// Methods that find a direction without end, and no more, are believed where a certificate can be made.
#[test]
fn a_verdict_without_a_certificate_is_not_passed_on() {
    // Symmetric and indefinite: x = (1, 1) is a solution, though the form falls for ever along (1, 1).
    let given = lcp(
        full(2, |i, j| if i == j { 1.0 } else { -2.0 }),
        vec![1.0, 1.0],
    );
    for &method in Method::ALL {
        assert_ne!(status(&given, method), Some(Status::Infeasible), "{method}");
    }
}
