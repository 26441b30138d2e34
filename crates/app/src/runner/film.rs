//! The preview of a run. It is drawn from frames as they come back from the cache, so that it can be drawn again from
//! the cache alone: a run that was interrupted and went on does so at its end.

use super::simulation::HeldScene;
use meniscus_render::image::RgbImage;
use meniscus_render::preview::{FASTEST, FrameRenderer, GifWriter};
use meniscus_scene::Scene;
use meniscus_sim::{Layers, World};
use meniscus_store::cache::{
    self, BodyLoad, BodyState, DeformedMesh, Frame, LiquidLoad, PointLayer, Precision, Scalar,
};
use meniscus_store::error::{Error, Kind};
use meniscus_store::manifest::{Kept, Manifest, is_kept};
use meniscus_store::run_folder::RunFolder;
use std::path::Path;

/// Pictures per second of simulated time that the preview of a run draws, about, at high frame rates: still in slow motion,
/// and a small part of the time that the run takes.
const MOST_PICTURES: f64 = 1.5 * FASTEST;
/// Pictures that a preview has at least, if the run has as many frames: a second to look at, however short the
/// simulated time.
const LEAST_PICTURES: u32 = 33;

/// Frames from one picture of the preview to the next.
pub(super) fn frames_per_picture(frames: u32, frame_rate: f64) -> u32 {
    let by_rate = (frame_rate / MOST_PICTURES).round() as u32;
    by_rate.min(frames / LEAST_PICTURES).max(1)
}

/// The pictures of a run, as many as there are so far.
pub struct Film<'a, const D: usize> {
    renderer: FrameRenderer<'a, D>,
    pictures: GifWriter,
    /// One picture per so many frames.
    every: u32,
    last: Option<RgbImage>,
}

impl<'a, const D: usize> Film<'a, D> {
    /// A film without pictures so far.
    pub fn new(scene: &'a Scene<D>) -> Result<Self, Error> {
        let size = picture_size(&scene.domain, scene.output.preview_side);
        let every = frames_per_picture(scene.frames, scene.frame_rate);
        let rate = (scene.frame_rate / f64::from(every)).min(FASTEST);
        Ok(Film {
            renderer: FrameRenderer::new(scene, size, scene.output.preview_style),
            pictures: GifWriter::new(size, rate)?,
            every,
            last: None,
        })
    }

    /// The film of frames that were written before, up to `last`.
    pub fn of_frames(
        scene: &'a Scene<D>,
        run: &Path,
        kept: &[Kept],
        last: u32,
    ) -> Result<Self, Error> {
        let mut film = Film::new(scene)?;
        for frame in 0..=last {
            if is_kept(kept, frame) && film.draws(frame) {
                let path = cache::frame_path(run, frame);
                let decoded = cache::decode(&cache::read_bytes(&path)?)
                    .map_err(|cause| cache::damaged(&path, &cause))?;
                film.add(frame, Some(&decoded))?;
            } else {
                film.add(frame, None)?;
            }
        }
        Ok(film)
    }

    /// Whether a frame is one of those that are drawn.
    fn draws(&self, frame: u32) -> bool {
        frame.is_multiple_of(self.every)
    }

    /// Adds a frame as it comes back from its file. The picture before is repeated for a frame whose particles were not
    /// written.
    pub fn add(&mut self, number: u32, frame: Option<&Frame<D>>) -> Result<(), Error> {
        if !self.draws(number) {
            return Ok(());
        }
        if let Some(frame) = frame {
            self.last = Some(self.renderer.draw(frame, &self.renderer.caption(frame))?);
        }
        match &self.last {
            Some(picture) => self.pictures.push(picture),
            None => Ok(()),
        }
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
    /// At the end, from the frames that were written: an interrupted run is resumed first.
    AtTheEnd,
}

impl<'a, const D: usize> Pictures<'a, D> {
    /// For a run from the beginning. Pictures hold no share in a scene: those of a shared one are drawn in the end.
    pub fn from_now_on(scene: &HeldScene<'a, D>) -> Result<Self, Error> {
        Ok(match scene {
            HeldScene::Borrowed(scene) if scene.output.preview => {
                Pictures::Now(Box::new(Film::new(scene)?))
            }
            _ => Pictures::at_the_end(scene),
        })
    }

    /// For a resumed run, or one of a shared scene.
    pub fn at_the_end(scene: &Scene<D>) -> Self {
        match scene.output.preview {
            true => Pictures::AtTheEnd,
            false => Pictures::Never,
        }
    }

    /// Whether the picture of a frame is drawn as soon as it is complete.
    pub fn needs(&self, number: u32) -> bool {
        matches!(self, Pictures::Now(film) if film.draws(number))
    }

    /// Adds a frame, as it comes back from its file if it has one.
    pub fn frame(&mut self, number: u32, frame: Option<&Frame<D>>) -> Result<(), Error> {
        match self {
            Pictures::Now(film) => film.add(number, frame),
            Pictures::Never | Pictures::AtTheEnd => Ok(()),
        }
    }

