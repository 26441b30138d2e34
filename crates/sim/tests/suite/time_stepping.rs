//! The length of a step, and retries.

use std::io::{self, Write};

use meniscus_sim::{
    BodyState, Cost, Layers, Phases, ProblemDump, SavedState, Snapshot, StepError, StepFailure,
    StepLimit, StepReport, World, advance,
};

/// A world whose steps succeed below a length.
struct Stiff {
    time: f64,
    longest_that_succeeds: f64,
    speed: f64,
    tried: Vec<f64>,
}

struct Nothing;

impl SavedState for Nothing {
    fn len(&self) -> usize {
        0
    }
    fn write(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

impl World for Stiff {
    fn dimension(&self) -> usize {
        2
    }
    fn time(&self) -> f64 {
        self.time
    }
    fn step_limit(&self, until: f64) -> StepLimit {
        let longest = until - self.time;
        StepLimit {
            dt: longest.min(1.0 / self.speed),
            longest,
            speed: self.speed,
        }
    }
    fn try_step(&mut self, dt: f64, _: &mut dyn Phases) -> Result<StepReport, Box<StepFailure>> {
        self.tried.push(dt);
        if dt > self.longest_that_succeeds {
            return Err(Box::new(StepFailure {
                error: StepError::Refused("too long".into()),
                report: StepReport::new(self.time, dt),
                problem: None,
            }));
        }
        self.time += dt;
        Ok(StepReport::new(self.time, dt))
    }
    fn snapshot(&self, _: Layers) -> Snapshot {
        Snapshot::default()
    }
    fn bodies(&self) -> Vec<BodyState> {
        Vec::new()
    }
    fn state(&self) -> Box<dyn SavedState + '_> {
        Box::new(Nothing)
    }
    fn problem(&mut self, _: f64) -> Result<Box<dyn ProblemDump>, StepError> {
        Err(StepError::Refused("there is none".into()))
    }
    fn cost(&self) -> Cost {
        Cost::default()
    }
}

fn stiff(longest_that_succeeds: f64, speed: f64) -> Stiff {
    Stiff {
        time: 0.0,
        longest_that_succeeds,
        speed,
        tried: Vec::new(),
    }
}

#[test]
fn a_failed_step_is_tried_again_with_half_its_length() {
    let mut world = stiff(0.3, 1.0);
    let report = advance(&mut world, 1.0, &mut ()).unwrap();
    assert_eq!((report.retries, report.dt), (2, 0.25));
    assert_eq!(world.tried, [1.0, 0.5, 0.25]);
}

#[test]
fn after_three_shorter_steps_the_failure_is_reported() {
    let mut world = stiff(0.1, 1.0);
    let failure = advance(&mut world, 1.0, &mut ()).unwrap_err();
    assert_eq!((failure.report.retries, failure.report.dt), (3, 0.125));
    assert_eq!((world.tried.len(), world.time), (4, 0.0));
}

#[test]
fn a_world_that_has_run_away_is_not_stepped() {
    for speed in [1e9, f64::INFINITY] {
        let mut world = stiff(1.0, speed);
        let failure = advance(&mut world, 1.0, &mut ()).unwrap_err();
        assert!(matches!(failure.error, StepError::TooFast { .. }));
        assert!(world.tried.is_empty());
    }
}
