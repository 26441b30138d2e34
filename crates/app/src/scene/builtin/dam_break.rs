//! A column of water that stands in a corner of a tank and is let go.

use crate::scene::{Scene, Volume};
use meniscus_shapes::Shape;

/// In a channel 2 m long, whose water comes to rest several cells deep. At 128 cells the column has 39,000 cells,
/// 310,000 particles.
pub(super) fn in_space() -> Scene<3> {
    Scene {
        liquids: vec![Volume::at_rest(Shape::Box {
            low: [0.0; 3],
            high: [0.62, 0.5, 0.48],
        })],
        ..Scene::new(
            "dam-break",
            "a column of water breaks in a channel 2 m long",
            [2.0, 0.5, 1.0],
            64,
        )
    }
}

/// In a tank 2 m long and 1 m high.
pub(super) fn in_the_plane() -> Scene<2> {
    Scene {
        liquids: vec![Volume::at_rest(Shape::Box {
            low: [0.0; 2],
            high: [0.57, 0.83],
        })],
        ..Scene::new(
            "dam-break-2d",
            "2D: a column of water breaks in a tank",
            [2.0, 1.0],
            128,
        )
    }
}
