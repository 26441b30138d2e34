//! Worlds of scenes: the only place that knows which worlds there are. Everything else, the runner included, sees a
//! [`World`].

use meniscus_coupled::Coupled;
use meniscus_liquid::Liquid;
use meniscus_projective::{Cloth, Fluid};
use meniscus_rigid::Bodies;
use meniscus_scene::{Scene, measure};
use meniscus_shapes::Bounds;
use meniscus_sim::{CoupledWorld, LiquidWorld, ProjectiveWorld, RigidSetup, RigidWorld, World};
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
    if scene.is_projective() {
        return projective_world(scene);
    }
    let solids = scene.solids_and_walls();
    let mut settings = scene.settings();
    settings.physics.walls = scene.liquid_walls();
    let mut liquid = Liquid::new(settings).map_err(|fault| Error::usage(fault.to_string()))?;
    liquid.fill(
        &|x| scene.liquid_distance(x),
        &|x| scene.liquid_velocity(x),
        &solids,
    );
    liquid.set_materials(&scene.liquid_material());
    if liquid.particles().is_empty() && scene.emitters.is_empty() {
        return Err(Error::usage(format!(
            "scene {}: there is no liquid outside of solids at {} cells",
            scene.name, scene.resolution
        ))
        .with_remedy("make room for it, or raise --resolution"));
    }
    if scene.is_coupled() {
        let wrong = |e: String| Error::usage(format!("scene {}: {e}", scene.name));
        let bodies = scene.rigid_bodies().map_err(|e| wrong(e.to_string()))?;
        let world = coupled_world(scene, liquid, bodies).map_err(wrong)?;
        return Ok(Box::new(world));
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
    if scene.is_projective() {
        let restore = |state: &[u8]| {
            Fluid::restore_with(scene.projective_settings(), cloth(scene)?, state)
                .map_err(|e| e.to_string())
        };
        if scene.bodies.is_empty() {
            return Ok(Box::new(projective_world_of(scene, restore(state)?)));
        }
        let bodies = scene.rigid_bodies().map_err(|e| e.to_string())?;
        let (bodies, liquid) = ProjectiveWorld::restored_bodies(bodies, state)?;
        let fluid = restore(liquid)?;
        if fluid.time() != bodies.time() {
            return Err("liquid and bodies are of different times".into());
        }
        let world = projective_world_of(scene, fluid);
        return Ok(Box::new(world.with_bodies(bodies, setup(scene))));
    }
    let mut settings = scene.settings();
    settings.physics.walls = scene.liquid_walls();
    if scene.is_coupled() {
        let bodies = scene.rigid_bodies().map_err(|e| e.to_string())?;
        let (liquid, bodies) = CoupledWorld::restored_parts(settings, bodies, state)?;
        return Ok(Box::new(coupled_world(scene, liquid, bodies)?));
    }
    let liquid = Liquid::restore(settings, state).map_err(|e| e.to_string())?;
    Ok(world_of(scene, liquid))
}

/// Liquid and bodies of a scene.
fn coupled_world<const D: usize>(
    scene: &Scene<D>,
    mut liquid: Liquid<D>,
    bodies: Bodies<D>,
) -> Result<CoupledWorld<D>, String> {
    liquid.set_sources(scene.ports());
    let settings = scene.coupling_settings(bodies.len());
    let coupled = Coupled::new(liquid, bodies, settings).map_err(|e| e.to_string())?;
    Ok(CoupledWorld::new(coupled, setup(scene)))
}

fn world_of<const D: usize>(scene: &Scene<D>, mut liquid: Liquid<D>) -> Box<dyn World> {
    liquid.set_sources(scene.ports());
    Box::new(LiquidWorld::new(
        liquid,
        scene.solids.clone(),
        scene.sides(),
    ))
}

