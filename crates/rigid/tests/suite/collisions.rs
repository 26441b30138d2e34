//! Collisions: momentum, energy, restitution, fast bodies, curved and concave solids.

use crate::scenes::{G, ball, body, cuboid, distance, empty, floor, norm, up};
use meniscus_rigid::{Bodies, Body, Drive, Settings, StepError};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, Shape};

fn weightless<const D: usize>() -> Bodies<D> {
    Bodies::new(Settings::default().gravity([0.0; D])).unwrap()
}

/// A contact acts before bodies touch: a box uses up its gap within the step, no more and no less, and lies down in the next one.
#[test]
fn a_body_uses_up_the_gap_in_the_step_in_which_it_arrives() {
    fn arrive<const D: usize>() {
        let mut bodies = Bodies::<D>::new(Settings::default()).unwrap();
        bodies.add(floor()).unwrap();
        let (size, gap, speed, dt) = (0.2, 0.008, 2.0, 0.01);
        let rest = 0.002 * size;
        let falling = body("box", cuboid([size; D]), 500.0, up(0.5 * size + gap));
        let index = bodies.add(falling.moving(up(-speed), [0.0; 3])).unwrap();
        let report = bodies.step(dt).unwrap();
        let height = bodies.center(index)[D - 1] - 0.5 * size;
        assert!((height - rest).abs() < 1e-12, "{height}");
        let arrival = bodies.twist(index).linear[D - 1];
        assert!((arrival + (gap - rest) / dt).abs() < 1e-10, "{arrival}");
        assert_eq!(report.position_work, 0.0);
        bodies.step(dt).unwrap();
        assert!(norm(bodies.twist(index).linear) < 1e-9);
    }
    arrive::<2>();
    arrive::<3>();
}

#[test]
fn collisions_conserve_linear_and_angular_momentum_to_rounding() {
    for restitution in [0.0, 0.7] {
        // Corrections of positions are no part of the motion.
        let settings = Settings::default()
            .gravity([0.0; 3])
            .position_correction(0.0);
        let mut bodies = Bodies::<3>::new(settings).unwrap();
        let turn = Rotation::from_axis_angle([1.0, 2.0, 3.0], 0.7);
        let mut first = body("first", cuboid([0.2, 0.3, 0.2]), 500.0, [0.0; 3])
            .moving([1.0, 0.1, 0.0], [1.0, 2.0, 3.0]);
        first.pose.rotation = turn;
        bodies.add(first.restitution(restitution)).unwrap();
        bodies
            .add(
                body("second", cuboid([0.2; 3]), 1000.0, [0.6, 0.05, 0.02])
                    .moving([-1.0, 0.0, 0.1], [0.0, 1.0, 0.0]),
            )
            .unwrap();
        bodies
            .add(
                body("ball", ball(0.1), 700.0, [0.3, 0.5, 0.0])
                    .moving([0.0, -1.0, 0.0], [2.0, 0.0, 0.0]),
            )
            .unwrap();
        let (linear, angular) = bodies.momentum();
        let mut touched = 0;
        let mut energy = bodies.energy();
        for _ in 0..100 {
            let report = bodies.step(0.01).unwrap();
            touched += report
                .contacts
                .iter()
                .filter(|c| norm(c.impulse) > 0.0)
                .count();
            assert!(report.energy <= energy * (1.0 + 1e-9));
            energy = report.energy;
        }
        let (l, a) = bodies.momentum();
        assert!(touched > 2);
        assert!(distance(l, linear) < 1e-13 * 30.0, "{l:?} {linear:?}");
        assert!(distance(a, angular) < 1e-12 * 30.0, "{a:?} {angular:?}");
    }
}

