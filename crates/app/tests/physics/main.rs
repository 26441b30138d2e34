//! Physical properties of the built-in scenes.

mod cup;
mod solvers;
mod sticking;
mod volume;

use meniscus_app::runner::Simulation;
use meniscus_liquid::{Liquid, Walls};
use meniscus_scene::{AnyScene, Scene, builtin};
use meniscus_sim::{LiquidWorld, StepReport};

/// Scene of a dimension known to the test.
trait Known: Sized {
    fn from_any(scene: AnyScene) -> Option<Self>;
}

impl Known for Scene<2> {
    fn from_any(scene: AnyScene) -> Option<Self> {
        if let AnyScene::Two(scene) = scene {
            Some(scene)
        } else {
            None
        }
    }
}

impl Known for Scene<3> {
    fn from_any(scene: AnyScene) -> Option<Self> {
        if let AnyScene::Three(scene) = scene {
            Some(scene)
        } else {
            None
        }
    }
}

/// Built-in scene with the given walls.
fn scene<const D: usize>(name: &str, walls: Walls) -> Scene<D>
where
    Scene<D>: Known,
{
    let any = builtin::named(name).expect("a built-in scene");
    let mut scene = Scene::<D>::from_any(any).expect("a scene of this dimension");
    scene.physics.walls = walls;
    scene
}

/// The liquid of a simulation.
fn liquid_of<'a, const D: usize>(simulation: &'a Simulation<D>) -> &'a Liquid<D> {
    let world = LiquidWorld::of(simulation.world());
    world.expect("a world of liquid").liquid()
}

/// Advances to `frame` and calls back for every step and every frame.
fn play<const D: usize>(
    scene: &Scene<D>,
    frame: u32,
    mut each_step: impl FnMut(&StepReport),
    mut each_frame: impl FnMut(u32, &Simulation<D>),
) {
    let mut simulation = Simulation::new(scene).expect("a scene that makes sense");
    while simulation.frame() <= frame {
        let step = match simulation.step(&mut ()) {
            Ok(step) => step,
            Err(failure) => panic!(
                "{} on the way to frame {}: {failure}",
                scene.name,
                simulation.frame()
            ),
        };
        each_step(&step.report);
        if step.completes_frame {
            each_frame(step.frame, &simulation);
        }
    }
}
