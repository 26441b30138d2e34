//! Plots as SVG files: line charts on linear or logarithmic axes, bar charts, and the sparsity pattern of a matrix.

mod bars;
mod chart;
mod pattern;

pub use bars::Bars;
pub use chart::{Axis, Chart, Series};
pub use pattern::fill_pattern;

use plotters::prelude::{IntoFont, RGBColor, TextStyle};

/// Width and height of a plot.
const SIZE: (u32, u32) = (760, 480);
/// Colours of text, frame and grid lines.
const INK: RGBColor = RGBColor(40, 44, 52);
const GRID: RGBColor = RGBColor(222, 226, 230);

/// Colour-blind safe palette (after Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
    RGBColor(148, 103, 189),
];

fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

/// Text style of a height.
fn letters(size: u32) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size).into_font()).color(&INK)
}

/// Drawing into a string does not fail.
const DRAWN: &str = "a plot in memory can be drawn";
