//! The command line.

mod arguments;
mod counter;
mod diff;
mod exporting;
mod filming;
mod folders;
mod gc;
mod lcp;
mod meshing;
mod output;
mod report;
mod running;
mod scenes;
mod sizes;
mod sweep;
mod terminal;
mod time_left;
mod view;

use arguments::{Arguments, Command, CompletionArguments};
use clap::{CommandFactory, Parser};
use meniscus_scene::builtin;
use meniscus_store::error::Error;
use output::{print_error, print_line};
use std::path::Path;
use std::process::ExitCode;

/// Runs the command line and returns the exit code.
pub fn main() -> ExitCode {
    // Handles --help and usage errors itself, the latter with exit code 2.
    let arguments = Arguments::parse();
    match dispatch(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn dispatch(arguments: Arguments) -> Result<(), Error> {
    match arguments.command {
        None => running::run(Path::new(builtin::FIRST), &arguments.run, true),
        Some(Command::Run(run)) => running::run(&run.scene, &run.flags, false),
        Some(Command::Sweep(arguments)) => sweep::sweep(&arguments),
        Some(Command::Check(check)) => scenes::check(&check),
        Some(Command::Estimate(estimate)) => scenes::estimate(&estimate),
        Some(Command::Init(init)) => scenes::init(&init),
        Some(Command::Schema(schema)) => scenes::schema(&schema),
        Some(Command::Scenes) => {
            scenes::list();
            Ok(())
        }
        Some(Command::Status(folder)) => folders::status(&folder),
        Some(Command::Verify(folder)) => folders::verify(&folder),
        Some(Command::Mesh(mesh)) => meshing::mesh(&mesh),
        Some(Command::Export(export)) => exporting::export(&export),
        Some(Command::View(arguments)) => view::view(&arguments),
        Some(Command::Report(arguments)) => view::report(&arguments),
        Some(Command::Diff(arguments)) => diff::diff(&arguments),
        Some(Command::Gc(arguments)) => gc::gc(&arguments),
        Some(Command::Preview(preview)) => filming::preview(&preview),
        Some(Command::Lcp(command)) => lcp::dispatch(&command),
        Some(Command::Completions(completions)) => complete(&completions),
    }
}

fn complete(arguments: &CompletionArguments) -> Result<(), Error> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "meniscus", &mut script);
    print_line(format_args!("{}", String::from_utf8_lossy(&script)));
    Ok(())
}
