//! Flows with known solutions, at walls that are not aligned with the grid.

use meniscus_liquid::stokes::StressWalls;

use super::{Case, FaceField, medium, noise, sphere};

/// Root mean square over the liquid of the error of the liquid's velocity.
fn error<const D: usize>(
    case: &Case<D>,
    x: &[f64],
    solid: &FaceField<D>,
    exact: impl Fn(usize, [f64; D]) -> f64,
    counted: impl Fn([f64; D]) -> bool,
) -> f64 {
    let velocity = case.system.liquid_velocity(x, Some(solid));
    let (mut sum, mut weights) = (0.0, 0.0);
    for ((axis, index), u) in case.system.faces().zip(velocity) {
        let place = case.place(axis, index);
        if counted(place) {
            let (liquid, open) = case.system.face_shares(axis, index);
            sum += liquid * open * (u - exact(axis, place)).powi(2);
            weights += liquid * open;
        }
    }
    (sum / weights).sqrt()
}

/// Steady flow between two walls at the heights `low` and `high`. The channel ends in solids that move with the exact
/// profile, so that the flow is the same everywhere along it.
fn channel(n: usize, low: f64, high: f64, pushed: bool) -> f64 {
    let dx = 1.0 / n as f64;
    let dt = if pushed { 1e7 } else { 1e9 };
    // So long that what the ends disturb has died away in the middle.
    let (left, right) = (4.0 * dx, 2.0 - 4.0 * dx);
    let case = Case::<2>::new([2 * n, n], medium(dx, dt, 1.0), 1.0, &|_| -1.0, &move |x| {
        (x[1] - low)
            .min(high - x[1])
            .min(x[0] - left)
            .min(right - x[0])
    });
    let profile = move |y: f64| match pushed {
        true => 0.5 * (y - low).max(0.0) * (high - y).max(0.0),
        false => ((y - low) / (high - low)).clamp(0.0, 1.0),
    };
    let solid = case.field(|axis, x| if axis == 0 { profile(x[1]) } else { 0.0 });
    let before = case.field(|axis, _| if axis == 0 && pushed { dt } else { 0.0 });
    let mut b = case.system.rhs(&before, Some(&solid));
    case.system.make_solvable(&mut b);
    let x = case.solve_directly(&b);
    let exact = |axis: usize, x: [f64; 2]| if axis == 0 { profile(x[1]) } else { 0.0 };
    error(&case, &x, &solid, exact, |x| (x[0] - 1.0).abs() < 0.1)
}

/// Largest error over walls at so many random places.
fn channels(n: usize, count: usize, pushed: bool) -> f64 {
    let mut random = noise(11);
    let walls = (0..count).map(|_| (0.11 + 0.06 * random().abs(), 0.83 + 0.06 * random().abs()));
    let errors = walls.map(|(low, high)| channel(n, low, high, pushed));
    errors.fold(0.0_f64, f64::max)
}

const COUETTE: [f64; 3] = [7e-3, 2.1e-3, 9e-4];
const POISEUILLE: [f64; 3] = [1.8e-3, 8e-4, 2.5e-4];

#[test]
fn couette_flow_is_linear_wherever_the_walls_lie() {
    for (n, count, bound) in [
        (16, 12, COUETTE[0]),
        (32, 12, COUETTE[1]),
        (64, 2, COUETTE[2]),
    ] {
        let error = channels(n, count, false);
        println!("{n}: {error:e}");
        assert!(error <= bound, "{n}: {error:e}");
    }
}

#[test]
fn poiseuille_flow_is_a_parabola_wherever_the_walls_lie() {
    for (n, count, bound) in [
        (16, 12, POISEUILLE[0]),
        (32, 12, POISEUILLE[1]),
        (64, 2, POISEUILLE[2]),
    ] {
        let error = channels(n, count, true);
        println!("{n}: {error:e}");
        assert!(error <= bound, "{n}: {error:e}");
    }
}

#[test]
#[ignore = "long: twelve channels of 64 cells"]
fn channels_of_64_cells_wherever_the_walls_lie() {
    let errors = [channels(64, 12, false), channels(64, 12, true)];
    assert!(
        errors[0] <= COUETTE[2] && errors[1] <= POISEUILLE[2],
        "{errors:?}"
    );
}

/// Speed at the surface of a film of thickness `h` that flows down a wall, relative to `rho g h^2/(2 eta)`.
fn film(n: usize, wall: f64) -> f64 {
    let (dx, h) = (1.0 / n as f64, 0.31);
    let dt = 1e6;
    let (left, right) = (4.0 * dx, 2.0 - 4.0 * dx);
    let case = Case::<2>::new(
        [n, 2 * n],
        medium(dx, dt, 1.0),
        1.0,
        &move |x| x[0] - wall - h,
        &move |x| (x[0] - wall).min(x[1] - left).min(right - x[1]),
    );
    let profile = move |x: f64| {
        let s = (x - wall).clamp(0.0, h);
        -s * (h - 0.5 * s)
    };
    let solid = case.field(|axis, x| if axis == 1 { profile(x[0]) } else { 0.0 });
    let before = case.field(|axis, _| if axis == 1 { -dt } else { 0.0 });
    let b = case.system.rhs(&before, Some(&solid));
    let x = case.solve_directly(&b);
    let velocity = case.system.liquid_velocity(&x, Some(&solid));
    // The outermost faces with much liquid, in the middle of the film.
    let mut worst = 0.0_f64;
    for ((axis, index), u) in case.system.faces().zip(velocity) {
        let place = case.place(axis, index);
        let (liquid, open) = case.system.face_shares(axis, index);
        if axis == 1 && liquid > 0.5 && open > 0.5 && (place[1] - 1.0).abs() < 2.0 * dx {
            worst = worst.max((u - profile(place[0])).abs());
        }
    }
    worst / (0.5 * h * h)
}

