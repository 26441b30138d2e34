//! Settings of the iteration.

use meniscus_lcp::InputError;

/// When to stop, and the constants of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Bound on `||r||_inf` of the natural residual. Default: 1e-8.
    pub tolerance: f64,
    /// Limit of cycles. Default: 100.
    pub max_iterations: usize,
    /// Red-black sweeps on the way down, and again on the way up. Default: 3.
    pub sweeps: usize,
    /// Sweeps over bounded rows before each cycle. Default: 2.
    pub bound_sweeps: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_iterations: 100,
            sweeps: 3,
            bound_sweeps: 2,
        }
    }
}

impl Settings {
    pub(super) fn check(&self) -> Result<(), InputError> {
        let rules = [
            (
                "tolerance",
                self.tolerance >= 0.0 && self.tolerance.is_finite(),
                "zero or positive, and finite",
            ),
            ("sweeps", self.sweeps > 0, "at least 1"),
            ("bound_sweeps", self.bound_sweeps > 0, "at least 1"),
        ];
        match rules.into_iter().find(|rule| !rule.1) {
            Some((name, _, must)) => Err(InputError::Setting { name, must }),
            None => Ok(()),
        }
    }
}
