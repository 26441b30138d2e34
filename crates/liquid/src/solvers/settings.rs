//! Settings: method and stopping criteria.

use meniscus_lcp::InputError;

use super::{Fas, Fmg};
use crate::fas;
use crate::settings::{Preconditioner, Solver, words};

/// What solves the linear systems of Newton's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// Conjugate gradients.
    Cg,
    /// Conjugate residuals.
    Cr,
    /// GMRES.
    Gmres,
    /// Stabilised biconjugate gradients.
    Bicgstab,
}

words!(
    Inner,
    "method for linear systems",
    Cg = "cg",
    Cr = "cr",
    Gmres = "gmres",
    Bicgstab = "bicgstab"
);

/// Where a method starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the given `x`.
    Given,
    /// At zero.
    Zero,
    /// At what a few sweeps of PSOR make of the given `x`.
    Psor,
    /// At what a few projected gradient steps make of it.
    Gradient,
}

words!(
    Start,
    "start",
    Given = "given",
    Zero = "zero",
    Psor = "psor",
    Gradient = "gradient"
);

/// The variation of `fas-mg` that sweeps no more than the paper's.
const NO_EXTRA_SWEEPS: &str = "no-extra-sweeps";

/// What to solve with, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Method. Default: `auto`.
    pub solver: Solver,
    /// Bound on `||r||_inf` of the natural residual. Default: 1e-6. [Lai20 sec. 5]
    pub tolerance: f64,
    /// Limit of cycles, policies, penalty systems or Newton steps. Default: 100.
    pub max_iterations: usize,
    /// Limit of Krylov iterations for one linear system, and of steps of MPRGP. Default: 10,000.
    pub max_inner_iterations: usize,
    /// Preconditioner of methods without multigrid. Default: MIC(0).
    pub preconditioner: Preconditioner,
    /// Solver of the linear systems of `newton`. Default: conjugate gradients.
    pub inner: Inner,
    /// The part of its residual to which a linear system inside is solved: xi of [ANE17 (22)]. Default: 0.01, and 0.1
    /// where a multigrid cycle is the preconditioner.
    pub inner_tolerance: Option<f64>,
    /// Levels and sweeps of `fas-mg`.
    pub fas: Fas,
    /// Levels and sweeps of `fmg`.
    pub fmg: Fmg,
    /// Where to start. Default: at the given `x`.
    pub start: Start,
    /// Whether a multigrid method that fails is followed by one that can't on M-matrices, as always with `auto`.
    /// Default: no.
    pub fall_back: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            solver: Solver::Auto,
            tolerance: 1e-6,
            max_iterations: 100,
            max_inner_iterations: 10_000,
            preconditioner: Preconditioner::Mic0,
            inner: Inner::Cg,
            inner_tolerance: None,
            fas: Fas::default(),
            fmg: Fmg::default(),
            start: Start::Given,
            fall_back: false,
        }
    }
}

impl Settings {
    /// The defaults with a method by its word, and with variations after colons: `newton:gmres:jacobi:psor`.
    ///
    /// Variations are words of [`Inner`] (for `newton`), of [`fas::Settings`] (for `fas-mg` and `fmg`), of [`Preconditioner`] (for methods that take one), and of [`Start`].
    pub fn named(name: &str) -> Result<Self, String> {
        let mut parts = name.split(':');
        let mut settings = Self {
            solver: parts.next().unwrap_or_default().parse()?,
            ..Self::default()
        };
        for word in parts {
            settings.vary(word)?;
        }
        Ok(settings)
    }

    pub(super) fn vary(&mut self, word: &str) -> Result<(), String> {
        let solver = self.solver;
        let levels = match solver {
            Solver::FasMg => Some(&mut self.fas.levels),
            Solver::Fmg => Some(&mut self.fmg.levels),
            _ => None,
        };
        if levels.is_some_and(|levels| levels.choose(word)) {
            return Ok(());
        }
        if solver == Solver::FasMg && word == NO_EXTRA_SWEEPS {
            self.fas.bound_sweeps = 0;
        } else if let (Solver::Newton, Ok(inner)) = (solver, word.parse()) {
            self.inner = inner;
        } else if let (true, Ok(preconditioner)) = (solver.is_preconditioned(), word.parse()) {
            self.preconditioner = preconditioner;
        } else if let Ok(start) = word.parse() {
            self.start = start;
        } else {
            return Err(self.unknown(word));
        }
        Ok(())
    }

    fn unknown(&self, word: &str) -> String {
        let mut known: Vec<&str> = Vec::new();
        if self.solver == Solver::Newton {
            known.extend(Inner::WORDS);
        }
        if self.solver == Solver::FasMg {
            known.push(NO_EXTRA_SWEEPS);
        }
        if matches!(self.solver, Solver::FasMg | Solver::Fmg) {
            known.extend(fas::Settings::WORDS);
        }
        if self.solver.is_preconditioned() {
            known.extend(Preconditioner::WORDS);
        }
        known.extend(Start::WORDS);
        format!(
            "{word:?} is no variation of {}; there are {}",
            self.solver,
            known.join(", ")
        )
    }

    /// How well linear systems inside are solved.
    pub(super) fn forcing(&self, by_cycles: bool) -> f64 {
        self.inner_tolerance
            .unwrap_or(if by_cycles { 0.1 } else { 0.01 })
    }

    pub(super) fn check(&self) -> Result<(), InputError> {
        let rules = [
            (
                "tolerance",
                self.tolerance > 0.0 && self.tolerance.is_finite(),
                "positive and finite",
            ),
            (
                "inner_tolerance",
                self.inner_tolerance.is_none_or(|t| t > 0.0 && t < 1.0),
                "between 0 and 1",
            ),
        ];
        match rules.into_iter().find(|rule| !rule.1) {
            Some((name, _, must)) => Err(InputError::Setting { name, must }),
            None => Ok(()),
        }
    }
}
