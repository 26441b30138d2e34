//! Camera, materials and styles of pictures. None of it affects the motion.

use crate::words::words;
use meniscus_shapes::Motion;

/// A camera. Default: one that sees all solids and liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera<const D: usize> {
    /// Position, in 3D.
    pub position: Option<[f64; D]>,
    /// Point in the middle of the picture.
    pub target: Option<[f64; D]>,
    /// Angle of view along the shorter side of the picture in degrees, in 3D.
    pub field_of_view: Option<f64>,
    /// Height of the visible part of the scene in metres, in 2D.
    pub height: Option<f64>,
}

impl<const D: usize> Camera<D> {
    /// This camera, completed by another one.
    pub fn or(&self, other: &Self) -> Self {
        Camera {
            position: self.position.or(other.position),
            target: self.target.or(other.target),
            field_of_view: self.field_of_view.or(other.field_of_view),
            height: self.height.or(other.height),
        }
    }
}

impl<const D: usize> Default for Camera<D> {
    fn default() -> Self {
        Camera {
            position: None,
            target: None,
            field_of_view: None,
            height: None,
        }
    }
}

/// Motion of a camera by keyframes; parts without one do not move.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraTrack<const D: usize> {
    /// Position.
    pub position: Option<Motion<D>>,
    /// Point in the middle of the picture.
    pub target: Option<Motion<D>>,
    /// The field of view in degrees, or the height of the picture in metres, as the first component of a position.
    pub lens: Option<Motion<D>>,
}

impl<const D: usize> CameraTrack<D> {
    /// The camera at a time.
    pub fn at(&self, time: f64) -> Camera<D> {
        let point = |motion: &Option<Motion<D>>| {
            let motion = motion.as_ref()?;
            Some(motion.world_from_body(time).translation)
        };
        let lens = point(&self.lens).map(|lens| lens[0]);
        Camera {
            position: point(&self.position),
            target: point(&self.target),
            field_of_view: lens.filter(|_| D == 3),
            height: lens.filter(|_| D == 2),
        }
    }

    /// Whether the camera does not move.
    pub fn is_empty(&self) -> bool {
        self.position.is_none() && self.target.is_none() && self.lens.is_none()
    }
}

impl<const D: usize> Default for CameraTrack<D> {
    fn default() -> Self {
        CameraTrack {
            position: None,
            target: None,
            lens: None,
        }
    }
}

/// Material of a solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Material {
    /// Transparent.
    Glass,
    /// Opaque.
    Stone,
}

/// Rendering style of the liquid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As one clear body with a smooth surface.
    #[default]
    Surface,
    /// As spheres coloured by their speed.
    Particles,
}

words!(Material, "glass" => Glass, "stone" => Stone);
words!(Style, "surface" => Surface, "particles" => Particles);
