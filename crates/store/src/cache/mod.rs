//! The particle cache: what a run keeps of every frame, small and checkable.
//!
//! A frame is one file, `particles/particles_000001.mpc`. [`container`] is the envelope (magic,
//! version, lengths, hash); [`particles`] is what it holds (positions to a two-thousandth of a cell,
//! velocities and pressures to a sixty-thousandth of the frame's largest). The particles of a frame come back
//! sorted by cell, which is what makes them small.

pub mod container;
pub mod particles;

pub use container::{CacheError, Header};
pub use particles::{decode, encode};

use crate::error::{Error, Kind};
use crate::regular_file;
use std::path::{Path, PathBuf};

/// The particles of one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<const D: usize> {
    /// Number of the frame. Frame k is the state k frame intervals after the start; frame 0 is the initial state.
    pub number: u32,
    /// Simulated time in seconds.
    pub time: f64,
    /// Width of a cell in metres.
    pub dx: f64,
    /// Positions in metres.
    pub positions: Vec<[f32; D]>,
    /// Velocities in metres a second, one for each position.
    pub velocities: Vec<[f32; D]>,
    /// Pressures in pascal, one for each position, all of a cell the same; or none.
    pub pressures: Vec<f32>,
}

/// Folder of the frames inside a run's folder.
pub const FOLDER: &str = "particles";

/// Path of a frame inside a run's folder.
pub fn frame_path(run: &Path, number: u32) -> PathBuf {
    run.join(FOLDER).join(format!("particles_{number:06}.mpc"))
}

/// The number in a frame's file name, if it is one of ours.
pub fn frame_number(file_name: &str) -> Option<u32> {
    numbered(file_name, "particles_", ".mpc")
}

/// The number in `<prefix>NNNNNN<suffix>`, if `name` has that form.
pub fn numbered(name: &str, prefix: &str, suffix: &str) -> Option<u32> {
    let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let plain = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

/// The numbers of the frames that a run's folder holds, in order.
pub fn frames_in(run: &Path) -> Result<Vec<u32>, Error> {
    let folder = run.join(FOLDER);
    let entries = std::fs::read_dir(&folder).map_err(|e| Error::io("read", &folder, &e))?;
    let mut numbers = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("read", &folder, &e))?;
        numbers.extend(entry.file_name().to_str().and_then(frame_number));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Reads a frame's file whole. Only its size is trusted so far.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    regular_file::read(path).map_err(|e| Error::io("read", path, &e))
}

/// What is wrong with a frame's file, if something is. Its hash is checked, its particles are not looked at.
pub fn fault(run: &Path, number: u32, dimension: Option<usize>) -> Option<String> {
    let bytes = match regular_file::read(&frame_path(run, number)) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Some("it is missing".into()),
        Err(e) => return Some(e.to_string()),
    };
    match container::open(&bytes) {
        Err(fault) => Some(fault.to_string()),
        Ok((header, _)) if header.number != number => {
            Some(format!("it holds frame {}", header.number))
        }
        Ok((header, _)) => {
            let wanted = dimension.map(|d| d as u32)?;
            let wrong = CacheError::Dimension {
                wanted,
                found: header.dimension,
            };
            (wanted != header.dimension).then(|| wrong.to_string())
        }
    }
}

/// Says which file is damaged, how, and what to do.
pub fn damaged(path: &Path, cause: &CacheError) -> Error {
    Error::new(
        Kind::Storage,
        format!("{} is damaged: {cause}", path.display()),
    )
    .with_remedy(
        "the other frames are not affected; run the scene again with --resume to replace this one",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_frames() {
        assert_eq!(frame_number("particles_000012.mpc"), Some(12));
        assert_eq!(frame_number("particles_1234567.mpc"), Some(1_234_567));
        for other in [
            "particles_12.mpc",
            "particles_+00012.mpc",
            "particles_000012.ply",
            ".particles_000012.mpc.unfinished",
            "particles_99999999999999.mpc",
            "notes.txt",
        ] {
            assert_eq!(frame_number(other), None, "{other}");
        }
    }
}
