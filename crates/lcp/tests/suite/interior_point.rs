//! The interior point method: monotone problems of every kind, and those that have no solution.

use crate::gallery::{self, Random, chain, dense};
use crate::harness::{ABOVE_ZERO, INF, Run, difference, noise};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::interior_point::Settings;
use meniscus_lcp::{BoxMlcp, Csr, Operator, Report, Status, reduce};
use proptest::prelude::*;

fn run(problem: &BoxMlcp<'_, Csr>, x: &mut [f64]) -> Report {
    Settings::default().run(problem, x)
}

fn above_zero(matrix: &Csr, rhs: &[f64]) -> (Report, Vec<f64>) {
    Settings::default().uniform((matrix, rhs, ABOVE_ZERO), 0.0, &mut ())
}

/// Rows of every kind: free, bounded below, above and on both sides, fixed; a share of them degenerate (`x` at its
/// bound and `y` zero).
fn known(matrix: Csr, degenerate: f64, random: &mut Random) -> generated::Instance {
    let n = matrix.rows();
    let (mut lower, mut upper) = (vec![-INF; n], vec![INF; n]);
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
    let known = generated::Instance {
        matrix,
        rhs,
        lower,
        upper,
        solution: x,
    };
    assert!(known.problem().residual_inf(&known.solution) < 1e-11);
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

proptest! {
    #![proptest_config(gallery::cases(96))]

    #[test]
    fn definite_problems_without_symmetry_have_their_known_solution(
        seed: u64, n in 1_usize..80, skew in prop::sample::select(vec![0.0, 1.0, 30.0]), degenerate: bool,
    ) {
        let mut random = Random::new(seed);
        let matrix = monotone(n, 1.0, skew, n / 2, &mut random);
        let known = known(matrix, if degenerate { 0.5 } else { 0.0 }, &mut random);
        let mut x = vec![0.0; n];
        let report = run(&known.problem(), &mut x);
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
        prop_assert!(difference(&x, &known.solution) < 1e-4, "{}", difference(&x, &known.solution));
        if !degenerate {
            prop_assert!(difference(&x, &known.solution) < 1e-9, "{:?}", report);
        }
    }

    #[test]
    fn monotone_problems_with_a_singular_symmetric_part_are_solved(
        seed: u64, n in 2_usize..80, squares in 0_usize..20,
    ) {
        let mut random = Random::new(seed);
        let matrix = monotone(n, 0.0, 1.0, squares, &mut random);
        let known = known(matrix, 0.1, &mut random);
        let report = run(&known.problem(), &mut vec![0.0; n]);
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
        settings.run(&problem, &mut x);
        prop_assert!(difference(&times(&x, 1.0 / by_x), &known.solution) < 1e-7);
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
            let report = run(&instance.problem(), &mut x);
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
    let plain = path_only.run(&instance.problem(), &mut x);
    let polished = run(&instance.problem(), &mut x.clone());
    assert_eq!(
        (plain.status, polished.status),
        (Status::Converged, Status::Converged)
    );
    x.fill(0.0);
    let cold = run(&instance.problem(), &mut x);
    assert!(plain.iterations > cold.iterations && plain.residual > 100.0 * cold.residual);
}

#[test]
fn shorter_steps_need_more_iterations() {
    let instance = generated::banded(300, 4, 0.5, &mut Random::new(5));
    let iterations = |step: f64| {
        let settings = Settings::default().step(step).polish(false);
        let report = settings.run(&instance.problem(), &mut vec![0.0; 300]);
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
            let report = run(&instance.problem(), &mut x);
            assert_eq!(
                report.status,
                Status::Converged,
                "{cones} {seed}: {report:?}"
            );
        }
    }
}

#[test]
fn rows_without_a_solution_are_infeasible_alone_and_beside_others() {
    // Skew: y_1 = -x_0 - 1 is negative for all x >= 0.
    let skew = dense([[0.0, 1.0], [-1.0, 0.0]]);
    let (report, _) = above_zero(&skew, &[0.0, -1.0]);
    assert_eq!(report.status, Status::Infeasible, "{report:?}");
    // The same beside rows that have a solution.
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let matrix = monotone(20, 1.0, 1.0, 5, &mut random);
        let (mut starts, mut columns, mut values) = matrix.into_parts();
        for (column, value) in [(21, 1.0), (20, -1.0)] {
            columns.push(column);
            values.push(value);
            starts.push(columns.len());
        }
        let matrix = Csr::new(22, starts, columns, values).unwrap();
        let mut rhs = noise(22, &mut random);
        rhs[21] = -1.0;
        let report = above_zero(&matrix, &rhs).0;
        assert_eq!(report.status, Status::Infeasible, "{report:?}");
    }
}

