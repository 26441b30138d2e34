//! SSOR, incomplete Cholesky and approximate inverses: the definition of each, and the properties of all
//! preconditioners.

use crate::gallery::{self, Domain, Laplacian, Random, chain, dense, from_rows};
use crate::harness::{Run, bits, difference, noise, same_for_all_threads};
use meniscus_lcp::krylov::pcg;
use meniscus_lcp::methods::newton;
use meniscus_lcp::precondition::{
    Ainv, AinvPattern, AinvSettings, Ic0, Ic0Settings, Identity, Jacobi, Mic0, Preconditioner,
    Ssor, SsorSettings,
};
use meniscus_lcp::{Blocks, Colouring, Csr, InputError, Operator, Rows, Status, reduce};
use proptest::prelude::*;

fn ssor(matrix: &Csr, relaxation: f64) -> Ssor {
    let mut ssor = Ssor::new(SsorSettings::default().relaxation(relaxation)).unwrap();
    ssor.rebuild(matrix).unwrap();
    ssor
}

fn ic(matrix: &Csr) -> Ic0 {
    let mut ic = Ic0::new(Ic0Settings::default()).unwrap();
    ic.rebuild(matrix).unwrap();
    ic
}

fn ainv(matrix: &Csr, scaled: bool, tolerance: f64, pattern: AinvPattern) -> Ainv {
    let settings = AinvSettings::default()
        .scaled(scaled)
        .tolerance(tolerance)
        .pattern(pattern);
    let mut ainv = Ainv::new(settings).unwrap();
    ainv.rebuild(matrix).unwrap();
    ainv
}

/// Every kind, with its name.
fn all(matrix: &Csr) -> Vec<(&'static str, Box<dyn Preconditioner>)> {
    vec![
        ("SSOR 1", Box::new(ssor(matrix, 1.0))),
        ("SSOR 1.5", Box::new(ssor(matrix, 1.5))),
        ("IC(0)", Box::new(ic(matrix))),
        ("AINV", Box::new(ainv(matrix, false, 0.1, AinvPattern::Any))),
        (
            "scaled AINV",
            Box::new(ainv(matrix, true, 0.1, AinvPattern::Any)),
        ),
        (
            "AINV of A",
            Box::new(ainv(matrix, true, 0.0, AinvPattern::Power(1))),
        ),
        (
            "AINV of A^2",
            Box::new(ainv(matrix, true, 0.0, AinvPattern::Power(2))),
        ),
        (
            "AINV with 4",
            Box::new(ainv(matrix, true, 0.02, AinvPattern::Largest(4))),
        ),
    ]
}

fn applied(preconditioner: &dyn Preconditioner, r: &[f64]) -> Vec<f64> {
    let mut z = vec![f64::NAN; r.len()];
    preconditioner.apply(r, &mut z);
    z
}

/// `P`, column by column.
fn columns(preconditioner: &dyn Preconditioner, n: usize) -> Vec<Vec<f64>> {
    let unit = |column: usize| {
        (0..n)
            .map(|row| f64::from(row == column))
            .collect::<Vec<f64>>()
    };
    (0..n)
        .map(|column| applied(preconditioner, &unit(column)))
        .collect()
}

