//! Poses of bodies as bytes: the section `BODY`.
//!
//! For each body: its name (length in two bytes, UTF-8), translation, rotation by rows, velocity and angular velocity (one
//! number in 2D), as 64-bit floats, so that a pose comes back exactly.

use super::CacheError;
use super::bytes::{Reader, push_name};
use super::container::{Section, Tag};

/// Tag of the section.
pub const TAG: Tag = *b"BODY";

/// Pose and motion of a body at the time of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyState<const D: usize> {
    /// Name of the solid in the scene.
    pub name: String,
    /// Position of the body's origin in the world, in metres.
    pub translation: [f64; D],
    /// Rotation matrix by rows: world from body.
    pub rotation: [[f64; D]; D],
    /// Velocity of the body's origin, in metres per second.
    pub velocity: [f64; D],
    /// Angular velocity in radians per second; in 2D, only the last component.
    pub angular_velocity: [f64; 3],
}

impl<const D: usize> BodyState<D> {
    /// A body that does not move.
    pub fn at_rest(name: &str, rotation: [[f64; D]; D], translation: [f64; D]) -> Self {
        Self {
            name: name.into(),
            translation,
            rotation,
            velocity: [0.0; D],
            angular_velocity: [0.0; 3],
        }
    }
}

/// The section of some bodies.
pub(super) fn section<const D: usize>(bodies: &[BodyState<D>]) -> Result<Section, CacheError> {
    let mut payload = Vec::new();
    for body in bodies {
        push_name(&mut payload, &body.name)?;
        let numbers = body
            .translation
            .iter()
            .chain(body.rotation.iter().flatten());
        let numbers = numbers.chain(&body.velocity).chain(turns::<D>(body));
        for number in numbers {
            if !number.is_finite() {
                return Err(CacheError::Unwritable("a pose is not finite"));
            }
            payload.extend(number.to_le_bytes());
        }
    }
    Ok(Section {
        tag: TAG,
        count: bodies.len() as u64,
        payload,
    })
}

/// The components of the angular velocity that a dimension has.
fn turns<const D: usize>(body: &BodyState<D>) -> &[f64] {
    &body.angular_velocity[if D == 2 { 2 } else { 0 }..]
}

/// The bodies in a section.
pub(super) fn read<const D: usize>(
    count: u64,
    payload: &[u8],
) -> Result<Vec<BodyState<D>>, CacheError> {
    let mut from = Reader(payload);
    let mut bodies = Vec::new();
    for _ in 0..count {
        let name = from.name()?;
        let translation = from.vector()?;
        let mut rotation = [[0.0; D]; D];
        for row in &mut rotation {
            *row = from.vector()?;
        }
        let velocity = from.vector()?;
        let angular_velocity = match D {
            2 => [0.0, 0.0, from.f64()?],
            _ => from.vector()?,
        };
        bodies.push(BodyState {
            name,
            translation,
            rotation,
            velocity,
            angular_velocity,
        });
    }
    from.end()?;
    Ok(bodies)
}
