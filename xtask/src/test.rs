//! `cargo xtask test`: everything the tests need, then the tests.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use crate::steps::{Steps, answers, cargo, duration_words, succeed};
use crate::{browser, clients, mutants, python};

/// Extent of a test run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Tests that every change has to pass.
    Usual,
    /// With the tests marked `long:`, every test of the viewer's page and the outside clients.
    Full,
}

/// Time limit of the usual run on two cores, build included.
const BUDGET: Duration = Duration::from_secs(13 * 60);

/// Runs the tests of the workspace and prints how it went.
pub fn run(root: &Path, extent: Extent) -> ExitCode {
    let mut steps = Steps::new("test");
    match std::env::var_os("MENISCUS_DATA") {
        Some(folder) => println!("MENISCUS_DATA is {}", folder.display()),
        None => println!("MENISCUS_DATA is not set: tests on external problems are skipped"),
    }
    // nextest runs tests of different crates side by side, which two cores notice, but it knows no
    // documentation tests. Without it cargo does both, a little slower.
    if answers(cargo(root).args(["nextest", "--version"])) {
        steps.run("tests", || {
            succeed(cargo(root).args(nextest_arguments(extent)))
        });
        steps.run("documentation tests", || {
            succeed(cargo(root).args(["test", "--workspace", "--doc", "--no-fail-fast"]))
        });
    } else {
        steps.run("tests and documentation tests", || {
            succeed(cargo(root).args(cargo_test_arguments(extent)))
        });
    }
    browser::run(root, extent, &mut steps);
    python::run(root, extent, &mut steps);
    if extent == Extent::Full {
        steps.run("rapier as an oracle", || {
            succeed(cargo(root).args(["test", "--manifest-path", "studies/rapier/Cargo.toml"]))
        });
        clients::run(root, &mut steps);
        steps.run("deliberate faults", || mutants::run(root));
    }
    if extent == Extent::Usual && steps.elapsed() > BUDGET {
        println!(
            "\nThis took longer than the limit of {}: speed up the slowest tests or mark them `long:`.",
            duration_words(BUDGET)
        );
    }
    steps.finish()
}

/// Runs the tests of the Python package alone.
pub fn run_python(root: &Path, extent: Extent) -> ExitCode {
    let mut steps = Steps::new("test");
    python::run(root, extent, &mut steps);
    steps.finish()
}

fn nextest_arguments(extent: Extent) -> Vec<&'static str> {
    let mut arguments = vec!["nextest", "run", "--workspace", "--no-fail-fast"];
    if extent == Extent::Full {
        arguments.extend(["--run-ignored", "all"]);
    }
    arguments
}

fn cargo_test_arguments(extent: Extent) -> Vec<&'static str> {
    let mut arguments = vec!["test", "--workspace", "--no-fail-fast"];
    if extent == Extent::Full {
        arguments.extend(["--", "--include-ignored"]);
    }
    arguments
}
