//! Steps of a cheap method that improve the start of another.

use std::ops::ControlFlow;

use crate::csr::Csr;
use crate::error::InputError;
use crate::methods::{pgs, psor, start};
use crate::problem::BoxMlcp;
use crate::report::{InnerProgress, Observer, Progress};

/// Steps that improve the start before a solver begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presolve {
    /// Sweeps of [`pgs`].
    Pgs(usize),
    /// Sweeps of [`psor`].
    Psor(usize),
    /// Projected gradient steps; see [`start`].
    Gradient(usize),
}

impl std::str::FromStr for Presolve {
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

/// Improves a start; [`solve()`](super::solve()) does so first if its options ask for it.
///
/// The observer sees the steps as inner iterations, so that it can stop them.
pub fn presolve(
    problem: &BoxMlcp<'_, Csr>,
    steps: Presolve,
    tolerance: f64,
    x: &mut [f64],
    observer: &mut (impl Observer + ?Sized),
) -> Result<(), InputError> {
    let observer = &mut AsInner(observer);
    macro_rules! run {
        ($module:ident, $steps:expr) => {{
            let settings = $module::Settings::default()
                .tolerance(tolerance)
                .max_iterations($steps);
            $module::solve(problem, &settings, x, &mut Default::default(), observer)
        }};
    }
    // The status does not matter: the solver continues from there.
    match steps {
        Presolve::Pgs(sweeps) => run!(pgs, sweeps)?,
        Presolve::Psor(sweeps) => run!(psor, sweeps)?,
        Presolve::Gradient(count) => run!(start, count)?,
    };
    Ok(())
}

/// Reports iterations to an observer as inner ones.
pub(super) struct AsInner<'a, O: Observer + ?Sized>(pub &'a mut O);

impl<O: Observer + ?Sized> Observer for AsInner<'_, O> {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        let Progress {
            iteration,
            merit,
            residual,
            ..
        } = *progress;
        self.0
            .observe_inner(&InnerProgress::new(iteration, merit, residual))
    }

    fn observe_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        self.0.observe_inner(progress)
    }
}
