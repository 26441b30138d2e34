//! Settings of a coupled simulation.

use std::fmt;

use crate::schemes::{Method, Scheme};

/// Settings of the coupling of liquid and bodies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Order in which pressure and contact are solved. Default: at once.
    pub scheme: Scheme,
    /// Method for the unified problem. Default: multigrid.
    pub method: Method,
    /// Limit on rounds of [`Scheme::Iterative`], and of friction in [`Method::SorMprgp`]. Default: 20.
    pub rounds: usize,
    /// Limit on iterations of [`Method::SorMprgp`] in each of its solves. Default: 2000.
    pub max_iterations: usize,
    /// Relaxation of the sweeps of [`Method::SorMprgp`], between 0 and 2. Default: 1.
    pub relaxation: f64,
    /// Share of their diagonal that [`Method::SorMprgp`] adds to rows of contacts. The paper has 1e-4, which makes
    /// velocities wrong by up to 2e-3. Default: 1e-9.
    pub diagonal_scale: f64,
    /// Share of an overlap of bodies that their velocities correct in a step. Zero: positions are corrected apart, which pumps
    /// no liquid. Default: 0.
    pub baumgarte: f64,
    /// Depth of overlap in cells up to which [`baumgarte`](Self::baumgarte) leaves bodies alone. The paper has 0.1.
    /// Default: 0.
    pub margin: f64,
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
            scheme: Scheme::Unified,
            method: Method::Multigrid,
            rounds: 20,
            max_iterations: 2000,
            relaxation: 1.0,
            diagonal_scale: 1e-9,
            baumgarte: 0.0,
            margin: 0.0,
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
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let rules = [
            ("rounds", self.rounds > 0, "at least 1"),
            ("max_iterations", self.max_iterations > 0, "at least 1"),
            (
                "relaxation",
                self.relaxation > 0.0 && self.relaxation < 2.0,
                "between 0 and 2",
            ),
            ("diagonal_scale", share(self.diagonal_scale), "from 0 to 1"),
            ("baumgarte", share(self.baumgarte), "from 0 to 1"),
            ("margin", share(self.margin), "from 0 to 1"),
            (
                "adhesion",
                self.adhesion.iter().all(|adhesion| !adhesion.is_nan()),
                "a number",
            ),
        ];
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
