//! `meniscus run`.

use super::arguments::RunFlags;
use super::output::print_note;
use super::{report, terminal};
use crate::runner::{self, Options, Start};
use meniscus_scene::text::load;
use meniscus_store::error::{Error, Kind};
use meniscus_store::manifest::Manifest;
use meniscus_store::opened_run::no_run;
use meniscus_store::run_folder::{self, next_free, usual};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by Ctrl-C: a run stops after its current step, other commands after their current frame.
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

/// Value of `--out` for the next free folder.
const AUTO: &str = "auto";

/// Runs a scene. `bare` is the program without a command, which never replaces a run.
pub fn run(name: &Path, flags: &RunFlags, bare: bool) -> Result<(), Error> {
    let changes = flags.changes.changes();
    let loaded = load(name, &changes, flags.changes.allow_outside_files)?;
    let warnings = loaded.warnings();
    let meshes = loaded.meshes.clone();
    let (scene, text) = loaded.ready()?;
    if !warnings.is_empty() && !flags.quiet {
        print_note(&warnings);
    }
    let usual = usual(scene.name());
    let out = out(flags, &usual, bare)?;
    if !flags.quiet && out != usual && flags.out.as_deref().is_none_or(is_auto) {
        print_note(&format!(
            "{} already contains a run: writing to {}",
            usual.display(),
            out.display()
        ));
    }
    stop_on_ctrl_c()?;
    let options = Options {
        start: start(flags, &usual, &out)?,
        out,
        threads: flags.changes.threads,
        memory_limit: flags.memory_limit,
        scene_text: text,
        meshes,
        overwrite: flags.overwrite,
        stop: &STOP,
    };
    let mut progress = terminal::progress(&scene, flags.quiet);
    let summary = runner::run(&scene, &options, progress.as_mut());
    // Clear the bar before printing anything else.
    drop(progress);
    let summary = summary?;
    if !flags.quiet && !summary.nothing_to_do {
        report::run_written(&scene, name, flags, &summary);
    }
    Ok(())
}

fn is_auto(out: &Path) -> bool {
    out == Path::new(AUTO)
}

/// Output folder.
fn out(flags: &RunFlags, usual: &Path, bare: bool) -> Result<PathBuf, Error> {
    match &flags.out {
        Some(out) if is_auto(out) && flags.resume => {
            Err(Error::usage("--resume needs an existing run")
                .with_remedy("pass its folder as --out DIR"))
        }
        Some(out) if is_auto(out) => Ok(next_free(usual)),
        Some(out) => Ok(out.clone()),
        None if bare && !(flags.resume || flags.overwrite || flags.from_frame.is_some()) => {
            Ok(next_free(usual))
        }
        None => Ok(usual.into()),
    }
}

/// Start of the run. `--from-frame` with a folder without a run branches from the given run, or from the one in the
/// default folder.
fn start(flags: &RunFlags, usual: &Path, out: &Path) -> Result<Start, Error> {
    let Some(frame) = flags.from_frame else {
        return Ok(match flags.resume {
            true => Start::Resume,
            false => Start::Beginning,
        });
    };
    if let Some(run) = &flags.branch_from {
        let run = run.clone();
        return Ok(Start::Branch { run, frame });
    }
    // A branch that was killed during its creation has no frames yet, and is created again.
    let has_frames = match Manifest::read(out) {
        Ok(manifest) => manifest.is_some_and(|manifest| manifest.frames_done > 0),
        Err(_) => true,
    };
    if frame == 0 || has_frames {
        return Ok(Start::FromFrame(frame));
    }
    if run_folder::is_same(usual, out) || !Manifest::path(usual).exists() {
        return Err(no_run(usual)
            .with_remedy("pass the folder of the run to branch from as --branch-from DIR"));
    }
    Ok(Start::Branch {
        run: usual.into(),
        frame,
    })
}

/// The first Ctrl-C stops after the current step, the second one immediately.
pub(super) fn stop_on_ctrl_c() -> Result<(), Error> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Kind::Interrupted.exit_code()));
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|e| Error::new(Kind::Resources, format!("could not listen for Ctrl-C: {e}")))
}
