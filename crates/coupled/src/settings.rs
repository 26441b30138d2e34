//! Settings of a coupled simulation.

use std::fmt;

/// Settings of the coupling of liquid and bodies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Whether the inertia of bodies is corrected for the place of their surfaces within cells. Default: true.
    pub mass_correction: bool,
    /// Pull in Pa that each body's surface bears before liquid separates from it, by the indices of bodies; infinite if it
    /// never does. Bodies beyond the end of the list, and negative numbers: as the walls of the liquid, zero if they separate
    /// and infinite if they do not. Finite numbers need a liquid whose walls separate.
    pub adhesion: Vec<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mass_correction: true,
            adhesion: Vec::new(),
        }
    }
}

/// A setting out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// Name of the setting.
    pub name: &'static str,
    /// Requirement that it does not meet.
    pub must: &'static str,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "coupling.{} must be {}", self.name, self.must)
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Checks that all values are in range.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let rules = [(
            "adhesion",
            self.adhesion.iter().all(|adhesion| !adhesion.is_nan()),
            "a number",
        )];
        match rules.into_iter().find(|rule| !rule.1) {
            Some((name, _, must)) => Err(SettingsError { name, must }),
            None => Ok(()),
        }
    }

    /// Pull in Pa that a body's surface bears, `default` unless it has its own.
    pub(crate) fn adhesion(&self, body: usize, default: f64) -> f64 {
        match self.adhesion.get(body) {
            Some(&own) if own >= 0.0 => own,
            _ => default,
        }
    }
}
