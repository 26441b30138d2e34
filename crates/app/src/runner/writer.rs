//! Waits for the disk while the run goes on.

use meniscus_scene::Output;
use meniscus_store::atomic_file::Filled;
use meniscus_store::error::{Error, Kind};
use meniscus_store::jsonl::Sync;
use meniscus_store::manifest::Manifest;
use meniscus_store::{checkpoint, run_folder};
use std::path::PathBuf;
use std::thread::{Builder, JoinHandle};

/// The files of a complete frame, filled and not yet finished.
pub struct Frame {
    /// Its particles, if they are written.
    pub particles: Option<Filled>,
    /// Its surface, if it is made.
    pub surface: Option<Filled>,
    /// The checkpoint after it, if there is one.
    pub checkpoint: Option<Filled>,
    /// The statistics up to it.
    pub statistics: Sync,
    /// Which checkpoints are kept.
    pub output: Output,
    /// The manifest that says that all this is there.
    pub manifest: Manifest,
    /// The folder of the run.
    pub run: PathBuf,
}

impl Frame {
    /// Finishes the files in an order in which every moment is one that a run can go on from: a checkpoint comes after
    /// the particles and the statistics that it counts on, the manifest comes last.
    fn finish(self) -> Result<(), Error> {
        if let Some(particles) = self.particles {
            particles.finish()?;
        }
        if let Some(surface) = self.surface {
            surface.finish()?;
        }
        if let Some(checkpoint) = self.checkpoint {
            self.statistics.wait()?;
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

/// Finishes one frame at a time, in a thread of its own.
#[derive(Default)]
pub struct Writer {
    at_work: Option<JoinHandle<Result<(), Error>>>,
}

impl Writer {
    /// Begins to finish a frame, once the one before is finished.
    ///
    /// # Errors
    /// That of the frame before.
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

    /// Waits until everything is on the disk.
    pub fn wait(&mut self) -> Result<(), Error> {
        match self.at_work.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}
