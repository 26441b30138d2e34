//! Lighting: light sources, reflections of the environment, and tone mapping.

use super::vector::{Vec3, add, cross, dot, mix, normalize, scale, smoothstep};
use crate::image::RgbImage;
use rayon::prelude::*;
use std::sync::LazyLock;

/// Direction of the large soft key light, not normalised.
const KEY: Vec3 = [-0.42, -0.46, 0.92];
/// Brightness of the key light relative to white paper.
const KEY_BRIGHTNESS: f32 = 8.0;
/// Brightness of the two upright strips behind the scene that light the rims of glass.
const RIM_BRIGHTNESS: f32 = 1.6;
const ZENITH: Vec3 = [0.80, 0.89, 1.0];
const HORIZON: Vec3 = [0.62, 0.70, 0.78];
const FLOOR: Vec3 = [0.50, 0.54, 0.58];

/// Unit vector toward the key light.
pub(super) fn key_direction() -> Vec3 {
    normalize(KEY)
}

/// Environment light from a direction: sky, floor, and a soft rectangular light.
pub(super) fn surroundings(direction: Vec3) -> Vec3 {
    let height = direction[2];
    let base = if height > 0.0 {
        mix(HORIZON, ZENITH, smoothstep(0.0, 0.7, height))
    } else {
        mix(HORIZON, FLOOR, smoothstep(0.0, 0.25, -height))
    };
    let lamps = KEY_BRIGHTNESS * window(direction) + RIM_BRIGHTNESS * strips(direction);
    add(base, scale([1.0, 0.99, 0.96], lamps))
}

/// Coverage of a direction by the rectangular soft light.
fn window(direction: Vec3) -> f32 {
    let key = key_direction();
    let facing = dot(direction, key);
    if facing <= 0.0 {
        return 0.0;
    }
    let across = normalize(cross(key, [0.0, 0.0, 1.0]));
    let upward = cross(across, key);
    let (u, v) = (
        dot(direction, across) / facing,
        dot(direction, upward) / facing,
    );
    (1.0 - smoothstep(0.18, 0.32, u.abs())) * (1.0 - smoothstep(0.26, 0.42, v.abs()))
}

/// Coverage of a direction by one of two upright strips of light, to the left and right behind
/// the scene as the camera sees it.
fn strips(direction: Vec3) -> f32 {
    let [back, right] =
        [[-0.43, 0.90], [0.90, 0.43]].map(|[x, y]| direction[0] * x + direction[1] * y);
    let upright = 1.0 - smoothstep(0.35, 0.75, (direction[2] - 0.1).abs());
    let side = smoothstep(0.35, 0.5, right.abs()) * (1.0 - smoothstep(0.75, 0.9, right.abs()));
    if back > 0.0 { upright * side } else { 0.0 }
}

/// Schlick's approximation of the Fresnel reflectance for the cosine `facing`.
pub(super) fn fresnel(at_normal: f32, facing: f32) -> f32 {
    let grazing = (1.0 - facing).clamp(0.0, 1.0);
    let square = grazing * grazing;
    at_normal + (1.0 - at_normal) * square * square * grazing
}

/// Backdrop, from the top (0) to the bottom (1) of the image.
pub(super) fn backdrop(x: f32, y: f32) -> Vec3 {
    let wall = mix(
        [0.26, 0.33, 0.41],
        [0.70, 0.75, 0.79],
        smoothstep(0.0, 0.8, y),
    );
    // Slightly darker toward the corners.
    let (dx, dy) = (x - 0.5, y - 0.5);
    scale(wall, 1.0 - 0.22 * (dx * dx + dy * dy))
}

/// Entries of the tone mapping table, and the light of the last one: brighter light is white.
const EXPOSURES: usize = 1 << 13;
const WHITE: f32 = 2.5;

/// Converts linear colours to pixels.
pub(super) fn expose(colours: &[Vec3], picture: &mut RgbImage) {
    // Indexed by the square root of the light, so that the table is finer where it is dark.
    static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let light = |k: usize| WHITE * (k as f32 / (EXPOSURES - 1) as f32).powi(2);
        (0..EXPOSURES).map(|k| encoded(light(k))).collect()
    });
    let table = &TABLE[..];
    let to_pixel = |c: f32| {
        // Casts clamp negative values and NaN to zero.
        let place = (c / WHITE).max(0.0).sqrt() * (EXPOSURES - 1) as f32 + 0.5;
        table[(place as usize).min(EXPOSURES - 1)]
    };
    picture
        .pixels_mut()
        .par_chunks_mut(PIXELS)
        .zip(colours.par_chunks(PIXELS))
        .for_each(|(pixels, colours)| {
            for (pixel, colour) in pixels.iter_mut().zip(colours) {
                *pixel = colour.map(to_pixel);
            }
        });
}

/// Pixels per task.
const PIXELS: usize = 1024;

/// Linear light to sRGB, with highlights rolled off instead of clipped.
fn encoded(c: f32) -> u8 {
    let c = if c > 0.8 {
        0.8 + 0.2 * (1.0 - (-(c - 0.8) / 0.2).exp())
    } else {
        c
    };
    let encoded = if c <= 0.003_130_8 {
        12.92 * c
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    };
    (255.0 * encoded + 0.5) as u8
}
