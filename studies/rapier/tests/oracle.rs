//! Rapier as an independent oracle: scenes whose answer is unique.

use meniscus_rapier::Engine;
use meniscus_rapier::meniscus::Meniscus;
use meniscus_rapier::peer::Peer;
use meniscus_rapier::scene::{Body, Placed, Scene, Solid, floor};
use meniscus_rigid::Settings;

const DT: f64 = 1.0 / 240.0;

/// The last body in both engines after some seconds.
fn both(bodies: Vec<Body>, seconds: f64) -> [Placed; 2] {
    let scene = Scene {
        name: "test",
        bodies,
    };
    let mut engines: [Box<dyn Engine>; 2] = [
        Box::new(Meniscus::new(&scene, DT, Settings::default())),
        Box::new(Peer::new(&scene, DT, 4)),
    ];
    engines.each_mut().map(|engine| {
        for _ in 0..(seconds / DT).round() as usize {
            engine.step();
        }
        *engine.placed().last().expect("the scene has bodies")
    })
}

#[test]
fn a_box_falls_alike() {
    let cube = Body::free(Solid::Cuboid([0.1; 3]), 500.0, [0.0, 0.0, 3.0]);
    let [ours, peer] = both(vec![floor(), cube], 0.5);
    // Rapier's substeps move the box a little less far than one step of the same length.
    assert!((ours.at[2] - peer.at[2]).abs() < 0.01, "{ours:?} {peer:?}");
    assert!((ours.velocity[2] - peer.velocity[2]).abs() < 1e-9);
}

#[test]
fn a_sliding_box_stops_at_the_same_place() {
    let cube = Body {
        velocity: [2.0, 0.0, 0.0],
        ..Body::free(Solid::Cuboid([0.1; 3]), 500.0, [0.0, 0.0, 0.1])
    };
    let [ours, peer] = both(vec![floor(), cube], 1.0);
    assert!((ours.at[0] - peer.at[0]).abs() < 0.02, "{ours:?} {peer:?}");
    assert!(ours.velocity[0].abs() < 1e-6 && peer.velocity[0].abs() < 1e-3);
}

#[test]
fn a_thrown_ball_rolls_with_five_sevenths_of_its_speed() {
    let ball = Body {
        velocity: [2.0, 0.0, 0.0],
        ..Body::free(Solid::Ball(0.1), 500.0, [0.0, 0.0, 0.1])
    };
    for placed in both(vec![floor(), ball], 1.0) {
        let speed = placed.velocity[0];
        assert!((speed - 2.0 * 5.0 / 7.0).abs() < 0.02, "{speed}");
    }
}
