//! Joints, limits and motors.

use crate::scenes::{G, body, cuboid, distance, empty, norm, up};
use meniscus_rigid::{Bodies, Body, Joint, JointKind, Mass, MotorTarget};
use meniscus_shapes::{Pose, Rotation, Shape};
use std::f64::consts::PI;

const Y: [f64; 3] = [0.0, 1.0, 0.0];

/// Period of a small swing of a rod about its upper end, from the times at which it passes the middle.
fn period<const D: usize>(bodies: &mut Bodies<D>, rod: usize, dt: f64) -> f64 {
    let mut passed = Vec::new();
    let mut last = bodies.center(rod)[0];
    let mut steps = 0;
    while passed.len() < 5 {
        bodies.step(dt).unwrap();
        steps += 1;
        let now = bodies.center(rod)[0];
        if (now > 0.0) != (last > 0.0) {
            passed.push((steps as f64 - now / (now - last)) * dt);
        }
        last = now;
    }
    (passed[4] - passed[0]) / 2.0
}

#[test]
fn a_hinge_pendulum_has_its_period_in_2d_and_3d() {
    let (length, width) = (1.0_f64, 0.05_f64);
    let exact = 2.0
        * PI
        * ((length * length + width * width) / 12.0 / (0.5 * length * G) + 0.5 * length / G).sqrt();
    // A swing of one degree lengthens the period by 2e-5.
    let angle = 1.0_f64.to_radians();
    let mut plane = empty::<2>();
    let shape = cuboid([width, length]);
    let mass = Mass::of_density(&shape, 500.0).unwrap();
    let pose = Pose {
        rotation: Rotation::from_angle(angle),
        translation: [0.5 * length * angle.sin(), -0.5 * length * angle.cos()],
    };
    let rod = plane.add(Body::free("rod", shape, mass).at(pose)).unwrap();
    plane
        .add_joint(Joint::new(
            JointKind::Hinge {
                point: [0.0; 2],
                axis: [0.0; 3],
            },
            rod,
            None,
        ))
        .unwrap();
    let found = period(&mut plane, rod, 0.002);
    assert!((found / exact - 1.0).abs() < 1e-3, "{found} {exact}");

    let mut space = empty::<3>();
    let shape = cuboid([width, 0.05, length]);
    let mass = Mass::of_density(&shape, 500.0).unwrap();
    let pose = Pose {
        rotation: Rotation::from_axis_angle(Y, -angle),
        translation: [0.5 * length * angle.sin(), 0.0, -0.5 * length * angle.cos()],
    };
    let rod = space.add(Body::free("rod", shape, mass).at(pose)).unwrap();
    space
        .add_joint(Joint::new(
            JointKind::Hinge {
                point: [0.0; 3],
                axis: Y,
            },
            rod,
            None,
        ))
        .unwrap();
    let found = period(&mut space, rod, 0.002);
    assert!((found / exact - 1.0).abs() < 1e-3, "{found} {exact}");
}

/// A wheel with a weight on its rim, driven by a motor of limited torque.
fn wheel(max_torque: f64) -> (Bodies<3>, usize, usize) {
    let mut bodies = empty::<3>();
    let arm = body("arm", cuboid([1.0, 0.1, 0.1]), 200.0, [0.5, 0.0, 0.0]);
    let arm = bodies.add(arm).unwrap();
    let hinge = Joint::new(
        JointKind::Hinge {
            point: [0.0; 3],
            axis: [0.0, -1.0, 0.0],
        },
        arm,
        None,
    );
    let hinge = bodies
        .add_joint(hinge.motor(MotorTarget::Speed(0.2), max_torque))
        .unwrap();
    (bodies, arm, hinge)
}

#[test]
fn a_motor_lifts_exactly_what_its_largest_torque_can() {
    let needed = 200.0 * 0.01 * G * 0.5;
    let (mut strong, arm, hinge) = wheel(needed * 1.001);
    let (mut weak, fallen, _) = wheel(needed * 0.999);
    let mut report = strong.step(0.005).unwrap();
    for _ in 0..20 {
        report = strong.step(0.005).unwrap();
        weak.step(0.005).unwrap();
    }
    assert!(strong.center(arm)[2] > 0.0, "{:?}", strong.center(arm));
    assert!(weak.center(fallen)[2] < 0.0, "{:?}", weak.center(fallen));
    let joint = report.joints[hinge];
    assert!(joint.motor_effort <= needed * 1.001 * (1.0 + 1e-12));
    assert!((joint.motor_power - joint.motor_effort * joint.speed).abs() < 1e-9);
}

