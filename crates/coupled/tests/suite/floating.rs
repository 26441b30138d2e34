//! Bodies that float.

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

/// Height of a body's origin at which it floats, by its outer shape.
fn floating_height(outer: &Shape<2>, mass: f64, level: f64) -> f64 {
    let submerged = |height: f64| {
        let n = 400;
        let cell = 1.0 / n as f64;
        let inside = |k: usize| {
            let x = [(k % n) as f64 * cell - 0.5, (k / n) as f64 * cell - 0.5];
            x[1] + height < level && outer.distance(x) < 0.0
        };
        (0..n * n).filter(|&k| inside(k)).count() as f64 * cell * cell
    };
    let (mut low, mut high) = (level - 0.5, level + 0.5);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        match 1000.0 * submerged(middle) > mass {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

#[test]
#[ignore = "long: about a minute, 30 s of four floating bodies"]
fn bodies_at_their_draft_float_for_half_a_minute() {
    let (n, level) = (32, 0.5);
    let outer = block([0.25, 0.12]);
    let hollow = Shape::Box {
        low: [-0.19, -0.06],
        high: [0.19, 0.5],
    };
    let hull = Shape::Intersection(vec![
        block([0.3, 0.1]),
        Shape::Sphere {
            center: [0.0, 0.35],
            radius: 0.45,
        },
    ]);
    let ball = Shape::Sphere {
        center: [0.0; 2],
        radius: 0.15,
    };
    let cases = [
        ("box", block([0.2, 0.1]), block([0.2, 0.1]), 600.0, 0.2),
        ("ball", ball.clone(), ball, 500.0, 0.3),
        ("hull", hull.clone(), hull, 450.0, 0.2),
        (
            "bowl",
            outer.clone().without(vec![hollow]),
            outer,
            800.0,
            0.24,
        ),
    ];
    let mut missed = Vec::new();
    for (name, shape, outer, density, height) in cases {
        let body = free(name, shape, density, [0.5, 0.5]);
        let mass = body.mass.unwrap().mass;
        let at = floating_height(&outer, mass, level);
        let mut body = body;
        body.pose.translation[1] = at;
        let inside = outer.clone();
        let setup = Setup::new(n, vec![tank([0.0; 2], [1.0; 2]), body]);
        // No liquid in the bowl.
        let mut world = setup.fill(|x: [f64; 2]| {
            let own = inside.distance([x[0] - 0.5, x[1] - at]);
            (x[1] - level).max(-own)
        });
        let most = f64::max(0.01 * height, 0.1 / n as f64);
        let (mut worst, mut tilt) = (0.0f64, 0.0f64);
        let mut mean = [(0.0, 0.0); 2];
        while world.time() < 30.0 {
            let dt = world.step_limit(0.02).dt;
            world.step(dt, &mut ()).unwrap();
            let pose = world.bodies().pose(1);
            let off = pose.translation[1] - at;
            worst = worst.max(off.abs());
            tilt = tilt.max(pose.rotation.angle().to_degrees());
            for (k, from) in [(0, 2.0), (1, 26.0)] {
                if world.time() > from && world.time() < from + 4.0 {
                    mean[k].0 += off * dt;
                    mean[k].1 += dt;
                }
            }
        }
        let [early, late] = mean.map(|(sum, time)| sum / time);
        let line = format!(
            "{name}: off by {:.3} cells early and {:.3} late, {:.3} at most, tilt {tilt:.3} degrees",
            early * n as f64,
            late * n as f64,
            worst * n as f64
        );
        println!("{line}");
        let tilts = tilt > 0.5 && name != "ball";
        let drifts = (late - early).abs() > 0.1 / n as f64;
        if late.abs() > most || drifts || tilts {
            missed.push(line);
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
