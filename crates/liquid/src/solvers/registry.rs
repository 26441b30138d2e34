//! The methods of this module in a registry of solvers.

use meniscus_lcp::analysis::Analysis;
use meniscus_lcp::registry::{
    NamedSolver, Options, Registry, Scaling, Solution, presolve, solve_scaled,
};
use meniscus_lcp::{BoxMlcp, Csr, InputError, Observer};

use super::{Settings, Workspace, solve};
use crate::grid::tiles::Coord;
use crate::settings::Solver;
use crate::stencil::Stencil;

/// Registers every method for problems whose rows belong to `cells`.
///
/// Names may have variations, as for [`Settings::named`].
pub fn register<'a, const D: usize>(registry: &mut Registry<'a>, cells: &'a [Coord<D>]) {
    for &solver in Solver::ALL {
        registry.register(OnGrid {
            name: solver.name().to_owned(),
            settings: Settings {
                solver,
                ..Default::default()
            },
            cells,
        });
    }
}

/// A method for problems on a grid.
struct OnGrid<'a, const D: usize> {
    name: String,
    settings: Settings,
    cells: &'a [Coord<D>],
}

impl<const D: usize> NamedSolver for OnGrid<'_, D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_named(&self, word: &str) -> bool {
        word.parse() == Ok(self.settings.solver)
    }

    fn vary(&self, words: &[&str]) -> Result<Box<dyn NamedSolver + '_>, String> {
        let mut settings = self.settings;
        for word in words {
            settings.vary(word)?;
        }
        Ok(Box::new(Self {
            name: format!("{}:{}", self.name, words.join(":")),
            settings,
            cells: self.cells,
        }))
    }

    fn fits(&self, analysis: &Analysis) -> Result<(), &'static str> {
        if self.settings.solver.is_linear() && !analysis.bounds.is_linear() {
            return Err("some rows have bounds");
        }
        Ok(())
    }

    fn solve(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        options: &Options,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Solution, InputError> {
        let mut settings = Settings {
            tolerance: options.tolerance,
            ..self.settings
        };
        if let Some(limit) = options.max_iterations {
            settings.max_iterations = limit;
            if settings.solver.is_krylov() {
                settings.max_inner_iterations = limit;
            }
        }
        let mut run = |problem: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
            if let Some(steps) = options.presolve {
                presolve(problem, steps, options.tolerance, x, observer)?;
            }
            let stencil = Stencil::from_matrix(problem.matrix(), self.cells)?;
            let (rhs, lower, upper) = (problem.rhs(), problem.lower(), problem.upper());
            let problem = BoxMlcp::new(&stencil, rhs, lower, upper)?;
            let memory = &mut Workspace::default();
            solve(&problem, &settings, x, memory, observer)
        };
        // Scales of single rows would lose the structure of the grid.
        solve_scaled(problem, Scaling::Uniform, options, x, &mut run)
    }
}
