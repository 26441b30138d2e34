//! Compositing of solid surfaces over the background.

use super::light::{fresnel, key_direction, surroundings};
use super::sphere_tracing::Layer;
use super::vector::{Vec3, add, dot, mix, mul, reflect, scale};
use meniscus_scene::Material;

const STONE: Vec3 = [0.56, 0.53, 0.50];
/// Tint of the background by a surface of coloured glass.
const GLASS_TINT: f32 = 0.4;

/// Composite of the layers drawn so far: `passed * behind + added`.
#[derive(Clone, Copy)]
pub(super) struct Composite {
    passed: Vec3,
    added: Vec3,
}

impl Composite {
    pub const NONE: Self = Self {
        passed: [1.0; 3],
        added: [0.0; 3],
    };

    pub fn over(&self, behind: Vec3) -> Vec3 {
        add(mul(self.passed, behind), self.added)
    }

    /// Composites a nearer layer over this one.
    pub fn behind(&self, nearer: &Self) -> Self {
        Self {
            passed: mul(self.passed, nearer.passed),
            added: nearer.over(self.added),
        }
    }
}

impl Default for Composite {
    fn default() -> Self {
        Self::NONE
    }
}

/// Layer of one surface of a solid.
pub(super) fn shade(layer: &Layer, direction: Vec3) -> Composite {
    let facing = -dot(layer.normal, direction);
    let whole = match layer.material {
        Material::Stone => {
            let light = 0.45 + 0.65 * dot(layer.normal, key_direction()).max(0.0);
            let sky = 0.12 * layer.normal[2];
            let shine = fresnel(0.03, facing);
            let mirrored = surroundings(reflect(direction, layer.normal));
            let colour = mix(
                scale(layer.colour.unwrap_or(STONE), light + sky),
                mirrored.map(|c| c.min(1.0)),
                shine,
            );
            Composite {
                passed: [0.0; 3],
                added: mix(colour, [0.9; 3], 0.2 * layer.crease),
            }
        }
        Material::Glass => {
            let grazing = (1.0 - facing).clamp(0.0, 1.0);
            // A glass wall is seen edge-on near its outline: darker there, slightly green.
            let rim = grazing * grazing * grazing.sqrt();
            let passed = [0.62, 0.50, 0.46].map(|d| 1.0 - d * rim);
            let passed = mul(
                passed,
                layer
                    .colour
                    .map_or([1.0; 3], |c| mix([1.0; 3], c, GLASS_TINT)),
            );
            let shine = fresnel(0.045, facing).max(0.2 * layer.crease);
            let mirrored = surroundings(reflect(direction, layer.normal));
            Composite {
                passed: scale(passed, 1.0 - shine),
                added: scale(mirrored, shine),
            }
        }
    };
    Composite {
        passed: mix([1.0; 3], whole.passed, layer.alpha),
        added: scale(whole.added, layer.alpha),
    }
}
