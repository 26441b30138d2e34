//! Ground below the scene, with its shadow.

use super::blur::Field;
use super::camera::Box3;
use super::light::key_direction;
use super::solid_layers::passes;
use super::sphere_tracing::{Ray, Solid};
use super::vector::{Vec3, mul, scale, smoothstep};
use super::volume::Volume;
use rayon::prelude::*;

/// Shadow samples along the longer side.
const SAMPLES: usize = 64;
const COLOUR: Vec3 = [0.78, 0.765, 0.74];
/// Fraction of the ground's light that comes from the key light; the rest is ambient.
const DIRECT: f32 = 0.52;
/// Absorption of liquid per colour channel and mean side of the domain.
const ABSORPTION: Vec3 = [3.2, 1.7, 1.0];

/// Ground plane at height zero, lit from one side.
pub(super) struct Ground {
    low: [f32; 2],
    texel: f32,
    /// Length of liquid above, along the light, in mean sides of the domain.
    liquid: Field,
    /// Fraction of light that passes the solids.
    solids: Field,
    middle: [f32; 2],
    reach: f32,
}

impl Ground {
    pub fn new<const D: usize>(frame: &Box3, volume: &Volume, solids: &[Solid<D>]) -> Self {
        let key = key_direction();
        let slope = [key[0] / key[2], key[1] / key[2]];
        let cast = |p: Vec3| [p[0] - slope[0] * p[2], p[1] - slope[1] * p[2]];
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for corner in frame.corners() {
            let at = cast(corner);
            for i in 0..2 {
                low[i] = low[i].min(at[i]);
                high[i] = high[i].max(at[i]);
            }
        }
        let mean = frame.mean_side();
        for i in 0..2 {
            low[i] -= 0.1 * mean;
            high[i] += 0.1 * mean;
        }
        let texel = (high[0] - low[0]).max(high[1] - low[1]) / SAMPLES as f32;
        let [width, height] =
            [0, 1].map(|i| (((high[i] - low[i]) / texel).ceil() as usize).clamp(1, SAMPLES));

        let mut liquid = Field::new(width, height, 0.0);
        let share = volume.spacing.powi(3) / (texel * texel * mean) / key[2];
        for node in volume.filled() {
            let at = cast(node);
            // Distributed over the four nearest texels: single ones would make stripes.
            let [x, y] = [0, 1].map(|i| (at[i] - low[i]) / texel - 0.5);
            let (fx, fy) = (x - x.floor(), y - y.floor());
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (i, j) = (x.floor() + dx as f32, y.floor() + dy as f32);
                if i >= 0.0 && j >= 0.0 && (i as usize) < width && (j as usize) < height {
                    let weight = (if dx == 1 { fx } else { 1.0 - fx })
                        * (if dy == 1 { fy } else { 1.0 - fy });
                    liquid.values[j as usize * width + i as usize] += weight * share;
                }
            }
        }
        let softness = 0.035 * mean / texel;
        liquid.blur(softness);

        let mut light = Field::new(width, height, 1.0);
        if !solids.is_empty() {
            light
                .values
                .par_chunks_mut(width)
                .enumerate()
                .for_each(|(y, row)| {
                    for (x, value) in row.iter_mut().enumerate() {
                        let ray = Ray {
                            from: [
                                low[0] + (x as f32 + 0.5) * texel,
                                low[1] + (y as f32 + 0.5) * texel,
                                0.0,
                            ],
                            direction: key,
                            pixel: 2.0 * texel / mean,
                        };
                        *value = passes(solids, &ray);
                    }
                });
            light.blur(0.5 * softness);
        }
        Self {
            low,
            texel,
            liquid,
            solids: light,
            middle: [0, 1].map(|i| frame.middle()[i]),
            reach: mean,
        }
    }

    /// Colour of the ground at a point, and how far it has faded into the backdrop there.
    pub fn at(&self, x: f32, y: f32) -> (Vec3, f32) {
        let [u, v] = [
            (x - self.low[0]) / self.texel,
            (y - self.low[1]) / self.texel,
        ];
        let mut light = [1.0; 3];
        let (width, height) = (self.liquid.width as f32, self.liquid.height as f32);
        if u >= 0.0 && v >= 0.0 && u <= width && v <= height {
            let liquid = self.liquid.sample(u, v);
            let solids = self.solids.sample(u, v);
            light = match liquid > 1e-4 {
                true => ABSORPTION.map(|s| solids * (-s * liquid).exp()),
                false => [solids; 3],
            };
        }
        let lit = light.map(|l| 1.0 - DIRECT + DIRECT * l);
        let away = (x - self.middle[0]).hypot(y - self.middle[1]) / self.reach;
        let pool = 1.0 - 0.12 * smoothstep(0.3, 2.0, away);
        (scale(mul(COLOUR, lit), pool), smoothstep(0.9, 3.2, away))
    }
}
