//! What surfaces are made from.

use std::fmt;
use std::str::FromStr;

/// What a surface is made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The particles, by splashsurf: a density that every particle adds to. Shows every drop, costs more.
    Particles,
    /// The distance that the simulation itself works with, rebuilt from the particles. Its volume is that of the run.
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
