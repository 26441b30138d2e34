//! Solvers by name, and `auto`, which chooses one.
//!
//! [`solve()`] runs a method of this crate with settings that fit most problems. The modules under
//! [`methods`](crate::methods) have all the settings, keep their memory between solves, and take operators that are no
//! matrices.
//!
//! ```
//! use meniscus_lcp::registry::{self, Method, Options};
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let solution = registry::solve(&problem, Method::Auto, &Options::default(), &mut x, &mut ())?;
//! assert_eq!(solution.report.status, Status::Converged);
//! assert_eq!(x, [0.5, 0.0]);
//! for attempt in &solution.attempts {
//!     println!("{}: {}, because {}", attempt.solver, attempt.report.status, attempt.why);
//! }
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```
//!
//! A [`Registry`] holds solvers of other crates as well, which may know more of a problem than its matrix, for example
//! the grid that it lies on.

mod auto;
mod coupled;
mod full;
mod method;
mod presolve;
mod proof;
mod run;
mod scaling;
mod solution;

pub use auto::choices;
pub use coupled::{COUPLED_SOLVERS, coupled_solvers, solve_coupled};
pub use full::solve_full;
pub use method::{Family, Method};
pub use presolve::{Presolve, presolve};
pub use scaling::{Accuracy, Scaling, accuracy};
pub use solution::{Attempt, Candidate, Solution, StartFrom, first_converged};

use self::scaling::Scaled;
use crate::analysis::Analysis;
use crate::csr::Csr;
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Status};

settings! {
    /// Options that every solver takes.
    pub struct Options {
        /// Bound on the natural residual, relative to the size of the problem ([`Accuracy::relative`]): it means the same
        /// in any units of rows and columns. With `absolute`, bound on `||r||_inf`.
        pub tolerance: f64 = 1e-8,
        /// Whether the tolerance is absolute, in the units of the problem, and the problem is solved as it is.
        pub absolute: bool = false,
        /// Limit on iterations, pivots or sweeps. `None`: the method's own default.
        pub max_iterations: Option<usize> = None,
        /// Steps that improve the start before the solver begins.
        pub presolve: Option<Presolve> = None,
        /// Whether methods that take a preconditioner get aggregation multigrid instead of an incomplete factorisation.
        pub multigrid: bool = false,
    }
}

/// Solves a problem by a method of this crate, starting from the given `x`.
///
/// Rows and columns are scaled first, unless the options ask for an absolute tolerance; an observer sees residuals of the
/// scaled problem. `auto` first tries full matrices as they are: a solution that is exact but for rounding needs no scales. Reports have the residual in the units of the problem.
///
/// An error if the method cannot be used on the problem at all; [`Method::fits`] states that in advance.
pub fn solve(
    problem: &BoxMlcp<'_, Csr>,
    method: Method,
    options: &Options,
    x: &mut [f64],
    observer: &mut (impl Observer + ?Sized),
) -> Result<Solution, InputError> {
    let given = problem;
    let mut first = None;
    if method == Method::Auto {
        first = full::attempt(problem, options, x, observer)?;
        if let Some(attempt) = first.filter(|attempt| full::is_answer(&attempt.report)) {
            return Ok(Solution::of(attempt.solver, attempt.why, attempt.report));
        }
    }
    let (scaled, known) = match method {
        _ if options.absolute => (None, None),
        Method::Auto => auto::scaled(problem),
        _ => (Scaled::new(problem, method.scaling()), None),
    };
    let mut run = |problem: &BoxMlcp<'_, Csr>, x: &mut [f64], solved: Judge<'_>| {
        if let Some(steps) = options.presolve {
            presolve(problem, steps, options.tolerance, x, observer)?;
        }
        let mut attempt = |method: Method, x: &mut [f64]| {
            let mut report = run::run(problem, method, options, x, observer)?;
            // A verdict without a certificate is no proof. Those of pivoting and of the interior point method have one.
            let verified = matches!(method.family(), Family::Pivoting | Family::InteriorPoint)
                && method != Method::Enumerate;
            if report.status == Status::Infeasible
                && !verified
                && !proof::is_proved(given, observer)
            {
                report.status = Status::Stagnated;
            }
            if may_be_solved(report.status) && solved(x) {
                report.status = Status::Converged;
            }
            Ok(report)
        };
        if method == Method::Auto {
            return auto::solve(&auto::analysed(problem, known), first, x, &mut attempt);
        }
        let report = attempt(method, x)?;
        Ok(Solution::of(method.name(), "it was asked for", report))
    };
    judged(problem, scaled, options, x, &mut run)
}

/// Says whether a point of a scaled problem is a solution by [`Accuracy::relative`].
type Judge<'a> = &'a dyn Fn(&[f64]) -> bool;
/// Solves a scaled problem.
pub type ScaledSolve<'a> =
    dyn FnMut(&BoxMlcp<'_, Csr>, &mut [f64]) -> Result<Solution, InputError> + 'a;
/// The same, with what says that a point is a solution.
type JudgedSolve<'a> =
    dyn FnMut(&BoxMlcp<'_, Csr>, &mut [f64], Judge<'_>) -> Result<Solution, InputError> + 'a;

/// Solves a problem with its rows and columns scaled, unless the options ask for an absolute tolerance: `run` gets the scaled
/// problem. A point that is a solution by [`Accuracy::relative`] has converged, though `run` may have asked for more; a problem is
/// infeasible only if a [`certificate`](crate::certificate) is found.
pub fn solve_scaled(
    problem: &BoxMlcp<'_, Csr>,
    scaling: Scaling,
    options: &Options,
    x: &mut [f64],
    run: &mut ScaledSolve<'_>,
) -> Result<Solution, InputError> {
    let scaled = match options.absolute {
        true => None,
        false => Scaled::new(problem, scaling),
    };
    let mut solution = judged(problem, scaled, options, x, &mut |problem, x, _| {
        run(problem, x)
    })?;
    // A verdict without a certificate is no proof.
    if solution.report.status == Status::Infeasible && !proof::is_proved(problem, &mut ()) {
        solution.report.status = Status::Stagnated;
    }
    Ok(solution)
}

fn judged(
    problem: &BoxMlcp<'_, Csr>,
    scaled: Option<Scaled>,
    options: &Options,
    x: &mut [f64],
    run: &mut JudgedSolve<'_>,
) -> Result<Solution, InputError> {
    let Some(scaled) = scaled else {
        return run(problem, x, &|_| false);
    };
    problem.check_start(x)?;
    let mut own = scaled.enter(x);
    if own.iter().any(|x| !x.is_finite()) {
        return run(problem, x, &|_| false);
    }
    let solved = |x: &[f64]| scaled.relative(x, options.tolerance).0 <= options.tolerance;
    let mut solution = run(&scaled.problem()?, &mut own, &solved)?;
    scaled.leave(problem, &own, x);
    let kept = solution.report;
    let report = &mut solution.report;
    report.residual = problem.residual_inf(x);
    if may_be_solved(report.status) && solved(&own) {
        report.status = Status::Converged;
    }
    let report = *report;
    for attempt in solution
        .attempts
        .iter_mut()
        .filter(|attempt| attempt.report == kept)
    {
        attempt.report = report;
    }
    Ok(solution)
}

/// Whether a solve that ended so may have reached a solution by another measure.
fn may_be_solved(status: Status) -> bool {
    !matches!(
        status,
        Status::Infeasible | Status::Stopped | Status::NonFinite
    )
}

/// A solver that a [`Registry`] holds.
pub trait NamedSolver {
    /// Name, with variations after colons: `newton:gmres`.
    fn name(&self) -> &str;

    /// Whether the solver has this name, without variations.
    fn is_named(&self, word: &str) -> bool {
        self.name() == word
    }

    /// The solver with variations, the words after the colons of a name. An error lists those that there are.
    fn vary(&self, words: &[&str]) -> Result<Box<dyn NamedSolver + '_>, String> {
        let words = words.join(":");
        Err(format!(
            "{words:?} is no variation of {}; there are none",
            self.name()
        ))
    }

    /// Whether the solver can be expected to solve a problem; if not, why.
    fn fits(&self, analysis: &Analysis) -> Result<(), &'static str>;

    /// Solves a problem, starting from the given `x`.
    fn solve(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        options: &Options,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Solution, InputError>;
}

impl<S: NamedSolver + ?Sized> NamedSolver for &S {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn is_named(&self, word: &str) -> bool {
        (**self).is_named(word)
    }

    fn vary(&self, words: &[&str]) -> Result<Box<dyn NamedSolver + '_>, String> {
        (**self).vary(words)
    }

    fn fits(&self, analysis: &Analysis) -> Result<(), &'static str> {
        (**self).fits(analysis)
    }

    fn solve(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        options: &Options,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Solution, InputError> {
        (**self).solve(problem, options, x, observer)
    }
}

/// A method whose linear systems are preconditioned by aggregation multigrid: `newton:amg`.
struct WithMultigrid {
    method: Method,
    name: String,
}

impl NamedSolver for WithMultigrid {
    fn name(&self) -> &str {
        &self.name
    }

    fn fits(&self, analysis: &Analysis) -> Result<(), &'static str> {
        match analysis.symmetric {
            true => self.method.fits(analysis),
            false => Err("the matrix is not symmetric"),
        }
    }

    fn solve(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        options: &Options,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Solution, InputError> {
        solve(problem, self.method, &options.multigrid(true), x, observer)
    }
}

impl NamedSolver for Method {
    fn name(&self) -> &str {
        Method::name(*self)
    }

    fn vary(&self, words: &[&str]) -> Result<Box<dyn NamedSolver + '_>, String> {
        let takes = matches!(
            self,
            Self::Newton | Self::Policy | Self::Penalty | Self::Linear
        );
        if takes && words == ["amg"] {
            return Ok(Box::new(WithMultigrid {
                method: *self,
                name: format!("{}:amg", self.name()),
            }));
        }
        let there_are = if takes {
            "there is amg"
        } else {
            "there are none"
        };
        let words = words.join(":");
        Err(format!(
            "{words:?} is no variation of {}; {there_are}",
            self.name()
        ))
    }

    fn fits(&self, analysis: &Analysis) -> Result<(), &'static str> {
        Method::fits(*self, analysis)
    }

    fn solve(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        options: &Options,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Solution, InputError> {
        solve(problem, *self, options, x, observer)
    }
}

/// Solvers by name: the methods of this crate, and those that other crates register.
///
/// ```
/// use meniscus_lcp::registry::{Options, Registry};
/// use meniscus_lcp::{BoxMlcp, Csr, Status};
///
/// let matrix = Csr::new(1, vec![0, 1], vec![0], vec![2.0])?;
/// let problem = BoxMlcp::new(&matrix, &[-1.0], &[0.0], &[f64::INFINITY])?;
/// let registry = Registry::default();
/// for name in ["auto", "lemke", "pgs"] {
///     let solver = registry.find(name).unwrap();
///     let mut x = [0.0];
///     let solution = solver.solve(&problem, &Options::default(), &mut x, &mut ())?;
///     assert_eq!((solution.report.status, x), (Status::Converged, [0.5]));
/// }
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
pub struct Registry<'a> {
    solvers: Vec<Box<dyn NamedSolver + 'a>>,
}

