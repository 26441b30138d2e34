//! Palette of 255 colours for all frames of an animation, and dithering.

use rayon::prelude::*;

/// Bits of each channel that determine the bin of a colour.
const BITS: u32 = 6;
const BINS: usize = 1 << (3 * BITS);
/// Colours of a palette; the last index of a GIF is reserved for "as before".
pub(super) const COLOURS: usize = 255;
/// Perceptual weights of differences in red, green and blue.
const PERCEPTUAL_WEIGHTS: [f32; 3] = [0.55, 0.77, 0.42];
/// Weight of the visible grain of two mixed colours relative to a wrong colour.
const GRAIN: f32 = 0.12;

type Colour = [f32; 3];

/// Colour histogram.
pub(super) struct Histogram {
    counts: Vec<u32>,
}

impl Histogram {
    pub fn new() -> Self {
        Self {
            counts: vec![0; BINS],
        }
    }

    pub fn count(&mut self, colour: [u8; 3]) {
        let count = &mut self.counts[bin_of(colour)];
        *count = count.saturating_add(1);
    }
}

/// Palette entries that represent the colours of a bin.
type Nearby = [u8; 8];

/// Palette, with the entries around every counted colour.
pub(super) struct Palette {
    colours: Vec<Colour>,
    nearby: Vec<Nearby>,
}

impl Palette {
    pub fn new(histogram: &Histogram) -> Self {
        let bins: Vec<Bin> = histogram
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(bin, &count)| Bin {
                colour: middle_of(bin),
                // Large uniform areas need few colours, small highlights some.
                weight: (count as f32).sqrt(),
            })
            .collect();
        let mut colours = split(bins.clone());
        for _ in 0..4 {
            settle(&bins, &mut colours);
        }
        let mut nearby = vec![Nearby::default(); BINS];
        nearby
            .par_iter_mut()
            .enumerate()
            .filter(|(bin, _)| histogram.counts[*bin] > 0)
            .for_each(|(bin, near)| *near = entries_around(middle_of(bin), &colours));
        Self { colours, nearby }
    }

    /// Palette as bytes, black up to [`COLOURS`] and for the transparent index.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self
            .colours
            .iter()
            .flat_map(|colour| from_perceptual(*colour))
            .collect();
        bytes.resize(3 * (COLOURS + 1), 0);
        bytes
    }

    /// Palette entry for a counted colour at a pixel. The dither pattern is fixed to the image, so a constant
    /// colour keeps its entry from frame to frame.
    pub fn entry(&self, colour: [u8; 3], x: usize, y: usize) -> u8 {
        let wanted = seen(colour.map(f32::from));
        let nearby = &self.nearby[bin_of(colour)];
        let candidates = nearby.map(|entry| self.colours[entry as usize]);
        let first = nearest(wanted, &candidates);
        // Partner that, mixed with the nearest, comes closest without too coarse a grain.
        let mut best = (first, 0.0, square(wanted, candidates[first]));
        for second in 0..candidates.len() {
            let share = share_of_second(wanted, candidates[first], candidates[second]);
            let mixed = [0, 1, 2].map(|i| {
                candidates[first][i] + share * (candidates[second][i] - candidates[first][i])
            });
            let grain = square(candidates[first], candidates[second]) * share * (1.0 - share);
            let error = square(wanted, mixed) + GRAIN * grain;
            if error < best.2 {
                best = (second, share, error);
            }
        }
        nearby[if best.1 > threshold(x, y) {
            best.0
        } else {
            first
        }]
    }
}

#[derive(Clone, Copy)]
struct Bin {
    colour: Colour,
    weight: f32,
}

fn bin_of(colour: [u8; 3]) -> usize {
    colour.iter().fold(0, |bin, &channel| {
        bin << BITS | (channel >> (8 - BITS)) as usize
    })
}

fn middle_of(bin: usize) -> Colour {
    let channel = |k: u32| {
        let value = (bin >> (k * BITS)) & ((1 << BITS) - 1);
        (value as f32 + 0.5) * (1 << (8 - BITS)) as f32 - 0.5
    };
    seen([channel(2), channel(1), channel(0)])
}

/// Colour in the space in which differences are measured.
fn seen(colour: Colour) -> Colour {
    [0, 1, 2].map(|i| PERCEPTUAL_WEIGHTS[i] * colour[i])
}

fn from_perceptual(colour: Colour) -> [u8; 3] {
    [0, 1, 2].map(|i| {
        (colour[i] / PERCEPTUAL_WEIGHTS[i])
            .round()
            .clamp(0.0, 255.0) as u8
    })
}

fn square(a: Colour, b: Colour) -> f32 {
    (0..3).map(|i| (a[i] - b[i]) * (a[i] - b[i])).sum()
}

