//! Step reports and failures.

use std::fmt;

use meniscus_lcp::{Report, Status};

use crate::problem::ProblemDump;

/// Report of one step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// Time after the step, in seconds.
    pub time: f64,
    /// Length of the step.
    pub dt: f64,
    /// Longer steps that failed before this one.
    pub retries: usize,
    /// Solves of the step, in order.
    pub solves: Vec<SolveReport>,
    /// Numbers that the materials report, by name.
    pub measures: Vec<(&'static str, f64)>,
    /// Places that they report, by name.
    pub places: Vec<(&'static str, Vec<f64>)>,
    /// Names of the bodies that left the domain in this step and were removed.
    pub left_domain: Vec<String>,
}

impl StepReport {
    /// A report without solves and measures.
    pub fn new(time: f64, dt: f64) -> Self {
        Self {
            time,
            dt,
            retries: 0,
            solves: Vec::new(),
            measures: Vec::new(),
            places: Vec::new(),
            left_domain: Vec::new(),
        }
    }

    /// A measure by its name.
    pub fn measure(&self, name: &str) -> Option<f64> {
        let mut measures = self.measures.iter();
        measures.find_map(|&(own, value)| (own == name).then_some(value))
    }

    /// A place by its name.
    pub fn place(&self, name: &str) -> Option<&[f64]> {
        let mut places = self.places.iter();
        places.find_map(|(own, place)| (*own == name).then_some(&place[..]))
    }

    /// A solve by its name.
    pub fn solve(&self, name: &str) -> Option<&SolveReport> {
        self.solves.iter().find(|solve| solve.name == name)
    }
}

/// Report of one solve.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SolveReport {
    /// What was solved for.
    pub name: &'static str,
    /// Method that solved it.
    pub solver: &'static str,
    /// How it ended.
    pub status: Status,
    /// Unknowns.
    pub unknowns: usize,
    /// Iterations of the method.
    pub iterations: usize,
    /// Iterations of the solvers inside.
    pub inner_iterations: usize,
    /// Largest natural residual, recomputed from the problem.
    pub residual: f64,
    /// Solves inside it.
    pub solves: Vec<SolveReport>,
}

impl SolveReport {
    /// A solve with no others inside.
    pub fn new(name: &'static str, solver: &'static str, unknowns: usize, report: &Report) -> Self {
        Self {
            name,
            solver,
            status: report.status,
            unknowns,
            iterations: report.iterations,
            inner_iterations: report.inner_iterations,
            residual: report.residual,
            solves: Vec::new(),
        }
    }
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// A solve did not converge; the message names the solver and how it ended.
    Unsolved(String),
    /// A velocity is not finite after the solve.
    NotFinite,
    /// Something is so fast that the step would be absurdly short.
    TooFast {
        /// Largest speed found, in m/s.
        speed: f64,
    },
    /// A problem is not well formed; the message names the problem.
    Refused(String),
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsolved(why) | Self::Refused(why) => f.write_str(why),
            Self::NotFinite => f.write_str("a velocity is not a finite number"),
            Self::TooFast { speed } => write!(f, "a speed of {speed:.3e} m/s was reached"),
        }
    }
}

impl std::error::Error for StepError {}

/// A step that failed. The world is as it was before the step.
#[derive(Debug)]
pub struct StepFailure {
    /// Why it failed.
    pub error: StepError,
    /// Report of the last attempt.
    pub report: StepReport,
    /// The problem that was not solved, if there is one.
    pub problem: Option<Box<dyn ProblemDump>>,
}

impl fmt::Display for StepFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (error, dt) = (&self.error, self.report.dt);
        match error {
            StepError::Unsolved(_) | StepError::NotFinite => {
                write!(f, "{error}, even with a step of {dt:.3e} s")
            }
            StepError::TooFast { .. } => write!(f, "{error}, which needs time steps of {dt:.3e} s"),
            StepError::Refused(_) => error.fmt(f),
        }
    }
}

impl std::error::Error for StepFailure {}
