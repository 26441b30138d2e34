//! Bodies that float.

use meniscus_rigid::{Body, Wrench};
use meniscus_shapes::Shape;

use crate::scene::{Setup, block, free, tank};

#[test]
fn a_box_at_its_draft_stays_there() {
    let (n, level) = (32, 0.5);
    for density in [100.0, 500.0, 900.0] {
        let draft = density / 1000.0 * 0.2;
        let body = free(
            "box",
            block([0.2, 0.1]),
            density,
            [0.5, level + 0.1 - draft],
        );
        let setup = Setup::new(n, vec![tank([0.0; 2], [1.0; 2]), body]);
        let mut world = setup.fill(|x: [f64; 2]| x[1] - level);
        let start = world.bodies().pose(1);
        let weight = density * 0.08 * 9.81;
        let (mut time, mut impulse) = (0.0, 0.0);
        while time < 1.5 {
            let dt = world.step_limit(0.02).dt;
            let report = world.step(dt, &mut ()).unwrap();
            time += dt;
            impulse += dt * report.loads[1].liquid.force[1];
            let pose = world.bodies().pose(1);
            let sunk = (pose.translation[1] - start.translation[1]) * n as f64;
            assert!(sunk.abs() < 0.2, "{density}: {sunk} cells after {time} s");
            assert!(pose.rotation.angle().to_degrees() < 0.5);
            assert!(report.cycles <= 8, "{} cycles", report.cycles);
            let load = report.loads[1];
            assert!((load.submerged_volume / (0.4 * draft) - 1.0).abs() < 0.15);
            assert!((load.waterline_area - 0.4).abs() < 1e-4);
        }
        assert!((impulse / (weight * time) - 1.0).abs() < 0.01);
    }
}

#[test]
fn weights_on_a_raft_whose_deck_meets_the_water_take_few_cycles() {
    // The deck comes to lie in a plane of the grid, where the gap below the weights is.
    let (n, dx, load) = (24, 1.0 / 24.0, 9.6);
    let tank = Shape::Box {
        low: [0.0; 3],
        high: [1.0, 1.0, 0.6],
    };
    let deck = 0.3 + 0.08 * (1.0 - (3.84 + load) / 12.8);
    let raft = free(
        "raft",
        block([0.2, 0.2, 0.04]),
        300.0,
        [0.5, 0.5, deck - 0.04],
    );
    let mut bodies = vec![Body::fixed("tank", tank.inverted()), raft];
    for (x, y) in [
        (0.37, 0.5),
        (0.63, 0.5),
        (0.5, 0.37),
        (0.5, 0.63),
        (0.37, 0.37),
        (0.63, 0.63),
    ] {
        let at = [x, y, deck + 0.05 + 0.02 * dx];
        bodies.push(free("weight", block([0.05; 3]), load / 6.0 / 1e-3, at));
    }
    let mut setup = Setup::new(n, bodies);
    setup.cells[2] = 15;
    let mut world = setup.fill(|x: [f64; 3]| x[2] - 0.3);
    while world.time() < 0.5 {
        let dt = world.step_limit(0.02).dt;
        let report = world.step(dt, &mut ()).unwrap();
        let time = world.time();
        assert!(report.cycles <= 20, "{} cycles at {time} s", report.cycles);
        assert_eq!(report.rounds, 0, "rounds of friction at {time} s");
    }
}

/// Height in the frame of a shape below which a share of its volume is. By counting points in a cube of half-width `reach`.
fn waterline<const D: usize>(shape: &Shape<D>, share: f64, reach: f64, points: usize) -> f64 {
    let count = points.pow(D as u32);
    let mut heights = Vec::new();
    for k in 0..count {
        let mut rest = k;
        let x: [f64; D] = std::array::from_fn(|_| {
            let c = rest % points;
            rest /= points;
            reach * (2.0 * (c as f64 + 0.5) / points as f64 - 1.0)
        });
        if shape.distance(x) < 0.0 {
            heights.push(x[D - 1]);
        }
    }
    heights.sort_by(f64::total_cmp);
    let at = share * heights.len() as f64;
    heights[(at as usize).min(heights.len() - 1)]
}

/// Seconds over which heights and tilts are averaged: waves of the start go on for a while.
const WINDOW: f64 = 2.0;

/// A body floats for half a minute: means of its height over its draft in cells and of its tilt in degrees, window by window.
fn float<const D: usize>(shape: Shape<D>, density: f64, line: f64, n: usize) -> Vec<[f64; 2]> {
    let level = 0.5;
    let at = std::array::from_fn(|a| if a == D - 1 { level - line } else { 0.5 });
    let bodies = vec![tank([0.0; D], [1.0; D]), free("body", shape, density, at)];
    let mut world = Setup::new(n, bodies).fill(|x: [f64; D]| x[D - 1] - level);
    let mut windows = Vec::new();
    for window in 1..=15 {
        let (mut height, mut tilt, mut time) = (0.0, 0.0, 0.0);
        while world.time() < WINDOW * window as f64 {
            let dt = world.step_limit(0.02).dt;
            world.step(dt, &mut ()).unwrap();
            let pose = world.bodies().pose(1);
            let up = pose.rotation.matrix()[D - 1][D - 1].clamp(-1.0, 1.0);
            height += dt * (pose.translation[D - 1] - at[D - 1]) * n as f64;
            tilt += dt * up.acos().to_degrees();
            time += dt;
        }
        windows.push([height / time, tilt / time]);
    }
    windows
}

