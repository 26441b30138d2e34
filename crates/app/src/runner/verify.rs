//! Verification of every file of a run; modifies none.

use super::body_table;
use super::resume_command::resume_command;
use crate::shell;
use crate::surface;
use meniscus_store::cache;
use meniscus_store::checkpoint::{self, Checkpoint};
use meniscus_store::error::Error;
use meniscus_store::jsonl::Prefix;
use meniscus_store::layout::surfaces;
use meniscus_store::manifest::{self, Manifest, State};
use meniscus_store::mesh_copies;
use meniscus_store::opened_run::no_run;
use meniscus_store::regular_file;
use meniscus_store::run_folder::RunFolder;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Fault in the folder of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it, in a sentence that begins with "it".
    pub what: String,
    /// Command that repairs it.
    pub remedy: String,
}

/// Checks the hash of every file in the folder of a run, and that no frame is missing. A run in progress is checked up to
/// the last frame of its manifest.
///
/// # Errors
/// If there is no such folder, or it contains no run.
pub fn verify(run: &Path) -> Result<Vec<Finding>, Error> {
    manifest::check_version(run)?;
    let folder = RunFolder::of_run(run);
    let manifest = Manifest::read(run);
    if matches!(manifest, Ok(None)) && !folder.scene().exists() {
        return Err(no_run(run));
    }
    let mut check = Check {
        findings: Vec::new(),
        remedy: match &manifest {
            Ok(Some(manifest)) => resume_command(manifest, run),
            _ => format!(
                "meniscus run SCENE --out {} --resume",
                shell::quoted_path(run)
            ),
        },
    };
    match &manifest {
        Ok(Some(manifest)) => check.of_record(&folder, manifest)?,
        Ok(None) => check.found(&Manifest::path(run), "it is missing"),
        Err(error) => check.found(&Manifest::path(run), error.message()),
    }
    if let Ok(Some(manifest)) = &manifest {
        check.meshes(run, manifest);
    }
    check.frames(run, manifest.ok().flatten().as_ref())?;
    check.surfaces(run)?;
    if let Ok(Some(manifest)) = Manifest::read(run) {
        check.bodies(&folder, &manifest);
    }
    check.checkpoints(run)?;
    Ok(check.findings)
}

struct Check {
    findings: Vec<Finding>,
    remedy: String,
}

impl Check {
    fn found(&mut self, file: &Path, what: impl Into<String>) {
        self.findings.push(Finding {
            file: file.into(),
            what: what.into(),
            remedy: self.remedy.clone(),
        });
    }

    /// Checks the files whose hash is in the manifest.
    fn of_record(&mut self, folder: &RunFolder, manifest: &Manifest) -> Result<(), Error> {
        self.hash(&folder.scene(), &manifest.scene_hash)?;
        if let Some(expected) = &manifest.preview {
            self.hash(&folder.preview(), expected)?;
        }
        let complete = manifest.state == State::Done;
        self.lines(&folder.statistics(), &manifest.statistics, complete);
        self.lines(&folder.timings(), &manifest.timings, complete);
        if let Some(actions) = &manifest.actions {
            self.lines(&folder.actions(), actions, false);
        }
        Ok(())
    }

    fn hash(&mut self, file: &Path, expected: &str) -> Result<(), Error> {
        match regular_file::read(file) {
            Ok(bytes) if blake3::hash(&bytes).to_hex().as_str() == expected => {}
            Ok(_) => self.found(file, "its content does not match its hash"),
            Err(e) if e.kind() == io::ErrorKind::NotFound => self.found(file, "it is missing"),
            Err(e) => return Err(Error::io("read", file, &e)),
        }
        Ok(())
    }

