//! `run.json`: what a folder holds and how far its run has come.

use super::drift::DriftWarning;
use super::folder::RunFolder;
use super::line_file::Prefix;
use super::{Options, scene_text};
use crate::error::{Error, Kind};
use crate::plain_file;
use crate::scene::{Output, Scene, builtin};
use crate::shell;
use crate::whole_file;
use meniscus_liquid::Transfer;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name of the file.
pub const NAME: &str = "run.json";
/// Marks a `run.json` as ours.
pub const PROGRAM: &str = "meniscus";

/// How a run stands.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It goes on, or it was killed.
    Running,
    /// All frames are there.
    Done,
    /// It could not go on; `error` says why.
    Failed,
    /// Somebody stopped it.
    Interrupted,
}

/// From a frame on, the particles of every so many frames are written.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// The first frame that this is true of.
    pub from: u32,
    /// Of every so many frames.
    pub every: u32,
}

/// Where the first frames of a branched run come from.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct BranchRecord {
    /// Folder of the other run, as it was named then.
    pub run: String,
    /// The last frame that was taken from it.
    pub frame: u32,
}

/// The content of `run.json`. The file has one more field, the last: the hash of everything before it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    /// Always [`PROGRAM`].
    pub program: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// How the run stands.
    pub state: State,
    /// Name of the scene.
    pub scene: String,
    /// Number of the last frame that is complete; 0 is the initial state.
    pub frames_done: u32,
    /// Number of the last frame asked for.
    pub frames: u32,
    /// Steps taken so far.
    pub steps: u64,
    /// Seconds that the run has taken so far, by the clock on the wall.
    pub wall_seconds: f64,
    /// Threads it used.
    pub threads: usize,
    /// BLAKE3 of `scene.toml`.
    pub scene_hash: String,
    /// BLAKE3 of the lines of it that particles depend on.
    pub scene_essence: String,
    /// File names in `meshes/`: copies of the meshes that the scene refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meshes: Vec<String>,
    /// The run that the first frames come from, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branched_from: Option<BranchRecord>,
    /// Which frames have their particles written.
    pub particles: Vec<Kept>,
    /// `stats.jsonl` when the record was written.
    pub statistics: Prefix,
    /// `timings.jsonl` when the record was written.
    pub timings: Prefix,
    /// BLAKE3 of `preview.gif`, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The largest drift of the volume, if it was beyond the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftWarning>,
    /// What the run was told.
    pub settings: SettingsRecord,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The settings of a run, in words and SI units.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SettingsRecord {
    /// 2 or 3.
    pub dimension: usize,
    /// Size of the domain.
    pub domain: Vec<f64>,
    /// Cells along the longest side.
    pub resolution: usize,
    /// Cells along each side.
    pub cells: Vec<usize>,
    /// Width of a cell.
    pub dx: f64,
    /// Acceleration of free fall.
    pub gravity: Vec<f64>,
    /// Mass per volume.
    pub density: f64,
    /// `slip` or `separating`.
    pub walls: String,
    /// Desired speed of separation.
    pub separation: f64,
    /// Method for the pressure.
    pub solver: String,
    /// Preconditioner inside it.
    pub preconditioner: String,
    /// What solves the linear systems of `newton`.
    pub inner: String,
    /// How the levels of `fas-mg` are joined.
    #[serde(default)]
    pub interpolation: String,
    /// What they do about solids.
    #[serde(default)]
    pub boundaries: String,
    /// How their matrices are made.
    #[serde(default)]
    pub coarse: String,
    /// Where the method starts.
    pub start: String,
    /// Largest divergence that the pressure may leave.
    pub tolerance: f64,
    /// Outer iterations after which a solve has failed.
    pub max_iterations: usize,
    /// `apic` or `flip`.
    pub transfer: String,
    /// Share of plain PIC in a FLIP run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pic: Option<f64>,
    /// Particles seeded in a full cell.
    pub particles_per_cell: usize,
    /// Seed of their jitter.
    pub seed: u64,
    /// Cells a particle may cross in a step.
    pub cfl: f64,
    /// Longest step.
    pub max_step: f64,
    /// Frames a second.
    pub frame_rate: f64,
}

