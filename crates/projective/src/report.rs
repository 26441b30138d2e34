//! Step reports and failures.

use std::fmt;

use crate::solve::SolveReport;

/// Report of one step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// Time after the step, in seconds.
    pub time: f64,
    /// Length of the step.
    pub dt: f64,
    /// Number of particles.
    pub particles: usize,
    /// Kinetic energy, in J.
    pub kinetic_energy: f64,
    /// Potential energy with respect to the origin, in J.
    pub potential_energy: f64,
    /// Largest speed, in m/s.
    pub max_speed: f64,
    /// Force of the liquid on all solids together, in N.
    pub wall_force: [f64; 3],
    /// How the solve of the density constraints ended.
    pub solve: SolveReport,
}

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// A position is not finite after the solve.
    NotFinite,
    /// The density is far from its tolerance.
    Unsolved {
        /// Largest relative excess of density.
        max_error: f64,
        /// Rounds.
        rounds: usize,
    },
    /// The step of the bodies failed.
    Bodies,
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.write_str("a position is not a finite number"),
            Self::Unsolved { max_error, rounds } => write!(
                f,
                "the density constraints still have an error of {:.2} % after {rounds} rounds",
                100.0 * max_error
            ),
            Self::Bodies => f.write_str("the step of the bodies failed"),
        }
    }
}

impl std::error::Error for StepError {}
