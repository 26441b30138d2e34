//! Colour map of speeds, and its legend.

use super::captions::{self, Letters};
use super::vector::{Vec3, mix};

/// From rest to fast: each colour is brighter or warmer than the one before.
const RAMP: [Vec3; 6] = [
    [0.025, 0.045, 0.24],
    [0.02, 0.20, 0.62],
    [0.03, 0.52, 0.62],
    [0.30, 0.68, 0.22],
    [0.93, 0.62, 0.06],
    [0.82, 0.09, 0.04],
];
const FRAME: Vec3 = [0.05, 0.07, 0.10];

/// Colour of a speed, given as a fraction of the fastest.
pub(super) fn speed_colour(part: f32) -> Vec3 {
    let last = RAMP.len() - 1;
    let place = part.clamp(0.0, 1.0) * last as f32;
    let low = (place as usize).min(last - 1);
    mix(RAMP[low], RAMP[low + 1], place - low as f32)
}

/// Draws the colour bar into the upper right corner; `exceeded` if there are speeds beyond its end.
pub(super) fn draw(colours: &mut [Vec3], size: (usize, usize), fastest: f32, exceeded: bool) {
    let letters = Letters::of_picture(size.1);
    let (width, height) = (size.0 as f32, size.1 as f32);
    let capital = letters.height();
    let bar = [(0.22 * width).min(14.0 * capital), 0.8 * capital];
    let margin = 1.6 * capital;
    // Faster particles have the last colour as well.
    let more = if exceeded { " or more" } else { "" };
    let label = format!("{} m/s{more}", short(fastest));
    // The label is centred below the end of the bar, within the image.
    let right = width - margin - 0.5 * letters.width(&label);
    let (left, top) = (right - bar[0], margin);
    if left < 0.0 || top + bar[1] + 3.0 * capital > height {
        return;
    }
    for y in (top - 1.0) as usize..(top + bar[1] + 2.0) as usize {
        for x in (left - 1.0) as usize..(right + 2.0) as usize {
            if x >= size.0 || y >= size.1 {
                continue;
            }
            let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
            let inside = |p: f32, low: f32, high: f32| (p - low).min(high - p);
            let depth = inside(px, left, right).min(inside(py, top, top + bar[1]));
            let cover = (depth + 1.5).clamp(0.0, 1.0);
            let colour = match depth < 0.5 {
                true => FRAME,
                false => speed_colour((px - left) / bar[0]),
            };
            let pixel = &mut colours[y * size.0 + x];
            *pixel = mix(*pixel, colour, cover);
        }
    }
    let below = top + bar[1] + 0.7 * capital;
    for (text, at) in [("0", left), (label.as_str(), right)] {
        let start = at - 0.5 * letters.width(text);
        captions::write_at(colours, size, text, [start, below], &letters);
    }
}

/// Formats a number without superfluous digits.
fn short(x: f32) -> String {
    let digits = (1.0 - x.abs().max(1e-6).log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{x:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// Next round number that is not below a number.
pub(super) fn round_up(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return 1.0;
    }
    let decade = 10_f64.powf(x.log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0].map(|step| step * decade);
    let enough = |&step: &f64| step >= x * (1.0 - 1e-9);
    steps.into_iter().find(enough).unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_end_at_round_numbers_with_short_labels() {
        for (speed, end) in [(0.9, 1.0), (1.0, 1.0), (1.1, 1.5), (2.3, 3.0), (71.0, 80.0)] {
            assert!((round_up(speed) - end).abs() < 1e-12, "{speed}");
        }
        assert!((round_up(0.032) - 0.04).abs() < 1e-12);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(round_up(bad), 1.0);
        }
        for (x, text) in [
            (5.0, "5"),
            (0.2, "0.2"),
            (100.0, "100"),
            (0.05, "0.05"),
            (2.5, "2.5"),
        ] {
            assert_eq!(short(x), text);
        }
    }

    #[test]
    fn different_speeds_have_different_colours() {
        let colours: Vec<Vec3> = (0..=20).map(|k| speed_colour(k as f32 / 20.0)).collect();
        for pair in colours.windows(2) {
            let apart: f32 = (0..3).map(|i| (pair[0][i] - pair[1][i]).abs()).sum();
            assert!(apart > 0.02, "{pair:?}");
        }
        assert_eq!(speed_colour(7.0), speed_colour(1.0));
    }
}
