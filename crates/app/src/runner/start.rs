//! Start of a run: from the beginning, from a checkpoint of its own, or from one of another run.

use super::branch;
use super::progress::{Event, Progress};
use super::resume::{self, Found, Search};
use super::run_loop::Runner;
use super::simulation::{HeldScene, Simulation};
use super::{Options, Summary, estimate};
use meniscus_scene::Scene;
use meniscus_store::action_log::Action;
use meniscus_store::error::{Error, Kind};
use meniscus_store::lock::Lock;
use meniscus_store::manifest::{Manifest, State};
use meniscus_store::quantity::count;
use meniscus_store::run_folder::{self, RunFolder};
use std::path::{Path, PathBuf};

/// Start of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The beginning of the scene.
    #[default]
    Beginning,
    /// The interruption of an earlier run of the same scene in the same folder.
    Resume,
    /// This frame of an earlier run in the same folder, with a scene that may have changed. Later frames are
    /// replaced.
    FromFrame(u32),
    /// A frame of a run in another folder, with a scene that may have changed. That run is not modified.
    Branch {
        /// Folder of the other run.
        run: PathBuf,
        /// Frame.
        frame: u32,
    },
}

impl Start {
    /// Whether the folder is expected to contain a run already.
    fn continues(&self) -> bool {
        matches!(self, Start::Resume | Start::FromFrame(_))
    }

    /// Last frame of an earlier run in the folder that is kept; none if all are.
    fn keeps(&self) -> Option<u32> {
        match self {
            Start::Beginning | Start::Branch { .. } => Some(0),
            Start::FromFrame(frame) => Some(*frame),
            Start::Resume => None,
        }
    }
}

/// Runs a scene in the thread pool of the caller.
pub(super) fn run<const D: usize>(
    scene: &Scene<D>,
    options: &Options<'_>,
    progress: &mut (dyn Progress + Send),
) -> Result<Summary, Error> {
    let scene = HeldScene::Borrowed(scene);
    match open(scene, options, None, progress)? {
        Opened::Complete(folder, manifest) => Ok(nothing_to_do(folder, &manifest, progress)),
        Opened::Ready(mut runner, _lock) => {
            let end = runner.frames(options.stop, progress);
            runner.close(end)
        }
    }
}

/// A run whose steps the caller takes, with actions to be repeated. One that is complete is opened at its last frame.
pub(super) fn controlled<const D: usize>(
    scene: HeldScene<'static, D>,
    options: &Options<'_>,
    repeated: Vec<Action>,
    progress: &mut (dyn Progress + Send),
) -> Result<(Runner<'static, D>, Lock), Error> {
    let out = options.out.display().to_string();
    match open(scene, options, Some(repeated), progress)? {
        Opened::Ready(runner, lock) => Ok((*runner, lock)),
        Opened::Complete(..) => Err(Error::usage(format!("the run in {out} is complete"))),
    }
}

/// A run before its next step.
enum Opened<'a, const D: usize> {
    /// There is no next step.
    Complete(RunFolder, Box<Manifest>),
    /// Ready for it, under the lock of its folder.
    Ready(Box<Runner<'a, D>>, Lock),
}