/// The inverse of a small matrix, by Gauss and Jordan.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            matrix[i]
                .iter()
                .copied()
                .chain((0..n).map(|j| f64::from(i == j)))
                .collect()
        })
        .collect();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()))
            .unwrap();
        rows.swap(k, pivot);
        let scale = rows[k][k];
        rows[k].iter_mut().for_each(|value| *value /= scale);
        for i in (0..n).filter(|&i| i != k) {
            let (factor, pivot_row) = (rows[i][k], rows[k].clone());
            rows[i]
                .iter_mut()
                .zip(&pivot_row)
                .for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// A random symmetric positive definite matrix with couplings in no order.
fn scattered(n: usize, random: &mut Random) -> Csr {
    let mut entries: Vec<(u32, u32, f64)> = (0..n as u32)
        .map(|i| (i, i, random.between(0.1, 1.0)))
        .collect();
    for _ in 0..2 * n {
        let (i, j) = (random.below(n) as u32, random.below(n) as u32);
        if i != j {
            let value = random.between(-1.0, 1.0);
            entries.extend([
                (i, j, value),
                (j, i, value),
                (i, i, value.abs()),
                (j, j, value.abs()),
            ]);
        }
    }
    Csr::from_entries(n, entries).unwrap()
}

/// Iterations of preconditioned conjugate gradients, whose solution is checked.
pub fn iterations(matrix: &Csr, c: &[f64], preconditioner: &dyn Preconditioner) -> usize {
    let mut x = vec![0.0; c.len()];
    let (settings, workspace) = (pcg::Settings::default(), &mut pcg::Workspace::default());
    let report = pcg::solve(matrix, c, &settings, preconditioner, &mut x, workspace).unwrap();
    assert_eq!(report.status, pcg::Status::Converged);
    let mut r = vec![0.0; c.len()];
    matrix.apply(&x, &mut r);
    r.iter_mut().zip(c).for_each(|(r, c)| *r -= c);
    assert!(reduce::sum_of_squares(&r) <= 1.1e-16 * reduce::sum_of_squares(c));
    report.iterations
}

proptest! {
    #![proptest_config(gallery::cases(48))]

    #[test]
    fn all_are_symmetric_and_positive_definite_with_and_without_a_mask(
        seed: u64, side in 2_usize..8, kind in 0..4,
    ) {
        let mut random = Random::new(seed);
        let domain = Domain::plane(2 * side);
        let matrix = match kind {
            0 => domain.laplacian(&mut random).matrix,
            1 => Domain { holes: 0.0, ..domain }.laplacian(&mut random).matrix, // singular
            2 => Domain::cube(side).laplacian(&mut random).matrix,
            _ => scattered(10 * side, &mut random),
        };
        let n = matrix.rows();
        prop_assume!(n > 0);
        let active: Vec<bool> = (0..n).map(|_| random.chance(0.7)).collect();
        let mut mic = Mic0::new(Default::default()).unwrap();
        mic.rebuild(&matrix, &Blocks::single(n)).unwrap();
        let mut preconditioners = all(&matrix);
        preconditioners.push(("identity", Box::new(Identity)));
        preconditioners.push(("Jacobi", Box::new(Jacobi::new(&matrix).unwrap())));
        preconditioners.push(("MIC(0)", Box::new(mic)));
        for (name, mut preconditioner) in preconditioners {
            let (a, b) = (noise(n, &mut random), noise(n, &mut random));
            let (pa, pb) = (applied(&*preconditioner, &a), applied(&*preconditioner, &b));
            let size = reduce::dot(&a, &pa) + reduce::dot(&b, &pb);
            prop_assert!((reduce::dot(&a, &pb) - reduce::dot(&b, &pa)).abs() <= 1e-10 * size, "{name}");
            prop_assert!(reduce::dot(&a, &pa) > 0.0 && reduce::dot(&b, &pb) > 0.0, "{name}");
            let mut z = vec![0.0; n];
            let dot = preconditioner.apply_dot(&a, &mut z);
            prop_assert!((dot - reduce::dot(&a, &z)).abs() <= 1e-12 * size && z == pa, "{name}");

            preconditioner.restrict(&active);
            let (mut pa, mut pb) = (vec![0.0; n], vec![0.0; n]);
            let dot = preconditioner.apply_masked_dot(&active, &a, &mut pa);
            preconditioner.apply_masked_dot(&active, &b, &mut pb);
            let size = reduce::dot(&a, &pa) + reduce::dot(&b, &pb);
            prop_assert!((reduce::dot(&a, &pb) - reduce::dot(&b, &pa)).abs() <= 1e-10 * size, "{name}");
            prop_assert!((dot - reduce::dot(&a, &pa)).abs() <= 1e-12 * size && dot > 0.0, "{name}");
            // The identity on the other rows, which do not reach the active ones.
            let kept: Vec<f64> = (0..n).map(|i| if active[i] { a[i] } else { 0.0 }).collect();
            preconditioner.apply_masked_dot(&active, &kept, &mut pb);
            for i in 0..n {
                prop_assert_eq!(pa[i], if active[i] { pb[i] } else { a[i] }, "{}", name);
            }
            // Announcing a mask changes the masked form only.
            prop_assert_eq!(&applied(&*preconditioner, &a), &z, "{}", name);
        }
    }

    #[test]
    fn ssor_is_the_inverse_of_its_formula(seed: u64, n in 1_usize..12, relaxation in 0.1_f64..1.9) {
        let mut random = Random::new(seed);
        let matrix = scattered(n, &mut random);
        // M = (D/w + L) inv(D/w) (D/w + L') / (2 - w) in the order of the colours.
        let colouring = Colouring::welsh_powell(&matrix);
        let order: Vec<usize> = colouring.colours().flatten().map(|&row| row as usize).collect();
        let lower = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => matrix.get(order[i], order[i]) / relaxation,
            std::cmp::Ordering::Greater => matrix.get(order[i], order[j]),
        };
        let m = |i: usize, j: usize| -> f64 {
            (0..n).map(|k| lower(i, k) * lower(j, k) / lower(k, k)).sum::<f64>() / (2.0 - relaxation)
        };
        let z = noise(n, &mut random);
        let mut r = vec![0.0; n];
        for i in 0..n {
            r[order[i]] = (0..n).map(|j| m(i, j) * z[order[j]]).sum();
        }
        let found = applied(&ssor(&matrix, relaxation), &r);
        prop_assert!(difference(&found, &z) < 1e-8);
    }

    #[test]
    fn incomplete_cholesky_agrees_with_the_matrix_on_its_entries(seed: u64, n in 1_usize..14) {
        let matrix = scattered(n, &mut Random::new(seed));
        let ic = ic(&matrix);
        prop_assert_eq!(ic.shift(), 0.0); // dominated by the diagonal: no pivot can fail
        let m = inverse(&columns(&ic, n));
        for i in 0..n {
            matrix.visit_row(i, &mut |j, value| {
                assert!((m[i][j] - value).abs() < 1e-9, "{i} {j}: {} {value}", m[i][j]);
            });
        }
    }

    #[test]
    fn a_mask_gives_the_incomplete_cholesky_of_the_active_rows(seed: u64, n in 2_usize..30) {
        let mut random = Random::new(seed);
        let matrix = scattered(n, &mut random);
        let active: Vec<bool> = (0..n).map(|_| random.chance(0.6)).collect();
        let kept: Vec<usize> = (0..n).filter(|&i| active[i]).collect();
        let rows = kept.iter().map(|&i| {
            let entries = kept.iter().enumerate().map(|(column, &j)| (column as u32, matrix.get(i, j)));
            entries.filter(|entry| entry.1 != 0.0).collect()
        });
        let small = from_rows(rows.collect());
        let mut ic_of_all = ic(&matrix);
        ic_of_all.restrict(&active);
        let r = noise(n, &mut random);
        let mut z = vec![0.0; n];
        ic_of_all.apply_masked_dot(&active, &r, &mut z);
        let small_r: Vec<f64> = kept.iter().map(|&i| r[i]).collect();
        let expected = applied(&ic(&small), &small_r);
        for (expected, &i) in expected.iter().zip(&kept) {
            prop_assert!((z[i] - expected).abs() <= 1e-12 * expected.abs().max(1.0));
        }
    }

    #[test]
    fn an_approximate_inverse_without_dropping_is_the_inverse(seed: u64, n in 1_usize..20, scaled: bool) {
        let mut random = Random::new(seed);
        let matrix = scattered(n, &mut random);
        let x = noise(n, &mut random);
        let mut y = vec![0.0; n];
        matrix.apply(&x, &mut y);
        for pattern in [AinvPattern::Any, AinvPattern::Largest(n), AinvPattern::Power(n)] {
            let found = applied(&ainv(&matrix, scaled, 0.0, pattern), &y);
            prop_assert!(difference(&found, &x) < 1e-8);
        }
    }
}

