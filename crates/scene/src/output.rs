//! What a run writes and how often. None of it changes a particle.

use super::{Style, SurfaceSettings};

/// What a run writes beside its statistics, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The particles of every this many frames are written; 1 for those of all.
    pub particles_every: u32,
    /// Whether particles have an id, their age and their source.
    pub attributes: bool,
    /// Whether a preview is drawn of the frames that are written.
    pub preview: bool,
    /// Longest side of the preview in pixels.
    pub preview_side: u32,
    /// Whether the surfaces of the frames that are written are reconstructed.
    pub surface: bool,
    /// How surfaces are reconstructed.
    pub surface_settings: SurfaceSettings,
    /// How its liquid is drawn.
    pub preview_style: Style,
    /// A checkpoint is written after this many frames, and one after the last in any case; 0 for that one alone.
    pub checkpoint_every: u32,
    /// So many of the latest checkpoints are kept.
    pub keep_checkpoints: u32,
    /// And those of every this many frames, however old; 0 for none of them.
    pub milestone_every: u32,
}

impl Default for Output {
    fn default() -> Self {
        Output {
            particles_every: 1,
            attributes: false,
            preview: true,
            preview_side: 320,
            surface: false,
            surface_settings: SurfaceSettings::default(),
            preview_style: Style::Surface,
            checkpoint_every: 1,
            keep_checkpoints: 3,
            milestone_every: 25,
        }
    }
}

impl Output {
    /// Whether the particles of this frame are written.
    pub fn writes_particles(&self, frame: u32) -> bool {
        frame.is_multiple_of(self.particles_every.max(1))
    }

    /// Whether a checkpoint belongs after this frame of a run of `frames`.
    pub fn writes_checkpoint(&self, frame: u32, frames: u32) -> bool {
        frame == frames || self.checkpoint_every != 0 && frame.is_multiple_of(self.checkpoint_every)
    }

    /// Whether the checkpoint of a frame stays for good.
    pub fn is_milestone(&self, frame: u32) -> bool {
        self.milestone_every != 0 && frame.is_multiple_of(self.milestone_every)
    }
}
