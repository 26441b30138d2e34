//! Pictures and films of runs: finished, running or interrupted, one alone or two side by side.
//!
//! `reel.rs` draws the frames of one run from its cache; here they are matched by their times and put side by side, and
//! `sinks.rs` writes them as PNG, GIF and MP4. Nothing of it touches what the run itself has written.

mod movie;
mod reel;
mod sinks;

use crate::image::RgbImage;
use crate::preview::beside;
use meniscus_scene::Style;
use meniscus_scene::text::Override;
use meniscus_store::error::{Error, Kind};
use meniscus_store::layout::pictures::FOLDER;
use meniscus_store::opened_run::{FrameChoice, OpenedRun};
use meniscus_store::quantity::count;
use reel::{Drawn, Reel, open};
use sinks::Sinks;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Sides that a picture may have, in pixels.
const SIDES: std::ops::RangeInclusive<u32> = 16..=4096;
/// Factors by which a film may be slower than life; below one it is faster.
const SLOW: std::ops::RangeInclusive<f64> = 0.01..=1000.0;
/// Times that differ by this part of a frame are the same.
const SAME_TIME: f64 = 1e-3;

/// What to make.
#[derive(Debug)]
pub struct Options<'a> {
    /// Which frames.
    pub frames: FrameChoice,
    /// Width and height in pixels, of each run.
    pub size: (u32, u32),
    /// How the liquid is drawn.
    pub style: Style,
    /// Changes to the camera, as keys of a scene.
    pub camera: Vec<Override>,
    /// Whether every frame becomes a PNG.
    pub png: bool,
    /// Whether they become a GIF.
    pub gif: bool,
    /// Whether they become an MP4.
    pub mp4: bool,
    /// How many times slower than life films are.
    pub slow: Option<f64>,
    /// Folder to write to, in place of one in the run's folder.
    pub out: Option<PathBuf>,
    /// Where the scene's own meshes are.
    pub assets: Option<PathBuf>,
    /// Set by somebody else to stop after the current frame.
    pub stop: &'a AtomicBool,
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Filmed {
    /// Where it is.
    pub folder: PathBuf,
    /// Pictures that were drawn.
    pub pictures: usize,
    /// Files with the name and size of each: the films, and the pictures as one.
    pub files: Vec<(String, u64)>,
}

/// Somebody who wants to know how it is going.
pub trait Watch {
    /// So many frames were asked for.
    fn begin(&mut self, frames: usize);
    /// One more is done.
    fn frame(&mut self, number: u32);
}

impl Watch for () {
    fn begin(&mut self, _frames: usize) {}
    fn frame(&mut self, _number: u32) {}
}

/// Says what is wrong with the size of a picture.
///
/// # Errors
/// If it is too small to show anything, or too large to be meant.
pub fn check_size((width, height): (u32, u32)) -> Result<(), String> {
    if SIDES.contains(&width) && SIDES.contains(&height) {
        return Ok(());
    }
    Err(format!(
        "a picture can't be {width} x {height} pixels: each side must be from {} to {}",
        SIDES.start(),
        SIDES.end()
    ))
}

/// Draws the frames of a run, or of two runs side by side, and writes them.
///
/// # Errors
/// If a folder is no run, has none of the frames, or nothing can be written. Damaged frames are left out and named in
/// the error, after all the others have been drawn; in films the picture before stands in for them.
pub fn film(
    run: &Path,
    other: Option<&Path>,
    options: &Options<'_>,
    watch: &mut (dyn Watch + Send),
) -> Result<Filmed, Error> {
    check_size(options.size).map_err(Error::usage)?;
    if let Some(slow) = options.slow
        && !SLOW.contains(&slow)
    {
        return Err(Error::usage(format!(
            "a film can't be {slow} times slower: the factor must be from {} to {}",
            SLOW.start(),
            SLOW.end()
        )));
    }
    let runs: Vec<OpenedRun> = std::iter::once(run)
        .chain(other)
        .map(OpenedRun::open)
        .collect::<Result<_, _>>()?;
    let mut reels = open(&runs, options)?;
    if let [first, second] = &mut reels[..]
        && first.title() == second.title()
    {
        // The same scene with the same walls: then the folders say what is what.
        for (reel, run) in [(first, &runs[0]), (second, &runs[1])] {
            reel.say_also(&run.root.display().to_string());
        }
    }
    let line = TimeLine::of(&reels);
    let wanted = line.frames(&options.frames, &runs[0].root)?;
    let folder = folder(options.out.as_deref(), run, other)?;
    let mut sinks = Sinks::open(folder, options, line.rate)?;
    watch.begin(wanted.len());
    let mut damaged = Vec::new();
    let mut hand = Hand {
        reels,
        shown: Vec::new(),
        line,
    };
    for (done, &frame) in wanted.iter().enumerate() {
        if options.stop.load(Ordering::Relaxed) {
            return Err(Error::new(
                Kind::Interrupted,
                format!("stopped after {done} of {}", count(wanted.len(), "frame")),
            )
            .with_remedy("the pictures so far are there, films are not"));
        }
        let (picture, is_new) = hand.draw(frame, &mut damaged)?;
        if let Some(picture) = picture {
            sinks.take(frame, &picture, is_new)?;
        }
        watch.frame(frame);
    }
    let filmed = sinks.close()?;
    match damaged.first() {
        None => Ok(filmed),
        Some(first) => {
            let others = match damaged.len() - 1 {
                0 => String::new(),
                n => format!(" ({} damaged)", count(n, "more frame")),
            };
            Err(
                Error::new(Kind::Storage, format!("{}{others}", first.message())).with_remedy(
                    format!(
                        "{} in {}; run the scene again with --resume to mend the run",
                        count(filmed.pictures, "other picture"),
                        filmed.folder.display()
                    ),
                ),
            )
        }
    }
}