/// Two balls move apart slowly when a third one pushes them together again, all within one step. Restitution gives back what
/// the impact took, and no more: energy grew by a fifth once, in a cradle after some swings.
#[test]
fn balls_that_meet_at_the_same_time_gain_no_energy() {
    for dt in [0.01, 0.002] {
        for apart in [0.1, 0.3, 0.45] {
            let mut bodies = weightless::<2>();
            let step = 0.2 + 0.0004 + 1e-6;
            for (k, speed) in [1.0, 0.0, apart].into_iter().enumerate() {
                let at = [k as f64 * step, 0.0];
                let ball = body("ball", ball(0.1), 500.0, at).moving([speed, 0.0], [0.0; 3]);
                bodies.add(ball.restitution(1.0).friction(0.0)).unwrap();
            }
            let (momentum, energy) = (bodies.momentum().0, bodies.energy());
            for _ in 0..20 {
                let report = bodies.step(dt).unwrap();
                let most = energy * (1.0 + 1e-9);
                assert!(
                    report.energy <= most,
                    "{apart}: {} of {energy}",
                    report.energy
                );
            }
            // Nothing is lost either, as far as speeds reverse.
            assert!(
                bodies.energy() >= 0.8 * energy,
                "{apart}: {} of {energy}",
                bodies.energy()
            );
            assert!(distance(bodies.momentum().0, momentum) < 1e-12 * momentum[0]);
        }
    }
}

/// coupling test 23.
#[test]
fn in_newtons_cradle_only_the_last_ball_leaves() {
    let mut bodies = weightless::<2>();
    let count = 5;
    let list: Vec<usize> = (0..count)
        .map(|k| {
            let at = [
                k as f64 * (0.2 + 0.002 + 0.0004) - if k == 0 { 0.1 } else { 0.0 },
                0.0,
            ];
            let speed = if k == 0 { 1.0 } else { 0.0 };
            let ball =
                body(&format!("ball {k}"), ball(0.1), 500.0, at).moving([speed, 0.0], [0.0; 3]);
            bodies.add(ball.restitution(1.0).friction(0.0)).unwrap()
        })
        .collect();
    let energy = bodies.energy();
    for _ in 0..400 {
        bodies.step(0.001).unwrap();
        assert!(bodies.energy() <= energy * (1.0 + 1e-12));
    }
    for (k, &ball) in list.iter().enumerate() {
        let expected = if k == count - 1 { 1.0 } else { 0.0 };
        assert!(
            (bodies.twist(ball).linear[0] - expected).abs() < 1e-6,
            "ball {k}: {:?}",
            bodies.twist(ball)
        );
    }
}

/// coupling test 24.
#[test]
fn two_bodies_that_move_together_exchange_no_impulse() {
    let mut bodies = weightless::<3>();
    for (k, restitution) in [(0, 0.2), (1, 0.9)] {
        let at = [0.0, 0.0, k as f64 * (0.2 + 0.0004)];
        let together =
            body("together", cuboid([0.2; 3]), 500.0, at).moving([1.0, 2.0, 3.0], [0.0; 3]);
        bodies.add(together.restitution(restitution)).unwrap();
    }
    for _ in 0..10 {
        let report = bodies.step(0.01).unwrap();
        assert!(!report.contacts.is_empty());
        assert!(
            report
                .contacts
                .iter()
                .all(|contact| norm(contact.impulse) < 1e-14)
        );
    }
    assert_eq!(bodies.twist(0).linear, [1.0, 2.0, 3.0]);
}

#[test]
fn a_ball_bounces_to_the_square_of_its_restitution_and_never_higher() {
    for (restitution, dt) in [(1.0, 0.01), (1.0, 0.0037), (0.5, 0.01)] {
        let mut bodies = empty::<3>();
        bodies.add(floor()).unwrap();
        let ball = body("ball", ball(0.1), 500.0, up(1.1))
            .restitution(restitution)
            .friction(0.0);
        let ball = bodies.add(ball).unwrap();
        let start = bodies.energy();
        let (mut bounced, mut highest) = (false, 0.0_f64);
        let mut last = start;
        let mut steps = 0;
        while steps as f64 * dt < if restitution == 1.0 { 5.0 } else { 0.75 } {
            let report = bodies.step(dt).unwrap();
            assert!(report.energy <= last + 1e-12 * start.abs() + report.position_work.max(0.0));
            last = report.energy;
            steps += 1;
            bounced |= bodies.twist(ball).linear[2] > 0.0;
            if bounced {
                highest = highest.max(bodies.center(ball)[2] - 0.1);
            }
        }
        let expected = restitution * restitution;
        assert!(
            (highest - expected).abs() < 0.08 * expected,
            "{restitution}: {highest}"
        );
    }
}

