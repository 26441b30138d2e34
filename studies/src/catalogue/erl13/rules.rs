//! The stopping rules of the notes, applied from outside, so that all methods end by the same.

use meniscus_lcp::{Observer, Progress, Status};
use std::ops::ControlFlow;

/// When a solve ends. [Erl13 (107), (108)]
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Merit that is small enough.
    pub absolute: f64,
    /// Change of the merit, as a part of it, that counts as none.
    pub relative: f64,
    /// Limit of iterations.
    pub iterations: usize,
}

/// Rules of the robustness study.
pub const ROBUSTNESS: Rules = Rules {
    absolute: 1e-3,
    relative: 1e-6,
    iterations: 100,
};

/// How a solve ended, in the words of the notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    Absolute,
    Relative,
    Stagnation,
    LocalMinimum,
    NonDescent,
    Limit,
    /// None of these: a ray, an overflow.
    Other,
}

impl Ending {
    /// All, in the order in which the tables have them.
    pub const ALL: [Self; 7] = [
        Self::Relative,
        Self::Absolute,
        Self::Stagnation,
        Self::LocalMinimum,
        Self::NonDescent,
        Self::Limit,
        Self::Other,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Relative => "relative",
            Self::Stagnation => "stagnation",
            Self::LocalMinimum => "local minimum",
            Self::NonDescent => "non-descent",
            Self::Limit => "limit",
            Self::Other => "other",
        }
    }
}

/// Ends a solve by the rules and keeps its merits.
pub struct Judge {
    rules: Rules,
    /// Whether the merit is meaningless at the start: `x'|Ax + b|` is zero at zero. [Erl13 (106)]
    blind_at_start: bool,
    pub merits: Vec<f64>,
    verdict: Option<Ending>,
}

impl Judge {
    pub fn new(rules: Rules, blind_at_start: bool) -> Self {
        Self {
            rules,
            blind_at_start,
            merits: Vec::new(),
            verdict: None,
        }
    }

    /// How it ended: by the rules, or by the method itself.
    pub fn ending(&self, status: Status) -> Ending {
        self.verdict.unwrap_or(match status {
            // Its own tolerance is far below the absolute rule.
            Status::Converged => Ending::Absolute,
            Status::Relative => Ending::Relative,
            Status::Stagnated => Ending::Stagnation,
            Status::LocalMinimum => Ending::LocalMinimum,
            Status::NonDescent => Ending::NonDescent,
            Status::IterationLimit => Ending::Limit,
            _ => Ending::Other,
        })
    }

    fn judge(&self, iteration: usize, merit: f64) -> Option<Ending> {
        if iteration == 0 && self.blind_at_start {
            return None;
        }
        // The first merit of a method that is blind at the start has nothing to be compared with.
        let first = if self.blind_at_start { 1 } else { 0 };
        let before = self.merits.get(first..).and_then(<[f64]>::last);
        if merit < self.rules.absolute {
            Some(Ending::Absolute)
        } else if before.is_some_and(|b| (merit - b).abs() < self.rules.relative * b.abs()) {
            Some(Ending::Relative)
        } else if iteration >= self.rules.iterations {
            Some(Ending::Limit)
        } else {
            None
        }
    }
}

impl Observer for Judge {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.verdict = self.judge(progress.iteration, progress.merit);
        self.merits.push(progress.merit);
        match self.verdict {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(merits: &[f64], blind: bool) -> (Option<Ending>, usize) {
        let mut judge = Judge::new(ROBUSTNESS, blind);
        for (iteration, &merit) in merits.iter().enumerate() {
            let progress = Progress::new(iteration, 0, 1.0, merit);
            if judge.observe(&progress).is_break() {
                break;
            }
        }
        (judge.verdict, judge.merits.len())
    }

    #[test]
    fn the_first_rule_that_holds_ends_a_solve() {
        assert_eq!(
            ending(&[1.0, 1e-2, 1e-4, 1.0], false),
            (Some(Ending::Absolute), 3)
        );
        assert_eq!(ending(&[1.0, 0.5, 0.5], false), (Some(Ending::Relative), 3));
        let slow: Vec<f64> = (0..200).map(|k| 0.9_f64.powi(k) + 1.0).collect();
        assert_eq!(ending(&slow, false), (Some(Ending::Limit), 101));
    }

    #[test]
    fn a_merit_that_is_zero_at_the_start_is_no_success() {
        assert_eq!(ending(&[0.0, 1.0, 0.5], true), (None, 3));
        assert_eq!(ending(&[0.0, 1.0], false), (Some(Ending::Absolute), 1));
    }
}
