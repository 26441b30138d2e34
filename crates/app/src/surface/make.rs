//! Surface reconstruction for the frames of a run.

use super::{Measures, file, measured, measures};
use meniscus_scene::SurfaceSettings;
use meniscus_scene::{AnyScene, Scene};
use meniscus_store::atomic_file;
use meniscus_store::cache::{self, Frame};
use meniscus_store::error::{Error, Kind};
use meniscus_store::layout::surfaces::{FOLDER, path};
use meniscus_store::lock::Lock;
use meniscus_store::opened_run::{FrameChoice, OpenedRun};
use meniscus_store::quantity::count;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Version of the method; increased with every change so that older surfaces are reconstructed.
const METHOD: &str = "surface 3";

/// Options of a reconstruction.
#[derive(Debug)]
pub struct Options<'a> {
    /// Frames.
    pub frames: FrameChoice,
    /// Method and its settings.
    pub settings: SurfaceSettings,
    /// Set from another thread to stop after the current frame.
    pub stop: &'a AtomicBool,
}

/// Progress callback.
pub trait Progress {
    /// Number of requested frames.
    fn begin(&mut self, frames: usize);
    /// One frame is done; it may have been up to date.
    fn frame(&mut self, number: u32, made: bool);
}

impl Progress for () {
    fn begin(&mut self, _frames: usize) {}
    fn frame(&mut self, _number: u32, _made: bool) {}
}

/// Result of a reconstruction.
#[derive(Clone, Debug)]
pub struct Made {
    /// Folder of the surfaces.
    pub folder: PathBuf,
    /// Number of frames that were reconstructed.
    pub made: usize,
    /// Number of frames that were up to date.
    pub kept: usize,
    /// Total bytes.
    pub bytes: u64,
    /// Frames with their measures, in order.
    pub measures: Vec<(u32, Measures)>,
}

/// Reconstructs the surfaces of the frames of a run of this scene, into its folder. Those that are up to date are kept.
///
/// # Errors
/// If the folder is not a run, nothing can be written, or the work was stopped. Damaged frames are skipped and listed in
/// the error, after all others are done.
pub fn make(
    run: &OpenedRun,
    scene: &AnyScene,
    options: &Options<'_>,
    watch: &mut (dyn Progress + Send),
) -> Result<Made, Error> {
    options.settings.check()?;
    let frames = run.frames(&options.frames)?;
    let folder = run.root.join(FOLDER);
    refuse_links(&folder)?;
    let _lock = Lock::take(&folder)?;
    watch.begin(frames.len());
    match scene {
        AnyScene::Two(scene) => frames_of(scene, run, &frames, options, watch),
        AnyScene::Three(scene) => frames_of(scene, run, &frames, options, watch),
    }
}

/// A link in place of the folder would redirect files out of the run's folder.
fn refuse_links(folder: &Path) -> Result<(), Error> {
    match std::fs::symlink_metadata(folder) {
        Ok(data) if !data.is_dir() => Err(Error::usage(format!(
            "{} is not a folder",
            folder.display()
        ))
        .with_remedy("remove it")),
        _ => Ok(()),
    }
}

fn frames_of<const D: usize>(
    scene: &Scene<D>,
    run: &OpenedRun,
    frames: &[u32],
    options: &Options<'_>,
    watch: &mut (dyn Progress + Send),
) -> Result<Made, Error> {
    let maker = SurfaceEncoder::new(scene, &run.manifest.physics_hash, options.settings);
    let mut done = Made {
        folder: run.root.join(FOLDER),
        made: 0,
        kept: 0,
        bytes: 0,
        measures: Vec::new(),
    };
    let mut faults: Vec<Error> = Vec::new();
    for &number in frames {
        if options.stop.load(Ordering::Relaxed) {
            let message = format!("stopped before the surface of frame {number}");
            return Err(Error::new(Kind::Interrupted, message)
                .with_remedy("the same command continues from there"));
        }
        let source = cache::frame_path(&run.root, number);
        let frame = cache::read_bytes(&source).and_then(|particles| {
            let frame = cache::decode::<D>(&particles);
            frame.map_or_else(|e| Err(cache::damaged(&source, &e)), |f| Ok((particles, f)))
        });
        let (particles, frame) = match frame {
            Ok(frame) => frame,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        let target = path(&run.root, number);
        let current = maker.current(&target, &particles);
        let made = current.is_none();
        let measures = match current {
            Some(measures) => measures,
            None => {
                let (bytes, measures) = maker.file(&particles, &frame)?;
                atomic_file::write(&target, &bytes)?;
                measures
            }
        };
        done.measures.push((number, measures));
        done.made += usize::from(made);
        done.kept += usize::from(!made);
        done.bytes += std::fs::metadata(&target).map_or(0, |data| data.len());
        watch.frame(number, made);
    }
    measures::write(&done.folder, &done.measures)?;
    let others = count(done.made + done.kept, "other surface");
    cache::check_faults(&faults, &others, &done.folder)?;
    Ok(done)
}

/// Encoder of surface files, for finished runs and for the one in progress.
pub struct SurfaceEncoder<'a, const D: usize> {
    scene: &'a Scene<D>,
    physics_hash: String,
    settings: SurfaceSettings,
}

impl<'a, const D: usize> SurfaceEncoder<'a, D> {
    /// Creates an encoder for a scene with the hash of its physics.
    pub fn new(scene: &'a Scene<D>, physics_hash: &str, settings: SurfaceSettings) -> Self {
        SurfaceEncoder {
            scene,
            physics_hash: physics_hash.into(),
            settings,
        }
    }

    /// Content of a surface file, from that of the particle file, and its measures.
    ///
    /// # Errors
    /// If the surface can't be made.
    pub fn file(&self, particles: &[u8], frame: &Frame<D>) -> Result<(Vec<u8>, Measures), Error> {
        let (surface, measures) = measured(self.scene, frame, &self.settings)?;
        let sealed = file::SurfaceFile {
            number: frame.number,
            time: frame.time,
            dx: frame.spacing(),
            dimension: D as u32,
            fingerprint: self.fingerprint(particles),
            measures,
            surface,
        };
        let bytes = file::encode(&sealed).map_err(|cause| {
            Error::new(
                Kind::Numerical,
                format!(
                    "the surface of frame {} can't be kept: {cause}",
                    frame.number
                ),
            )
        })?;
        Ok((bytes, measures))
    }

    /// Measures of an existing surface, if it is intact and made of these particles in the same way.
    fn current(&self, file: &Path, particles: &[u8]) -> Option<Measures> {
        let there = cache::read_bytes(file).ok()?;
        let (fingerprint, measures) = file::fingerprint(&there).ok()?;
        (fingerprint == self.fingerprint(particles)).then_some(measures)
    }

    /// Hash of all inputs of a surface.
    fn fingerprint(&self, particles: &[u8]) -> [u8; 32] {
        let SurfaceSettings {
            source,
            resolution,
            smoothing,
        } = self.settings;
        let text = format!(
            "{METHOD} {source} {resolution} {smoothing} {}",
            self.physics_hash
        );
        let hash = blake3::hash(particles);
        *blake3::Hasher::new()
            .update(text.as_bytes())
            .update(hash.as_bytes())
            .finalize()
            .as_bytes()
    }
}
