//! What a run tells while it goes on.

use super::statistics::StepLine;

/// Something that happened in a run.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The scene is set up, the first step comes next.
    Begin {
        /// Frames in all.
        frames: u32,
        /// Those of them that are there already.
        done: u32,
        /// Particles at the start.
        particles: usize,
        /// Threads at work.
        threads: usize,
    },
    /// Something that somebody may want to know, in a sentence: where a run goes on, what was damaged.
    Notice(&'a str),
    /// A step was taken.
    Step(&'a StepLine),
    /// A frame is complete. Its files are on their way to the disk; those of the frame before have arrived.
    Frame {
        /// Its number, from 1.
        number: u32,
        /// Steps that led to it.
        steps: u32,
        /// The last of them.
        last: &'a StepLine,
        /// Whether the drift of the volume is beyond its limit.
        drifted: bool,
    },
}

/// Somebody who wants to know how a run is doing.
pub trait Progress {
    /// Called for every event, in order.
    fn event(&mut self, event: Event<'_>);
}

/// Nobody.
impl Progress for () {
    fn event(&mut self, _event: Event<'_>) {}
}
