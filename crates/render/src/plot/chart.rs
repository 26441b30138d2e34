//! Line charts.

use super::{COLOURS, DRAWN, GRID, INK, SIZE, colour, letters};
use plotters::prelude::*;

/// Axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// Label, with its unit.
    pub label: String,
    /// Whether the axis is logarithmic. Values that are not positive are omitted then.
    pub logarithmic: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            logarithmic: false,
        }
    }

    /// A logarithmic axis.
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            logarithmic: true,
        }
    }

    fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.logarithmic || value > 0.0)
    }

    /// Coordinate of a value along the axis, in decades if it is logarithmic.
    fn place(&self, value: f64) -> f64 {
        if self.logarithmic {
            value.log10()
        } else {
            value
        }
    }

    /// Range of the coordinates, with a margin.
    fn range(&self, places: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| {
            (low.min(place), high.max(place))
        });
        if low > high {
            return 0.0..1.0;
        }
        if self.logarithmic {
            // Whole decades, whose grid lines are labelled.
            return low.floor()..high.ceil().max(low.floor() + 1.0);
        }
        let room = 0.03 * (high - low);
        if room > 0.0 && room.is_finite() {
            let start = if low >= 0.0 && low - room < 0.0 {
                0.0
            } else {
                low - room
            };
            start..high + room
        } else {
            // One value only, or so far apart that their distance is infinite.
            (low - 0.5).min(0.999 * low)..(high + 0.5).max(1.001 * high)
        }
    }

    /// Label of a tick.
    fn label(&self, place: f64) -> String {
        let value = if self.logarithmic {
            10.0_f64.powf(place)
        } else {
            place
        };
        if self.logarithmic {
            // Whole decades only.
            let whole = (place - place.round()).abs() < 1e-6;
            return if whole {
                format!("1e{}", place.round())
            } else {
                String::new()
            };
        }
        if value != 0.0 && !(1e-3..1e5).contains(&value.abs()) {
            format!("{value:.2e}")
        } else {
            // Ticks are round numbers up to rounding error.
            format!("{}", (value * 1e6).round() / 1e6)
        }
    }
}

/// Polyline.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points.
    pub points: Vec<(f64, f64)>,
}

/// Line chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Series.
    pub series: Vec<Series>,
}

/// Largest number of points with a marker each.
const MARKED: usize = 60;

impl Chart {
    /// Content of an SVG file.
    pub fn svg(&self) -> String {
        let lines: Vec<Vec<(f64, f64)>> = self.series.iter().map(|s| self.places(s)).collect();
        let x = self.x.range(lines.iter().flatten().map(|point| point.0));
        let y = self.y.range(lines.iter().flatten().map(|point| point.1));
        let corner = emptiest_corner(&lines, &x, &y);
        let mut out = String::new();
        {
            let area = SVGBackend::with_string(&mut out, SIZE).into_drawing_area();
            area.fill(&WHITE).expect(DRAWN);
            let mut chart = ChartBuilder::on(&area)
                .caption(&self.title, letters(20))
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(72)
                .build_cartesian_2d(x, y)
                .expect(DRAWN);
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(GRID)
                .axis_style(INK)
                .x_desc(&self.x.label)
                .y_desc(&self.y.label)
                .x_label_formatter(&|place| self.x.label(*place))
                .y_label_formatter(&|place| self.y.label(*place))
                .label_style(letters(13))
                .axis_desc_style(letters(15))
                .draw()
                .expect(DRAWN);
            for (index, (series, points)) in self.series.iter().zip(lines).enumerate() {
                let style = ShapeStyle::from(&colour(index)).stroke_width(2);
                let marks = if points.len() <= MARKED {
                    &points[..]
                } else {
                    &[]
                };
                let dots = marks.iter().map(|&at| Circle::new(at, 3, style.filled()));
                chart.draw_series(dots).expect(DRAWN);
                let drawn = if index < COLOURS.len() {
                    chart.draw_series(LineSeries::new(points, style))
                } else {
                    // Colours repeat.
                    chart.draw_series(DashedLineSeries::new(points, 8, 5, style))
                };
                drawn
                    .expect(DRAWN)
                    // The legend is measured without a font: add some space.
                    .label(format!("{}   ", series.name))
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
            }
            if self.series.len() > 1 {
                chart
                    .configure_series_labels()
                    .position(corner)
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

    /// Coordinates of the points of a series that can be drawn.
    fn places(&self, series: &Series) -> Vec<(f64, f64)> {
        let shown = |point: &&(f64, f64)| self.x.shows(point.0) && self.y.shows(point.1);
        let place = |point: &(f64, f64)| (self.x.place(point.0), self.y.place(point.1));
        series.points.iter().filter(shown).map(place).collect()
    }
}

/// Corner of the chart with the fewest points, for the legend.
fn emptiest_corner(
    lines: &[Vec<(f64, f64)>],
    x: &std::ops::Range<f64>,
    y: &std::ops::Range<f64>,
) -> SeriesLabelPosition {
    let share = |value: f64, range: &std::ops::Range<f64>| {
        (value - range.start) / (range.end - range.start)
    };
    let within = |right: bool, top: bool| {
        let near = |share: f64, high: bool| if high { share > 0.7 } else { share < 0.3 };
        let points = lines.iter().flatten();
        points
            .filter(|point| near(share(point.0, x), right) && near(share(point.1, y), top))
            .count()
    };
    let corners = [
        (SeriesLabelPosition::UpperRight, within(true, true)),
        (SeriesLabelPosition::LowerLeft, within(false, false)),
        (SeriesLabelPosition::UpperLeft, within(false, true)),
        (SeriesLabelPosition::LowerRight, within(true, false)),
    ];
    let emptiest = corners.into_iter().min_by_key(|corner| corner.1);
    emptiest.map_or(SeriesLabelPosition::UpperRight, |corner| corner.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>, logarithmic: bool) -> String {
        let series = |name: &str| Series {
            name: name.into(),
            points: points.clone(),
        };
        Chart {
            title: "a < b & c".into(),
            x: Axis::linear("iteration"),
            y: Axis {
                label: "residual".into(),
                logarithmic,
            },
            series: vec![series("one"), series("two")],
        }
        .svg()
    }

    #[test]
    fn a_chart_names_its_lines_and_axes() {
        let svg = chart(vec![(0.0, 1.0), (1.0, 1e-3), (2.0, 1e-9)], true);
        for part in [
            "a &lt; b &amp; c",
            "iteration",
            "residual",
            "one",
            "two",
            "<polyline",
        ] {
            assert!(svg.contains(part), "{part} is missing in {svg}");
        }
    }

    #[test]
    fn any_numbers_can_be_drawn() {
        let strange = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 1e-300];
        for logarithmic in [false, true] {
            for a in strange {
                for b in strange {
                    let svg = chart(vec![(a, b), (b, a)], logarithmic);
                    assert!(svg.ends_with("</svg>\n"), "{a} {b}: {svg}");
                }
            }
            assert!(chart(Vec::new(), logarithmic).contains("</svg>"));
        }
    }
}
