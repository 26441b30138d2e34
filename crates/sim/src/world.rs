//! Everything that moves in a scene.

use std::any::Any;
use std::io::{self, Write};

use crate::problem::ProblemDump;
use crate::report::{StepError, StepFailure, StepReport};
use crate::snapshot::{BodyState, Layers, Snapshot};

/// Everything that moves in a scene, in two or three dimensions.
///
/// Runner, files, viewer and statistics know nothing but this trait. Code that studies one material can get at the world
/// itself by way of [`Any`], as [`LiquidWorld::of`](crate::LiquidWorld::of) does.
pub trait World: Any + Send + Sync {
    /// Number of dimensions: 2 or 3.
    fn dimension(&self) -> usize;

    /// Seconds since the start.
    fn time(&self) -> f64;

    /// Longest step that accuracy allows on the way to the time `until`, and what limits it.
    fn step_limit(&self, until: f64) -> StepLimit;

    /// One step of `dt` seconds.
    ///
    /// # Errors
    /// Why it failed. Every byte of the state is then as it was, and a shorter step may succeed.
    fn try_step(
        &mut self,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure>>;

    /// State at this instant as frames keep it: points, poses of bodies, deformed meshes.
    fn snapshot(&self, layers: Layers) -> Snapshot;

    /// Poses and velocities of all bodies, as in [`World::snapshot`].
    fn bodies(&self) -> Vec<BodyState>;

    /// The state that later steps depend on, ready to be written to a checkpoint.
    fn state(&self) -> Box<dyn SavedState + '_>;

    /// Sets the external force, in N, and torque, in N m, on a rigid body in all further steps. They are not part of the state.
    ///
    /// # Errors
    /// If there is no such body, or forces do not move it.
    fn set_force(&mut self, body: &str, _force: &[f64], _torque: [f64; 3]) -> Result<(), String> {
        Err(format!("there is no rigid body {body:?}"))
    }

    /// The problem of a step of `dt` seconds, for study elsewhere. Does not change the state.
    ///
    /// # Errors
    /// Why there is none.
    fn problem(&mut self, dt: f64) -> Result<Box<dyn ProblemDump>, StepError>;

    /// Sizes that time and memory of a step depend on.
    fn cost(&self) -> Cost;
}

/// Longest step, and what limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLimit {
    /// Length in seconds.
    pub dt: f64,
    /// Longest step that is allowed at any speed.
    pub longest: f64,
    /// Largest expected speed; not finite if that of a particle or body is not.
    pub speed: f64,
}

/// Progress callback: called when the phases of a step begin, for example to time them.
pub trait Phases {
    /// The phase before, if any, has ended. The name is empty when the step is over.
    fn begin(&mut self, phase: &'static str);
}

impl Phases for () {
    fn begin(&mut self, _phase: &'static str) {}
}

/// A state that can be written more than once, for example to a hasher and then to a file.
pub trait SavedState: Sync {
    /// Length in bytes.
    fn len(&self) -> usize;

    /// Whether there is nothing to write.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of `out`.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Sizes that time and memory of a step depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Particles of all materials.
    pub points: usize,
    /// Unknowns of the last solve.
    pub unknowns: usize,
    /// Solids.
    pub bodies: usize,
}