impl<const D: usize> From<&Scene<D>> for SettingsRecord {
    fn from(scene: &Scene<D>) -> Self {
        let (transfer, pic) = match scene.transfer {
            Transfer::Apic => ("apic", None),
            Transfer::Flip { pic } => ("flip", Some(pic)),
        };
        SettingsRecord {
            dimension: D,
            domain: scene.domain.to_vec(),
            resolution: scene.resolution,
            cells: scene.cells().to_vec(),
            dx: scene.dx(),
            gravity: scene.gravity.to_vec(),
            density: scene.density,
            walls: scene.walls.to_string(),
            separation: scene.separation,
            solver: scene.solver.to_string(),
            preconditioner: scene.preconditioner.to_string(),
            inner: scene.inner.to_string(),
            interpolation: scene.levels.interpolation.to_string(),
            boundaries: scene.levels.boundaries.to_string(),
            coarse: scene.levels.coarse.to_string(),
            start: scene.start.to_string(),
            tolerance: scene.tolerance,
            max_iterations: scene.max_iterations,
            transfer: transfer.into(),
            pic,
            particles_per_cell: scene.particles_per_cell,
            seed: scene.seed,
            cfl: scene.cfl,
            max_step: scene.max_step,
            frame_rate: scene.frame_rate,
        }
    }
}

impl Record {
    /// A run that begins.
    pub fn begin<const D: usize>(scene: &Scene<D>, options: &Options<'_>, threads: usize) -> Self {
        let scene_text = &options.scene_text;
        Record {
            program: PROGRAM.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            state: State::Running,
            scene: scene.name.clone(),
            frames_done: 0,
            frames: scene.frames,
            steps: 0,
            wall_seconds: 0.0,
            threads,
            scene_hash: scene_text::hash(scene_text),
            scene_essence: scene_text::essence(scene_text),
            meshes: options.meshes.iter().map(|m| m.copy_name()).collect(),
            branched_from: None,
            particles: keep(&[], 0, &scene.output),
            statistics: Prefix::nothing(),
            timings: Prefix::nothing(),
            preview: None,
            drift: None,
            settings: scene.into(),
            error: None,
        }
    }

    /// Whether the particles of a frame should be there.
    pub fn keeps(&self, frame: u32) -> bool {
        is_kept(&self.particles, frame)
    }

    /// The command that resumes the run in a folder. Its own scene file has every change that was made on the command
    /// line. Runs of earlier versions have no copies of their meshes: those are beside the original file.
    pub fn command_to_go_on(&self, run: &Path) -> String {
        let own = RunFolder::of_run(run).scene();
        let has_meshes = |text: String| text.contains("file = ") && self.meshes.is_empty();
        let scene = match plain_file::read_text(&own).map(has_meshes) {
            Ok(false) => shell::quoted_path(&own),
            _ if builtin::text(&self.scene).is_some() => self.scene.clone(),
            _ => "SCENE.toml".into(),
        };
        let run = shell::quoted_path(run);
        format!("meniscus run {scene} --out {run} --resume")
    }

    /// Where the record of a run's folder is.
    pub fn path(run: &Path) -> PathBuf {
        run.join(NAME)
    }

    /// Writes the record, whole.
    pub fn write(&self, run: &Path) -> Result<(), Error> {
        let path = Record::path(run);
        let text =
            serde_json::to_string_pretty(self).map_err(|e| Error::io("write", &path, &e.into()))?;
        whole_file::write(&path, sealed(&text).as_bytes())
    }

    /// Reads the record of a run's folder; `None` if the folder has none.
    ///
    /// # Errors
    /// If it can't be read, is that of another program, or any byte of it was changed.
    pub fn read(run: &Path) -> Result<Option<Self>, Error> {
        let path = Record::path(run);
        let text = match plain_file::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io("read", &path, &e)),
        };
        let wrong = |what: String| Error::new(Kind::Storage, format!("{} {what}", path.display()));
        let record = serde_json::from_slice::<Record>(&text)
            .map_err(|e| wrong(format!("is not the record of a run of meniscus: {e}")))?;
        if record.program != PROGRAM {
            return Err(wrong("belongs to another program".into()));
        }
        if !is_sealed(&text) {
            return Err(wrong(
                "is damaged: its content does not match its hash".into(),
            ));
        }
        Ok(Some(record))
    }
}

