//! Subprocesses for parts of a study, one after the other: peak memory is then that of the part, and
//! nothing is warm from the part before.
//!
//! The parent starts this program again with the hidden command [`PART`], the part as JSON on standard input; the child
//! answers with JSON on standard output and with its exit code.

use crate::catalogue;
use meniscus_store::error::{Error, Kind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{Write, stdin, stdout};
use std::process::{Command, Stdio};

/// The hidden command.
pub const PART: &str = "part";

/// Runs a part of a study in a process of its own and waits for it.
pub fn run<P: Serialize, A: DeserializeOwned>(study: &str, part: &P) -> Result<A, Error> {
    let trouble = |what: &str, cause: &dyn std::fmt::Display| {
        Error::new(Kind::Resources, format!("could not {what}: {cause}"))
    };
    let program = std::env::current_exe().map_err(|e| trouble("find this program", &e))?;
    let question = serde_json::to_vec(part).map_err(|e| trouble("describe a part", &e))?;
    let mut child = Command::new(program)
        .args([PART, study])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| trouble("start a process", &e))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A child that dies before it has read everything says why with its exit code.
        let _ = pipe.write_all(&question);
    }
    let output = child
        .wait_with_output()
        .map_err(|e| trouble("wait for a process", &e))?;
    if !output.status.success() {
        let kind = kind_of(output.status.code());
        return Err(Error::new(
            kind,
            format!("a part of {study} ended with {}", output.status),
        ));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| trouble("read what a part answered", &e))
}

/// The child's side: reads a part from standard input, does it, answers.
pub fn answer(study: &str) -> Result<(), Error> {
    let unknown = || Error::usage(format!("there is no study named {study:?}"));
    let study = catalogue::named(study).ok_or_else(unknown)?;
    let part: Value = serde_json::from_reader(stdin().lock())
        .map_err(|fault| Error::usage(format!("a part is JSON on standard input: {fault}")))?;
    let answer = (study.part)(part)?;
    writeln!(stdout().lock(), "{answer}")
        .map_err(|cause| Error::new(Kind::Storage, format!("could not answer: {cause}")))
}

/// Kind of error for the exit code of a child process; a killed one usually ran out of memory.
fn kind_of(code: Option<i32>) -> Kind {
    let kinds = [
        Kind::Usage,
        Kind::Asset,
        Kind::Numerical,
        Kind::Storage,
        Kind::Interrupted,
    ];
    let same = |kind: &Kind| code == Some(i32::from(kind.exit_code()));
    kinds.into_iter().find(same).unwrap_or(Kind::Resources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trouble_of_a_child_becomes_the_trouble_of_its_parent() {
        assert_eq!(kind_of(Some(5)), Kind::Numerical);
        assert_eq!(kind_of(Some(2)), Kind::Usage);
        assert_eq!(kind_of(None), Kind::Resources);
    }
}
