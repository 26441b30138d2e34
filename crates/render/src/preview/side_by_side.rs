//! Side-by-side composition of two images above a timeline.

use super::captions::{self, Letters};
use super::frame_renderer::time_label;
use super::light::expose;
use super::vector::{Vec3, mix};
use crate::image::RgbImage;

const PAPER: Vec3 = [0.86, 0.88, 0.90];
const LINE: Vec3 = [0.60, 0.64, 0.68];
const ELAPSED_COLOUR: Vec3 = [0.03, 0.30, 0.62];
/// Pixels between the two images.
const GAP: u32 = 2;

/// Composes two images of the same size side by side. Below them is a timeline from zero to `end` seconds, filled up to
/// `time`; the frame rate determines the digits of the time.
pub fn side_by_side(left: &RgbImage, right: &RgbImage, time: f64, end: f64, rate: f64) -> RgbImage {
    let (width, height) = left.dimensions();
    let strip = strip_height(height);
    let whole = (2 * width + GAP, height + strip);
    let mut below = RgbImage::new(whole.0, strip);
    expose(
        &timeline((whole.0 as usize, strip as usize), time, end, rate),
        &mut below,
    );
    let mut picture = RgbImage::from_pixel(whole.0, whole.1, *below.get_pixel(0, 0));
    for (part, x, y) in [(left, 0, 0), (right, width + GAP, 0), (&below, 0, height)] {
        // Images of different sizes would not fill the canvas; the rest stays blank.
        picture.copy_from(part, x, y);
    }
    picture
}

fn strip_height(height: u32) -> u32 {
    (height / 14).max(22)
}

fn timeline(size: (usize, usize), time: f64, end: f64, rate: f64) -> Vec<Vec3> {
    let mut colours = vec![PAPER; size.0 * size.1];
    let letters = Letters::of_height((0.36 * size.1 as f32).clamp(7.0, 14.0));
    let label = time_label(time, rate);
    let (width, middle) = (size.0 as f32, 0.5 * size.1 as f32);
    let margin = 1.4 * letters.height();
    let widest = letters
        .width(&time_label(end, rate))
        .max(letters.width(&label));
    let top = middle - 0.5 * letters.height();
    captions::write_at(&mut colours, size, &label, [margin, top], &letters);
    let (start, stop) = (2.0 * margin + widest, width - margin);
    let half = 0.14 * letters.height();
    let share = if end > 0.0 {
        (time / end).clamp(0.0, 1.0) as f32
    } else {
        1.0
    };
    let now = start + share * (stop - start);
    let knob = 2.2 * half;
    for (at, colour) in colours.iter_mut().enumerate() {
        let (x, y) = ((at % size.0) as f32 + 0.5, (at / size.0) as f32 + 0.5);
        let off = (y - middle).abs();
        let on_line = |from: f32, to: f32| {
            let beyond = (from - x).max(x - to).max(0.0);
            (half + 0.5 - off.hypot(beyond)).clamp(0.0, 1.0)
        };
        let dot = (knob + 0.5 - off.hypot(x - now)).clamp(0.0, 1.0);
        *colour = mix(*colour, LINE, on_line(start, stop));
        *colour = mix(*colour, ELAPSED_COLOUR, on_line(start, now).max(dot));
    }
    colours
}
