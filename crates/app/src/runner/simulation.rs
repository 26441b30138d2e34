//! A scene in motion: its liquid, its solids, and the frame it is on the way to.

use meniscus_liquid::{Liquid, Phases, PressureProblem, StepFailure, StepReport};
use meniscus_scene::{Scene, measure};
use meniscus_shapes::Scenery;
use meniscus_store::error::{Error, Kind};

/// The last of a frame's time that is not worth a step, as a share of the frame.
const ROUNDING: f64 = 1e-9;

/// Liquid of more cells than this, by a coarse measure, has particles.
const CERTAIN_CELLS: f64 = 1000.0;

/// A liquid on its way through the frames of a scene.
pub struct Simulation<'a, const D: usize> {
    scene: &'a Scene<D>,
    scenery: Scenery<D>,
    liquid: Liquid<D>,
    frame: u32,
}

impl<'a, const D: usize> Simulation<'a, D> {
    /// The scene at its start, on the way to frame 1.
    ///
    /// # Errors
    /// If the scene does not make sense, or no liquid is in it and none will be.
    pub fn new(scene: &'a Scene<D>) -> Result<Self, Error> {
        scene.check()?;
        let scenery = scene.scenery();
        let mut liquid =
            Liquid::new(scene.settings()).map_err(|fault| Error::usage(fault.to_string()))?;
        liquid.fill(
            &|x| scene.liquid_distance(x),
            &|x| scene.liquid_velocity(x),
            &scenery,
        );
        liquid.set_ports(scene.ports());
        if liquid.particles().is_empty() && scene.emitters.is_empty() {
            return Err(no_liquid(scene));
        }
        Ok(Simulation {
            scene,
            scenery,
            liquid,
            frame: 1,
        })
    }

    /// The scene on its way to `frame`, with a liquid whose state was written by [`meniscus_liquid::State::write`].
    ///
    /// # Errors
    /// What is wrong with the state, in words that complete "is damaged".
    pub fn restored(scene: &'a Scene<D>, liquid: &[u8], frame: u32) -> Result<Self, String> {
        let mut liquid = Liquid::restore(scene.settings(), liquid).map_err(|e| e.to_string())?;
        liquid.set_ports(scene.ports());
        Ok(Simulation {
            scene,
            scenery: scene.scenery(),
            liquid,
            frame,
        })
    }

    /// The frame that the next step leads to.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// The liquid.
    pub fn liquid(&self) -> &Liquid<D> {
        &self.liquid
    }

    /// The solids, walls of the domain included.
    pub fn scenery(&self) -> &Scenery<D> {
        &self.scenery
    }

    /// Volume of the liquid now.
    pub fn volume(&mut self) -> f64 {
        self.liquid.volume(&self.scenery)
    }

    /// One step. If it completes a frame, the next step leads to the next one.
    pub fn step(&mut self, phases: &mut dyn Phases) -> Result<Step, Box<StepFailure<D>>> {
        let frame = self.frame;
        let left = self.time_left();
        let report = self.liquid.advance(&self.scenery, left, phases)?;
        let completes_frame = self.time_left() <= ROUNDING / self.scene.frame_rate;
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
        let left = self.time_left();
        let limit = self.liquid.step_limit(&self.scenery, left);
        self.liquid
            .pressure_problem(&self.scenery, limit.dt)
            .map_err(|error| error.to_string())
    }

    /// Time until the frame that the next step leads to.
    fn time_left(&self) -> f64 {
        self.scene.time_of_frame(self.frame) - self.liquid.time()
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
    /// What the liquid says of it.
    pub report: StepReport,
    /// Whether that frame is reached.
    pub completes_frame: bool,
}
