//! The solve for those who do not want to choose a method.

use std::fmt;
use std::ops::Deref;

use crate::csr::Csr;
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::registry::{self, Method, Options, Solution};
use crate::report::Status;

/// Solves a problem by the method that suits it, to a tolerance of 1e-8.
///
/// The method depends on the problem alone: on its number of rows, bounds, symmetry and definiteness (see
/// [`analysis`](crate::analysis)); where one does not converge, another is tried. [`registry::solve()`] takes a method by
/// name, a tolerance, a start and an observer.
///
/// ```
/// use meniscus_lcp::{BoxMlcp, Csr};
///
/// let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
/// let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
/// let x = meniscus_lcp::solve(&problem)?;
/// assert_eq!(*x, [0.5, 0.0]);
/// println!("{} in {} iterations", x.solution.solver, x.solution.report.iterations);
/// # Ok::<(), meniscus_lcp::SolveError>(())
/// ```
pub fn solve(problem: &BoxMlcp<'_, Csr>) -> Result<Solved, SolveError> {
    let options = Options::default();
    let mut x = vec![0.0; problem.len()];
    problem.project(&mut x);
    let solution = registry::solve(problem, Method::Auto, &options, &mut x, &mut ())?;
    let solved = Solved { x, solution };
    if solved.solution.report.status == Status::Converged {
        Ok(solved)
    } else {
        Err(SolveError::NotConverged(Box::new(solved)))
    }
}

/// A solution and how it was found. Dereferences to `x`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solved {
    /// The solution.
    pub x: Vec<f64>,
    /// The solver that found it, its report, and all attempts.
    pub solution: Solution,
}

impl Deref for Solved {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.x
    }
}

/// Failure of [`solve()`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SolveError {
    /// The problem breaks a contract: nothing was solved.
    Input(InputError),
    /// No method converged. Holds the iterate with the smallest residual, and the report of each attempt.
    NotConverged(Box<Solved>),
}

impl From<InputError> for SolveError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::NotConverged(solved) => {
                let attempts = &solved.solution.attempts;
                let infeasible = attempts
                    .iter()
                    .find(|attempt| attempt.report.status == Status::Infeasible);
                match infeasible {
                    Some(attempt) => write!(
                        f,
                        "the problem has no solution: {} {}",
                        attempt.solver,
                        Status::Infeasible.explanation()
                    ),
                    None => {
                        let best = &solved.solution;
                        write!(
                            f,
                            "none of {} methods converged; the best, {}, left a residual of {:e}: {}",
                            attempts.len(),
                            best.solver,
                            best.report.residual,
                            best.report.status.explanation()
                        )
                    }
                }
            }
        }
    }
}

impl std::error::Error for SolveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Input(error) => Some(error),
            Self::NotConverged(_) => None,
        }
    }
}
