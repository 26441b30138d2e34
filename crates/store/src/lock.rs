//! Lock of a run's folder: one run at a time.

use crate::error::{Error, Kind};
use crate::regular_file;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the lock file. It is never removed: that could remove the lock of the next run.
pub const NAME: &str = "lock";
/// Attempts to take the lock, which [`holder`] takes for a moment.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(20);

/// Lock of a folder. The system releases it however the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Locks a folder, which is created if necessary.
    ///
    /// # Errors
    /// If another process, which is named, holds the lock, or nothing can be written there.
    pub fn take(root: &Path) -> Result<Self, Error> {
        fs::create_dir_all(root).map_err(|e| Error::io("create", root, &e))?;
        let path = path(root);
        let failed = |e: io::Error| Error::io("write", &path, &e);
        if fs::symlink_metadata(&path).is_ok_and(|data| !data.is_file()) {
            return Err(Error::usage(format!(
                "{} is not a file, where a run has one",
                path.display()
            ))
            .with_remedy("choose another folder with --out DIR, or remove it"));
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        let mut tries = 1;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(held(root)),
                // Some network file systems have no locks; a run there is better than none.
                Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => break,
                Err(TryLockError::Error(e)) => return Err(failed(e)),
            }
        }
        let attempt = |file: &mut File| -> io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        attempt(&mut file).map_err(failed)?;
        Ok(Lock { _file: file })
    }
}

fn path(root: &Path) -> PathBuf {
    root.join(NAME)
}

fn held(root: &Path) -> Error {
    let who = match pid(root) {
        Some(pid) => format!("process {pid}"),
        None => "another process".into(),
    };
    Error::new(
        Kind::Storage,
        format!("{who} is already running in {}", root.display()),
    )
    .with_remedy("wait for it, stop it, or choose another folder with --out DIR")
}

/// Id of the process that locked a folder last.
fn pid(root: &Path) -> Option<u32> {
    let mut text = String::new();
    let file = regular_file::open(&path(root)).ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Holder of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// No process.
    Nobody,
    /// A process, with its id if known.
    Process(Option<u32>),
}

/// The process that runs in a folder.
pub fn holder(root: &Path) -> Holder {
    let free = match regular_file::open(&path(root)) {
        Ok(file) => !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => true,
    };
    if free {
        Holder::Nobody
    } else {
        Holder::Process(pid(root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_by_one_process_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("run");
        assert_eq!(holder(&root), Holder::Nobody);
        let first = Lock::take(&root).unwrap();
        assert_eq!(holder(&root), Holder::Process(Some(std::process::id())));
        let error = Lock::take(&root).unwrap_err();
        assert_eq!(error.kind(), Kind::Storage);
        let pid = std::process::id().to_string();
        assert!(error.message().contains(&pid), "{error}");
        drop(first);
        assert_eq!(holder(&root), Holder::Nobody);
        Lock::take(&root).unwrap();
    }
}
