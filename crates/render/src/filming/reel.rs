//! Frames of one run, ready for rendering.

use super::Options;
use crate::image::RgbImage;
use crate::preview::{FrameRenderer, framing};
use meniscus_scene::text::{flat_camera, load_run, spatial_camera};
use meniscus_scene::{AnyScene, Camera, Scene};
use meniscus_shapes::Bounds;
use meniscus_store::cache::{self, Frame};
use meniscus_store::error::Error;
use meniscus_store::opened_run::{FrameChoice, OpenedRun};
use std::array::from_fn;
use std::path::PathBuf;

/// Frames sampled for the extent and speed of the liquid.
const SAMPLES: usize = 16;
/// Fraction of particles that may be outside the image, or faster than the last colour: isolated drops.
const OUTLIERS: f64 = 2e-3;

/// Result of a frame.
pub(super) enum DrawnFrame {
    Picture(RgbImage),
    /// The file is damaged, with the cause.
    Damaged(Error),
}

/// Frames of a run, of either dimension.
pub(super) trait Reel {
    /// Numbers of the existing frames.
    fn frames(&self) -> &[u32];
    /// Frames per second of simulated time.
    fn rate(&self) -> f64;
    /// Scene and walls.
    fn title(&self) -> String;
    /// Text to append to the title.
    fn append_title(&mut self, words: &str);
    /// Text in place of the title.
    fn set_title(&mut self, words: &str);
    /// Renders a frame, with the time in its caption if it is `alone`.
    fn draw(&self, frame: u32, alone: bool) -> Result<DrawnFrame, Error>;
}

/// Opens runs to be shown together, with the same camera and colours where possible.
pub(super) fn open(
    runs: &[OpenedRun],
    options: &Options<'_>,
) -> Result<Vec<Box<dyn Reel + 'static>>, Error> {
    let mut flat = Vec::new();
    let mut spatial = Vec::new();
    let mut order = Vec::new();
    for run in runs {
        match load_run(run, options.assets.as_deref())? {
            AnyScene::Two(scene) => {
                order.push((2, flat.len()));
                flat.push(LoadedRun::new(run, scene)?);
            }
            AnyScene::Three(scene) => {
                order.push((3, spatial.len()));
                spatial.push(LoadedRun::new(run, scene)?);
            }
        }
    }
    // Parsed only where needed: a 3D position is invalid in 2D.
    let flat_wish = match flat.is_empty() {
        true => Camera::default(),
        false => flat_camera(&options.camera)?,
    };
    let spatial_wish = match spatial.is_empty() {
        true => Camera::default(),
        false => spatial_camera(&options.camera)?,
    };
    let mut flat = together(flat, options, &flat_wish).into_iter();
    let mut spatial = together(spatial, options, &spatial_wish).into_iter();
    let mut reels: Vec<Box<dyn Reel>> = Vec::new();
    for (dimension, _) in order {
        let next: Option<Box<dyn Reel>> = match dimension {
            2 => flat.next().map(|reel| Box::new(reel) as _),
            _ => spatial.next().map(|reel| Box::new(reel) as _),
        };
        reels.extend(next);
    }
    Ok(reels)
}

/// Run with its scene and the extent of its liquid.
struct LoadedRun<const D: usize> {
    root: PathBuf,
    scene: Scene<D>,
    frames: Vec<u32>,
    liquid: Bounds<D>,
    fastest: f64,
}

impl<const D: usize> LoadedRun<D> {
    fn new(run: &OpenedRun, scene: Scene<D>) -> Result<Self, Error> {
        let frames = run.frames(&FrameChoice::default())?;
        let mut take = LoadedRun {
            root: run.root.clone(),
            scene,
            liquid: Bounds::NOTHING,
            fastest: 0.0,
            frames,
        };
        let count = take.frames.len();
        let samples = SAMPLES.min(count);
        for k in 0..samples {
            // Evenly spaced, the last one included.
            let frame = take.frames[((k + 1) * count).div_ceil(samples) - 1];
            // Damaged frames are reported when they are rendered.
            if let Ok(Ok(frame)) = take.read(frame) {
                let (liquid, fastest) = extent(&frame);
                take.liquid = take.liquid.union(&liquid);
                take.fastest = take.fastest.max(fastest);
            }
        }
        Ok(take)
    }