    /// Checks a growing file: during a run it may be ahead of the manifest.
    fn lines(&mut self, file: &Path, recorded: &Prefix, complete: bool) {
        let Ok(data) = fs::metadata(file) else {
            return self.found(file, "it is missing");
        };
        if data.len() < recorded.bytes || complete && data.len() > recorded.bytes {
            self.found(
                file,
                format!(
                    "it should have {} bytes and has {}",
                    recorded.bytes,
                    data.len()
                ),
            );
        } else if !recorded.begins(file) {
            self.found(file, "its content does not match its hash");
        }
    }

    /// Checks the copies of meshes. Only the original files can repair them.
    fn meshes(&mut self, run: &Path, manifest: &Manifest) {
        for name in &manifest.meshes {
            if let Some(fault) = mesh_copies::fault(run, name) {
                self.findings.push(Finding {
                    file: run.join(mesh_copies::FOLDER).join(name),
                    what: fault.into(),
                    remedy: format!(
                        "meniscus run SCENE.toml --out {} --resume, with the original scene file",
                        shell::quoted_path(run)
                    ),
                });
            }
        }
    }

    /// Checks all existing frames, and that none is missing.
    fn frames(&mut self, run: &Path, manifest: Option<&Manifest>) -> Result<(), Error> {
        let mut frames = match run.join(cache::FOLDER).is_dir() {
            true => cache::frames_in(run)?,
            false => Vec::new(),
        };
        if let Some(manifest) = manifest {
            frames.extend((0..=manifest.frames_done).filter(|&f| manifest.keeps(f)));
            frames.sort_unstable();
            frames.dedup();
        }
        for frame in frames {
            let fault = cache::fault(run, frame, manifest.map(|r| r.settings.dimension));
            if let Some(fault) = fault {
                self.found(&cache::frame_path(run, frame), fault);
            }
        }
        Ok(())
    }

    /// Checks that `bodies.csv` is that of the frames; during a run it may be ahead of the manifest.
    fn bodies(&mut self, folder: &RunFolder, manifest: &Manifest) {
        // Damaged frames are reported by themselves.
        let expected = match manifest.settings.dimension {
            2 => body_table::expected::<2>(folder.root(), manifest),
            _ => body_table::expected::<3>(folder.root(), manifest),
        };
        let Ok(Some(expected)) = expected else { return };
        let file = folder.bodies();
        match regular_file::read(&file) {
            Err(_) => self.found(&file, "it is missing"),
            Ok(found) if manifest.state == State::Done && found != expected.as_bytes() => {
                self.found(&file, "its content is not that of the frames");
            }
            Ok(found) if !found.starts_with(expected.as_bytes()) => {
                self.found(&file, "its content is not that of the frames");
            }
            Ok(_) => {}
        }
    }

    /// Checks existing surfaces; a missing one can be reconstructed.
    fn surfaces(&mut self, run: &Path) -> Result<(), Error> {
        for frame in surfaces::frames_in(run)? {
            let path = surfaces::path(run, frame);
            let bytes = regular_file::read(&path).map_err(|e| Error::io("read", &path, &e))?;
            let fault = match surface::file::decode(&bytes) {
                Err(fault) => Some(fault.to_string()),
                Ok(sealed) if sealed.number != frame => {
                    Some(format!("it holds frame {}", sealed.number))
                }
                Ok(_) => None,
            };
            if let Some(what) = fault {
                self.findings.push(Finding {
                    file: path,
                    what,
                    remedy: format!("meniscus mesh {} --frames {frame}", shell::quoted_path(run)),
                });
            }
        }
        Ok(())
    }

    fn checkpoints(&mut self, run: &Path) -> Result<(), Error> {
        let frames = checkpoint::frames_in(run)?;
        let mut paths: Vec<PathBuf> = frames.iter().map(|&f| checkpoint::path(run, f)).collect();
        paths.push(checkpoint::interrupted(run));
        for path in paths {
            // A file that a run has just replaced is not a fault.
            if let Err(fault) = Checkpoint::read(&path)
                && path.exists()
            {
                self.found(&path, fault);
            }
        }
        Ok(())
    }
}
