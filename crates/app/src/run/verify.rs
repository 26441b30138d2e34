//! Checks every file that a run has written, and changes none.

use super::checkpoint::{self, Checkpoint};
use super::folder::RunFolder;
use super::line_file::Prefix;
use super::record::{Record, State};
use crate::cache;
use crate::error::{Error, Kind};
use crate::mesh_files::copies;
use crate::plain_file;
use crate::shell;
use crate::surface;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Something that is wrong in the folder of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it, in a sentence that begins with "it".
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// Checks the hash of every file in the folder of a run, and that no frame is missing. A run that goes on meanwhile is
/// checked as far as its record says it has come.
///
/// # Errors
/// If there is no such folder, or it holds no run.
pub fn verify(run: &Path) -> Result<Vec<Finding>, Error> {
    let folder = RunFolder::of_run(run);
    let record = Record::read(run);
    if matches!(record, Ok(None)) && !folder.scene().exists() {
        return Err(no_run(run));
    }
    let mut check = Check {
        findings: Vec::new(),
        remedy: match &record {
            Ok(Some(record)) => record.command_to_go_on(run),
            _ => format!(
                "meniscus run SCENE --out {} --resume",
                shell::quoted_path(run)
            ),
        },
    };
    match &record {
        Ok(Some(record)) => check.of_record(&folder, record)?,
        Ok(None) => check.found(&Record::path(run), "it is missing"),
        Err(error) => check.found(&Record::path(run), error.message()),
    }
    if let Ok(Some(record)) = &record {
        check.meshes(run, record);
    }
    check.frames(run, record.ok().flatten().as_ref())?;
    check.surfaces(run)?;
    check.checkpoints(run)?;
    Ok(check.findings)
}

/// The error for a folder that is none of a run.
pub(crate) fn no_run(run: &Path) -> Error {
    Error::new(
        Kind::Storage,
        format!(
            "{} holds no run of meniscus: there is no run.json",
            run.display()
        ),
    )
    .with_remedy("name the folder that a run has written, such as out/thrown-sphere")
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

    /// The files whose hash is in the record.
    fn of_record(&mut self, folder: &RunFolder, record: &Record) -> Result<(), Error> {
        self.hash(&folder.scene(), &record.scene_hash)?;
        if let Some(expected) = &record.preview {
            self.hash(&folder.preview(), expected)?;
        }
        let complete = record.state == State::Done;
        self.lines(&folder.statistics(), &record.statistics, complete);
        self.lines(&folder.timings(), &record.timings, complete);
        Ok(())
    }

    fn hash(&mut self, file: &Path, expected: &str) -> Result<(), Error> {
        match plain_file::read(file) {
            Ok(bytes) if blake3::hash(&bytes).to_hex().as_str() == expected => {}
            Ok(_) => self.found(file, "its content does not match its hash"),
            Err(e) if e.kind() == io::ErrorKind::NotFound => self.found(file, "it is missing"),
            Err(e) => return Err(Error::io("read", file, &e)),
        }
        Ok(())
    }

    /// A file that grows: while its run goes on, it may be ahead of the record.
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

    /// The copies of meshes that the record names. Only the original files can mend them.
    fn meshes(&mut self, run: &Path, record: &Record) {
        for name in &record.meshes {
            if let Some(fault) = copies::fault(run, name) {
                self.findings.push(Finding {
                    file: run.join(copies::FOLDER).join(name),
                    what: fault.into(),
                    remedy: format!(
                        "meniscus run SCENE.toml --out {} --resume, with the original scene file",
                        shell::quoted_path(run)
                    ),
                });
            }
        }
    }

    /// All frames that are there, and those that should be.
    fn frames(&mut self, run: &Path, record: Option<&Record>) -> Result<(), Error> {
        let mut frames = match run.join(cache::FOLDER).is_dir() {
            true => cache::frames_in(run)?,
            false => Vec::new(),
        };
        if let Some(record) = record {
            frames.extend((0..=record.frames_done).filter(|&f| record.keeps(f)));
            frames.sort_unstable();
            frames.dedup();
        }
        for frame in frames {
            let fault = cache::fault(run, frame, record.map(|r| r.settings.dimension));
            if let Some(fault) = fault {
                self.found(&cache::frame_path(run, frame), fault);
            }
        }
        Ok(())
    }

    /// Surfaces that are there: whoever wants one that is not can make it.
    fn surfaces(&mut self, run: &Path) -> Result<(), Error> {
        for frame in surface::frames_in(run)? {
            let path = surface::path(run, frame);
            let bytes = plain_file::read(&path).map_err(|e| Error::io("read", &path, &e))?;
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
            // One that a run has just replaced is no fault.
            if let Err(fault) = Checkpoint::read(&path)
                && path.exists()
            {
                self.found(&path, fault);
            }
        }
        Ok(())
    }
}
