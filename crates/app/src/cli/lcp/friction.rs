//! Contact problems: bounds of some rows depend on other rows, as `friction.json` says.

use super::arguments::ProblemFlags;
use super::files::{Problem, broken};
use super::solve_timer::SolveTimer;
use meniscus_lcp::registry::{Options, solve_coupled};
use meniscus_lcp::{CoupledBound, CoupledBoundMlcp, Report};
use meniscus_store::error::{Error, Kind};
use meniscus_store::regular_file;
use serde::Deserialize;

/// Fields of `friction.json` that are read.
#[derive(Deserialize)]
struct Content {
    coupled_bounds: Vec<Bound>,
}

#[derive(Deserialize)]
struct Bound {
    row: usize,
    of: usize,
    factor: f64,
}

/// Coupled bounds of a problem, if it has any.
///
/// # Errors
/// If the file can't be read, or does not fit the problem.
pub fn beside(flags: &ProblemFlags, given: &Problem) -> Result<Option<Vec<CoupledBound>>, Error> {
    let folder = flags.problem.as_ref();
    let Some(path) = folder
        .map(|folder| folder.join("friction.json"))
        .filter(|path| path.is_file())
    else {
        return Ok(None);
    };
    let text = regular_file::read_text(&path).map_err(|e| Error::io("read", &path, &e))?;
    let content: Content = serde_json::from_str(&text)
        .map_err(|e| Error::new(Kind::Asset, format!("{}: {e}", path.display())))?;
    let bounds: Vec<CoupledBound> = (content.coupled_bounds.iter())
        .map(|bound| CoupledBound {
            row: bound.row,
            of: bound.of,
            factor: bound.factor,
        })
        .collect();
    CoupledBoundMlcp::new(given.problem()?, &bounds)
        .map_err(|fault| Error::new(Kind::Asset, format!("{}: {fault}", path.display())))?;
    Ok(Some(bounds))
}

/// Solves a problem with coupled bounds by one of its solvers.
///
/// # Errors
/// If the method does not accept the problem.
pub fn solve(
    method: &str,
    given: &Problem,
    bounds: &[CoupledBound],
    (tolerance, max_iterations): (f64, Option<usize>),
    x: &mut [f64],
    watch: &mut SolveTimer,
) -> Result<Report, Error> {
    let problem = CoupledBoundMlcp::new(given.problem()?, bounds).map_err(|e| broken(&e))?;
    let options = Options::default()
        .tolerance(tolerance)
        .max_iterations(max_iterations);
    solve_coupled(&problem, method, &options, x, watch)
        .map(|solution| solution.report)
        .map_err(|fault| broken(&fault))
}