#[test]
fn a_distant_solution_is_not_called_infeasible() {
    // x = 1e6 / 1e-3: far, but there.
    let report = above_zero(&dense([[1e-3]]), &[-1e6]).0;
    assert_eq!(report.status, Status::Converged);
    let (report, x) = above_zero(&chain(400, 0.0), &[-1.0; 400]);
    assert_eq!(report.status, Status::Converged, "{report:?}");
    assert!(reduce::largest(&x) > 1e4);
}

#[test]
fn bounds_beyond_reach_are_as_good_as_none() {
    let instance = generated::banded(100, 3, 0.5, &mut Random::new(7));
    let boundless = |bound: &f64| bound.is_infinite();
    assert!(instance.upper.iter().any(boundless));
    for far in [1e20, 1e100, 1e300] {
        let finite = |bounds: &[f64]| -> Vec<f64> {
            bounds.iter().map(|bound| bound.clamp(-far, far)).collect()
        };
        let (lower, upper) = (finite(&instance.lower), finite(&instance.upper));
        let problem = BoxMlcp::new(&instance.matrix, &instance.rhs, &lower, &upper).unwrap();
        let mut x = vec![0.0; 100];
        let report = run(&problem, &mut x);
        assert_eq!(report.status, Status::Converged, "{far:e}: {report:?}");
        assert!(report.iterations <= 20, "{far:e}: {report:?}");
        assert!(difference(&x, &instance.solution) < 1e-9, "{far:e}");
    }
}

/// Reynolds' equation of a journal bearing with cavitation: film thickness `1 + e cos(t)`, pressure at least zero.
fn journal_bearing(around: usize, along: usize, eccentricity: f64) -> (Csr, Vec<f64>) {
    use std::f64::consts::TAU;
    let h = |t: f64| 1.0 + eccentricity * t.cos();
    let (dt, dz) = (TAU / around as f64, 2.0 / (along + 1) as f64);
    let mut entries = Vec::new();
    let mut rhs = vec![0.0; around * along];
    for i in 0..around {
        for j in 0..along {
            let row = i * along + j;
            let t = i as f64 * dt;
            let mut add =
                |column: usize, value: f64| entries.push((row as u32, column as u32, value));
            for (other, face) in [
                ((i + 1) % around, t + 0.5 * dt),
                ((i + around - 1) % around, t - 0.5 * dt),
            ] {
                let weight = h(face).powi(3) * dz / dt;
                add(row, weight);
                add(other * along + j, -weight);
            }
            for other in [j.checked_sub(1), Some(j + 1).filter(|&j| j < along)] {
                let weight = h(t).powi(3) * dt / dz;
                add(row, weight);
                if let Some(other) = other {
                    add(i * along + other, -weight);
                }
            }
            rhs[row] = dz * (h(t + 0.5 * dt) - h(t - 0.5 * dt));
        }
    }
    (Csr::from_entries(around * along, entries).unwrap(), rhs)
}

#[test]
fn a_residual_that_rises_on_the_path_does_not_end_it() {
    let (matrix, rhs) = journal_bearing(198, 120, 0.8);
    let n = rhs.len();
    let (lower, upper) = (vec![0.0; n], vec![INF; n]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let mut x = vec![0.0; n];
    let report = run(&problem, &mut x);
    assert_eq!(report.status, Status::Converged, "{report:?}");
}
