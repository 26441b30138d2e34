//! Bodies that lie on something under the surface: the liquid gets under them.

use meniscus_liquid::Walls;
use meniscus_rigid::Body;
use meniscus_shapes::{Pose, Rotation, Shape};

use crate::scene::{Setup, block, free, tank};
use crate::stage::Stage;

const G: f64 = 9.81;

fn ball(radius: f64) -> Shape<2> {
    Shape::Sphere {
        center: [0.0; 2],
        radius,
    }
}

/// Force and torque of pressures on a body, by its place among those that touch the liquid.
fn wrench(stage: &mut Stage<2>, place: u32, pressure: impl Fn([f64; 2]) -> f64) -> [f64; 3] {
    let problem = stage.problem();
    let dx = stage.liquid.dx;
    let mut sum = [0.0; 3];
    for entry in problem.entries.iter().filter(|entry| entry.group == place) {
        let x = problem.pressure.cells[entry.row as usize].map(|c| (c as f64 + 0.5) * dx);
        (0..3).for_each(|k| sum[k] += entry.value[k] * pressure(x) * dx * dx);
    }
    sum
}

/// Light bodies on the floor of a tank, at a gap in cells: a ball, a box that lies flat, one in a corner, and one on another.
fn resting(dx: f64, gap: f64) -> Vec<Vec<Body<2>>> {
    let floor = 2.0 * dx;
    let up = |half: f64| floor + half + gap * dx;
    let low = free("low", block([0.2, 0.08]), 300.0, [0.5, up(0.08)]);
    let high = free(
        "high",
        block([0.11, 0.08]),
        300.0,
        [0.55, up(0.08) + 0.16 + gap * dx],
    );
    vec![
        vec![free("ball", ball(0.1), 300.0, [0.513, up(0.1)])],
        vec![free("box", block([0.15, 0.1]), 300.0, [0.507, up(0.1)])],
        vec![free(
            "corner",
            block([0.15, 0.1]),
            300.0,
            [up(0.15), up(0.1)],
        )],
        vec![low, high],
    ]
}

#[test]
fn a_constant_pressure_does_not_hold_down_what_lies_on_the_floor() {
    let mut missed = Vec::new();
    for n in [32, 48] {
        let dx = 1.0 / n as f64;
        for gap in [0.0, 0.02, 0.3, 0.7, 0.97, 1.2] {
            for (k, mut bodies) in resting(dx, gap).into_iter().enumerate() {
                let count = bodies.len() as u32;
                bodies.push(tank([2.0 * dx; 2], [1.0 - 2.0 * dx; 2]));
                let mut stage = Stage::new([n, n], dx, bodies);
                stage.flow(|x| x[1] - 0.75, |_| [0.0; 2]);
                for body in 0..count {
                    let force = wrench(&mut stage, body, |_| 1.0);
                    if force.iter().any(|part| part.abs() > 1e-12) {
                        missed.push(format!("{n}, gap {gap}, {k}, {body}: {force:?}"));
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn the_force_on_what_lies_on_the_floor_is_that_of_what_it_displaces() {
    let (n, dx) = (48, 1.0 / 48.0);
    let mut missed = Vec::new();
    for gap in [0.02, 0.5] {
        for (k, mut bodies) in resting(dx, gap).into_iter().enumerate() {
            let volume = bodies[0].mass.unwrap().mass / 300.0;
            bodies.push(tank([2.0 * dx; 2], [1.0 - 2.0 * dx; 2]));
            let mut stage = Stage::new([n, n], dx, bodies).gravity([0.0, -G]);
            stage.flow(|x| x[1] - 0.75, |_| [0.0; 2]);
            let mut force = wrench(&mut stage, 0, |x| 1000.0 * G * (0.75 - x[1]))[1];
            let problem = stage.problem();
            let own = stage.bodies.body(0).mass.unwrap().mass;
            force -= G * (problem.bodies[0].inertia[1][1] - own);
            let error = force / (1000.0 * G * volume) - 1.0;
            if error.abs() > 0.02 {
                missed.push(format!("gap {gap}, {k}: {error}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn pressure_in_a_vessel_is_not_that_under_it() {
    // Water in a cup on the floor, whose bottom is one cell and a half thick.
    let (n, dx) = (40, 1.0 / 40.0);
    let hollow = Shape::Box {
        low: [-0.15, -0.2 + 1.5 * dx],
        high: [0.15, 1.0],
    };
    let cup = block([0.2, 0.2]).without(vec![hollow]);
    let cup = free("cup", cup, 500.0, [0.5, 2.02 * dx + 0.2]).friction(0.0);
    let bodies = vec![cup, tank([2.0 * dx; 2], [1.0 - 2.0 * dx; 2])];
    let mut stage = Stage::new([n, n], dx, bodies);
    stage.flow(
        |x| {
            if (x[0] - 0.5).abs() < 0.2 && x[1] > 3.0 * dx {
                x[1] - 0.3
            } else {
                1.0
            }
        },
        |_| [0.0; 2],
    );
    // A pressure of one on the bottom inside, and nothing below it.
    let force = wrench(&mut stage, 0, |_| 1.0);
    assert!((force[1] + 0.3).abs() < 1e-6, "{force:?}");
}

#[test]
fn a_light_body_on_the_floor_rises() {
    let turned = |body: Body<2>, angle: f64| {
        let translation = body.pose.translation;
        body.at(Pose {
            rotation: Rotation::from_angle(angle),
            translation,
        })
    };
    let lying = [
        free("ball", ball(0.1), 300.0, [0.5, 0.101]),
        free("box", block([0.12, 0.06]), 300.0, [0.5, 0.0602]),
        turned(free("steep", block([0.06, 0.06]), 300.0, [0.5, 0.087]), 0.7),
    ];
    for walls in [Walls::Separating, Walls::Slip] {
        for body in &lying {
            let mut setup = Setup::new(32, vec![tank([0.0; 2], [1.0; 2]), body.clone()]);
            setup.walls = walls;
            let mut world = setup.fill(|x: [f64; 2]| x[1] - 0.4);
            let mut time = 0.0;
            while time < 2.0 {
                let dt = world.step_limit(0.02).dt;
                world.step(dt, &mut ()).unwrap();
                time += dt;
            }
            let y = world.bodies().pose(1).translation[1];
            // Liquid has to flow under a flat bottom first.
            assert!(y > 0.33, "{walls}: {} at {y}", body.name);
        }
    }
}
