//! The preview of a run. It is drawn from frames as they come back from the cache, so that it can be drawn again from
//! the cache alone: a run that was interrupted and went on does so at its end.

use super::folder::RunFolder;
use super::record::{Kept, Record, is_kept};
use super::simulation::Simulation;
use crate::cache::{self, Frame};
use crate::error::{Error, Kind};
use crate::preview::{GifWriter, Shot};
use crate::scene::Scene;
use image::RgbImage;
use meniscus_liquid::Liquid;
use rayon::prelude::*;
use std::path::Path;

/// Frames a second at which a preview is shown at most: what is filmed faster is seen in slow motion,
/// and no frame is left out.
pub const FASTEST: f64 = 30.0;

/// The pictures of a run, as many as there are so far.
pub struct Film<'a, const D: usize> {
    shot: Shot<'a, D>,
    pictures: GifWriter,
    last: RgbImage,
}

impl<'a, const D: usize> Film<'a, D> {
    /// A film that begins with the start of the scene.
    pub fn new(scene: &'a Scene<D>, start: &Simulation<'_, D>) -> Result<Self, Error> {
        let size = picture_size(&scene.domain, scene.output.preview_side);
        let mut film = Film {
            shot: Shot::new(scene, size, scene.output.preview_style),
            pictures: GifWriter::new(size, scene.frame_rate.min(FASTEST))?,
            last: RgbImage::new(0, 0),
        };
        film.show(&encoded(scene, start, 0)?)?;
        Ok(film)
    }

    /// The film of frames that were written before, up to `last`.
    pub fn of_frames(
        scene: &'a Scene<D>,
        run: &Path,
        kept: &[Kept],
        last: u32,
    ) -> Result<Self, Error> {
        let mut film = Film::new(scene, &Simulation::new(scene)?)?;
        for frame in 1..=last {
            if is_kept(kept, frame) {
                film.show(&cache::read_bytes(&cache::frame_path(run, frame))?)?;
            } else {
                film.hold()?;
            }
        }
        Ok(film)
    }

    /// Adds a frame, from the bytes of its file.
    pub fn show(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let frame = cache::decode::<D>(bytes)
            .map_err(|cause| Error::new(Kind::Storage, format!("a frame is damaged: {cause}")))?;
        let caption = format!("{}, {:.2} s", self.shot.title(), frame.time);
        self.last = self.shot.draw(&frame, &caption);
        self.pictures.push(&self.last)
    }

    /// Goes on with the picture before, for a frame whose particles were not written.
    pub fn hold(&mut self) -> Result<(), Error> {
        self.pictures.push(&self.last)
    }

    /// Writes the film so far and returns the hash of the file.
    pub fn write(&self, path: &Path) -> Result<String, Error> {
        self.pictures.write(path)?;
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, &e))?;
        Ok(blake3::hash(&bytes).to_hex().to_string())
    }
}

/// When the preview of a run is drawn.
pub(super) enum Pictures<'a, const D: usize> {
    Never,
    /// Frame by frame.
    Now(Box<Film<'a, D>>),
    /// At the end, from the frames that were written: first a run that was interrupted goes on.
    AtTheEnd,
}

impl<'a, const D: usize> Pictures<'a, D> {
    /// For a run from the beginning.
    pub fn from_now_on(scene: &'a Scene<D>, start: &Simulation<'_, D>) -> Result<Self, Error> {
        Ok(match scene.output.preview {
            true => Pictures::Now(Box::new(Film::new(scene, start)?)),
            false => Pictures::Never,
        })
    }

    /// For a run that goes on.
    pub fn at_the_end(scene: &Scene<D>) -> Self {
        match scene.output.preview {
            true => Pictures::AtTheEnd,
            false => Pictures::Never,
        }
    }

    /// Adds a frame, with the bytes of its file if it has one.
    pub fn frame(&mut self, bytes: Option<&[u8]>) -> Result<(), Error> {
        match (self, bytes) {
            (Pictures::Now(film), Some(bytes)) => film.show(bytes),
            (Pictures::Now(film), None) => film.hold(),
            (Pictures::Never | Pictures::AtTheEnd, _) => Ok(()),
        }
    }

    /// Writes the preview and returns its hash. A run that went on and was stopped again keeps the one it had.
    pub fn write(
        &self,
        scene: &Scene<D>,
        folder: &RunFolder,
        record: &Record,
        complete: bool,
    ) -> Result<Option<String>, Error> {
        let path = folder.preview();
        match self {
            Pictures::Never => folder.remove_preview().map(|()| None),
            Pictures::Now(film) => film.write(&path).map(Some),
            Pictures::AtTheEnd if complete => {
                let (kept, last) = (&record.particles, record.frames_done);
                let film = Film::of_frames(scene, folder.root(), kept, last)?;
                film.write(&path).map(Some)
            }
            Pictures::AtTheEnd => Ok(record.preview.clone()),
        }
    }
}

/// The bytes of the file of a frame that a simulation has just reached.
pub fn encoded<const D: usize>(
    scene: &Scene<D>,
    simulation: &Simulation<'_, D>,
    number: u32,
) -> Result<Vec<u8>, Error> {
    let particles = simulation.liquid().particles();
    let frame = Frame {
        number,
        time: simulation.liquid().time(),
        dx: scene.dx(),
        positions: particles.position.clone(),
        velocities: particles.velocity.clone(),
        pressures: pressures(simulation.liquid(), scene.dx()),
    };
    cache::encode(&frame).map_err(|cause| {
        Error::new(
            Kind::Numerical,
            format!("frame {number} can't be kept: {cause}"),
        )
    })
}

/// The pressure of each particle's cell in the last step; none before the first. Cells that had no liquid then, where spray
/// is now, are at the pressure of the air.
fn pressures<const D: usize>(liquid: &Liquid<D>, dx: f64) -> Vec<f32> {
    let of = |x: &[f32; D]| {
        let cell = x.map(|c| (f64::from(c) / dx).floor() as i32);
        liquid.pressure(cell).unwrap_or(0.0) as f32
    };
    liquid.particles().position.par_iter().map(of).collect()
}

/// Width and height of the preview: a flat domain fills its picture, a spatial one is seen in a square.
fn picture_size<const D: usize>(domain: &[f64; D], side: u32) -> (u32, u32) {
    if D == 3 {
        return (side, side);
    }
    let longest = domain.iter().copied().fold(0.0, f64::max);
    let along = |axis: usize| {
        let pixels = (f64::from(side) * domain[axis] / longest).round() as u32;
        pixels.clamp((side / 4).max(1), side)
    };
    (along(0), along(1))
}
