//! Progress events of a run.

use super::statistics::StepLine;

/// Event of a run.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The scene is set up; the first step follows.
    Begin {
        /// Total number of frames.
        frames: u32,
        /// Number of frames that exist already.
        done: u32,
        /// Number of particles at the start.
        particles: usize,
        /// Number of threads.
        threads: usize,
    },
    /// Notice, as a sentence: where a run resumes, which file was damaged.
    Notice(&'a str),
    /// A step was completed.
    Step(&'a StepLine),
    /// A frame is complete. Its files are being written; those of the frame before are on disk.
    Frame {
        /// Number of the frame, from 1.
        number: u32,
        /// Steps that led to it.
        steps: u32,
        /// Last of them.
        last: &'a StepLine,
        /// Whether the volume drift exceeds its limit.
        drifted: bool,
    },
}

/// Progress callback.
pub trait Progress {
    /// Called for every event, in order.
    fn event(&mut self, event: Event<'_>);
}

/// Ignores all events.
impl Progress for () {
    fn event(&mut self, _event: Event<'_>) {}
}
