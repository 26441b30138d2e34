//! Runs a scene: frames, statistics and a preview, in a folder of its own.
//!
//! The command line and the tests call the same [`run`]. A run never prints; it tells a [`Progress`].

mod branch;
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
mod timings;
pub mod verify;
mod writer;

pub use progress::{Event, Progress};
pub use simulation::Simulation;
pub use start::Start;
pub use statistics::StepLine;
pub use status::{Status, status};
pub use verify::{Finding, verify};

use crate::worlds;
use meniscus_scene::AnyScene;
use meniscus_sim::ProblemDump;
use meniscus_store::error::{Error, Kind};
use meniscus_store::manifest::DriftWarning;
use meniscus_store::mesh_copies::MeshSource;
use meniscus_store::run_folder::{RunFolder, SceneFiles};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// More threads than this are a slip of the finger.
const MOST_THREADS: usize = 1024;

/// How a run is to be done. None of it changes the particles.
#[derive(Debug)]
pub struct Options<'a> {
    /// Folder to write to.
    pub out: PathBuf,
    /// Threads to use; all cores if it is not said.
    pub threads: Option<usize>,
    /// Bytes of memory that it may take; what the machine has if it is not said.
    pub memory_limit: Option<u64>,
    /// The scene as text, complete with every default: what `scene.toml` will be.
    pub scene_text: String,
    /// Mesh files that the scene refers to: the run keeps copies of them.
    pub meshes: Vec<MeshSource>,
    /// Where to begin.
    pub start: Start,
    /// Whether frames of an earlier run in the folder may be replaced.
    pub overwrite: bool,
    /// Set by somebody else to stop the run after the current step.
    pub stop: &'a AtomicBool,
}

impl<'a> Options<'a> {
    /// A run from the beginning, with all threads and all memory, that replaces nothing.
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

/// What a run has written.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The folder.
    pub folder: RunFolder,
    /// Frames that were simulated; frame 0, the initial state, is not counted.
    pub frames: u32,
    /// The largest drift of the volume, if it was beyond the limit.
    pub drift: Option<DriftWarning>,
    /// Whether they were all there before.
    pub nothing_to_do: bool,
    /// Seconds it took.
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

/// Refuses what [`run`] would refuse before its first step: too little memory, and no liquid outside of solids.
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

/// Calls a function with so many threads at its disposal.
///
/// # Errors
/// If there are none to be had, or more than anybody can mean.
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
        // Zero means as many as there are cores.
        .num_threads(threads.unwrap_or(0))
        .build()
        .map(|pool| pool.install(work))
        .map_err(|e| {
            Error::new(Kind::Resources, format!("could not start the threads: {e}"))
                .with_remedy("use fewer with --threads N")
        })
}
