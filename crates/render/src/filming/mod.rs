//! Images and videos of runs: finished, in progress or interrupted, one run or two side by side.
//!
//! `reel.rs` renders the frames of one run from its cache; here they are matched by time and composed side by side, and
//! `sinks.rs` writes them as PNG, GIF and MP4. Files of the run itself are not modified.

mod contact_sheet;
mod mp4;
mod reel;
mod sinks;

pub use contact_sheet::contact_sheet;

use crate::image::RgbImage;
use crate::preview::side_by_side;
use meniscus_scene::Style;
use meniscus_scene::text::Override;
use meniscus_store::cache;
use meniscus_store::error::{Error, Kind};
use meniscus_store::layout::pictures::FOLDER;
use meniscus_store::opened_run::{FrameChoice, OpenedRun};
use meniscus_store::quantity::count;
use reel::{DrawnFrame, Reel, open};
use sinks::Sinks;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Valid image sides in pixels.
const SIDES: std::ops::RangeInclusive<u32> = 16..=4096;
/// Valid slow-motion factors; below one the video is faster than real time.
const SLOW: std::ops::RangeInclusive<f64> = 0.01..=1000.0;
/// Times that differ by less than this fraction of a frame are equal.
const SAME_TIME: f64 = 1e-3;

/// Options.
#[derive(Debug)]
pub struct Options<'a> {
    /// Frames.
    pub frames: FrameChoice,
    /// Width and height in pixels, per run.
    pub size: (u32, u32),
    /// Rendering style of the liquid.
    pub style: Style,
    /// Overrides of the camera, as keys of a scene.
    pub camera: Vec<Override>,
    /// Whether to write one PNG per frame.
    pub png: bool,
    /// Whether to write a GIF.
    pub gif: bool,
    /// Whether to write an MP4.
    pub mp4: bool,
    /// Slow-motion factor.
    pub slow: Option<f64>,
    /// Output folder. Default: a folder inside that of the run.
    pub out: Option<PathBuf>,
    /// Folder of the original scene file, for its meshes.
    pub assets: Option<PathBuf>,
    /// Set from another thread to stop after the current frame.
    pub stop: &'a AtomicBool,
}

/// Result.
#[derive(Clone, Debug)]
pub struct Filmed {
    /// Output folder.
    pub folder: PathBuf,
    /// Number of images.
    pub pictures: usize,
    /// Name and size of each file: the videos, and all images as one entry.
    pub files: Vec<(String, u64)>,
}

/// Progress callback.
pub trait Progress {
    /// Number of requested frames.
    fn begin(&mut self, frames: usize);
    /// One frame is done.
    fn frame(&mut self, number: u32);
}

impl Progress for () {
    fn begin(&mut self, _frames: usize) {}
    fn frame(&mut self, _number: u32) {}
}

/// Checks the size of an image.
///
/// # Errors
/// If it is out of range.
pub fn check_size((width, height): (u32, u32)) -> Result<(), String> {
    if SIDES.contains(&width) && SIDES.contains(&height) {
        return Ok(());
    }
    Err(format!(
        "invalid image size {width} x {height}: each side must be from {} to {} pixels",
        SIDES.start(),
        SIDES.end()
    ))
}

/// Renders the frames of one run, or of two runs side by side, and writes them.
///
/// # Errors
/// If a folder is not a run, has none of the frames, or nothing can be written. Damaged frames are skipped and listed in
/// the error, after all others have been rendered; videos repeat the image before them.
pub fn film(
    run: &Path,
    other: Option<&Path>,
    options: &Options<'_>,
    watch: &mut (dyn Progress + Send),
) -> Result<Filmed, Error> {
    check_size(options.size).map_err(Error::usage)?;
    if let Some(slow) = options.slow
        && !SLOW.contains(&slow)
    {
        return Err(Error::usage(format!(
            "invalid slow-motion factor {slow}: it must be from {} to {}",
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
        // The same scene with the same walls: add the folders to the titles.
        for (reel, run) in [(first, &runs[0]), (second, &runs[1])] {
            reel.append_title(&run.root.display().to_string());
        }
    }
    let line = Timeline::of(&reels);
    let wanted = line.frames(&options.frames, &runs[0].root)?;
    let folder = folder(options.out.as_deref(), run, other)?;
    let mut sinks = Sinks::open(folder, options, line.rate)?;
    watch.begin(wanted.len());
    let mut damaged = Vec::new();
    let mut renderer = Renderer {
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
            .with_remedy("the images so far are complete; videos were not written"));
        }
        let (picture, is_new) = renderer.draw(frame, &mut damaged)?;
        if let Some(picture) = picture {
            sinks.take(frame, &picture, is_new)?;
        }
        watch.frame(frame);
    }
    let filmed = sinks.close()?;
    let others = count(filmed.pictures, "other image");
    cache::check_faults(&damaged, &others, &filmed.folder)?;
    Ok(filmed)
}

/// Timeline of one run or of two.
struct Timeline {
    /// Images per second of simulated time.
    rate: f64,
    /// Last frame number of any run, at this rate.
    last: u32,
    /// Numbers at which some run has a frame.
    first: u32,
}

impl Timeline {
    /// Timeline at the rate of the run with more frames per second, as long as the longer one.
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
        Timeline {
            rate,
            first: ends.iter().map(|e| e.0).min().unwrap_or(0),
            last: ends.iter().map(|e| e.1).max().unwrap_or(0),
        }
    }

    fn time(&self, frame: u32) -> f64 {
        f64::from(frame) / self.rate
    }

    /// Requested numbers.
    fn frames(&self, wanted: &FrameChoice, run: &Path) -> Result<Vec<u32>, Error> {
        let frames: Vec<u32> = (self.first..=self.last)
            .filter(|&f| wanted.has(f))
            .collect();
        if frames.is_empty() {
            return Err(Error::usage(format!(
                "{} has no frames in {wanted}: its frames are {} to {}",
                run.display(),
                self.first,
                self.last
            )));
        }
        Ok(frames)
    }
}

/// Renders frames in order, and repeats earlier ones where needed.
struct Renderer<'a> {
    reels: Vec<Box<dyn Reel + 'a>>,
    /// Current image of each reel, with its frame number.
    shown: Vec<Option<(u32, RgbImage)>>,
    line: Timeline,
}

impl Renderer<'_> {
    /// Image at a number of the timeline and whether any of it changed; none as long as there is no frame.
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
            // A run that ends earlier keeps its last frame; one that has not begun shows its first.
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
                DrawnFrame::Picture(picture) => {
                    is_new = true;
                    *shown = Some((frame, picture));
                }
                DrawnFrame::Damaged(error) => {
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
                Some(side_by_side(left, right, time, end, self.line.rate))
            }
            _ => None,
        };
        // With two runs every time is a new image: the timeline moves.
        Ok((picture, is_new || !alone))
    }
}

/// Output folder.
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
    // A link in place of the folder would redirect files out of the run's folder.
    for inner in [&own, &folder] {
        if fs::symlink_metadata(inner).is_ok_and(|data| !data.is_dir()) {
            return Err(Error::usage(format!("{} is not a folder", inner.display()))
                .with_remedy("remove it, or choose another folder with --out DIR"));
        }
    }
    Ok(folder)
}
