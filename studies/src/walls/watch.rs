//! Observer of a solve: iterations, CPU time, and a time limit.

use crate::machine::Moment;
use meniscus_lcp::{InnerProgress, Observer, Progress, Report, Status};
use std::ops::ControlFlow;

/// Outcome of a solve.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub status: Status,
    /// Times that the method linearised the problem, or cycles.
    pub outer: usize,
    /// Iterations of the linear solver inside.
    pub inner: usize,
    /// Largest natural residual at the end, recomputed from the problem.
    pub residual: f64,
    /// Set-up included.
    pub cpu: f64,
    /// Whether it exceeded the time limit.
    pub too_long: bool,
    /// Before the first outer iteration and after each.
    pub outer_points: Vec<Progress>,
    /// After each inner iteration.
    pub inner_points: Vec<InnerProgress>,
}

impl Outcome {
    pub fn solved(&self) -> bool {
        self.status == Status::Converged
    }
}

/// Observer with a time limit.
pub struct Watch {
    start: Moment,
    patience: f64,
    too_long: bool,
    outer: Vec<Progress>,
    inner: Vec<InnerProgress>,
}

impl Watch {
    /// From now on, for so many CPU seconds.
    pub fn new(patience: f64) -> Self {
        Watch {
            start: Moment::now(),
            patience,
            too_long: false,
            outer: Vec::new(),
            inner: Vec::new(),
        }
    }

    fn go_on(&mut self) -> ControlFlow<()> {
        self.too_long = Moment::now().since(&self.start).cpu > self.patience;
        if self.too_long {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Adds what the solve itself reports at its end.
    pub fn outcome(self, report: &Report) -> Outcome {
        Outcome {
            status: report.status,
            outer: report.iterations,
            inner: report.inner_iterations,
            residual: report.residual,
            cpu: Moment::now().since(&self.start).cpu,
            too_long: self.too_long,
            outer_points: self.outer,
            inner_points: self.inner,
        }
    }
}

impl Observer for Watch {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.outer.push(*progress);
        self.go_on()
    }

    fn observe_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        self.inner.push(*progress);
        self.go_on()
    }
}

/// Points of a curve that a plot can show apart; the first and the last are among them.
const SHOWN: usize = 240;

/// A long curve with fewer points.
pub fn thinned<T: Copy>(points: Vec<T>) -> Vec<T> {
    if points.len() <= SHOWN {
        return points;
    }
    let last = points.len() - 1;
    let at = |index: usize| points[index * last / (SHOWN - 1)];
    (0..SHOWN).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_curve_keeps_its_ends() {
        assert_eq!(thinned(vec![1, 2, 3]), [1, 2, 3]);
        let thin = thinned((0..10_000).collect());
        assert_eq!((thin.len(), thin[0], thin[SHOWN - 1]), (SHOWN, 0, 9999));
        assert!(thin.is_sorted());
    }

    #[test]
    fn a_solve_without_time_is_stopped_at_its_first_report() {
        let progress = Progress::new(0, 0, 1.0, 1.0);
        let mut patient = Watch::new(f64::INFINITY);
        assert!(patient.observe(&progress).is_continue());
        let mut hasty = Watch::new(-1.0);
        assert!(hasty.observe(&progress).is_break());
        let report = Report::new(Status::Stopped, 0, 0, 1.0, 1.0);
        let outcome = hasty.outcome(&report);
        assert!(outcome.too_long && !outcome.solved());
    }
}
