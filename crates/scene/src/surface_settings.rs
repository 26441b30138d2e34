//! Settings of surface reconstruction.

use crate::words::words;
use meniscus_store::error::Error;

/// Method of surface reconstruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SurfaceSource {
    /// The particles, by splashsurf: a density that every particle adds to.
    Particles,
    /// The level set of the simulation, rebuilt from the particles, and their local shape where they are too thin for it.
    #[default]
    LevelSet,
}

words!(SurfaceSource, "particles" => Particles, "level-set" => LevelSet);

/// Settings of surface reconstruction. Two frames with the same particles and the same settings have the same surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceSettings {
    /// Method.
    pub source: SurfaceSource,
    /// Points of the lattice along a cell of the simulation in thick liquid; twice as many in thin liquid.
    pub resolution: u32,
    /// Passes of Taubin smoothing; thin features are left as they are.
    pub smoothing: u32,
}

impl Default for SurfaceSettings {
    fn default() -> Self {
        SurfaceSettings {
            source: SurfaceSource::LevelSet,
            resolution: 2,
            smoothing: 4,
        }
    }
}

impl SurfaceSettings {
    /// More points along a cell than this show the particles, not the liquid.
    pub const FINEST: u32 = 8;
    /// More passes than this change nothing that can be seen.
    pub const SMOOTHEST: u32 = 100;

    /// Checks that all values are in range.
    ///
    /// # Errors
    /// Which flag of the command line is out of range.
    pub fn check(&self) -> Result<(), Error> {
        if !(1..=Self::FINEST).contains(&self.resolution) {
            return Err(Error::usage(format!(
                "--resolution must be from 1 to {}: it counts points along a cell of the simulation",
                Self::FINEST
            )));
        }
        if self.smoothing > Self::SMOOTHEST {
            return Err(Error::usage(format!(
                "--smoothing must be from 0 to {}",
                Self::SMOOTHEST
            )));
        }
        Ok(())
    }
}
