//! Step reports and failures.

use std::any::Any;
use std::fmt;

use meniscus_lcp::{Report, Status};
use meniscus_liquid::{PressureProblem, StepError};

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

/// The complementarity problem of a step.
#[derive(Clone, Debug)]
pub enum Problem {
    /// In two dimensions.
    Plane(PressureProblem<2>),
    /// In three dimensions.
    Space(PressureProblem<3>),
}

impl Problem {
    /// The problem of a liquid in `D` dimensions.
    pub(crate) fn new<const D: usize>(problem: PressureProblem<D>) -> Self {
        const { assert!(D == 2 || D == 3, "two or three dimensions") };
        let problem: Box<dyn Any> = Box::new(problem);
        match problem.downcast() {
            Ok(plane) => Self::Plane(*plane),
            Err(other) => match other.downcast() {
                Ok(space) => Self::Space(*space),
                Err(_) => unreachable!("two or three dimensions"),
            },
        }
    }

    /// The problem, if it has `D` dimensions.
    pub fn of_dimension<const D: usize>(self) -> Option<PressureProblem<D>> {
        let problem: Box<dyn Any> = match self {
            Self::Plane(plane) => Box::new(plane),
            Self::Space(space) => Box::new(space),
        };
        problem.downcast().ok().map(|problem| *problem)
    }
}

/// A step that failed. The world is as it was before the step.
#[derive(Clone, Debug)]
pub struct StepFailure {
    /// Why it failed.
    pub error: StepError,
    /// Why it failed, with its length.
    pub message: String,
    /// Report of the last attempt.
    pub report: StepReport,
    /// The problem that was not solved.
    pub problem: Problem,
}

impl fmt::Display for StepFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StepFailure {}
