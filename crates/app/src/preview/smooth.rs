//! Smoothing of the liquid's front surface that keeps its outlines.

use super::blur::{Field, raster};
use rayon::prelude::*;

/// Closes pinholes, then smooths depths along rows and columns, `rounds` times each.
///
/// Neighbours count in pairs, one on either side, up to the first pair that is bent away from the
/// middle by more than `range`: there another surface or none begins. A surface that is merely steep
/// stays as it is, and so does an outline.
pub(super) fn smooth_depth(depth: &mut Field, reach: usize, range: f32, rounds: usize) {
    for _ in 0..rounds {
        close_pinholes(depth, 0.25 * range);
    }
    let sigma = 0.5 * reach as f32;
    let weights: Vec<f32> = (1..=reach)
        .map(|k| (-0.5 * (k as f32 / sigma).powi(2)).exp())
        .collect();
    let mut turned = Field::new(depth.height, depth.width, 0.0);
    for _ in 0..rounds {
        pass(depth, &mut turned, &weights, range);
        pass(&turned, depth, &weights, range);
    }
}

/// Where a pixel looks between the drops onto something farther than most of its neighbours show,
/// takes the median of those.
fn close_pinholes(depth: &mut Field, least: f32) {
    let (width, height) = (depth.width, depth.height);
    let old = depth.values.clone();
    depth
        .values
        .par_chunks_mut(width)
        .enumerate()
        .for_each(|(y, row)| {
            if y == 0 || y + 1 == height {
                return;
            }
            for x in 1..width.saturating_sub(1) {
                let mut around = [0.0; 9];
                for (k, value) in around.iter_mut().enumerate() {
                    *value = old[(y + k / 3 - 1) * width + x + k % 3 - 1];
                }
                let own = around[4];
                let nearer = around.iter().filter(|&&d| d < own - least).count();
                if nearer >= 5 {
                    around.sort_unstable_by(f32::total_cmp);
                    row[x] = around[4];
                }
            }
        });
}

/// Smooths along rows into the transposed picture: two passes smooth both ways.
fn pass(from: &Field, to: &mut Field, weights: &[f32], range: f32) {
    let smoothed = raster((from.width, from.height), |x, y| {
        let row = &from.values[y * from.width..(y + 1) * from.width];
        smooth_one(row, x, weights, range)
    });
    to.values
        .par_chunks_mut(to.width)
        .enumerate()
        .for_each(|(x, column)| {
            for (y, value) in column.iter_mut().enumerate() {
                *value = smoothed[y * from.width + x];
            }
        });
}

fn smooth_one(row: &[f32], x: usize, weights: &[f32], range: f32) -> f32 {
    let middle = row[x];
    if middle == f32::INFINITY {
        return middle;
    }
    // Offsets from the middle, which keeps the sums accurate.
    let (mut sum, mut total) = (0.0, 1.0);
    for (k, &weight) in weights.iter().enumerate() {
        let (left, right) = (x.wrapping_sub(k + 1), x + k + 1);
        if left >= row.len() || right >= row.len() {
            break;
        }
        let bent = row[left] + row[right] - 2.0 * middle;
        if bent.abs() > 2.0 * range {
            break;
        }
        sum += weight * bent;
        total += 2.0 * weight;
    }
    middle + sum / total
}
