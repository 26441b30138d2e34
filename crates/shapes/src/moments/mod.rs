//! Volume, centroid and second moments of solids, from which mass and inertia follow.

mod exact;
mod quadrature;

use crate::shape::Shape;
use crate::vector::{add_scaled, is_finite, scale, sub};
use std::array::from_fn;
use std::error::Error;
use std::fmt;

/// Moments of a solid of density one.
///
/// In two dimensions the volume is an area, per metre of depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments<const D: usize> {
    /// Volume.
    pub volume: f64,
    /// Centroid.
    pub centroid: [f64; D],
    /// `integral of (x - centroid)(x - centroid)'`, symmetric.
    pub second: [[f64; D]; D],
}

impl<const D: usize> Moments<D> {
    /// Moments of nothing.
    pub const ZERO: Self = Self {
        volume: 0.0,
        centroid: [0.0; D],
        second: [[0.0; D]; D],
    };

    /// Moments of a solid that is symmetric about an axis through its centroid, with the second moment along the axis and
    /// the one in every direction across it.
    fn axial(volume: f64, centroid: [f64; D], axis: [f64; D], along: f64, across: f64) -> Self {
        let second = from_fn(|i| {
            from_fn(|j| {
                let identity = if i == j { across } else { 0.0 };
                identity + (along - across) * axis[i] * axis[j]
            })
        });
        Self {
            volume,
            centroid,
            second,
        }
    }

    /// Weighted sum, by the parallel axis theorem about the common centroid. A weight of -1 removes a part.
    pub fn combined(parts: &[(f64, Self)]) -> Self {
        let volume: f64 = parts
            .iter()
            .map(|(weight, part)| weight * part.volume)
            .sum();
        if volume == 0.0 {
            return Self::ZERO;
        }
        let centroid = parts.iter().fold([0.0; D], |sum, (weight, part)| {
            add_scaled(sum, weight * part.volume / volume, part.centroid)
        });
        let mut second = [[0.0; D]; D];
        for (weight, part) in parts {
            let arm = sub(part.centroid, centroid);
            for i in 0..D {
                for j in 0..D {
                    second[i][j] += weight * (part.second[i][j] + part.volume * arm[i] * arm[j]);
                }
            }
        }
        Self {
            volume,
            centroid,
            second,
        }
    }

    /// Moments of the solid after a rigid motion.
    pub fn placed(&self, pose: &crate::Pose<D>) -> Self {
        let turn = pose.rotation.matrix();
        let half: [[f64; D]; D] = crate::rotation::product(turn, &self.second);
        Self {
            volume: self.volume,
            centroid: pose.apply(self.centroid),
            second: from_fn(|i| from_fn(|j| crate::vector::dot(half[i], turn[j]))),
        }
    }

    /// Moments of the solid at another density.
    pub fn scaled(&self, density: f64) -> Self {
        Self {
            volume: self.volume * density,
            centroid: self.centroid,
            second: self.second.map(|row| scale(row, density)),
        }
    }

    fn check(self) -> Result<Self, MomentsError> {
        let spread = (0..D).all(|i| self.second[i][i] > 0.0);
        let finite = self.volume.is_finite()
            && is_finite(self.centroid)
            && self.second.iter().all(|row| is_finite(*row));
        if !finite {
            Err(MomentsError::Unbounded)
        } else if self.volume > 0.0 && spread {
            Ok(self)
        } else {
            Err(MomentsError::NoVolume)
        }
    }
}

/// Reason why a solid has no moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MomentsError {
    /// The solid has no end, as half-spaces and the outside of containers.
    Unbounded,
    /// The solid has no volume.
    NoVolume,
}

impl fmt::Display for MomentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unbounded => {
                "the solid has no end, so it has no mass: use a shell for a container"
            }
            Self::NoVolume => "the solid has no volume",
        })
    }
}

impl Error for MomentsError {}

impl<const D: usize> Shape<D> {
    /// Volume, centroid and second moments: exact for simple solids and meshes, within 0.1 % for combinations.
    ///
    /// Parts of a mesh that overlap are counted twice.
    pub fn moments(&self) -> Result<Moments<D>, MomentsError> {
        match exact::moments(self) {
            Some(moments) => moments.check(),
            None => quadrature::moments(self)?.check(),
        }
    }
}