#[test]
fn problems_without_fill_are_solved_exactly() {
    for n in [1, 2, 3, 50, 300] {
        let matrix = chain(n, 0.1);
        let x = noise(n, &mut Random::new(n as u64));
        let mut y = vec![0.0; n];
        matrix.apply(&x, &mut y);
        let exact = ainv(&matrix, true, 0.0, AinvPattern::Any);
        assert!(difference(&applied(&ic(&matrix), &y), &x) < 1e-10);
        assert!(difference(&applied(&exact, &y), &x) < 1e-10);
    }
}

#[test]
fn conjugate_gradients_need_fewer_iterations_than_with_the_diagonal() {
    let Laplacian { matrix, .. } = Domain {
        holes: 0.002,
        gaps: 0.0,
        cuts: 0.0,
        weakest: 0.5,
        ..Domain::cube(16)
    }
    .laplacian(&mut Random::new(1));
    let c = noise(matrix.rows(), &mut Random::new(2));
    let jacobi = iterations(&matrix, &c, &Jacobi::new(&matrix).unwrap());
    for (name, preconditioner) in all(&matrix) {
        let count = iterations(&matrix, &c, &*preconditioner);
        println!("{name}: {count}, diagonal: {jacobi}");
        assert!(4 * count < 3 * jacobi, "{name}: {count} {jacobi}");
    }
    let counts = [0.5, 0.2, 0.05, 0.01].map(|tolerance| {
        iterations(
            &matrix,
            &c,
            &ainv(&matrix, true, tolerance, AinvPattern::Any),
        )
    });
    assert!(counts.is_sorted_by(|a, b| a > b), "{counts:?}");
}

