//! Results of solves by name, and the chain of attempts that leads to one.

use crate::error::InputError;
use crate::report::{Report, Status};

/// An attempt of one solver.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attempt {
    /// Name of the solver.
    pub solver: &'static str,
    /// Reason for which it was chosen.
    pub why: &'static str,
    /// Its report.
    pub report: Report,
}

/// Result of a solve by name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solution {
    /// Name of the solver whose `x` was kept.
    pub solver: &'static str,
    /// Its report: that of the last attempt, unless none converged.
    pub report: Report,
    /// All attempts, in order.
    pub attempts: Vec<Attempt>,
}

impl Solution {
    /// The solution of a single attempt.
    pub fn of(solver: &'static str, why: &'static str, report: Report) -> Self {
        Self {
            solver,
            report,
            attempts: vec![Attempt {
                solver,
                why,
                report,
            }],
        }
    }

    /// The solution where no solve took place.
    pub fn none() -> Self {
        Self {
            solver: "none",
            report: Report::new(Status::Stopped, 0, 0, 0.0, 0.0),
            attempts: Vec::new(),
        }
    }
}

/// A solver to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate<S> {
    /// The solver.
    pub solver: S,
    /// Its name in the [`Solution`].
    pub name: &'static str,
    /// Reason for which it is tried.
    pub why: &'static str,
}

/// Start of each attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartFrom {
    /// The given `x`; the `x` with the smallest residual is kept.
    Given,
    /// The `x` that the last attempt reached, without its non-finite entries; the last `x` is kept.
    Last,
}

/// Tries solvers in order until one converges or is stopped; from the given `x` also until one proves that there is no
/// solution, which is the answer then.
///
/// An error of the first attempt is an error of the input; a later solver that cannot be used is skipped.
pub fn first_converged<S: Copy>(
    candidates: &[Candidate<S>],
    from: StartFrom,
    x: &mut [f64],
    mut run: impl FnMut(S, &mut [f64]) -> Result<Report, InputError>,
) -> Result<Solution, InputError> {
    let start = match from {
        StartFrom::Given => x.to_vec(),
        StartFrom::Last => Vec::new(),
    };
    let mut solution = Solution::none();
    for candidate in candidates {
        let mut trial = start.clone();
        let result = match from {
            StartFrom::Given => run(candidate.solver, &mut trial),
            StartFrom::Last => {
                if !solution.attempts.is_empty() {
                    x.iter_mut()
                        .filter(|x| !x.is_finite())
                        .for_each(|x| *x = 0.0);
                }
                run(candidate.solver, x)
            }
        };
        let report = match result {
            Ok(report) => report,
            Err(fault) if solution.attempts.is_empty() => return Err(fault),
            Err(_) => continue,
        };
        let kept = solution.report.residual;
        let better = solution.attempts.is_empty() || kept.is_nan() || report.residual < kept;
        let converged = report.status == Status::Converged;
        let proved = from == StartFrom::Given && report.status == Status::Infeasible;
        if converged || proved || better || from == StartFrom::Last {
            if from == StartFrom::Given {
                x.copy_from_slice(&trial);
            }
            (solution.solver, solution.report) = (candidate.name, report);
        }
        solution.attempts.push(Attempt {
            solver: candidate.name,
            why: candidate.why,
            report,
        });
        if converged || proved || report.status == Status::Stopped {
            break;
        }
    }
    Ok(solution)
}
