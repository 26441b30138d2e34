//! A scene in motion: its world, and the frame that the next step leads to.

use crate::worlds;
use meniscus_scene::Scene;
use meniscus_sim::{Phases, ProblemDump, StepFailure, StepReport, World, advance};
use meniscus_store::error::{Error, Kind};
use std::ops::Deref;
use std::sync::Arc;

/// The last of a frame's time that is not worth a step, as a share of the frame.
const ROUNDING: f64 = 1e-9;

/// A scene that belongs to the caller, or that is shared with it.
#[derive(Debug)]
pub enum HeldScene<'a, const D: usize> {
    /// The caller's.
    Borrowed(&'a Scene<D>),
    /// Shared.
    Shared(Arc<Scene<D>>),
}

impl<const D: usize> Clone for HeldScene<'_, D> {
    fn clone(&self) -> Self {
        match self {
            HeldScene::Borrowed(scene) => HeldScene::Borrowed(scene),
            HeldScene::Shared(scene) => HeldScene::Shared(Arc::clone(scene)),
        }
    }
}

impl<const D: usize> Deref for HeldScene<'_, D> {
    type Target = Scene<D>;

    fn deref(&self) -> &Scene<D> {
        match self {
            HeldScene::Borrowed(scene) => scene,
            HeldScene::Shared(scene) => scene,
        }
    }
}

/// The world of a scene on its way through the frames.
pub struct Simulation<'a, const D: usize> {
    scene: HeldScene<'a, D>,
    world: Box<dyn World>,
    frame: u32,
}

impl<'a, const D: usize> Simulation<'a, D> {
    /// The scene at its start, on the way to frame 1.
    ///
    /// # Errors
    /// As [`worlds::initial`].
    pub fn new(scene: &'a Scene<D>) -> Result<Self, Error> {
        Simulation::of(HeldScene::Borrowed(scene))
    }

    /// As [`Simulation::new`], of a scene that may be shared.
    ///
    /// # Errors
    /// As [`worlds::initial`].
    pub fn of(scene: HeldScene<'a, D>) -> Result<Self, Error> {
        Ok(Simulation {
            world: worlds::initial(&scene)?,
            scene,
            frame: 1,
        })
    }

    /// The scene on its way to `frame`, in a state that [`World::state`] wrote.
    ///
    /// # Errors
    /// As [`worlds::restored`].
    pub fn restored(scene: &'a Scene<D>, state: &[u8], frame: u32) -> Result<Self, String> {
        Simulation::restored_of(HeldScene::Borrowed(scene), state, frame)
    }

    /// As [`Simulation::restored`], of a scene that may be shared.
    ///
    /// # Errors
    /// As [`worlds::restored`].
    pub fn restored_of(scene: HeldScene<'a, D>, state: &[u8], frame: u32) -> Result<Self, String> {
        Ok(Simulation {
            world: worlds::restored(&scene, state)?,
            scene,
            frame,
        })
    }

    /// The scene.
    pub fn scene(&self) -> &Scene<D> {
        &self.scene
    }

    /// Continues with another scene, which differs in settings only. External forces on bodies end.
    ///
    /// # Errors
    /// If the state does not fit the other scene; nothing is changed then.
    pub fn change(&mut self, scene: Scene<D>) -> Result<(), Error> {
        let state = self.world.state();
        let mut bytes = Vec::with_capacity(state.len());
        let failed = |e| Error::new(Kind::Resources, format!("could not copy the state: {e}"));
        state.write(&mut bytes).map_err(failed)?;
        drop(state);
        let unfit = |why| Error::usage(format!("the state does not fit the scene: {why}"));
        self.world = worlds::restored(&scene, &bytes).map_err(unfit)?;
        self.scene = HeldScene::Shared(Arc::new(scene));
        Ok(())
    }

    /// Sets the external force, in N, and torque, in N m, on a rigid body in all further steps.
    ///
    /// # Errors
    /// As [`World::set_force`].
    pub fn set_force(&mut self, body: &str, force: &[f64], torque: [f64; 3]) -> Result<(), Error> {
        (self.world.set_force(body, force, torque)).map_err(Error::usage)
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
