//! What must hold in the built-in scenes, whatever the numbers inside.

mod cup;
mod solvers;
mod sticking;
mod volume;

use meniscus_app::runner::Simulation;
use meniscus_liquid::{Liquid, Walls};
use meniscus_scene::{AnyScene, Scene, builtin};
use meniscus_sim::{LiquidWorld, StepReport};

/// A scene whose dimension the test knows.
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

/// A built-in scene with the walls asked for.
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

/// Steps until `frame` is reached, showing every step and every frame.
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
