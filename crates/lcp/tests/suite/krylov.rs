//! Conjugate residuals and BiCGStab: what they solve, and what they say where they cannot.

use std::ops::ControlFlow;

use crate::gallery::{self, Domain, Random, chain, dense, from_rows};
use crate::harness::{bits, noise, same_for_all_threads};
use meniscus_lcp::krylov::cr::{Report, Settings, Status};
use meniscus_lcp::krylov::{bicgstab, cr, pcg};
use meniscus_lcp::precondition::{Ic0, Ic0Settings, Identity, Jacobi, Preconditioner};
use meniscus_lcp::{Csr, InputError, Operator, Rows, reduce};
use proptest::prelude::*;

type Watch<'a> = &'a mut dyn FnMut(&Report) -> ControlFlow<()>;
type Solve = fn(
    &Csr,
    &[f64],
    &Settings,
    &dyn Preconditioner,
    &mut [f64],
    Watch<'_>,
) -> Result<Report, InputError>;

const CR: Solve = |matrix, c, settings, p, x, watch| {
    cr::solve_watched(matrix, c, settings, p, x, &mut Default::default(), watch)
};
const BICGSTAB: Solve = |matrix, c, settings, p, x, watch| {
    bicgstab::solve_watched(matrix, c, settings, p, x, &mut Default::default(), watch)
};
const BOTH: [Solve; 2] = [CR, BICGSTAB];

fn unwatched(_: &Report) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// `||c - A x||` in both norms.
fn residual(matrix: &Csr, c: &[f64], x: &[f64]) -> (f64, f64) {
    let mut r = vec![0.0; c.len()];
    matrix.apply(x, &mut r);
    r.iter_mut().zip(c).for_each(|(r, c)| *r = c - *r);
    (reduce::sum_of_squares(&r).sqrt(), reduce::largest(&r))
}

/// Solves, and checks what holds for every report.
fn run(
    solve: Solve,
    matrix: &Csr,
    c: &[f64],
    settings: &Settings,
    p: &dyn Preconditioner,
    x: &mut [f64],
) -> Report {
    let start = residual(matrix, c, x).0;
    let report = solve(matrix, c, settings, p, x, &mut unwatched).unwrap();
    assert!(x.iter().all(|x| x.is_finite()), "{report:?}");
    let (norm, largest) = residual(matrix, c, x);
    assert!(
        report.norm == norm || (report.norm.is_nan() && norm.is_nan()),
        "{report:?}"
    );
    assert!(
        report.largest == largest || (report.largest.is_nan() && largest.is_nan()),
        "{report:?}"
    );
    assert!(norm.is_nan() || norm <= start, "{report:?}");
    let met = norm <= settings.relative_tolerance * start || largest <= settings.absolute_tolerance;
    if report.status == Status::Converged {
        assert!(met, "{report:?}");
    }
    assert!(report.iterations <= settings.max_iterations);
    report
}

/// The same from zero, without a preconditioner.
fn cold(solve: Solve, matrix: &Csr, c: &[f64], settings: &Settings) -> (Report, Vec<f64>) {
    let mut x = vec![0.0; c.len()];
    (run(solve, matrix, c, settings, &Identity, &mut x), x)
}

/// Symmetric and indefinite, with couplings in no order; far enough from singular to be solved for.
fn indefinite(n: usize, random: &mut Random) -> Csr {
    let mut entries: Vec<(u32, u32, f64)> = (0..n as u32)
        .map(|i| (i, i, if random.chance(0.5) { 3.0 } else { -3.0 }))
        .collect();
    for _ in 0..n {
        let (i, j) = (random.below(n) as u32, random.below(n) as u32);
        if i != j {
            let value = random.between(-0.4, 0.4);
            entries.extend([(i, j, value), (j, i, value)]);
        }
    }
    Csr::from_entries(n, entries).unwrap()
}

