//! The first thing a newcomer sees: water in a thrown glass sphere, which lets go of the glass.
//!
//! Less than a second, filmed at 120 frames a second. The sphere is swung around and up like a bucket on a rope, a little
//! too slowly, and stopped at the top: the water climbs the glass on the outside of the turn, is overhead when the turn
//! ends, lets go and falls. With slip walls it can't leave the glass: it slides on over the top and is still up there when
//! the run ends.

use crate::scene::{Scene, Volume};
use meniscus_shapes::{Body, Ease, Keyframe, Motion, Rotation, Shape};
use std::f64::consts::PI;

/// Side of the domain, 64 cells.
const SIDE: f64 = 0.5;
/// Radius of the hollow of the glass: 36 cells across.
const RADIUS: f64 = 0.28 * SIDE;
/// The water stands this far below the centre, so that it is below the centre also when it moves a bit.
const BELOW_CENTER: f64 = 0.1 * RADIUS;

/// Time in frames; place along x and z in sides of the domain; turn about y in half turns. Half a circle of radius 0.2
/// at 0.75 m/s: not fast enough to hold the water at the top, where that takes 1 m/s.
const SWING: [(f64, f64, f64, f64); 8] = [
    (16.0, 0.34, 0.30, 0.0),
    (30.0, 0.50, 0.30, 0.0),
    (42.5, 0.64, 0.36, 0.25),
    (55.0, 0.70, 0.50, 0.5),
    (67.5, 0.64, 0.64, 0.75),
    (80.0, 0.50, 0.70, 1.0),
    (88.0, 0.42, 0.69, 1.1),
    (102.0, 0.40, 0.66, 1.2),
];
const FRAME_RATE: f64 = 120.0;

pub(super) fn scene() -> Scene<3> {
    let keys = SWING.map(|(frame, x, z, half_turns)| Keyframe {
        time: frame / FRAME_RATE,
        position: [x * SIDE, 0.5 * SIDE, z * SIDE],
        rotation: Rotation::from_axis_angle([0.0, 1.0, 0.0], half_turns * PI),
    });
    let center = keys[0].position;
    let surface = [center[0], center[1], center[2] - BELOW_CENTER];
    let lower_half = Shape::Intersection(vec![
        Shape::Sphere {
            center,
            radius: RADIUS,
        },
        Shape::HalfSpace {
            point: surface,
            normal: [0.0, 0.0, 1.0],
        },
    ]);
    let hollow = Shape::Sphere {
        center: [0.0; 3],
        radius: RADIUS,
    };
    Scene {
        solids: vec![Body {
            name: "glass".into(),
            shape: hollow.inverted(),
            motion: Motion::Keyframes {
                keys: keys.to_vec(),
                ease: Ease::Smooth,
            },
        }],
        liquids: vec![Volume::at_rest(lower_half)],
        frame_rate: FRAME_RATE,
        ..Scene::new(
            "thrown-sphere",
            "water in a swung and thrown glass sphere climbs the glass, lets go of it and falls",
            [SIDE; 3],
            64,
        )
    }
}
