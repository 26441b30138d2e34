//! `run.json`, the manifest of a run: its progress, settings and hashes.

use crate::atomic_file;
use crate::body_record::{LeftBody, UnsolvedContacts, left_in_words};
use crate::error::{Error, Kind};
use crate::jsonl::Prefix;
use crate::regular_file;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name of the file.
pub const NAME: &str = "run.json";
/// Marks a `run.json` as ours.
pub const PROGRAM: &str = "meniscus";

/// State of a run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Running, or killed.
    Running,
    /// All frames are complete.
    Done,
    /// Ended by an error, which `error` has.
    Failed,
    /// Stopped by the user.
    Interrupted,
}

/// Interval of the frames that are written, from a frame on.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// First frame of the interval's validity.
    pub from: u32,
    /// Frames from one that is written to the next.
    pub every: u32,
}

/// Where the first frames of a branched run come from.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct BranchOrigin {
    /// Folder of the other run, as it was named then.
    pub run: String,
    /// The last frame that was taken from it.
    pub frame: u32,
}

/// The content of `run.json`. The file has one more field, the last: the hash of everything before it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Manifest {
    /// Always [`PROGRAM`].
    pub program: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// State of the run.
    pub state: State,
    /// Name of the scene.
    pub scene: String,
    /// Number of the last frame that is complete; 0 is the initial state.
    pub frames_done: u32,
    /// Number of the last frame asked for.
    pub frames: u32,
    /// Steps taken so far.
    pub steps: u64,
    /// Wall-clock time so far, in seconds.
    pub wall_seconds: f64,
    /// Number of threads.
    pub threads: usize,
    /// BLAKE3 of `scene.toml`.
    pub scene_hash: String,
    /// Hash of the keys that affect physics.
    #[serde(rename = "scene_essence")]
    pub physics_hash: String,
    /// File names in `meshes/`: copies of the meshes that the scene refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meshes: Vec<String>,
    /// The run that the first frames come from, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branched_from: Option<BranchOrigin>,
    /// Frames that are written.
    pub particles: Vec<Kept>,
    /// `stats.jsonl` when the manifest was written.
    pub statistics: Prefix,
    /// `timings.jsonl` when the manifest was written.
    pub timings: Prefix,
    /// The part of `actions.jsonl` that was carried out when the manifest was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Prefix>,
    /// BLAKE3 of `preview.gif`, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The largest drift of the volume, if it was beyond the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftWarning>,
    /// Contacts that were not solved to their tolerance, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contacts: Option<UnsolvedContacts>,
    /// Bodies that left the domain and were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_domain: Vec<LeftBody>,
    /// Settings.
    pub settings: SettingsSummary,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Settings of a run that readers of its folder need, in SI units.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SettingsSummary {
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
    /// Particles in a full cell.
    pub particles_per_cell: usize,
    /// Frames per second.
    pub frame_rate: f64,
    /// All settings of the scene file that affect the motion, by their keys.
    pub physics: serde_json::Map<String, serde_json::Value>,
}

/// A drift of the volume beyond the limit.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct DriftWarning {
    /// The first frame at which the drift was beyond the limit.
    pub first_frame: u32,
    /// The frame at which it was largest.
    pub frame: u32,
    /// The drift there, as a share; negative for a loss.
    pub drift: f64,
    /// The limit, as a share.
    pub limit: f64,
    /// Place of the cause, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Vec<f64>>,
    /// The likely cause.
    pub cause: String,
    /// Remedy.
    pub remedy: String,
}

impl DriftWarning {
    /// The warning in a sentence.
    pub fn message(&self) -> String {
        let what = if self.drift < 0.0 { "lost" } else { "gained" };
        format!(
            "the liquid has {what} {:.1} % of its volume at frame {} (limit {} %, exceeded since frame {}): {}",
            100.0 * self.drift.abs(),
            self.frame,
            100.0 * self.limit,
            self.first_frame,
            self.cause
        )
    }

    /// The larger of this warning and a later one, with the first frame of this one.
    pub fn or_larger(self, later: DriftWarning) -> DriftWarning {
        let first_frame = self.first_frame;
        let larger = if later.drift.abs() > self.drift.abs() {
            later
        } else {
            self
        };
        DriftWarning {
            first_frame,
            ..larger
        }
    }
}

/// A warning about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The warning in a sentence.
    pub message: String,
    /// Remedy.
    pub remedy: String,
}

impl Manifest {
    /// Warnings about the run so far.
    pub fn warnings(&self) -> Vec<Warning> {
        let drift = self.drift.iter().map(|drift| Warning {
            message: drift.message(),
            remedy: drift.remedy.clone(),
        });
        let contacts = self
            .contacts
            .iter()
            .filter(|contacts| contacts.is_visible());
        let contacts = contacts.map(|contacts| Warning {
            message: contacts.message(),
            remedy: contacts.remedy.clone(),
        });
        drift.chain(contacts).collect()
    }

    /// Facts about the run so far that are not warnings.
    pub fn notes(&self) -> Vec<String> {
        let contacts = self
            .contacts
            .iter()
            .filter(|contacts| !contacts.is_visible());
        let contacts = contacts.map(UnsolvedContacts::message);
        contacts.chain(left_in_words(&self.left_domain)).collect()
    }

    /// Whether a frame should have been written.
    pub fn keeps(&self, frame: u32) -> bool {
        is_kept(&self.particles, frame)
    }

