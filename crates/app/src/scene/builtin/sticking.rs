//! Two scenes in which liquid must let go of a wall, in a 2 m cube of 40 cells a side.

use crate::scene::{Scene, Volume};
use meniscus_shapes::Shape;

const SIDE: f64 = 2.0;
const UPWARD: [f64; 3] = [0.0, 0.0, 6.0];

pub(super) fn scenes() -> [Scene<3>; 2] {
    let lower_part = Shape::Box {
        low: [0.0; 3],
        high: [SIDE, SIDE, 0.4 * SIDE],
    };
    let ball = Shape::Sphere {
        center: [1.0; 3],
        radius: 0.5,
    };
    [
        cube(
            "box-kick",
            "a box 40 % full is kicked up at 6 m/s: the floor has to let go",
            lower_part,
        ),
        cube(
            "ceiling-ball",
            "a ball of liquid hits the ceiling at 6 m/s and has to fall off",
            ball,
        ),
    ]
}

fn cube(name: &str, summary: &str, shape: Shape<3>) -> Scene<3> {
    Scene {
        liquids: vec![Volume {
            shape,
            velocity: UPWARD,
        }],
        frames: 48,
        ..Scene::new(name, summary, [SIDE; 3], 40)
    }
}
