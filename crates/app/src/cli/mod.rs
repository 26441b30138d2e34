//! The command line.

mod arguments;
mod report;
mod say;
mod sizes;
mod terminal;

use crate::error::{Error, Kind};
use crate::export::ply;
use crate::problem_files;
use crate::run::{self, AnyProblem, Options, Start};
use crate::scene::{AnyScene, builtin};
use arguments::{
    Arguments, Command, ExportArguments, Format, LcpCommand, LcpExportArguments, RunFlags,
};
use clap::Parser;
use say::{complain, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by Ctrl-C; the run stops after its current step.
static STOP: AtomicBool = AtomicBool::new(false);

/// Does what the command line says and returns the exit code.
pub fn main() -> ExitCode {
    // Answers --help and wrong usage itself, the latter with exit code 2.
    let arguments = Arguments::parse();
    match dispatch(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn dispatch(arguments: Arguments) -> Result<(), Error> {
    match arguments.command {
        None => run_scene(builtin::FIRST, &arguments.run),
        Some(Command::Run(run)) => run_scene(&run.scene, &run.flags),
        Some(Command::Scenes) => list_scenes(),
        Some(Command::Export(export)) => export_run(&export),
        Some(Command::Lcp(LcpCommand::Export(export))) => export_problem(&export),
    }
}

fn run_scene(name: &str, flags: &RunFlags) -> Result<(), Error> {
    let scene = builtin::named(name)?.with(&flags.changes());
    stop_on_ctrl_c()?;
    let options = Options {
        out: flags
            .out
            .clone()
            .unwrap_or_else(|| Path::new("out").join(scene.name())),
        threads: flags.changes.threads,
        scene_text: scene_text(&scene),
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
        report::run_written(&scene, &summary);
    }
    Ok(())
}

/// The scene, a key a line.
fn scene_text(scene: &AnyScene) -> String {
    let text = match scene {
        AnyScene::Two(scene) => format!("{scene:#?}"),
        AnyScene::Three(scene) => format!("{scene:#?}"),
    };
    let lines = text.lines().map(|line| line.replacen(": ", " = ", 1));
    lines.map(|line| line + "\n").collect()
}

/// The first Ctrl-C ends the run after its step, the second one at once.
fn stop_on_ctrl_c() -> Result<(), Error> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Kind::Interrupted.exit_code()));
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|e| Error::new(Kind::Resources, format!("could not listen for Ctrl-C: {e}")))
}

fn list_scenes() -> Result<(), Error> {
    let scenes = builtin::all();
    let widest = scenes.iter().map(|s| s.name().len()).max().unwrap_or(0);
    for scene in scenes {
        say(format_args!(
            "{:widest$}  {}",
            scene.name(),
            scene.summary()
        ));
    }
    Ok(())
}

fn export_run(arguments: &ExportArguments) -> Result<(), Error> {
    let exported = match arguments.to {
        Format::Ply => ply::export(&arguments.run, arguments.out.as_deref())?,
    };
    say(format_args!(
        "wrote {} frames, {}, to {}",
        exported.frames,
        sizes::bytes(exported.bytes),
        exported.folder.display()
    ));
    Ok(())
}

fn export_problem(arguments: &LcpExportArguments) -> Result<(), Error> {
    let scene = builtin::named(&arguments.scene)?.with(&arguments.changes.changes());
    let folder = arguments
        .out
        .clone()
        .unwrap_or_else(|| default_problem_folder(&scene, arguments));
    problem_files::check_folder(&folder)?;
    let problem = run::problem_of_frame(&scene, arguments.frame, arguments.changes.threads)?;
    match &problem {
        AnyProblem::Two(problem) => problem_files::write(&folder, problem)?,
        AnyProblem::Three(problem) => problem_files::write(&folder, problem)?,
    }
    say(format_args!(
        "wrote the pressure problem of the first step towards frame {} of {}, {} unknowns, to {}: {}",
        arguments.frame,
        scene.name(),
        problem.rows(),
        folder.display(),
        problem_files::NAMES.join(", ")
    ));
    Ok(())
}

fn default_problem_folder(scene: &AnyScene, arguments: &LcpExportArguments) -> PathBuf {
    let name = format!("{}_{:06}", scene.name(), arguments.frame);
    Path::new("out").join("lcp").join(name)
}