/// The times at which pictures are taken, of one run or of two.
struct TimeLine {
    /// Pictures for every second of simulated time.
    rate: f64,
    /// The number of the last frame of any run, counted at this rate.
    last: u32,
    /// Where there is a frame of some run.
    first: u32,
}

impl TimeLine {
    /// That of the run with more frames a second, as long as the longer one.
    fn of(reels: &[Box<dyn Reel + '_>]) -> Self {
        let rate = reels.iter().map(|r| r.rate()).fold(0.0, f64::max);
        let number = |reel: &dyn Reel, frame: u32| {
            let at = f64::from(frame) / reel.rate() * rate;
            (at - SAME_TIME).ceil().max(0.0) as u32
        };
        let ends = |reel: &dyn Reel| {
            let frames = reel.frames();
            let first = frames.first().map_or(0, |&f| number(reel, f));
            let last = frames.last().map_or(0, |&f| number(reel, f));
            (first, last)
        };
        let ends: Vec<(u32, u32)> = reels.iter().map(|reel| ends(reel.as_ref())).collect();
        TimeLine {
            rate,
            first: ends.iter().map(|e| e.0).min().unwrap_or(0),
            last: ends.iter().map(|e| e.1).max().unwrap_or(0),
        }
    }

    fn time(&self, frame: u32) -> f64 {
        f64::from(frame) / self.rate
    }

    /// The numbers that were asked for.
    fn frames(&self, wanted: &FrameChoice, run: &Path) -> Result<Vec<u32>, Error> {
        let frames: Vec<u32> = (self.first..=self.last)
            .filter(|&f| wanted.has(f))
            .collect();
        if frames.is_empty() {
            return Err(Error::usage(format!(
                "{} has no frames in {wanted}: there are {} to {}",
                run.display(),
                self.first,
                self.last
            )));
        }
        Ok(frames)
    }
}

/// Draws one frame after the other, with what is still to be seen of those before.
struct Hand<'a> {
    reels: Vec<Box<dyn Reel + 'a>>,
    /// What each reel shows, with the number of its frame.
    shown: Vec<Option<(u32, RgbImage)>>,
    line: TimeLine,
}

impl Hand<'_> {
    /// The picture at a number of the time line and whether anything in it is new; none as long as there is nothing.
    fn draw(
        &mut self,
        number: u32,
        damaged: &mut Vec<Error>,
    ) -> Result<(Option<RgbImage>, bool), Error> {
        let time = self.line.time(number);
        let alone = self.reels.len() == 1;
        self.shown.resize(self.reels.len(), None);
        let mut is_new = false;
        for (reel, shown) in self.reels.iter().zip(&mut self.shown) {
            // A run that ends earlier holds its last frame; one that has not begun shows its first.
            let until = time * reel.rate() + SAME_TIME;
            let frames = reel.frames();
            let passed = frames.partition_point(|&f| f64::from(f) <= until);
            let Some(&frame) = frames.get(passed.saturating_sub(1)) else {
                continue;
            };
            if shown.as_ref().is_some_and(|(there, _)| *there == frame) {
                continue;
            }
            match reel.draw(frame, alone)? {
                Drawn::Picture(picture) => {
                    is_new = true;
                    *shown = Some((frame, picture));
                }
                Drawn::Damaged(error) => {
                    damaged.push(error);
                    if let Some((there, _)) = shown {
                        *there = frame;
                    }
                }
            }
        }
        let picture = match &self.shown[..] {
            [Some((_, only))] => Some(only.clone()),
            [Some((_, left)), Some((_, right))] => {
                let end = self.line.time(self.line.last);
                Some(beside(left, right, time, end, self.line.rate))
            }
            _ => None,
        };
        // Of two runs every moment is a picture of its own: the time line moves.
        Ok((picture, is_new || !alone))
    }
}

/// The folder to write to.
fn folder(out: Option<&Path>, run: &Path, other: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(out) = out {
        return Ok(out.into());
    }
    let own = run.join(FOLDER);
    let folder = match other.map(|other| other.canonicalize()) {
        None => own.clone(),
        Some(Ok(other)) => {
            let name = other.file_name().unwrap_or_default().to_string_lossy();
            own.join(format!("beside-{name}"))
        }
        Some(Err(_)) => own.join("beside"),
    };
    // A link in place of our folder would lead our files out of the run's folder.
    for inner in [&own, &folder] {
        if fs::symlink_metadata(inner).is_ok_and(|data| !data.is_dir()) {
            return Err(Error::usage(format!(
                "{} is not a folder, where a run has one",
                inner.display()
            ))
            .with_remedy("remove it, or choose another folder with --out DIR"));
        }
    }
    Ok(folder)
}
