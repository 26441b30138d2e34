//! Files of a run that can be deleted and regenerated.
//!
//! Particles, statistics, the manifest and the preview are kept; so are the last intact checkpoint and that of an
//! interruption. Links are neither followed nor removed, and files not written by Meniscus are left alone.

use meniscus_store::atomic_file::UNFINISHED_SUFFIX;
use meniscus_store::cache;
use meniscus_store::checkpoint::{self, Checkpoint};
use meniscus_store::error::{Error, Kind};
use meniscus_store::export_list::{self, ExportList};
use meniscus_store::layout::{exports, pictures, problems, surfaces};
use meniscus_store::lock::{self, Holder, Lock};
use meniscus_store::manifest::Manifest;
use meniscus_store::mesh_copies;
use meniscus_store::opened_run::no_run;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum depth of nested folders.
const DEEPEST: usize = 6;

/// Reason why a file can be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// A checkpoint other than the last.
    Checkpoint,
    /// The surface of a frame, which can be reconstructed from its particles.
    Surface,
    /// An export of a frame, which can be repeated.
    Export,
    /// An image or video, which can be rendered again; the run's own preview is kept.
    Picture,
    /// The pressure problem of a failed step.
    Failure,
    /// An incomplete file, left by a process that was killed.
    Leftover,
}

/// File that can be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Path.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Reason.
    pub reason: Reason,
}

/// Lists the files that can be deleted, ordered by reason; deletes nothing.
///
/// # Errors
/// If the folder contains no run or one of another version, or a run is in progress.
pub fn find(run: &Path) -> Result<Vec<Item>, Error> {
    check(run)?;
    if let Holder::Process(pid) = lock::holder(run) {
        let who = pid.map_or("another process".into(), |pid| format!("process {pid}"));
        let message = format!("{who} is running in {}", run.display());
        return Err(Error::new(Kind::Storage, message).with_remedy("wait for it, or stop it"));
    }
    list(run)
}

/// Deletes the files that can be deleted and returns them.
///
/// # Errors
/// Like [`find`], and if a file can't be removed.
pub fn remove(run: &Path) -> Result<Vec<Item>, Error> {
    check(run)?;
    // The lock keeps a run from starting here meanwhile.
    let _lock = Lock::take(run)?;
    let items = list(run)?;
    for item in &items {
        meniscus_store::run_folder::remove(&item.path)?;
    }
    for folder in [
        surfaces::FOLDER,
        pictures::FOLDER,
        problems::FOLDER,
        exports::FOLDER,
    ] {
        remove_empty(&run.join(folder), 0);
    }
    Ok(items)
}

fn check(run: &Path) -> Result<(), Error> {
    Manifest::read(run)?.map(|_| ()).ok_or_else(|| no_run(run))
}

fn list(run: &Path) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    let last = last_intact_checkpoint(run)?;
    let old = |name: &str| {
        let frame = checkpoint::frame_number(name);
        frame.is_some_and(|frame| last.is_some_and(|last| frame < last))
    };
    let mut take = |folder: PathBuf, deep: usize, reason, ours: &dyn Fn(&str) -> bool| {
        collect(&folder, deep, &mut |path, bytes| {
            let name = path.file_name().and_then(|name| name.to_str());
            let listed = || {
                let list = path.parent().map(ExportList::read);
                reason == Reason::Export
                    && list.is_some_and(|m| name.is_some_and(|name| m.lists(name)))
            };
            if name.is_some_and(ours) || listed() {
                items.push(Item {
                    path,
                    bytes,
                    reason,
                });
            }
        })
    };
    take(run.join(checkpoint::FOLDER), 0, Reason::Checkpoint, &old)?;
    let surfaces = run.join(surfaces::FOLDER);
    let ours = |name: &str| is_of_a_frame(name) || name == surfaces::STATS;
    take(surfaces, 0, Reason::Surface, &ours)?;
    let drawn =
        |name: &str| pictures::frame_number(name).is_some() || pictures::FILMS.contains(&name);
    take(run.join(pictures::FOLDER), 0, Reason::Picture, &drawn)?;
    let exported =
        |name: &str| is_of_a_frame(name) || exports::holds_many(name) || name == export_list::NAME;
    take(
        run.join(exports::FOLDER),
        DEEPEST,
        Reason::Export,
        &exported,
    )?;
    let failed = |name: &str| problems::NAMES.contains(&name);
    take(run.join(problems::FOLDER), 0, Reason::Failure, &failed)?;
    let half = |name: &str| name.starts_with('.') && name.ends_with(UNFINISHED_SUFFIX);
    for folder in [
        "",
        cache::FOLDER,
        checkpoint::FOLDER,
        surfaces::FOLDER,
        pictures::FOLDER,
        mesh_copies::FOLDER,
    ] {
        take(run.join(folder), 0, Reason::Leftover, &half)?;
    }
    Ok(items)
}

/// Newest checkpoint that a run can actually resume from: a damaged one does not justify deleting those before it.
fn last_intact_checkpoint(run: &Path) -> Result<Option<u32>, Error> {
    let intact = |frame: &u32| {
        let path = checkpoint::path(run, *frame);
        let plain = fs::symlink_metadata(&path).is_ok_and(|data| data.is_file());
        plain && Checkpoint::read(&path).is_ok()
    };
    Ok(checkpoint::frames_in(run)?.into_iter().rev().find(intact))
}

/// Whether a name is that of a per-frame file: `surface_000012.ply`.
fn is_of_a_frame(name: &str) -> bool {
    let Some((stem, ending)) = name.split_once('.') else {
        return false;
    };
    let Some((layer, digits)) = stem.rsplit_once('_') else {
        return false;
    };
    let lower = |c: char| c.is_ascii_lowercase() || c == '_';
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
    !layer.is_empty()
        && layer.chars().all(lower)
        && digits.len() >= 6
        && digits.bytes().all(|b| b.is_ascii_digit())
        && ending.chars().all(plain)
}

/// Calls a function for every regular file of a folder and its subfolders to a depth, in order of names.
fn collect(folder: &Path, deep: usize, found: &mut dyn FnMut(PathBuf, u64)) -> Result<(), Error> {
    if !fs::symlink_metadata(folder).is_ok_and(|data| data.is_dir()) {
        return Ok(());
    }
    let failed = |e: std::io::Error| Error::io("read", folder, &e);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    for path in paths {
        match fs::symlink_metadata(&path) {
            Ok(data) if data.is_file() => found(path, data.len()),
            Ok(data) if data.is_dir() && deep > 0 => collect(&path, deep - 1, found)?,
            _ => {}
        }
    }
    Ok(())
}

/// Removes a folder if it is empty, and empty folders inside it first.
fn remove_empty(folder: &Path, depth: usize) {
    if depth > DEEPEST || !fs::symlink_metadata(folder).is_ok_and(|data| data.is_dir()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        remove_empty(&entry.path(), depth + 1);
    }
    // Fails, as intended, if it is not empty.
    let _ = fs::remove_dir(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_per_frame_files_are_recognised() {
        for ours in [
            "surface_000012.ply",
            "particles_1234567.vtu",
            "a_b_000001.0.bgeo",
        ] {
            assert!(is_of_a_frame(ours), "{ours}");
        }
        for other in [
            "notes.txt",
            "surface_12.ply",
            "_000001.ply",
            "surface_000001",
            "My_000001.ply",
            "a_+00001.ply",
        ] {
            assert!(!is_of_a_frame(other), "{other}");
        }
    }
}
