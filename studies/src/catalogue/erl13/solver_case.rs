//! Methods as the notes have them, and ours.

use super::rules::{Ending, Judge, Rules};
use crate::prelude::*;
use meniscus_lcp::gallery::Instance;
use meniscus_lcp::methods::{fischer, newton, pgs, psor};
use meniscus_lcp::precondition::Identity;
use meniscus_lcp::{InputError, Report};

/// A method and its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolverCase {
    /// Fischer-Newton as in the notes, with one of their four ways through the kink.
    Fischer(fischer::Kink),
    /// Minimum map Newton as in the notes.
    MinimumMap,
    /// Projected Gauss-Seidel.
    Pgs,
    /// Its relaxed form.
    Psor(f64),
    /// Fischer-Newton with all that ours has.
    OurFischer,
    /// Minimum map Newton, globalised.
    OurNewton,
}

/// Outcome of a solve.
pub struct Outcome {
    pub ending: Ending,
    pub iterations: usize,
    /// One before the first iteration and one after each.
    pub merits: Vec<f64>,
    /// Largest entry of the natural residual at the end.
    pub residual: f64,
}

/// A tolerance that no method reaches: the rules end it.
const NEVER: f64 = f64::MIN_POSITIVE;
/// Krylov directions that are kept.
const RESTART: usize = 200;

impl SolverCase {
    /// The strategy that the notes find best for contacts.
    pub const PERTURBATION: fischer::Kink = fischer::Kink::Perturbation { epsilon: 1e-14 };
    /// The relaxation that the notes find best.
    pub const PSOR: Self = Self::Psor(1.4);
    /// Methods of the notes' tables.
    pub const NOTES: [Self; 4] = [
        Self::Fischer(Self::PERTURBATION),
        Self::MinimumMap,
        Self::Pgs,
        Self::PSOR,
    ];

    pub fn name(self) -> String {
        match self {
            Self::Fischer(_) => "Fischer".into(),
            Self::MinimumMap => "minimum map".into(),
            Self::Pgs => "PGS".into(),
            Self::Psor(relaxation) => format!("PSOR {relaxation}"),
            Self::OurFischer => "Fischer, ours".into(),
            Self::OurNewton => "minimum map, ours".into(),
        }
    }

    /// Solves a problem from `x` on, by the rules.
    pub fn solve(self, instance: &Instance, rules: Rules, x: &mut [f64]) -> Result<Outcome, Error> {
        let sweeps = matches!(self, Self::Pgs | Self::Psor(_));
        let mut judge = Judge::new(rules, sweeps);
        let report = self
            .run(instance, rules, x, &mut judge)
            .map_err(|fault| Error::usage(format!("{}: {fault}", self.name())))?;
        Ok(Outcome {
            ending: judge.ending(report.status),
            iterations: report.iterations,
            merits: judge.merits,
            residual: report.residual,
        })
    }

    /// Solves a problem from zero on, by the rules.
    pub fn solve_from_zero(self, instance: &Instance, rules: Rules) -> Result<Outcome, Error> {
        self.solve(instance, rules, &mut vec![0.0; instance.rhs.len()])
    }

    fn run(
        self,
        instance: &Instance,
        rules: Rules,
        x: &mut [f64],
        judge: &mut Judge,
    ) -> Result<Report, InputError> {
        let problem = instance.problem();
        // One more than the rules allow: they end it.
        let max_iterations = rules.iterations + 1;
        match self {
            Self::Pgs => {
                let settings = pgs::Settings::default()
                    .tolerance(NEVER)
                    .max_iterations(max_iterations);
                pgs::solve(&problem, &settings, x, &mut Default::default(), judge)
            }
            Self::Psor(relaxation) => {
                let settings = psor::Settings::default()
                    .tolerance(NEVER)
                    .max_iterations(max_iterations)
                    .relaxation(relaxation);
                psor::solve(&problem, &settings, x, &mut Default::default(), judge)
            }
            Self::Fischer(kink) => {
                let settings = fischer::Settings::default()
                    .tolerance(NEVER)
                    .relative(0.0)
                    .max_iterations(max_iterations)
                    .kink(kink)
                    .inner(fischer::Inner::Gmres { restart: RESTART })
                    .regularisation(0.0)
                    .rescues(0)
                    .scaled(false);
                let memory = &mut Default::default();
                fischer::solve(&problem, &settings, &mut Identity, x, memory, judge)
            }
            Self::OurFischer => {
                let settings = fischer::Settings::default()
                    .tolerance(NEVER)
                    .relative(0.0)
                    .max_iterations(max_iterations);
                let memory = &mut Default::default();
                fischer::solve(&problem, &settings, &mut Identity, x, memory, judge)
            }
            Self::MinimumMap | Self::OurNewton => {
                let settings = newton::Settings::default()
                    .tolerance(NEVER)
                    .relative(0.0)
                    .max_iterations(max_iterations)
                    .scaled(false)
                    .inner(newton::Inner::Gmres { restart: RESTART })
                    .globalisation(if self == Self::OurNewton {
                        newton::Globalisation::Fischer
                    } else {
                        newton::Globalisation::None
                    });
                let memory = &mut Default::default();
                newton::solve(&problem, &settings, &mut Identity, x, memory, judge)
            }
        }
    }
}
