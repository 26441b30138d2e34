//! The first thing a newcomer sees: water in a thrown glass sphere, which lets go of the glass.
//!
//! Less than a second, filmed at 120 frames a second. The sphere sinks a little, is thrown up, and is
//! stopped far harder than gravity would: the water flies on, leaves the bottom of the glass, slams
//! into its top, lets go again and falls back. With slip walls nothing of this happens: the water
//! can't leave the bottom, it can only creep up the sides, and it is still there when the run ends.

use crate::scene::{Scene, Volume};
use meniscus_shapes::{Body, Ease, Keyframe, Motion, Rotation, Shape};
use std::f64::consts::PI;

/// Side of the domain, 64 cells.
const SIDE: f64 = 0.5;
/// Radius of the hollow of the glass: 36 cells across.
const RADIUS: f64 = 0.28 * SIDE;
/// The water stands this far below the centre, so that it is below the centre also when it moves a bit.
const BELOW_CENTER: f64 = 0.1 * RADIUS;

/// Time in frames; place along x and z in sides of the domain; turn about y in half turns.
const THROW: [(f64, f64, f64, f64); 4] = [
    (4.0, 0.38, 0.36, 0.0),
    (48.5, 0.40, 0.31, 0.1),
    (63.0, 0.44, 0.69, 0.3),
    (102.0, 0.54, 0.66, 0.9),
];
const FRAME_RATE: f64 = 120.0;

pub(super) fn scene() -> Scene<3> {
    let keys = THROW.map(|(frame, x, z, half_turns)| Keyframe {
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
            "water in a thrown glass sphere flies into the top of the glass and lets go of it",
            [SIDE; 3],
            64,
        )
    }
}