    /// Reads a frame, or returns the fault of its file.
    fn read(&self, frame: u32) -> Result<Result<Frame<D>, Error>, Error> {
        let path = cache::frame_path(&self.root, frame);
        let bytes = cache::read_bytes(&path)?;
        Ok(cache::decode::<D>(&bytes).map_err(|cause| cache::damaged(&path, &cause)))
    }
}

/// Bounding box of nearly all particles of a frame, and a speed above that of nearly all.
fn extent<const D: usize>(frame: &Frame<D>) -> (Bounds<D>, f64) {
    if frame.positions().is_empty() {
        return (Bounds::NOTHING, 0.0);
    }
    let out = (OUTLIERS * frame.positions().len() as f64) as usize;
    let ends: [[f32; 2]; D] = from_fn(|axis| {
        let mut along: Vec<f32> = frame.positions().iter().map(|p| p[axis]).collect();
        [nth(&mut along, out), {
            let last = along.len() - 1 - out;
            nth(&mut along, last)
        }]
    });
    let speed = |v: &[f32; D]| v.iter().map(|c| c * c).sum::<f32>().sqrt();
    let mut speeds: Vec<f32> = frame.velocities().iter().map(speed).collect();
    let last = speeds.len().saturating_sub(1 + out);
    let bounds = Bounds {
        low: ends.map(|e| f64::from(e[0])),
        high: ends.map(|e| f64::from(e[1])),
    };
    (bounds, f64::from(nth(&mut speeds, last)))
}

fn nth(numbers: &mut [f32], n: usize) -> f32 {
    if numbers.is_empty() {
        return 0.0;
    }
    *numbers.select_nth_unstable_by(n, f32::total_cmp).1
}

/// Runs shown together.
fn together<const D: usize>(
    takes: Vec<LoadedRun<D>>,
    options: &Options<'_>,
    camera: &Camera<D>,
) -> Vec<RunReel<D>> {
    let mut frame = Bounds::NOTHING;
    let mut fastest: f64 = 0.0;
    for take in &takes {
        frame = frame.union(&framing::of_run(&take.scene, &take.liquid));
        fastest = fastest.max(take.fastest);
    }
    let reel = |take: LoadedRun<D>| RunReel {
        also: String::new(),
        instead: None,
        size: options.size,
        style: options.style,
        camera: *camera,
        frame,
        fastest,
        take,
    };
    takes.into_iter().map(reel).collect()
}

struct RunReel<const D: usize> {
    take: LoadedRun<D>,
    also: String,
    instead: Option<String>,
    size: (u32, u32),
    style: meniscus_scene::Style,
    camera: Camera<D>,
    frame: Bounds<D>,
    fastest: f64,
}

impl<const D: usize> RunReel<D> {
    fn renderer(&self) -> FrameRenderer<'_, D> {
        FrameRenderer::new(&self.take.scene, self.size, self.style)
            .framing(self.frame)
            .up_to(self.fastest)
            .from(&self.camera)
    }
}

impl<const D: usize> Reel for RunReel<D> {
    fn frames(&self) -> &[u32] {
        &self.take.frames
    }

    fn rate(&self) -> f64 {
        self.take.scene.frame_rate
    }

    fn title(&self) -> String {
        let own = || self.renderer().title().to_string();
        let title = self.instead.clone().unwrap_or_else(own);
        format!("{title}{}", self.also)
    }

    fn append_title(&mut self, words: &str) {
        self.also = format!(", {words}");
    }

    fn set_title(&mut self, words: &str) {
        self.instead = Some(words.into());
    }

    fn draw(&self, frame: u32, alone: bool) -> Result<DrawnFrame, Error> {
        let frame = match self.take.read(frame)? {
            Ok(frame) => frame,
            Err(error) => return Ok(DrawnFrame::Damaged(error)),
        };
        let renderer = self.renderer();
        let caption = match alone {
            true => renderer.caption(&frame),
            false => self.title(),
        };
        Ok(DrawnFrame::Picture(renderer.draw(&frame, &caption)?))
    }
}
