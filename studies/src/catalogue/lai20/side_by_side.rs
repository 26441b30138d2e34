//! The paper's numbers beside ours.

use super::printed::Printed;
use crate::prelude::*;
use crate::walls::PATIENCE;

/// Result of a solver at a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Here {
    Value(f64),
    /// A solve was stopped.
    TooLong,
    /// It did not reach the tolerance.
    Unsolved,
    /// It was not run.
    Nothing,
}

impl Here {
    pub fn value(self) -> Option<f64> {
        match self {
            Here::Value(value) => Some(value),
            _ => None,
        }
    }

    fn cell(self, decimals: usize) -> Cell {
        match self {
            Here::Value(value) => Cell::Number(value, decimals),
            Here::TooLong => format!("> {PATIENCE} s").into(),
            Here::Unsolved => "not solved".into(),
            Here::Nothing => Cell::Missing,
        }
    }
}

/// Two lines a size: what is printed, and what was found.
pub fn side_by_side(
    printed: &Printed,
    labels: &[&str],
    sizes: &[u32],
    here: &dyn Fn(&str, u32) -> Here,
) -> Table {
    let headings = ["size", printed.quantity.words()];
    let mut table = Table::new(headings.iter().chain(labels).copied());
    let decimals = printed.quantity.decimals();
    for &size in sizes {
        let paper = labels.iter().map(|label| {
            // As many digits as are printed.
            printed
                .value(label, size)
                .map_or(Cell::Missing, |value| value.to_string().into())
        });
        let start = [Cell::Whole(size.into()), "paper".into()];
        table.push(start.into_iter().chain(paper));
        let ours = labels.iter().map(|label| here(label, size).cell(decimals));
        let start = [Cell::Whole(size.into()), "here".into()];
        table.push(start.into_iter().chain(ours));
    }
    table
}

/// Ours and the paper's, each in a plot of its own.
pub fn pictures(
    printed: &Printed,
    labels: &[&str],
    sizes: &[u32],
    here: &dyn Fn(&str, u32) -> Option<f64>,
) -> Vec<Picture> {
    let chart = |title: String, sizes: &[u32], value: &dyn Fn(&str, u32) -> Option<f64>| {
        let series = |label: &&str| Series {
            name: (*label).into(),
            points: sizes
                .iter()
                .filter_map(|&size| Some((f64::from(size), value(label, size)?)))
                .collect(),
        };
        let drawn = labels.iter().map(series);
        Chart {
            title,
            x: Axis::linear("cells along a side"),
            y: Axis::logarithmic(printed.quantity.words()),
            series: drawn.filter(|series| !series.points.is_empty()).collect(),
        }
    };
    let all: Vec<u32> = printed.rows().map(|row| row.0).collect();
    let words = printed.quantity.words();
    let ours = chart(format!("{}: {words}, here", printed.scene), sizes, here);
    let theirs = chart(
        format!("{}: {words}, as printed", printed.scene),
        &all,
        &|label, size| printed.value(label, size),
    );
    let picture = |name, chart: Chart| Picture::chart(name, &chart);
    vec![picture("here", ours), picture("paper", theirs)]
}
