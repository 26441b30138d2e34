//! How a scene is to look in pictures. None of it changes a particle.

use meniscus_shapes::Motion;
use std::fmt;
use std::str::FromStr;

/// From where pictures are taken; what is not said is chosen so that all solids and liquid are seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera<const D: usize> {
    /// Where it stands, in space.
    pub position: Option<[f64; D]>,
    /// What is in the middle of the picture.
    pub target: Option<[f64; D]>,
    /// Degrees that are seen along the shorter side of the picture, in space.
    pub field_of_view: Option<f64>,
    /// Metres that are seen from bottom to top, in the plane.
    pub height: Option<f64>,
}

impl<const D: usize> Camera<D> {
    /// This camera, and where it says nothing, the other one.
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

/// A camera that moves by keyframes; what it says nothing of does not move.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraTrack<const D: usize> {
    /// Where it stands.
    pub position: Option<Motion<D>>,
    /// What is in the middle of the picture.
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

    /// Whether nothing moves.
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

/// What a solid is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Material {
    /// Seen through.
    Glass,
    /// Not.
    Stone,
}

/// How liquid is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As one clear body with a smooth surface.
    #[default]
    Surface,
    /// As beads coloured by their speed.
    Particles,
}

/// Words for the values of an enum, in both directions.
macro_rules! words {
    ($kind:ident, $($word:literal => $value:ident),+) => {
        impl $kind {
            /// As they are written.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl FromStr for $kind {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok($kind::$value),)+
                    _ => Err(format!("{word:?} is none of {}", $kind::WORDS.join(", "))),
                }
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $($kind::$value => $word),+
                })
            }
        }
    };
}

words!(Material, "glass" => Glass, "stone" => Stone);
words!(Style, "surface" => Surface, "particles" => Particles);
