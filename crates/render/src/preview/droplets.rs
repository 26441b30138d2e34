//! Spray: particles too sparse for a surface, drawn as small balls of liquid.

use super::particles::Spot;
use super::vector::Vec3;
use super::volume::{LEVEL, Volume};
use rayon::prelude::*;

/// Rows of the image per band.
const BAND: usize = 16;
/// Radius of a single particle's ball, in cells of the field.
const RADIUS: f32 = 0.42;
/// Smallest radius of a ball in pixels; smaller ones are drawn at this size and fainter.
const LEAST: f32 = 0.7;

/// Nearest droplet of a pixel.
#[derive(Clone, Copy)]
pub(super) struct Droplet {
    /// Depth; infinite where there is none.
    pub depth: f32,
    /// Coverage of the pixel.
    pub cover: f32,
    /// Surface normal: right, up and toward the eye.
    pub facing: Vec3,
    /// Thickness along the view, in metres.
    pub thickness: f32,
}

impl Droplet {
    pub const NONE: Self = Self {
        depth: f32::INFINITY,
        cover: 0.0,
        facing: [0.0, 0.0, 1.0],
        thickness: 0.0,
    };
}

struct Ball {
    x: f32,
    y: f32,
    /// Radius in pixels.
    radius: f32,
    depth: f32,
    /// Radius in metres.
    size: f32,
    strength: f32,
}

/// Draws the particles outside the liquid's surface, with points projected by `place`; empty if there are none.
pub(super) fn draw(
    particles: &[(Vec3, f32)],
    volume: &Volume,
    place: impl Fn(Vec3) -> Option<Spot> + Sync,
    (width, height): (usize, usize),
) -> Vec<Droplet> {
    let balls: Vec<Ball> = particles
        .par_iter()
        .filter_map(|&(position, _)| {
            let lack = 1.0 - volume.occupancy(position) / LEVEL;
            if lack <= 0.0 {
                return None;
            }
            let spot = place(position)?;
            // Smaller next to the surface, so that none appears suddenly.
            let size = RADIUS * volume.spacing * lack.cbrt();
            let radius = size * spot.zoom;
            Some(Ball {
                x: spot.x,
                y: spot.y,
                radius: radius.max(LEAST),
                depth: spot.depth,
                size,
                strength: (radius / LEAST).min(1.0),
            })
        })
        .collect();
    if balls.is_empty() {
        return Vec::new();
    }
    let mut bands: Vec<Vec<u32>> = vec![Vec::new(); height.div_ceil(BAND)];
    for (index, ball) in balls.iter().enumerate() {
        let first = ((ball.y - ball.radius - 0.5) / BAND as f32) as usize;
        let last = (ball.y + ball.radius + 0.5) / BAND as f32;
        if last >= 0.0 {
            let end = (last as usize + 1).min(bands.len());
            for band in bands.get_mut(first..end).unwrap_or_default() {
                band.push(index as u32);
            }
        }
    }
    let mut picture = vec![Droplet::NONE; width * height];
    let rows = picture.par_chunks_mut(BAND * width).enumerate();
    rows.for_each(|(band, pixels)| {
        for &ball in &bands[band] {
            fill(&balls[ball as usize], band * BAND, width, pixels);
        }
    });
    picture
}

fn fill(ball: &Ball, top: usize, width: usize, pixels: &mut [Droplet]) {
    let height = pixels.len() / width;
    let reach = ball.radius + 0.5;
    let span = |centre: f32, count: usize| {
        let first = (centre - reach + 0.5).max(0.0) as usize;
        first..((centre + reach + 0.5).max(0.0) as usize).min(count)
    };
    for y in span(ball.y - top as f32, height) {
        let up = ball.y - (top + y) as f32 - 0.5;
        for x in span(ball.x, width) {
            let right = x as f32 + 0.5 - ball.x;
            let off = right.hypot(up);
            let cover = ball.strength * (reach - off).clamp(0.0, 1.0);
            if cover == 0.0 {
                continue;
            }
            let share = (off / ball.radius).min(1.0);
            let near = (1.0 - share * share).sqrt();
            let depth = ball.depth - ball.size * near;
            let pixel = &mut pixels[y * width + x];
            let cover = cover.max(pixel.cover);
            if depth < pixel.depth {
                *pixel = Droplet {
                    depth,
                    cover,
                    facing: [right / reach, up / reach, near.max(0.1)],
                    thickness: 2.0 * ball.size * near,
                };
            } else {
                pixel.cover = cover;
            }
        }
    }
}
