//! GMRES: what it solves, and what it says where it cannot.

use crate::gallery;
use crate::gallery::{Domain, Random, chain, dense};
use meniscus_lcp::krylov::{gmres, pcg};
use meniscus_lcp::precondition::{Identity, Jacobi, Preconditioner};
use meniscus_lcp::{Csr, Dense, Operator, reduce};
use proptest::prelude::*;

fn residual<A: Operator>(matrix: &A, c: &[f64], x: &[f64]) -> f64 {
    let mut r = vec![0.0; x.len()];
    matrix.apply(x, &mut r);
    for (r, c) in r.iter_mut().zip(c) {
        *r = c - *r;
    }
    reduce::sum_of_squares(&r).sqrt()
}

fn solve<A: Operator>(
    matrix: &A,
    c: &[f64],
    settings: &gmres::Settings,
    preconditioner: &impl Preconditioner,
) -> (gmres::Report, Vec<f64>) {
    let mut x = vec![0.0; c.len()];
    let mut workspace = gmres::Workspace::default();
    let report = gmres::solve(matrix, c, settings, preconditioner, &mut x, &mut workspace).unwrap();
    assert!(x.iter().all(|x| x.is_finite()), "{report:?}");
    (report, x)
}

fn with_restart(restart: usize) -> gmres::Settings {
    gmres::Settings::default().restart(restart)
}

/// `x_i <- x_(i+1)`, in a circle: the space grows by one row an iteration, and nothing is gained before the last.
fn circle(n: usize) -> Csr {
    let rows = (0..n).map(|i| vec![((i + 1) as u32 % n as u32, 1.0)]);
    gallery::from_rows(rows.collect())
}

