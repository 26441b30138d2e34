//! Output files of a run. They do not affect the motion.

use super::{Style, SurfaceSettings};

/// Output files of a run besides its statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Frames from one that is written to the next. Default: 1.
    pub particles_every: u32,
    /// Whether particles have an id, an age and a source. Default: no.
    pub attributes: bool,
    /// Whether a preview is drawn. Default: yes.
    pub preview: bool,
    /// Longest side of the preview in pixels. Default: 320.
    pub preview_side: u32,
    /// Whether surfaces are written. Default: no.
    pub surface: bool,
    /// Settings of surface reconstruction.
    pub surface_settings: SurfaceSettings,
    /// Style of the preview.
    pub preview_style: Style,
    /// Frames from one checkpoint to the next; 0 for one after the last frame only. Default: 1.
    pub checkpoint_every: u32,
    /// Number of latest checkpoints to keep. Default: 3.
    pub keep_checkpoints: u32,
    /// Frames from one checkpoint that is never deleted to the next; 0 for none. Default: 25.
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

    /// Whether a checkpoint is written after this frame of a run of `frames`.
    pub fn writes_checkpoint(&self, frame: u32, frames: u32) -> bool {
        frame == frames || self.checkpoint_every != 0 && frame.is_multiple_of(self.checkpoint_every)
    }

    /// Whether the checkpoint of a frame is never deleted.
    pub fn is_milestone(&self, frame: u32) -> bool {
        self.milestone_every != 0 && frame.is_multiple_of(self.milestone_every)
    }
}
