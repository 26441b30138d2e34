//! Every method by its name, with sensible settings, and [`Method::Auto`], which picks one.
//!
//! For those who have a matrix and want an answer. The modules under [`methods`](crate::methods) have all the settings,
//! keep their memory between solves, and take operators that are no matrices.
//!
//! ```
//! use meniscus_lcp::toolbox::{self, Method, Options};
//! use meniscus_lcp::{BoxMlcp, Csr, Status};
//!
//! let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
//! let problem = BoxMlcp::new(&matrix, &[-1.0, 5.0], &[0.0; 2], &[f64::INFINITY; 2])?;
//! let mut x = [0.0; 2];
//! let solution = toolbox::solve(&problem, Method::Auto, &Options::default(), &mut x, &mut ())?;
//! assert_eq!(solution.report.status, Status::Converged);
//! assert_eq!(x, [0.5, 0.0]);
//! for attempt in &solution.attempts {
//!     println!("{}: {}, because {}", attempt.method, attempt.report.status, attempt.why);
//! }
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

mod auto;
mod method;
mod run;

pub use method::{Family, Method};

use std::ops::ControlFlow;

use crate::csr::Csr;
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::{InnerProgress, Observer, Progress, Report};
use crate::survey::survey;

/// What improves the start before a method begins: a hybrid of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prelude {
    /// So many sweeps of [`pgs`](crate::methods::pgs).
    Pgs(usize),
    /// So many sweeps of [`psor`](crate::methods::psor).
    Psor(usize),
    /// So many gradient steps; see [`start`](crate::methods::start).
    Gradient(usize),
}

impl std::str::FromStr for Prelude {
    type Err = String;

    /// As in `pgs:10`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not of the form pgs:10, psor:10 or gradient:10");
        let (name, steps) = text.split_once(':').ok_or_else(wrong)?;
        let steps = steps.parse().map_err(|_| wrong())?;
        match name {
            "pgs" => Ok(Self::Pgs(steps)),
            "psor" => Ok(Self::Psor(steps)),
            "gradient" => Ok(Self::Gradient(steps)),
            _ => Err(wrong()),
        }
    }
}

settings! {
    /// What to ask of any method.
    pub struct Options {
        /// Bound on `||r||_inf` of the natural residual.
        pub tolerance: f64 = 1e-8,
        /// Limit of iterations, pivots or sweeps. `None`: the method's own default.
        pub max_iterations: Option<usize> = None,
        /// What comes before the method.
        pub prelude: Option<Prelude> = None,
    }
}

/// A method that was tried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attempt {
    /// Which.
    pub method: Method,
    /// Why it was picked.
    pub why: String,
    /// How it ended.
    pub report: Report,
}

/// How a solve ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solution {
    /// That of the attempt whose `x` was kept: the last, unless none converged.
    pub report: Report,
    /// The method of that attempt.
    pub method: Method,
    /// All that were tried, in order.
    pub attempts: Vec<Attempt>,
}

/// Solves a problem by a method, starting from the given `x`.
///
/// An error if the method can't be used on the problem at all; [`Method::fits`] tells before.
pub fn solve<O: Observer + ?Sized>(
    problem: &BoxMlcp<'_, Csr>,
    method: Method,
    options: &Options,
    x: &mut [f64],
    observer: &mut O,
) -> Result<Solution, InputError> {
    if let Some(prelude) = options.prelude {
        improve(problem, prelude, options.tolerance, x, observer)?;
    }
    if method == Method::Auto {
        return auto::solve(problem, &survey(problem), options, x, observer);
    }
    let report = run::run(problem, method, options, x, observer)?;
    let attempt = Attempt {
        method,
        why: "it was asked for".into(),
        report,
    };
    Ok(Solution {
        report,
        method,
        attempts: vec![attempt],
    })
}

/// Improves a start; [`solve()`] does so before the method if its options say so.
///
/// To the observer its steps are inner iterations, so that it may stop them.
pub fn improve<O: Observer + ?Sized>(
    problem: &BoxMlcp<'_, Csr>,
    prelude: Prelude,
    tolerance: f64,
    x: &mut [f64],
    observer: &mut O,
) -> Result<(), InputError> {
    run::prelude(problem, prelude, tolerance, x, &mut AsInner(observer))
}

/// Shows an observer iterations as inner ones.
struct AsInner<'a, O: Observer + ?Sized>(&'a mut O);

impl<O: Observer + ?Sized> Observer for AsInner<'_, O> {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.0.observe_inner(&InnerProgress {
            iteration: progress.iteration,
            norm: progress.merit,
            largest: progress.residual,
        })
    }

    fn observe_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        self.0.observe_inner(progress)
    }
}
