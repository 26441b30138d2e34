//! Numbers out of the measurements.

use super::measure::{Air, Frame, Pace, Run, Setup};
use super::stage::Stage;
use super::{Measured, Measurements};
use crate::machine::Span;
use crate::walls::Quartiles;

/// Over all frames.
pub fn sum(run: &Run, what: impl Fn(&Frame) -> f64) -> f64 {
    run.frames.iter().map(what).sum()
}

/// Over all frames.
pub fn mean(run: &Run, what: impl Fn(&Frame) -> f64) -> f64 {
    sum(run, what) / run.frames.len() as f64
}

/// Seconds of a frame on the wall, without waits of the driving thread for a core.
pub fn own_seconds(run: &Run) -> f64 {
    mean(run, |frame| frame.span.own)
}

/// What [`own_seconds`] may be on an idle machine. The driver waits for other threads that wait for a core: some or all of
/// their waiting was also its own. No run is shorter than its work in equal shares.
pub fn own_seconds_at_best(run: &Measured<Run>) -> f64 {
    let threads = run.setup.threads as f64;
    mean(&run.outcome, |frame| {
        (frame.span.own - frame.others_waited).max(frame.span.cpu / threads)
    })
}

/// CPU seconds of a frame from the first impact on, if there was one.
pub fn cpu_from_impact(run: &Run) -> Option<f64> {
    let frames = &run.frames[run.impact? - 1..];
    Some(frames.iter().map(|frame| frame.span.cpu).sum::<f64>() / frames.len() as f64)
}

/// CPU seconds of a frame, of all or of those from the first impact on.
pub fn dearest_cpu(run: &Run) -> f64 {
    let all = mean(run, |frame| frame.span.cpu);
    cpu_from_impact(run).map_or(all, |later| later.max(all))
}

/// Peak memory by the liquid cells that there were then.
pub fn bytes_a_cell(run: &Run) -> Option<f64> {
    run.peak.map(|peak| peak.bytes as f64 / peak.cells as f64)
}

/// Per cent that twice the air costs, as the median over the frames.
pub fn cost_of_air(air: &Air) -> Option<f64> {
    let frames = air.frames.iter();
    median(frames.map(|[less, more]| 100.0 * (more / less - 1.0)))
}

/// How many times as fast more threads are, as the median over the frames.
pub fn speed_up(pace: &Pace) -> Option<f64> {
    median(pace.frames.iter().map(|[one, more]| one / more))
}

/// Of both numbers, over all frames.
pub fn means(frames: &[[f64; 2]]) -> [f64; 2] {
    [0, 1].map(|which| frames.iter().map(|pair| pair[which]).sum::<f64>() / frames.len() as f64)
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    Quartiles::of(values).map(|quartiles| quartiles.median)
}

/// A phase of a frame; nothing if it has no such phase.
pub fn of_phase(frame: &Frame, name: &str) -> Span {
    let found = frame.phases.iter().find(|phase| phase.name == name);
    found.map(|phase| phase.span).unwrap_or_default()
}

/// Every phase of every run, in the order in which they come.
pub fn phase_names(measured: &Measurements) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let frames = measured.runs.iter().flat_map(|run| &run.outcome.frames);
    for phase in frames.flat_map(|frame| &frame.phases) {
        if !names.contains(&phase.name) {
            names.push(phase.name.clone());
        }
    }
    names
}

/// The scenes that were run.
pub fn stages(measured: &Measurements) -> Vec<Stage> {
    let mut stages: Vec<Stage> = measured.runs.iter().map(|run| run.setup.stage).collect();
    stages.dedup();
    stages
}

/// Runs that differ in their threads only.
fn same_but_threads<'a>(
    measured: &'a Measurements,
    setup: &'a Setup,
) -> impl Iterator<Item = &'a Measured<Run>> {
    let same = |other: &Setup| other.stage == setup.stage && other.walls == setup.walls;
    measured.runs.iter().filter(move |run| same(&run.setup))
}

/// Whether no other run of the same scene and walls has fewer threads.
pub fn has_fewest_threads(measured: &Measurements, setup: &Setup) -> bool {
    same_but_threads(measured, setup).all(|other| setup.threads <= other.setup.threads)
}

/// The run of the same scene and walls with most threads, if that is another one.
pub fn with_most_threads<'a>(
    measured: &'a Measurements,
    run: &'a Measured<Run>,
) -> Option<&'a Measured<Run>> {
    let most = same_but_threads(measured, &run.setup).max_by_key(|other| other.setup.threads)?;
    (most.setup.threads > run.setup.threads).then_some(most)
}
