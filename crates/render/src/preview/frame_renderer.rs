//! The frames of one scene as pictures.

use super::framing;
use super::legend::round_up;
use super::materials::materials_of;
use super::{View, draw};
use image::RgbImage;
use meniscus_scene::{Camera, Material, Scene, Style, measure};
use meniscus_shapes::{Body, Bounds, Scenery, Shape};
use meniscus_store::cache::Frame;

/// How the frames of a scene are drawn: with one camera and the same colours.
pub struct FrameRenderer<'a, const D: usize> {
    scene: &'a Scene<D>,
    scenery: Scenery<D>,
    materials: Vec<Material>,
    size: (u32, u32),
    style: Style,
    /// Where the camera is to be, whatever the scene says.
    wish: Camera<D>,
    frame: Bounds<D>,
    fastest: f64,
}

impl<'a, const D: usize> FrameRenderer<'a, D> {
    /// As the scene itself says, without a look at any frame.
    pub fn new(scene: &'a Scene<D>, size: (u32, u32), style: Style) -> Self {
        FrameRenderer {
            scene,
            scenery: scene.scenery(),
            materials: materials_of(scene),
            size,
            style,
            wish: Camera::default(),
            frame: framing::of_scene(scene),
            fastest: round_up(likely_speed(scene)),
        }
    }

    /// The same, on another part of space.
    pub fn framing(mut self, frame: Bounds<D>) -> Self {
        self.frame = frame;
        self
    }

    /// The same with colours for speeds up to this one, or a round one above it.
    pub fn up_to(mut self, speed: f64) -> Self {
        self.fastest = round_up(speed);
        self
    }

    /// The same from another place, as far as one is named.
    pub fn from(mut self, camera: &Camera<D>) -> Self {
        self.wish = camera.or(&self.wish);
        self
    }

    /// Name and walls of the scene, for captions.
    pub fn title(&self) -> String {
        format!("{}, {} walls", self.scene.name, self.scene.walls)
    }

    /// Title, number and time of a frame, for captions.
    pub fn caption(&self, frame: &Frame<D>) -> String {
        let time = time_label(frame.time, self.scene.frame_rate);
        format!("{}, frame {}, {time}", self.title(), frame.number)
    }

    /// The picture of a frame.
    pub fn draw(&self, frame: &Frame<D>, caption: &str) -> RgbImage {
        let view = View {
            positions: &frame.positions,
            velocities: &frame.velocities,
            radius: 0.5 * self.scene.dx(),
            bodies: self.visible_bodies(),
            materials: &self.materials,
            colours: &self.scene.colors,
            liquid_colour: self.scene.liquid_color,
            per_cell: self.scene.particles_per_cell as f64,
            time: frame.time,
            domain: self.scene.domain,
            frame: self.frame,
            camera: self
                .wish
                .or(&self.scene.camera_track.at(frame.time))
                .or(&self.scene.camera),
            style: self.style,
            fastest: self.fastest,
            caption: Some(caption),
        };
        draw(&view, self.size)
    }

    /// The solids to draw: the walls of the domain too, unless the liquid is in a container of its own.
    fn visible_bodies(&self) -> &[Body<D>] {
        let solids = &self.scene.solids;
        if solids.iter().any(|b| matches!(b.shape, Shape::Inverted(_))) {
            solids
        } else {
            &self.scenery.bodies
        }
    }
}

/// A time in seconds with as many digits as tell two frames apart.
pub(super) fn time_label(time: f64, frame_rate: f64) -> String {
    let digits = frame_rate.log10().ceil().clamp(2.0, 9.0) as usize;
    format!("{time:.digits$} s")
}

/// The speed that liquid may well reach: of a fall from where it is highest, of its start, or of what moves it.
fn likely_speed<const D: usize>(scene: &Scene<D>) -> f64 {
    let length = |v: &[f64; D]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    let fall = (2.0 * length(&scene.gravity) * measure::highest_liquid(scene)).sqrt();
    let starts = scene.liquids.iter().map(|volume| &volume.velocity);
    let given = starts.chain(scene.emitters.iter().map(|emitter| &emitter.velocity));
    given.map(length).fold(fall, f64::max)
}

#[cfg(test)]
mod tests {
    use super::time_label;

    #[test]
    fn times_of_two_frames_never_look_the_same() {
        for rate in [1.0, 24.0, 48.0, 99.9, 100.0, 120.0, 240.0, 1000.0, 12345.0] {
            let labels: Vec<String> = (0..50)
                .map(|k| time_label(f64::from(k) / rate, rate))
                .collect();
            assert!(
                labels.windows(2).all(|pair| pair[0] != pair[1]),
                "{rate}: {labels:?}"
            );
        }
        assert_eq!(time_label(0.25, 24.0), "0.25 s");
        assert_eq!(time_label(1.0 / 240.0, 240.0), "0.004 s");
    }
}
