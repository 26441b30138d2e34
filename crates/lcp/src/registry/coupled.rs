//! Solvers by name for problems with coupled bounds: bounds of some rows follow other rows.

use super::{Options, Solution};
use crate::coupled_bounds::CoupledBoundMlcp;
use crate::csr::Csr;
use crate::error::InputError;
use crate::methods::{mprgp, pgs_coupled, staggered};
use crate::precondition::Jacobi;
use crate::problem::BoxMlcp;
use crate::report::Observer;

/// Names of the solvers for problems with coupled bounds. The first is the choice of `auto`.
pub const COUPLED_SOLVERS: [&str; 2] = ["pgs-coupled", "staggered"];
/// Tolerance of the solves inside staggering, relative to its own.
const INNER: f64 = 0.1;

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
    let why = match solver {
        "auto" => "it converges on most problems with coupled bounds",
        _ => "it was asked for",
    };
    let [pgs, staggering] = COUPLED_SOLVERS;
    if solver == "auto" || solver == pgs {
        let mut settings = pgs_coupled::Settings::default().tolerance(options.tolerance);
        if let Some(most) = options.max_iterations {
            settings = settings.max_iterations(most);
        }
        let report = pgs_coupled::solve(problem, &settings, x, &mut Default::default(), observer)?;
        return Ok(Solution::of(pgs, why, report));
    }
    if solver != staggering {
        return Err(InputError::Setting {
            name: "solver",
            must: "auto, pgs-coupled or staggered for a problem with coupled bounds",
        });
    }
    let mut settings = staggered::Settings::default().tolerance(options.tolerance);
    if let Some(most) = options.max_iterations {
        settings = settings.max_iterations(most);
    }
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
    let report = staggered::solve(
        problem,
        &settings,
        &mut inner,
        x,
        &mut Default::default(),
        observer,
    )?;
    Ok(Solution::of(staggering, why, report))
}
