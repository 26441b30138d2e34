//! Particles as shaded sprites.

use super::blur::Field;
use super::particles::Spot;
use super::vector::{Vec3, add, scale};
use rayon::prelude::*;

/// Rows of the image per band.
const BAND: usize = 16;
/// Samples along each side of a pixel.
const FINE: usize = 2;
/// Smallest radius of a sprite in pixels: smaller ones would flicker.
const LEAST: f32 = 0.6;

/// Layer of sprites.
pub(super) struct Sprites {
    /// Depth of the nearest sprite in a pixel; infinite where there is none.
    pub depth: Field,
    /// Coverage of the pixel, 0 to 1.
    pub cover: Field,
    /// Mean colour.
    pub colours: Vec<Vec3>,
}

struct Sprite {
    x: f32,
    y: f32,
    radius: f32,
    depth: f32,
    /// Radius in metres.
    size: f32,
    speed: f32,
}

/// Draws particles with their speeds as sprites. `shaded` returns the colour for a speed and a normal
/// (right, up and toward the eye).
pub(super) fn string(
    particles: &[(Vec3, f32)],
    radius: f32,
    place: impl Fn(Vec3) -> Option<Spot> + Sync,
    shaded: impl Fn(Vec3, f32) -> Vec3 + Sync,
    size: (usize, usize),
) -> Sprites {
    let (width, height) = size;
    let fine = FINE as f32;
    let sprites: Vec<Sprite> = particles
        .par_iter()
        .filter_map(|&(position, speed)| {
            let spot = place(position)?;
            Some(Sprite {
                x: fine * spot.x,
                y: fine * spot.y,
                radius: fine * (radius * spot.zoom).max(LEAST),
                depth: spot.depth,
                size: radius,
                speed,
            })
        })
        .collect();
    let mut bands: Vec<Vec<u32>> = vec![Vec::new(); height.div_ceil(BAND)];
    let rows_of_band = (BAND * FINE) as f32;
    for (index, sprite) in sprites.iter().enumerate() {
        // Casts clamp negative values to zero.
        let first = ((sprite.y - sprite.radius) / rows_of_band) as usize;
        let last = (sprite.y + sprite.radius) / rows_of_band;
        if last >= 0.0 {
            let end = (last as usize + 1).min(bands.len());
            for band in bands.get_mut(first..end).unwrap_or_default() {
                band.push(index as u32);
            }
        }
    }
    let mut picture = Sprites {
        depth: Field::new(width, height, f32::INFINITY),
        cover: Field::new(width, height, 0.0),
        colours: vec![[0.0; 3]; width * height],
    };
    let rows = BAND * width;
    let parts = (
        picture.depth.values.par_chunks_mut(rows),
        picture.cover.values.par_chunks_mut(rows),
        picture.colours.par_chunks_mut(rows),
    );
    parts
        .into_par_iter()
        .enumerate()
        .for_each(|(band, (depth, cover, colours))| {
            let top = band * BAND * FINE;
            let mut samples = vec![Sample::NONE; depth.len() * FINE * FINE];
            for &sprite in &bands[band] {
                fill(
                    &sprites[sprite as usize],
                    top,
                    FINE * width,
                    &shaded,
                    &mut samples,
                );
            }
            for at in 0..depth.len() {
                let (x, y) = (at % width, at / width);
                let (mut sum, mut count) = ([0.0; 3], 0.0_f32);
                for k in 0..FINE * FINE {
                    let fine_at = (y * FINE + k / FINE) * FINE * width + x * FINE + k % FINE;
                    let sample = samples[fine_at];
                    if sample.depth < f32::INFINITY {
                        depth[at] = depth[at].min(sample.depth);
                        sum = add(sum, sample.colour);
                        count += 1.0;
                    }
                }
                cover[at] = count / (FINE * FINE) as f32;
                colours[at] = scale(sum, 1.0 / count.max(1.0));
            }
        });
    picture
}

#[derive(Clone, Copy)]
struct Sample {
    depth: f32,
    colour: Vec3,
}

impl Sample {
    const NONE: Self = Self {
        depth: f32::INFINITY,
        colour: [0.0; 3],
    };
}

fn fill(
    sprite: &Sprite,
    top: usize,
    width: usize,
    shaded: &impl Fn(Vec3, f32) -> Vec3,
    samples: &mut [Sample],
) {
    let height = samples.len() / width;
    let span = |centre: f32, low: usize, count: usize| {
        let first = (centre - sprite.radius + 0.5 - low as f32).max(0.0) as usize;
        let end = (centre + sprite.radius + 0.5 - low as f32).max(0.0) as usize;
        first..end.min(count)
    };
    for y in span(sprite.y, top, height) {
        let up = (sprite.y - (top + y) as f32 - 0.5) / sprite.radius;
        for x in span(sprite.x, 0, width) {
            let right = (x as f32 + 0.5 - sprite.x) / sprite.radius;
            let square = right * right + up * up;
            if square >= 1.0 {
                continue;
            }
            let near = (1.0 - square).sqrt();
            let depth = sprite.depth - sprite.size * near;
            let sample = &mut samples[y * width + x];
            if depth < sample.depth {
                *sample = Sample {
                    depth,
                    colour: shaded([right, up, near], sprite.speed),
                };
            }
        }
    }
}
