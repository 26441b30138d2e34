//! Algebraic multigrid by aggregation, and the methods that it is made for.

use crate::factored_preconditioners::iterations;
use crate::gallery::{self, Domain, Instance, Random, from_rows};
use crate::harness::{INF, bits, difference, noise, same_for_all_threads};
use meniscus_lcp::precondition::{Amg, AmgSettings, Jacobi, Preconditioner};
use meniscus_lcp::registry::{self, Method, Options, Registry};
use meniscus_lcp::{Csr, Status, reduce};
use proptest::prelude::*;

/// Rows that are numbered at random, so that nothing is left of the grid.
fn shuffled(matrix: &Csr, random: &mut Random) -> Csr {
    let n = matrix.rows();
    let mut number: Vec<u32> = (0..n as u32).collect();
    for row in (1..n).rev() {
        number.swap(row, random.below(row + 1));
    }
    let mut rows = vec![Vec::new(); n];
    for row in 0..n {
        let (columns, values) = matrix.row(row);
        let entries = columns.iter().zip(values);
        rows[number[row] as usize] = entries
            .map(|(&column, &value)| (number[column as usize], value))
            .collect();
    }
    from_rows(rows)
}

/// Poisson's equation on a closed grid that is held at some points.
fn poisson(size: [usize; 3], random: &mut Random) -> Csr {
    let domain = Domain {
        holes: 0.01,
        ..Domain::closed(size)
    };
    shuffled(&domain.laplacian(random).matrix, random)
}

/// An obstacle below a membrane with a load: about half of the rows are free in the end.
fn obstacle(size: [usize; 3], seed: u64) -> Instance {
    let mut random = Random::new(seed);
    let domain = Domain {
        holes: 0.002,
        ..Domain::closed(size)
    };
    let laplacian = domain.laplacian(&mut random);
    let n = laplacian.matrix.rows();
    let rhs = (0..n)
        .map(|i| 0.02 * ((i as f64 * 13.0 / n as f64).sin() + 0.2))
        .collect();
    Instance::new(laplacian, rhs, vec![0.0; n], vec![INF; n])
}

/// `Self::apply` to the unit vectors.
fn columns(apply: &dyn Fn(&[f64], &mut [f64]), n: usize) -> Vec<Vec<f64>> {
    let column = |at: usize| {
        let (mut unit, mut out) = (vec![0.0; n], vec![0.0; n]);
        unit[at] = 1.0;
        apply(&unit, &mut out);
        out
    };
    (0..n).map(column).collect()
}

proptest! {
    #![proptest_config(gallery::cases(24))]

    #[test]
    fn the_cycle_is_symmetric_and_positive_definite_with_and_without_a_mask(
        seed: u64, side in 3_usize..9, smoothed: bool, corrections in 1_usize..3,
    ) {
        let mut random = Random::new(seed);
        let matrix = shuffled(&Domain::plane(2 * side).laplacian(&mut random).matrix, &mut random);
        let n = matrix.rows();
        let settings = AmgSettings::default().coarsest(8).smoothed(smoothed).corrections(corrections);
        let mut amg = Amg::new(&matrix, settings).unwrap();
        let active: Vec<bool> = (0..n).map(|_| random.chance(0.6)).collect();
        amg.restrict(&active);
        let plain = columns(&|r, z| amg.apply(r, z), n);
        let masked = columns(&|r, z| { amg.apply_masked_dot(&active, r, z); }, n);
        for (name, of) in [("plain", &plain), ("masked", &masked)] {
            let largest = of.iter().flatten().fold(0.0_f64, |l, v| l.max(v.abs()));
            for i in 0..n {
                for j in 0..i {
                    prop_assert!((of[i][j] - of[j][i]).abs() <= 1e-10 * largest, "{name} {i} {j}");
                }
            }
            for _ in 0..10 {
                let v = noise(n, &mut random);
                let energy: f64 = (0..n).map(|i| v[i] * reduce::dot(&of[i], &v)).sum();
                prop_assert!(energy > 0.0, "{name}: {energy}");
            }
        }
        for row in (0..n).filter(|&row| !active[row]) {
            let unit = (0..n).all(|j| masked[row][j] == f64::from(u8::from(j == row)));
            prop_assert!(unit, "a row that is not active");
        }
    }
}

