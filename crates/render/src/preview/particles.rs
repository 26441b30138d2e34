//! Particles in 2D: coverage, thickness and speed.

use super::View;
use super::blur::Field;
use super::vector::Vec3;
use rayon::prelude::*;
use std::array::from_fn;

/// Rows of the image per band; fixed, so that sums don't depend on the threads.
const BAND: usize = 16;
/// Largest number of cells of the grid that measures the thickness.
const MOST_CELLS: f64 = 4e6;

/// Liquid per pixel.
pub(super) struct Sheet {
    /// Coverage of the pixel, 0 to 1.
    pub cover: Field,
    /// Length of liquid along the view.
    pub thickness: Field,
    /// Thickness times mean speed.
    pub flow: Field,
}

impl Sheet {
    /// No liquid.
    pub fn empty((width, height): (usize, usize)) -> Self {
        let zero = || Field::new(width, height, 0.0);
        Sheet {
            cover: zero(),
            thickness: zero(),
            flow: zero(),
        }
    }
}

/// Particle with its position in the image.
#[derive(Clone, Copy)]
pub(super) struct Drop {
    pub position: Vec3,
    pub radius: f32,
}

/// Position in the image.
pub(super) struct Spot {
    pub x: f32,
    pub y: f32,
    pub depth: f32,
    /// Pixels per metre there.
    pub zoom: f32,
}

/// Small cube of space with liquid in it.
#[derive(Clone, Copy)]
pub(super) struct VolumeCell {
    pub centre: Vec3,
    pub speed: f32,
}

/// Occupied cells of a grid, independent of the number of particles in each: the liquid's volume.
pub(super) struct VolumeCells {
    pub size: f32,
    pub volume_cells: Vec<VolumeCell>,
}

impl VolumeCells {
    /// Sorts particles with their speeds into cells of about the given size.
    pub fn new(particles: &[(Vec3, f32)], size: f32) -> Self {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for (position, _) in particles {
            low = from_fn(|i| low[i].min(position[i]));
            high = from_fn(|i| high[i].max(position[i]));
        }
        if particles.is_empty() {
            (low, high) = ([0.0; 3], [0.0; 3]);
        }
        let sides: Vec3 = from_fn(|i| high[i] - low[i]);
        let volume: f64 = sides.iter().map(|&d| f64::from(d.max(size))).product();
        let size = size.max((volume / MOST_CELLS).cbrt() as f32);
        // Aligned to whole cells, so that the grid does not shift from frame to frame.
        let low = low.map(|c| (c / size).floor() * size);
        let count: [usize; 3] =
            from_fn(|i| (((high[i] - low[i]) / size).ceil() as usize).clamp(1, 1 << 16));
        let mut cells = vec![(0_u32, 0.0_f32); count.iter().product()];
        for &(position, speed) in particles {
            let cell = &mut cells[index_of(position, low, size, count)];
            cell.0 += 1;
            cell.1 += speed;
        }
        let occupied = cells.iter().enumerate().filter(|(_, cell)| cell.0 > 0);
        let volume_cells = occupied.map(|(index, &(number, speed))| {
            let at = [
                index % count[0],
                index / count[0] % count[1],
                index / (count[0] * count[1]),
            ];
            VolumeCell {
                centre: from_fn(|i| low[i] + (at[i] as f32 + 0.5) * size),
                speed: speed / number as f32,
            }
        });
        Self {
            size,
            volume_cells: volume_cells.collect(),
        }
    }
}

/// Cell of a point, clamped to the grid.
fn index_of(position: Vec3, low: Vec3, size: f32, count: [usize; 3]) -> usize {
    let [i, j, k] = from_fn(|a| (((position[a] - low[a]) / size) as usize).min(count[a] - 1));
    (k * count[1] + j) * count[0] + i
}

/// Disc in the image.
#[derive(Clone, Copy)]
struct Patch {
    x: f32,
    y: f32,
    radius: f32,
    /// For volume cells: thickness at the centre.
    size: f32,
    speed: f32,
}

impl Patch {
    /// Rows or columns whose centre is within `reach`. Casts clamp negative values to zero.
    fn span(centre: f32, reach: f32, low: usize, high: usize) -> std::ops::Range<usize> {
        let first = ((centre - reach + 0.5) as usize).max(low);
        let end = ((centre + reach + 0.5) as usize).min(high);
        first..end
    }
}

