//! `cargo xtask check`: everything that is looked at without running the program.

use std::path::Path;
use std::process::ExitCode;

use crate::steps::{StepResult, Steps, cargo, succeed};
use crate::{licences, repository, usage_error};

type Part = (&'static str, fn(&Path) -> StepResult);

/// The parts of the check, quickest first.
const PARTS: &[Part] = &[
    ("repository", repository::check),
    ("format", format),
    ("clippy", clippy),
    ("rustdoc", rustdoc),
    ("licences", licences::check),
];

/// Runs the named parts, or all of them, every one to its end: a broken crate hides no other.
pub fn run(root: &Path, names: &[&str]) -> ExitCode {
    if let Some(unknown) = names
        .iter()
        .find(|name| PARTS.iter().all(|(part, _)| part != *name))
    {
        return usage_error(&format!("no check is called {unknown}"));
    }
    let mut steps = Steps::new("check");
    for (name, part) in PARTS {
        if names.is_empty() || names.contains(name) {
            steps.run(name, || part(root));
        }
    }
    steps.finish()
}

fn format(root: &Path) -> StepResult {
    succeed(cargo(root).args(["fmt", "--all", "--check"]))
}

fn clippy(root: &Path) -> StepResult {
    succeed(cargo(root).args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--keep-going",
        "--",
        "-D",
        "warnings",
    ]))
}

/// Private items too: a link that leads nowhere misleads the next person inside the crate as well.
fn rustdoc(root: &Path) -> StepResult {
    succeed(
        cargo(root)
            .args([
                "doc",
                "--workspace",
                "--no-deps",
                "--document-private-items",
                "--keep-going",
            ])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}
