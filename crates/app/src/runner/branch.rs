//! Branches: runs that start with the first frames of another run, which is not modified.

use super::Options;
use super::resume::{self, Found, Place};
use super::scene_summary;
use super::simulation::HeldScene;
use meniscus_scene::Scene;
use meniscus_store::atomic_file;
use meniscus_store::cache;
use meniscus_store::checkpoint;
use meniscus_store::error::Error;
use meniscus_store::layout::surfaces;
use meniscus_store::manifest::{self, BranchOrigin, Manifest};
use meniscus_store::opened_run::no_run;
use meniscus_store::regular_file;
use meniscus_store::run_folder::{self, RunFolder};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Source of a branch: a run and the checkpoint to continue from.
pub struct Source<'a, const D: usize> {
    folder: RunFolder,
    found: Found<'a, D>,
    place: Place<'a, D>,
}

impl<'a, const D: usize> Source<'a, D> {
    /// Finds the checkpoint in the folder of the source run; modifies nothing there.
    ///
    /// # Errors
    /// If there is no run or checkpoint, or its particles do not fit the scene.
    pub fn find(
        scene: &HeldScene<'a, D>,
        run: &Path,
        frame: u32,
        out: &Path,
    ) -> Result<Self, Error> {
        if run_folder::is_same(run, out) {
            return Err(Error::usage(format!(
                "a branch of the run in {} can't be the same folder",
                run.display()
            ))
            .with_remedy("branch into another one, such as --out auto"));
        }
        if Manifest::read(run)?.is_none() {
            return Err(no_run(run));
        }
        let folder = RunFolder::of_run(run);
        let mut found = resume::from_frame(scene, &folder, frame)?;
        let place = found.place.take().ok_or_else(|| no_run(run))?;
        Ok(Source {
            folder,
            found,
            place,
        })
    }

    /// Brings everything up to the checkpoint into the folder of the new run.
    ///
    /// A branch that is killed meanwhile has a manifest without frames: the same command creates it again, and `--resume`
    /// refuses to start it from the beginning.
    pub fn copy_to(
        self,
        scene: &Scene<D>,
        options: &Options<'_>,
        folder: &RunFolder,
    ) -> Result<Found<'a, D>, Error> {
        let Source {
            folder: source,
            mut found,
            mut place,
        } = self;
        let last = place.account.frames_done;
        let branch = BranchOrigin {
            run: source.root().to_string_lossy().into_owned(),
            frame: last,
        };
        let threads = rayon::current_num_threads();
        // Lists no frame yet: frame 0 does not exist before it is linked.
        let mut unfinished = Manifest {
            branched_from: Some(branch.clone()),
            particles: Vec::new(),
            ..scene_summary::manifest(scene, options, threads)
        };
        folder.begin(&unfinished, &options.scene_files())?;
        let (from, to) = (source.root(), folder.root());
        let kept = resume::kept(found.manifest.as_ref(), scene);
        for frame in (0..=last).filter(|&frame| manifest::is_kept(&kept, frame)) {
            link(
                &cache::frame_path(from, frame),
                &cache::frame_path(to, frame),
            )?;
        }
        // Before any checkpoint: resuming from one needs the frames before it.
        unfinished.particles = kept;
        unfinished.write(to)?;
        let surfaces = surfaces::frames_in(from)?;
        let mut surfaces = surfaces
            .into_iter()
            .filter(|&frame| frame <= last)
            .peekable();
        if surfaces.peek().is_some() {
            let inner = to.join(surfaces::FOLDER);
            fs::create_dir_all(&inner).map_err(|e| Error::io("create", &inner, &e))?;
        }
        for frame in surfaces {
            link(&surfaces::path(from, frame), &surfaces::path(to, frame))?;
        }
        // These two grow in place, so they are copied.
        let account = &place.account;
        copy_first(
            &source.statistics(),
            &folder.statistics(),
            account.statistics.bytes,
        )?;
        copy_first(&source.timings(), &folder.timings(), account.timings.bytes)?;
        for frame in checkpoint::frames_in(from)? {
            let path = checkpoint::path(from, frame);
            if frame <= last && !found.damaged.contains(&path) {
                link(&path, &checkpoint::path(to, frame))?;
            }
        }
        atomic_file::sync_folder(&checkpoint::path(to, 0))
            .map_err(|e| Error::io("write", to, &e))?;
        // The source run is damaged, and is not modified.
        found.damaged.clear();
        if let Some(manifest) = &mut found.manifest {
            manifest.branched_from = Some(branch);
            manifest.preview = None;
        }
        place.path = checkpoint::path(to, last);
        found.notices.push(format!(
            "branching into {} after frame {last} of {}",
            to.display(),
            from.display()
        ));
        found.place = Some(place);
        Ok(found)
    }
}

/// Hard-links a file, or copies it where the file system does not support links. Files of a run are replaced atomically and
/// never modified in place, so neither run can change the other's.
fn link(from: &Path, to: &Path) -> Result<(), Error> {
    let plain = fs::symlink_metadata(from).map_err(|e| Error::io("read", from, &e))?;
    if plain.is_file() && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let mut file = regular_file::open(from).map_err(|e| Error::io("read", from, &e))?;
    atomic_file::write_with(to, |out| io::copy(&mut file, out).map(|_| ()))
}

/// Copies the first bytes of a file; a missing file has none.
fn copy_first(from: &Path, to: &Path, bytes: u64) -> Result<(), Error> {
    let file = match regular_file::open(from) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return atomic_file::write(to, b""),
        Err(e) => return Err(Error::io("read", from, &e)),
    };
    atomic_file::write_with(to, |out| io::copy(&mut file.take(bytes), out).map(|_| ()))
}
