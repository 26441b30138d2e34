//! Speeds that a scene prescribes, and the origin of one that is not physical.

use super::Scene;
use meniscus_shapes::Bounds;

/// Largest physical speed in m/s: about ten times that of the fastest water jets.
pub const FASTEST_PHYSICAL: f64 = 1e4;
/// Factor within which a prescribed speed explains one that was reached.
const EXPLAINS: f64 = 100.0;

/// The fastest speed in m/s that the scene prescribes, with the key that it comes from.
pub fn fastest_prescribed<const D: usize>(scene: &Scene<D>) -> Option<(String, f64)> {
    let length = |v: &[f64; D]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    let end = scene.time_of_frame(scene.frames);
    let domain = Bounds {
        low: [0.0; D],
        high: scene.domain,
    };
    let liquids = scene.liquids.iter().enumerate().map(|(i, liquid)| {
        let key = format!("liquid[{}].velocity", i + 1);
        (key, length(&liquid.velocity))
    });
    let emitters = scene.emitters.iter().enumerate().map(|(i, emitter)| {
        let key = format!("emitter[{}].velocity", i + 1);
        (key, length(&emitter.velocity))
    });
    let solids = scene.solids_and_walls();
    let solids = (!scene.solids.is_empty()).then(|| {
        let key = "the keyframes of the solids".to_string();
        (key, solids.max_speed(0.0, end, &domain))
    });
    let gravity = ("gravity".to_string(), length(&scene.physics.gravity) * end);
    liquids
        .chain(emitters)
        .chain(solids)
        .chain([gravity])
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Message about a speed that is not physical, with the key of the scene that causes it.
pub fn origin_of_speed<const D: usize>(scene: &Scene<D>, speed: f64) -> String {
    match fastest_prescribed(scene) {
        Some((key, prescribed)) if prescribed * EXPLAINS >= speed => format!(
            "a speed of {speed:.1e} m/s is not physical; it comes from {key} ({prescribed:.1e} m/s): \
             velocities are in metres per second"
        ),
        _ => format!(
            "a speed of {speed:.1e} m/s is not physical, and nothing in the scene prescribes it: the simulation is \
             unstable; a smaller time.cfl or time.max_step may help"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyScene, builtin};

    #[test]
    fn a_speed_that_is_not_physical_is_traced_to_its_key() {
        let AnyScene::Two(mut scene) = builtin::named("dam-break-2d").unwrap() else {
            panic!("the scene is in the plane")
        };
        let unstable = origin_of_speed(&scene, 1e30);
        assert!(unstable.contains("unstable"), "{unstable}");
        scene.liquids[0].velocity = [1e30, 0.0];
        let message = origin_of_speed(&scene, 2e30);
        assert!(
            message.contains("not physical") && message.contains("liquid[1].velocity"),
            "{message}"
        );
        scene.liquids[0].velocity = [0.0; 2];
        scene.physics.gravity = [0.0, -1e30];
        let message = origin_of_speed(&scene, 1e29);
        assert!(message.contains("from gravity"), "{message}");
    }
}
