//! Length of steps, and retries with shorter ones after a failure.

use crate::report::{StepError, StepFailure, StepReport};
use crate::world::{Phases, World};

/// Attempts with half the step after a failed one.
const RETRIES: usize = 3;
/// Share of the longest step below which the simulation is unstable.
const SHORTEST: f64 = 1e-7;

/// One step towards the time `until`, as long as accuracy allows. A step that fails is tried again with half its length,
/// three times.
///
/// # Errors
/// The last failure. The world is as it was.
pub fn advance(
    world: &mut dyn World,
    until: f64,
    phases: &mut dyn Phases,
) -> Result<StepReport, Box<StepFailure>> {
    let limit = world.step_limit(until);
    if limit.dt < SHORTEST * limit.longest || !limit.speed.is_finite() {
        return Err(Box::new(StepFailure {
            error: StepError::TooFast { speed: limit.speed },
            report: StepReport::new(world.time(), limit.dt),
            problem: None,
        }));
    }
    let mut dt = limit.dt;
    let mut retries = 0;
    loop {
        match world.try_step(dt, phases) {
            Ok(mut report) => {
                report.retries = retries;
                return Ok(report);
            }
            Err(mut failure) if retries == RETRIES => {
                failure.report.retries = retries;
                return Err(failure);
            }
            Err(_) => {
                retries += 1;
                dt *= 0.5;
            }
        }
    }
}
