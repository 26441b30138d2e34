//! Reading files that somebody may have replaced by anything: to open a pipe waits for ever, and a device never ends.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file for reading.
///
/// # Errors
/// If it can't be opened, or is no file: it is not opened then.
pub fn open(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() {
        return File::open(path);
    }
    let what = match kind.is_dir() {
        true => "it is a folder, not a file",
        false => "it is a pipe or a device, not a file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// Everything in a file, as far as it went when it was opened.
///
/// # Errors
/// As [`open`], or if there is no memory for it.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    usize::try_from(length)
        .ok()
        .and_then(|length| bytes.try_reserve_exact(length).ok())
        .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same of a text.
///
/// # Errors
/// As [`read`], or if it is no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| {
        let why = "it is not UTF-8 text";
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}
