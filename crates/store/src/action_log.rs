//! `actions.jsonl`: what a program did to a run between its steps, so that the run can be repeated.
//!
//! One line per action, in order, each with the number of steps before it: a force on a body, or a key of the scene with its
//! new value. A resumed run carries out again what comes after the step that it resumes from. An action of the program that
//! is the next one of the log counts as that one; another one takes the place of all that were left to be repeated.

use crate::atomic_file;
use crate::error::{Error, Kind};
use crate::jsonl::{JsonlFile, Prefix, Sync};
use crate::regular_file;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Name of the file.
pub const NAME: &str = "actions.jsonl";

/// An action between two steps.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Action {
    /// Number of steps before it.
    pub step: u64,
    /// What was done.
    #[serde(flatten)]
    pub what: What,
}

/// What a program did.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub enum What {
    /// It set the external force and torque on a body for all further steps.
    Push {
        /// Name of the body.
        push: String,
        /// Force in N.
        force: Vec<f64>,
        /// Torque about the centre of mass in N m; in 2D, only the last component.
        torque: [f64; 3],
    },
    /// It changed a key of the scene for all further steps.
    Set {
        /// Key, as in scene files.
        set: String,
        /// Value, as in scene files.
        value: String,
    },
}

/// Actions that were carried out, and those that are left to be repeated.
#[derive(Debug)]
pub struct ActionLog {
    /// File; none if nothing is written.
    path: Option<PathBuf>,
    file: Option<JsonlFile>,
    actions: Vec<Action>,
    done: usize,
}

impl ActionLog {
    /// A log without a file, with actions to be repeated.
    ///
    /// # Errors
    /// If they are not in the order of their steps.
    pub fn in_memory(repeated: Vec<Action>) -> Result<Self, Error> {
        match in_order(&repeated) {
            true => Ok(ActionLog {
                path: None,
                file: None,
                actions: repeated,
                done: 0,
            }),
            false => Err(Error::usage(
                "the actions to be repeated are not in the order of their steps",
            )),
        }
    }

    /// The log of a new run, with actions to be repeated, in place of that of an earlier run. There is a file as soon as
    /// there is an action.
    ///
    /// # Errors
    /// As [`ActionLog::in_memory`], or if the file can't be written.
    pub fn create(path: &Path, repeated: Vec<Action>) -> Result<Self, Error> {
        let mut log = ActionLog::in_memory(repeated)?;
        log.path = Some(path.into());
        if log.actions.is_empty() {
            atomic_file::remove(path).map_err(|e| Error::io("remove", path, &e))?;
            return Ok(log);
        }
        let lines: Vec<u8> = log.actions.iter().flat_map(line).collect();
        atomic_file::write(path, &lines)?;
        log.file = Some(JsonlFile::resume(path, lines.len() as u64)?);
        Ok(log)
    }

    /// The log of a run that resumes after so many steps. An incomplete last line is cut off.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn resume(path: &Path, actions: Vec<Action>, steps: u64) -> Result<Self, Error> {
        let done = actions.partition_point(|action| action.step < steps);
        let file = match actions.is_empty() {
            true => None,
            false => Some(JsonlFile::resume(path, prefix(&actions).bytes)?),
        };
        Ok(ActionLog {
            path: Some(path.into()),
            file,
            actions,
            done,
        })
    }

    /// Actions that were carried out.
    pub fn done(&self) -> &[Action] {
        &self.actions[..self.done]
    }

    /// Number of steps before the last action that is left to be repeated; none if nothing is left.
    pub fn last_left(&self) -> Option<u64> {
        let left = &self.actions[self.done..];
        left.last().map(|action| action.step)
    }

    /// The next action to be repeated, once there were as many steps as before it.
    pub fn next_due(&mut self, steps: u64) -> Option<Action> {
        let action = self.actions.get(self.done)?;
        if action.step > steps {
            return None;
        }
        self.done += 1;
        Some(action.clone())
    }

    /// Records an action that was carried out. If it is not the next one to be repeated, nothing more is repeated.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn record(&mut self, action: Action) -> Result<(), Error> {
        if self.actions.get(self.done) == Some(&action) {
            self.done += 1;
            return Ok(());
        }
        if let Some(path) = &self.path {
            if self.done < self.actions.len() {
                self.file = Some(JsonlFile::resume(path, self.prefix().bytes)?);
            }
            append(path, &mut self.file, &action)?;
        }
        self.actions.truncate(self.done);
        self.actions.push(action);
        self.done += 1;
        Ok(())
    }

    /// The bytes of the actions that were carried out.
    pub fn prefix(&self) -> Prefix {
        prefix(self.done())
    }

    /// A handle that flushes the file to the disk, if there is one.
    ///
    /// # Errors
    /// If there is no handle to be had.
    pub fn sync(&self) -> Result<Option<Sync>, Error> {
        self.file.as_ref().map(JsonlFile::sync).transpose()
    }
}

