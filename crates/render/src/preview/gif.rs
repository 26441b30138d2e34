//! GIF animations.

use super::palette::{COLOURS, Histogram, Palette};
use crate::image::RgbImage;
use gif::{DisposalMethod, Encoder, Frame, Repeat};
use meniscus_store::atomic_file;
use meniscus_store::error::{Error, Kind};
use std::borrow::Cow;
use std::io;
use std::path::Path;

/// Highest frame rate of a GIF. A scene with a higher one is shown in slow motion.
pub const FASTEST: f64 = 30.0;
/// Smallest duration of a frame in hundredths of a second: players slow down faster ones.
const SHORTEST: u64 = 3;
/// Palette index that means "as in the frame before".
const UNCHANGED: u8 = COLOURS as u8;

/// Collects frames and writes them as a GIF that loops forever.
///
/// All frames share one palette, and the dither pattern is fixed to the image: static
/// parts do not flicker. Only the pixels that differ from the frame before are kept, in memory
/// as in the file. Frames that are too fast for a GIF are dropped.
pub struct GifWriter {
    size: (u16, u16),
    frames_per_second: f64,
    pushed: u64,
    last: Vec<u8>,
    frames: Vec<Change>,
    histogram: Histogram,
}

/// Changes of a frame.
struct Change {
    /// Time of display in hundredths of a second.
    start: u64,
    /// Run lengths: pixels to skip, then pixels to take from `colours`, and so on.
    runs: Vec<(u32, u32)>,
    colours: Vec<[u8; 3]>,
}

impl GifWriter {
    /// Creates an animation of the given width, height and frame rate, without frames.
    pub fn new(size: (u32, u32), frames_per_second: f64) -> Result<Self, Error> {
        let side = |s: u32| u16::try_from(s).ok().filter(|&s| s > 0);
        let (Some(width), Some(height)) = (side(size.0), side(size.1)) else {
            return Err(Error::usage(format!(
                "invalid GIF size {} x {}: each side must be from 1 to 65535",
                size.0, size.1
            )));
        };
        if !(frames_per_second.is_finite() && frames_per_second > 0.0) {
            return Err(Error::usage(format!(
                "invalid GIF frame rate {frames_per_second}"
            )));
        }
        Ok(Self {
            size: (width, height),
            frames_per_second,
            pushed: 0,
            last: Vec::new(),
            frames: Vec::new(),
            histogram: Histogram::new(),
        })
    }

    /// Adds the next frame.
    pub fn push(&mut self, picture: &RgbImage) -> Result<(), Error> {
        let (width, height) = picture.dimensions();
        if (width, height) != (u32::from(self.size.0), u32::from(self.size.1)) {
            return Err(Error::usage(format!(
                "a frame of {width} x {height} pixels in a GIF of {} x {}",
                self.size.0, self.size.1
            )));
        }
        let start = self.time_of(self.pushed);
        self.pushed += 1;
        if self
            .frames
            .last()
            .is_some_and(|last| start < last.start + SHORTEST)
        {
            return Ok(());
        }
        let mut change = Change {
            start,
            runs: Vec::new(),
            colours: Vec::new(),
        };
        let mut run = (0, 0);
        for (at, pixel) in picture.as_raw().chunks_exact(3).enumerate() {
            let colour = [pixel[0], pixel[1], pixel[2]];
            // Static parts are visible as long as moving ones, and count as much.
            self.histogram.count(colour);
            if self.last.get(3 * at..3 * at + 3) == Some(pixel) {
                if run.1 > 0 {
                    change.runs.push(std::mem::take(&mut run));
                }
                run.0 += 1;
            } else {
                change.colours.push(colour);
                run.1 += 1;
            }
        }
        if run.1 > 0 {
            change.runs.push(run);
        }
        self.last.clear();
        self.last.extend_from_slice(picture.as_raw());
        self.frames.push(change);
        Ok(())
    }

    /// Number of frames in the file.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Writes the animation so far, atomically.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        if self.frames.is_empty() {
            return Err(Error::new(
                Kind::Usage,
                format!("{}: no frames", path.display()),
            ));
        }
        let palette = Palette::new(&self.histogram);
        atomic_file::write_with(path, |out| {
            self.encode(out, &palette).map_err(io::Error::other)
        })
    }

    fn encode(&self, out: &mut dyn io::Write, palette: &Palette) -> Result<(), gif::EncodingError> {
        let (width, height) = (usize::from(self.size.0), usize::from(self.size.1));
        let mut encoder = Encoder::new(out, self.size.0, self.size.1, &palette.bytes())?;
        encoder.set_repeat(Repeat::Infinite)?;
        let mut shown = vec![UNCHANGED; width * height];
        for (k, change) in self.frames.iter().enumerate() {
            let end = match self.frames.get(k + 1) {
                Some(next) => next.start,
                None => self.time_of(self.pushed).max(change.start + SHORTEST),
            };
            let mut part = Part::new(width);
            let (mut at, mut colours) = (0, change.colours.iter());
            for &(pass, take) in &change.runs {
                at += pass as usize;
                for &colour in colours.by_ref().take(take as usize) {
                    let entry = palette.entry(colour, at % width, at / width);
                    if entry != shown[at] {
                        shown[at] = entry;
                        part.mark(at);
                    }
                    at += 1;
                }
            }
            encoder.write_frame(&part.frame(&shown, end - change.start))?;
        }
        Ok(())
    }

    /// Time of display of a frame in hundredths of a second, rounded from the start, so that the animation
    /// as a whole keeps its speed.
    fn time_of(&self, frame: u64) -> u64 {
        (100.0 * frame as f64 / self.frames_per_second).round() as u64
    }
}

/// Pixels of a frame that differ, and their bounding rectangle.
struct Part {
    picture_width: usize,
    changed: Vec<usize>,
    low: [usize; 2],
    high: [usize; 2],
}

impl Part {
    fn new(picture_width: usize) -> Self {
        Self {
            picture_width,
            changed: Vec::new(),
            low: [usize::MAX; 2],
            high: [0; 2],
        }
    }

    fn mark(&mut self, at: usize) {
        let place = [at % self.picture_width, at / self.picture_width];
        for i in 0..2 {
            self.low[i] = self.low[i].min(place[i]);
            self.high[i] = self.high[i].max(place[i]);
        }
        self.changed.push(at);
    }

    fn frame(mut self, shown: &[u8], delay: u64) -> Frame<'static> {
        if self.changed.is_empty() {
            // A frame needs a pixel to carry its delay.
            (self.low, self.high) = ([0; 2], [0; 2]);
        }
        let [width, height] = [0, 1].map(|i| self.high[i] - self.low[i] + 1);
        let mut buffer = vec![UNCHANGED; width * height];
        for at in self.changed {
            let (x, y) = (at % self.picture_width, at / self.picture_width);
            buffer[(y - self.low[1]) * width + x - self.low[0]] = shown[at];
        }
        Frame {
            delay: u16::try_from(delay).unwrap_or(u16::MAX),
            dispose: DisposalMethod::Keep,
            transparent: Some(UNCHANGED),
            left: self.low[0] as u16,
            top: self.low[1] as u16,
            width: width as u16,
            height: height as u16,
            buffer: Cow::Owned(buffer),
            ..Frame::default()
        }
    }
}