/// With restitution 0 energy falls but for what the correction of positions adds.
#[test]
fn a_tumbling_heap_never_gains_energy() {
    let mut bodies = empty::<3>();
    bodies.add(floor()).unwrap();
    for k in 0..12 {
        let turn = Rotation::from_axis_angle([1.0 + k as f64, 2.0, 0.5 * k as f64], 0.9 * k as f64);
        let at = [
            0.05 * (k % 3) as f64,
            0.04 * (k % 2) as f64,
            0.3 + 0.4 * k as f64,
        ];
        let mut cube = body(
            "cube",
            cuboid([0.2, 0.15, 0.25]),
            300.0 + 100.0 * k as f64,
            at,
        );
        cube.pose.rotation = turn;
        bodies.add(cube).unwrap();
    }
    let scale = bodies.energy();
    let mut last = scale;
    for step in 0..300 {
        let report = bodies.step(0.01).unwrap();
        let gained = report.energy - last - report.position_work;
        assert!(
            gained <= 1e-9 * scale,
            "step {step}: gained {gained} of {scale}"
        );
        assert!(
            report.penetration < 0.01 * 0.15,
            "step {step}: {}",
            report.penetration
        );
        last = report.energy;
    }
}

#[test]
fn fast_balls_and_boxes_do_not_pass_thin_walls() {
    for shape in [ball::<3>(0.05), cuboid([0.1; 3])] {
        let mut bodies = weightless::<3>();
        bodies
            .add(Body::fixed(
                "wall",
                Shape::Box {
                    low: [-0.01, -2.0, -2.0],
                    high: [0.01, 2.0, 2.0],
                },
            ))
            .unwrap();
        let bullet =
            body("bullet", shape, 500.0, [-1.0, 0.1, 0.2]).moving([300.0, 0.0, 0.0], [0.0; 3]);
        let bullet = bodies.add(bullet).unwrap();
        for _ in 0..10 {
            bodies.step(0.01).unwrap();
        }
        assert!(
            bodies.center(bullet)[0] < -0.05,
            "{:?}",
            bodies.center(bullet)
        );
    }
}

#[test]
fn fast_bodies_that_miss_each_other_are_not_deflected() {
    let mut bodies = weightless::<3>();
    let shot =
        body("shot", ball(0.05), 500.0, [-1.0, 0.0, 0.0]).moving([200.0, 0.0, 0.0], [0.0; 3]);
    let shot = bodies.add(shot).unwrap();
    // Beside the way by more than both radii, and within the reach of one step.
    bodies
        .add(body("target", ball(0.05), 500.0, [0.0, 0.12, 0.0]))
        .unwrap();
    bodies.step(0.01).unwrap();
    assert_eq!(bodies.twist(shot).linear, [200.0, 0.0, 0.0]);
}

#[test]
fn balls_rest_in_a_bowl_and_a_box_on_its_rim() {
    let mut bodies = empty::<3>();
    let sphere = |radius: f64| Shape::Sphere {
        center: [0.0, 0.0, 0.5],
        radius,
    };
    let bowl = Shape::Intersection(vec![
        sphere(0.5).without(vec![sphere(0.45)]),
        Shape::HalfSpace {
            point: [0.0, 0.0, 0.5],
            normal: [0.0, 0.0, 1.0],
        },
    ]);
    bodies.add(Body::fixed("bowl", bowl).friction(0.1)).unwrap();
    let low = bodies
        .add(body("ball", ball(0.1), 500.0, [0.2, 0.0, 0.4]).friction(0.1))
        .unwrap();
    let lid = bodies
        .add(body(
            "lid",
            cuboid([1.2, 1.2, 0.05]),
            500.0,
            [0.0, 0.0, 0.56],
        ))
        .unwrap();
    for _ in 0..600 {
        let report = bodies.step(0.01).unwrap();
        assert!(report.penetration < 1e-3, "{}", report.penetration);
    }
    let gap = 0.002 * 0.2;
    assert!((distance(bodies.center(low), [0.0, 0.0, 0.5]) - (0.35 - gap)).abs() < 1e-4);
    assert!(bodies.center(low)[2] < 0.2);
    assert!(
        (bodies.center(lid)[2] - 0.525).abs() < 2e-3,
        "{:?}",
        bodies.center(lid)
    );
    assert!(norm(bodies.twist(lid).linear) < 1e-3);
}

