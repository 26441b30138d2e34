//! A simulation that a program steers: between its steps, forces on bodies are set and keys of the scene are changed. All of
//! it is logged, and what a log has left is done again after the same steps.

use super::scene_summary;
use super::simulation::{Simulation, Step};
use meniscus_scene::text::Override;
use meniscus_scene::{AnyScene, Scene};
use meniscus_sim::{Phases, StepFailure};
use meniscus_store::action_log::{Action, ActionLog, What};
use meniscus_store::error::Error;
use std::ops::Deref;
use std::sync::Arc;

/// The scene of the start with some of its keys changed.
pub type Reload = Arc<dyn Fn(&[Override]) -> Result<AnyScene, Error> + Send + Sync>;

/// A simulation, its actions and the number of its steps.
pub struct Steered<'a, const D: usize> {
    simulation: Simulation<'a, D>,
    log: ActionLog,
    steps: u64,
    reload: Reload,
}

impl<'a, const D: usize> Steered<'a, D> {
    /// A simulation after so many steps, in which the actions of the log before them were carried out.
    ///
    /// # Errors
    /// If a force can't act.
    pub fn new(
        simulation: Simulation<'a, D>,
        log: ActionLog,
        steps: u64,
        reload: Reload,
    ) -> Result<Self, Error> {
        let mut steered = Steered {
            simulation,
            log,
            steps,
            reload,
        };
        steered.set_forces()?;
        Ok(steered)
    }

    /// Number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Actions so far, and those that are left to be repeated.
    pub fn log(&self) -> &ActionLog {
        &self.log
    }

    /// Carries out the actions of the log that come before the next step.
    ///
    /// # Errors
    /// If one can't be carried out.
    pub fn repeat_due(&mut self) -> Result<(), Error> {
        while let Some(action) = self.log.next_due(self.steps) {
            match &action.what {
                What::Push {
                    push,
                    force,
                    torque,
                } => self.simulation.set_force(push, force, *torque)?,
                What::Set { set, .. } => {
                    let changes = overrides(self.log.done());
                    self.replace_scene((self.reload)(&changes)?, set)?;
                }
            }
        }
        Ok(())
    }

    /// One step.
    pub fn step(&mut self, phases: &mut dyn Phases) -> Result<Step, Box<StepFailure>> {
        let step = self.simulation.step(phases)?;
        self.steps += 1;
        Ok(step)
    }

    /// Sets the external force, in N, and torque, in N m, on a rigid body in all further steps.
    ///
    /// # Errors
    /// If there is no such body, or forces do not move it, or the log can't be written.
    pub fn push(&mut self, push: String, force: Vec<f64>, torque: [f64; 3]) -> Result<(), Error> {
        self.simulation.set_force(&push, &force, torque)?;
        self.record(What::Push {
            push,
            force,
            torque,
        })
    }

    /// Continues with another scene, which differs from this one in a key.
    ///
    /// # Errors
    /// If the state does not fit it, or the log can't be written.
    pub fn change(&mut self, scene: AnyScene, set: String, value: String) -> Result<(), Error> {
        self.replace_scene(scene, &set)?;
        self.record(What::Set { set, value })
    }

    fn record(&mut self, what: What) -> Result<(), Error> {
        let step = self.steps;
        self.log.record(Action { step, what })
    }

    fn replace_scene(&mut self, scene: AnyScene, key: &str) -> Result<(), Error> {
        let fixed = |key: &str| Error::usage(format!("{key} can't change during a simulation"));
        let scene: Scene<D> = scene.of_dimension().ok_or_else(|| fixed(key))?;
        let own = scene_summary::fixed(self.simulation.scene());
        if !own.changed(&scene_summary::fixed(&scene)).is_empty() {
            return Err(fixed(key));
        }
        self.simulation.change(scene)?;
        self.set_forces()
    }

    /// Sets the last force on every body: forces are not part of a state.
    fn set_forces(&mut self) -> Result<(), Error> {
        let mut set: Vec<&str> = Vec::new();
        for action in self.log.done().iter().rev() {
            if let What::Push {
                push,
                force,
                torque,
            } = &action.what
                && !set.contains(&push.as_str())
            {
                set.push(push);
                self.simulation.set_force(push, force, *torque)?;
            }
        }
        Ok(())
    }
}

impl<'a, const D: usize> Deref for Steered<'a, D> {
    type Target = Simulation<'a, D>;

    fn deref(&self) -> &Simulation<'a, D> {
        &self.simulation
    }
}

/// The changes of keys among actions.
pub fn overrides(actions: &[Action]) -> Vec<Override> {
    let change = |action: &Action| match &action.what {
        What::Set { set, value } => Some(Override {
            typed: format!("set {set}={value}"),
            path: set.clone(),
            value: value.clone(),
        }),
        What::Push { .. } => None,
    };
    actions.iter().filter_map(change).collect()
}