    /// Writes the preview and returns its hash. A run that went on and was stopped again keeps the one it had.
    pub fn write(
        &self,
        scene: &Scene<D>,
        folder: &RunFolder,
        manifest: &Manifest,
        complete: bool,
    ) -> Result<Option<String>, Error> {
        let path = folder.preview();
        match self {
            Pictures::Never => folder.remove_preview().map(|()| None),
            Pictures::Now(film) => film.write(&path).map(Some),
            Pictures::AtTheEnd if complete => {
                let (kept, last) = (&manifest.particles, manifest.frames_done);
                let film = Film::of_frames(scene, folder.root(), kept, last)?;
                film.write(&path).map(Some)
            }
            Pictures::AtTheEnd => Ok(manifest.preview.clone()),
        }
    }
}

/// The frame that a world has just reached.
pub fn frame_of<const D: usize>(scene: &Scene<D>, world: &dyn World, number: u32) -> Frame<D> {
    let snapshot = world.snapshot(Layers { pressure: true });
    let layer = |points: &meniscus_sim::PointLayer| PointLayer {
        name: points.name.clone(),
        spacing: scene.dx(),
        positions: points.positions().to_vec(),
        velocities: points.velocities().to_vec(),
        ids: points.id.clone(),
        scalars: points.scalars.iter().filter_map(scalar).collect(),
    };
    Frame {
        number,
        time: snapshot.time,
        points: snapshot.points.iter().map(layer).collect(),
        bodies: snapshot.bodies.iter().map(body_state).collect(),
        loads: snapshot.loads.iter().map(body_load).collect(),
        meshes: snapshot.meshes.iter().map(deformed_mesh).collect(),
    }
}

/// The bytes of the file of a frame that a world has just reached.
pub fn encoded<const D: usize>(
    scene: &Scene<D>,
    world: &dyn World,
    number: u32,
) -> Result<Vec<u8>, Error> {
    cache::encode(&frame_of(scene, world, number)).map_err(|cause| {
        Error::new(
            Kind::Numerical,
            format!("frame {number} can't be kept: {cause}"),
        )
    })
}

fn deformed_mesh(mesh: &meniscus_sim::DeformedMesh) -> DeformedMesh {
    DeformedMesh {
        name: mesh.name.clone(),
        positions: mesh.vertex.as_chunks().0.to_vec(),
        velocities: mesh.velocity.as_chunks().0.to_vec(),
    }
}

/// Poses and velocities of the bodies of a world, as frames keep them.
pub fn bodies<const D: usize>(world: &dyn World) -> Vec<BodyState<D>> {
    world.bodies().iter().map(body_state).collect()
}

fn body_state<const D: usize>(body: &meniscus_sim::BodyState) -> BodyState<D> {
    let vector = |numbers: &[f64]| std::array::from_fn(|a| numbers[a]);
    BodyState {
        name: body.name.clone(),
        translation: vector(&body.translation),
        rotation: std::array::from_fn(|row| vector(&body.rotation[row * D..])),
        velocity: vector(&body.velocity),
        angular_velocity: body.angular_velocity,
    }
}

fn body_load<const D: usize>(load: &meniscus_sim::BodyLoad) -> BodyLoad<D> {
    fn vector<const D: usize>(numbers: &[f64]) -> [f64; D] {
        std::array::from_fn(|a| numbers[a])
    }
    BodyLoad {
        name: load.name.clone(),
        center: vector(&load.center),
        velocity: vector(&load.velocity),
        contact_force: vector(&load.contact_force),
        contact_torque: load.contact_torque,
        joint_force: vector(&load.joint_force),
        joint_torque: load.joint_torque,
        kinetic_energy: load.kinetic_energy,
        penetration: load.penetration,
        contacts: load.contacts,
        liquid: load.liquid.as_ref().map(|liquid| LiquidLoad {
            force: vector(&liquid.force),
            torque: liquid.torque,
            submerged_volume: liquid.submerged_volume,
            waterline_area: liquid.waterline_area,
        }),
    }
}

/// A scalar of a frame; none for a pressure that is zero everywhere. Ages and sources are kept exactly.
fn scalar((name, values): &(&'static str, Vec<f32>)) -> Option<Scalar> {
    let is_pressure = *name == cache::PRESSURE;
    if is_pressure && values.iter().all(|&value| value == 0.0) {
        return None;
    }
    Some(Scalar {
        name: (*name).into(),
        precision: if is_pressure {
            Precision::Relative
        } else {
            Precision::Exact
        },
        values: values.clone(),
    })
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

#[cfg(test)]
mod tests {
    use super::frames_per_picture;

    #[test]
    fn usual_frame_rates_are_drawn_whole_and_fast_ones_in_part() {
        for (rate, every) in [
            (1.0, 1),
            (24.0, 1),
            (30.0, 1),
            (60.0, 1),
            (120.0, 3),
            (240.0, 5),
        ] {
            assert_eq!(frames_per_picture(960, rate), every, "{rate}");
        }
    }

    #[test]
    fn high_frame_rates_skip_frames_only_while_enough_pictures_are_left() {
        assert_eq!(frames_per_picture(20, 240.0), 1);
        assert_eq!(frames_per_picture(100, 240.0), 3);
    }
}
