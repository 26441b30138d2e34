//! Surfaces of a report, simplified to fit.

use super::packed::packed;
use super::simplify::coarsened;
use super::{base64_size, is_kept};
use crate::surface::solids::Mesh;
use crate::viewer::watched_run::Watched;
use meniscus_store::error::Error;
use rayon::prelude::*;

/// Frames sampled to predict the size of the others.
const SAMPLES: usize = 12;
/// Smallest number of vertices along the longest side of the domain: fewer do not show the liquid any more.
const FEWEST_ALONG: f64 = 24.0;
/// Largest stride of frames with a surface: fewer would not look like motion.
const MOST_SKIPPED: usize = 8;
/// Bisections of the factor between the finest vertex spacing and the chosen one.
const HALVINGS: usize = 7;
/// Target fraction of the space, as a margin for the prediction.
const SHARE: f64 = 0.96;

/// Surfaces that fit.
#[derive(Clone, Debug, Default)]
pub struct Surfaces {
    /// Frames with the bytes of their surfaces, see [`packed`].
    pub packed: Vec<(u32, Vec<u8>)>,
    /// Vertex spacing, if they were simplified.
    pub spacing: Option<f64>,
    /// Frames with damaged surfaces, omitted.
    pub damaged: Vec<u32>,
    /// Number of frames of the run with a surface.
    pub of_run: usize,
}

impl Surfaces {
    /// Surfaces of a run within a number of bytes of the report.
    pub fn of_run(run: &Watched, room: usize) -> Self {
        let frames = run.surfaces();
        let step = frames.len().div_ceil(SAMPLES).max(1);
        let samples = intact(run, frames.iter().skip(step / 2).step_by(step));
        let estimate = |spacing: Option<f64>| -> f64 {
            let sizes = samples
                .par_iter()
                .map(|mesh| size(&shrunk(run, mesh, spacing)));
            sizes.sum::<usize>() as f64 * frames.len() as f64 / samples.len().max(1) as f64
        };
        let aim = SHARE * room as f64;
        let mut spacing = (estimate(None) > aim).then(|| fitting(run, aim, |h| estimate(Some(h))));
        loop {
            let whole = Surfaces::with(run, &frames, spacing);
            let bytes = whole.size();
            if bytes <= room {
                return whole;
            }
            match spacing {
                Some(coarse) if coarse >= coarsest(run) => return whole.thinned(room),
                Some(coarse) => {
                    let more = (bytes as f64 / room as f64).sqrt().max(1.05);
                    spacing = Some((more * coarse).min(coarsest(run)));
                }
                None => spacing = Some(finest(run)),
            }
        }
    }

    /// Bytes in the report.
    pub fn size(&self) -> usize {
        self.packed.iter().map(|(_, bytes)| size(bytes)).sum()
    }

    fn with(run: &Watched, frames: &[u32], spacing: Option<f64>) -> Self {
        let all: Vec<Result<Vec<u8>, Error>> = frames
            .par_iter()
            .map(|&frame| Ok(shrunk(run, &run.surface(frame)?, spacing)))
            .collect();
        let mut surfaces = Surfaces {
            spacing,
            of_run: frames.len(),
            ..Surfaces::default()
        };
        for (&frame, bytes) in frames.iter().zip(all) {
            match bytes {
                Ok(bytes) => surfaces.packed.push((frame, bytes)),
                Err(_) => surfaces.damaged.push(frame),
            }
        }
        surfaces
    }

    /// Every `step`-th of them, or none if that does not fit either.
    fn thinned(mut self, room: usize) -> Self {
        let all = std::mem::take(&mut self.packed);
        for step in 2..=MOST_SKIPPED {
            let at_step = all.iter().enumerate();
            let kept = at_step.filter(|(at, _)| is_kept(*at, all.len(), step));
            self.packed = kept.map(|(_, surface)| surface.clone()).collect();
            if self.size() <= room {
                return self;
            }
        }
        self.packed.clear();
        self
    }
}

/// Bytes of a surface in the report: its data, its address, and its index in the list.
fn size(bytes: &[u8]) -> usize {
    base64_size(bytes.len()) + 100
}

/// Surfaces that are not damaged.
fn intact<'a>(run: &Watched, frames: impl Iterator<Item = &'a u32>) -> Vec<Mesh> {
    frames
        .filter_map(|&frame| run.surface(frame).ok())
        .collect()
}

fn shrunk(run: &Watched, mesh: &Mesh, spacing: Option<f64>) -> Vec<u8> {
    match spacing {
        Some(wide) => packed(&coarsened(mesh, run.dimension() == 2, wide), spacing),
        None => packed(mesh, None),
    }
}

/// Smallest vertex spacing whose predicted size fits, or the largest one.
fn fitting(run: &Watched, aim: f64, estimate: impl Fn(f64) -> f64) -> f64 {
    let (mut fine, mut coarse) = (finest(run), coarsest(run));
    for _ in 0..HALVINGS {
        let between = (fine * coarse).sqrt();
        if estimate(between) > aim {
            fine = between;
        } else {
            coarse = between;
        }
    }
    coarse
}

/// Default vertex spacing of surfaces: half a cell of the simulation.
fn finest(run: &Watched) -> f64 {
    (0.5 * run.cell_width()).min(coarsest(run))
}

fn coarsest(run: &Watched) -> f64 {
    run.longest_side() / FEWEST_ALONG
}