/// A chain along which something drifts: not symmetric.
fn drift(n: usize, strength: f64) -> Csr {
    from_rows(
        (0..n as u32)
            .map(|i| {
                let mut entries = vec![(i, 2.05)];
                if i > 0 {
                    entries.push((i - 1, -1.0 - strength));
                }
                if i + 1 < n as u32 {
                    entries.push((i + 1, -1.0 + strength));
                }
                entries
            })
            .collect(),
    )
}

fn check_solution(
    matrix: &Csr,
    solve: Solve,
    p: &dyn Preconditioner,
    random: &mut Random,
) -> usize {
    let n = matrix.rows();
    let expected = noise(n, random);
    let mut c = vec![0.0; n];
    matrix.apply(&expected, &mut c);
    let mut x = noise(n, random);
    let settings = Settings::default().relative_tolerance(1e-12);
    let report = run(solve, matrix, &c, &settings, p, &mut x);
    assert_eq!(report.status, Status::Converged, "{report:?}");
    for i in 0..n {
        assert!(
            (x[i] - expected[i]).abs() < 1e-7,
            "{} {}",
            x[i],
            expected[i]
        );
    }
    report.iterations
}

proptest! {
    #![proptest_config(gallery::cases(64))]

    #[test]
    fn conjugate_residuals_solve_symmetric_systems_definite_or_not(seed: u64, n in 1_usize..60) {
        let mut random = Random::new(seed);
        let matrix = indefinite(n, &mut random);
        check_solution(&matrix, CR, &Identity, &mut random);
        let definite = Domain::plane(4 + n / 8).laplacian(&mut random).matrix;
        prop_assume!(definite.rows() > 0);
        // Of a row of zeros any value is a solution.
        prop_assume!((0..definite.rows()).all(|row| definite.get(row, row) > 0.01));
        let c = noise(definite.rows(), &mut random);
        let mut x = vec![0.0; c.len()];
        let mut ic = Ic0::new(Ic0Settings::default()).unwrap();
        ic.rebuild(&definite).unwrap();
        let report = run(CR, &definite, &c, &Settings::default(), &ic, &mut x);
        prop_assert!(report.status == Status::Converged || report.status == Status::Singular, "{:?} {}", report, ic.shift());
    }

    #[test]
    fn bicgstab_solves_systems_without_symmetry(seed: u64, n in 1_usize..60, strength in -1.0_f64..1.0) {
        let mut random = Random::new(seed);
        let matrix = drift(n, strength);
        check_solution(&matrix, BICGSTAB, &Identity, &mut random);
        check_solution(&matrix, BICGSTAB, &Jacobi::new(&matrix).unwrap(), &mut random);
    }

    #[test]
    fn saddle_points_are_solved_by_conjugate_residuals(seed: u64, n in 1_usize..20) {
        // | D  B' |  with more columns than rows of B: symmetric, indefinite, zeros on the diagonal.
        // | B  0  |
        let mut random = Random::new(seed);
        let mut entries = Vec::new();
        for i in 0..2 * n as u32 {
            entries.push((i, i, random.between(1.0, 2.0)));
        }
        for k in 0..n as u32 {
            for (column, value) in [(2 * k, 1.0), (2 * k + 1, random.between(-1.0, 1.0))] {
                entries.extend([(2 * n as u32 + k, column, value), (column, 2 * n as u32 + k, value)]);
            }
        }
        let matrix = Csr::from_entries(3 * n, entries).unwrap();
        check_solution(&matrix, CR, &Identity, &mut random);
    }

    #[test]
    fn nothing_breaks_whatever_the_numbers(seed: u64, n in 1_usize..6) {
        let numbers = [0.0, 1.0, -1.0, 1e300, -1e300, 1e-300, f64::MIN_POSITIVE, f64::MAX];
        let mut random = Random::new(seed);
        let mut number = || numbers[random.below(numbers.len())];
        let full = |number: &mut dyn FnMut() -> f64| {
            let mut entries = Vec::new();
            for i in 0..n as u32 {
                for j in 0..=i {
                    let value = number();
                    entries.push((i, j, value));
                    if i != j {
                        entries.push((j, i, value));
                    }
                }
            }
            Csr::from_entries(n, entries).unwrap()
        };
        let matrix = full(&mut number);
        let c: Vec<f64> = (0..n).map(|_| number()).collect();
        let x: Vec<f64> = (0..n).map(|_| number()).collect();
        let settings = Settings::default().max_iterations(200);
        for solve in BOTH {
            run(solve, &matrix, &c, &settings, &Identity, &mut x.clone());
            cold(solve, &matrix, &c, &settings);
        }
    }
}

