//! What surfaces are made from.

use std::fmt;
use std::str::FromStr;

/// What a surface is made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The particles, by splashsurf: a density that every particle adds to.
    Particles,
    /// The level set of the simulation, rebuilt from the particles, and their local shape where they are too thin for it.
    #[default]
    LevelSet,
}

impl Source {
    /// All words for it.
    pub const WORDS: &'static [&'static str] = &["particles", "level-set"];
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Particles => "particles",
            Source::LevelSet => "level-set",
        })
    }
}

impl FromStr for Source {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "particles" => Ok(Source::Particles),
            "level-set" => Ok(Source::LevelSet),
            _ => Err(format!("{word:?} is none of: {}", Self::WORDS.join(", "))),
        }
    }
}