impl Default for Registry<'_> {
    /// The methods of this crate.
    fn default() -> Self {
        let boxed = |&method: &Method| Box::new(method) as Box<dyn NamedSolver>;
        Self {
            solvers: Method::ALL.iter().map(boxed).collect(),
        }
    }
}

impl<'a> Registry<'a> {
    /// Adds a solver. It replaces those whose names it takes.
    pub fn register(&mut self, solver: impl NamedSolver + 'a) {
        self.solvers.retain(|known| !solver.is_named(known.name()));
        self.solvers.push(Box::new(solver));
    }

    /// All solvers, in the order in which they were registered.
    pub fn solvers(&self) -> impl Iterator<Item = &(dyn NamedSolver + 'a)> {
        self.solvers.iter().map(|solver| &**solver)
    }

    /// The solver with a name, which may have variations after colons.
    pub fn find(&self, name: &str) -> Result<Box<dyn NamedSolver + '_>, String> {
        let mut words = name.split(':');
        let word = words.next().unwrap_or_default();
        let Some(solver) = self.solvers().find(|solver| solver.is_named(word)) else {
            let names: Vec<&str> = self.solvers().map(NamedSolver::name).collect();
            return Err(format!(
                "there is no method {word}; there are {}",
                names.join(", ")
            ));
        };
        match words.collect::<Vec<&str>>() {
            none if none.is_empty() => Ok(Box::new(solver)),
            words => solver.vary(&words),
        }
    }
}