#[test]
fn a_film_flows_down_a_wall_at_its_analytic_speed() {
    for (n, bound) in [(16, 4.5e-2), (32, 1.7e-2), (64, 6e-3)] {
        for wall in [0.103, 0.118, 0.131] {
            let error = film(n, wall);
            println!("{n} {wall} {error:e}");
            assert!(error <= bound, "{n} {wall} {error:e}");
        }
    }
}

const INNER: f64 = 0.17;
const OUTER: f64 = 0.42;

/// The force along x and the torque on a cylinder of radius [`INNER`] inside one of radius [`OUTER`], while it turns (or moves along
/// x) with speed 1.
fn cylinder(n: usize, turns: bool) -> (f64, f64) {
    let dx = 1.0 / n as f64;
    let centre = [0.503, 0.497];
    let motion = move |axis: usize, x: [f64; 2]| match (turns, axis) {
        (true, 0) => -(x[1] - centre[1]),
        (true, _) => x[0] - centre[0],
        (false, axis) => {
            if axis == 0 {
                1.0
            } else {
                0.0
            }
        }
    };
    let inside = move |x: [f64; 2]| sphere(x, centre, 0.5 * (INNER + OUTER)) < 0.0;
    let case = Case::<2>::new([n, n], medium(dx, 1e9, 1.0), 1.0, &|_| -1.0, &move |x| {
        sphere(x, centre, INNER).min(-sphere(x, centre, OUTER))
    });
    let solid = case.field(|axis, x| if inside(x) { motion(axis, x) } else { 0.0 });
    let still = case.field(|_, _| 0.0);
    let mut b = case.system.rhs(&still, Some(&solid));
    case.system.make_solvable(&mut b);
    let x = case.solve_directly(&b);
    // The force on a body is the work of the stresses on its motion.
    let along = case.field(|axis, x| if axis == 0 && inside(x) { 1.0 } else { 0.0 });
    let about = case.field(|axis, x| {
        let spin = if axis == 0 {
            -(x[1] - centre[1])
        } else {
            x[0] - centre[0]
        };
        if inside(x) { spin } else { 0.0 }
    });
    let force = |mode: &FaceField<2>| case.system.work(&x, Some(&solid), mode);
    (force(&along), force(&about))
}

#[test]
fn the_torque_between_two_cylinders_is_that_of_taylor_and_couette() {
    let exact = -4.0 * std::f64::consts::PI / (INNER.powi(-2) - OUTER.powi(-2));
    for (n, bound) in [(16, 6e-2), (32, 1.6e-2), (64, 5e-3)] {
        let (_, torque) = cylinder(n, true);
        println!("{n}: {torque} {exact}");
        assert!(
            (torque / exact - 1.0).abs() <= bound,
            "{n}: {torque} {exact}"
        );
    }
}

#[test]
fn the_drag_of_a_cylinder_in_another_is_the_analytic_one() {
    let k: f64 = OUTER / INNER;
    let exact = -4.0 * std::f64::consts::PI / (k.ln() - (k * k - 1.0) / (k * k + 1.0));
    for (n, bound) in [(16, 0.12), (32, 4e-2), (64, 1.3e-2)] {
        let (force, _) = cylinder(n, false);
        println!("{n}: {force} {exact}");
        assert!((force / exact - 1.0).abs() <= bound, "{n}: {force} {exact}");
    }
}

/// A block that slides on a floor: slip walls do not slow it down at all, walls that stick do.
#[test]
fn a_block_slides_on_a_slip_wall_without_change_and_is_held_by_one_that_sticks() {
    let slowest = |walls| {
        let n = 24;
        let mut medium = medium(1.0 / n as f64, 0.01, 1000.0);
        medium.walls = walls;
        let case = Case::<2>::new(
            [n, n],
            medium,
            100.0,
            &|x| (x[0] - 0.7).max(0.3 - x[0]).max(x[1] - 0.5),
            &|x| x[1] - 0.113,
        );
        let before = case.field(|axis, _| if axis == 0 { 1.0 } else { 0.0 });
        let x = case.solve(&case.system.rhs(&before, None), 1e-12);
        let velocity = case.system.liquid_velocity(&x, None);
        let along = case
            .system
            .faces()
            .zip(velocity)
            .filter(|((axis, _), _)| *axis == 0);
        along.fold(f64::INFINITY, |m, (_, u)| m.min(u))
    };
    let (stick, slip) = (slowest(StressWalls::Stick), slowest(StressWalls::Slip));
    assert!((slip - 1.0).abs() < 1e-8 && stick < 0.8, "{slip} {stick}");
}
