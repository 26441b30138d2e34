//! Runner: simulates a scene and writes frames, statistics and a preview into a folder.
//!
//! The command line and the tests call the same [`run`]. A run never prints; it reports to a [`Progress`].

mod body_record;
pub mod body_table;
mod branch;
mod controlled;
pub mod diff;
pub mod drift;
pub mod estimate;
pub mod film;
pub mod gc;
mod kd_tree;
pub mod progress;
mod resume;
mod resume_command;
mod run_loop;
mod scene_summary;
pub mod simulation;
mod start;
pub mod statistics;
pub mod status;
mod steered;
mod timings;
pub mod verify;
mod writer;

pub use controlled::{Controlled, control, record};
pub use progress::{Event, Progress};
pub use simulation::Simulation;
pub use start::Start;
pub use statistics::StepLine;
pub use status::{Status, status};
pub use steered::Reload;
pub use verify::{Finding, verify};

use crate::worlds;
use meniscus_scene::AnyScene;
use meniscus_sim::ProblemDump;
use meniscus_store::error::{Error, Kind};
use meniscus_store::manifest::Warning;
use meniscus_store::mesh_copies::MeshSource;
use meniscus_store::run_folder::{RunFolder, SceneFiles};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Largest number of threads that is accepted.
const MOST_THREADS: usize = 1024;

/// Options of a run. None of them affects the particles.
#[derive(Debug)]
pub struct Options<'a> {
    /// Output folder.
    pub out: PathBuf,
    /// Number of threads. Default: one per core.
    pub threads: Option<usize>,
    /// Memory limit in bytes. Default: the memory of the machine.
    pub memory_limit: Option<u64>,
    /// Text of the scene with every default, for `scene.toml`.
    pub scene_text: String,
    /// Mesh files of the scene, which the run copies.
    pub meshes: Vec<MeshSource>,
    /// Start of the run.
    pub start: Start,
    /// Whether frames of an earlier run in the folder may be replaced.
    pub overwrite: bool,
    /// Set from another thread to stop the run after the current step.
    pub stop: &'a AtomicBool,
}

impl<'a> Options<'a> {
    /// Options of a run from the beginning, with all threads and all memory, that replaces nothing.
    pub fn new(
        out: impl Into<PathBuf>,
        scene_text: impl Into<String>,
        stop: &'a AtomicBool,
    ) -> Self {
        Options {
            out: out.into(),
            threads: None,
            memory_limit: None,
            scene_text: scene_text.into(),
            meshes: Vec::new(),
            start: Start::Beginning,
            overwrite: false,
            stop,
        }
    }

    fn scene_files(&self) -> SceneFiles<'_> {
        SceneFiles {
            text: &self.scene_text,
            meshes: &self.meshes,
        }
    }
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Folder of the run.
    pub folder: RunFolder,
    /// Number of simulated frames, without frame 0, the initial state.
    pub frames: u32,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// Facts that are not warnings.
    pub notes: Vec<String>,
    /// Whether all frames existed before.
    pub nothing_to_do: bool,
    /// Wall-clock seconds.
    pub wall_seconds: f64,
}

/// Runs a scene from its start to its last frame.
///
/// # Errors
/// Every error leaves the frames written so far intact; see [`Error::kind`].
pub fn run(
    scene: &AnyScene,
    options: &Options<'_>,
    progress: &mut (dyn Progress + Send),
) -> Result<Summary, Error> {
    with_threads(options.threads, || match scene {
        AnyScene::Two(scene) => start::run(scene, options, progress),
        AnyScene::Three(scene) => start::run(scene, options, progress),
    })?
}

/// Refuses scenes that [`run`] would refuse before its first step: too little memory, no liquid outside of solids.
///
/// # Errors
/// As [`run`].
pub fn refused(scene: &AnyScene) -> Result<(), Error> {
    estimate::check_any(scene, None)?;
    match scene {
        AnyScene::Two(scene) => worlds::has_liquid(scene),
        AnyScene::Three(scene) => worlds::has_liquid(scene),
    }
}

/// Simulates a scene to the first step towards `frame` and returns its problem.
pub fn problem_of_frame(
    scene: &AnyScene,
    frame: u32,
    threads: Option<usize>,
) -> Result<Box<dyn ProblemDump>, Error> {
    if frame == 0 {
        return Err(Error::usage(
            "no step leads to frame 0, the initial state; the first frame is 1",
        ));
    }
    scene.check()?;
    estimate::check_any(scene, None)?;
    with_threads(threads, || match scene {
        AnyScene::Two(scene) => Simulation::new(scene)?.problem_of_frame(frame),
        AnyScene::Three(scene) => Simulation::new(scene)?.problem_of_frame(frame),
    })?
}

/// Calls a function in a pool of `threads` threads.
///
/// # Errors
/// If the threads can't be started, or their number is out of range.
pub fn with_threads<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    if threads.is_some_and(|n| !(1..=MOST_THREADS).contains(&n)) {
        return Err(Error::usage(format!(
            "--threads must be from 1 to {MOST_THREADS}"
        )));
    }
    rayon::ThreadPoolBuilder::new()
        // Zero means one per core.
        .num_threads(threads.unwrap_or(0))
        .build()
        .map(|pool| pool.install(work))
        .map_err(|e| {
            Error::new(Kind::Resources, format!("could not start the threads: {e}"))
                .with_remedy("use fewer with --threads N")
        })
}
