//! Renderer of the frames of one scene.

use super::cloth::Drape;
use super::colours::linear;
use super::framing;
use super::legend::round_up;
use super::materials::materials_of;
use super::{View, draw};
use crate::image::RgbImage;
use meniscus_scene::{Camera, Color, Material, MovingMesh, Scene, Style, measure};
use meniscus_shapes::{Bounds, ScriptedSolid, Shape};
use meniscus_store::cache::Frame;
use meniscus_store::error::Error;

/// Renderer of the frames of a scene, with one camera and the same colours.
pub struct FrameRenderer<'a, const D: usize> {
    scene: &'a Scene<D>,
    materials: Vec<Material>,
    colours: Vec<Option<Color>>,
    size: (u32, u32),
    style: Style,
    /// Overrides of the scene's camera.
    wish: Camera<D>,
    frame: Bounds<D>,
    fastest: f64,
    /// Cloth and soft bodies.
    meshes: Vec<MovingMesh>,
}

impl<'a, const D: usize> FrameRenderer<'a, D> {
    /// Renderer with the scene's own settings, independent of its frames.
    pub fn new(scene: &'a Scene<D>, size: (u32, u32), style: Style) -> Self {
        FrameRenderer {
            scene,
            materials: materials_of(scene),
            colours: scene.all_colors(),
            size,
            style,
            wish: Camera::default(),
            frame: framing::of_scene(scene),
            fastest: round_up(expected_speed(scene)),
            meshes: scene.moving_meshes(),
        }
    }

    /// Renderer that shows another region.
    pub fn framing(mut self, frame: Bounds<D>) -> Self {
        self.frame = frame;
        self
    }

    /// Renderer with colours for speeds up to this one, or a round number above it.
    pub fn up_to(mut self, speed: f64) -> Self {
        self.fastest = round_up(speed);
        self
    }

    /// Renderer with overrides of the camera.
    pub fn from(mut self, camera: &Camera<D>) -> Self {
        self.wish = camera.or(&self.wish);
        self
    }

    /// Name and walls of the scene, for captions.
    pub fn title(&self) -> String {
        if self.scene.is_rigid() || self.scene.is_projective() {
            return self.scene.name.clone();
        }
        format!("{}, {} walls", self.scene.name, self.scene.physics.walls)
    }

    /// Title, number and time of a frame, for captions.
    pub fn caption(&self, frame: &Frame<D>) -> String {
        let time = time_label(frame.time, self.scene.frame_rate);
        format!("{}, frame {}, {time}", self.title(), frame.number)
    }

    /// Renders a frame.
    ///
    /// # Errors
    /// If a pose of the frame is invalid.
    pub fn draw(&self, frame: &Frame<D>, caption: &str) -> Result<RgbImage, Error> {
        let solids = self.scene.solids_at(&frame.bodies)?;
        let materials: Vec<Material> = solids.iter().map(|(k, _)| self.materials[*k]).collect();
        let colours: Vec<Option<Color>> = solids.iter().map(|(k, _)| self.colours[*k]).collect();
        let mut bodies: Vec<ScriptedSolid<D>> = solids.into_iter().map(|(_, body)| body).collect();
        // The walls of the domain are drawn as well, unless the liquid is in a container of its own.
        if !bodies.iter().any(|b| matches!(b.shape, Shape::Inverted(_))) {
            bodies.push(self.scene.sides());
        }
        let cloth = self.drapes(frame);
        let view = View {
            positions: frame.positions(),
            velocities: frame.velocities(),
            radius: 0.5 * self.scene.dx(),
            bodies: &bodies,
            materials: &materials,
            colours: &colours,
            cloth: &cloth,
            liquid_colour: self.scene.liquid_color,
            per_cell: self.scene.physics.particles_per_cell as f64,
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
        Ok(draw(&view, self.size))
    }
}

impl<const D: usize> FrameRenderer<'_, D> {
    /// The cloth and soft bodies of a frame, with the triangles of the scene.
    fn drapes(&self, frame: &Frame<D>) -> Vec<Drape> {
        let drape = |shown: &MovingMesh| {
            let mesh = frame.meshes.iter().find(|mesh| mesh.name == shown.name)?;
            // A frame of another version of the scene may have other vertices.
            (mesh.positions.len() == shown.vertices).then(|| Drape {
                positions: mesh.positions.clone(),
                triangles: shown.triangles.clone(),
                colour: shown.color.map(linear),
            })
        };
        self.meshes.iter().filter_map(drape).collect()
    }
}

/// Time in seconds with enough digits to distinguish two frames.
pub(super) fn time_label(time: f64, frame_rate: f64) -> String {
    let digits = frame_rate.log10().ceil().clamp(2.0, 9.0) as usize;
    format!("{time:.digits$} s")
}

/// Expected speed of the liquid: of a fall from its highest point, of its start, or of the solids that drive it.
fn expected_speed<const D: usize>(scene: &Scene<D>) -> f64 {
    let length = |v: &[f64; D]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    let fall = (2.0 * length(&scene.physics.gravity) * measure::highest_liquid(scene)).sqrt();
    let starts = scene.liquids.iter().map(|volume| &volume.velocity);
    let given = starts.chain(scene.emitters.iter().map(|emitter| &emitter.velocity));
    given.map(length).fold(fall, f64::max)
}

#[cfg(test)]
mod tests {
    use super::time_label;

    #[test]
    fn time_labels_of_two_frames_differ() {
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
