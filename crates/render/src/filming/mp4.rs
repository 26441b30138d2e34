//! MP4 videos, encoded by ffmpeg.

use crate::image::RgbImage;
use meniscus_store::atomic_file::UNFINISHED_SUFFIX;
use meniscus_store::error::{Error, Kind};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

const PROGRAM: &str = "ffmpeg";
const INSTALL_HINT: &str = "install it (`apt install ffmpeg`, `brew install ffmpeg`, or from https://ffmpeg.org), or make a GIF \
                      with --gif";
/// Bytes of ffmpeg's messages that are kept.
const MAX_MESSAGE_BYTES: u64 = 1 << 14;

/// MP4 file being encoded, removed if it is dropped before it is finished.
pub(super) struct Movie {
    path: PathBuf,
    unfinished: PathBuf,
    child: Child,
    pictures: Option<ChildStdin>,
    words: Option<JoinHandle<String>>,
}

impl Movie {
    /// Checks that ffmpeg is installed.
    pub fn find() -> Result<(), Error> {
        let asked = Command::new(PROGRAM)
            .arg("-version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match asked {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed(&format!("`ffmpeg -version` ended with {status}"))),
            Err(e) => Err(not_started(&e)),
        }
    }

    /// Starts a video with this frame rate.
    pub fn begin(path: &Path, (width, height): (u32, u32), rate: f64) -> Result<Self, Error> {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(UNFINISHED_SUFFIX);
        let unfinished = path.with_file_name(name);
        // A leftover or a link is never written through.
        match fs::remove_file(&unfinished) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("write", path, &e));
            }
            _ => {}
        }
        let mut child = Command::new(PROGRAM)
            .args(["-nostdin", "-hide_banner", "-loglevel", "error"])
            .args(["-f", "rawvideo", "-pix_fmt", "rgb24"])
            .args(["-video_size", &format!("{width}x{height}")])
            .args(["-framerate", &rate.to_string(), "-i", "pipe:0"])
            // Common players need even sides and subsampled chroma.
            .args([
                "-vf",
                "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                "-pix_fmt",
                "yuv420p",
            ])
            .args(["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart"])
            .args(["-f", "mp4", "-y"])
            .arg(absolute(&unfinished))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| not_started(&e))?;
        // Read concurrently, or ffmpeg would block on a full pipe.
        let stderr = child.stderr.take();
        let words = std::thread::spawn(move || {
            let mut words = Vec::new();
            if let Some(stderr) = stderr {
                let mut limited = stderr.take(MAX_MESSAGE_BYTES);
                let _ = limited.read_to_end(&mut words);
                let _ = io::copy(&mut limited.into_inner(), &mut io::sink());
            }
            String::from_utf8_lossy(&words).trim().to_string()
        });
        Ok(Movie {
            path: path.into(),
            unfinished,
            pictures: child.stdin.take(),
            words: Some(words),
            child,
        })
    }

    /// Adds an image.
    pub fn push(&mut self, picture: &RgbImage) -> Result<(), Error> {
        let Some(pictures) = &mut self.pictures else {
            return Ok(());
        };
        match pictures.write_all(picture.as_raw()) {
            Ok(()) => Ok(()),
            // ffmpeg has ended; its messages say why.
            Err(_) => self.wait().and_then(|()| {
                Err(failed(
                    "it ended before it received all images, without a message",
                ))
            }),
        }
    }

    /// Waits for ffmpeg and renames the video.
    pub fn finish(mut self) -> Result<(), Error> {
        self.wait()?;
        let finish = || -> io::Result<()> {
            fs::File::open(&self.unfinished)?.sync_all()?;
            fs::rename(&self.unfinished, &self.path)
        };
        finish().map_err(|e| Error::io("write", &self.path, &e))
    }

    fn wait(&mut self) -> Result<(), Error> {
        // The end of its input makes it finish.
        drop(self.pictures.take());
        let status = self.child.wait();
        let words = self.words.take().map(JoinHandle::join);
        let words = words.and_then(Result::ok).unwrap_or_default();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) if words.is_empty() => Err(failed(&format!("it ended with {status}"))),
            Ok(_) => Err(failed(&words)),
            Err(e) => Err(failed(&e.to_string())),
        }
    }
}

impl Drop for Movie {
    fn drop(&mut self) {
        if self.pictures.take().is_some() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        // Fails if the file was renamed already.
        let _ = fs::remove_file(&self.unfinished);
    }
}

/// Path that no program takes for an option.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

fn not_started(cause: &io::Error) -> Error {
    let message = match cause.kind() {
        io::ErrorKind::NotFound => "MP4 output needs ffmpeg, which is not installed".into(),
        _ => format!("could not start ffmpeg: {cause}"),
    };
    Error::new(Kind::Resources, message).with_remedy(INSTALL_HINT)
}

fn failed(why: &str) -> Error {
    Error::new(
        Kind::Storage,
        format!("ffmpeg could not encode the video: {why}"),
    )
    .with_remedy("make a GIF with --gif, or PNG images with --png")
}
