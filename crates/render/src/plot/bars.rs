//! Bar charts.

use super::{DRAWN, GRID, INK, SIZE, colour, letters};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Grouped bar chart: for each group one bar per series.
#[derive(Clone, Debug)]
pub struct Bars {
    /// Title.
    pub title: String,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis.
    pub y_label: String,
    /// Names of the groups, from left to right.
    pub groups: Vec<String>,
    /// Names of the series and the heights of their bars, one per group.
    pub series: Vec<(String, Vec<f64>)>,
}

/// Fraction of a group's width that its bars occupy.
const FILLED: f64 = 0.8;
/// Number of characters that fit below all groups together.
const LETTERS: usize = 115;

impl Bars {
    /// Content of an SVG file.
    pub fn svg(&self) -> String {
        let heights = self.series.iter().flat_map(|series| &series.1);
        let highest = heights
            .copied()
            .filter(|height| height.is_finite())
            .fold(0.0, f64::max);
        // Space for the legend above the bars.
        let room = if self.series.len() > 1 { 1.3 } else { 1.08 };
        let top = if highest > 0.0 { room * highest } else { 1.0 };
        let mut out = String::new();
        {
            let area = SVGBackend::with_string(&mut out, SIZE).into_drawing_area();
            area.fill(&WHITE).expect(DRAWN);
            let mut chart = ChartBuilder::on(&area)
                .caption(&self.title, letters(20))
                .margin(12)
                .x_label_area_size(64)
                .y_label_area_size(64)
                .build_cartesian_2d(0.0..self.groups.len().max(1) as f64, 0.0..top)
                .expect(DRAWN);
            chart
                .configure_mesh()
                .disable_x_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(GRID)
                .axis_style(INK)
                .x_labels(0)
                .x_desc(&self.x_label)
                .y_desc(&self.y_label)
                .label_style(letters(13))
                .axis_desc_style(letters(15))
                .draw()
                .expect(DRAWN);
            let longest = LETTERS / self.groups.len().max(1);
            for (group, name) in self.groups.iter().enumerate() {
                let (x, y) = chart.backend_coord(&(group as f64 + 0.5, 0.0));
                for (line, words) in lines_of(name, longest).into_iter().enumerate() {
                    let style = letters(12).pos(Pos::new(HPos::Center, VPos::Top));
                    area.draw(&Text::new(words, (x, y + 6 + 14 * line as i32), style))
                        .expect(DRAWN);
                }
            }
            let width = FILLED / self.series.len().max(1) as f64;
            for (index, (name, heights)) in self.series.iter().enumerate() {
                let style = colour(index).filled();
                let left =
                    |group: usize| group as f64 + 0.5 * (1.0 - FILLED) + index as f64 * width;
                let finite = heights
                    .iter()
                    .enumerate()
                    .filter(|(_, height)| height.is_finite());
                chart
                    .draw_series(finite.map(|(group, &height)| {
                        let corner = (left(group) + 0.92 * width, height.max(0.0));
                        Rectangle::new([(left(group), 0.0), corner], style)
                    }))
                    .expect(DRAWN)
                    .label(format!("{name}   "))
                    .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], style));
            }
            if self.series.len() > 1 {
                chart
                    .configure_series_labels()
                    .position(SeriesLabelPosition::UpperRight)
                    .background_style(WHITE.mix(0.85))
                    .border_style(GRID)
                    .label_font(letters(13))
                    .draw()
                    .expect(DRAWN);
            }
            area.present().expect(DRAWN);
        }
        out
    }
}

/// Wraps a name into short lines.
fn lines_of(name: &str, longest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < longest => *line += &format!(" {word}"),
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_and_series_is_named() {
        let svg = Bars {
            title: "how they end".into(),
            x_label: "method".into(),
            y_label: "problems".into(),
            groups: ["fischer", "newton", "pgs"].map(String::from).to_vec(),
            series: vec![
                ("converged".into(), vec![3.0, 0.0, f64::NAN]),
                ("other".into(), vec![0.0, 3.0, 1.0]),
            ],
        }
        .svg();
        for part in ["fischer", "newton", "pgs", "converged", "other", "problems"] {
            assert!(svg.contains(part), "{part} is missing");
        }
    }
}
