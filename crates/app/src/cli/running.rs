//! `meniscus run`.

use super::arguments::RunFlags;
use super::say::remark;
use super::{report, terminal};
use crate::error::{Error, Kind};
use crate::run::{self, Options, Start};
use crate::scene::text::load;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by Ctrl-C; a run stops after its current step, other work after its current frame.
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

/// Runs a scene.
pub fn run(name: &Path, flags: &RunFlags) -> Result<(), Error> {
    let changes = flags.changes.changes();
    let loaded = load(name, &changes, flags.changes.allow_outside_files)?;
    let warnings = loaded.warnings();
    let (scene, text) = loaded.ready()?;
    if !warnings.is_empty() && !flags.quiet {
        remark(&warnings);
    }
    stop_on_ctrl_c()?;
    let options = Options {
        out: flags
            .out
            .clone()
            .unwrap_or_else(|| Path::new("out").join(scene.name())),
        threads: flags.changes.threads,
        memory_limit: flags.memory_limit,
        scene_text: text,
        start: match (flags.from_frame, flags.resume) {
            (Some(frame), _) => Start::FromFrame(frame),
            (None, true) => Start::Resume,
            (None, false) => Start::Beginning,
        },
        stop: &STOP,
    };
    let mut progress = terminal::progress(&scene, flags.quiet);
    let summary = run::run(&scene, &options, progress.as_mut());
    // The bar goes before anything else is said.
    drop(progress);
    let summary = summary?;
    if !flags.quiet && !summary.nothing_to_do {
        report::run_written(&scene, name, &changes, &summary);
    }
    Ok(())
}

/// The first Ctrl-C ends the run after its step, the second one at once.
pub(super) fn stop_on_ctrl_c() -> Result<(), Error> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Kind::Interrupted.exit_code()));
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|e| Error::new(Kind::Resources, format!("could not listen for Ctrl-C: {e}")))
}
