//! Stacks stand.

use crate::scenes::{body, cuboid, distance, empty, floor, stack};
use meniscus_rigid::Bodies;

/// Largest displacement of a body from where it started, over `steps` steps.
fn drift<const D: usize>(bodies: &mut Bodies<D>, list: &[usize], steps: usize, dt: f64) -> f64 {
    let start: Vec<[f64; D]> = list.iter().map(|&body| bodies.center(body)).collect();
    for _ in 0..steps {
        let report = bodies.step(dt).unwrap();
        assert!(report.converged(), "{:?}", report.solves);
    }
    list.iter()
        .zip(start)
        .map(|(&body, start)| distance(bodies.center(body), start))
        .fold(0.0, f64::max)
}

/// coupling test 22.
#[test]
fn ten_equal_boxes_stand_still_in_2d_and_3d() {
    let mut plane = empty::<2>();
    let list = stack(&mut plane, 0.2, &[500.0; 10]);
    assert!(drift(&mut plane, &list, 200, 0.01) < 1e-3 * 0.2);
    let mut space = empty::<3>();
    let list = stack(&mut space, 0.2, &[500.0; 10]);
    assert!(drift(&mut space, &list, 200, 0.01) < 1e-3 * 0.2);
}

#[test]
fn heavy_on_light_stands_still() {
    let mut bodies = empty::<3>();
    let list = stack(&mut bodies, 0.2, &[50.0, 5000.0]);
    assert!(drift(&mut bodies, &list, 200, 0.01) < 1e-4 * 0.2);
    let mut bodies = empty::<3>();
    let list = stack(&mut bodies, 0.2, &[10.0, 100.0, 1000.0, 10_000.0]);
    assert!(drift(&mut bodies, &list, 1000, 0.01) < 1e-4 * 0.2);
}

#[test]
#[ignore = "long: a minute of simulated time"]
fn ten_equal_boxes_stand_for_a_minute() {
    let mut bodies = empty::<3>();
    let list = stack(&mut bodies, 0.2, &[500.0; 10]);
    assert!(drift(&mut bodies, &list, 6000, 0.01) < 1e-3 * 0.2);
}

#[test]
fn boxes_that_are_dropped_come_to_rest_at_the_gap_without_overlap() {
    let mut bodies = empty::<3>();
    bodies.add(floor()).unwrap();
    let a = bodies
        .add(body("lower", cuboid([0.2; 3]), 500.0, [0.0, 0.0, 0.3]))
        .unwrap();
    let b = bodies
        .add(body("upper", cuboid([0.2; 3]), 500.0, [0.05, 0.03, 0.7]))
        .unwrap();
    let mut deepest: f64 = 0.0;
    for _ in 0..200 {
        deepest = deepest.max(bodies.step(0.01).unwrap().penetration);
    }
    let gap = 0.002 * 0.2;
    assert_eq!(deepest, 0.0);
    assert!(
        (bodies.center(a)[2] - 0.1 - gap).abs() < 1e-6,
        "{:?}",
        bodies.center(a)
    );
    assert!(
        (bodies.center(b)[2] - 0.3 - 2.0 * gap).abs() < 1e-6,
        "{:?}",
        bodies.center(b)
    );
}

/// Boxes that land on each other, corners on corners: which corners bear is not known from the step before, and twenty boxes
/// are as hard to balance as a beam. At rest nothing is left to correct.
#[test]
fn a_column_of_boxes_that_fell_is_solved_to_its_tolerance() {
    let mut bodies = empty::<3>();
    bodies.add(floor()).unwrap();
    for k in 0..20 {
        let at = [0.0, 0.0, 0.11 + 0.25 * k as f64];
        let own = body(&format!("box {k}"), cuboid([0.2; 3]), 500.0, at);
        bodies.add(own).unwrap();
    }
    for step in 0..150 {
        let report = bodies.step(1.0 / 60.0).unwrap();
        let enough = 1e-4 * crate::scenes::G / 60.0;
        let residual = report.residual();
        assert!(residual <= enough, "{step}: {residual}");
        if step >= 60 {
            assert!(report.converged(), "{step}: {residual}");
            let rounds: usize = report.solves.iter().map(|solve| solve.rounds).sum();
            assert_eq!(rounds, 0, "{step}");
        }
        if step >= 100 {
            assert_eq!(report.position_work, 0.0, "{step}");
        }
    }
}

/// A box of weight `m g` on the floor is carried by contact forces that add up to it.
#[test]
fn contact_forces_carry_the_weight() {
    let mut bodies = empty::<3>();
    let list = stack(&mut bodies, 0.2, &[100.0, 300.0, 700.0]);
    let mut report = bodies.step(0.01).unwrap();
    for _ in 0..20 {
        report = bodies.step(0.01).unwrap();
    }
    let weight = |density: f64| density * 0.2_f64.powi(3) * crate::scenes::G;
    for (&body, own) in list.iter().zip([100.0, 300.0, 700.0]) {
        let force = report.contact_forces[body].force;
        assert!((force[2] / weight(own) - 1.0).abs() < 1e-6, "{force:?}");
    }
    let floor = report.contact_forces[0].force[2];
    assert!((floor / weight(1100.0) + 1.0).abs() < 1e-6);
}
