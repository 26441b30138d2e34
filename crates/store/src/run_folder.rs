//! The folder of a run: what may be written, replaced and removed.

use crate::action_log;
use crate::atomic_file::{self, UNFINISHED_SUFFIX};
use crate::cache;
use crate::checkpoint;
use crate::error::Error;
use crate::export_list::ExportList;
use crate::layout::{exports, pictures, problems, surfaces};
use crate::lock;
use crate::manifest::{self, Manifest};
use crate::mesh_copies::{self, MeshSource};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files at the top of a run's folder besides its manifest and its scene.
const STATISTICS: &str = "stats.jsonl";
const TIMINGS: &str = "timings.jsonl";
const PREVIEW: &str = "preview.gif";
const BODIES: &str = "bodies.csv";
/// Name of the scene file of a run.
pub const SCENE: &str = "scene.toml";

/// Default folder for runs of a scene.
pub fn usual(scene: &str) -> PathBuf {
    Path::new("out").join(scene)
}

/// Whether two paths lead to the same folder.
pub fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// An empty or new folder: this one, or the first with the suffix `-2`, `-3` and so on.
pub fn next_free(usual: &Path) -> PathBuf {
    // A folder that can't be read counts as free: the run will report why it can't be used.
    let is_free = |folder: &PathBuf| match fs::symlink_metadata(folder) {
        Ok(data) if data.is_dir() => {
            fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
        }
        other => other.is_err(),
    };
    let numbered = (2u32..).map(|n| {
        let mut name = usual.file_name().unwrap_or_default().to_os_string();
        name.push(format!("-{n}"));
        usual.with_file_name(name)
    });
    let mut all = std::iter::once(usual.to_path_buf()).chain(numbered);
    all.find(is_free).unwrap_or_else(|| usual.into())
}

/// The scene files of a run.
#[derive(Clone, Copy, Debug)]
pub struct SceneFiles<'a> {
    /// Its text, complete with every default.
    pub text: &'a str,
    /// Mesh files that it refers to.
    pub meshes: &'a [MeshSource],
}

/// The folder that a run writes to. Nothing is ever written outside of it.
#[derive(Clone, Debug)]
pub struct RunFolder {
    root: PathBuf,
}

