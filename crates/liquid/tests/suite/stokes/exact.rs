//! What must hold to rounding.

use meniscus_lcp::Operator;
use meniscus_liquid::stokes::StressWalls;

use super::{Case, NO_SOLID, cuboid, medium, noise, sphere};

/// A free blob of two spheres that touch no wall.
fn blob<const D: usize>(n: usize, viscosity: f64) -> Case<D> {
    let mut second = [0.42; D];
    second[0] = 0.63;
    Case::new(
        [n; D],
        medium(1.0 / n as f64, 0.01, 1000.0),
        viscosity,
        &move |x| sphere(x, [0.41; D], 0.22).min(sphere(x, second, 0.17)),
        &|_| NO_SOLID,
    )
}

/// Velocity of a rigid motion about the middle.
fn rigid<const D: usize>(axis: usize, x: [f64; D]) -> f64 {
    let shift = [0.3, -0.7, 0.5][axis];
    // Rotation in the plane of the first two axes, and in 3D in that of the last two as well.
    let spin = match axis {
        0 => -2.0 * (x[1] - 0.5),
        1 => 2.0 * (x[0] - 0.5) - if D == 3 { 1.3 * (x[D - 1] - 0.5) } else { 0.0 },
        _ => 1.3 * (x[1] - 0.5),
    };
    shift + spin
}

fn rigid_motion_is_unchanged<const D: usize>(n: usize) {
    let case = blob::<D>(n, 1e3);
    let before = case.field(rigid);
    let b = case.system.rhs(&before, None);
    let x = case.solve(&b, 1e-12);
    let expected = case.at_unknowns(&before);
    let worst = x
        .iter()
        .zip(&expected)
        .fold(0.0_f64, |m, (x, u)| m.max((x - u).abs()));
    assert!(worst <= 1e-9, "{worst:e}");
}

#[test]
fn a_free_blob_in_rigid_motion_is_unchanged_in_2d() {
    rigid_motion_is_unchanged::<2>(16);
    rigid_motion_is_unchanged::<2>(32);
}

#[test]
fn a_free_blob_in_rigid_motion_is_unchanged_in_3d() {
    rigid_motion_is_unchanged::<3>(16);
}

/// Momentum along every axis and about the middle, of velocities on faces.
fn momenta<const D: usize>(case: &Case<D>, t: &[f64]) -> Vec<f64> {
    let mut linear = [0.0; D];
    let mut angular = vec![0.0; D * (D - 1) / 2];
    let masses = case.system.masses();
    for (((axis, index), m), t) in case.system.faces().zip(&masses).zip(t) {
        let x = case.place(axis, index);
        linear[axis] += m * t;
        for a in (0..D).filter(|&a| a != axis) {
            let sign = if a < axis { 1.0 } else { -1.0 };
            angular[a + axis - 1] += sign * (x[a] - 0.5) * m * t;
        }
    }
    linear.into_iter().chain(angular).collect()
}

fn momentum_is_kept<const D: usize>(n: usize) {
    let case = blob::<D>(n, 1e2);
    let mut random = noise(7);
    let before = case.field(|axis, x| rigid(axis, x) + 0.5 * random());
    let b = case.system.rhs(&before, None);
    let x = case.solve(&b, 1e-13);
    let (t, start) = (&x[..case.system.velocities()], case.at_unknowns(&before));
    let scale: f64 = case.system.masses().iter().sum();
    for (after, before) in momenta(&case, t).iter().zip(momenta(&case, &start)) {
        assert!(
            (after - before).abs() <= 1e-10 * scale,
            "{after:e} {before:e}"
        );
    }
    let energy = |t: &[f64]| -> f64 {
        case.system
            .masses()
            .iter()
            .zip(t)
            .map(|(m, t)| m * t * t)
            .sum()
    };
    assert!(energy(t) < energy(&start));
}

#[test]
fn a_free_blob_keeps_linear_and_angular_momentum_in_2d() {
    momentum_is_kept::<2>(32);
}

#[test]
fn a_free_blob_keeps_linear_and_angular_momentum_in_3d() {
    momentum_is_kept::<3>(16);
}

