//! A scene in motion: its world, and the frame that the next step leads to.

use crate::worlds;
use meniscus_scene::Scene;
use meniscus_sim::{Phases, ProblemDump, StepFailure, StepReport, World, advance};
use meniscus_store::error::{Error, Kind};

/// The last of a frame's time that is not worth a step, as a share of the frame.
const ROUNDING: f64 = 1e-9;

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
    /// As [`worlds::initial`].
    pub fn new(scene: &'a Scene<D>) -> Result<Self, Error> {
        Ok(Simulation {
            scene,
            world: worlds::initial(scene)?,
            frame: 1,
        })
    }

    /// The scene on its way to `frame`, in a state that [`World::state`] wrote.
    ///
    /// # Errors
    /// As [`worlds::restored`].
    pub fn restored(scene: &'a Scene<D>, state: &[u8], frame: u32) -> Result<Self, String> {
        Ok(Simulation {
            scene,
            world: worlds::restored(scene, state)?,
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

    /// The problem of the first step towards `frame`.
    ///
    /// # Errors
    /// If a step on the way fails.
    pub fn problem_of_frame(mut self, frame: u32) -> Result<Box<dyn ProblemDump>, Error> {
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

    /// The problem of the next step, which this does not change.
    ///
    /// # Errors
    /// Why the problem is not well formed.
    pub fn next_problem(&mut self) -> Result<Box<dyn ProblemDump>, String> {
        let limit = self.world.step_limit(self.scene.time_of_frame(self.frame));
        self.world.problem(limit.dt).map_err(|e| e.to_string())
    }
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
