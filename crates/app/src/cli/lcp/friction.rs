//! Problems with friction: bounds of some rows depend on other rows, as `friction.json` says.

use super::arguments::ProblemFlags;
use super::files::{Problem, broken};
use super::solve_timer::SolveTimer;
use meniscus_lcp::registry::{Method, Options, Solution, coupled_solvers, solve_coupled};
use meniscus_lcp::{CoupledBound, CoupledBoundMlcp};
use meniscus_store::error::{Error, Kind};
use meniscus_store::regular_file;
use serde::Deserialize;

/// Fields of `friction.json` that are read.
#[derive(Deserialize)]
struct Content {
    coupled_bounds: Vec<Bound>,
    /// Pairs of rows whose bounds are a disc.
    #[serde(default)]
    discs: Vec<[usize; 2]>,
}

#[derive(Deserialize)]
struct Bound {
    row: usize,
    of: usize,
    factor: f64,
}

/// Bounds that follow other rows.
pub struct Friction {
    bounds: Vec<CoupledBound>,
    discs: Vec<[usize; 2]>,
}

impl Friction {
    /// That of a problem, if it has any.
    ///
    /// # Errors
    /// If the file can't be read, or does not fit the problem.
    pub fn beside(flags: &ProblemFlags, given: &Problem) -> Result<Option<Self>, Error> {
        let folder = flags.problem.as_ref();
        let Some(path) = folder
            .map(|folder| folder.join("friction.json"))
            .filter(|path| path.is_file())
        else {
            return Ok(None);
        };
        let text = regular_file::read_text(&path).map_err(|e| Error::io("read", &path, &e))?;
        let wrong = |fault: String| Error::new(Kind::Asset, format!("{}: {fault}", path.display()));
        let content: Content = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        let bounds: Vec<CoupledBound> = (content.coupled_bounds.iter())
            .map(|bound| CoupledBound {
                row: bound.row,
                of: bound.of,
                factor: bound.factor,
            })
            .collect();
        let place = |row: usize| {
            let found = bounds.iter().position(|bound| bound.row == row);
            found.ok_or_else(|| wrong(format!("row {row} of a disc has no coupled bound")))
        };
        let pair = |[a, b]: &[usize; 2]| Ok([place(*a)?, place(*b)?]);
        let discs: Result<Vec<_>, Error> = content.discs.iter().map(pair).collect();
        let friction = Self {
            discs: discs?,
            bounds,
        };
        friction
            .problem(given)
            .map_err(|e| wrong(e.message().into()))?;
        Ok(Some(friction))
    }

    /// Number of rows of friction.
    pub fn rows(&self) -> usize {
        self.bounds.len()
    }

    fn problem<'a>(
        &'a self,
        given: &'a Problem,
    ) -> Result<CoupledBoundMlcp<'a, meniscus_lcp::Csr>, Error> {
        CoupledBoundMlcp::new(given.problem()?, &self.bounds)
            .and_then(|problem| problem.with_discs(&self.discs))
            .map_err(|fault| broken(&fault))
    }

    /// Names of the solvers that take the problem.
    ///
    /// # Errors
    /// If the problem is not well formed.
    pub fn solvers(&self, given: &Problem) -> Result<Vec<&'static str>, Error> {
        Ok(coupled_solvers(&self.problem(given)?).collect())
    }

    /// Solves a problem by one of its solvers, or by `auto`.
    ///
    /// # Errors
    /// If the solver does not take the problem.
    pub fn solve(
        &self,
        solver: &str,
        given: &Problem,
        (tolerance, max_iterations): (f64, Option<usize>),
        x: &mut [f64],
        watch: &mut SolveTimer,
    ) -> Result<Solution, Error> {
        let problem = self.problem(given)?;
        let known: Vec<&str> = coupled_solvers(&problem).collect();
        if solver != Method::Auto.name() && !known.contains(&solver) {
            let what = if self.discs.is_empty() {
                "friction"
            } else {
                "friction by discs"
            };
            let message = format!("{solver} does not solve problems with {what}");
            return Err(
                Error::usage(message).with_remedy(format!("use auto or {}", known.join(" or ")))
            );
        }
        let options = Options::default()
            .tolerance(tolerance)
            .max_iterations(max_iterations);
        solve_coupled(&problem, solver, &options, x, watch).map_err(|fault| broken(&fault))
    }
}
