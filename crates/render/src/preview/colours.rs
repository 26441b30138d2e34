//! Colours of liquids: those of the scene, or those of water.

use super::vector::{Vec3, mix, scale};
use meniscus_scene::Color;

/// Absorption of water per colour channel and mean side of the domain, and its scattering albedo.
const WATER: Tint = Tint {
    swallowed: [9.5, 3.9, 2.1],
    scattered: [0.008, 0.12, 0.31],
    foam: [0.62, 0.78, 0.86],
};
/// Water in 2D: at rest, in motion, and at the speed of a fall through the domain.
const WATER_2D: [Vec3; 3] = [[0.012, 0.12, 0.36], [0.03, 0.36, 0.70], [0.55, 0.83, 0.92]];

/// Optical properties of a liquid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tint {
    /// Absorption per mean side of the domain.
    pub swallowed: Vec3,
    /// Scattered colour.
    pub scattered: Vec3,
    /// Scattered colour where the liquid is fast and aerated.
    pub foam: Vec3,
}

impl Tint {
    /// Properties of a liquid of this colour; of water without one.
    pub fn new(colour: Option<Color>) -> Self {
        match colour.map(linear) {
            None => WATER,
            // A colour absorbs its complement.
            Some(colour) => Tint {
                swallowed: colour.map(|c| 2.0 + 8.0 * (1.0 - c)),
                scattered: colour,
                foam: mix(colour, [0.85; 3], 0.6),
            },
        }
    }
}

/// Colours of a liquid in 2D: at rest, in motion, and fast.
pub(super) fn flat(colour: Option<Color>) -> [Vec3; 3] {
    match colour.map(linear) {
        None => WATER_2D,
        Some(colour) => [scale(colour, 0.6), colour, mix(colour, [0.9; 3], 0.6)],
    }
}

/// Colour in linear light.
pub(super) fn linear(colour: Color) -> Vec3 {
    colour.rgb().map(|c| {
        let c = f64::from(c) / 255.0;
        let linear = if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        };
        linear as f32
    })
}
