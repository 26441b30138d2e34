//! Rigid placements.

use crate::rotation::Rotation;
use crate::vector::{add, is_finite, scale, sub};

/// Where a body is: `world_from_body(x) = rotation x + translation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<const D: usize> {
    /// How the body is turned.
    pub rotation: Rotation<D>,
    /// Where the body's origin is.
    pub translation: [f64; D],
}

impl<const D: usize> Default for Pose<D> {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl<const D: usize> Pose<D> {
    /// Body and world are the same.
    pub const IDENTITY: Self = Self {
        rotation: Rotation::IDENTITY,
        translation: [0.0; D],
    };

    /// Moved without turning.
    pub fn translated(translation: [f64; D]) -> Self {
        Self {
            rotation: Rotation::IDENTITY,
            translation,
        }
    }

    /// Turned about the point `pivot`.
    pub fn turned_about(pivot: [f64; D], rotation: Rotation<D>) -> Self {
        Self {
            rotation,
            translation: sub(pivot, rotation.apply(pivot)),
        }
    }

    /// The point of the world for a point of the body.
    pub fn apply(&self, x: [f64; D]) -> [f64; D] {
        add(self.rotation.apply(x), self.translation)
    }

    /// The point of the body for a point of the world.
    pub fn apply_inverse(&self, x: [f64; D]) -> [f64; D] {
        self.rotation.apply_inverse(sub(x, self.translation))
    }

    /// First `other`, then `self`.
    pub fn compose(&self, other: &Self) -> Self {
        Self {
            rotation: self.rotation.compose(&other.rotation),
            translation: self.apply(other.translation),
        }
    }

    /// The pose back.
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self {
            rotation,
            translation: scale(rotation.apply(self.translation), -1.0),
        }
    }

    /// Whether every number in it is finite.
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && is_finite(self.translation)
    }
}
