//! Observer of a solve that measures time, which the library does not.

use meniscus_lcp::{InnerProgress, Observer, Progress};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Records every report with its time, and stops a solve that exceeds its time limit.
pub struct SolveTimer {
    start: Instant,
    limit: Option<Duration>,
    pub seen: Vec<Observation>,
}

/// State of a solve.
#[derive(Clone, Copy)]
pub struct Observation {
    /// Index of the method among those that were tried, from 0.
    pub attempt: usize,
    pub progress: Progress,
    pub seconds: f64,
}

impl SolveTimer {
    pub fn new(limit: Option<Duration>) -> Self {
        Self {
            start: Instant::now(),
            limit,
            seen: Vec::new(),
        }
    }

    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    pub fn is_late(&self) -> bool {
        self.limit.is_some_and(|limit| self.start.elapsed() > limit)
    }

    fn check_time(&self) -> ControlFlow<()> {
        if self.is_late() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Observer for SolveTimer {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        // Every method counts its iterations from zero.
        let before = self.seen.last().map(|seen| seen.attempt);
        let attempt = match before {
            None => 0,
            Some(last) if progress.iteration == 0 => last + 1,
            Some(last) => last,
        };
        self.seen.push(Observation {
            attempt,
            progress: *progress,
            seconds: self.seconds(),
        });
        self.check_time()
    }

    fn observe_inner(&mut self, _: &InnerProgress) -> ControlFlow<()> {
        self.check_time()
    }
}
