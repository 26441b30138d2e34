//! Exchange of forces between liquid and bodies.

use meniscus_coupled::ShareFinder;
use meniscus_liquid::Walls;
use meniscus_rigid::Body;
use meniscus_shapes::{Pose, Rotation, Shape};

use crate::scene::{block, free, tank};
use crate::stage::Stage;

fn ball<const D: usize>(radius: f64) -> Shape<D> {
    Shape::Sphere {
        center: [0.0; D],
        radius,
    }
}

fn turned(body: Body<2>, degrees: f64) -> Body<2> {
    let pose = Pose {
        rotation: Rotation::from_angle(degrees.to_radians()),
        translation: body.pose.translation,
    };
    body.at(pose)
}

/// Three bodies in a disc of liquid that share faces.
fn three(dx: f64) -> Vec<Body<2>> {
    vec![
        turned(free("box", block([0.12, 0.08]), 500.0, [0.4, 0.42]), 20.0),
        free("ball", ball(0.1), 2000.0, [0.6 + 0.3 * dx, 0.45]),
        turned(free("other", block([0.08, 0.1]), 100.0, [0.47, 0.6]), -35.0),
    ]
}

#[test]
fn a_common_rigid_motion_has_no_divergence() {
    let dx = 1.0 / 40.0;
    let spin = 3.0;
    let motion = |x: [f64; 2]| [0.7 - spin * (x[1] - 0.5), -0.4 + spin * (x[0] - 0.5)];
    let bodies: Vec<Body<2>> = three(dx)
        .into_iter()
        .map(|body| {
            let at = body.pose.translation;
            body.moving(motion(at), [0.0, 0.0, spin])
        })
        .collect();
    let mut stage = Stage::new([40, 40], dx, bodies);
    stage.settings.mass_correction = false;
    stage.flow(|x| (x[0] - 0.5).hypot(x[1] - 0.5) - 0.42, motion);
    let problem = stage.problem();
    assert!(problem.bodies.len() == 3 && problem.entries.len() > 60);
    let joint = problem.joint(0.0);
    let n = problem.pressures();
    let largest = joint.rhs[..n].iter().fold(0.0f64, |m, b| m.max(b.abs()));
    assert!(largest * dx / 2.0 < 1e-13, "{}", largest * dx / 2.0);
    // Nor does a layer of liquid between surface and cell centres brake them.
    stage.settings.mass_correction = true;
    let solved = stage.solve();
    for pressure in stage.pressures() {
        assert!(pressure.1.abs() < 1e-2, "{pressure:?}");
    }
    assert_eq!(solved.outcome.wet.len(), 3);
}

#[test]
fn shares_of_every_face_add_up_to_one() {
    let dx = 1.0 / 32.0;
    // Two bodies that overlap by a tenth of a cell, one of them in the floor.
    let bodies = vec![
        tank([2.0 * dx; 2], [1.0 - 2.0 * dx; 2]),
        free("low", block([0.15, 0.1]), 500.0, [0.4, 0.1 + 1.95 * dx]),
        free("high", block([0.1, 0.1]), 500.0, [0.45, 0.3 + 1.85 * dx]),
    ];
    let mut stage = Stage::new([32, 32], dx, bodies);
    stage.flow(|x| x[1] - 0.8, |_| [0.0; 2]);
    let mut shared = 0;
    stage.with_faces(|faces, _, bodies, _| {
        let finder = ShareFinder::new(faces, bodies);
        let weights = faces.weights();
        for index in 0..faces.tiles.cells() {
            if !weights.is_unknown(index) {
                continue;
            }
            for axis in 0..2 {
                for high in [false, true] {
                    let beyond = weights.beyond(index, axis, high);
                    let open = weights.open_to(beyond, index, axis, high);
                    let shares = finder.of_face(index, axis, high, open);
                    assert!(shares.iter().all(|share| (0.0..=1.0).contains(&share.1)));
                    let sum: f64 = open + shares.iter().map(|share| share.1).sum::<f64>();
                    assert!((sum - 1.0).abs() <= 1e-15, "{sum}");
                    shared += usize::from(shares.len() > 1);
                }
            }
        }
    });
    assert!(shared > 0);
}

/// Force and torque of pressures on the first body.
fn wrench(stage: &mut Stage<2>, pressure: impl Fn([f64; 2]) -> f64) -> [f64; 3] {
    let problem = stage.problem();
    let dx = stage.liquid.dx;
    let mut sum = [0.0; 3];
    for entry in problem.entries.iter().filter(|entry| entry.group == 0) {
        let x = problem.pressure.cells[entry.row as usize].map(|c| (c as f64 + 0.5) * dx);
        (0..3).for_each(|k| sum[k] += entry.value[k] * pressure(x) * dx * dx);
    }
    sum
}

#[test]
fn a_constant_pressure_neither_pushes_nor_turns_a_submerged_body() {
    for angle in [0.0, 20.0, 45.0] {
        let body = turned(free("box", block([0.2, 0.1]), 500.0, [0.503, 0.511]), angle);
        let mut stage = Stage::new([32, 32], 1.0 / 32.0, vec![body]);
        stage.flow(|_| -1.0, |_| [0.0; 2]);
        for part in wrench(&mut stage, |_| 1.0) {
            assert!(part.abs() < 1e-12, "{angle}: {part}");
        }
    }
}

