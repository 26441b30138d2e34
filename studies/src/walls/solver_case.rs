//! The solvers of the two papers, and ours, by name.

use super::sample::Sample;
use super::watch::{Outcome, Watch};
use super::{PATIENCE, TOLERANCE};
use meniscus_lcp::{BoxMlcp, InputError};
use meniscus_liquid::solvers::{self, Settings};
use meniscus_store::error::{Error, Kind};
use rayon::ThreadPool;
use std::sync::OnceLock;

/// Definition of an iteration in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Cycles of a multigrid method.
    Outer,
    /// Iterations of the linear solver inside.
    Inner,
    /// These, and a point for each step of Newton's method that its search tries at least.
    InnerAndOuter,
}

/// A solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolverCase {
    /// Its name in the tables.
    pub label: &'static str,
    /// Its name for [`Settings::named`].
    pub word: &'static str,
    counted: Counted,
    /// Whether it solves the problem without bounds.
    linear: bool,
    /// Whether linear systems inside are solved to the tolerance, and not to a part of their residual.
    exact: bool,
}

const fn bounded(label: &'static str, word: &'static str, counted: Counted) -> SolverCase {
    SolverCase {
        label,
        word,
        counted,
        linear: false,
        exact: false,
    }
}

const fn exact(label: &'static str, word: &'static str) -> SolverCase {
    SolverCase {
        exact: true,
        ..bounded(label, word, Counted::Inner)
    }
}

/// All of them: those of the tables as they stand there, then ours.
const ALL: [SolverCase; 15] = [
    bounded("FAS-MG", "fas-mg", Counted::Outer),
    bounded("PI-PCG", "pi-pcg", Counted::Inner),
    bounded("PI-MG", "pi-mg", Counted::Inner),
    bounded("PE-PCG", "pe-pcg", Counted::Inner),
    bounded("PE-MG", "pe-mg", Counted::Inner),
    bounded("FMG", "fmg", Counted::Outer),
    // As its authors run it: without a preconditioner.
    bounded("Newton", "newton:none", Counted::InnerAndOuter),
    SolverCase {
        linear: true,
        ..bounded("No LCP", "cg", Counted::Inner)
    },
    exact("PI-PCG, exact", "pi-pcg"),
    exact("PI-MG, exact", "pi-mg"),
    exact("PE-PCG, exact", "pe-pcg"),
    exact("PE-MG, exact", "pe-mg"),
    bounded("Newton, MIC(0)", "newton:mic0", Counted::InnerAndOuter),
    bounded("MPRGP-MG", "mprgp-mg", Counted::Outer),
    bounded("TN-MG", "tn-mg", Counted::Outer),
];

/// When to stop, and where to start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Bound on the largest natural residual.
    pub tolerance: f64,
    /// CPU seconds after which a solve is stopped.
    pub patience: f64,
    /// From zero instead of the last step's pressure.
    pub from_zero: bool,
}

impl Rules {
    /// The default rules: from the pressure of the last step.
    const WARM: Self = Rules {
        tolerance: TOLERANCE,
        patience: PATIENCE,
        from_zero: false,
    };

    /// The default rules, from zero.
    pub const FROM_ZERO: Self = Rules {
        from_zero: true,
        ..Self::WARM
    };
}

impl Default for Rules {
    fn default() -> Self {
        Self::WARM
    }
}

impl SolverCase {
    /// The one with this name in the tables.
    pub fn named(label: &str) -> Option<Self> {
        ALL.into_iter().find(|one| one.label == label)
    }

    /// Cases with these labels.
    pub fn all_of(labels: &[&str]) -> Vec<Self> {
        labels
            .iter()
            .filter_map(|label| Self::named(label))
            .collect()
    }

    /// A variant of FAS multigrid, with its name in the table.
    pub const fn variant(label: &'static str, word: &'static str) -> Self {
        bounded(label, word, Counted::Outer)
    }

    /// A variant of Newton's method, with its name in the table.
    pub const fn newton(label: &'static str, word: &'static str) -> Self {
        bounded(label, word, Counted::InnerAndOuter)
    }

