//! Rigid bodies as a world.

use meniscus_lcp::Status;
use meniscus_rigid::{Bodies, Body, Mass, Settings};
use meniscus_shapes::{Bounds, Ease, Keyframe, Motion, Pose, Rotation, Shape};

use meniscus_sim::{Layers, RigidSetup, RigidWorld, World, advance};

fn world(bodies: Bodies<3>, listed: usize) -> RigidWorld<3> {
    let domain = Bounds {
        low: [-1.0; 3],
        high: [1.0; 3],
    };
    let setup = RigidSetup {
        listed,
        domain,
        max_step: 0.01,
        removals: Vec::new(),
        forces: Vec::new(),
    };
    RigidWorld::new(bodies, setup)
}

fn ball(name: &str, z: f64) -> Body<3> {
    let shape = Shape::Sphere {
        center: [0.0; 3],
        radius: 0.1,
    };
    let mass = Mass::of_density(&shape, 500.0).unwrap();
    Body::free(name, shape, mass).at(Pose::translated([0.0, 0.0, z]))
}

fn bytes(world: &dyn World) -> Vec<u8> {
    let mut out = Vec::new();
    world.state().write(&mut out).unwrap();
    out
}

#[test]
fn a_ball_comes_to_rest_and_its_load_is_its_weight() {
    let mut bodies = Bodies::new(Settings::default()).unwrap();
    bodies.add(ball("ball", 0.11)).unwrap();
    let floor = Shape::HalfSpace {
        point: [0.0; 3],
        normal: [0.0, 0.0, 1.0],
    };
    bodies.add(Body::fixed("floor", floor)).unwrap();
    let mut world = world(bodies, 1);
    let mut last = None;
    while world.time() < 0.5 - 1e-9 {
        last = Some(advance(&mut world, 0.5, &mut ()).unwrap());
    }
    let report = last.unwrap();
    assert_eq!(report.measure("contacts"), Some(1.0));
    assert!(report.measure("kinetic_energy").unwrap() < 1e-6);
    assert_eq!(report.solves[0].status, Status::Converged);
    let snapshot = world.snapshot(Layers::default());
    let [load] = &snapshot.loads[..] else {
        panic!("one load")
    };
    let weight = 500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3 * 9.81;
    assert!(
        (load.contact_force[2] / weight - 1.0).abs() < 1e-6,
        "{load:?}"
    );
    assert_eq!((load.contacts, snapshot.bodies.len()), (1, 1));
    // The restored world continues to the same bytes.
    let saved = bytes(&world);
    let again = |world: &mut RigidWorld<3>| {
        world.restore(&saved).unwrap();
        advance(world, 0.6, &mut ()).unwrap();
        bytes(world)
    };
    assert_eq!(again(&mut world), again(&mut world));
}

#[test]
fn a_body_outside_the_domain_is_removed() {
    let mut bodies = Bodies::new(Settings::default()).unwrap();
    bodies.add(ball("ball", -0.8)).unwrap();
    let mut world = world(bodies, 1);
    let (mut removed, mut left) = (0.0, Vec::new());
    while world.time() < 0.5 - 1e-9 {
        let report = advance(&mut world, 0.5, &mut ()).unwrap();
        removed = report.measure("removed_bodies").unwrap();
        left.extend(report.left_domain);
    }
    assert_eq!(left, ["ball"], "once, by its name");
    let snapshot = world.snapshot(Layers::default());
    assert_eq!(
        (removed, snapshot.bodies.len(), snapshot.loads.len()),
        (1.0, 0, 0)
    );
}

#[test]
fn a_body_that_is_crushed_fails_the_step_and_changes_no_byte() {
    let mut bodies = Bodies::new(Settings::default()).unwrap();
    bodies.add(ball("ball", 0.101)).unwrap();
    let floor = Shape::HalfSpace {
        point: [0.0; 3],
        normal: [0.0, 0.0, 1.0],
    };
    bodies.add(Body::fixed("floor", floor)).unwrap();
    let key = |time: f64, z: f64| Keyframe {
        time,
        position: [0.0, 0.0, z],
        rotation: Rotation::IDENTITY,
    };
    let press = Shape::Box {
        low: [-0.5, -0.5, 0.0],
        high: [0.5, 0.5, 0.1],
    };
    let motion = Motion::Keyframes {
        keys: vec![key(0.0, 0.3), key(1.0, -0.7)],
        ease: Ease::Linear,
    };
    bodies.add(Body::scripted("press", press, motion)).unwrap();
    let mut world = world(bodies, 3);
    let failure = loop {
        let before = bytes(&world);
        match advance(&mut world, 1.0, &mut ()) {
            Ok(_) => assert!(world.time() < 0.9, "it was crushed without a word"),
            Err(failure) => {
                assert_eq!(bytes(&world), before);
                break failure;
            }
        }
    };
    let message = failure.to_string();
    assert!(message.contains("ball") && message.contains("floor") && message.contains("press"));
    let problem = failure.problem.unwrap();
    assert!(problem.unknowns() > 0 && problem.files().contains(&"friction.json"));
}

#[test]
fn an_external_force_equal_to_the_weight_keeps_a_body_in_the_air() {
    let mut bodies = Bodies::new(Settings::default()).unwrap();
    bodies.add(ball("ball", 0.5)).unwrap();
    let mut world = world(bodies, 1);
    let weight = 500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3 * 9.81;
    world
        .set_force("ball", &[0.0, 0.0, weight], [0.0; 3])
        .unwrap();
    for _ in 0..20 {
        advance(&mut world, 1.0, &mut ()).unwrap();
    }
    let height = |world: &RigidWorld<3>| World::bodies(world)[0].translation[2];
    assert!((height(&world) - 0.5).abs() < 1e-9);
    world.set_force("ball", &[0.0; 3], [0.0; 3]).unwrap();
    for _ in 0..20 {
        advance(&mut world, 1.0, &mut ()).unwrap();
    }
    assert!(height(&world) < 0.4);
    assert!(world.set_force("nobody", &[0.0; 3], [0.0; 3]).is_err());
    assert!(world.set_force("ball", &[0.0; 2], [0.0; 3]).is_err());
    assert!(world.set_force("ball", &[f64::NAN; 3], [0.0; 3]).is_err());
}