#[test]
fn a_hydrostatic_pressure_carries_what_archimedes_says() {
    // A box of 0.4 x 0.2 with a draft of 0.1: largest error of the force over many positions within a cell.
    let cases = [
        (0.0, 64, true, 0.004),
        (20.0, 32, true, 0.01),
        (20.0, 32, false, 0.01),
        (20.0, 64, false, 0.003),
        (20.0, 64, true, 0.003),
        (45.0, 64, true, 0.003),
        (5.0, 64, true, 0.003),
    ];
    let mut missed = Vec::new();
    for (angle, n, corrected, most) in cases {
        let dx = 1.0 / n as f64;
        let mut worst = 0.0f64;
        for k in 0..60 {
            let offset = [0.7549 * k as f64 % 1.0 * dx, 0.5698 * k as f64 % 1.0 * dx];
            let center = [0.5 + offset[0], 0.5 + offset[1]];
            let body = turned(free("box", block([0.2, 0.1]), 500.0, center), angle);
            let mut stage = Stage::new([n, n], dx, vec![body]).gravity([0.0, -10.0]);
            stage.settings.mass_correction = corrected;
            let level = center[1];
            stage.flow(|x| x[1] - level, |_| [0.0; 2]);
            let mut force = wrench(&mut stage, |x| 10_000.0 * (level - x[1]));
            if corrected {
                let problem = stage.problem();
                let own = stage.bodies.body(0).mass.unwrap().mass;
                force[1] -= 10.0 * (problem.bodies[0].inertia[1][1] - own);
            }
            // By symmetry half of the box is submerged at any angle.
            worst = worst.max((force[1] / (10_000.0 * 0.04) - 1.0).abs());
        }
        if worst >= most {
            missed.push(format!(
                "{angle} degrees, {n} cells, {corrected}: {worst:.5}"
            ));
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn momentum_is_conserved_through_contact_friction_and_separation() {
    let dx = 1.0 / 48.0;
    for (walls, outward) in [
        (Walls::Slip, 0.0),
        (Walls::Separating, 0.0),
        (Walls::Separating, 3.0),
    ] {
        let lower =
            free("low", block([0.15, 0.07]), 300.0, [0.5, 0.4]).moving([0.3, 0.5], [0.0, 0.0, 1.0]);
        let upper = free("high", block([0.1, 0.06]), 1500.0, [0.52, 0.53 + 0.02 * dx])
            .moving([-0.4, -0.8], [0.0, 0.0, -0.5]);
        let bodies = vec![lower.friction(0.3), upper.friction(0.3)];
        let mut stage = Stage::new([48, 48], dx, bodies);
        stage.liquid.physics.walls = walls;
        stage.flow(
            |x| (x[0] - 0.5).hypot(x[1] - 0.5) - 0.33,
            |x| {
                [
                    (6.0 * x[1]).sin() + outward * (x[0] - 0.5),
                    (5.0 * x[0]).cos() + outward * (x[1] - 0.5),
                ]
            },
        );
        let centers: Vec<[f64; 2]> = (0..2).map(|b| stage.bodies.center(b)).collect();
        let solved = stage.solve();
        assert!(
            solved
                .outcome
                .bodies
                .contacts
                .iter()
                .any(|c| c.impulse[1].abs() > 1e-3)
        );
        assert!(solved.projected.separated_rows > 0 || walls == Walls::Slip);
        let mut total = solved.momentum;
        let mut size = 0.0;
        for wet in &solved.outcome.wet {
            let v = [
                wet.twist.linear[0],
                wet.twist.linear[1],
                wet.twist.angular[2],
            ];
            let mut change = [0.0; 3];
            for i in 0..3 {
                change[i] = (0..3).map(|j| wet.inertia[i][j] * v[j]).sum::<f64>() - wet.momentum[i];
            }
            let x = centers[wet.body];
            total[0] += change[0];
            total[1] += change[1];
            total[2] += change[2] + x[0] * change[1] - x[1] * change[0];
            size += change[0].abs() + change[1].abs();
        }
        for part in &total[..3] {
            assert!(
                part.abs() < 1e-12 * size,
                "{walls} {outward}: {total:?} of {size}"
            );
        }
    }
}

#[test]
fn liquid_and_bodies_in_free_fall_do_not_push_each_other() {
    let dx = 1.0 / 32.0;
    let bodies = vec![
        free("low", block([0.15, 0.07]), 300.0, [0.5, 0.4]),
        free("high", block([0.1, 0.06]), 1500.0, [0.52, 0.53]),
    ];
    let bodies = bodies.into_iter().map(|b| b.moving([0.2, -1.0], [0.0; 3]));
    let mut stage = Stage::new([32, 32], dx, bodies.collect()).gravity([0.0, -9.81]);
    let fall = -1.0 - 9.81 * stage.dt;
    stage.flow(|x| (x[0] - 0.5).hypot(x[1] - 0.5) - 0.33, |_| [0.2, fall]);
    let solved = stage.solve();
    let scale = 1000.0 * 9.81 * dx;
    for (_, p) in stage.pressures() {
        assert!(p.abs() < 1e-12 * scale, "{p}");
    }
    assert!(
        solved
            .outcome
            .bodies
            .contacts
            .iter()
            .all(|c| c.impulse[1].abs() < 1e-10)
    );
    for wet in &solved.outcome.wet {
        assert!((wet.twist.linear[1] - fall).abs() < 1e-12);
    }
}
