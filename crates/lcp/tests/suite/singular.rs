//! Singular matrices: Laplacians without ground, whose null vector is a constant.
//!
//! `A 1 = 0`, so `sum y = sum b`. With rows bounded below by zero there is a solution exactly if `sum b >= 0`.

use crate::gallery;
use crate::gallery::{Domain, Instance, Laplacian, Random, dense};
use crate::harness::{preconditioned, preconditioners};
use meniscus_lcp::krylov::pcg;
use meniscus_lcp::precondition::{Identity, Jacobi, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{Blocks, Report, Status};

/// A closed box of cells; those at its faces are bounded below by zero, the others are free.
fn closed_box(size: [usize; 3], mean: f64, seed: u64) -> Instance {
    let mut random = Random::new(seed);
    // One tile: rows have the order of the cells.
    let domain = Domain {
        tile: 1 << 20,
        ..Domain::closed(size)
    };
    let Laplacian { matrix, blocks } = domain.laplacian(&mut random);
    let n = matrix.rows();
    let mut rhs: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
    let excess = rhs.iter().sum::<f64>() / n as f64 - mean;
    let mut lower = vec![f64::NEG_INFINITY; n];
    for i in 0..n {
        rhs[i] -= excess;
        let cell = [i % size[0], i / size[0] % size[1], i / (size[0] * size[1])];
        let at_face =
            (0..3).any(|axis| size[axis] > 1 && (cell[axis] == 0 || cell[axis] + 1 == size[axis]));
        if at_face {
            lower[i] = 0.0;
        }
    }
    Instance {
        matrix,
        blocks,
        rhs,
        lower,
        upper: vec![f64::INFINITY; n],
    }
}

/// Two problems side by side, not coupled.
fn side_by_side(a: Instance, b: Instance) -> Instance {
    let shift = a.len() as u32;
    let rows = |instance: &Instance, shift: u32| -> Vec<Vec<(u32, f64)>> {
        (0..instance.len())
            .map(|row| {
                let (columns, values) = instance.matrix.row(row);
                columns
                    .iter()
                    .zip(values)
                    .map(|(&column, &value)| (column + shift, value))
                    .collect()
            })
            .collect()
    };
    let matrix = gallery::from_rows([rows(&a, 0), rows(&b, shift)].concat());
    Instance {
        blocks: Blocks::single(matrix.rows()),
        matrix,
        rhs: [a.rhs, b.rhs].concat(),
        lower: [a.lower, b.lower].concat(),
        upper: [a.upper, b.upper].concat(),
    }
}

/// Newton's method and policy iteration from each start, with each preconditioner.
fn solve_all(instance: &Instance, starts: &[f64], tolerance: f64) -> Vec<Report> {
    let mut reports = Vec::new();
    for &start in starts {
        for mut preconditioner in preconditioners(instance) {
            for method in &preconditioned()[..2] {
                let (method, x) = (
                    method.within(tolerance, 100),
                    &mut vec![start; instance.len()],
                );
                reports.push(method.preconditioned(&instance.problem(), &mut *preconditioner, x));
            }
        }
    }
    reports
}

fn all_have(status: Status, reports: &[Report]) {
    for report in reports {
        assert_eq!(report.status, status, "{report:?}");
    }
}

#[test]
fn a_positive_sum_is_solved_from_any_start() {
    for (size, seed) in [
        ([9, 9, 1], 1),
        ([6, 6, 6], 2),
        ([12, 10, 8], 3),
        ([40, 1, 1], 4),
    ] {
        for mean in [1e-4, 0.1, 2.0] {
            let instance = closed_box(size, mean, seed);
            all_have(
                Status::Converged,
                &solve_all(&instance, &[0.0, 50.0, -50.0], 1e-9),
            );
        }
    }
}

#[test]
fn a_negative_sum_is_infeasible() {
    for (size, seed) in [([9, 9, 1], 1), ([6, 6, 6], 2)] {
        let instance = closed_box(size, -0.1, seed);
        all_have(
            Status::Infeasible,
            &solve_all(&instance, &[0.0, 50.0], 1e-9),
        );
    }
}

#[test]
fn a_sum_of_zero_is_solved() {
    let instance = closed_box([7, 7, 7], 0.0, 5);
    all_have(Status::Converged, &solve_all(&instance, &[0.0, 10.0], 1e-9));
}

#[test]
fn several_parts_are_solved_at_once() {
    let parts = side_by_side(
        side_by_side(
            closed_box([6, 6, 1], 0.01, 1),
            closed_box([5, 5, 5], 1.0, 2),
        ),
        side_by_side(
            closed_box([30, 1, 1], 0.3, 3),
            closed_box([4, 4, 1], 0.0, 4),
        ),
    );
    all_have(Status::Converged, &solve_all(&parts, &[0.0, 20.0], 1e-9));
}

#[test]
fn one_part_with_a_negative_sum_is_infeasible() {
    let parts = side_by_side(
        closed_box([6, 6, 1], 0.05, 1),
        closed_box([5, 5, 1], -0.05, 2),
    );
    all_have(Status::Infeasible, &solve_all(&parts, &[0.0, 20.0], 1e-9));
}

#[test]
fn the_zero_matrix_goes_to_its_bounds() {
    let instance = Instance {
        matrix: dense([[0.0, 0.0], [0.0, 0.0]]),
        blocks: Blocks::single(2),
        rhs: vec![1.0, -2.0],
        lower: vec![0.0, -1.0],
        upper: vec![f64::INFINITY, 4.0],
    };
    for method in &preconditioned()[..2] {
        let mut x = [5.0, 1.0];
        let report = method.run(&instance.problem(), &mut x);
        assert_eq!(
            (report.status, x),
            (Status::Converged, [0.0, 4.0]),
            "{method:?}"
        );
    }
}

#[test]
fn conjugate_gradients_survive_an_inconsistent_system() {
    for (size, tile) in [([8, 8, 1], 4), ([30, 30, 30], 8)] {
        let Laplacian { matrix, blocks } = Domain {
            tile,
            ..Domain::closed(size)
        }
        .laplacian(&mut Random::new(1));
        let mut random = Random::new(2);
        let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
        mic.rebuild(&matrix, &blocks).unwrap();
        let jacobi = Jacobi::new(&matrix).unwrap();
        for constant in [1.0, 1e-3, 1e5] {
            let c: Vec<f64> = (0..matrix.rows())
                .map(|_| random.between(-1.0, 1.0) + constant)
                .collect();
            for preconditioner in [&mic as &dyn Preconditioner, &jacobi, &Identity] {
                let mut x = vec![0.0; c.len()];
                let settings = pcg::Settings::default().relative_tolerance(1e-12);
                let workspace = &mut pcg::Workspace::default();
                let report =
                    pcg::solve(&matrix, &c, &settings, preconditioner, &mut x, workspace).unwrap();
                assert_eq!(report.status, pcg::Status::Singular, "{report:?}");
                assert!(report.iterations < 1000, "{report:?}");
                assert!(x.iter().all(|x| x.is_finite()));
                // No worse than the start.
                assert!(report.norm <= meniscus_lcp::reduce::sum_of_squares(&c).sqrt());
            }
        }
    }
}