/// Opens a run; one that a program controls has actions to be repeated.
fn open<'a, const D: usize>(
    scene: HeldScene<'a, D>,
    options: &Options<'_>,
    controlled: Option<Vec<Action>>,
    progress: &mut (dyn Progress + Send),
) -> Result<Opened<'a, D>, Error> {
    scene.check()?;
    estimate::check(&scene, options.memory_limit)?;
    if matches!(options.start, Start::Resume | Start::FromFrame(1..)) && !options.out.exists() {
        return Err(nothing_to_continue(&options.out));
    }
    let continues = options.start.continues();
    // Checked before anything is created, and again under the lock.
    RunFolder::open(&options.out, &scene.name, continues)?;
    let beginning = match options.start {
        Start::Beginning => Some(Simulation::of(scene.clone())?),
        _ => None,
    };
    let source = match &options.start {
        Start::Branch {
            run,
            frame: frame @ 1..,
        } => Some(branch::Source::find(&scene, run, *frame, &options.out)?),
        _ => None,
    };
    let lock = Lock::take(&options.out)?;
    let folder = RunFolder::open(&options.out, &scene.name, continues)?;
    refuse_to_replace(&folder, &scene.name, options)?;
    let mut found = match (&options.start, source) {
        (_, Some(source)) => source.copy_to(&scene, options, &folder)?,
        (Start::Resume, _) => {
            let again = controlled.is_some();
            match resume::after_interruption(&scene, &options.scene_text, &folder, again)? {
                Search::Complete(manifest) => return Ok(Opened::Complete(folder, manifest)),
                Search::Found(found) => *found,
            }
        }
        (&Start::FromFrame(frame @ 1..), _) => resume::from_frame(&scene, &folder, frame)?,
        _ => Found::nothing(),
    };
    for notice in &found.notices {
        progress.event(Event::Notice(notice));
    }
    let runner = match found.place.take() {
        Some(place) => Runner::resume(scene, options, folder, found, place, progress)?,
        None => {
            let beginning = beginning.map_or_else(|| Simulation::of(scene.clone()), Ok)?;
            let mut repeated = controlled.unwrap_or_default();
            repeated.append(&mut found.actions);
            Runner::begin(scene, options, folder, beginning, repeated)?
        }
    };
    Ok(Opened::Ready(Box::new(runner), lock))
}

/// A misspelt folder must not become a new run.
fn nothing_to_continue(out: &Path) -> Error {
    Error::new(
        Kind::Storage,
        format!("there is no run to continue: {} does not exist", out.display()),
    )
    .with_remedy(
        "pass the folder of the run as --out DIR; without --resume and --from-frame the scene starts from the beginning",
    )
}

fn nothing_to_do(
    folder: RunFolder,
    manifest: &Manifest,
    progress: &mut (dyn Progress + Send),
) -> Summary {
    let done = manifest.frames_done;
    let notice = format!("nothing to do: {} done and undamaged", count(done, "frame"));
    progress.event(Event::Notice(&notice));
    Summary {
        folder,
        frames: done,
        warnings: manifest.warnings(),
        notes: manifest.notes(),
        nothing_to_do: true,
        wall_seconds: manifest.wall_seconds,
    }
}

/// Checks that frames of an earlier run are replaced only on request.
///
/// # Errors
/// If frames would be lost, with the options to continue.
fn refuse_to_replace(folder: &RunFolder, scene: &str, options: &Options<'_>) -> Result<(), Error> {
    let Some(kept) = options.start.keeps().filter(|_| !options.overwrite) else {
        return Ok(());
    };
    let Ok(Some(manifest)) = Manifest::read(folder.root()) else {
        return Ok(());
    };
    if manifest.frames_done <= kept {
        return Ok(());
    }
    let root = folder.root().display();
    let done = manifest.frames_done;
    let (counted, all) = (count(done, "frame"), count(manifest.frames, "frame"));
    let free = run_folder::next_free(&run_folder::usual(scene));
    let free = free.display();
    if kept > 0 {
        return Err(Error::usage(format!(
            "the run in {root} has {counted}: those after frame {kept} would be replaced"
        ))
        .with_remedy(format!(
            "--overwrite replaces them; --out auto leaves this run unchanged and branches into {free}"
        )));
    }
    let (what, resume) = match manifest.state {
        State::Done => (format!("a finished run of {counted}"), ""),
        State::Failed => (
            format!("a run that failed after {done} of {all}"),
            "--resume continues it; ",
        ),
        State::Interrupted | State::Running => (
            format!("a run that was interrupted after {done} of {all}"),
            "--resume continues it; ",
        ),
    };
    Err(
        Error::usage(format!("{root} has {what}")).with_remedy(format!(
            "{resume}--overwrite replaces it; --out auto writes to the next free folder, {free}"
        )),
    )
}
