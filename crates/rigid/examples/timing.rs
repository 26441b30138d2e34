//! Time per step and position error of three scenes: a pile of 500 boxes, a wall of 200 bricks, 2,000 balls in a bowl.
//!
//! `cargo run --release -p meniscus-rigid --example timing [steps] [tolerance] [rounds] [sweeps]`

use std::time::Instant;

use meniscus_rigid::{Bodies, Body, Mass, Settings};
use meniscus_shapes::{Pose, Shape};

type Scene = (&'static str, fn(Settings<3>) -> Bodies<3>);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: f64| -> f64 {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let steps = number(120.0) as usize;
    let settings = Settings::default()
        .tolerance(number(1e-9))
        .max_rounds(number(50.0) as usize)
        .max_sweeps(number(100.0) as usize);
    let scenes: [Scene; 3] = [("pile", pile), ("wall", wall), ("bowl", bowl)];
    for (name, make) in scenes {
        let mut bodies = make(settings);
        let start = Instant::now();
        let (mut contacts, mut sweeps, mut rounds, mut worst, mut unconverged) =
            (0, 0, 0, 0.0_f64, 0);
        for _ in 0..steps {
            let report = bodies.step(1.0 / 60.0).expect("the scene is sound");
            contacts = report.contacts.len();
            sweeps += report
                .solves
                .iter()
                .map(|solve| solve.sweeps)
                .max()
                .unwrap_or(0);
            rounds += report
                .solves
                .iter()
                .map(|solve| solve.rounds)
                .max()
                .unwrap_or(0);
            unconverged += usize::from(!report.converged());
            worst = worst.max(report.position_error);
        }
        let each = start.elapsed().as_secs_f64() / steps as f64;
        println!(
            "{name}: {:.2} ms per step, {contacts} contacts, {} sweeps and {:.1} rounds per step, position error {worst:.1e} m, \
             {unconverged} of {steps} steps not converged",
            1e3 * each,
            sweeps / steps,
            rounds as f64 / steps as f64
        );
    }
}

fn add(bodies: &mut Bodies<3>, shape: Shape<3>, density: f64, at: [f64; 3]) {
    let mass = Mass::of_density(&shape, density).expect("a solid with volume");
    bodies
        .add(Body::free("body", shape, mass).at(Pose::translated(at)))
        .expect("a sound body");
}

fn with_floor(settings: Settings<3>) -> Bodies<3> {
    let mut bodies = Bodies::new(settings).expect("sound settings");
    let floor = Shape::Box {
        low: [-20.0, -20.0, -1.0],
        high: [20.0, 20.0, 0.0],
    };
    bodies
        .add(Body::fixed("floor", floor))
        .expect("a sound body");
    bodies
}

/// 500 boxes that fall into a pile.
fn pile(settings: Settings<3>) -> Bodies<3> {
    let mut bodies = with_floor(settings);
    for k in 0..500 {
        let (i, j, l) = (k % 5, k / 5 % 5, k / 25);
        let shift = 0.008 * ((k * 7) % 5) as f64;
        let at = [
            0.25 * i as f64 + shift,
            0.25 * j as f64 - shift,
            0.11 + 0.25 * l as f64,
        ];
        add(
            &mut bodies,
            Shape::Box {
                low: [-0.1; 3],
                high: [0.1; 3],
            },
            500.0,
            at,
        );
    }
    bodies
}

/// 20 rows of 10 bricks, hit by a ball.
fn wall(settings: Settings<3>) -> Bodies<3> {
    let mut bodies = with_floor(settings);
    for row in 0..20 {
        for k in 0..10 {
            let x = 0.402 * k as f64 + if row % 2 == 0 { 0.0 } else { 0.2 };
            let at = [x, 0.0, 0.0502 + 0.1002 * row as f64];
            add(
                &mut bodies,
                Shape::Box {
                    low: [-0.2, -0.1, -0.05],
                    high: [0.2, 0.1, 0.05],
                },
                1800.0,
                at,
            );
        }
    }
    let ball = Shape::Sphere {
        center: [0.0; 3],
        radius: 0.3,
    };
    let mass = Mass::of_density(&ball, 5000.0).expect("a solid with volume");
    let ball = Body::free("ball", ball, mass)
        .at(Pose::translated([2.0, -3.0, 1.2]))
        .moving([0.0, 8.0, 0.0], [0.0; 3]);
    bodies.add(ball).expect("a sound body");
    bodies
}

/// 2,000 balls that fall into a bowl.
fn bowl(settings: Settings<3>) -> Bodies<3> {
    let mut bodies = Bodies::new(settings).expect("sound settings");
    let sphere = |radius: f64| Shape::Sphere {
        center: [0.0; 3],
        radius,
    };
    let bowl = Shape::Intersection(vec![
        sphere(2.2).without(vec![sphere(2.0)]),
        Shape::HalfSpace {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        },
    ]);
    bodies.add(Body::fixed("bowl", bowl)).expect("a sound body");
    for k in 0..2000 {
        let (i, j, l) = (k % 14, k / 14 % 14, k / 196);
        let shift = 0.003 * ((k * 7) % 5) as f64;
        let at = [
            0.16 * (i as f64 - 6.5) + shift,
            0.16 * (j as f64 - 6.5) - shift,
            -0.9 + 0.16 * l as f64,
        ];
        add(
            &mut bodies,
            Shape::Sphere {
                center: [0.0; 3],
                radius: 0.07,
            },
            1000.0,
            at,
        );
    }
    bodies
}
