//! Block principal pivoting, and `auto` on full matrices.

use crate::gallery::{Instance, Random, full};
use crate::harness::{INF, Lemke, Run, StopAt, difference};
use crate::registry::lcp;
use meniscus_lcp::analysis::analyse;
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::block_pivoting::Settings;
use meniscus_lcp::registry::{self, Method, Options, Solution, accuracy};
use meniscus_lcp::{BoxMlcp, Csr, Status};

/// A product of random factors plus a small multiple of the unit matrix: the smaller, the more rows change sides again and again.
fn definite(n: usize, shift: f64, random: &mut Random) -> Csr {
    let g: Vec<f64> = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
    let columns = n.div_ceil(2);
    full(n, |i, j| {
        let gram: f64 = (0..columns).map(|k| g[i * n + k] * g[j * n + k]).sum();
        gram + if i == j { shift } else { 0.0 }
    })
}

/// Bounds of all kinds.
fn bounds(n: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    (0..n)
        .map(|_| match random.below(6) {
            0 => (-INF, INF),
            1 => (-INF, 0.5),
            2 => (-0.5, 0.25),
            3 => (0.25, 0.25),
            _ => (0.0, INF),
        })
        .unzip()
}

#[test]
fn nearly_singular_matrices_are_solved_though_rows_change_sides_again_and_again() {
    let mut most = 0;
    for seed in 0..3_000 {
        let random = &mut Random::new(seed);
        let n = 2 + random.below(11);
        let matrix = definite(n, 1e-4, random);
        let (lower, upper) = bounds(n, random);
        let rhs: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let mut expected = vec![0.0; n];
        let lemke = Lemke(Default::default()).run(&problem, &mut expected);
        assert_eq!(lemke.status, Status::Converged, "{seed}");
        let mut x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        let report = Settings::default().run(&problem, &mut x);
        assert_eq!(report.status, Status::Converged, "{seed}: {report:?}");
        let size = expected.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
        assert!(difference(&x, &expected) <= 1e-9 * size, "{seed}");
        most = most.max(report.iterations);
    }
    assert!(most > 15, "no problem is hard enough: {most}");
}

#[test]
fn a_solution_is_recognised_and_a_nearby_start_takes_one_factorisation() {
    let given = generated::dense(120, 0.0, 0.5, &mut Random::new(4));
    let problem = given.problem();
    let mut x = given.solution.clone();
    let report = Settings::default().run(&problem, &mut x);
    assert_eq!((report.status, report.iterations), (Status::Converged, 0));
    assert_eq!(x, given.solution);
    for x in &mut x {
        *x *= 1.01;
    }
    let report = Settings::default().run(&problem, &mut x);
    assert_eq!((report.status, report.iterations), (Status::Converged, 1));
    assert!(report.residual < 1e-14 && difference(&x, &given.solution) < 1e-12);
}

#[test]
fn matrices_that_are_not_symmetric_or_not_definite_are_said_to_be_of_another_kind() {
    let skew = full(5, |i, j| match (i, j) {
        (4, 3) => 0.3,
        _ => f64::from(u8::from(i == j)),
    });
    let singular = full(6, |_, _| 1.0);
    let negative = full(6, |i, j| if i == j { [1.0, -1.0][i / 5] } else { 0.0 });
    let indefinite = full(6, |i, j| if i == j { 1.0 } else { 2.0 });
    for (name, matrix) in [
        ("skew", skew),
        ("singular", singular),
        ("negative", negative),
        ("indefinite", indefinite),
    ] {
        let n = matrix.rows();
        let (rhs, lower, upper) = (vec![-1.0; n], vec![0.0; n], vec![INF; n]);
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let report = Settings::default().run(&problem, &mut vec![0.0; n]);
        assert_eq!(report.status, Status::NonDescent, "{name}");
    }
}

#[test]
fn the_observer_and_the_limit_end_a_solve() {
    let given = generated::dense(80, 0.0, 0.5, &mut Random::new(2));
    let problem = given.problem();
    let mut x = vec![0.0; 80];
    let stop = &mut StopAt {
        outer: 1,
        inner: usize::MAX,
    };
    let report = Settings::default().observed(&problem, &mut x, stop);
    assert_eq!((report.status, report.iterations), (Status::Stopped, 1));
    let report = Settings::default()
        .max_iterations(1)
        .run(&problem, &mut x.clone());
    assert_eq!(
        (report.status, report.iterations),
        (Status::IterationLimit, 1)
    );
}

/// A problem in other units of its rows and columns.
fn rescaled(given: &generated::Instance, scale: impl Fn(usize) -> f64) -> Instance {
    let n = given.rhs.len();
    let matrix = full(n, |i, j| given.matrix.get(i, j) * scale(i) * scale(j));
    let of = |values: &[f64], sign: f64| -> Vec<f64> {
        values
            .iter()
            .enumerate()
            .map(|(i, value)| value * scale(i).powf(sign))
            .collect()
    };
    lcp(matrix, &of(&given.rhs, 1.0))
}

fn by_auto(problem: &BoxMlcp<'_, Csr>, x: &mut [f64]) -> Solution {
    registry::solve(problem, Method::Auto, &Options::default(), x, &mut ()).unwrap()
}

#[test]
fn auto_takes_block_pivoting_for_full_definite_matrices_in_any_units() {
    let given = generated::dense(90, 0.0, 0.5, &mut Random::new(7));
    for scale in [
        |_| 1.0,
        |_| 1e-9,
        |_| 1e7,
        |i: usize| 10_f64.powi(i as i32 % 13 - 6),
    ] {
        let own = rescaled(&given, scale);
        let problem = own.problem();
        let mut x = vec![0.0; 90];
        let solution = by_auto(&problem, &mut x);
        assert_eq!(
            (solution.solver, solution.attempts.len()),
            ("block-pivoting", 1)
        );
        assert_eq!(solution.report.status, Status::Converged);
        assert!(accuracy(&problem, &x).relative < 1e-12);
        for (i, x) in x.iter_mut().enumerate() {
            *x *= scale(i);
        }
        assert!(difference(&x, &given.solution) < 1e-9);
    }
}

#[test]
fn auto_goes_on_where_block_pivoting_is_not_for_a_full_matrix() {
    let singular = generated::dense(60, 0.8, 0.5, &mut Random::new(1));
    let mut x = vec![0.0; 60];
    let solution = by_auto(&singular.problem(), &mut x);
    assert_eq!(solution.report.status, Status::Converged);
    let (first, last) = (&solution.attempts[0], solution.attempts.last().unwrap());
    assert_eq!(
        (first.solver, last.solver),
        ("block-pivoting", solution.solver)
    );
    assert_ne!(first.report.status, Status::Converged);
    let times = solution
        .attempts
        .iter()
        .filter(|attempt| attempt.solver == "block-pivoting");
    assert_eq!(times.count(), 1);
    // Not symmetric: it is not tried at all.
    let skew = full(60, |i, j| {
        if i == j {
            3.0
        } else {
            0.1 + f64::from(u8::from(i > j)) * 0.02
        }
    });
    let own = lcp(skew, &[-1.0; 60]);
    assert!(
        Method::BlockPivoting
            .fits(&analyse(&own.problem()))
            .is_err()
    );
    let solution = by_auto(&own.problem(), &mut x);
    assert_eq!(solution.report.status, Status::Converged);
    assert!(
        solution
            .attempts
            .iter()
            .all(|attempt| attempt.solver != "block-pivoting")
    );
}
