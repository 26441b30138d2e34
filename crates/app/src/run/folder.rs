//! The folder of a run: what may be written into, what is replaced, and what is left alone.

use super::record::Record;
use super::{checkpoint, lock, record, scene_text};
use crate::cache;
use crate::error::Error;
use crate::export;
use crate::filming;
use crate::problem_files;
use crate::surface;
use crate::whole_file::{self, UNFINISHED_SUFFIX};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names of the files that a run writes at the top of its folder, beside its record and its scene.
const STATISTICS: &str = "stats.jsonl";
const TIMINGS: &str = "timings.jsonl";
const PREVIEW: &str = "preview.gif";
const FAILED: &str = "failed";

/// The folder that a run writes to. Nothing is ever written outside of it.
#[derive(Clone, Debug)]
pub struct RunFolder {
    root: PathBuf,
}

impl RunFolder {
    /// Makes sure that a run of `scene` may use this folder: it is new, or empty, or holds an earlier
    /// run of the same scene. Changes nothing. A run that is to go on needs no intact record.
    pub fn open(root: &Path, scene: &str, going_on: bool) -> Result<Self, Error> {
        let folder = RunFolder { root: root.into() };
        let entries = match fs::read_dir(root) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(folder),
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
                return Err(refused(root, "is a file, not a folder"));
            }
            Err(e) => return Err(Error::io("read", root, &e)),
        };
        let looks_like_a_run =
            folder.scene().is_file() && folder.root.join(checkpoint::FOLDER).is_dir();
        let remedy = "choose another folder with --out DIR, or remove this one";
        match Record::read(root) {
            Ok(Some(record)) if record.scene == scene => {}
            Ok(Some(record)) => {
                return Err(refused(
                    root,
                    &format!("holds a run of the scene {}", record.scene),
                ));
            }
            _ if going_on && looks_like_a_run => {}
            Ok(None) if nothing_yet(entries) => {}
            Ok(None) => return Err(refused(root, "holds files that are not a run of meniscus")),
            Err(e) => return Err(Error::usage(e.message()).with_remedy(remedy)),
        }
        // A link in place of one of our folders would lead our files out of the run's folder.
        for inner in folder.inner_folders() {
            match fs::symlink_metadata(&inner) {
                Ok(data) if !data.is_dir() => {
                    return Err(refused(&inner, "is not a folder, where a run has one"));
                }
                _ => {}
            }
        }
        Ok(folder)
    }

    /// Puts the record of a new run into the folder, and its scene, and removes what an earlier run left. Files that no
    /// run writes are left alone.
    pub fn begin(&self, record: &Record, scene_text: &str) -> Result<(), Error> {
        self.make_folders()?;
        // First the checkpoints go, and for good: those of an earlier run must never meet the record of this one.
        self.remove_checkpoints(|_| true)?;
        remove(&checkpoint::interrupted(&self.root))?;
        whole_file::sync_folder(&checkpoint::path(&self.root, 0))
            .map_err(|e| Error::io("write", &self.root, &e))?;
        // Then the record: from here on the folder says that its content is being replaced.
        record.write(&self.root)?;
        whole_file::write(&self.scene(), scene_text.as_bytes())?;
        for name in [STATISTICS, TIMINGS, PREVIEW] {
            remove(&self.root.join(name))?;
        }
        self.remove_frames_after(0)
    }

    /// Takes a run back to what it was after a frame, for `record` to go on from there. Every moment of it is one that a
    /// run can go on from.
    pub fn rewind(&self, record: &Record, scene_text: &str, keep: &Path) -> Result<(), Error> {
        let frame = record.frames_done;
        self.make_folders()?;
        self.remove_checkpoints(|number| number > frame)?;
        let interrupted = checkpoint::interrupted(&self.root);
        if keep != interrupted {
            remove(&interrupted)?;
        }
        whole_file::sync_folder(&interrupted).map_err(|e| Error::io("write", &self.root, &e))?;
        record.write(&self.root)?;
        whole_file::write(&self.scene(), scene_text.as_bytes())?;
        self.remove_frames_after(frame)
    }

    fn make_folders(&self) -> Result<(), Error> {
        for name in [cache::FOLDER, checkpoint::FOLDER] {
            let folder = self.root.join(name);
            fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, &e))?;
        }
        Ok(())
    }

    fn remove_checkpoints(&self, which: impl Fn(u32) -> bool) -> Result<(), Error> {
        remove_matching(&self.root.join(checkpoint::FOLDER), |name| {
            checkpoint::frame_number(name).is_some_and(&which) || unfinished(name)
        })
        .map(|_| ())
    }

    /// Frames, exports of them and failures beyond a frame, and what a killed run left half written.
    fn remove_frames_after(&self, frame: u32) -> Result<(), Error> {
        let after = |number: Option<u32>| number.is_some_and(|n| n > frame);
        let any_gone = remove_matching(&self.root.join(cache::FOLDER), |name| {
            after(cache::frame_number(name)) || unfinished(name)
        })?;
        remove_matching(&self.root.join(surface::FOLDER), |name| {
            after(surface::frame_number(name)) || name == surface::STATS || unfinished(name)
        })?;
        for folder in export::folders(&self.root) {
            // What lists or holds many frames may have one that is gone.
            remove_matching(&folder, |name| {
                after(export::frame_number(name)) || any_gone && export::holds_many(name)
            })?;
        }
        remove_matching(&self.root.join(filming::FOLDER), |name| {
            after(filming::frame_number(name))
                || frame == 0 && filming::FILMS.contains(&name)
                || unfinished(name)
        })?;
        let ours = [record::NAME, scene_text::NAME, PREVIEW];
        remove_matching(&self.root, |name| {
            ours.iter().any(|ours| name == half_written(ours))
        })?;
        remove_matching(&self.failed(), |name| problem_files::NAMES.contains(&name))?;
        // Only if nothing else is in it.
        let _ = fs::remove_dir(self.failed());
        Ok(())
    }

    fn inner_folders(&self) -> Vec<PathBuf> {
        let mut all = vec![
            self.root.join(cache::FOLDER),
            self.root.join(surface::FOLDER),
            self.root.join(checkpoint::FOLDER),
            self.failed(),
            self.root.join(filming::FOLDER),
        ];
        all.extend(export::folders(&self.root));
        all
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What is simulated.
    pub fn scene(&self) -> PathBuf {
        self.root.join(scene_text::NAME)
    }

    /// Statistics, a line a step.
    pub fn statistics(&self) -> PathBuf {
        self.root.join(STATISTICS)
    }

    /// Seconds per phase, a line a step.
    pub fn timings(&self) -> PathBuf {
        self.root.join(TIMINGS)
    }

    /// The preview.
    pub fn preview(&self) -> PathBuf {
        self.root.join(PREVIEW)
    }

    /// Where the pressure problem goes that could not be solved.
    pub fn failed(&self) -> PathBuf {
        self.root.join(FAILED)
    }

    /// Removes the preview of a run that is to have none.
    pub fn remove_preview(&self) -> Result<(), Error> {
        remove(&self.preview())
    }

    /// The folder of a run that is only looked at.
    pub(crate) fn of_run(root: &Path) -> Self {
        RunFolder { root: root.into() }
    }
}