#[test]
fn iterations_hardly_grow_with_the_size() {
    let mut random = Random::new(5);
    let mut seen = Vec::new();
    for size in [
        [16, 16, 1],
        [64, 64, 1],
        [160, 160, 1],
        [12, 12, 12],
        [28, 28, 28],
    ] {
        let matrix = poisson(size, &mut random);
        let c = noise(matrix.rows(), &mut random);
        let amg = Amg::new(&matrix, AmgSettings::default()).unwrap();
        let entries: usize = amg.sizes().iter().sum();
        assert!(
            amg.sizes().len() > 1 && 2 * entries < 3 * matrix.rows(),
            "{:?}",
            amg.sizes()
        );
        let by_aggregates = iterations(&matrix, &c, &amg);
        let by_diagonal = iterations(&matrix, &c, &Jacobi::new(&matrix).unwrap());
        seen.push((by_aggregates, by_diagonal));
    }
    assert!(seen.iter().all(|seen| seen.0 <= 20), "{seen:?}");
    assert!(4 * seen[2].0 <= seen[2].1, "{seen:?}");
}

#[test]
fn what_is_not_coupled_stays_apart() {
    // Two grids that know nothing of each other, their rows mixed.
    let mut random = Random::new(8);
    let one = poisson([40, 40, 1], &mut random);
    let n = one.rows();
    let mut rows = vec![Vec::new(); 2 * n];
    for row in 0..n {
        let (columns, values) = one.row(row);
        for side in 0..2_u32 {
            let entries = columns.iter().zip(values);
            rows[2 * row + side as usize] =
                entries.map(|(&j, &value)| (2 * j + side, value)).collect();
        }
    }
    let matrix = from_rows(rows);
    for smoothed in [false, true] {
        let settings = AmgSettings::default().smoothed(smoothed);
        let amg = Amg::new(&matrix, settings).unwrap();
        let mut r = noise(2 * n, &mut random);
        (0..n).for_each(|row| r[2 * row] = 0.0);
        let mut z = vec![0.0; 2 * n];
        amg.apply(&r, &mut z);
        assert!((0..n).all(|row| z[2 * row] == 0.0));
        assert!((0..n).all(|row| z[2 * row + 1] != 0.0));
    }
}

#[test]
fn the_methods_solve_obstacle_problems_in_few_iterations() {
    for size in [[70, 70, 1], [17, 17, 17]] {
        let instance = obstacle(size, 3);
        let problem = instance.problem();
        let solve = |name: &str| {
            let mut x = vec![0.0; instance.len()];
            let registry = Registry::default();
            let solver = registry.find(name).unwrap();
            let solution = solver.solve(&problem, &Options::default(), &mut x, &mut ());
            let report = solution.unwrap().report;
            assert_eq!(report.status, Status::Converged, "{name}: {report:?}");
            (x, report)
        };
        // It shares nothing with the others.
        let (expected, _) = solve("interior-point");
        let scale = reduce::largest(&expected);
        // Interior points are not exactly at their bounds.
        let free = expected.iter().filter(|x| **x > 1e-6 * scale).count();
        let n = instance.len();
        assert!(5 * free > n && 5 * free < 4 * n, "{free} of {n}");
        for name in ["masp", "pd-amg", "newton:amg", "policy:amg", "penalty:amg"] {
            let (x, report) = solve(name);
            let apart = difference(&x, &expected) / scale;
            let near = if name == "penalty:amg" { 1e-4 } else { 1e-5 };
            assert!(apart < near, "{name}: {apart:e}");
            if name == "pd-amg" {
                assert!(report.iterations <= 45, "{name}: {report:?}");
            }
        }
        let (_, plain) = solve("mprgp");
        let (_, multigrid) = solve("masp");
        assert!(
            multigrid.iterations < plain.iterations,
            "{} {}",
            multigrid.iterations,
            plain.iterations
        );
    }
}

#[test]
fn variations_are_named() {
    let registry = Registry::default();
    assert_eq!(registry.find("newton:amg").unwrap().name(), "newton:amg");
    for wrong in ["newton:mic", "lemke:amg"] {
        let error = registry.find(wrong).err().expect("there is no such method");
        assert!(error.contains("no variation"), "{error}");
    }
    let skew = gallery::dense([[2.0, 1.0], [-1.0, 2.0]]);
    let problem = meniscus_lcp::BoxMlcp::new(&skew, &[1.0; 2], &[0.0; 2], &[INF; 2]).unwrap();
    let options = Options::default();
    let refused = registry::solve(&problem, Method::PdAmg, &options, &mut [1.0; 2], &mut ());
    assert!(refused.unwrap_err().to_string().contains("symmetric"));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let instance = obstacle([150, 150, 1], 4);
    for method in [Method::Masp, Method::PdAmg] {
        same_for_all_threads(method.name(), || {
            let mut x = vec![0.0; instance.len()];
            let options = Options::default().max_iterations(Some(12));
            registry::solve(&instance.problem(), method, &options, &mut x, &mut ()).unwrap();
            bits(&x)
        });
    }
}
