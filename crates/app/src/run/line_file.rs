//! A file that grows by whole lines, so that others can follow it while the run goes on.

use crate::error::Error;
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A JSON-lines file that is being written.
#[derive(Debug)]
pub struct LineFile {
    path: PathBuf,
    file: File,
}

impl LineFile {
    /// Starts a new file in place of whatever had the name. A link is replaced, not followed.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let attempt = || -> io::Result<File> {
            match fs::remove_file(path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            File::create_new(path)
        };
        match attempt() {
            Ok(file) => Ok(LineFile {
                path: path.into(),
                file,
            }),
            Err(cause) => Err(Error::io("write", path, &cause)),
        }
    }

    /// Adds a line. It goes out in one write, so that a reader sees no half of it.
    pub fn push(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let mut bytes =
            serde_json::to_vec(line).map_err(|e| Error::io("write", &self.path, &e.into()))?;
        bytes.push(b'\n');
        self.file
            .write_all(&bytes)
            .map_err(|e| Error::io("write", &self.path, &e))
    }
}