/// Whether nothing is there but what a run leaves that was killed before it wrote its record.
fn nothing_yet(entries: fs::ReadDir) -> bool {
    let empty =
        |folder: PathBuf| fs::read_dir(folder).is_ok_and(|mut inner| inner.next().is_none());
    entries.into_iter().all(|entry| {
        let Ok(entry) = entry else { return false };
        match entry.file_name().to_str() {
            Some(cache::FOLDER | checkpoint::FOLDER) => empty(entry.path()),
            Some(name) => name == lock::NAME || name == half_written(record::NAME),
            None => false,
        }
    })
}

/// The name of a file at the top while it is being written.
fn half_written(name: &str) -> String {
    format!(".{name}{UNFINISHED_SUFFIX}")
}

fn unfinished(name: &str) -> bool {
    name.ends_with(UNFINISHED_SUFFIX)
}

fn refused(path: &Path, why: &str) -> Error {
    Error::usage(format!("{} {why}", path.display()))
        .with_remedy("choose another folder with --out DIR, or remove this one")
}

/// Removes a file, which may be gone already.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, &e)),
        _ => Ok(()),
    }
}

/// Removes files by their names, and says whether there were any.
fn remove_matching(folder: &Path, ours: impl Fn(&str) -> bool) -> Result<bool, Error> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other.map_err(|e| Error::io("read", folder, &e))?,
    };
    let mut any = false;
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("read", folder, &e))?;
        if entry.file_name().to_str().is_some_and(&ours) {
            remove(&entry.path())?;
            any = true;
        }
    }
    Ok(any)
}
