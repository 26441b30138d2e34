//! JSON-lines files that grow by complete lines, so that others can follow them during a run.

use crate::atomic_file;
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The first bytes of a growing file, by number and hash.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Prefix {
    /// Number of bytes.
    pub bytes: u64,
    /// Their BLAKE3, in hexadecimal.
    pub blake3: String,
}

impl Prefix {
    /// No bytes.
    pub fn nothing() -> Self {
        Prefix::of(&blake3::Hasher::new())
    }

    /// The bytes of some lines.
    pub fn of_lines(lines: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for line in lines {
            hasher.update(&line);
        }
        Prefix::of(&hasher)
    }

    fn of(hasher: &blake3::Hasher) -> Self {
        Prefix {
            bytes: hasher.count(),
            blake3: hasher.finalize().to_hex().to_string(),
        }
    }

    /// Whether a file can be read and begins with these bytes.
    pub fn begins(&self, path: &Path) -> bool {
        hash_of_first(path, self.bytes).is_ok_and(|hasher| Prefix::of(&hasher) == *self)
    }
}

/// Hash of the first bytes of a regular file, or of all if it has fewer.
fn hash_of_first(path: &Path, bytes: u64) -> io::Result<blake3::Hasher> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut plain(path)?.take(bytes), &mut hasher)?;
    Ok(hasher)
}

/// Opens a file for reading; a link is not followed.
fn plain(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ))
    }
}

/// A JSON-lines file that is being written.
#[derive(Debug)]
pub struct JsonlFile {
    path: PathBuf,
    file: File,
    hasher: blake3::Hasher,
}

impl JsonlFile {
    /// Creates a file, or replaces one. A link is replaced, not followed.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let file = atomic_file::remove(path).and_then(|()| File::create_new(path));
        Ok(JsonlFile {
            path: path.into(),
            file: file.map_err(|cause| Error::io("write", path, &cause))?,
            hasher: blake3::Hasher::new(),
        })
    }

    /// Continues after the first bytes of an existing file; the rest is cut off.
    pub fn resume(path: &Path, bytes: u64) -> Result<Self, Error> {
        let attempt = || -> io::Result<Self> {
            let hasher = hash_of_first(path, bytes)?;
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.set_len(hasher.count())?;
            file.seek(SeekFrom::End(0))?;
            Ok(JsonlFile {
                path: path.into(),
                file,
                hasher,
            })
        };
        attempt().map_err(|cause| Error::io("continue", path, &cause))
    }

    /// Continues after those of the first bytes that are complete lines of JSON: what is left of a damaged file that can't
    /// be made again.
    pub fn salvage(path: &Path, bytes: u64) -> Result<Self, Error> {
        let mut content = Vec::new();
        if let Ok(file) = plain(path) {
            file.take(bytes)
                .read_to_end(&mut content)
                .map_err(|e| Error::io("read", path, &e))?;
        }
        let sound: Vec<u8> = content
            .split_inclusive(|&byte| byte == b'\n')
            .filter(|line| line.ends_with(b"\n"))
            .filter(|line| serde_json::from_slice::<serde_json::Value>(line).is_ok())
            .flatten()
            .copied()
            .collect();
        atomic_file::write(path, &sound)?;
        JsonlFile::resume(path, sound.len() as u64)
    }

    /// Adds a line, in one write, so that a reader never sees half of it.
    pub fn push(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let mut bytes =
            serde_json::to_vec(line).map_err(|e| Error::io("write", &self.path, &e.into()))?;
        bytes.push(b'\n');
        self.file
            .write_all(&bytes)
            .map_err(|e| Error::io("write", &self.path, &e))?;
        self.hasher.update(&bytes);
        Ok(())
    }

    /// The bytes written so far.
    pub fn prefix(&self) -> Prefix {
        Prefix::of(&self.hasher)
    }

    /// A handle that flushes the file to the disk, for another thread.
    pub fn sync(&self) -> Result<Sync, Error> {
        let file = self.file.try_clone();
        Ok(Sync {
            file: file.map_err(|e| Error::io("write", &self.path, &e))?,
            path: self.path.clone(),
        })
    }
}

/// Flushes the bytes written so far to the disk.
#[derive(Debug)]
pub struct Sync {
    path: PathBuf,
    file: File,
}

impl Sync {
    /// Waits until they are there.
    pub fn wait(&self) -> Result<(), Error> {
        self.file
            .sync_data()
            .map_err(|e| Error::io("write", &self.path, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuing_cuts_off_what_came_after_and_keeps_the_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats.jsonl");
        let mut whole = JsonlFile::create(&path).unwrap();
        whole.push(&1).unwrap();
        let after_one = whole.prefix();
        whole.push(&2).unwrap();
        let after_two = whole.prefix();
        whole.push(&[3; 20]).unwrap();
        assert!(after_one.begins(&path) && after_two.begins(&path) && whole.prefix().begins(&path));

        let mut again = JsonlFile::resume(&path, after_one.bytes).unwrap();
        assert_eq!(again.prefix(), after_one);
        assert!(!after_two.begins(&path));
        again.push(&2).unwrap();
        assert_eq!(again.prefix(), after_two);
        assert_eq!(fs::read(&path).unwrap(), b"1\n2\n");
    }

    #[test]
    fn complete_lines_are_salvaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timings.jsonl");
        fs::write(&path, b"{\"a\":1}\n{\"a\"?2}\n{\"a\":3}\n{\"a\":4").unwrap();
        let file = JsonlFile::salvage(&path, 1000).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{\"a\":1}\n{\"a\":3}\n");
        assert!(file.prefix().begins(&path));
        fs::remove_file(&path).unwrap();
        JsonlFile::salvage(&path, 1000).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
    }
}
