//! A scene in motion: its world, and the frame that the next step leads to.

use meniscus_liquid::{Distance, Liquid, PressureProblem};
use meniscus_scene::{Scene, measure};
use meniscus_shapes::Solids;
use meniscus_sim::{LiquidWorld, Phases, StepFailure, StepReport, World, advance};
use meniscus_store::error::{Error, Kind};

/// The last of a frame's time that is not worth a step, as a share of the frame.
const ROUNDING: f64 = 1e-9;

/// Liquid of more cells than this, by a coarse measure, has particles.
const CERTAIN_CELLS: f64 = 1000.0;

/// The world of a scene on its way through the frames.
pub struct Simulation<'a, const D: usize> {
    scene: &'a Scene<D>,
    world: Box<dyn World>,
    frame: u32,
}

impl<'a, const D: usize> Simulation<'a, D> {
    /// The scene at its start, on the way to frame 1.
    ///
    /// # Errors
    /// If the scene does not make sense, or no liquid is in it and none will be.
    pub fn new(scene: &'a Scene<D>) -> Result<Self, Error> {
        scene.check()?;
        let solids = scene.solids_and_walls();
        let mut liquid =
            Liquid::new(scene.settings()).map_err(|fault| Error::usage(fault.to_string()))?;
        liquid.fill(
            &|x| scene.liquid_distance(x),
            &|x| scene.liquid_velocity(x),
            &solids,
        );
        liquid.set_sources(scene.ports());
        if liquid.particles().is_empty() && scene.emitters.is_empty() {
            return Err(no_liquid(scene));
        }
        Ok(Simulation {
            scene,
            world: Box::new(LiquidWorld::new(liquid, solids)),
            frame: 1,
        })
    }

    /// The scene on its way to `frame`, with a liquid whose state was written by [`meniscus_liquid::State::write`].
    ///
    /// # Errors
    /// What is wrong with the state, in words that complete "is damaged".
    pub fn restored(scene: &'a Scene<D>, liquid: &[u8], frame: u32) -> Result<Self, String> {
        let mut liquid = Liquid::restore(scene.settings(), liquid).map_err(|e| e.to_string())?;
        liquid.set_sources(scene.ports());
        Ok(Simulation {
            scene,
            world: Box::new(LiquidWorld::new(liquid, scene.solids_and_walls())),
            frame,
        })
    }

    /// The frame that the next step leads to.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// Everything that moves.
    pub fn world(&self) -> &dyn World {
        &*self.world
    }

    fn liquid_world(&self) -> &LiquidWorld<D> {
        let world = self.world.as_any().downcast_ref();
        world.expect("a scene has a liquid")
    }

    /// The liquid.
    pub fn liquid(&self) -> &Liquid<D> {
        self.liquid_world().liquid()
    }

    /// The solids, walls of the domain included.
    pub fn solids(&self) -> &Solids<D> {
        self.liquid_world().solids()
    }

    /// Volume of the liquid now.
    ///
    /// # Errors
    /// If the settings of the scene are out of range.
    pub fn volume(&self) -> Result<f64, Error> {
        let (settings, positions) = (self.scene.settings(), &self.liquid().particles().position);
        Distance::of_particles(settings, positions, self.solids(), self.world.time())
            .map(|distance| distance.volume())
            .map_err(|fault| Error::usage(fault.to_string()))
    }

    /// One step. If it completes a frame, the next step leads to the next one.
    pub fn step(&mut self, phases: &mut dyn Phases) -> Result<Step, Box<StepFailure>> {
        let frame = self.frame;
        let until = self.scene.time_of_frame(frame);
        let report = advance(&mut *self.world, until, phases)?;
        let completes_frame = until - self.world.time() <= ROUNDING / self.scene.frame_rate;
        if completes_frame {
            self.frame += 1;
        }
        Ok(Step {
            frame,
            report,
            completes_frame,
        })
    }

    /// The pressure problem of the first step towards `frame`.
    ///
    /// # Errors
    /// If a step on the way fails.
    pub fn problem_of_frame(mut self, frame: u32) -> Result<PressureProblem<D>, Error> {
        let failed = |why: String| {
            Error::new(
                Kind::Numerical,
                format!("the run failed before frame {frame}: {why}"),
            )
        };
        while self.frame < frame {
            self.step(&mut ())
                .map_err(|failure| failed(failure.to_string()))?;
        }
        self.next_problem().map_err(failed)
    }

    /// The pressure problem of the next step. The step itself is still to come, and is none the different for it.
    ///
    /// # Errors
    /// Why the problem is not well formed.
    pub fn next_problem(&mut self) -> Result<PressureProblem<D>, String> {
        let limit = self.world.step_limit(self.scene.time_of_frame(self.frame));
        let problem = self.world.problem(limit.dt).map_err(|e| e.to_string())?;
        problem
            .of_dimension()
            .ok_or_else(|| "it has another dimension".into())
    }
}

/// The error for a scene in which no particle finds room.
fn no_liquid<const D: usize>(scene: &Scene<D>) -> Error {
    Error::usage(format!(
        "scene {}: there is no liquid outside of solids at {} cells",
        scene.name, scene.resolution
    ))
    .with_remedy("make room for it, or raise --resolution")
}

/// Makes sure that a simulation of the scene would begin with liquid or get some.
///
/// # Errors
/// As [`Simulation::new`].
pub fn has_liquid<const D: usize>(scene: &Scene<D>) -> Result<(), Error> {
    let cell = scene.dx().powi(D as i32);
    // Only where a coarse look finds next to nothing are particles seeded to be certain, and those are few.
    if !scene.emitters.is_empty() || measure::liquid_volume(scene) > CERTAIN_CELLS * cell {
        return Ok(());
    }
    Simulation::new(scene).map(|_| ())
}

/// A step that succeeded.
#[derive(Clone, Debug)]
pub struct Step {
    /// The frame that it led to.
    pub frame: u32,
    /// Report of the step.
    pub report: StepReport,
    /// Whether that frame is reached.
    pub completes_frame: bool,
}
