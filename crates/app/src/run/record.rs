//! `run.json`: what a folder holds and how far its run has come.

use crate::error::{Error, Kind};
use crate::scene::Scene;
use crate::whole_file;
use meniscus_liquid::Transfer;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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

/// The content of `run.json`.
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
    /// Frames written so far.
    pub frames_done: u32,
    /// Frames asked for.
    pub frames: u32,
    /// Steps taken so far.
    pub steps: u64,
    /// Seconds that the run has taken so far, by the clock on the wall.
    pub wall_seconds: f64,
    /// Threads it used.
    pub threads: usize,
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
    pub fn begin<const D: usize>(scene: &Scene<D>, threads: usize) -> Self {
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
            settings: scene.into(),
            error: None,
        }
    }

    /// Where the record of a run's folder is.
    pub fn path(run: &Path) -> PathBuf {
        run.join("run.json")
    }

    /// Writes the record, whole.
    pub fn write(&self, run: &Path) -> Result<(), Error> {
        let path = Record::path(run);
        let mut text =
            serde_json::to_vec_pretty(self).map_err(|e| Error::io("write", &path, &e.into()))?;
        text.push(b'\n');
        whole_file::write(&path, &text)
    }

    /// Reads the record of a run's folder; `None` if the folder has none.
    pub fn read(run: &Path) -> Result<Option<Self>, Error> {
        let path = Record::path(run);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io("read", &path, &e)),
        };
        match serde_json::from_slice::<Record>(&text) {
            Ok(record) if record.program == PROGRAM => Ok(Some(record)),
            Ok(_) => Err(Error::new(
                Kind::Storage,
                format!("{} belongs to another program", path.display()),
            )),
            Err(e) => Err(Error::new(
                Kind::Storage,
                format!(
                    "{} is not the record of a run of meniscus: {e}",
                    path.display()
                ),
            )),
        }
    }
}