/// Makes sure that the record of a run's folder, if it has one, is of this version of the program, as far as its form
/// goes: before 1.0 the second number counts, after it the first.
///
/// # Errors
/// If it was written by another version.
pub fn check_version(run: &Path) -> Result<(), Error> {
    let Ok(text) = plain_file::read(&Record::path(run)) else {
        return Ok(());
    };
    // Only these two: a record of another version may have any other field.
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_slice(&text) else {
        return Ok(());
    };
    let ours = env!("CARGO_PKG_VERSION");
    match fields.get("version").and_then(serde_json::Value::as_str) {
        Some(version) if series(version) != series(ours) => Err(Error::new(
            Kind::Storage,
            format!(
                "{} was written by meniscus {version}; this is meniscus {ours}",
                run.display()
            ),
        )
        .with_remedy("use that version, or run the scene again with this one")),
        _ => Ok(()),
    }
}

/// The part of a version that says which files it understands.
fn series(version: &str) -> (&str, &str) {
    let mut numbers = version.split('.');
    let first = numbers.next().unwrap_or("");
    let second = numbers.next().unwrap_or("");
    (first, if first == "0" { second } else { "" })
}

/// Which frames are kept if those from `from` on are written as `output` says, and those before as they were.
pub fn keep(before: &[Kept], from: u32, output: &Output) -> Vec<Kept> {
    let mut kept: Vec<Kept> = before.iter().copied().filter(|k| k.from < from).collect();
    let every = output.particles_every.max(1);
    if kept.last().is_none_or(|last| last.every != every) {
        kept.push(Kept { from, every });
    }
    kept
}

/// Whether a frame is among those that are kept.
pub fn is_kept(kept: &[Kept], frame: u32) -> bool {
    let rule = kept.iter().rfind(|k| k.from <= frame);
    rule.is_some_and(|k| frame.is_multiple_of(k.every.max(1)))
}

/// A record's text with its hash as the last field.
fn sealed(text: &str) -> String {
    let open = text.trim_end().trim_end_matches('}').trim_end();
    format!("{open}{}", seal_of(open.as_bytes()))
}

fn seal_of(open: &[u8]) -> String {
    format!(",\n  \"hash\": \"{}\"\n}}\n", blake3::hash(open).to_hex())
}

fn is_sealed(text: &[u8]) -> bool {
    let length = seal_of(b"").len();
    text.len()
        .checked_sub(length)
        .map(|open| text.split_at(open))
        .is_some_and(|(open, seal)| seal == seal_of(open).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{AnyScene, builtin};

    #[test]
    fn every_changed_byte_of_a_record_is_noticed() {
        let AnyScene::Two(scene) = builtin::named("circle").unwrap() else {
            panic!("the circle is in the plane")
        };
        let folder = tempfile::tempdir().unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let options = Options::new(folder.path(), "name = 1", &stop);
        let mut record = Record::begin(&scene, &options, 2);
        record.wall_seconds = 0.1 + 0.2;
        record.write(folder.path()).unwrap();
        assert_eq!(Record::read(folder.path()).unwrap(), Some(record));
        let path = Record::path(folder.path());
        let good = std::fs::read(&path).unwrap();
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 1;
            std::fs::write(&path, &bad).unwrap();
            assert!(Record::read(folder.path()).is_err(), "byte {place}");
            std::fs::write(&path, &good[..place]).unwrap();
            assert!(Record::read(folder.path()).is_err(), "{place} bytes");
        }
    }

    #[test]
    fn frames_before_a_change_stay_as_they_were() {
        let every = |particles_every| Output {
            particles_every,
            ..Output::default()
        };
        let kept = keep(&[], 1, &every(2));
        let kept = keep(&kept, 6, &every(2));
        assert_eq!(kept, [Kept { from: 1, every: 2 }]);
        let kept = keep(&kept, 6, &every(3));
        let frames: Vec<u32> = (1..=12).filter(|&f| is_kept(&kept, f)).collect();
        assert_eq!(frames, [2, 4, 6, 9, 12]);
        let frames: Vec<u32> = (1..=12)
            .filter(|&f| is_kept(&keep(&kept, 1, &every(4)), f))
            .collect();
        assert_eq!(frames, [4, 8, 12]);
    }
}
