//! The folder of a run: what may be written into, what is replaced, and what is left alone.

use super::record::Record;
use crate::cache;
use crate::error::Error;
use crate::export;
use crate::problem_files;
use crate::whole_file::UNFINISHED_SUFFIX;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names of the files that a run writes at the top of its folder, but for its record.
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
    /// run of the same scene. Changes nothing.
    pub fn open(root: &Path, scene: &str) -> Result<Self, Error> {
        let folder = RunFolder { root: root.into() };
        let entries = match fs::read_dir(root) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(folder),
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
                return Err(refused(root, "is a file, not a folder"));
            }
            Err(e) => return Err(Error::io("read", root, &e)),
        };
        let remedy = "choose another folder with --out DIR, or remove this one";
        match Record::read(root) {
            Ok(Some(record)) if record.scene == scene => {}
            Ok(Some(record)) => {
                return Err(refused(
                    root,
                    &format!("holds a run of the scene {}", record.scene),
                ));
            }
            Ok(None) if entries.count() == 0 => {}
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

    /// Creates the folder, puts the record of the new run into it, and removes what an earlier run
    /// left. Files that no run writes are left alone.
    pub fn begin(&self, record: &Record) -> Result<(), Error> {
        let particles = self.root.join(cache::FOLDER);
        fs::create_dir_all(&particles).map_err(|e| Error::io("create", &particles, &e))?;
        // First the record: from here on the folder says that its content is being replaced.
        record.write(&self.root)?;
        for name in [STATISTICS, TIMINGS, PREVIEW] {
            remove(&self.root.join(name))?;
        }
        remove_matching(&particles, |name| {
            cache::frame_number(name).is_some() || name.ends_with(UNFINISHED_SUFFIX)
        })?;
        let exported = export::ply::folder(&self.root);
        remove_matching(&exported, |name| export::ply::frame_number(name).is_some())?;
        remove_matching(&self.failed(), |name| problem_files::NAMES.contains(&name))?;
        // Only if nothing else is in it.
        let _ = fs::remove_dir(self.failed());
        Ok(())
    }

    fn inner_folders(&self) -> [PathBuf; 4] {
        let exported = export::ply::folder(&self.root);
        let export = self.root.join(export::FOLDER);
        [
            self.root.join(cache::FOLDER),
            self.failed(),
            export,
            exported,
        ]
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
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
}

fn refused(path: &Path, why: &str) -> Error {
    Error::usage(format!("{} {why}", path.display()))
        .with_remedy("choose another folder with --out DIR, or remove this one")
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, &e)),
        _ => Ok(()),
    }
}

fn remove_matching(folder: &Path, ours: impl Fn(&str) -> bool) -> Result<(), Error> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(|e| Error::io("read", folder, &e))?,
    };
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("read", folder, &e))?;
        if entry.file_name().to_str().is_some_and(&ours) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}