#[test]
fn a_strong_motor_keeps_its_speed_and_reports_its_power() {
    let (mut bodies, arm, hinge) = wheel(1e4);
    let mut work = 0.0;
    let start = bodies.energy();
    for _ in 0..200 {
        let report = bodies.step(0.005).unwrap();
        work += report.joints[hinge].motor_power * 0.005;
        assert!((report.joints[hinge].speed - 0.2).abs() < 1e-6);
    }
    assert!((bodies.twist(arm).angular[1] + 0.2).abs() < 1e-6);
    // The motor's work is the energy gained, but for the first step, in which the arm jumps to its speed.
    assert!(
        (work - (bodies.energy() - start)).abs() < 0.03 * work,
        "{work} {}",
        bodies.energy() - start
    );
}

#[test]
fn limits_stop_a_hinge_and_a_slider() {
    let mut bodies = empty::<3>();
    let arm = bodies
        .add(body("arm", cuboid([1.0, 0.1, 0.1]), 200.0, [0.5, 0.0, 0.0]))
        .unwrap();
    let hinge = Joint::new(
        JointKind::Hinge {
            point: [0.0; 3],
            axis: [0.0, -1.0, 0.0],
        },
        arm,
        None,
    );
    bodies.add_joint(hinge.limits(-0.5, 0.5)).unwrap();
    let block = bodies
        .add(body("block", cuboid([0.2; 3]), 200.0, [3.0, 0.0, 0.0]))
        .unwrap();
    let slider = Joint::new(
        JointKind::Slider {
            point: [3.0, 0.0, 0.0],
            axis: [0.0, 0.0, 2.0],
        },
        block,
        None,
    );
    bodies
        .add_joint(slider.limits(-0.3, f64::INFINITY))
        .unwrap();
    let mut report = bodies.step(0.01).unwrap();
    for _ in 0..200 {
        report = bodies.step(0.01).unwrap();
    }
    assert!(
        (report.joints[0].coordinate + 0.5).abs() < 1e-4,
        "{:?}",
        report.joints[0]
    );
    assert!(
        (report.joints[1].coordinate + 0.3).abs() < 1e-6,
        "{:?}",
        report.joints[1]
    );
    assert!((bodies.center(block)[2] + 0.3).abs() < 1e-6);
    assert!(norm(bodies.twist(arm).angular) < 1e-3);
}

#[test]
fn a_position_motor_holds_an_angle() {
    let mut bodies = empty::<2>();
    let arm = bodies
        .add(body("arm", cuboid([1.0, 0.1]), 200.0, [0.5, 0.0]))
        .unwrap();
    let hinge = Joint::new(
        JointKind::Hinge {
            point: [0.0; 2],
            axis: [0.0; 3],
        },
        arm,
        None,
    );
    bodies
        .add_joint(hinge.motor(MotorTarget::Position(0.4), 200.0))
        .unwrap();
    for _ in 0..300 {
        bodies.step(0.01).unwrap();
    }
    let angle = bodies.center(arm)[1].atan2(bodies.center(arm)[0]);
    assert!((angle - 0.4).abs() < 1e-3, "{angle}");
}

#[test]
fn joints_hold_together_over_a_long_swing() {
    let mut bodies = empty::<3>();
    let mut last = None;
    let mut list = Vec::new();
    for k in 0..5 {
        let x = 0.3 * k as f64;
        let link = bodies
            .add(body(
                "link",
                cuboid([0.28, 0.05, 0.05]),
                500.0,
                [x + 0.15, 0.0, 0.0],
            ))
            .unwrap();
        let kind = JointKind::Ball {
            point: [x, 0.0, 0.0],
        };
        bodies.add_joint(Joint::new(kind, link, last)).unwrap();
        last = Some(link);
        list.push(link);
    }
    let start = bodies.energy();
    for _ in 0..400 {
        let report = bodies.step(0.005).unwrap();
        assert!(
            report.energy < start + 1e-2 * 500.0 * 0.0007 * 5.0 * G,
            "{}",
            report.energy - start
        );
        for (k, &link) in list.iter().enumerate() {
            let end = bodies.pose(link).apply([-0.15, 0.0, 0.0]);
            let other = if k == 0 {
                [0.0; 3]
            } else {
                bodies.pose(list[k - 1]).apply([0.15, 0.0, 0.0])
            };
            assert!(distance(end, other) < 1e-4, "{}", distance(end, other));
        }
    }
}

