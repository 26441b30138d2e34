//! Files that appear whole or not at all.

use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `bytes` to `path` so that a reader finds either the old content or all of the new one,
/// even if the machine stops in between: a neighbour file is filled, pushed to the disk, then renamed.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_with(path, |file| file.write_all(bytes))
}

/// Like [`write()`], with the content produced by a function, for files too large to hold in memory.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let unfinished = unfinished_name(path);
    let attempt = || -> io::Result<()> {
        // A leftover of a run that was killed, or a link somebody put there: never written through.
        match fs::remove_file(&unfinished) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let mut file = io::BufWriter::new(File::create_new(&unfinished)?);
        fill(&mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)?;
        sync_folder(path)
    };
    attempt().map_err(|cause| {
        // The error of the write is the one to tell; a leftover is harmless and replaced next time.
        let _ = fs::remove_file(&unfinished);
        Error::io("write", path, &cause)
    })
}

/// The name under which a file is filled before it takes its own: same folder, so that renaming is atomic.
fn unfinished_name(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(UNFINISHED_SUFFIX);
    path.with_file_name(name)
}

/// How the names of unfinished files end.
pub const UNFINISHED_SUFFIX: &str = ".unfinished";

/// Pushes the rename itself to the disk; without it a power cut may take the name away again.
#[cfg(unix)]
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
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
