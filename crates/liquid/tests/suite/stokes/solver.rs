//! The solver against direct solves, and its iterations.

use meniscus_lcp::Operator;
use meniscus_liquid::stokes::{Settings, Solver, Status};

use super::{Case, cuboid, medium, noise, sphere};

/// A wavy pool in a box whose walls are not aligned with the grid.
fn pool<const D: usize>(n: usize, viscosity: f64) -> Case<D> {
    Case::new(
        [n; D],
        medium(1.0 / n as f64, 0.64 / n as f64, 1000.0),
        viscosity,
        &|x| x[D - 1] - (0.62 + 0.04 * (7.0 * x[0]).sin()),
        &|x| -cuboid(x, 0.06, 0.94),
    )
}

/// Two spheres in mid-air.
fn blob<const D: usize>(n: usize, viscosity: f64) -> Case<D> {
    let mut second = [0.42; D];
    second[0] = 0.63;
    Case::new(
        [n; D],
        medium(1.0 / n as f64, 0.64 / n as f64, 1000.0),
        viscosity,
        &move |x| sphere(x, [0.41; D], 0.22).min(sphere(x, second, 0.17)),
        &|_| super::NO_SOLID,
    )
}

/// Half a ball on a floor.
fn heap<const D: usize>(n: usize, viscosity: f64) -> Case<D> {
    let mut centre = [0.5; D];
    centre[D - 1] = 0.1;
    Case::new(
        [n; D],
        medium(1.0 / n as f64, 0.64 / n as f64, 1000.0),
        viscosity,
        &move |x| sphere(x, centre, 0.35),
        &|x| x[D - 1] - 0.1,
    )
}

/// Gravity, a smooth flow and some noise.
fn rhs<const D: usize>(case: &Case<D>) -> Vec<f64> {
    let mut random = noise(3);
    let dt = case.medium.dt;
    let before = case.field(|axis, x| {
        let fall = if axis == D - 1 { -9.81 * dt } else { 0.0 };
        fall + 0.3 * (5.0 * x[0] + 3.0 * x[D - 1] + axis as f64).sin() + 0.05 * random()
    });
    let mut b = case.system.rhs(&before, None);
    case.system.make_solvable(&mut b);
    b
}

fn iterations<const D: usize>(case: &Case<D>) -> usize {
    let b = rhs(case);
    let mut x = vec![0.0; b.len()];
    let start = std::time::Instant::now();
    let mut solver = Solver::new(&case.system).unwrap();
    let built = start.elapsed();
    let report = solver.solve(&b, &Settings::default(), &mut x);
    println!(
        "{} unknowns: {report:?}, set-up {built:?}, all {:?}",
        b.len(),
        start.elapsed()
    );
    assert_eq!(report.status, Status::Converged, "{report:?}");
    report.iterations
}

fn same_as_direct<const D: usize>(case: &Case<D>) {
    let matrix = case.system.matrix().unwrap();
    assert!(matrix.is_symmetric(1e-12));
    let b = rhs(case);
    let x = case.solve(&b, 1e-11);
    let direct = case.solve_directly(&b);
    let mut product = vec![0.0; b.len()];
    matrix.apply(&x, &mut product);
    let norm = b.iter().map(|b| b * b).sum::<f64>().sqrt();
    let left = b
        .iter()
        .zip(&product)
        .map(|(b, p)| (b - p).powi(2))
        .sum::<f64>()
        .sqrt();
    assert!(left < 1e-10 * norm, "{left:e} {norm:e}");
    let n = case.system.velocities();
    let worst = x[..n]
        .iter()
        .zip(&direct)
        .fold(0.0_f64, |m, (x, d)| m.max((x - d).abs()));
    assert!(worst < 1e-7, "{worst:e}");
}

#[test]
fn the_solution_is_that_of_a_direct_solve_in_2d() {
    for viscosity in [0.0, 1e-3, 1e2, 1e5] {
        same_as_direct(&pool::<2>(32, viscosity));
        same_as_direct(&blob::<2>(32, viscosity));
    }
}

#[test]
fn the_solution_is_that_of_a_direct_solve_in_3d() {
    for viscosity in [1.0, 1e4] {
        same_as_direct(&heap::<3>(16, viscosity));
    }
}

#[test]
fn iterations_do_not_grow_with_resolution_in_2d() {
    for (name, case) in [
        ("pool", pool::<2> as fn(usize, f64) -> Case<2>),
        ("blob", blob::<2>),
        ("heap", heap::<2>),
    ] {
        for viscosity in [1e-3, 1.0, 1e2, 1e4, 1e5] {
            let counts = [32, 64, 128].map(|n| iterations(&case(n, viscosity)));
            println!("{name} {viscosity:e}: {counts:?}");
            assert!(
                counts.iter().all(|&count| count <= 20),
                "{name} {viscosity:e}: {counts:?}"
            );
            assert!(
                counts[2] <= counts[0] + 3,
                "{name} {viscosity:e}: {counts:?}"
            );
        }
    }
}

#[test]
fn iterations_do_not_grow_with_resolution_in_3d() {
    for (name, case) in [
        ("pool", pool::<3> as fn(usize, f64) -> Case<3>),
        ("heap", heap::<3>),
    ] {
        for viscosity in [1e-3, 1e2, 1e5] {
            let counts = [16, 32].map(|n| iterations(&case(n, viscosity)));
            println!("{name} {viscosity:e}: {counts:?}");
            assert!(
                counts.iter().all(|&count| count <= 20),
                "{name} {viscosity:e}: {counts:?}"
            );
        }
    }
}