#[test]
fn a_mask_makes_the_preconditioner_one_of_the_active_rows() {
    // A Newton solve uses the masked form only: with a good one it needs fewer inner iterations.
    let instance = gallery::Instance::with_known_solution(Domain::cube(14), 3).grounded(0.01);
    let count = |preconditioner: &mut dyn Preconditioner| {
        let settings = newton::Settings::default();
        let mut x = vec![0.0; instance.len()];
        let report = settings.preconditioned(&instance.problem(), preconditioner, &mut x);
        assert_eq!(report.status, Status::Converged);
        report.inner_iterations
    };
    let jacobi = count(&mut Jacobi::new(&instance.matrix).unwrap());
    for (name, mut preconditioner) in all(&instance.matrix) {
        let inner = count(&mut *preconditioner);
        println!("{name}: {inner}, diagonal: {jacobi}");
        assert!(inner < jacobi, "{name}: {inner} {jacobi}");
    }
}

#[test]
fn patterns_bound_the_entries_of_an_approximate_inverse() {
    let Laplacian { matrix, .. } = Domain::plane(20).laplacian(&mut Random::new(1));
    let n = matrix.rows();
    let entries = |tolerance, pattern| ainv(&matrix, true, tolerance, pattern).entries();
    let lower = (0..n)
        .map(|row| {
            matrix
                .row(row)
                .0
                .iter()
                .filter(|&&c| c as usize <= row)
                .count()
        })
        .sum();
    assert_eq!(entries(0.0, AinvPattern::Power(0)), n);
    assert_eq!(entries(0.0, AinvPattern::Power(1)), lower);
    assert!(entries(0.0, AinvPattern::Power(2)) > lower);
    assert!(entries(0.01, AinvPattern::Largest(3)) <= 4 * n);
    assert!(entries(0.01, AinvPattern::Any) > entries(0.1, AinvPattern::Any));
    // With the diagonal alone it is the diagonal preconditioner.
    let r = noise(n, &mut Random::new(4));
    let diagonal = applied(&ainv(&matrix, false, 0.0, AinvPattern::Power(0)), &r);
    assert_eq!(diagonal, applied(&Jacobi::new(&matrix).unwrap(), &r));
}

#[test]
fn scaling_makes_one_tolerance_fit_rows_of_different_units() {
    let Laplacian { matrix, .. } = Domain::plane(20).laplacian(&mut Random::new(1));
    let n = matrix.rows();
    let mut random = Random::new(2);
    let s: Vec<f64> = (0..n)
        .map(|_| 10_f64.powf(random.between(-3.0, 3.0)))
        .collect();
    let rows = (0..n).map(|i| {
        let (columns, values) = matrix.row(i);
        columns
            .iter()
            .zip(values)
            .map(|(&j, value)| (j, s[i] * value * s[j as usize]))
            .collect()
    });
    let stretched = from_rows(rows.collect());
    let entries = |matrix, scaled| ainv(matrix, scaled, 0.1, AinvPattern::Any).entries();
    assert_eq!(entries(&stretched, true), entries(&matrix, true));
    assert_ne!(entries(&stretched, false), entries(&matrix, false));
}

#[test]
fn a_failing_pivot_shifts_the_diagonal() {
    // Positive definite, but its incomplete factorisation has a negative pivot (an example of Kershaw's).
    let matrix = dense([
        [3.0, -2.0, 0.0, 2.0],
        [-2.0, 3.0, -2.0, 0.0],
        [0.0, -2.0, 3.0, -2.0],
        [2.0, 0.0, -2.0, 3.0],
    ]);
    let matrix = &matrix;
    let row = |i| (0..4).map(move |j| (i, j, matrix.get(i as usize, j as usize)));
    let entries = (0..4).flat_map(row).filter(|entry| entry.2 != 0.0);
    let sparse = Csr::from_entries(4, entries.collect()).unwrap();
    let ic = ic(&sparse);
    assert!(ic.shift() > 0.0 && ic.shift() < 2.0);
    let r = noise(4, &mut Random::new(1));
    assert!(reduce::dot(&r, &applied(&ic, &r)) > 0.0);
    assert!(iterations(&sparse, &r, &ic) <= 8);
    // A larger first shift is taken as it is.
    let mut coarse = Ic0::new(Ic0Settings::default().shift(5.0)).unwrap();
    coarse.rebuild(&sparse).unwrap();
    assert_eq!(coarse.shift(), 5.0);
}

