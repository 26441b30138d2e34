//! The scenes that are timed.

use crate::prelude::*;
use clap::ValueEnum;
use meniscus_liquid::Walls;
use meniscus_scene::{AnyScene, Scene, Volume, builtin};
use meniscus_shapes::Shape;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where the water breaks.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
pub enum Stage {
    /// The built-in scene: a channel 2 m long
    DamBreak,
    /// As much water in a cube of 2 m, as in the scene that others were timed with
    OpenCube,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::DamBreak => "dam-break",
            Stage::OpenCube => "open-cube",
        })
    }
}

impl Stage {
    /// The scene at so many cells along its longest side.
    pub fn scene(self, resolution: usize, walls: Walls) -> Result<Scene<3>, Error> {
        let mut scene = match self {
            Stage::DamBreak => match builtin::named("dam-break")? {
                AnyScene::Three(scene) => scene,
                AnyScene::Two(_) => return Err(Error::usage("the dam break must be in space")),
            },
            Stage::OpenCube => open_cube(),
        };
        scene.resolution = resolution;
        scene.physics.walls = walls;
        Ok(scene)
    }
}

/// A column of the volume of the built-in one, with room on two sides.
fn open_cube() -> Scene<3> {
    Scene {
        liquids: vec![Volume::at_rest(Shape::Box {
            low: [0.0; 3],
            high: [0.4, 0.6, 0.62],
        })],
        ..Scene::new(
            "open-cube",
            "a column of water breaks in a cube of 2 m",
            [2.0; 3],
            64,
        )
    }
}

/// The same scene under a ceiling twice as high, with cells of the same size: more air, the same liquid.
pub fn with_twice_the_air(scene: &Scene<3>) -> Scene<3> {
    let mut taller = scene.clone();
    let dx = scene.dx();
    taller.domain[2] *= 2.0;
    let longest = taller.domain.iter().copied().fold(0.0, f64::max);
    taller.resolution = (longest / dx).round() as usize;
    taller
}

/// Finds out when the liquid first reaches a side that it did not touch at the start.
#[derive(Debug)]
pub struct Impact {
    /// For each horizontal axis: how far the liquid may get before it is at the far side.
    limits: [Option<f64>; 2],
}

impl Impact {
    /// Distance, in cells, within which a particle has reached a side.
    const NEAR: f64 = 2.0;

    /// To be asked about liquid that starts at these places.
    pub fn new(scene: &Scene<3>, start: &[[f32; 3]]) -> Self {
        let reach = reach(start);
        let limits = std::array::from_fn(|axis| {
            let limit = scene.domain[axis] - Self::NEAR * scene.dx();
            (reach[axis] < limit).then_some(limit)
        });
        Impact { limits }
    }

    /// Whether a particle is at one of those sides.
    pub fn happened(&self, now: &[[f32; 3]]) -> bool {
        let reach = reach(now);
        (0..2).any(|axis| self.limits[axis].is_some_and(|limit| reach[axis] >= limit))
    }
}

/// The largest coordinate along each horizontal axis.
fn reach(places: &[[f32; 3]]) -> [f64; 2] {
    std::array::from_fn(|axis| {
        let along = places.iter().map(|x| f64::from(x[axis]));
        along.fold(f64::NEG_INFINITY, f64::max)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn liquid_volume(scene: &Scene<3>) -> f64 {
        let boxes = scene.liquids.iter().map(|liquid| match &liquid.shape {
            Shape::Box { low, high } => (0..3).map(|a| high[a] - low[a]).product::<f64>(),
            other => panic!("{other:?} is not a column"),
        });
        boxes.sum()
    }

    #[test]
    fn both_scenes_hold_as_much_water_in_cells_of_the_same_size() {
        let [channel, cube] = [Stage::DamBreak, Stage::OpenCube]
            .map(|stage| stage.scene(128, Walls::Separating).unwrap());
        assert!((liquid_volume(&channel) - liquid_volume(&cube)).abs() < 1e-9);
        assert_eq!(channel.dx(), cube.dx());
        // Eight to a cell, 310,000 in all: what the others were timed with.
        let particles = 8.0 * liquid_volume(&cube) / cube.dx().powi(3);
        assert!((particles - 310_000.0).abs() < 10_000.0, "{particles}");
    }

    #[test]
    fn twice_the_air_is_the_same_liquid_in_the_same_cells() {
        for stage in [Stage::DamBreak, Stage::OpenCube] {
            let scene = stage.scene(64, Walls::Slip).unwrap();
            let taller = with_twice_the_air(&scene);
            assert_eq!(taller.liquids, scene.liquids);
            assert_eq!(taller.dx(), scene.dx());
            let [cells, more] = [&scene, &taller].map(Scene::cells);
            assert_eq!(more, [cells[0], cells[1], 2 * cells[2]]);
        }
    }

    #[test]
    fn an_impact_is_on_a_side_that_was_dry() {
        let scene = Stage::DamBreak.scene(64, Walls::Separating).unwrap();
        // In the channel the column touches both sides from the start; that is no impact.
        let start = [[0.3, 0.01, 0.1], [0.61, 0.49, 0.4]];
        let impact = Impact::new(&scene, &start);
        assert!(!impact.happened(&start));
        assert!(!impact.happened(&[[1.8, 0.49, 0.99]]));
        assert!(impact.happened(&[[0.3, 0.2, 0.1], [1.95, 0.2, 0.1]]));
    }
}