#[test]
fn capsules_cylinders_and_meshes_come_to_rest_on_a_floor() {
    let capsule = Shape::Capsule {
        from: [-0.1, 0.0, 0.0],
        to: [0.1, 0.0, 0.0],
        radius: 0.05,
    };
    let cylinder = Shape::Cylinder {
        from: [0.0, 0.0, -0.1],
        to: [0.0, 0.0, 0.1],
        radius: 0.1,
    };
    for (name, shape, height) in [("capsule", capsule, 0.05), ("cylinder", cylinder, 0.1)] {
        for ground in [
            floor(),
            Body::fixed(
                "slab",
                Shape::Box {
                    low: [-2.0, -2.0, -0.5],
                    high: [2.0, 2.0, 0.0],
                },
            ),
        ] {
            let mut bodies = empty::<3>();
            bodies.add(ground).unwrap();
            let own = bodies
                .add(body(name, shape.clone(), 500.0, up(height + 0.1)))
                .unwrap();
            for _ in 0..150 {
                bodies.step(0.01).unwrap();
            }
            assert!(
                (bodies.center(own)[2] - height).abs() < 2e-3,
                "{name}: {:?}",
                bodies.center(own)
            );
            assert!(
                norm(bodies.twist(own).linear) < 1e-4,
                "{name}: {:?}",
                bodies.twist(own)
            );
        }
    }
}

#[test]
fn a_scripted_platform_carries_a_box_and_lets_it_fly() {
    let key = |time, height| Keyframe {
        time,
        position: [0.0, 0.0, height],
        rotation: Rotation::IDENTITY,
    };
    let motion = Motion::Keyframes {
        keys: vec![key(0.0, 0.0), key(1.0, 1.0)],
        ease: Ease::Linear,
    };
    let mut bodies = empty::<3>();
    let slab = Shape::Box {
        low: [-1.0, -1.0, -0.2],
        high: [1.0, 1.0, 0.0],
    };
    let lift = bodies.add(Body::scripted("lift", slab, motion)).unwrap();
    let cube = bodies
        .add(body("cube", cuboid([0.2; 3]), 500.0, up(0.1 + 0.0004)))
        .unwrap();
    for _ in 0..100 {
        bodies.step(0.01).unwrap();
    }
    assert!((bodies.pose(lift).translation[2] - 1.0).abs() < 1e-12);
    assert!(
        (bodies.center(cube)[2] - 1.1).abs() < 1e-3,
        "{:?}",
        bodies.center(cube)
    );
    // The lift has stopped; the cube keeps moving.
    assert!((bodies.twist(cube).linear[2] - 1.0).abs() < 1e-6);
    bodies.step(0.01).unwrap();
    assert!((bodies.twist(cube).linear[2] - (1.0 - 0.01 * G)).abs() < 1e-6);
}

