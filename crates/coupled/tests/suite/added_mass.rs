//! Bodies in liquid without air: added mass, pistons.

use meniscus_rigid::{Body, Wrench};
use meniscus_shapes::Shape;

use crate::scene::{block, free};
use crate::stage::Stage;

fn sphere<const D: usize>(radius: f64, center: [f64; D]) -> Shape<D> {
    Shape::Sphere { center, radius }
}

/// A ball of radius `r` in a hollow of radius `big` around it, `n` cells across a metre, its center off a node by a part of a cell.
fn concentric<const D: usize>(n: usize, r: f64, big: f64, density: f64, off: [f64; D]) -> Stage<D> {
    let dx = 1.0 / n as f64;
    let center = std::array::from_fn(|a| 0.5 + off[a] * dx);
    let bodies = vec![
        free("ball", sphere(r, [0.0; D]), density, center),
        Body::fixed("hollow", sphere(big, center).inverted()),
    ];
    let mut stage = Stage::new([n; D], dx, bodies);
    stage.settings.mass_correction = false;
    stage
}

fn pushed<const D: usize>(stage: &mut Stage<D>) -> f64 {
    let mut force = Wrench::<D>::ZERO;
    force.force[0] = 1.0;
    stage.forces = vec![force];
    stage.flow(|_| -1.0, |_| [0.0; D]);
    let solved = stage.solve();
    let v = solved.outcome.wet[0].twist;
    for a in 1..D {
        assert!(v.linear[a].abs() < 1e-3 * v.linear[0], "sideways: {v:?}");
    }
    stage.dt / v.linear[0]
}

#[test]
fn a_cylinder_in_a_hollow_has_the_added_mass_of_potential_flow() {
    let (r, big) = (0.15f64, 0.45f64);
    let exact = std::f64::consts::PI * 1000.0 * r * r * (big * big + r * r) / (big * big - r * r);
    let error = |n: usize, off: [f64; 2]| {
        let mut stage = concentric::<2>(n, r, big, 500.0, off);
        let mass = stage.bodies.body(0).mass.unwrap().mass;
        (pushed(&mut stage) - mass) / exact - 1.0
    };
    for (n, most) in [(32, 0.005), (64, 0.004), (128, 0.0005)] {
        let error = error(n, [0.003 * n as f64, 0.004 * n as f64]);
        assert!(error.abs() < most, "{n}: {error}");
    }
    // It depends on the place of the center within a cell.
    for (n, most) in [(32, 0.02), (64, 0.005), (128, 0.002)] {
        for off in [[0.0, 0.0], [0.1, 0.0], [0.3, 0.2], [0.5, 0.5], [0.25, 0.77]] {
            let error = error(n, off);
            assert!(error.abs() < most, "{n} {off:?}: {error}");
        }
    }
}

/// Radius, and that of the hollow, of a ball with this many cells in its radius; cells across.
fn ball_in_hollow(cells: f64) -> (usize, f64, f64) {
    let n = (2.0 * 2.2 * cells + 4.0) as usize;
    let r = cells / n as f64;
    (n, r, 2.2 * r)
}

/// Added mass of a sphere in a hollow around it.
fn added_mass(r: f64, big: f64) -> f64 {
    2.0 / 3.0 * std::f64::consts::PI * 1000.0 * r.powi(3) * (big.powi(3) + 2.0 * r.powi(3))
        / (big.powi(3) - r.powi(3))
}

#[test]
fn a_sphere_in_a_hollow_has_the_added_mass_of_potential_flow() {
    for (cells, most) in [(5.0, 0.002), (10.0, 0.0005)] {
        // By the acceleration of a ball without weight that is released.
        let (n, r, big) = ball_in_hollow(cells);
        let gravity = [0.0, 0.0, -9.81];
        let off = [0.13, 0.21, 0.07];
        let mut stage = concentric::<3>(n, r, big, 1.0, off).gravity(gravity);
        let (mass, dt) = (stage.bodies.body(0).mass.unwrap().mass, stage.dt);
        stage.flow(|_| -1.0, |_| gravity.map(|g| g * dt));
        let a = stage.solve().outcome.wet[0].twist.linear[2] / dt;
        let found = 9.81 * 999.0 * mass / a - mass;
        let error = found / added_mass(r, big) - 1.0;
        assert!(error.abs() < most, "{cells}: {error}");
    }
    // Pushed, from any place within a cell.
    for (cells, most) in [(5.0, 0.025), (10.0, 0.007)] {
        for off in [[0.1, 0.0, 0.0], [0.0; 3], [0.5; 3]] {
            let (n, r, big) = ball_in_hollow(cells);
            let mut stage = concentric::<3>(n, r, big, 500.0, off);
            let mass = stage.bodies.body(0).mass.unwrap().mass;
            let error = (pushed(&mut stage) - mass) / added_mass(r, big) - 1.0;
            assert!(error.abs() < most, "{cells} {off:?}: {error}");
        }
    }
}

