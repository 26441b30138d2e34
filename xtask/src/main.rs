//! Tasks of the repository, run as `cargo xtask TASK`; see `HELP`.
//!
//! `.ci/run` is `test` and `check`. Only the standard library is used, so that this compiles in seconds.

#![forbid(unsafe_code)]

mod browser;
mod check;
mod clients;
mod golden;
mod licences;
mod mutants;
mod pictures;
mod python;
mod repository;
mod steps;
mod test;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask TASK

Tasks:
  test            build and run the tests of the whole workspace
  test --full     also long tests, all browser tests of the viewer, and other programs that read our files
  test [--full] python  only the tests of the Python package
  check           formatting, clippy, rustdoc, repository checks and licences of dependencies
  check NAME...   only the given ones of: repository, format, clippy, rustdoc, licences
  golden          compare hashes of frames and statistics of all built-in scenes with xtask/golden.txt
  golden --update record these hashes
  mutants         put deliberate faults into a copy of the tree, each of which a test must notice
  pictures        render every picture of the documentation; takes minutes
  pictures NAME...  only the given ones, such as cup
  wheel           build the Python package for users into target/wheels
  help            print this text

MENISCUS_DATA=FOLDER is a folder of external problems; tests that need it report when they are skipped.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = workspace_root();
    match words.as_slice() {
        ["test"] => test::run(&root, test::Extent::Usual),
        ["test", "--full"] => test::run(&root, test::Extent::Full),
        ["test", "python"] => test::run_python(&root, test::Extent::Usual),
        ["test", "--full", "python"] => test::run_python(&root, test::Extent::Full),
        ["check", names @ ..] => check::run(&root, names),
        ["golden"] => golden::run(&root, false),
        ["golden", "--update"] => golden::run(&root, true),
        ["mutants"] => {
            let mut steps = steps::Steps::new("mutants");
            steps.run("deliberate faults", || mutants::run(&root));
            steps.finish()
        }
        ["pictures", names @ ..] => pictures::run(&root, names),
        ["wheel"] => match python::wheel(&root) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => {
                eprintln!("xtask: {message}");
                ExitCode::FAILURE
            }
        },
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        [] => usage_error("no task given"),
        _ => usage_error(&format!("not a task: {}", words.join(" "))),
    }
}

/// Prints a usage error; its exit code is 2, as in `meniscus`.
fn usage_error(message: &str) -> ExitCode {
    eprint!("xtask: {message}\n\n{HELP}");
    ExitCode::from(2)
}

/// The folder that holds the workspace's `Cargo.toml`, whatever the current folder is.
fn workspace_root() -> PathBuf {
    let manifest_folder = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest_folder
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
