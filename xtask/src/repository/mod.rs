//! Repository checks, one file each.
//!
//! A check takes the whole tree and returns what it found. Adding one means a file here, with tests
//! on a made-up tree that show it failing, and a line in [`CHECKS`].

mod crate_graph;
mod file_names;
mod file_sizes;
mod ignored_tests;
mod invariants;
mod markdown;
mod neutral_words;
mod paper_item;
mod paper_table;
mod papers;
mod paths;
mod required_files;
mod wording;
mod words;

use std::fmt;
use std::path::Path;

use crate::steps::StepResult;
use crate::tree::Tree;

/// Violation of a rule and its location.
#[derive(Debug)]
struct Finding {
    path: String,
    /// Counted from one; `None` for a finding about the whole file.
    line: Option<usize>,
    message: String,
}

impl Finding {
    fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: Some(line),
            message: message.into(),
        }
    }

    fn about(path: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

type Check = (&'static str, fn(&Tree) -> Vec<Finding>);

const CHECKS: &[Check] = &[
    ("required files", required_files::check),
    ("equation tags and docs/papers.md", papers::check),
    ("paths named in the documents", paths::check),
    ("invariants name their tests", invariants::check),
    (
        "crates depend only on crates they may depend on",
        crate_graph::check,
    ),
    ("no physics word in crates/lcp", neutral_words::check),
    ("file names", file_names::check),
    ("file sizes", file_sizes::check),
    ("wording of comments and documents", wording::check),
    ("ignored tests are long ones", ignored_tests::check),
];

/// Runs all checks on the repository and prints what they found.
pub fn check(root: &Path) -> StepResult {
    let tree = Tree::load(root)?;
    let mut failed = 0;
    for (name, check) in CHECKS {
        let findings = check(&tree);
        println!(
            "   {} {name}",
            if findings.is_empty() {
                "ok    "
            } else {
                "FAILED"
            }
        );
        for finding in &findings {
            println!("          {finding}");
        }
        failed += usize::from(!findings.is_empty());
    }
    for (path, lines) in file_sizes::long_files(&tree) {
        println!("   note   {path} has {lines} lines: is there a second idea in it?");
    }
    if failed == 0 {
        Ok(())
    } else {
        Err(format!("{failed} of {} repository checks", CHECKS.len()))
    }
}

/// Findings of a check in a synthetic tree.
#[cfg(test)]
fn findings_of(check: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
    check(&Tree::of(files))
        .iter()
        .map(ToString::to_string)
        .collect()
}