/// Where a liquid of viscosity 3 meets one without, a flow of constant strain `E` has the force of the stress `2 eta E` of the one
/// on the plane between them, and none elsewhere.
fn constant_strain<const D: usize>() {
    let n = 16;
    let medium = medium(1.0 / n as f64, 0.1, 1.0);
    let viscosity = |x: [f64; D]| if x[0] > 0.5 { 3.0 } else { 0.0 };
    let case = Case::<D>::with_viscosity([n; D], medium, &viscosity, &|_| -1.0, &|_| NO_SOLID);
    let mut gradient = [[0.4, 0.7, -0.2], [0.1, -0.1, 0.3], [0.5, 0.2, -0.3]];
    if D == 2 {
        gradient[1][1] = -0.4;
    }
    let flow = |axis: usize, x: [f64; D]| (0..D).map(|b| gradient[axis][b] * x[b]).sum::<f64>();
    let mut x = case.at_unknowns(&case.field(flow));
    x.resize(case.system.len(), 0.0);
    let mut y = vec![0.0; x.len()];
    case.system.matrix().unwrap().apply(&x, &mut y);
    let masses = case.system.masses();
    let middle = |x: f64| (x - 0.5).abs() < 0.6 / n as f64;
    // Force on the faces of every axis around one place of the plane, and the largest one away from it.
    let mut force = [0.0; D];
    for (row, (axis, index)) in case.system.faces().enumerate() {
        let place = case.place(axis, index);
        let own = y[row] - masses[row] * x[row];
        let column = (1..D).all(|a| (0.5..0.5 + 0.9 / n as f64).contains(&place[a]));
        if column && (0.3..0.7).contains(&place[0]) {
            force[axis] -= own;
            assert!(
                middle(place[0]) || own.abs() < 1e-11,
                "{own:e} at {place:?}"
            );
        }
    }
    for (axis, force) in force.into_iter().enumerate() {
        let stress = force * medium.dx / medium.dt;
        let expected = 3.0 * (gradient[axis][0] + gradient[0][axis]);
        assert!(
            (stress - expected).abs() < 1e-12 * 100.0,
            "{axis}: {stress} {expected}"
        );
    }
}

#[test]
fn a_constant_strain_has_the_stress_of_its_viscosity_in_2d() {
    constant_strain::<2>();
}

#[test]
fn a_constant_strain_has_the_stress_of_its_viscosity_in_3d() {
    constant_strain::<3>();
}

/// A Taylor-Green mode in a box with slip walls on grid planes is an eigenvector of the discrete operator: implicit Euler damps
/// it by `1/(1 + 2 nu k_h^2 dt)` with `k_h^2 = (2 - 2 cos k dx)/dx^2`.
fn mode_decays<const D: usize>(n: usize) {
    let (dt, viscosity) = (0.05, 0.02);
    let mut medium = medium(1.0 / n as f64, dt, 1.0);
    medium.walls = StressWalls::Slip;
    let case = Case::<D>::new([n; D], medium, viscosity, &|_| -1.0, &|x| {
        -cuboid(x, 0.0, 1.0)
    });
    let k = std::f64::consts::PI;
    let before = case.field(|axis, x| match axis {
        0 => (k * x[0]).sin() * (k * x[1]).cos(),
        1 => -(k * x[0]).cos() * (k * x[1]).sin(),
        _ => 0.0,
    });
    let x = case.solve(&case.system.rhs(&before, None), 1e-13);
    let square = (2.0 - 2.0 * (k / n as f64).cos()) * (n * n) as f64;
    let factor = 1.0 / (1.0 + 2.0 * viscosity * square * dt);
    for (x, u) in x.iter().zip(case.at_unknowns(&before)) {
        assert!((x - factor * u).abs() < 1e-10, "{x} {u} {factor}");
    }
}

#[test]
fn a_viscous_mode_decays_by_its_discrete_factor_in_2d() {
    mode_decays::<2>(16);
    mode_decays::<2>(24);
}

#[test]
fn a_viscous_mode_decays_by_its_discrete_factor_in_3d() {
    mode_decays::<3>(16);
}

fn still_liquid_stays_still<const D: usize>(n: usize, height: f64) {
    let dt = 0.02;
    let case = Case::<D>::new(
        [n; D],
        medium(1.0 / n as f64, dt, 1000.0),
        1.0,
        &move |x| x[D - 1] - height,
        &|x| -cuboid(x, 0.06, 0.94),
    );
    let before = case.field(|axis, _| if axis == D - 1 { -9.81 * dt } else { 0.0 });
    let x = case.solve(&case.system.rhs(&before, None), 1e-12);
    let n_velocities = case.system.velocities();
    let fastest = x[..n_velocities]
        .iter()
        .fold(0.0_f64, |m, t| m.max(t.abs()));
    assert!(fastest <= 1e-8, "{fastest:e} at {height}");
    // The pressure of a cell full of liquid, deep inside, is hydrostatic but for the share of the ghost faces' mass.
    let tiles = &case.system.geometry().tiles;
    let mut cell = [n as i32 / 2; D];
    cell[D - 1] = n as i32 / 8 + 1;
    let row = case
        .system
        .cells()
        .position(|index| tiles.coord(index) == cell)
        .unwrap();
    let pressure = x[n_velocities + row] * case.system.pressure_unit();
    let depth = height - (cell[D - 1] as f64 + 0.5) / n as f64;
    let expected = 1000.0 * 9.81 * depth;
    assert!(
        (pressure / expected - 1.0).abs() < 3e-3,
        "{pressure} {expected}"
    );
}

#[test]
fn still_viscous_liquid_stays_still_at_any_height_in_2d() {
    for height in [0.5, 0.513, 0.53] {
        still_liquid_stays_still::<2>(32, height);
    }
}

#[test]
fn still_viscous_liquid_stays_still_at_any_height_in_3d() {
    for height in [0.5, 0.513, 0.53] {
        still_liquid_stays_still::<3>(16, height);
    }
}
