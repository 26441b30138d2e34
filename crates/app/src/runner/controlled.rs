//! Simulations under the control of a program, step by step, in either dimension: in memory, or as a run that writes its
//! folder.

use super::progress::Progress;
use super::run_loop::Runner;
use super::simulation::{HeldScene, Simulation};
use super::steered::{Reload, Steered};
use super::{Options, StepLine, estimate, start};
use meniscus_scene::{AnyScene, Scene};
use meniscus_sim::World;
use meniscus_store::action_log::{Action, ActionLog};
use meniscus_store::error::{Error, Kind};
use meniscus_store::lock::Lock;
use std::sync::Arc;

/// A simulation under the control of a program.
pub trait Controlled: Send {
    /// One step: its statistics, and whether it completes a frame. Actions that are due are repeated before it.
    ///
    /// # Errors
    /// If it fails; a run that writes its folder can't go on then.
    fn step(&mut self) -> Result<(StepLine, bool), Error>;

    /// Sets the external force, in N, and torque, in N m, on a rigid body in all further steps.
    ///
    /// # Errors
    /// If there is no such body, or forces do not move it, or the log can't be written.
    fn push(&mut self, body: String, force: Vec<f64>, torque: [f64; 3]) -> Result<(), Error>;

    /// Continues with another scene, which differs from this one in a key.
    ///
    /// # Errors
    /// If the state does not fit it, or the log can't be written.
    fn change(&mut self, scene: AnyScene, key: String, value: String) -> Result<(), Error>;

    /// The scene as it is now.
    fn scene(&self) -> AnyScene;

    /// Everything that moves.
    fn world(&self) -> &dyn World;

    /// Frame that the next step leads to.
    fn next_frame(&self) -> u32;

    /// Number of steps so far.
    fn steps(&self) -> u64;

    /// Number of steps since the last complete frame.
    fn steps_of_frame(&self) -> u32;

    /// Actions so far, and those that are left to be repeated.
    fn log(&self) -> &ActionLog;

    /// Ends it. A run that has frames left can be resumed.
    ///
    /// # Errors
    /// If its files can't be written.
    fn close(self: Box<Self>) -> Result<(), Error>;
}

/// A simulation that writes nothing, with actions to be repeated.
///
/// # Errors
/// If the scene can't be simulated.
pub fn control(
    scene: &AnyScene,
    repeated: Vec<Action>,
    reload: Reload,
) -> Result<Box<dyn Controlled>, Error> {
    fn boxed<const D: usize>(
        scene: &Scene<D>,
        repeated: Vec<Action>,
        reload: Reload,
    ) -> Result<Box<dyn Controlled>, Error> {
        let simulation = Simulation::of(shared(scene))?;
        let log = ActionLog::in_memory(repeated)?;
        Ok(Box::new(InMemory {
            steered: Steered::new(simulation, log, 0, reload)?,
            steps_of_frame: 0,
        }))
    }
    estimate::check_any(scene, None)?;
    match scene {
        AnyScene::Two(scene) => boxed(scene, repeated, reload),
        AnyScene::Three(scene) => boxed(scene, repeated, reload),
    }
}

/// A run that writes its folder, or goes on with one that ended early. Its preview is drawn in the end.
///
/// # Errors
/// As [`super::run`] before the first step.
pub fn record(
    scene: &AnyScene,
    options: &Options<'_>,
    repeated: Vec<Action>,
    progress: &mut (dyn Progress + Send),
) -> Result<Box<dyn Controlled>, Error> {
    fn boxed<const D: usize>(
        scene: &Scene<D>,
        options: &Options<'_>,
        repeated: Vec<Action>,
        progress: &mut (dyn Progress + Send),
    ) -> Result<Box<dyn Controlled>, Error> {
        let (runner, lock) = start::controlled(shared(scene), options, repeated, progress)?;
        Ok(Box::new(Recorded {
            runner,
            failure: None,
            _lock: lock,
        }))
    }
    match scene {
        AnyScene::Two(scene) => boxed(scene, options, repeated, progress),
        AnyScene::Three(scene) => boxed(scene, options, repeated, progress),
    }
}

fn shared<const D: usize>(scene: &Scene<D>) -> HeldScene<'static, D> {
    HeldScene::Shared(Arc::new(scene.clone()))
}

/// A simulation that writes nothing.
struct InMemory<const D: usize> {
    steered: Steered<'static, D>,
    steps_of_frame: u32,
}

impl<const D: usize> Controlled for InMemory<D> {
    fn step(&mut self) -> Result<(StepLine, bool), Error> {
        self.steered.repeat_due()?;
        let frame = self.steered.frame();
        let step = self.steered.step(&mut ()).map_err(|failure| {
            Error::new(Kind::Numerical, format!("frame {frame} failed: {failure}"))
        })?;
        self.steps_of_frame = match step.completes_frame {
            true => 0,
            false => self.steps_of_frame + 1,
        };
        Ok((StepLine::new(frame, &step.report), step.completes_frame))
    }

    fn push(&mut self, body: String, force: Vec<f64>, torque: [f64; 3]) -> Result<(), Error> {
        self.steered.push(body, force, torque)
    }

    fn change(&mut self, scene: AnyScene, key: String, value: String) -> Result<(), Error> {
        self.steered.change(scene, key, value)
    }

    fn scene(&self) -> AnyScene {
        AnyScene::of(self.steered.scene())
    }

    fn world(&self) -> &dyn World {
        self.steered.world()
    }

    fn next_frame(&self) -> u32 {
        self.steered.frame()
    }

    fn steps(&self) -> u64 {
        self.steered.steps()
    }

    fn steps_of_frame(&self) -> u32 {
        self.steps_of_frame
    }

    fn log(&self) -> &ActionLog {
        self.steered.log()
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

/// A run that writes its folder.
struct Recorded<const D: usize> {
    runner: Runner<'static, D>,
    failure: Option<Error>,
    _lock: Lock,
}

impl<const D: usize> Controlled for Recorded<D> {
    fn step(&mut self) -> Result<(StepLine, bool), Error> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let step = self.runner.step(&mut ());
        self.failure = step.as_ref().err().cloned();
        step
    }

    fn push(&mut self, body: String, force: Vec<f64>, torque: [f64; 3]) -> Result<(), Error> {
        self.runner.steered_mut().push(body, force, torque)
    }

    fn change(&mut self, scene: AnyScene, key: String, value: String) -> Result<(), Error> {
        self.runner.steered_mut().change(scene, key, value)
    }

    fn scene(&self) -> AnyScene {
        AnyScene::of(self.runner.steered().scene())
    }

    fn world(&self) -> &dyn World {
        self.runner.steered().world()
    }

    fn next_frame(&self) -> u32 {
        self.runner.steered().frame()
    }

    fn steps(&self) -> u64 {
        self.runner.steered().steps()
    }

    fn steps_of_frame(&self) -> u32 {
        self.runner.steps_of_frame()
    }

    fn log(&self) -> &ActionLog {
        self.runner.steered().log()
    }

    fn close(mut self: Box<Self>) -> Result<(), Error> {
        let end = match self.failure.take() {
            Some(failure) => Err(failure),
            None if self.runner.is_complete() => Ok(()),
            None => Err(self.runner.stopped()?),
        };
        let failed = end.is_err();
        match self.runner.close(end) {
            // What failed was reported when it did.
            Err(_) if failed => Ok(()),
            other => other.map(|_| ()),
        }
    }
}
