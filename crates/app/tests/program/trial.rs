//! Runs the program in a temporary folder.

use meniscus_app::runner::{self, Options};
use meniscus_scene::Scene;
use meniscus_store::error::Error;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// Temporary folder in which the program runs.
pub struct Trial {
    folder: TempDir,
}

impl Trial {
    pub fn new() -> Self {
        Trial {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Folder after a successful call.
    pub fn after(line: &str) -> Self {
        let trial = Trial::new();
        trial.call_well(line);
        trial
    }

    /// Path in the folder.
    pub fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().join(inner)
    }

    /// `meniscus`, ready to be called in the folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meniscus"));
        command.current_dir(self.folder.path());
        command
    }

    /// Calls `meniscus` with the words of a line.
    pub fn call(&self, line: &str) -> Outcome {
        let output = self.command().args(line.split_whitespace()).output();
        Outcome::from(output.unwrap())
    }

    /// Starts it without waiting.
    pub fn start(&self, line: &str) -> Child {
        self.command()
            .args(line.split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Calls it and asserts success.
    pub fn call_well(&self, line: &str) -> Outcome {
        let outcome = self.call(line);
        assert_eq!(outcome.code, 0, "meniscus {line}: {}", outcome.errors);
        outcome
    }

    /// Calls it and asserts this exit code and an error with all of these words.
    pub fn fails(&self, line: &str, code: i32, words: &[&str]) -> Outcome {
        let outcome = self.call(line);
        assert_error(&outcome, code, words);
        outcome
    }

    /// Calls it with a limit on the size of files, in blocks of 512 bytes.
    #[cfg(unix)]
    pub fn call_with_file_limit(&self, blocks: u64, line: &str) -> Outcome {
        let program = env!("CARGO_BIN_EXE_meniscus");
        // Without the trap the signal would end the process.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} {line}");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).current_dir(self.folder.path());
        Outcome::from(shell.output().unwrap())
    }
}

/// Sends a process the signal of Ctrl-C.
#[cfg(unix)]
pub fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
}

/// Asserts that two folders have the same run: the same bytes in everything that does not depend on the clock.
pub fn assert_same_run(found: &Path, expected: &Path) {
    for file in ["stats.jsonl", "preview.gif", "scene.toml", "bodies.csv"] {
        let of = |folder: &Path| std::fs::read(folder.join(file)).ok();
        assert!(of(found) == of(expected), "{file} differs");
    }
    let frames = names(&expected.join("particles"));
    assert_eq!(names(&found.join("particles")), frames);
    for frame in frames {
        let of = |folder: &Path| std::fs::read(folder.join("particles").join(&frame)).unwrap();
        assert!(of(found) == of(expected), "{frame} differs");
    }
}

/// Asserts this exit code and an error with all of these words.
pub fn assert_error(outcome: &Outcome, code: i32, words: &[&str]) {
    assert_eq!(outcome.code, code, "{outcome:?}");
    for word in words {
        let found = outcome.errors.contains(word);
        assert!(found, "{word} is missing in {}", outcome.errors);
    }
    assert!(!outcome.errors.contains("panicked"), "{}", outcome.errors);
}

/// Asserts that a run's folder is intact.
pub fn assert_intact(run: &Path) {
    let findings = meniscus_app::runner::verify(run).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
}

/// Runs a scene into the folder `out`, with one thread.
pub fn run_alone(scene: Scene<2>, trial: &Trial) -> Result<runner::Summary, Error> {
    let stop = AtomicBool::new(false);
    let options = Options {
        threads: Some(1),
        ..Options::new(trial.path("out"), "name = \"test\"\n", &stop)
    };
    runner::run(&scene.into(), &options, &mut ())
}

/// Output and exit code of a call.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub said: String,
    pub errors: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Outcome {
            code: output.status.code().expect("the program was not killed"),
            said: String::from_utf8(output.stdout).unwrap(),
            errors: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Lines of a JSON Lines file.
pub fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.ends_with('\n'),
        "{} ends in the middle of a line",
        path.display()
    );
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Content of a JSON file.
pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Asserts that a text has all of these parts.
pub fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}