#[test]
fn a_released_body_flies_on_with_the_velocity_of_its_script() {
    let key = |time, x| Keyframe {
        time,
        position: [x, 0.0],
        rotation: Rotation::IDENTITY,
    };
    let motion = Motion::Keyframes {
        keys: vec![key(0.0, 0.0), key(1.0, 2.0)],
        ease: Ease::Linear,
    };
    let shape = cuboid::<2>([0.2; 2]);
    let mass = meniscus_rigid::Mass::of_mass(&shape, 3.0).unwrap();
    let mut bodies = empty::<2>();
    let thrown = bodies
        .add(Body::scripted("thrown", shape, motion).released(0.5, mass))
        .unwrap();
    for _ in 0..49 {
        bodies.step(0.01).unwrap();
    }
    assert!(!bodies.is_free(thrown));
    for _ in 0..51 {
        bodies.step(0.01).unwrap();
    }
    assert!(bodies.is_free(thrown) && matches!(bodies.body(thrown).drive, Drive::Scripted(_)));
    assert!((bodies.twist(thrown).linear[0] - 2.0).abs() < 1e-9);
    assert!((bodies.center(thrown)[0] - 2.0).abs() < 1e-9);
    assert!(bodies.center(thrown)[1] < -1.0);
}

#[test]
fn a_crushed_body_is_named_with_what_crushes_it_and_nothing_changes() {
    let key = |time, height| Keyframe {
        time,
        position: [0.0, 0.0, height],
        rotation: Rotation::IDENTITY,
    };
    let motion = Motion::Keyframes {
        keys: vec![key(0.0, 0.25), key(1.0, 0.0)],
        ease: Ease::Linear,
    };
    let mut bodies = empty::<3>();
    bodies.add(floor()).unwrap();
    let slab = Shape::Box {
        low: [-1.0, -1.0, 0.0],
        high: [1.0, 1.0, 0.2],
    };
    bodies.add(Body::scripted("press", slab, motion)).unwrap();
    bodies
        .add(body("cube", cuboid([0.2; 3]), 500.0, up(0.1 + 0.0004)))
        .unwrap();
    let error = loop {
        let before = bodies.save();
        match bodies.step(0.01) {
            Ok(_) => assert!(bodies.time() < 1.0),
            Err(error) => {
                assert_eq!(bodies.save(), before);
                break error;
            }
        }
    };
    let StepError::Infeasible { body, between } = &error else {
        panic!("{error}")
    };
    assert_eq!(body, "cube");
    assert!(
        between.contains(&"floor".to_owned()) && between.contains(&"press".to_owned()),
        "{error}"
    );
}

#[test]
fn bodies_that_overlap_at_the_start_are_separated_gently() {
    let mut bodies = empty::<3>();
    bodies.add(floor()).unwrap();
    let a = bodies
        .add(body("lower", cuboid([0.2; 3]), 500.0, up(0.1004)))
        .unwrap();
    let b = bodies
        .add(body("upper", cuboid([0.2; 3]), 500.0, up(0.29)))
        .unwrap();
    let overlaps = bodies.overlaps();
    assert_eq!(overlaps.len(), 1);
    assert!((overlaps[0].2 - 0.0104).abs() < 1e-12, "{overlaps:?}");
    for _ in 0..100 {
        bodies.step(0.01).unwrap();
        for body in [a, b] {
            assert!(norm(bodies.twist(body).linear) < 0.1);
        }
    }
    assert!(bodies.overlaps().is_empty());
}

#[test]
fn bodies_do_not_catch_on_the_seams_of_a_floor_of_tiles() {
    let mut bodies = empty::<2>();
    for k in 0..20 {
        let x = -1.0 + 0.2 * k as f64;
        bodies
            .add(
                Body::fixed(
                    "tile",
                    Shape::Box {
                        low: [x, -0.2],
                        high: [x + 0.2, 0.0],
                    },
                )
                .friction(0.0),
            )
            .unwrap();
    }
    let sled =
        body("sled", cuboid([0.3, 0.1]), 500.0, [-0.7, 0.05 + 0.0002]).moving([1.0, 0.0], [0.0; 3]);
    let sled = bodies.add(sled.friction(0.0)).unwrap();
    for _ in 0..200 {
        bodies.step(0.01).unwrap();
    }
    assert!(
        (bodies.twist(sled).linear[0] - 1.0).abs() < 1e-6,
        "{:?}",
        bodies.twist(sled)
    );
    assert!((bodies.center(sled)[0] - 1.3).abs() < 1e-3);
}
