//! Single-channel images and Gaussian blur.

use rayon::prelude::*;

/// Single-channel image, row by row.
#[derive(Clone)]
pub(super) struct Field {
    pub width: usize,
    pub height: usize,
    pub values: Vec<f32>,
}

impl Field {
    pub fn new(width: usize, height: usize, value: f32) -> Self {
        Self {
            width,
            height,
            values: vec![value; width * height],
        }
    }

    /// Bilinear interpolation between pixel centres, which are at halves; the border is clamped.
    pub fn sample(&self, x: f32, y: f32) -> f32 {
        let (x0, x1, fx) = neighbours(x, self.width);
        let (y0, y1, fy) = neighbours(y, self.height);
        let at = |x: usize, y: usize| self.values[y * self.width + x];
        let top = at(x0, y0) + fx * (at(x1, y0) - at(x0, y0));
        let bottom = at(x0, y1) + fx * (at(x1, y1) - at(x0, y1));
        top + fy * (bottom - top)
    }

    /// A Gaussian blur; `sigma` in pixels.
    pub fn blur(&mut self, sigma: f32) {
        let reach = (2.5 * sigma).ceil() as usize;
        if reach == 0 {
            return;
        }
        let mut weights: Vec<f32> = (0..=reach)
            .map(|k| (-0.5 * (k as f32 / sigma).powi(2)).exp())
            .collect();
        let sum = weights[0] + 2.0 * weights[1..].iter().sum::<f32>();
        weights.iter_mut().for_each(|w| *w /= sum);

        let (width, height) = (self.width, self.height);
        let mut across = vec![0.0; width * height];
        across
            .par_chunks_mut(width)
            .zip(self.values.par_chunks(width))
            .for_each(|(out, row)| blur_row(out, row, &weights));
        self.values
            .par_chunks_mut(width)
            .enumerate()
            .for_each(|(y, out)| {
                out.fill(0.0);
                for k in 0..=2 * reach {
                    let from = (y + k).saturating_sub(reach).min(height - 1);
                    let weight = weights[k.abs_diff(reach)];
                    let row = &across[from * width..(from + 1) * width];
                    for (o, v) in out.iter_mut().zip(row) {
                        *o += weight * v;
                    }
                }
            });
    }
}

/// Image computed per pixel from its column and row.
pub(super) fn raster<T: Clone + Default + Send>(
    size: (usize, usize),
    pixel: impl Fn(usize, usize) -> T + Sync,
) -> Vec<T> {
    let mut picture = vec![T::default(); size.0 * size.1];
    picture
        .par_chunks_mut(size.0)
        .enumerate()
        .for_each(|(y, row)| {
            for (x, value) in row.iter_mut().enumerate() {
                *value = pixel(x, y);
            }
        });
    picture
}

fn blur_row(out: &mut [f32], row: &[f32], weights: &[f32]) {
    let last = row.len() - 1;
    let reach = weights.len() - 1;
    for (x, o) in out.iter_mut().enumerate() {
        let mut sum = weights[0] * row[x];
        for k in 1..=reach {
            sum += weights[k] * (row[x.saturating_sub(k)] + row[(x + k).min(last)]);
        }
        *o = sum;
    }
}

/// The two pixels on either side of `x` and the interpolation weight of the second.
fn neighbours(x: f32, count: usize) -> (usize, usize, f32) {
    let last = (count - 1) as f32;
    let x = (x - 0.5).clamp(0.0, last);
    let low = x.floor();
    let index = low as usize;
    (index, (index + 1).min(count - 1), x - low)
}