#[test]
fn where_both_can_conjugate_residuals_are_as_quick_as_gradients() {
    let matrix = chain(200, 0.01);
    let c = noise(200, &mut Random::new(3));
    let settings = Settings::default();
    let (residuals, _) = cold(CR, &matrix, &c, &settings);
    let (x, workspace) = (&mut vec![0.0; 200], &mut Default::default());
    let gradients = pcg::solve(&matrix, &c, &settings, &Identity, x, workspace).unwrap();
    assert_eq!(residuals.status, Status::Converged);
    let (residuals, gradients) = (residuals.iterations, gradients.iterations);
    assert!(residuals <= gradients, "{residuals} {gradients}");
}

#[test]
fn the_residual_of_conjugate_residuals_falls_with_each_iteration() {
    let matrix = indefinite(80, &mut Random::new(4));
    let c = noise(80, &mut Random::new(5));
    let mut norms = Vec::new();
    let mut watch = |report: &Report| {
        norms.push(report.norm);
        ControlFlow::Continue(())
    };
    let settings = Settings::default().relative_tolerance(1e-6);
    let mut x = vec![0.0; 80];
    let report = CR(&matrix, &c, &settings, &Identity, &mut x, &mut watch).unwrap();
    assert_eq!(report.status, Status::Converged);
    assert_eq!(norms.len(), report.iterations);
    assert!(norms.is_sorted_by(|a, b| a >= b), "{norms:?}");
}

#[test]
fn a_good_preconditioner_saves_iterations() {
    let matrix = Domain::cube(12).laplacian(&mut Random::new(1)).matrix;
    let c = noise(matrix.rows(), &mut Random::new(2));
    let mut ic = Ic0::new(Ic0Settings::default()).unwrap();
    ic.rebuild(&matrix).unwrap();
    for solve in BOTH {
        let count = |p: &dyn Preconditioner| {
            let x = &mut vec![0.0; c.len()];
            let report = run(solve, &matrix, &c, &Settings::default(), p, x);
            assert_eq!(report.status, Status::Converged);
            report.iterations
        };
        assert!(count(&ic) < count(&Jacobi::new(&matrix).unwrap()));
    }
}

#[test]
fn singular_systems_are_solved_if_they_can_be() {
    // A ring without ground: the right-hand side must add up to zero.
    let matrix = Domain::closed([6, 6, 1])
        .laplacian(&mut Random::new(1))
        .matrix;
    let mut c = noise(36, &mut Random::new(2));
    let mean = c.iter().sum::<f64>() / 36.0;
    for solve in BOTH {
        let report = cold(solve, &matrix, &c, &Settings::default()).0;
        assert!(
            matches!(report.status, Status::Singular | Status::Breakdown),
            "{report:?}"
        );
    }
    // What conjugate residuals leave is what no x can take away.
    let (report, _) = cold(CR, &matrix, &c, &Settings::default());
    assert_eq!(report.status, Status::Singular);
    assert!(
        (report.norm - 6.0 * mean.abs()).abs() < 1e-9,
        "{report:?} {mean}"
    );
    c.iter_mut().for_each(|c| *c -= mean);
    for solve in BOTH {
        let report = cold(solve, &matrix, &c, &Settings::default()).0;
        assert_eq!(report.status, Status::Converged);
        let report = cold(solve, &dense([[0.0]]), &[1.0], &Settings::default()).0;
        assert!(
            matches!(report.status, Status::Singular | Status::Breakdown),
            "{report:?}"
        );
    }
}