impl RunFolder {
    /// Checks that a run of `scene` may use this folder: it is new, or empty, or holds an earlier run of the same scene. A
    /// run that is resumed needs no intact manifest.
    pub fn open(root: &Path, scene: &str, resume: bool) -> Result<Self, Error> {
        let folder = RunFolder { root: root.into() };
        let entries = match fs::read_dir(root) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(folder),
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
                return Err(refused(root, "is a file, not a folder"));
            }
            Err(e) => return Err(Error::io("read", root, &e)),
        };
        manifest::check_version(root)?;
        let looks_like_a_run =
            folder.scene().is_file() && folder.root.join(checkpoint::FOLDER).is_dir();
        let remedy = "choose another folder with --out DIR, or remove this one";
        match Manifest::read(root) {
            Ok(Some(manifest)) if manifest.scene == scene => {}
            Ok(Some(manifest)) => {
                return Err(refused(
                    root,
                    &format!("holds a run of the scene {}", manifest.scene),
                ));
            }
            _ if resume && looks_like_a_run => {}
            Ok(None) if nothing_yet(entries) => {}
            Ok(None) => return Err(refused(root, "holds files that are not a run of meniscus")),
            Err(e) => return Err(Error::usage(e.message()).with_remedy(remedy)),
        }
        // Through a link in place of a folder, files would be written elsewhere.
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

    /// Writes manifest and scene of a new run and removes the files of an earlier one. Files that no run writes stay.
    pub fn begin(&self, manifest: &Manifest, scene: &SceneFiles<'_>) -> Result<(), Error> {
        self.make_folders()?;
        // First what may fail: a mesh file may have changed since it was read.
        mesh_copies::write(&self.root, scene.meshes)?;
        // Checkpoints are removed first: those of an earlier run must never meet the manifest of this one.
        self.remove_checkpoints(|_| true)?;
        remove(&checkpoint::interrupted(&self.root))?;
        atomic_file::sync_folder(&checkpoint::path(&self.root, 0))
            .map_err(|e| Error::io("write", &self.root, &e))?;
        // Then the manifest: from here on the folder says that its content is being replaced.
        manifest.write(&self.root)?;
        self.keep_scene(scene)?;
        for name in [STATISTICS, TIMINGS, PREVIEW, BODIES] {
            remove(&self.root.join(name))?;
        }
        self.remove_frames_after(None)
    }

    /// Reverts a run to its state after a frame, to be resumed with `manifest`. It can be interrupted at any moment without
    /// harm.
    pub fn rewind(
        &self,
        manifest: &Manifest,
        scene: &SceneFiles<'_>,
        keep: &Path,
    ) -> Result<(), Error> {
        let frame = manifest.frames_done;
        self.make_folders()?;
        // First what may fail: a mesh file may have changed since it was read.
        mesh_copies::write(&self.root, scene.meshes)?;
        self.remove_checkpoints(|number| number > frame)?;
        let interrupted = checkpoint::interrupted(&self.root);
        if keep != interrupted {
            remove(&interrupted)?;
        }
        atomic_file::sync_folder(&interrupted).map_err(|e| Error::io("write", &self.root, &e))?;
        manifest.write(&self.root)?;
        self.keep_scene(scene)?;
        self.remove_frames_after(Some(frame))
    }

    /// Writes the scene and removes copies of meshes that it does not use.
    fn keep_scene(&self, scene: &SceneFiles<'_>) -> Result<(), Error> {
        atomic_file::write(&self.scene(), scene.text.as_bytes())?;
        let used = |name: &str| scene.meshes.iter().any(|mesh| mesh.copy_name() == name);
        let folder = self.root.join(mesh_copies::FOLDER);
        remove_matching(&folder, |name| {
            mesh_copies::is_copy(name) && !used(name) || unfinished(name)
        })?;
        // Only if nothing is in it.
        let _ = fs::remove_dir(folder);
        Ok(())
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

    /// Removes frames after a frame, or all of them, with their exports, problems and temporary files.
    fn remove_frames_after(&self, frame: Option<u32>) -> Result<(), Error> {
        let after = |number: Option<u32>| number.is_some_and(|n| frame.is_none_or(|last| n > last));
        let any_gone = remove_matching(&self.root.join(cache::FOLDER), |name| {
            after(cache::frame_number(name)) || unfinished(name)
        })?;
        remove_matching(&self.root.join(surfaces::FOLDER), |name| {
            after(surfaces::frame_number(name)) || name == surfaces::STATS || unfinished(name)
        })?;
        for folder in exports::folders(&self.root) {
            // Files of many frames may contain one that was removed.
            let listed = ExportList::read(&folder);
            let frame = |name: &str| match listed.lists(name) {
                true => listed.frame(name),
                false => exports::frame_number(name),
            };
            let many = |name: &str| exports::holds_many(name) || listed.holds_many(name);
            remove_matching(&folder, |name| after(frame(name)) || any_gone && many(name))?;
        }
        remove_matching(&self.root.join(pictures::FOLDER), |name| {
            after(pictures::frame_number(name))
                || frame.is_none() && pictures::FILMS.contains(&name)
                || unfinished(name)
        })?;
        let ours = [manifest::NAME, SCENE, PREVIEW, BODIES];
        remove_matching(&self.root, |name| {
            ours.iter().any(|ours| name == half_written(ours))
        })?;
        remove_matching(&self.failed(), |name| problems::NAMES.contains(&name))?;
        // Only if nothing else is in it.
        let _ = fs::remove_dir(self.failed());
        Ok(())
    }

    fn inner_folders(&self) -> Vec<PathBuf> {
        let mut all = vec![
            self.root.join(cache::FOLDER),
            self.root.join(surfaces::FOLDER),
            self.root.join(checkpoint::FOLDER),
            self.root.join(mesh_copies::FOLDER),
            self.failed(),
            self.root.join(pictures::FOLDER),
        ];
        all.extend(exports::folders(&self.root));
        all
    }

    /// Path of the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Path of the scene.
    pub fn scene(&self) -> PathBuf {
        self.root.join(SCENE)
    }

    /// Path of the statistics, one line per step.
    pub fn statistics(&self) -> PathBuf {
        self.root.join(STATISTICS)
    }

    /// Path of the timings, one line per step.
    pub fn timings(&self) -> PathBuf {
        self.root.join(TIMINGS)
    }

    /// Path of the log of actions, one line per action of a program between two steps.
    pub fn actions(&self) -> PathBuf {
        self.root.join(action_log::NAME)
    }

    /// Table of rigid bodies.
    pub fn bodies(&self) -> PathBuf {
        self.root.join(BODIES)
    }

    /// Path of the preview.
    pub fn preview(&self) -> PathBuf {
        self.root.join(PREVIEW)
    }

    /// Folder of the problem of a failed step.
    pub fn failed(&self) -> PathBuf {
        self.root.join(problems::FOLDER)
    }

    /// Removes the preview.
    pub fn remove_preview(&self) -> Result<(), Error> {
        remove(&self.preview())
    }

    /// The folder of a run for reading.
    pub fn of_run(root: &Path) -> Self {
        RunFolder { root: root.into() }
    }
}

/// Whether a folder holds only what a run leaves that was killed before it wrote its manifest.
fn nothing_yet(entries: fs::ReadDir) -> bool {
    let empty =
        |folder: PathBuf| fs::read_dir(folder).is_ok_and(|mut inner| inner.next().is_none());
    let only_copies = |folder: PathBuf| {
        let ours = |name: &str| mesh_copies::is_copy(name) || unfinished(name);
        fs::read_dir(folder).is_ok_and(|mut inner| {
            inner.all(|file| file.is_ok_and(|file| file.file_name().to_str().is_some_and(ours)))
        })
    };
    entries.into_iter().all(|entry| {
        let Ok(entry) = entry else { return false };
        match entry.file_name().to_str() {
            Some(cache::FOLDER | checkpoint::FOLDER) => empty(entry.path()),
            Some(mesh_copies::FOLDER) => only_copies(entry.path()),
            Some(name) => name == lock::NAME || name == half_written(manifest::NAME),
            None => false,
        }
    })
}

/// Temporary name of a file at the top of the folder.
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

/// Removes a file, if there is one.
///
/// # Errors
/// If it can't be removed.
pub fn remove(path: &Path) -> Result<(), Error> {
    atomic_file::remove(path).map_err(|e| Error::io("remove", path, &e))
}

/// Removes files by name; whether there were any.
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
