//! Free flight.

use crate::scenes::{ball, body, cuboid, empty, norm, up};
use meniscus_rigid::{Bodies, Settings};

fn weightless() -> Bodies<3> {
    Bodies::new(Settings::default().gravity([0.0; 3])).unwrap()
}

fn turned_momentum(bodies: &Bodies<3>) -> [f64; 3] {
    bodies.momentum().1
}

/// A thousand turns about the intermediate axis: the angular momentum stays, the axis flips.
#[test]
fn a_torque_free_body_keeps_its_angular_momentum_and_flips() {
    let mut bodies = weightless();
    let turn = 2.0 * std::f64::consts::PI;
    let plate = body("plate", cuboid([0.3, 0.2, 0.1]), 500.0, [0.0; 3])
        .moving([0.0; 3], [0.01, turn, 0.01]);
    let plate = bodies.add(plate).unwrap();
    let (start, energy) = (turned_momentum(&bodies), bodies.energy());
    let mut flips = 0;
    let mut last = 1.0;
    for _ in 0..100_000 {
        bodies.step(0.01).unwrap();
        // The second axis of the body against the angular velocity.
        let rotation = *bodies.pose(plate).rotation.matrix();
        let w = bodies.twist(plate).angular;
        let along: f64 = (0..3).map(|i| rotation[i][1] * w[i]).sum();
        if along.signum() != last && along.abs() > 1.0 {
            flips += 1;
            last = along.signum();
        }
    }
    let end = turned_momentum(&bodies);
    let off: [f64; 3] = std::array::from_fn(|i| end[i] - start[i]);
    assert!(
        norm(off) < 1e-6 * norm(start),
        "{}",
        norm(off) / norm(start)
    );
    assert!((bodies.energy() / energy - 1.0).abs() < 1e-6);
    assert!(flips >= 10, "{flips}");
}

/// The period of the precession of a symmetric body: `w_n (I_3 - I_1) / I_1` in its own frame.
#[test]
fn a_symmetric_body_precesses_at_the_right_rate() {
    let mut bodies = weightless();
    let plate =
        body("plate", cuboid([0.2, 0.2, 0.05]), 500.0, [0.0; 3]).moving([0.0; 3], [0.3, 0.0, 5.0]);
    let plate = bodies.add(plate).unwrap();
    let mass = bodies.body(plate).mass.unwrap();
    let [i1, _, i3] = mass.principal_moments();
    let rate = 5.0 * (i3 - i1) / i1;
    let steps = 2000;
    for _ in 0..steps {
        bodies.step(0.002).unwrap();
    }
    let own = bodies
        .pose(plate)
        .rotation
        .apply_inverse(bodies.twist(plate).angular);
    let angle = rate * 0.002 * steps as f64;
    assert!(
        (own[0] - 0.3 * angle.cos()).abs() < 2e-3 * 0.3,
        "{own:?} {}",
        0.3 * angle.cos()
    );
    assert!((own[1] - 0.3 * angle.sin()).abs() < 2e-3 * 0.3);
}

#[test]
fn the_implicit_gyroscopic_step_loses_momentum_and_the_default_does_not() {
    let lost = |implicit_gyroscopic: bool| {
        let settings = Settings::default()
            .gravity([0.0; 3])
            .implicit_gyroscopic(implicit_gyroscopic);
        let mut bodies = Bodies::<3>::new(settings).unwrap();
        let turn = 2.0 * std::f64::consts::PI;
        bodies
            .add(
                body("plate", cuboid([0.3, 0.2, 0.1]), 500.0, [0.0; 3])
                    .moving([0.0; 3], [0.1, turn, 0.1]),
            )
            .unwrap();
        let start = norm(turned_momentum(&bodies));
        for _ in 0..3000 {
            bodies.step(0.01).unwrap();
        }
        1.0 - norm(turned_momentum(&bodies)) / start
    };
    assert!(lost(true) > 0.01, "{}", lost(true));
    assert!(lost(false).abs() < 1e-11, "{}", lost(false));
}

#[test]
fn free_fall_is_that_of_velocity_first_euler() {
    let mut bodies = empty::<2>();
    let ball = bodies
        .add(body("ball", ball(0.1), 500.0, up(10.0)).moving([1.0, 0.0], [0.0, 0.0, 3.0]))
        .unwrap();
    for _ in 0..100 {
        bodies.step(0.01).unwrap();
    }
    let exact = 10.0 - 9.81 * 0.01 * 0.01 * (100.0 * 101.0 / 2.0);
    assert!((bodies.center(ball)[1] - exact).abs() < 1e-12 * 10.0);
    assert!((bodies.center(ball)[0] - 1.0).abs() < 1e-12);
    assert_eq!(bodies.twist(ball).angular, [0.0, 0.0, 3.0]);
}
