//! Files that appear complete or not at all.

use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `bytes` to `path` so that a reader finds either the old content or all of the new one,
/// even if the machine stops in between: a temporary file is written, flushed to the disk, then renamed.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_with(path, |file| file.write_all(bytes))
}

/// Like [`write()`], with the content produced by a function, for files too large to hold in memory.
pub fn write_with(
    path: &Path,
    fill_in: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    fill(path, fill_in)?.finish()
}

/// Like [`write_with()`], for formats whose header is known only at the end.
pub fn write_seeking(
    path: &Path,
    fill_in: impl FnOnce(&mut io::BufWriter<File>) -> io::Result<()>,
) -> Result<(), Error> {
    fill_file(path, fill_in)?.finish()
}

/// The first half of [`write_with()`]: writes the content. The second half, which waits for the disk, is
/// [`Filled::finish`].
pub fn fill(
    path: &Path,
    fill_in: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Filled, Error> {
    fill_file(path, |file| fill_in(file))
}

fn fill_file(
    path: &Path,
    fill_in: impl FnOnce(&mut io::BufWriter<File>) -> io::Result<()>,
) -> Result<Filled, Error> {
    let unfinished = unfinished_name(path);
    let attempt = || -> io::Result<File> {
        // A leftover of a run that was killed, or a link: never written through.
        remove(&unfinished)?;
        let mut file = io::BufWriter::new(File::create_new(&unfinished)?);
        fill_in(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)
    };
    match attempt() {
        Ok(file) => Ok(Filled {
            path: path.into(),
            file: Some(file),
        }),
        Err(cause) => {
            // The error of the write is reported; a leftover is harmless and replaced next time.
            let _ = fs::remove_file(&unfinished);
            Err(Error::io("write", path, &cause))
        }
    }
}

/// Removes a file, if there is one.
///
/// # Errors
/// If it can't be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// A file that has its content and not yet its name. Removed when dropped.
#[derive(Debug)]
#[must_use = "without `finish` the file never appears"]
pub struct Filled {
    path: PathBuf,
    file: Option<File>,
}

impl Filled {
    /// Waits until the content is on the disk and gives the file its name.
    pub fn finish(mut self) -> Result<(), Error> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let attempt = || -> io::Result<()> {
            file.sync_all()?;
            fs::rename(unfinished_name(&self.path), &self.path)?;
            sync_folder(&self.path)
        };
        attempt().map_err(|cause| Error::io("write", &self.path, &cause))?;
        self.file = None;
        Ok(())
    }
}

impl Drop for Filled {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(unfinished_name(&self.path));
        }
    }
}

/// Temporary name, in the same folder so that renaming is atomic.
fn unfinished_name(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(UNFINISHED_SUFFIX);
    path.with_file_name(name)
}

/// Suffix of temporary names.
pub const UNFINISHED_SUFFIX: &str = ".unfinished";

/// Flushes a rename to the disk; without it a power cut may undo it.
#[cfg(unix)]
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Nothing to do: folders can be flushed on Unix only.
#[cfg(not(unix))]
pub fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_content_and_no_debris() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frame");
        write(&path, b"old").unwrap();
        let result = write_with(&path, |out| {
            out.write_all(b"half of the new")?;
            Err(io::Error::new(io::ErrorKind::StorageFull, "no room"))
        });
        assert!(result.unwrap_err().to_string().contains("make room"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_not_finished_never_appears() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frame");
        let filled = fill(&path, |out| out.write_all(b"new")).unwrap();
        assert!(!path.exists());
        drop(filled);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fill(&path, |out| out.write_all(b"new"))
            .unwrap()
            .finish()
            .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_replaced_and_never_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        fs::write(&outside, b"precious").unwrap();
        let inside = folder.path().join("frame");
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        std::os::unix::fs::symlink(&outside, unfinished_name(&inside)).unwrap();
        write(&inside, b"ours").unwrap();
        assert_eq!(fs::read(&outside).unwrap(), b"precious");
        assert_eq!(fs::read(&inside).unwrap(), b"ours");
        assert!(!fs::symlink_metadata(&inside).unwrap().is_symlink());
    }
}
