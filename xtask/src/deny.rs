//! Licences, banned crates and sources of what we depend on, by `cargo deny` and `deny.toml`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::steps::{StepResult, answers, cargo, succeed, target_folder};

/// The version that is built when none is installed.
const VERSION: &str = "0.20.2";

/// What building it may take before we give up; on two idle cores it is a minute or two.
const PATIENCE: Duration = Duration::from_secs(8 * 60);

/// Runs the check. Advisories are left out: their database needs a network at every run.
pub fn check(root: &Path) -> StepResult {
    let program = find_or_build(root)?;
    succeed(
        Command::new(program)
            .current_dir(root)
            .args(["check", "licenses", "bans", "sources"]),
    )
}

/// The installed program, or our own copy, kept between runs in the build folder.
fn find_or_build(root: &Path) -> Result<PathBuf, String> {
    let installed = PathBuf::from("cargo-deny");
    if answers(Command::new(&installed).arg("--version")) {
        return Ok(installed);
    }
    let folder = target_folder(root).join("tools");
    let own = folder
        .join("bin")
        .join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    if answers(Command::new(&own).arg("--version")) {
        return Ok(own);
    }
    build(root, &folder)?;
    Ok(own)
}

/// Builds cargo-deny without optimisation: it runs for a second, and compiling is what costs.
fn build(root: &Path, folder: &Path) -> StepResult {
    println!("   building cargo-deny {VERSION} (once; it stays in the build folder)");
    let mut command = cargo(root);
    command
        .args(["install", "--locked", "--debug", "--quiet"])
        .args(["--version", VERSION, "--root"])
        .arg(folder)
        .arg("cargo-deny")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        // A build folder of its own, which cargo removes afterwards.
        .env_remove("CARGO_TARGET_DIR");
    let child = command
        .spawn()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    wait_at_most(child, PATIENCE)
}

fn wait_at_most(mut child: Child, limit: Duration) -> StepResult {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("building cargo-deny ended with {status}")),
            Ok(None) if start.elapsed() < limit => std::thread::sleep(Duration::from_millis(200)),
            Ok(None) => {
                // Best effort: the build is given up either way, and the message says so.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!(
                    "cargo-deny was not built in {} minutes; install it with \
                     `cargo install --locked cargo-deny --version {VERSION}`",
                    limit.as_secs() / 60
                ));
            }
            Err(error) => return Err(format!("cannot wait for the build of cargo-deny: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_build_that_takes_too_long_is_given_up() {
        let child = Command::new("sleep").arg("60").spawn().expect("sleep");
        let start = Instant::now();
        let error = wait_at_most(child, Duration::from_millis(300)).expect_err("too long");
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!(
            error.contains("cargo install --locked cargo-deny"),
            "{error}"
        );
    }
}
