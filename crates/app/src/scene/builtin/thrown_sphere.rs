//! The first thing a newcomer sees: water in a thrown glass sphere, which lets go of the glass.

use crate::scene::{Scene, Volume};
use meniscus_shapes::{Body, Ease, Keyframe, Motion, Rotation, Shape};
use std::f64::consts::PI;

/// Radius of the hollow of the glass, in a domain of 1 m: 36 cells across at 64.
const RADIUS: f64 = 0.28;
/// Where the sphere rests before and after, and how far to the right and up it is thrown.
const START: [f64; 3] = [0.32, 0.5, 0.31];
const REACH: f64 = 0.36;
const RISE: f64 = 0.38;

pub(super) fn scene() -> Scene<3> {
    let glass = Shape::Sphere {
        center: [0.0; 3],
        radius: RADIUS,
    }
    .inverted();
    let lower_half = Shape::Intersection(vec![
        Shape::Sphere {
            center: START,
            radius: RADIUS,
        },
        Shape::HalfSpace {
            point: START,
            normal: [0.0, 0.0, 1.0],
        },
    ]);
    Scene {
        solids: vec![Body {
            name: "glass".into(),
            shape: glass,
            motion: Motion::Keyframes {
                keys: throw(),
                ease: Ease::Smooth,
            },
        }],
        liquids: vec![Volume::at_rest(lower_half)],
        ..Scene::new(
            "thrown-sphere",
            "a glass sphere half full of water is thrown and caught; the water lets go of the glass",
            [1.0; 3],
            64,
        )
    }
}

/// Up in a sixth of a second and stopped there, far harder than gravity would: the water flies on,
/// into the top of the glass. Then over to the side, down, and caught, with time to settle.
fn throw() -> Vec<Keyframe<3>> {
    // Time in seconds; share of the way to the right and of the way up; turn in half turns.
    [
        (0.25, 0.0, 0.0, 0.0),
        (0.42, 0.1, 1.0, 0.2),
        (0.80, 0.5, 1.0, 0.8),
        (1.10, 0.9, 0.9, 1.3),
        (1.45, 1.0, 0.0, 2.0),
    ]
    .map(|(time, right, up, turn)| Keyframe {
        time,
        position: [START[0] + right * REACH, START[1], START[2] + up * RISE],
        rotation: Rotation::from_axis_angle([0.0, 1.0, 0.0], turn * PI),
    })
    .to_vec()
}
