//! Runs other programs on the same files.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Runs one of the scripts in `studies/peers/` and returns its lines of JSON, or why there are none.
///
/// A script that takes longer than `limit` is killed; its output so far counts.
pub fn ask(script: &str, arguments: &[&str], limit: Duration) -> Result<Vec<Value>, String> {
    let mut command = Command::new(python());
    command.arg(folder().join(script)).args(arguments);
    lines_of(command, script, limit)
        .map_err(|why| format!("{why} (studies/peers/install.sh installs what it needs)"))
}

/// Runs the program of a crate in `studies/` that is a workspace of its own, built first, and returns its line of JSON.
pub fn crate_of_its_own(name: &str, arguments: &[&str], limit: Duration) -> Result<Value, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(name)
        .join("Cargo.toml");
    let cargo = |verb: &str| {
        let mut command = Command::new("cargo");
        command
            .args([verb, "--quiet", "--release", "--manifest-path"])
            .arg(&manifest);
        command
    };
    let built = cargo("build").status();
    if !built.is_ok_and(|status| status.success()) {
        return Err(format!("studies/{name} could not be built"));
    }
    let mut command = cargo("run");
    command.arg("--").args(arguments);
    let lines = lines_of(command, name, limit)?;
    (lines.into_iter().next_back()).ok_or_else(|| format!("{name} said nothing"))
}

/// Runs a program and returns its lines of JSON. If it takes longer than `limit` it is killed; its output so far counts.
fn lines_of(mut command: Command, name: &str, limit: Duration) -> Result<Vec<Value>, String> {
    let mut child = command
        // One thread each: CPU time is compared, and waiting threads spend it.
        .env("OMP_NUM_THREADS", "1")
        .env("OPENBLAS_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|cause| format!("{name} could not be started: {cause}"))?;
    let in_time = wait(&mut child, limit);
    if !in_time {
        // It may have ended by itself just now.
        let _ = child.kill();
    }
    let output = child
        .wait_with_output()
        .map_err(|cause| format!("{name}: {cause}"))?;
    let lines: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    if !lines.is_empty() {
        return Ok(lines);
    }
    if !in_time {
        return Err(format!("{name} took longer than {} s", limit.as_secs()));
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.lines().last().unwrap_or("it said nothing");
    Err(format!("{name}: {last}"))
}

fn wait(child: &mut Child, limit: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        match child.try_wait() {
            Ok(None) => sleep(Duration::from_millis(20)),
            _ => return true,
        }
    }
    false
}

/// System interpreter, for which the packages are installed; another may come first on the path.
fn python() -> &'static Path {
    let system = Path::new("/usr/bin/python3");
    if system.exists() {
        system
    } else {
        Path::new("python3")
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}
