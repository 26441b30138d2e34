//! Solvers by name for problems with coupled bounds: bounds of some rows follow other rows.

use super::{Candidate, Options, Solution, StartFrom, first_converged};
use crate::coupled_bounds::CoupledBoundMlcp;
use crate::csr::Csr;
use crate::error::InputError;
use crate::methods::{mprgp, newton_coupled, pgs_coupled, staggered};
use crate::precondition::Jacobi;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report};

/// Names of the solvers for problems with coupled bounds.
pub const COUPLED_SOLVERS: [&str; 3] = ["pgs-coupled", "newton-coupled", "staggered"];
/// Tolerance of the solves inside staggering, relative to its own.
const INNER: f64 = 0.1;
/// Sweeps that `auto` tries before a Newton method, and rows up to which it tries one.
const FIRST_SWEEPS: usize = 500;
const FEW: usize = 1_500;

/// Solvers that a problem can be given to.
pub fn coupled_solvers(problem: &CoupledBoundMlcp<'_, Csr>) -> impl Iterator<Item = &'static str> {
    let boxes = problem.discs().is_empty();
    COUPLED_SOLVERS
        .into_iter()
        .filter(move |name| boxes || *name != "staggered")
}

/// What `auto` tries, in order.
fn choices(problem: &CoupledBoundMlcp<'_, Csr>) -> Vec<Candidate<(&'static str, Option<usize>)>> {
    let candidate = |name, most, why| Candidate {
        solver: (name, most),
        name,
        why,
    };
    let mut choices = vec![candidate(
        "pgs-coupled",
        Some(FIRST_SWEEPS),
        "sweeps are cheap, and converge on most problems whose bounds follow other unknowns",
    )];
    if problem.len() <= FEW {
        let why = "few rows: where sweeps are slow, it is quadratic";
        choices.push(candidate("newton-coupled", None, why));
    }
    choices.push(candidate("pgs-coupled", None, "more sweeps"));
    if problem.discs().is_empty() {
        let why = "normals and tangents in turn, where sweeps go in circles";
        choices.push(candidate("staggered", None, why));
    }
    choices
}

/// Solves a problem with coupled bounds by one of [`COUPLED_SOLVERS`] or `auto`, starting from the given `x`.
///
/// An error if the solver cannot be used on the problem, or has another name.
pub fn solve_coupled(
    problem: &CoupledBoundMlcp<'_, Csr>,
    solver: &str,
    options: &Options,
    x: &mut [f64],
    observer: &mut (impl Observer + ?Sized),
) -> Result<Solution, InputError> {
    if solver == "auto" {
        let mut attempt = |(name, most): (&'static str, Option<usize>), x: &mut [f64]| {
            let most = match (most, options.max_iterations) {
                (Some(own), Some(asked)) => Some(own.min(asked)),
                (own, asked) => own.or(asked),
            };
            solve_by(problem, name, &options.max_iterations(most), x, observer)
        };
        return first_converged(&choices(problem), StartFrom::Given, x, &mut attempt);
    }
    let Some(name) = COUPLED_SOLVERS.into_iter().find(|name| *name == solver) else {
        return Err(InputError::Setting {
            name: "solver",
            must: "auto, pgs-coupled, newton-coupled or staggered for a problem with coupled bounds",
        });
    };
    let report = solve_by(problem, name, options, x, observer)?;
    Ok(Solution::of(name, "it was asked for", report))
}

fn solve_by(
    problem: &CoupledBoundMlcp<'_, Csr>,
    name: &str,
    options: &Options,
    x: &mut [f64],
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    macro_rules! settings {
        ($module:ident) => {{
            let own = $module::Settings::default().tolerance(options.tolerance);
            match options.max_iterations {
                Some(most) => own.max_iterations(most),
                None => own,
            }
        }};
    }
    match name {
        "pgs-coupled" => {
            let settings = settings!(pgs_coupled);
            pgs_coupled::solve(problem, &settings, x, &mut Default::default(), observer)
        }
        "newton-coupled" => {
            let settings = settings!(newton_coupled);
            newton_coupled::solve(problem, &settings, x, &mut Default::default(), observer)
        }
        _ => {
            let mut jacobi = Jacobi::new(problem.rest().matrix())?;
            let mut workspace = mprgp::Workspace::default();
            let inner_settings = mprgp::Settings::default().tolerance(INNER * options.tolerance);
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
                problem,
                &settings!(staggered),
                &mut inner,
                x,
                &mut Default::default(),
                observer,
            )
        }
    }
}