#[test]
fn fixed_and_distance_joints_carry_weight_and_break() {
    let mut bodies = empty::<3>();
    let cube = body("cube", cuboid([0.2; 3]), 500.0, up(-1.0));
    let weight = cube.mass.unwrap().mass * G;
    let hung = bodies.add(cube.clone()).unwrap();
    let kind = JointKind::Distance {
        point_a: up(-0.9),
        point_b: up(0.0),
    };
    bodies.add_joint(Joint::new(kind, hung, None)).unwrap();
    let held = bodies
        .add(cube.clone().at(Pose::translated([2.0, 0.0, -1.0])))
        .unwrap();
    let fixed = Joint::new(
        JointKind::Fixed {
            point: [2.0, 0.0, -1.0],
        },
        held,
        None,
    );
    bodies.add_joint(fixed.break_force(2.0 * weight)).unwrap();
    let torn = bodies
        .add(cube.at(Pose::translated([4.0, 0.0, -1.0])))
        .unwrap();
    let fixed = Joint::new(
        JointKind::Fixed {
            point: [4.0, 0.0, -1.0],
        },
        torn,
        None,
    );
    bodies.add_joint(fixed.break_force(0.5 * weight)).unwrap();
    let mut report = bodies.step(0.01).unwrap();
    for _ in 0..50 {
        report = bodies.step(0.01).unwrap();
    }
    assert!((report.joints[0].force[2] / weight - 1.0).abs() < 1e-6);
    assert!((report.joint_forces[hung].force[2] / weight - 1.0).abs() < 1e-6);
    assert!(!bodies.is_broken(1) && bodies.is_broken(2));
    assert!((bodies.center(held)[2] + 1.0).abs() < 1e-9);
    assert!(bodies.center(torn)[2] < -1.5);
}

/// coupling test 25: a see-saw on a fulcrum.
#[test]
fn a_see_saw_balances_or_turns_with_the_right_acceleration() {
    let (thickness, d) = (0.04, 0.8);
    let run = |m1: f64, m2: f64, dt: f64, steps: usize| {
        let mut bodies = empty::<2>();
        let fulcrum = Shape::Cone {
            from: [0.0, -0.5],
            to: [0.0, 0.0],
            radius_from: 0.3,
            radius_to: 0.0,
        };
        bodies
            .add(Body::fixed("fulcrum", fulcrum).friction(0.0))
            .unwrap();
        // Plank and weights as one body about the point of contact: level, without friction.
        let gap = 0.002 * thickness;
        let plank = Shape::<2>::Box {
            low: [-1.0, -0.5 * thickness],
            high: [1.0, 0.5 * thickness],
        };
        let own = Mass::of_mass(&plank, 2.0).unwrap();
        let total = 2.0 + m1 + m2;
        let shift = (m1 - m2) * d / total;
        let mut inertia = own.inertia;
        inertia[2][2] += 2.0 * shift * shift + m1 * (d - shift).powi(2) + m2 * (d + shift).powi(2);
        let mass = Mass { mass: total, ..own }
            .with_center([shift, 0.0])
            .with_inertia(inertia);
        let at = Pose::translated([0.0, 0.5 * thickness + gap]);
        let plank = bodies
            .add(Body::free("plank", plank, mass).at(at).friction(0.0))
            .unwrap();
        let mut report = bodies.step(dt).unwrap();
        for _ in 1..steps {
            report = bodies.step(dt).unwrap();
        }
        let about_contact = inertia[2][2] + total * shift * shift;
        let exact = total * G * shift / about_contact;
        (
            bodies.twist(plank).angular[2],
            exact * dt * steps as f64,
            report.contact_forces[plank].force[1] / (total * G),
        )
    };
    let (w, _, load) = run(3.0, 3.0, 0.01, 100);
    assert!(w.abs() < 1e-6 && (load - 1.0).abs() < 1e-6, "{w} {load}");
    let (w, exact, _) = run(5.0, 3.0, 1e-4, 1);
    assert!((w / -exact - 1.0).abs() < 1e-3, "{w} {exact}");
}
