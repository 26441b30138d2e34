//! Reading of regular files only: opening a pipe may block for ever, and a device never ends.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file for reading.
///
/// # Errors
/// If it can't be opened, or is not a regular file, in which case it is not opened.
pub fn open(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() {
        return File::open(path);
    }
    let what = match kind.is_dir() {
        true => "it is a folder, not a file",
        false => "it is a device or a pipe, not a file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// Content of a file.
///
/// # Errors
/// As [`open`], or if there is no memory for it.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_up_to(path, u64::MAX)
}

/// Content of a file of at most `limit` bytes.
///
/// # Errors
/// As [`read`], and [`io::ErrorKind::FileTooLarge`].
pub fn read_up_to(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    usize::try_from(length)
        .ok()
        .and_then(|length| bytes.try_reserve_exact(length).ok())
        .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Content of a text file.
///
/// # Errors
/// As [`read`], or if it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| {
        let why = "it is not UTF-8 text";
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}