#[test]
fn a_released_ball_accelerates_as_its_added_mass_says() {
    for (cells, most) in [(5.0, 0.01), (10.0, 0.003), (20.0, 0.001)] {
        for density in [1.0, 500.0, 3000.0] {
            let (n, r, big) = ball_in_hollow(cells);
            let volume = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
            let gravity = [-9.81, 0.0, 0.0];
            let mut stage = concentric::<3>(n, r, big, density, [0.1, 0.0, 0.0]).gravity(gravity);
            let dt = stage.dt;
            stage.flow(|_| -1.0, |_| gravity.map(|g| g * dt));
            let mass = density * volume;
            let exact = 9.81 * (1000.0 * volume - mass) / (mass + added_mass(r, big));
            let v = stage.solve().outcome.wet[0].twist;
            let error = v.linear[0] / dt / exact - 1.0;
            assert!(error.abs() < most, "{cells} {density}: {error}");
            let sideways = v.linear[1].hypot(v.linear[2]) / v.linear[0].abs();
            assert!(sideways < 1e-4, "{v:?}");
            assert!(v.angular.iter().all(|w| (w * r / v.linear[0]).abs() < 1e-4));
        }
    }
}

#[test]
fn liquid_does_not_brake_a_cylinder_that_turns() {
    let r = 0.15;
    let mut stage = concentric::<2>(64, r, 0.45, 500.0, [0.1, 0.0]);
    stage.bodies.set_twist(
        0,
        meniscus_rigid::Twist {
            linear: [0.0; 2],
            angular: [0.0, 0.0, 1.0],
        },
    );
    stage.flow(|_| -1.0, |_| [0.0; 2]);
    let solved = stage.solve();
    let wet = &solved.outcome.wet[0];
    // What the liquid takes of the spin is its added moment of inertia.
    assert!((1.0 - wet.twist.angular[2]) * wet.inertia[2][2] < 1e-4 * 1000.0 * r.powi(4));
}

/// Shafts with a piston in each, by width, mass and level of the liquid below, which a channel connects.
fn shafts(widths: &[(f64, f64, f64)]) -> Vec<Body<2>> {
    // Walls between and around the shafts, and a channel below that connects them.
    let mut bodies = Vec::new();
    let (low, mut at) = (0.25, 0.1);
    bodies.push(Body::fixed(
        "floor",
        Shape::Box {
            low: [0.0, 0.0],
            high: [1.0, 0.1],
        },
    ));
    bodies.push(Body::fixed(
        "left",
        Shape::Box {
            low: [0.0, 0.0],
            high: [0.1, 1.0],
        },
    ));
    for (k, &(width, mass, level)) in widths.iter().enumerate() {
        let shape = block([0.5 * width, 0.1]);
        let density = mass / (width * 0.2);
        let x = at + 0.5 * width;
        bodies.insert(
            k,
            free("piston", shape, density, [x, level + 0.1]).friction(0.0),
        );
        at += width;
        let last = k + 1 == widths.len();
        let right = if last { 1.0 } else { at + 0.15 };
        let bottom = if last { 0.0 } else { low };
        bodies.push(
            Body::fixed(
                "wall",
                Shape::Box {
                    low: [at, bottom],
                    high: [right, 1.0],
                },
            )
            .friction(0.0),
        );
        at = right;
    }
    bodies
}

