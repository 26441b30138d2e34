//! Writer thread: waits for the disk while the run continues.

use super::body_table::NewLines;
use meniscus_scene::Output;
use meniscus_store::atomic_file::Filled;
use meniscus_store::error::{Error, Kind};
use meniscus_store::jsonl::Sync;
use meniscus_store::manifest::Manifest;
use meniscus_store::{checkpoint, run_folder};
use std::path::PathBuf;
use std::thread::{Builder, JoinHandle};

/// Files of a complete frame, filled but not yet committed.
pub struct Frame {
    /// Particles, if they are written.
    pub particles: Option<Filled>,
    /// Lines of `bodies.csv`, if there are rigid bodies.
    pub bodies: Option<NewLines>,
    /// Surface, if it is made.
    pub surface: Option<Filled>,
    /// Checkpoint after the frame, if there is one.
    pub checkpoint: Option<Filled>,
    /// Statistics up to the frame.
    pub statistics: Sync,
    /// Actions up to the frame, if there are any.
    pub actions: Option<Sync>,
    /// Checkpoints to keep.
    pub output: Output,
    /// Manifest that lists these files.
    pub manifest: Manifest,
    /// Folder of the run.
    pub run: PathBuf,
}

impl Frame {
    /// Commits the files in an order that allows resuming at every moment: a checkpoint comes after the particles and the
    /// statistics that it relies on, the manifest comes last.
    fn finish(self) -> Result<(), Error> {
        if let Some(particles) = self.particles {
            particles.finish()?;
        }
        if let Some(bodies) = self.bodies {
            bodies.append()?;
        }
        if let Some(surface) = self.surface {
            surface.finish()?;
        }
        if let Some(checkpoint) = self.checkpoint {
            self.statistics.wait()?;
            if let Some(actions) = self.actions {
                actions.wait()?;
            }
            checkpoint.finish()?;
            run_folder::remove(&checkpoint::interrupted(&self.run))?;
            let output = &self.output;
            checkpoint::prune(&self.run, output.keep_checkpoints, |frame| {
                output.is_milestone(frame)
            })?;
        }
        self.manifest.write(&self.run)
    }
}

/// Commits one frame at a time, in a thread of its own.
#[derive(Default)]
pub struct Writer {
    at_work: Option<JoinHandle<Result<(), Error>>>,
}

impl Writer {
    /// Starts to commit a frame, once the one before is committed.
    ///
    /// # Errors
    /// The error of the frame before.
    pub fn give(&mut self, frame: Frame) -> Result<(), Error> {
        self.wait()?;
        let spawned = Builder::new()
            .name("writer".into())
            .spawn(move || frame.finish());
        self.at_work =
            Some(spawned.map_err(|e| {
                Error::new(Kind::Resources, format!("could not start a thread: {e}"))
            })?);
        Ok(())
    }

    /// Waits until everything is on disk.
    pub fn wait(&mut self) -> Result<(), Error> {
        match self.at_work.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}
