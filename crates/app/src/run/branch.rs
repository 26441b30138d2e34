//! Branches: runs that begin with the first frames of another run and leave that run as it is.

use super::checkpoint;
use super::folder::{self, RunFolder};
use super::going_on::{self, Found, Place};
use super::record::{self, BranchRecord, Record};
use super::{Options, verify};
use crate::cache;
use crate::error::Error;
use crate::plain_file;
use crate::scene::Scene;
use crate::surface;
use crate::whole_file;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// The run that another one branches from, with the checkpoint that it continues from.
pub struct Source<'a, const D: usize> {
    folder: RunFolder,
    found: Found<'a, D>,
    place: Place<'a, D>,
}

impl<'a, const D: usize> Source<'a, D> {
    /// Looks for the checkpoint in the folder of the other run; changes nothing there.
    ///
    /// # Errors
    /// If there is no run, no checkpoint, or its particles don't fit into the scene.
    pub fn find(scene: &'a Scene<D>, run: &Path, frame: u32, out: &Path) -> Result<Self, Error> {
        if folder::is_same(run, out) {
            return Err(Error::usage(format!(
                "a branch of the run in {} can't be the same folder",
                run.display()
            ))
            .with_remedy("branch into another one, such as --out auto"));
        }
        if Record::read(run)?.is_none() {
            return Err(verify::no_run(run));
        }
        let folder = RunFolder::of_run(run);
        let mut found = going_on::from_frame(scene, &folder, frame)?;
        let place = found.place.take().ok_or_else(|| verify::no_run(run))?;
        Ok(Source {
            folder,
            found,
            place,
        })
    }

    /// Brings everything up to the checkpoint into the folder of the new run.
    ///
    /// A branch that is killed meanwhile has a record without frames: the same command makes it again, and `--resume`
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
        let branch = BranchRecord {
            run: source.root().to_string_lossy().into_owned(),
            frame: last,
        };
        let threads = rayon::current_num_threads();
        // Promises no frame yet: frame 0 is not there before it is linked.
        let mut unfinished = Record {
            branched_from: Some(branch.clone()),
            particles: Vec::new(),
            ..Record::begin(scene, options, threads)
        };
        folder.begin(&unfinished, options)?;
        let (from, to) = (source.root(), folder.root());
        let kept = going_on::kept(found.record.as_ref(), scene);
        for frame in (0..=last).filter(|&frame| record::is_kept(&kept, frame)) {
            link(
                &cache::frame_path(from, frame),
                &cache::frame_path(to, frame),
            )?;
        }
        // Before any checkpoint: whoever resumes from one has to know the frames before it.
        unfinished.particles = kept;
        unfinished.write(to)?;
        let surfaces = surface::frames_in(from)?;
        let mut surfaces = surfaces
            .into_iter()
            .filter(|&frame| frame <= last)
            .peekable();
        if surfaces.peek().is_some() {
            let inner = to.join(surface::FOLDER);
            fs::create_dir_all(&inner).map_err(|e| Error::io("create", &inner, &e))?;
        }
        for frame in surfaces {
            link(&surface::path(from, frame), &surface::path(to, frame))?;
        }
        // These two grow in place, so they are copies.
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
        whole_file::sync_folder(&checkpoint::path(to, 0))
            .map_err(|e| Error::io("write", to, &e))?;
        // The damage is the other run's, which is not touched.
        found.damaged.clear();
        if let Some(record) = &mut found.record {
            record.branched_from = Some(branch);
            record.preview = None;
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

/// Gives a file a second name, or copies it where the file system can't. Files of a run are replaced as a whole and never
/// written in place, so neither run can change the other's.
fn link(from: &Path, to: &Path) -> Result<(), Error> {
    let plain = fs::symlink_metadata(from).map_err(|e| Error::io("read", from, &e))?;
    if plain.is_file() && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let mut file = plain_file::open(from).map_err(|e| Error::io("read", from, &e))?;
    whole_file::write_with(to, |out| io::copy(&mut file, out).map(|_| ()))
}

/// Copies the first bytes of a file; one that is missing has none.
fn copy_first(from: &Path, to: &Path, bytes: u64) -> Result<(), Error> {
    let file = match plain_file::open(from) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return whole_file::write(to, b""),
        Err(e) => return Err(Error::io("read", from, &e)),
    };
    whole_file::write_with(to, |out| io::copy(&mut file.take(bytes), out).map(|_| ()))
}