/// Variance-based median cut: splits the box and axis of largest variance at its mean, and takes the
/// mean of each box.
fn split(bins: Vec<Bin>) -> Vec<Colour> {
    struct Group {
        bins: Vec<Bin>,
        mean: Colour,
        axis: usize,
        spread: f32,
    }
    fn group(bins: Vec<Bin>) -> Group {
        let weight: f32 = bins.iter().map(|b| b.weight).sum();
        let mean =
            [0, 1, 2].map(|i| bins.iter().map(|b| b.weight * b.colour[i]).sum::<f32>() / weight);
        let spreads = [0, 1, 2].map(|i| {
            bins.iter()
                .map(|b| b.weight * (b.colour[i] - mean[i]).powi(2))
                .sum::<f32>()
        });
        let axis = (0..3).fold(0, |a, b| if spreads[b] > spreads[a] { b } else { a });
        Group {
            bins,
            mean,
            axis,
            spread: spreads[axis],
        }
    }
    if bins.is_empty() {
        return vec![[0.0; 3]];
    }
    let mut groups = vec![group(bins)];
    while groups.len() < COLOURS {
        let widest = (0..groups.len()).fold(0, |a, b| {
            if groups[b].spread > groups[a].spread {
                b
            } else {
                a
            }
        });
        let (axis, cut) = (groups[widest].axis, groups[widest].mean);
        let bins = std::mem::take(&mut groups[widest].bins);
        let (low, high): (Vec<Bin>, Vec<Bin>) =
            bins.iter().partition(|b| b.colour[axis] < cut[axis]);
        if low.is_empty() || high.is_empty() {
            // A single colour: no box can be split any further.
            groups[widest].bins = bins;
            break;
        }
        groups[widest] = group(low);
        groups.push(group(high));
    }
    groups.into_iter().map(|g| g.mean).collect()
}

/// Moves every entry to the mean of the colours nearest to it (k-means).
fn settle(bins: &[Bin], colours: &mut [Colour]) {
    let nearest: Vec<usize> = bins
        .par_iter()
        .map(|bin| nearest(bin.colour, colours))
        .collect();
    let mut sums = vec![([0.0_f64; 3], 0.0_f64); colours.len()];
    for (bin, &entry) in bins.iter().zip(&nearest) {
        let (sum, weight) = &mut sums[entry];
        for i in 0..3 {
            sum[i] += f64::from(bin.weight * bin.colour[i]);
        }
        *weight += f64::from(bin.weight);
    }
    for (colour, (sum, weight)) in colours.iter_mut().zip(sums) {
        if weight > 0.0 {
            *colour = sum.map(|s| (s / weight) as f32);
        }
    }
}

fn nearest(colour: Colour, colours: &[Colour]) -> usize {
    let mut best = (0, f32::INFINITY);
    for (entry, &candidate) in colours.iter().enumerate() {
        let error = square(colour, candidate);
        if error < best.1 {
            best = (entry, error);
        }
    }
    best.0
}

/// Nearest entries in order; the last is repeated if there are too few.
fn entries_around(colour: Colour, colours: &[Colour]) -> Nearby {
    let mut order: Vec<(f32, u8)> = colours
        .iter()
        .enumerate()
        .map(|(entry, &candidate)| (square(colour, candidate), entry as u8))
        .collect();
    let count = Nearby::default().len().min(order.len());
    if count < order.len() {
        order.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    order.truncate(count);
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    std::array::from_fn(|k| order[k.min(count - 1)].1)
}

/// Weight of the second colour that brings the mixture closest to the target.
fn share_of_second(colour: Colour, first: Colour, second: Colour) -> f32 {
    let length = square(first, second);
    if length == 0.0 {
        return 0.0;
    }
    let along: f32 = (0..3)
        .map(|i| (colour[i] - first[i]) * (second[i] - first[i]))
        .sum();
    (along / length).clamp(0.0, 1.0)
}

/// Bayer's 8 by 8 threshold matrix, between 0 and 1.
fn threshold(x: usize, y: usize) -> f32 {
    let mut value = 0;
    for bit in 0..3 {
        let (a, b) = (x >> bit & 1, y >> bit & 1);
        value = value << 2 | (a ^ b) << 1 | b;
    }
    (value as f32 + 0.5) / 64.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey_ramp() -> Histogram {
        let mut histogram = Histogram::new();
        for value in 0..=255 {
            histogram.count([value; 3]);
        }
        histogram
    }

    #[test]
    fn few_colours_are_reproduced_exactly() {
        let mut histogram = Histogram::new();
        let colours = [[250, 10, 130], [3, 200, 60], [90, 90, 255]];
        for colour in colours {
            histogram.count(colour);
        }
        let palette = Palette::new(&histogram);
        let bytes = palette.bytes();
        for colour in colours {
            let entry = palette.entry(colour, 0, 0) as usize;
            for i in 0..3 {
                assert!(bytes[3 * entry + i].abs_diff(colour[i]) <= 2);
            }
        }
    }

    #[test]
    fn dithered_pixels_have_the_right_mean() {
        let palette = Palette::new(&grey_ramp());
        let bytes = palette.bytes();
        for value in [17_u8, 90, 155, 222] {
            let mut sum = 0.0;
            for y in 0..8 {
                for x in 0..8 {
                    sum += f64::from(bytes[3 * palette.entry([value; 3], x, y) as usize]);
                }
            }
            assert!(
                (sum / 64.0 - f64::from(value)).abs() < 1.0,
                "{value}: {}",
                sum / 64.0
            );
        }
    }

    #[test]
    fn thresholds_are_all_different() {
        let mut seen: Vec<f32> = (0..64).map(|k| threshold(k % 8, k / 8)).collect();
        seen.sort_unstable_by(f32::total_cmp);
        let even: Vec<f32> = (0..64).map(|k| (k as f32 + 0.5) / 64.0).collect();
        assert_eq!(seen, even);
    }
}
