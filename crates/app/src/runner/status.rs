//! Status of the run in a folder.

use super::resume_command::resume_command;
use meniscus_store::body_record::{LeftBody, UnsolvedContacts};
use meniscus_store::checkpoint;
use meniscus_store::error::Error;
use meniscus_store::lock::{self, Holder};
use meniscus_store::manifest::{BranchOrigin, DriftWarning, Manifest, State, Warning};
use meniscus_store::opened_run::no_run;
use meniscus_store::regular_file;
use meniscus_store::run_folder::RunFolder;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Number of frames that the remaining time is based on.
const RECENT: usize = 8;
/// Largest part of the end of the timings that is read, in bytes.
const TAIL: u64 = 1 << 20;

/// Activity of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// All frames are complete.
    Done,
    /// A process is running it.
    Running,
    /// It was stopped by the user.
    Interrupted,
    /// It ended unexpectedly: its process was killed, or the machine stopped.
    Killed,
    /// It failed.
    Failed,
}

/// Status of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Name of the scene.
    pub scene: String,
    /// Command that resumes it.
    pub resume: String,
    /// Activity.
    pub state: Activity,
    /// Process that runs it, if known.
    pub process: Option<u32>,
    /// Error, if it failed.
    pub error: Option<String>,
    /// Run that its first frames come from, if it is a branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branched_from: Option<BranchOrigin>,
    /// Largest volume drift, if it exceeded the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftWarning>,
    /// Contacts that were not solved to their tolerance, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contacts: Option<UnsolvedContacts>,
    /// Bodies that left the domain and were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_domain: Vec<LeftBody>,
    /// Warnings in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Facts that are not warnings, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Number of complete frames.
    pub frames_done: u32,
    /// Number of requested frames.
    pub frames: u32,
    /// Number of steps at the last complete frame.
    pub steps: u64,
    /// Wall-clock seconds so far, without interruptions.
    pub wall_seconds: f64,
    /// Seconds that the remaining frames will take, at the rate of the last few; none without any.
    pub seconds_left: Option<f64>,
    /// Frames with a checkpoint.
    pub checkpoints: Vec<u32>,
    /// Whether there is a checkpoint between frames.
    pub interrupted_checkpoint: bool,
    /// Bytes in the folder.
    pub disk_bytes: u64,
}

/// Reads the folder of a run; modifies nothing.
///
/// # Errors
/// If it contains no run, or its manifest can't be read.
pub fn status(run: &Path) -> Result<Status, Error> {
    // The lock is read first: a run that ends in between is then done, not killed.
    let holder = lock::holder(run);
    let manifest = Manifest::read(run)?.ok_or_else(|| no_run(run))?;
    let state = match (holder, manifest.state) {
        (Holder::Process(_), _) => Activity::Running,
        (Holder::Nobody, State::Running) => Activity::Killed,
        (Holder::Nobody, State::Done) => Activity::Done,
        (Holder::Nobody, State::Failed) => Activity::Failed,
        (Holder::Nobody, State::Interrupted) => Activity::Interrupted,
    };
    let to_come = manifest.frames.saturating_sub(manifest.frames_done);
    let each = seconds_a_frame(&RunFolder::of_run(run));
    Ok(Status {
        resume: resume_command(&manifest, run),
        warnings: manifest.warnings(),
        notes: manifest.notes(),
        scene: manifest.scene,
        state,
        process: match holder {
            Holder::Process(pid) => pid,
            Holder::Nobody => None,
        },
        error: manifest.error,
        branched_from: manifest.branched_from,
        drift: manifest.drift,
        contacts: manifest.contacts,
        left_domain: manifest.left_domain,
        frames_done: manifest.frames_done,
        frames: manifest.frames,
        steps: manifest.steps,
        wall_seconds: manifest.wall_seconds,
        seconds_left: match to_come {
            0 => Some(0.0),
            n => each.map(|each| each * f64::from(n)),
        },
        checkpoints: checkpoint::frames_in(run)?,
        interrupted_checkpoint: checkpoint::interrupted(run).is_file(),
        disk_bytes: size_of(run),
    })
}

/// Fields of a line of the timings that are read here.
#[derive(Deserialize)]
struct Timing {
    frame: u32,
    seconds: f64,
}

/// Mean seconds of the last few complete frames.
fn seconds_a_frame(folder: &RunFolder) -> Option<f64> {
    let mut file = regular_file::open(&folder.timings()).ok()?;
    let start = file.metadata().ok()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let mut frames: Vec<Timing> = Vec::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        // The first line may be truncated, the last one incomplete.
        let Ok(timing) = serde_json::from_str::<Timing>(line) else {
            continue;
        };
        match frames.last_mut() {
            Some(last) if last.frame == timing.frame => last.seconds += timing.seconds,
            _ => frames.push(timing),
        }
    }
    // The last frame may be incomplete, the first one truncated; with one or two, they are all there is.
    if frames.len() > 2 {
        frames.pop();
    }
    let recent = &frames[frames.len().saturating_sub(RECENT)..];
    let whole: f64 = recent.iter().map(|f| f.seconds).sum();
    (!recent.is_empty()).then(|| whole / recent.len() as f64)
}

/// Bytes of all files in a folder; links are not followed.
fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => size_of(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}