#[test]
fn closed_liquid_carries_a_piston() {
    let n = 40;
    let (width, mass, level) = (0.5, 130.0, 0.5);
    let mut bodies = shafts(&[(width, mass, level)]);
    for body in &mut bodies[1..] {
        body.friction = 0.0;
    }
    let mut stage = Stage::new([n, n], 1.0 / n as f64, bodies).gravity([0.0, -10.0]);
    stage.settings.mass_correction = false;
    stage.liquid.physics.pressure.tolerance = 1e-11;
    let dt = stage.dt;
    stage.flow(
        |x| if x[1] < level + 0.1 { -1.0 } else { 1.0 },
        |_| [0.0, -10.0 * dt],
    );
    let solved = stage.solve();
    assert!(
        solved.outcome.wet[0].twist.linear[1].abs() < 1e-9,
        "{:?}",
        solved.outcome.wet[0].twist
    );
    let top = level - 0.5 / n as f64;
    for (x, p) in stage.pressures() {
        let exact = mass * 10.0 / width + 10_000.0 * (top - x[1]);
        assert!((p / exact - 1.0).abs() < 1e-6, "{x:?}: {p} {exact}");
    }
    // With the correction the layer between the piston and the centres of the cells below it counts.
    let mut stage =
        Stage::new([n, n], 1.0 / n as f64, shafts(&[(width, mass, level)])).gravity([0.0, -10.0]);
    stage.flow(
        |x| if x[1] < level + 0.1 { -1.0 } else { 1.0 },
        |_| [0.0, -10.0 * dt],
    );
    stage.solve();
    let p = stage.pressure_at([n as i32 / 4, n as i32 / 2 - 1]).unwrap();
    let exact = mass * 10.0 / width + 10_000.0 * 0.5 / n as f64;
    assert!((p / exact - 1.0).abs() < 1e-6, "{p} {exact}");
}

#[test]
fn two_pistons_balance_by_their_weight_over_area() {
    let n = 40;
    for (ratio, rest) in [(1.0, true), (1.5, false)] {
        let bodies = shafts(&[(0.25, 50.0 * ratio, 0.6), (0.4, 80.0, 0.6)]);
        let mut stage = Stage::new([n, n], 1.0 / n as f64, bodies).gravity([0.0, -10.0]);
        stage.liquid.physics.pressure.tolerance = 1e-11;
        let dt = stage.dt;
        stage.flow(
            |x| if x[1] < 0.7 { -1.0 } else { 1.0 },
            |_| [0.0, -10.0 * dt],
        );
        let solved = stage.solve();
        let v: Vec<f64> = solved
            .outcome
            .wet
            .iter()
            .map(|wet| wet.twist.linear[1])
            .collect();
        if rest {
            assert!(v.iter().all(|v| v.abs() < 1e-8), "{v:?}");
        } else {
            assert!(v[0] < -1e-3);
            assert!((v[0] * 0.25 + v[1] * 0.4).abs() < 1e-8, "{v:?}");
        }
    }
}

#[test]
fn pistons_slow_the_liquid_of_a_u_tube_by_their_mass() {
    let (n, bore, difference, mass) = (40, 0.2, 0.1, 20.0);
    let walls = || {
        let wall = |low: [f64; 2], high: [f64; 2]| {
            Body::fixed("wall", Shape::Box { low, high }).friction(0.0)
        };
        vec![
            wall([0.0, 0.0], [1.0, 0.1]),
            wall([0.0, 0.0], [0.1, 1.0]),
            wall([0.3, 0.3], [0.7, 1.0]),
            wall([0.9, 0.0], [1.0, 1.0]),
        ]
    };
    let level = |x: f64| if x < 0.5 { 0.8 } else { 0.7 };
    let run = |pistons: bool| {
        let mut bodies = walls();
        if pistons {
            for x in [0.2, 0.8] {
                let shape = block([0.5 * bore, 0.05]);
                let at = [x, level(x) + 0.05];
                bodies.push(free("piston", shape, mass / (bore * 0.1), at).friction(0.0));
            }
        }
        let mut stage = Stage::new([n, n], 1.0 / n as f64, bodies).gravity([0.0, -10.0]);
        let dt = stage.dt;
        // Under a piston there is liquid up to its bottom, and no air.
        let cover = if pistons { 0.05 } else { 0.0 };
        stage.flow(|x| x[1] - level(x[0]) - cover, |_| [0.0, -10.0 * dt]);
        let solved = stage.solve();
        // The flow from one leg to the other carries its momentum over the distance between them.
        let speed = solved.momentum[0] / (1000.0 * bore * 0.6 * dt);
        for wet in &solved.outcome.wet {
            let sign = if wet.body == 4 { -1.0 } else { 1.0 };
            assert!((wet.twist.linear[1] * sign / (speed * dt) - 1.0).abs() < 0.02);
        }
        speed
    };
    // By the length along the middle; flow round the corners takes a short cut.
    let free = run(false);
    let length = 10.0 * difference / free;
    assert!((length / 1.7 - 1.0).abs() < 0.1, "{length}");
    let loaded = run(true);
    let exact = 10_000.0 * bore * difference / (1000.0 * bore * length + 2.0 * mass);
    assert!((loaded / exact - 1.0).abs() < 0.02, "{loaded} {exact}");
}