/// Adds a line to the file, which is created for the first one.
fn append(path: &Path, file: &mut Option<JsonlFile>, action: &Action) -> Result<(), Error> {
    let file = match file {
        Some(file) => file,
        none => none.insert(JsonlFile::create(path)?),
    };
    file.push(action)
}

fn in_order(actions: &[Action]) -> bool {
    actions.is_sorted_by_key(|action| action.step)
}

fn line(action: &Action) -> Vec<u8> {
    let mut line = serde_json::to_vec(action).unwrap_or_default();
    line.push(b'\n');
    line
}

fn prefix(actions: &[Action]) -> Prefix {
    Prefix::of_lines(actions.iter().map(line))
}

/// The actions in a file; none if it does not exist. Of a line that was not finished, nothing is read.
///
/// # Errors
/// If the file is damaged, or does not begin with what the manifest lists.
pub fn read(path: &Path, listed: Option<&Prefix>) -> Result<Vec<Action>, Error> {
    let content = match regular_file::read(path) {
        Ok(content) => content,
        Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(Error::io("read", path, &e)),
    };
    let mut actions = Vec::new();
    let complete = |line: &&[u8]| line.ends_with(b"\n");
    for written in content.split_inclusive(|&b| b == b'\n').filter(complete) {
        match serde_json::from_slice::<Action>(written) {
            Ok(action) if line(&action) == written => actions.push(action),
            _ => return Err(damaged(path)),
        }
    }
    let bytes = listed.map_or(0, |prefix| prefix.bytes);
    if !in_order(&actions) || bytes > 0 && !listed.is_some_and(|prefix| prefix.begins(path)) {
        return Err(damaged(path));
    }
    Ok(actions)
}

fn damaged(path: &Path) -> Error {
    Error::new(
        Kind::Storage,
        format!(
            "{} is damaged: forces and changes of the scene can't be repeated",
            path.display()
        ),
    )
    .with_remedy("put the file back, or run the program from the beginning into another folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(step: u64, x: f64) -> Action {
        let what = What::Push {
            push: "box".into(),
            force: vec![x, 0.1 + 0.2],
            torque: [0.0, 0.0, 1.0 / 3.0],
        };
        Action { step, what }
    }

    fn set(step: u64) -> Action {
        let what = What::Set {
            set: "liquid[1].viscosity".into(),
            value: "10".into(),
        };
        Action { step, what }
    }

    #[test]
    fn a_resumed_log_repeats_the_rest_until_something_else_happens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let all = [push(1, 1.0), set(4), push(4, 2.0), push(9, 3.0)];
        let mut log = ActionLog::create(&path, Vec::new()).unwrap();
        assert!(!path.exists());
        for action in all.clone() {
            log.record(action).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"{\"step\":9,\"pu"].concat()).unwrap();
        let resumed = || {
            let actions = read(&path, Some(&prefix(&all))).unwrap();
            assert_eq!(actions, all);
            ActionLog::resume(&path, actions, 4).unwrap()
        };

        let mut log = resumed();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        assert_eq!((log.done(), log.last_left()), (&all[..1], Some(9)));
        assert_eq!(log.next_due(3), None);
        assert_eq!(log.next_due(4), Some(set(4)));
        // The next one by the program itself.
        log.record(push(4, 2.0)).unwrap();
        assert_eq!(log.next_due(8), None);
        assert_eq!(log.next_due(9), Some(push(9, 3.0)));
        assert_eq!((log.last_left(), log.prefix()), (None, prefix(&all)));
        assert_eq!(std::fs::read(&path).unwrap(), whole);

        let mut log = resumed();
        log.record(push(4, 2.5)).unwrap();
        assert_eq!((log.next_due(100), log.last_left()), (None, None));
        assert_eq!(read(&path, None).unwrap(), [push(1, 1.0), push(4, 2.5)]);
    }

    #[test]
    fn a_damaged_log_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        assert_eq!(read(&path, Some(&prefix(&[]))).unwrap(), []);
        let listed = prefix(&[push(1, 1.0), set(4)]);
        assert!(read(&path, Some(&listed)).is_err(), "it is missing");
        ActionLog::create(&path, vec![push(1, 1.0), set(4)]).unwrap();
        assert!(read(&path, Some(&listed)).is_ok());
        let whole = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        for (from, to) in [("box", "bax"), ("\"step\":1", "\"step\":7"), ("{", "[")] {
            std::fs::write(&path, whole.replacen(from, to, 1)).unwrap();
            assert!(read(&path, Some(&listed)).is_err(), "{to}");
        }
        assert!(ActionLog::in_memory(vec![set(4), push(1, 1.0)]).is_err());
    }
}
