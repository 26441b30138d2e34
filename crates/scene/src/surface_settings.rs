//! Settings of surface reconstruction.

use meniscus_store::error::Error;
use std::fmt;
use std::str::FromStr;

/// What a surface is made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SurfaceSource {
    /// The particles, by splashsurf: a density that every particle adds to.
    Particles,
    /// The level set of the simulation, rebuilt from the particles, and their local shape where they are too thin for it.
    #[default]
    LevelSet,
}

impl SurfaceSource {
    /// All words for it.
    pub const WORDS: &'static [&'static str] = &["particles", "level-set"];
}

impl fmt::Display for SurfaceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SurfaceSource::Particles => "particles",
            SurfaceSource::LevelSet => "level-set",
        })
    }
}

impl FromStr for SurfaceSource {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "particles" => Ok(SurfaceSource::Particles),
            "level-set" => Ok(SurfaceSource::LevelSet),
            _ => Err(format!("{word:?} is none of: {}", Self::WORDS.join(", "))),
        }
    }
}

/// How a surface is made. Two frames with the same particles and the same settings have the same surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceSettings {
    /// What it is made from.
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

    /// Whether the numbers can be meant.
    ///
    /// # Errors
    /// In words, for the command line.
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