/// Particles in or near the domain, with their speeds. Stray ones must not obscure the view.
pub(super) fn valid_particles<const D: usize>(view: &View<D>) -> Vec<(Vec3, f32)> {
    let sides = view.valid_domain();
    let near = |position: &[f32; D]| {
        (0..D).all(|i| (-0.25..=1.25).contains(&(f64::from(position[i]) / sides[i])))
    };
    let speeds = view.velocities.iter().map(|v| {
        let speed = v.iter().map(|c| c * c).sum::<f32>().sqrt();
        if speed.is_finite() { speed } else { 0.0 }
    });
    view.positions
        .iter()
        .zip(speeds.chain(std::iter::repeat(0.0)))
        .filter(|(position, _)| near(position))
        .map(|(position, speed)| (from_fn(|i| position.get(i).copied().unwrap_or(0.0)), speed))
        .collect()
}

/// Draws the coverage of the liquid and measures its thickness, with points projected by `place`.
pub(super) fn spread(
    drops: &[Drop],
    volume_cells: &VolumeCells,
    place: impl Fn(Vec3) -> Option<Spot> + Sync,
    size: (usize, usize),
) -> Sheet {
    let (width, height) = size;
    let patch = |position: Vec3, radius: f32, size: f32, speed: f32| {
        let spot = place(position)?;
        Some(Patch {
            x: spot.x,
            y: spot.y,
            radius: radius * spot.zoom,
            size,
            speed,
        })
    };
    let drop_patches: Vec<Patch> = drops
        .par_iter()
        .filter_map(|drop| patch(drop.position, drop.radius, 0.0, 0.0))
        .collect();
    // Wider than the cell, so that neighbours merge; the volume stays that of the cell.
    let reach = 1.1 * volume_cells.size;
    let middle = 2.0 * volume_cells.size.powi(3) / (std::f32::consts::PI * reach * reach);
    let lump_patches: Vec<Patch> = volume_cells
        .volume_cells
        .iter()
        .filter_map(|volume_cell| patch(volume_cell.centre, reach, middle, volume_cell.speed))
        .collect();

    let drop_bands = by_band(&drop_patches, height);
    let lump_bands = by_band(&lump_patches, height);
    let mut sheet = Sheet::empty(size);
    let rows = BAND * width;
    let bands = (
        sheet.cover.values.par_chunks_mut(rows),
        sheet.thickness.values.par_chunks_mut(rows),
        sheet.flow.values.par_chunks_mut(rows),
    );
    bands
        .into_par_iter()
        .enumerate()
        .for_each(|(band, (cover, thickness, flow))| {
            let top = band * BAND;
            let bottom = (top + BAND).min(height);
            for &patch in &drop_bands[band] {
                fill_drop(&drop_patches[patch as usize], top, bottom, width, cover);
            }
            for &patch in &lump_bands[band] {
                fill_volume_cell(
                    &lump_patches[patch as usize],
                    top,
                    bottom,
                    width,
                    thickness,
                    flow,
                );
            }
        });
    sheet
}

/// For every band of rows the discs that overlap it, in their order.
fn by_band(patches: &[Patch], height: usize) -> Vec<Vec<u32>> {
    let mut bands = vec![Vec::new(); height.div_ceil(BAND)];
    for (index, patch) in patches.iter().enumerate() {
        let rows = Patch::span(patch.y, patch.radius + 0.5, 0, height);
        if rows.start < rows.end {
            for band in &mut bands[rows.start / BAND..=(rows.end - 1) / BAND] {
                band.push(index as u32);
            }
        }
    }
    bands
}

fn fill_drop(patch: &Patch, top: usize, bottom: usize, width: usize, cover: &mut [f32]) {
    let inner = (patch.radius - 0.5).max(0.0).powi(2);
    let outer = (patch.radius + 0.5).powi(2);
    for y in Patch::span(patch.y, patch.radius + 0.5, top, bottom) {
        let dy = y as f32 + 0.5 - patch.y;
        for x in Patch::span(patch.x, patch.radius + 0.5, 0, width) {
            let dx = x as f32 + 0.5 - patch.x;
            let square = dx * dx + dy * dy;
            if square >= outer {
                continue;
            }
            let at = (y - top) * width + x;
            if square <= inner {
                cover[at] = 1.0;
            } else if cover[at] < 1.0 {
                cover[at] = cover[at].max((patch.radius + 0.5 - square.sqrt()).min(1.0));
            }
        }
    }
}

fn fill_volume_cell(
    patch: &Patch,
    top: usize,
    bottom: usize,
    width: usize,
    thickness: &mut [f32],
    flow: &mut [f32],
) {
    let inverse = 1.0 / (patch.radius * patch.radius);
    for y in Patch::span(patch.y, patch.radius, top, bottom) {
        let dy = y as f32 + 0.5 - patch.y;
        for x in Patch::span(patch.x, patch.radius, 0, width) {
            let dx = x as f32 + 0.5 - patch.x;
            let part = patch.size * (1.0 - (dx * dx + dy * dy) * inverse).max(0.0);
            let at = (y - top) * width + x;
            thickness[at] += part;
            flow[at] += part * patch.speed;
        }
    }
}
