//! Runs other programs one after the other and reports their outcomes at the end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Outcome of a step; `Err` contains the message.
pub type StepResult = Result<(), String>;

/// Steps run so far, with their outcomes and times.
pub struct Steps {
    task: &'static str,
    start: Instant,
    done: Vec<(String, StepResult, Duration)>,
}

impl Steps {
    /// Starts the list of a task; `task` is the word the closing line begins with.
    pub fn new(task: &'static str) -> Self {
        Self {
            task,
            start: Instant::now(),
            done: Vec::new(),
        }
    }

    /// Runs a step and keeps its outcome. A failure does not keep later steps from running.
    pub fn run(&mut self, name: &str, step: impl FnOnce() -> StepResult) {
        println!("\n== {name}");
        let start = Instant::now();
        let result = step();
        if let Err(message) = &result {
            println!("== {name} failed: {message}");
        }
        self.done.push((name.to_owned(), result, start.elapsed()));
    }

    /// Whether a step has failed so far.
    pub fn has_failed(&self) -> bool {
        self.done.iter().any(|(_, result, _)| result.is_err())
    }

    /// Time since the task began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Prints a line per step and the closing line, and gives the exit code of the task.
    pub fn finish(self) -> ExitCode {
        println!();
        for (name, result, time) in &self.done {
            let word = if result.is_ok() { "ok    " } else { "FAILED" };
            println!("{word} {name} ({})", duration_words(*time));
        }
        println!("{}", closing_line(self.task, &self.done, self.elapsed()));
        if self.done.iter().all(|(_, result, _)| result.is_ok()) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

fn closing_line(task: &str, done: &[(String, StepResult, Duration)], elapsed: Duration) -> String {
    let failed: Vec<&str> = done
        .iter()
        .filter(|(_, result, _)| result.is_err())
        .map(|(name, _, _)| name.as_str())
        .collect();
    let time = duration_words(elapsed);
    if failed.is_empty() {
        let steps = if done.len() == 1 { "step" } else { "steps" };
        format!("{task}: passed, {} {steps} in {time}", done.len())
    } else {
        format!(
            "{task}: FAILED, {} of {} steps in {time}: {}",
            failed.len(),
            done.len(),
            failed.join(", ")
        )
    }
}

/// `75 s` as `1 min 15 s`.
pub fn duration_words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

/// The cargo that runs us, so that the pinned toolchain is used throughout.
pub fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root);
    command
}

/// Runs a command whose output goes to the terminal; anything but success is an error that names
/// the command, so that it can be run again by hand.
pub fn succeed(command: &mut Command) -> StepResult {
    let line = command_line(command);
    println!("   {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` ended with {status}")),
        Err(error) => Err(format!("`{line}` could not be started: {error}")),
    }
}

/// Whether a command runs successfully; its output is discarded.
pub fn answers(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Build folder: `CARGO_TARGET_DIR`, or `target`.
pub fn target_folder(root: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target"),
    }
}

/// The command as it would be typed: the program by its short name, then its arguments.
fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_stem()
        .unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_line_names_every_failed_step() {
        let second = Duration::from_secs(1);
        let done = [
            ("a".to_owned(), Ok(()), second),
            ("b".to_owned(), Err("why".to_owned()), second),
            ("c".to_owned(), Err("why".to_owned()), second),
        ];
        let line = closing_line("check", &done, Duration::from_secs(75));
        assert_eq!(line, "check: FAILED, 2 of 3 steps in 1 min 15 s: b, c");
        let line = closing_line("check", &done[..1], second);
        assert_eq!(line, "check: passed, 1 step in 1.0 s");
    }

    #[test]
    fn a_command_that_fails_is_named_in_the_error() {
        let mut command = Command::new(std::env::current_exe().expect("our own path"));
        command.arg("--no-such-option-of-the-test-program");
        let error = succeed(command.stdout(Stdio::null()).stderr(Stdio::null()))
            .expect_err("an unknown option is refused");
        assert!(
            error.contains("--no-such-option-of-the-test-program"),
            "{error}"
        );
    }

    #[test]
    fn a_program_that_is_not_there_does_not_answer() {
        assert!(!answers(&mut Command::new("no-such-program-of-this-name")));
    }
}