#[test]
fn directions_of_no_curvature_do_not_stop_conjugate_residuals() {
    // z'A z = 0 from the start: on the first diagonal, and on many.
    let swap = dense([[0.0, 1.0], [1.0, 0.0]]);
    let report = cold(CR, &swap, &[1.0, 0.0], &Settings::default()).0;
    assert_eq!((report.status, report.iterations), (Status::Converged, 1));
    let n = 40_u32;
    let sign = |i| if i % 2 == 0 { 1.0 } else { -1.0 };
    let row = |i| vec![(i, sign(i) * f64::from(1 + i / 2))];
    let signs = from_rows((0..n).map(row).collect());
    let report = cold(CR, &signs, &vec![1.0; n as usize], &Settings::default()).0;
    assert_eq!(report.status, Status::Converged, "{report:?}");
}

#[test]
fn bicgstab_reports_a_breakdown_on_a_rotation() {
    let matrix = dense([[0.0, 1.0], [-1.0, 0.0]]);
    let report = cold(BICGSTAB, &matrix, &[1.0, 2.0], &Settings::default()).0;
    assert_eq!(report.status, Status::Breakdown);
}

#[test]
fn iteration_limits_are_respected_and_reported() {
    let matrix = chain(300, 0.0);
    let c = noise(300, &mut Random::new(1));
    for solve in BOTH {
        for max_iterations in [0, 1, 7] {
            let settings = Settings::default().max_iterations(max_iterations);
            let report = cold(solve, &matrix, &c, &settings).0;
            assert_eq!(
                (report.status, report.iterations),
                (Status::IterationLimit, max_iterations)
            );
        }
        let settings = Settings::default()
            .relative_tolerance(0.0)
            .absolute_tolerance(1e-3);
        let report = cold(solve, &matrix, &c, &settings).0;
        assert_eq!(report.status, Status::Converged);
        assert!(report.largest <= 1e-3);
        // What cannot be reached ends, without success, near the limit of rounding.
        let settings = Settings::default().relative_tolerance(1e-30);
        let report = cold(solve, &matrix, &c, &settings).0;
        assert!(
            matches!(report.status, Status::Breakdown | Status::Singular),
            "{report:?}"
        );
        assert!(report.norm < 1e-9, "{report:?}");
    }
}

#[test]
fn smallest_systems() {
    for solve in BOTH {
        let report = cold(solve, &Csr::default(), &[], &Settings::default()).0;
        assert_eq!((report.status, report.iterations), (Status::Converged, 0));
        let (_, x) = cold(solve, &dense([[-4.0]]), &[2.0], &Settings::default());
        assert_eq!(x, [-0.5]);
        let report = cold(solve, &dense([[1e300]]), &[1e300], &Settings::default()).0;
        assert_eq!(report.status, Status::NonFinite);
    }
}

#[test]
fn a_watcher_may_stop_the_iteration() {
    let matrix = chain(300, 0.0);
    let c = noise(300, &mut Random::new(1));
    let mut watch = |report: &Report| match report.iterations {
        0..5 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    for solve in BOTH {
        let (settings, x) = (Settings::default(), &mut vec![0.0; 300]);
        let report = solve(&matrix, &c, &settings, &Identity, x, &mut watch).unwrap();
        assert_eq!((report.status, report.iterations), (Status::Stopped, 5));
    }
}

#[test]
fn broken_contracts_are_errors() {
    let matrix = chain(3, 0.0);
    let good = Settings::default();
    for solve in BOTH {
        let error = |c: &[f64], settings: &Settings| {
            solve(
                &matrix,
                c,
                settings,
                &Identity,
                &mut [0.0; 3],
                &mut unwatched,
            )
            .unwrap_err()
        };
        let setting = error(&[0.0; 3], &good.relative_tolerance(-1.0));
        assert!(matches!(setting, InputError::Setting { .. }));
        assert!(matches!(error(&[0.0; 2], &good), InputError::Length { .. }));
        let value = error(&[f64::NAN; 3], &good);
        assert!(matches!(value, InputError::NotFinite { .. }));
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let matrix = Domain {
        holes: 0.01,
        ..Domain::cube(30)
    }
    .laplacian(&mut Random::new(1))
    .matrix;
    let c = noise(matrix.rows(), &mut Random::new(2));
    assert!(c.len() > 16384);
    let settings = Settings::default().max_iterations(30);
    let jacobi = Jacobi::new(&matrix).unwrap();
    same_for_all_threads("cr and bicgstab", || {
        BOTH.map(|solve| {
            let mut x = vec![0.0; c.len()];
            let report = run(solve, &matrix, &c, &settings, &jacobi, &mut x);
            (report, bits(&x))
        })
    });
}

/// A two-grid cycle on a chain, as a caller may write one: a sweep, the correction of every second row, a sweep back.
struct TwoGrid<'a> {
    matrix: &'a Csr,
}

impl TwoGrid<'_> {
    /// A weighted Jacobi step.
    fn smooth(&self, r: &[f64], z: &mut [f64]) {
        let mut az = vec![0.0; r.len()];
        self.matrix.apply(z, &mut az);
        for i in 0..r.len() {
            z[i] += 2.0 / 3.0 * (r[i] - az[i]) / self.matrix.get(i, i);
        }
    }
}

