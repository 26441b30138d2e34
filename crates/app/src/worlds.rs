//! Worlds of scenes: the only place that knows which worlds there are. Everything else, the runner included, sees a
//! [`World`].

use meniscus_liquid::Liquid;
use meniscus_scene::{Scene, measure};
use meniscus_shapes::Bounds;
use meniscus_sim::{LiquidWorld, RigidSetup, RigidWorld, World};
use meniscus_store::error::Error;

/// Liquid of more cells than this, by a coarse measure, has particles.
const CERTAIN_CELLS: f64 = 1000.0;

/// World of a scene in its initial state.
///
/// # Errors
/// If a setting is out of range, or there is no liquid and no emitter.
pub fn initial<const D: usize>(scene: &Scene<D>) -> Result<Box<dyn World>, Error> {
    scene.check()?;
    if scene.is_rigid() {
        let world =
            rigid_world(scene).map_err(|e| Error::usage(format!("scene {}: {e}", scene.name)))?;
        return Ok(Box::new(world));
    }
    let solids = scene.solids_and_walls();
    let mut liquid =
        Liquid::new(scene.settings()).map_err(|fault| Error::usage(fault.to_string()))?;
    liquid.fill(
        &|x| scene.liquid_distance(x),
        &|x| scene.liquid_velocity(x),
        &solids,
    );
    if liquid.particles().is_empty() && scene.emitters.is_empty() {
        return Err(Error::usage(format!(
            "scene {}: there is no liquid outside of solids at {} cells",
            scene.name, scene.resolution
        ))
        .with_remedy("make room for it, or raise --resolution"));
    }
    Ok(world_of(scene, liquid))
}

/// World of a scene in a state that [`World::state`] wrote.
///
/// # Errors
/// What is wrong with the state, in words that complete "is damaged".
pub fn restored<const D: usize>(scene: &Scene<D>, state: &[u8]) -> Result<Box<dyn World>, String> {
    if scene.is_rigid() {
        let mut world = rigid_world(scene)?;
        world.restore(state).map_err(|e| e.to_string())?;
        return Ok(Box::new(world));
    }
    let liquid = Liquid::restore(scene.settings(), state).map_err(|e| e.to_string())?;
    Ok(world_of(scene, liquid))
}

fn world_of<const D: usize>(scene: &Scene<D>, mut liquid: Liquid<D>) -> Box<dyn World> {
    liquid.set_sources(scene.ports());
    Box::new(LiquidWorld::new(
        liquid,
        scene.solids.clone(),
        scene.sides(),
    ))
}

/// The rigid bodies of a scene at the start.
fn rigid_world<const D: usize>(scene: &Scene<D>) -> Result<RigidWorld<D>, String> {
    let bodies = scene.rigid_bodies().map_err(|e| e.to_string())?;
    let first = scene.solids.len();
    let removals = scene.bodies.iter().enumerate().filter_map(|(k, body)| {
        let time = scene.time_of_frame(body.remove_frame?);
        Some((first + k, time))
    });
    let setup = RigidSetup {
        listed: first + scene.bodies.len(),
        domain: Bounds {
            low: [0.0; D],
            high: scene.domain,
        },
        max_step: scene.rigid_step(),
        removals: removals.collect(),
    };
    Ok(RigidWorld::new(bodies, setup))
}

/// Checks that a scene begins with liquid or gets some, or has rigid bodies.
///
/// # Errors
/// As [`initial`].
pub fn has_liquid<const D: usize>(scene: &Scene<D>) -> Result<(), Error> {
    let cell = scene.dx().powi(D as i32);
    // Only where a coarse measure finds next to nothing are particles seeded to be certain, and those are few.
    if scene.is_rigid()
        || !scene.emitters.is_empty()
        || measure::liquid_volume(scene) > CERTAIN_CELLS * cell
    {
        return Ok(());
    }
    initial(scene).map(|_| ())
}
