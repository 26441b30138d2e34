//! Runs for readers, complete or not.

use crate::error::{Error, Kind};
use crate::manifest::Manifest;
use crate::regular_file;
use crate::run_folder::RunFolder;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A run's folder with its manifest and its scene.
#[derive(Clone, Debug)]
pub struct OpenedRun {
    /// The folder.
    pub root: PathBuf,
    /// Manifest.
    pub manifest: Manifest,
}

impl OpenedRun {
    /// Opens a run's folder.
    ///
    /// # Errors
    /// If it holds no run, or its manifest is damaged.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let manifest = Manifest::read(root)?.ok_or_else(|| no_run(root))?;
        Ok(OpenedRun {
            root: root.into(),
            manifest,
        })
    }

    /// Path and text of the scene file.
    ///
    /// # Errors
    /// If it can't be read or is damaged.
    pub fn scene_text(&self) -> Result<(PathBuf, String), Error> {
        let path = RunFolder::of_run(&self.root).scene();
        let text = regular_file::read_text(&path).map_err(|e| Error::io("read", &path, &e))?;
        if blake3::hash(text.as_bytes()).to_hex().as_str() != self.manifest.scene_hash {
            return Err(Error::new(
                Kind::Storage,
                format!(
                    "{} is damaged: its content does not match its hash",
                    path.display()
                ),
            )
            .with_remedy("run the scene again with --resume to repair it"));
        }
        Ok((path, text))
    }

    /// The requested frames that were written, in ascending order.
    ///
    /// # Errors
    /// If there are none.
    pub fn frames(&self, wanted: &FrameChoice) -> Result<Vec<u32>, Error> {
        let mut frames: Vec<u32> = (0..=self.manifest.frames_done)
            .filter(|&frame| self.manifest.keeps(frame))
            .collect();
        if frames.is_empty() {
            return Err(Error::new(
                Kind::Storage,
                format!("{} has no frames yet", self.root.display()),
            ));
        }
        let (first, last) = (frames[0], frames[frames.len() - 1]);
        frames.retain(|&frame| wanted.has(frame));
        if frames.is_empty() {
            return Err(Error::usage(format!(
                "{} has no frames in {wanted}: there are {first} to {last}",
                self.root.display()
            )));
        }
        Ok(frames)
    }
}

/// The error for a folder without a run.
pub fn no_run(run: &Path) -> Error {
    Error::new(
        Kind::Storage,
        format!(
            "{} holds no run of meniscus: there is no run.json",
            run.display()
        ),
    )
    .with_remedy("name the folder that a run has written, such as out/thrown-sphere")
}

/// A range of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameChoice {
    /// First frame. Default: the first that was written.
    pub first: Option<u32>,
    /// Last frame. Default: the last that was written.
    pub last: Option<u32>,
}

impl FrameChoice {
    /// Whether a frame is in the range.
    pub fn has(&self, frame: u32) -> bool {
        self.first.is_none_or(|first| frame >= first) && self.last.is_none_or(|last| frame <= last)
    }
}

impl fmt::Display for FrameChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.first, self.last) {
            (Some(first), Some(last)) if first == last => write!(f, "{first}"),
            (first, last) => {
                let number = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
                write!(f, "{}-{}", number(first), number(last))
            }
        }
    }
}

impl FromStr for FrameChoice {
    type Err = String;

    /// `12`, `10-50`, `10-` or `-50`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} names no frames; write 12, 10-50, 10- or -50");
        let number = |digits: &str| -> Result<Option<u32>, String> {
            match digits.trim() {
                "" => Ok(None),
                digits => digits.parse().map(Some).map_err(|_| wrong()),
            }
        };
        let choice = match text.split_once('-') {
            Some((first, last)) => FrameChoice {
                first: number(first)?,
                last: number(last)?,
            },
            None => {
                let only = number(text)?;
                FrameChoice {
                    first: only,
                    last: only,
                }
            }
        };
        match (choice.first, choice.last) {
            (None, None) => Err(wrong()),
            (Some(first), Some(last)) if first > last => {
                Err(format!("frames {text} run backwards; write {last}-{first}"))
            }
            _ => Ok(choice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_frames_are_parsed() {
        let range = |first, last| Ok(FrameChoice { first, last });
        assert_eq!("12".parse(), range(Some(12), Some(12)));
        assert_eq!("10-50".parse(), range(Some(10), Some(50)));
        assert_eq!("10-".parse(), range(Some(10), None));
        assert_eq!("-50".parse(), range(None, Some(50)));
        assert_eq!("0".parse(), range(Some(0), Some(0)));
        for wrong in ["", "-", "5-2", "a", "1-b", "1..5", "1-2-3"] {
            assert!(wrong.parse::<FrameChoice>().is_err(), "{wrong}");
        }
    }
}