/// The particles of a scene at the start.
fn projective_world<const D: usize>(scene: &Scene<D>) -> Result<Box<dyn World>, Error> {
    let mut fluid = Fluid::new(scene.projective_settings())
        .map_err(|fault| Error::usage(format!("scene {}: {fault}", scene.name)))?;
    let solids = scene.solids_and_walls().list;
    // Every volume has a lattice of its own, so that blocks begin at their faces. Where two overlap, the first counts.
    for (k, volume) in scene.liquids.iter().enumerate() {
        let domain = domain(scene);
        let bounds = volume
            .shape
            .bounds()
            .map_or(domain, |own| own.intersection(&domain));
        let room = 0.5 * scene.particle_spacing() * (1.0 - 1e-4);
        let is_first = |x: [f64; D]| {
            let earlier = scene.liquids[..k].iter();
            volume.shape.distance(x) <= 0.0
                && scene.soft_distance(x) >= room
                && earlier
                    .map(|other| other.shape.distance(x))
                    .all(|d| d > 0.0)
        };
        fluid.fill(&bounds, &solids, &|x| is_first(x).then_some(0), &|_| {
            volume.velocity
        });
    }
    if let Some(cloth) =
        cloth(scene).map_err(|fault| Error::usage(format!("scene {}: {fault}", scene.name)))?
    {
        fluid.set_cloth(cloth);
    }
    let has_cloth = fluid.cloth().is_some();
    if fluid.particles().is_empty() && scene.emitters.is_empty() && !has_cloth {
        let message = format!(
            "scene {}: there is no room for a particle in the liquid",
            scene.name
        );
        return Err(
            Error::usage(message).with_remedy("raise --resolution, or lower particles.spacing")
        );
    }
    let world = projective_world_of(scene, fluid);
    if scene.bodies.is_empty() {
        return Ok(Box::new(world));
    }
    let bodies = scene
        .rigid_bodies()
        .map_err(|e| Error::usage(format!("scene {}: {e}", scene.name)))?;
    Ok(Box::new(world.with_bodies(bodies, setup(scene))))
}

/// Cloth, soft bodies and thin walls of a scene, if it has any.
fn cloth<const D: usize>(scene: &Scene<D>) -> Result<Option<Cloth>, String> {
    if !scene.has_sheets() {
        return Ok(None);
    }
    let sheets = scene.sheets();
    let names: Vec<String> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
    let cloth = Cloth::new(sheets, scene.particle_spacing());
    cloth
        .map(Some)
        .map_err(|(k, fault)| format!("{}: {fault}", names[k]))
}

fn projective_world_of<const D: usize>(scene: &Scene<D>, fluid: Fluid<D>) -> ProjectiveWorld<D> {
    ProjectiveWorld::new(
        fluid,
        scene.projective_sources(),
        scene.solids.clone(),
        scene.sides(),
        domain(scene),
        scene.output.attributes,
    )
}

/// Bounds of the domain.
fn domain<const D: usize>(scene: &Scene<D>) -> Bounds<D> {
    Bounds {
        low: [0.0; D],
        high: scene.domain,
    }
}

/// The rigid bodies of a scene at the start.
fn rigid_world<const D: usize>(scene: &Scene<D>) -> Result<RigidWorld<D>, String> {
    let bodies = scene.rigid_bodies().map_err(|e| e.to_string())?;
    Ok(RigidWorld::new(bodies, setup(scene)))
}

/// Setup of the bodies of a scene.
fn setup<const D: usize>(scene: &Scene<D>) -> RigidSetup<D> {
    let first = scene.solids.len();
    let removals = scene.bodies.iter().enumerate().filter_map(|(k, body)| {
        let time = scene.time_of_frame(body.remove_frame?);
        Some((first + k, time))
    });
    RigidSetup {
        listed: first + scene.bodies.len(),
        domain: domain(scene),
        max_step: scene.rigid_step(),
        removals: removals.collect(),
        forces: Vec::new(),
    }
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