#[test]
fn rows_of_zeros_get_the_identity() {
    let zero = from_rows(vec![vec![], vec![(1, 0.0)], vec![]]);
    let half = from_rows(vec![
        vec![],
        vec![(1, 2.0), (2, 1.0)],
        vec![(1, 1.0), (2, 2.0)],
    ]);
    // Zero on the diagonal beside other entries: no such matrix is semidefinite, but nothing may break.
    let hollow = from_rows(vec![vec![(0, 0.0), (1, 1.0)], vec![(0, 1.0), (1, 2.0)]]);
    for (_, preconditioner) in all(&zero) {
        assert_eq!(
            applied(&*preconditioner, &[1.0, -2.0, 3.0]),
            [1.0, -2.0, 3.0]
        );
    }
    for (_, preconditioner) in all(&half) {
        assert_eq!(applied(&*preconditioner, &[7.0, 0.0, 0.0])[0], 7.0);
    }
    for (_, preconditioner) in all(&hollow) {
        assert_eq!(applied(&*preconditioner, &[7.0, 0.0]), [7.0, 0.0]);
    }
    for (_, preconditioner) in all(&Csr::default()) {
        assert!(applied(&*preconditioner, &[]).is_empty());
    }
}

#[test]
fn matrices_that_are_not_semidefinite_leave_a_positive_definite_preconditioner_or_an_error() {
    let negative = dense([[1.0, 0.0], [0.0, -1.0]]);
    let expected = InputError::Diagonal {
        row: 1,
        value: -1.0,
    };
    assert_eq!(Ssor::default().rebuild(&negative), Err(expected.clone()));
    assert_eq!(
        Ic0::new(Ic0Settings::default()).unwrap().rebuild(&negative),
        Err(expected.clone())
    );
    assert_eq!(
        Ainv::new(AinvSettings::default())
            .unwrap()
            .rebuild(&negative),
        Err(expected)
    );
    for matrix in [
        dense([[1.0, 10.0], [10.0, 1.0]]),
        dense([[1.0, 1.0], [1.0, 1.0]]),
        dense([[1e300, 1e300], [1e300, 1e300]]),
        dense([[1e-300, 1e300], [1e300, 1e-300]]),
        dense([[f64::MIN_POSITIVE * 1e-10, 1.0], [1.0, 1.0]]),
        dense([[1.0, 2.0, 3.0], [2.0, 1.0, 2.0], [3.0, 2.0, 1.0]]),
    ] {
        for (name, preconditioner) in all(&matrix) {
            for seed in 0..5 {
                let r = noise(matrix.rows(), &mut Random::new(seed));
                let z = applied(&*preconditioner, &r);
                assert!(z.iter().all(|z| !z.is_nan()), "{name} {matrix:?} {z:?}");
                if z.iter().all(|z| z.is_finite()) {
                    assert!(reduce::dot(&r, &z) > 0.0, "{name} {matrix:?} {z:?}");
                }
            }
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let Laplacian { matrix, .. } = Domain {
        holes: 0.01,
        ..Domain::cube(34)
    }
    .laplacian(&mut Random::new(1));
    let n = matrix.rows();
    assert!(n > 30_000);
    let mut random = Random::new(2);
    let r = noise(n, &mut random);
    let active: Vec<bool> = (0..n).map(|_| random.chance(0.8)).collect();
    same_for_all_threads("preconditioners", || {
        let mut numbers = Vec::new();
        for (_, mut preconditioner) in all(&matrix) {
            let mut z = vec![0.0; n];
            numbers.push(preconditioner.apply_dot(&r, &mut z));
            numbers.extend_from_slice(&z);
            preconditioner.restrict(&active);
            numbers.push(preconditioner.apply_masked_dot(&active, &r, &mut z));
            numbers.extend_from_slice(&z);
        }
        bits(&numbers)
    });
}

#[test]
fn settings_out_of_range_are_refused() {
    let name = |error: Option<InputError>| match error {
        Some(InputError::Setting { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for bad in [0.0, 2.0, -1.0, f64::NAN] {
        let refused = Ssor::new(SsorSettings::default().relaxation(bad));
        assert_eq!(name(refused.err()), "relaxation");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = Ic0::new(Ic0Settings::default().shift(bad));
        assert_eq!(name(refused.err()), "shift");
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = Ainv::new(AinvSettings::default().tolerance(bad));
        assert_eq!(name(refused.err()), "tolerance");
    }
}
