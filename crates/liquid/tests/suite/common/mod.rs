//! What the physics tests share.
#![allow(dead_code, missing_docs)]

use meniscus_liquid::{Liquid, Settings, StepFailure, StepReport};
use meniscus_shapes::{Motion, ScriptedSolid, Shape, Solids};

/// A box-shaped tank, the domain itself.
pub fn tank<const D: usize>(settings: &Settings<D>) -> Solids<D> {
    Solids::new(vec![still(
        "tank",
        Shape::Box {
            low: [0.0; D],
            high: settings.domain(),
        }
        .inverted(),
    )])
}

pub fn still<const D: usize>(name: &str, shape: Shape<D>) -> ScriptedSolid<D> {
    ScriptedSolid {
        name: name.into(),
        shape,
        motion: Motion::Still,
    }
}

/// One step as long as the CFL number allows, of at most `time_left` seconds.
pub fn advance<const D: usize>(
    liquid: &mut Liquid<D>,
    solids: &Solids<D>,
    time_left: f64,
) -> Result<StepReport, Box<StepFailure<D>>> {
    let dt = liquid.step_limit(solids, time_left).dt;
    let stepped = liquid.step(solids, dt, &mut ());
    stepped.map_err(|error| liquid.failure(error, dt))
}

/// Runs for `seconds` in frames of 1/24 s.
pub fn run<const D: usize>(
    liquid: &mut Liquid<D>,
    solids: &Solids<D>,
    seconds: f64,
    mut each: impl FnMut(&Liquid<D>, &StepReport),
) {
    let frames = (seconds * 24.0).round() as usize;
    let start = liquid.time();
    for frame in 1..=frames {
        let end = start + frame as f64 / 24.0;
        while end - liquid.time() > 1e-9 {
            let left = end - liquid.time();
            let report = match advance(liquid, solids, left) {
                Ok(report) => report,
                Err(failure) => panic!("{failure}"),
            };
            each(liquid, &report);
        }
    }
}

pub fn mean<const D: usize>(values: &[[f32; D]], axis: usize) -> f64 {
    values.iter().map(|v| v[axis] as f64).sum::<f64>() / values.len() as f64
}

pub fn speeds<const D: usize>(liquid: &Liquid<D>) -> (f64, f64) {
    let speed = |v: &[f32; D]| v.iter().map(|&c| c as f64 * c as f64).sum::<f64>().sqrt();
    let velocity = &liquid.particles().velocity;
    let sum: f64 = velocity.iter().map(speed).sum();
    (
        sum / velocity.len() as f64,
        velocity.iter().map(speed).fold(0.0, f64::max),
    )
}
