//! The solvers that are compared.

use meniscus_lcp::registry::Method;
use meniscus_liquid::Solver;
use meniscus_liquid::solvers::Settings;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A solver by its name, with variations after colons.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct SolverCase(String);

impl SolverCase {
    /// Default solvers.
    pub const USUAL: [&'static str; 6] = ["tn-mg", "pi-pcg", "masp", "pd-amg", "mg", "cg"];
    /// Methods that know nothing of the grid, only its matrix.
    const SPARSE: [Method; 2] = [Method::Masp, Method::PdAmg];

    /// The method of sparse problems that it is, if it is one.
    pub fn sparse(&self) -> Option<Method> {
        let mut all = Self::SPARSE.into_iter();
        all.find(|method| method.name() == self.0)
    }

    /// Settings of the solver of grids.
    pub fn settings(&self) -> Result<Settings, String> {
        Settings::named(&self.0)
    }

    fn solver(&self) -> Option<Solver> {
        self.settings().ok().map(|settings| settings.solver)
    }

    /// Whether it is this one.
    pub fn is(&self, solver: Solver) -> bool {
        self.solver() == Some(solver)
    }

    /// Whether its iterations are cycles of multigrid.
    pub fn cycles(&self) -> bool {
        [Solver::Auto, Solver::TnMg, Solver::Mg]
            .into_iter()
            .any(|solver| self.is(solver))
    }

    /// Whether it solves the linear problem.
    pub fn is_linear(&self) -> bool {
        self.solver().is_some_and(Solver::is_linear)
    }
}

impl fmt::Display for SolverCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for SolverCase {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let case = Self(name.into());
        if case.sparse().is_none() {
            case.settings()?;
        }
        Ok(case)
    }
}