    /// Path of the manifest of a run's folder.
    pub fn path(run: &Path) -> PathBuf {
        run.join(NAME)
    }

    /// Writes the manifest atomically.
    pub fn write(&self, run: &Path) -> Result<(), Error> {
        let path = Manifest::path(run);
        let text =
            serde_json::to_string_pretty(self).map_err(|e| Error::io("write", &path, &e.into()))?;
        atomic_file::write(&path, sealed(&text).as_bytes())
    }

    /// Reads the manifest of a run's folder; `None` if the folder has none.
    ///
    /// # Errors
    /// If it can't be read, is that of another program or of another version of this one, or any byte of it was changed.
    pub fn read(run: &Path) -> Result<Option<Self>, Error> {
        check_version(run)?;
        let path = Manifest::path(run);
        let text = match regular_file::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io("read", &path, &e)),
        };
        let wrong = |what: String| Error::new(Kind::Storage, format!("{} {what}", path.display()));
        let manifest = serde_json::from_slice::<Manifest>(&text)
            .map_err(|e| wrong(format!("is not the manifest of a run of meniscus: {e}")))?;
        if manifest.program != PROGRAM {
            return Err(wrong("belongs to another program".into()));
        }
        if !is_sealed(&text) {
            return Err(wrong(
                "is damaged: its content does not match its hash".into(),
            ));
        }
        Ok(Some(manifest))
    }
}

/// Checks that the manifest of a run's folder, if it has one, has the format of this version of the program, which changes
/// with the minor version before 1.0 and with the major version after it.
///
/// # Errors
/// If it was written by another version.
pub fn check_version(run: &Path) -> Result<(), Error> {
    let Ok(text) = regular_file::read(&Manifest::path(run)) else {
        return Ok(());
    };
    // Only the version: a manifest of another version may have other fields.
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
        .with_remedy(format!(
            "meniscus {version} reads it; or run the scene again with this version, in another folder"
        ))),
        _ => Ok(()),
    }
}

/// The part of a version that identifies the file formats.
fn series(version: &str) -> (&str, &str) {
    let mut numbers = version.split('.');
    let first = numbers.next().unwrap_or("");
    let second = numbers.next().unwrap_or("");
    (first, if first == "0" { second } else { "" })
}

/// The intervals `before`, with every `every`-th frame from `from` on.
pub fn keep(before: &[Kept], from: u32, every: u32) -> Vec<Kept> {
    let mut kept: Vec<Kept> = before.iter().copied().filter(|k| k.from < from).collect();
    let every = every.max(1);
    if kept.last().is_none_or(|last| last.every != every) {
        kept.push(Kept { from, every });
    }
    kept
}

/// Whether a frame is one of those that are written.
pub fn is_kept(kept: &[Kept], frame: u32) -> bool {
    let rule = kept.iter().rfind(|k| k.from <= frame);
    rule.is_some_and(|k| frame.is_multiple_of(k.every.max(1)))
}

/// A manifest's text with its hash as the last field.
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

    fn example() -> Manifest {
        Manifest {
            program: PROGRAM.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            state: State::Running,
            scene: "circle".into(),
            frames_done: 3,
            frames: 10,
            steps: 17,
            wall_seconds: 0.1 + 0.2,
            threads: 2,
            scene_hash: "0".repeat(64),
            physics_hash: "1".repeat(64),
            meshes: vec!["a.stl".into()],
            branched_from: None,
            particles: keep(&[], 0, 1),
            statistics: Prefix::nothing(),
            timings: Prefix::nothing(),
            actions: None,
            preview: None,
            drift: None,
            contacts: None,
            left_domain: Vec::new(),
            settings: SettingsSummary {
                dimension: 2,
                domain: vec![1.0, 1.0],
                resolution: 64,
                cells: vec![64, 64],
                dx: 1.0 / 64.0,
                particles_per_cell: 9,
                frame_rate: 24.0,
                physics: serde_json::Map::new(),
            },
            error: None,
        }
    }

    #[test]
    fn every_changed_byte_of_a_manifest_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = example();
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), Some(manifest));
        let path = Manifest::path(folder.path());
        let good = std::fs::read(&path).unwrap();
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 1;
            std::fs::write(&path, &bad).unwrap();
            assert!(Manifest::read(folder.path()).is_err(), "byte {place}");
            std::fs::write(&path, &good[..place]).unwrap();
            assert!(Manifest::read(folder.path()).is_err(), "{place} bytes");
        }
    }

    #[test]
    fn a_manifest_of_another_version_is_named_with_the_version_that_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = example();
        manifest.version = "0.1.0".into();
        manifest.write(folder.path()).unwrap();
        let error = Manifest::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("written by meniscus 0.1.0"), "{error}");
        assert!(error.contains("meniscus 0.1.0 reads it"), "{error}");
    }

    #[test]
    fn frames_before_a_change_stay_as_they_were() {
        let kept = keep(&[], 1, 2);
        let kept = keep(&kept, 6, 2);
        assert_eq!(kept, [Kept { from: 1, every: 2 }]);
        let kept = keep(&kept, 6, 3);
        let frames: Vec<u32> = (1..=12).filter(|&f| is_kept(&kept, f)).collect();
        assert_eq!(frames, [2, 4, 6, 9, 12]);
        let frames: Vec<u32> = (1..=12)
            .filter(|&f| is_kept(&keep(&kept, 1, 4), f))
            .collect();
        assert_eq!(frames, [4, 8, 12]);
    }
}