    /// How many iterations a solve took, as the tables count them.
    pub fn iterations(self, outcome: &Outcome) -> usize {
        self.count(outcome.outer, outcome.inner)
    }

    /// The same from outer and inner iterations.
    pub fn count(self, outer: usize, inner: usize) -> usize {
        match self.counted {
            Counted::Outer => outer,
            Counted::Inner => inner,
            Counted::InnerAndOuter => inner + outer,
        }
    }

    /// Whether its iterations are cycles of a multigrid method, with nothing to be counted inside.
    pub fn counts_cycles(self) -> bool {
        self.counted == Counted::Outer
    }

    /// Solves a problem on one thread.
    pub fn solve<const D: usize>(
        self,
        sample: &Sample<D>,
        rules: &Rules,
    ) -> Result<Outcome, Error> {
        let settings = Settings::named(self.word)
            .map_err(|fault| Error::usage(format!("{}: {fault}", self.label)))?;
        let settings = Settings {
            tolerance: rules.tolerance,
            max_iterations: MOST_ITERATIONS,
            inner_tolerance: self.exact.then_some(EXACT),
            ..settings
        };
        solve_with(sample, &settings, self.linear, rules)
            .map_err(|fault| Error::new(Kind::Numerical, format!("{}: {fault}", self.label)))
    }
}

/// A part of the residual that no linear system reaches before it is within the tolerance.
const EXACT: f64 = 1e-13;
/// Far beyond what a method that works needs; the time limit comes first for large problems.
const MOST_ITERATIONS: usize = 1000;

fn solve_with<const D: usize>(
    sample: &Sample<D>,
    settings: &Settings,
    linear: bool,
    rules: &Rules,
) -> Result<Outcome, String> {
    let mut x = if rules.from_zero {
        vec![0.0; sample.rows()]
    } else {
        sample.start.clone()
    };
    let (free_below, free_above) = if linear {
        let rows = sample.rows();
        (vec![f64::NEG_INFINITY; rows], vec![f64::INFINITY; rows])
    } else {
        Default::default()
    };
    let outcome = one_thread()?.install(|| {
        let given = sample.problem.stencil_problem()?;
        let problem = if linear {
            BoxMlcp::new(&given.stencil, &given.rhs, &free_below, &free_above)?
        } else {
            given.posed()?
        };
        let mut memory = solvers::Workspace::default();
        let mut watch = Watch::new(rules.patience);
        let solution = solvers::solve(&problem, settings, &mut x, &mut memory, &mut watch)?;
        Ok(watch.outcome(&solution.report))
    });
    outcome.map_err(|fault: InputError| fault.to_string())
}

/// One thread for all solves: CPU time is compared, and waiting threads spend it.
pub fn one_thread() -> Result<&'static ThreadPool, String> {
    static POOL: OnceLock<Result<ThreadPool, String>> = OnceLock::new();
    POOL.get_or_init(|| pool_of(1))
        .as_ref()
        .map_err(Clone::clone)
}

/// A pool of so many threads.
pub fn pool_of(threads: usize) -> Result<ThreadPool, String> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    builder.build().map_err(|cause| cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{first_of_frame, scene};
    use super::*;
    use meniscus_liquid::Walls;
    use meniscus_scene::AnyScene;

    #[test]
    fn every_solver_case_solves_a_small_problem_to_the_same_rule() {
        let AnyScene::Two(scene) = scene("circle", 24, Walls::Separating).unwrap() else {
            panic!("the circle is flat");
        };
        let sample = first_of_frame(&scene, 8).unwrap();
        for case in ALL {
            let outcome = case.solve(&sample, &Rules::default()).unwrap();
            assert!(outcome.solved(), "{}: {outcome:?}", case.label);
            assert!(outcome.residual <= TOLERANCE, "{}", case.label);
            assert!(case.iterations(&outcome) > 0, "{}", case.label);
        }
    }

    #[test]
    fn names_of_solver_cases_differ() {
        for (index, one) in ALL.iter().enumerate() {
            assert_eq!(SolverCase::named(one.label), Some(ALL[index]));
        }
        assert_eq!(SolverCase::named("nobody"), None);
    }
}
