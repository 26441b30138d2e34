//! Text rendering for captions.

use super::blur::Field;
use super::glyphs::glyph;
use super::lines::stroke;
use super::vector::{Vec3, mix};

const INK: Vec3 = [0.05, 0.07, 0.10];
const HALO: Vec3 = [0.92, 0.94, 0.95];
/// Height of capitals as a fraction of the image height, and at least in pixels.
const HEIGHT: f32 = 0.023;
const LEAST_HEIGHT: f32 = 7.0;
/// Letter spacing in units of a twelfth of a capital.
const GAP: f32 = 4.0;

/// Text size.
pub(super) struct Letters {
    /// A twelfth of the height of a capital, in pixels.
    unit: f32,
}

impl Letters {
    /// Size that suits an image of this height.
    pub fn of_picture(height: usize) -> Self {
        Self::of_height((HEIGHT * height as f32).max(LEAST_HEIGHT))
    }

    /// Size with capitals of this height.
    pub fn of_height(pixels: f32) -> Self {
        Self {
            unit: pixels / 12.0,
        }
    }

    /// Height of a capital in pixels.
    pub fn height(&self) -> f32 {
        12.0 * self.unit
    }

    /// Width of a text in pixels.
    pub fn width(&self, text: &str) -> f32 {
        let shown = text.chars().filter(|c| !c.is_control());
        let advances: f32 = shown.map(|c| glyph(c).0 + GAP).sum();
        self.unit * (advances - GAP).max(0.0)
    }
}

/// Writes a line of text into the lower left corner, smaller if it is too long. The rest is clipped.
pub(super) fn write(colours: &mut [Vec3], size: (usize, usize), text: &str) {
    let usual = Letters::of_picture(size.1);
    let room = size.0 as f32 - 3.2 * usual.height();
    let fitting = usual.height() * (room / usual.width(text).max(1.0)).min(1.0);
    let letters = Letters::of_height(fitting.max(LEAST_HEIGHT.min(usual.height())));
    let left = 1.6 * usual.height();
    let top = size.1 as f32 - 1.6 * usual.height() - letters.height();
    write_at(colours, size, text, [left, top], &letters);
}

/// Writes a line of text with this upper left corner. The rest is clipped.
pub(super) fn write_at(
    colours: &mut [Vec3],
    size: (usize, usize),
    text: &str,
    [mut left, top]: [f32; 2],
    letters: &Letters,
) {
    let unit = letters.unit;
    let pen = (0.85 * unit).max(0.45);
    // Only the rows around the text: blurring the whole image would dominate the cost.
    let reach = 8.0 * unit + 2.0 * pen;
    let first = ((top - reach).max(0.0) as usize).min(size.1);
    let last = ((top + 16.0 * unit + reach).max(0.0) as usize).clamp(first, size.1);
    let (width, height) = (size.0, last - first);
    if width == 0 || height == 0 {
        return;
    }
    let top = top - first as f32;
    let colours = &mut colours[first * width..last * width];
    let mut ink = Field::new(width, height, 0.0);
    let mut halo = Field::new(width, height, 0.0);
    for letter in text.chars().filter(|c| !c.is_control()) {
        if left > width as f32 {
            break;
        }
        let (advance, strokes) = glyph(letter);
        for description in strokes {
            let points = curve(description);
            let at = |p: [f32; 2]| [left + unit * p[0], top + unit * p[1]];
            for pair in points.windows(2) {
                stroke(&mut ink, at(pair[0]), at(pair[1]), pen);
                stroke(&mut halo, at(pair[0]), at(pair[1]), pen + 1.6 * unit);
            }
        }
        left += unit * (advance + GAP);
    }
    halo.blur(1.2 * unit);
    for ((colour, ink), halo) in colours.iter_mut().zip(&ink.values).zip(&halo.values) {
        *colour = mix(mix(*colour, HALO, 0.55 * halo), INK, 0.9 * ink);
    }
}

/// Points of a stroke, smoothed if requested.
fn curve(description: &str) -> Vec<[f32; 2]> {
    let (closed, round) = (
        description.starts_with('o'),
        description.starts_with(['~', 'o']),
    );
    let digits: Vec<f32> = description
        .chars()
        .filter(|&c| c != '~' && c != 'o')
        .filter_map(|c| c.to_digit(36))
        .map(|d| d as f32)
        .collect();
    let mut points: Vec<[f32; 2]> = digits.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
    if round {
        for _ in 0..3 {
            points = cut_corners(&points, closed);
        }
        if closed {
            points.push(points[0]);
        }
    }
    points
}

/// Chaikin's corner cutting: repeated, it converges to a smooth curve.
fn cut_corners(points: &[[f32; 2]], closed: bool) -> Vec<[f32; 2]> {
    let mix = |a: [f32; 2], b: [f32; 2], t: f32| [0, 1].map(|i| a[i] + t * (b[i] - a[i]));
    let count = points.len();
    let sides = if closed { count } else { count - 1 };
    let mut cut = Vec::with_capacity(2 * count);
    for i in 0..sides {
        let (a, b) = (points[i], points[(i + 1) % count]);
        let first = !closed && i == 0;
        let last = !closed && i + 1 == sides;
        cut.push(if first { a } else { mix(a, b, 0.25) });
        cut.push(if last { b } else { mix(a, b, 0.75) });
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_glyph_is_inside_its_box() {
        for code in 33..127_u8 {
            let (advance, strokes) = glyph(code as char);
            assert!(!strokes.is_empty());
            for description in strokes {
                let points = curve(description);
                assert!(
                    points.len() > 1,
                    "{} has an incomplete stroke",
                    code as char
                );
                for [x, y] in points {
                    assert!((0.0..=advance.max(1.0)).contains(&x), "{}", code as char);
                    assert!((0.0..=16.0).contains(&y), "{}", code as char);
                }
            }
        }
    }

    #[test]
    fn text_is_visible_and_stays_in_its_corner() {
        let size = (200, 100);
        let paper = [0.5; 3];
        let mut colours = vec![paper; size.0 * size.1];
        write(&mut colours, size, "Hello, 3.14!");
        let changed = |range: std::ops::Range<usize>| {
            colours[range.start * size.0..range.end * size.0]
                .iter()
                .filter(|&&c| c != paper)
                .count()
        };
        assert!(changed(60..100) > 300);
        assert_eq!(changed(0..60), 0);
        let darkest = colours.iter().map(|c| c[0]).fold(1.0, f32::min);
        assert!(darkest < 0.15);
    }
}