impl Preconditioner for TwoGrid<'_> {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let n = r.len();
        z.fill(0.0);
        self.smooth(r, z);
        let mut az = vec![0.0; n];
        self.matrix.apply(z, &mut az);
        let left: Vec<f64> = (0..n).map(|i| r[i] - az[i]).collect();
        // Linear interpolation P from the odd rows, and P'A P there, which is tridiagonal: solved by elimination.
        let m = n / 2;
        let weight = |fine: usize, coarse: usize| match fine.abs_diff(2 * coarse + 1) {
            0 => 1.0,
            1 => 0.5,
            _ => 0.0,
        };
        let near = |coarse: usize| 2 * coarse..(2 * coarse + 3).min(n);
        let coarse_entry = |i: usize, j: usize| -> f64 {
            near(i)
                .map(|a| {
                    near(j)
                        .map(|b| weight(a, i) * self.matrix.get(a, b) * weight(b, j))
                        .sum::<f64>()
                })
                .sum()
        };
        let mut c: Vec<f64> = (0..m)
            .map(|i| near(i).map(|a| weight(a, i) * left[a]).sum())
            .collect();
        let mut pivots = vec![0.0; m];
        for i in 0..m {
            pivots[i] = coarse_entry(i, i);
            if i > 0 {
                let factor = coarse_entry(i, i - 1) / pivots[i - 1];
                pivots[i] -= factor * coarse_entry(i - 1, i);
                c[i] -= factor * c[i - 1];
            }
        }
        for i in (0..m).rev() {
            if i + 1 < m {
                c[i] -= coarse_entry(i, i + 1) * c[i + 1];
            }
            c[i] /= pivots[i];
        }
        for i in 0..m {
            for a in near(i) {
                z[a] += weight(a, i) * c[i];
            }
        }
        self.smooth(r, z);
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        let masked: Vec<f64> = (0..r.len())
            .map(|i| if active[i] { r[i] } else { 0.0 })
            .collect();
        self.apply(&masked, z);
        for i in 0..r.len() {
            if !active[i] {
                z[i] = r[i];
            }
        }
        reduce::dot(r, z)
    }
}

#[test]
fn a_two_grid_cycle_of_the_callers_own_is_a_preconditioner() {
    let counts = [63, 255, 1023].map(|n| {
        let matrix = chain(n, 0.0);
        assert_eq!(matrix.entries(), 3 * n - 2);
        let c = noise(n, &mut Random::new(1));
        let mut x = vec![0.0; n];
        let settings = pcg::Settings::default();
        let two_grid = TwoGrid { matrix: &matrix };
        let workspace = &mut pcg::Workspace::default();
        let report = pcg::solve(&matrix, &c, &settings, &two_grid, &mut x, workspace).unwrap();
        assert_eq!(report.status, pcg::Status::Converged);
        report.iterations
    });
    // As few iterations for many rows as for few, where a chain without it takes as many as it has rows.
    assert!(counts.iter().all(|&count| count <= 12), "{counts:?}");
}
