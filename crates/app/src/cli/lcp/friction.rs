//! Contact problems: bounds of some rows depend on other rows, as `friction.json` says.

use super::arguments::ProblemFlags;
use super::files::{Problem, broken};
use super::solve_timer::SolveTimer;
use meniscus_lcp::methods::{mprgp, pgs_coupled, staggered};
use meniscus_lcp::precondition::Jacobi;
use meniscus_lcp::{BoxMlcp, CoupledBound, CoupledBoundMlcp, Csr, Report};
use meniscus_store::error::{Error, Kind};
use meniscus_store::regular_file;
use serde::Deserialize;

/// Methods for problems with coupled bounds.
pub const METHODS: [&str; 2] = ["pgs-coupled", "staggered"];
/// Tolerance of the solves inside staggering, relative to its own.
const INNER: f64 = 0.1;

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

/// Solves a problem with coupled bounds by one of [`METHODS`].
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
    let solved = if method == METHODS[0] {
        let mut settings = pgs_coupled::Settings::default().tolerance(tolerance);
        if let Some(most) = max_iterations {
            settings = settings.max_iterations(most);
        }
        pgs_coupled::solve(&problem, &settings, x, &mut Default::default(), watch)
    } else {
        let mut settings = staggered::Settings::default().tolerance(tolerance);
        if let Some(most) = max_iterations {
            settings = settings.max_iterations(most);
        }
        let mut jacobi = Jacobi::new(&given.matrix).map_err(|e| broken(&e))?;
        let mut workspace = mprgp::Workspace::default();
        let inner_settings = mprgp::Settings::default().tolerance(INNER * tolerance);
        let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
            mprgp::solve(
                part,
                &inner_settings,
                &mut jacobi,
                x,
                &mut workspace,
                &mut (),
            )
        };
        staggered::solve(
            &problem,
            &settings,
            &mut inner,
            x,
            &mut Default::default(),
            watch,
        )
    };
    solved.map_err(|fault| broken(&fault))
}