/// Whether it stays at its draft, and upright if it has a right side.
fn assert_floats<const D: usize>(
    shape: Shape<D>,
    (density, line): (f64, f64),
    n: usize,
    turns: bool,
) {
    let windows = float(shape, density, line, n);
    let first = windows[0][0];
    for &[height, tilt] in &windows {
        assert!(height.abs() < 0.1, "{height} cells off: {windows:?}");
        assert!((height - first).abs() < 0.1, "drifts: {windows:?}");
        assert!(turns || tilt < 0.5, "{tilt} degrees: {windows:?}");
    }
}

#[test]
#[ignore = "long: half a minute of a floating box"]
fn a_box_floats_for_half_a_minute() {
    assert_floats(block([0.2, 0.1]), (500.0, 0.0), 32, false);
}

#[test]
#[ignore = "long: half a minute of a floating cylinder"]
fn a_cylinder_floats_for_half_a_minute() {
    let ball = Shape::Sphere {
        center: [0.0; 2],
        radius: 0.15,
    };
    let line = waterline(&ball, 0.4, 0.16, 2000);
    assert_floats(ball, (400.0, line), 32, true);
}

#[test]
#[ignore = "long: half a minute of a floating sphere"]
fn a_sphere_floats_for_half_a_minute() {
    let ball = Shape::Sphere {
        center: [0.0; 3],
        radius: 0.2,
    };
    assert_floats(ball, (500.0, 0.0), 24, true);
}

#[test]
#[ignore = "long: half a minute of a floating hull"]
fn a_hull_floats_for_half_a_minute() {
    // A boat of walls 0.05 thick; what is inside of it is dry.
    let inside = Shape::Box {
        low: [-0.2, -0.05],
        high: [0.2, 1.0],
    };
    let hull = block([0.25, 0.1]).without(vec![inside]);
    let solid = 0.5 * 0.2 - 0.4 * 0.15;
    let draft = 400.0 * solid / (1000.0 * 0.5);
    assert_floats(hull, (400.0, -0.1 + draft), 32, false);
}

#[test]
#[ignore = "long: half a minute of a floating bowl"]
fn a_bowl_floats_for_half_a_minute() {
    let sphere = |radius: f64| Shape::Sphere {
        center: [0.0; 2],
        radius,
    };
    let above = Shape::HalfSpace {
        point: [0.0, 0.0],
        normal: [0.0, -1.0],
    };
    let bowl = sphere(0.25).without(vec![sphere(0.19), above]);
    // Submerged area of a half disc of radius 0.25, its wall 400 kg/m3.
    let mass = 400.0 * 0.5 * std::f64::consts::PI * (0.25f64.powi(2) - 0.19f64.powi(2));
    let half = Shape::Intersection(vec![
        sphere(0.25),
        Shape::HalfSpace {
            point: [0.0, 0.0],
            normal: [0.0, 1.0],
        },
    ]);
    let share = mass / 1000.0 / (0.5 * std::f64::consts::PI * 0.0625);
    let line = waterline(&half, share, 0.26, 2000);
    assert_floats(bowl, (400.0, line), 32, false);
}

/// How far a raft of 15 kg per metre, which displaces 48 kg, sinks in some seconds under a share of the load that it carries.
fn sunk(share: f64, seconds: f64) -> f64 {
    let (n, level) = (256, 0.3);
    let half = [0.15, 0.08];
    let load = share * (48.0 - 15.0);
    let draft = ((15.0 + load) / 300.0_f64).min(2.0 * half[1]);
    let start = [0.4, level - draft + half[1]];
    let tank = tank([0.0; 2], [0.8, 0.6]);
    let raft = free("raft", block(half), 15.0 / 48.0 * 1000.0, start);
    let mut setup = Setup::new(n, vec![tank, raft]);
    setup.cells = [205, 154];
    let mut world = setup.fill(|x: [f64; 2]| x[1] - level);
    let mut push = Wrench::ZERO;
    push.force[1] = -9.81 * load;
    while world.time() < seconds {
        let dt = world.step_limit(0.02).dt;
        world.step_with(dt, &[Wrench::ZERO, push], &mut ()).unwrap();
    }
    start[1] - world.bodies().pose(1).translation[1]
}

#[test]
#[ignore = "long: four seconds of a raft under each of two loads"]
fn a_raft_sinks_within_three_percent_of_the_load_of_archimedes() {
    let floats = sunk(0.97, 4.0);
    let sinks = sunk(1.03, 4.0);
    println!("sinks by {floats} m under 97 %, by {sinks} m under 103 %");
    // Level and draft are right to a fraction of a cell.
    assert!(floats.abs() < 0.5 / 256.0, "sinks by {floats} m under 97 %");
    assert!(sinks > 0.05, "sinks by {sinks} m under 103 %");
}
