//! Everything that moves in a scene.

use std::any::Any;
use std::io::{self, Write};

use meniscus_liquid::{Phases, StepError, StepLimit};

use crate::report::{Problem, StepFailure, StepReport};
use crate::snapshot::{Layers, Snapshot};

/// Everything that moves in a scene, in two or three dimensions.
pub trait World: Send + Sync {
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

    /// Description of a step of `dt` seconds that is not tried because of `error`.
    fn refuse_step(&self, error: StepError, dt: f64) -> Box<StepFailure>;

    /// What a frame keeps: points, poses of bodies, deformed meshes.
    fn snapshot(&self, layers: Layers) -> Snapshot;

    /// The state that later steps depend on, ready to be written to a checkpoint.
    fn state(&self) -> Box<dyn SavedState + '_>;

    /// The complementarity problem of a step of `dt` seconds, for study elsewhere. Does not change the state.
    ///
    /// # Errors
    /// Why there is none.
    fn problem(&mut self, dt: f64) -> Result<Problem, StepError>;

    /// Sizes that time and memory of a step depend on.
    fn cost(&self) -> Cost;

    /// The world itself, for those who know what it is made of.
    fn as_any(&self) -> &dyn Any;
}

/// A state that can be written more than once, for example to a hasher and then to a file.
pub trait SavedState: Sync {
    /// Length in bytes.
    fn len(&self) -> usize;

    /// False: there is always something to write.
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
