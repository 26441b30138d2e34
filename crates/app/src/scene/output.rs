//! What a run writes, and how often.

/// What a run leaves in its folder besides statistics. None of it changes the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Particles are written every so many frames.
    pub particles_every: u32,
    /// Whether a preview is drawn.
    pub preview: bool,
    /// Its longest side in pixels.
    pub preview_side: u32,
    /// A checkpoint is written every so many frames.
    pub checkpoint_every: u32,
    /// How many of the last checkpoints are kept.
    pub keep_checkpoints: u32,
    /// Checkpoints of every so many frames are kept for good; 0 for none.
    pub milestone_every: u32,
}

impl Default for Output {
    fn default() -> Self {
        Output {
            particles_every: 1,
            preview: true,
            preview_side: 400,
            checkpoint_every: 1,
            keep_checkpoints: 3,
            milestone_every: 25,
        }
    }
}
