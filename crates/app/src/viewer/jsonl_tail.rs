//! Reader of a growing JSON Lines file that detects replacement.

use meniscus_store::regular_file;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Bytes before the last position that are compared at every read: if they changed, the file was replaced.
const TAIL: usize = 256;
/// Largest number of bytes per read; the rest follows at the next one.
const MOST: u64 = 64 << 20;

/// Lines of a file so far.
#[derive(Debug)]
pub struct JsonlTail<T> {
    path: PathBuf,
    read: u64,
    tail: Vec<u8>,
    lines: Vec<T>,
}

impl<T: DeserializeOwned> JsonlTail<T> {
    /// Starts at the beginning of a file.
    pub fn new(path: PathBuf) -> Self {
        JsonlTail {
            path,
            read: 0,
            tail: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// All complete lines of the file. Lines that can't be parsed are skipped; a file that can't be read has
    /// none.
    pub fn lines(&mut self) -> &[T] {
        if let Err(error) = self.look()
            && error.kind() == io::ErrorKind::NotFound
        {
            self.forget();
        }
        &self.lines
    }

    fn forget(&mut self) {
        self.read = 0;
        self.tail.clear();
        self.lines.clear();
    }

    fn look(&mut self) -> io::Result<()> {
        let mut file = regular_file::open(&self.path)?;
        let mut tail = vec![0; self.tail.len()];
        file.seek(SeekFrom::Start(self.read - tail.len() as u64))?;
        if file.read_exact(&mut tail).is_err() || tail != self.tail {
            self.forget();
            file.seek(SeekFrom::Start(0))?;
        }
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        let Some(end) = bytes.iter().rposition(|&b| b == b'\n') else {
            return Ok(());
        };
        bytes.truncate(end + 1);
        for line in bytes.split(|&b| b == b'\n') {
            self.lines.extend(serde_json::from_slice::<T>(line).ok());
        }
        self.read += bytes.len() as u64;
        self.tail.extend(&bytes);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_followed_as_it_grows_and_when_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut follower = JsonlTail::<Vec<u32>>::new(path.clone());
        assert_eq!(follower.lines().len(), 0);
        let mut expect = |text: &str, lines: &[u32]| {
            fs::write(&path, text).unwrap();
            let found: Vec<u32> = follower.lines().iter().map(|line| line[0]).collect();
            assert_eq!(found, lines, "{text}");
        };
        expect("[1]\n[2", &[1]);
        expect("[1]\n[2]\n", &[1, 2]);
        expect("[1]\n[2]\nno line\n[3]\n", &[1, 2, 3]);
        // Shorter, then of the same length, then longer, with different content.
        expect("[1]\n", &[1]);
        expect("[4]\n", &[4]);
        expect("[5]\n[6]\n[7]\n", &[5, 6, 7]);
        expect("", &[]);
        fs::remove_file(&path).unwrap();
        assert_eq!(follower.lines().len(), 0);
    }
}