proptest! {
    #![proptest_config(gallery::cases(64))]

    #[test]
    fn systems_without_symmetry_are_solved_and_the_norm_reported_is_that_of_the_residual(
        seed: u64, n in 1_usize..40, restart in prop::sample::select(vec![5, 20, 50]), scaled: bool,
    ) {
        let mut random = Random::new(seed);
        // Far from symmetric, yet dominated enough by its diagonal for short cycles.
        let matrix = Dense::from_fn(n, |i, j| {
            if i == j { 1.0 + n as f64 * random.between(0.5, 1.0) } else { random.between(-1.0, 1.0) }
        });
        let c: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        let settings = with_restart(restart).relative_tolerance(1e-11);
        let (report, x) = if scaled {
            solve(&matrix, &c, &settings, &Jacobi::new(&matrix).unwrap())
        } else {
            solve(&matrix, &c, &settings, &Identity)
        };
        prop_assert_eq!(report.status, gmres::Status::Converged);
        let truth = residual(&matrix, &c, &x);
        let size = reduce::sum_of_squares(&c).sqrt();
        prop_assert!(truth <= 1.001e-11 * size + 1e-14 * n as f64, "{truth} {report:?}");
        prop_assert!((report.norm - truth).abs() <= 1e-13 * size);
        if restart >= n {
            prop_assert!(report.iterations <= n, "{report:?}");
        }
    }

    #[test]
    fn it_finds_what_conjugate_gradients_find_on_symmetric_matrices(seed: u64) {
        let mut random = Random::new(seed);
        let matrix = chain(30, 0.1);
        let c: Vec<f64> = (0..30).map(|_| random.between(-1.0, 1.0)).collect();
        let settings = with_restart(30).relative_tolerance(1e-12);
        let (report, x) = solve(&matrix, &c, &settings, &Identity);
        let mut by_pcg = vec![0.0; 30];
        let settings = pcg::Settings::default().relative_tolerance(1e-12);
        pcg::solve(&matrix, &c, &settings, &Identity, &mut by_pcg, &mut Default::default()).unwrap();
        prop_assert_eq!(report.status, gmres::Status::Converged);
        for (a, b) in x.iter().zip(&by_pcg) {
            prop_assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn no_matrix_makes_it_panic_or_lie(seed: u64, n in 0_usize..8, rank in 0_usize..8, size in -300_i32..300) {
        let mut random = Random::new(seed);
        let mut factors = |count: usize| -> Vec<f64> {
            (0..count).map(|_| if random.chance(0.3) { 0.0 } else { random.between(-1.0, 1.0) }).collect()
        };
        let (left, right) = (factors(n * rank), factors(n * rank));
        let scale = 10.0_f64.powi(size / 2);
        let matrix = Dense::from_fn(n, |i, j| {
            (0..rank).map(|k| scale * left[i * rank + k] * (scale * right[j * rank + k])).sum()
        });
        let c = factors(n);
        let settings = with_restart(3 + n % 5).max_iterations(100);
        let (report, x) = solve(&matrix, &c, &settings, &Identity);
        let truth = residual(&matrix, &c, &x);
        let start = reduce::sum_of_squares(&c).sqrt();
        if report.status == gmres::Status::Converged {
            prop_assert!(truth <= 1.1e-8 * start, "{truth} {report:?}");
        }
        prop_assert!(truth <= start * (1.0 + 1e-9), "x is worse than the start: {truth} {report:?}");
    }
}

#[test]
fn a_space_of_all_directions_is_enough_and_a_shorter_cycle_reports_stagnation() {
    let mut c = vec![0.0; 12];
    c[3] = 1.0;
    let (report, x) = solve(&circle(12), &c, &with_restart(12), &Identity);
    assert_eq!(
        (report.status, report.iterations),
        (gmres::Status::Converged, 12)
    );
    assert!((x[4] - 1.0).abs() < 1e-14);
    let (report, _) = solve(&circle(12), &c, &with_restart(11), &Identity);
    assert_eq!(
        (report.status, report.iterations, report.norm),
        (gmres::Status::Stagnated, 11, 1.0)
    );
}

#[test]
fn a_singular_system_with_a_solution_is_solved() {
    // The sum of all rows is zero, and so is the sum of c.
    let laplacian = Domain::closed([6, 5, 1])
        .laplacian(&mut Random::new(1))
        .matrix;
    let n = laplacian.rows();
    let mut c: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let mean = c.iter().sum::<f64>() / n as f64;
    c.iter_mut().for_each(|c| *c -= mean);
    let (report, x) = solve(&laplacian, &c, &with_restart(n), &Identity);
    assert_eq!(report.status, gmres::Status::Converged);
    assert!(residual(&laplacian, &c, &x) < 1e-7);
}

#[test]
fn a_singular_system_without_a_solution_is_reported_with_the_smallest_residual() {
    let (report, x) = solve(
        &dense([[1.0, 0.0], [0.0, 0.0]]),
        &[2.0, 1.0],
        &Default::default(),
        &Identity,
    );
    assert_eq!(report.status, gmres::Status::Singular);
    assert!((x[0] - 2.0).abs() < 1e-14 && (report.norm - 1.0).abs() < 1e-14);

    // c lies in the image, but the space that it spans holds no solution: c, 0, 0, ...
    let (report, x) = solve(
        &dense([[0.0, 1.0], [0.0, 0.0]]),
        &[1.0, 0.0],
        &Default::default(),
        &Identity,
    );
    assert_eq!((report.status, x), (gmres::Status::Singular, vec![0.0; 2]));

    let (report, x) = solve(
        &Dense::zero(3),
        &[1.0, 2.0, 3.0],
        &Default::default(),
        &Identity,
    );
    assert_eq!((report.status, x), (gmres::Status::Singular, vec![0.0; 3]));
}

#[test]
fn nothing_is_done_for_a_start_that_is_a_solution_or_for_no_rows() {
    let (report, _) = solve(&chain(4, 0.0), &[0.0; 4], &Default::default(), &Identity);
    assert_eq!(
        (report.status, report.iterations),
        (gmres::Status::Converged, 0)
    );
    let (report, _) = solve(&Dense::zero(0), &[], &Default::default(), &Identity);
    assert_eq!(
        (report.status, report.iterations),
        (gmres::Status::Converged, 0)
    );
}

#[test]
fn limits_and_settings_are_kept() {
    let (matrix, c) = (chain(50, 0.0), [1.0; 50]);
    let settings = with_restart(3).max_iterations(7);
    let (report, _) = solve(&matrix, &c, &settings, &Identity);
    assert_eq!(
        (report.status, report.iterations),
        (gmres::Status::IterationLimit, 7)
    );
    let settings = gmres::Settings::default()
        .relative_tolerance(0.0)
        .absolute_tolerance(1.0);
    let (report, x) = solve(&matrix, &c, &settings, &Identity);
    assert_eq!(report.status, gmres::Status::Converged);
    assert!(residual(&matrix, &c, &x) <= 1.0 && report.iterations > 0);
    for settings in [
        with_restart(0),
        gmres::Settings::default().relative_tolerance(f64::NAN),
        gmres::Settings::default().absolute_tolerance(-1.0),
    ] {
        assert!(settings.check().is_err(), "{settings:?}");
    }
}
