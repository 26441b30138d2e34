//! Tables that are rendered as text, Markdown, CSV and JSON.

use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::fmt::Write;

/// Text of a missing value.
const NOTHING: &str = "-";

/// Cell of a table. Numbers are rounded for display only.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A measured number and its number of significant decimals.
    Number(f64, usize),
    /// An integer.
    Whole(u64),
    /// Not measured or not applicable.
    Missing,
}

impl Cell {
    /// A number, or missing.
    pub fn maybe(value: Option<f64>, decimals: usize) -> Self {
        value.map_or(Cell::Missing, |value| Cell::Number(value, decimals))
    }

    /// Rounded text for display.
    fn shown(&self) -> String {
        match self {
            Cell::Text(words) => words.clone(),
            Cell::Number(value, decimals) if value.is_finite() => format!("{value:.decimals$}"),
            Cell::Whole(count) => in_thousands(*count),
            Cell::Number(..) | Cell::Missing => NOTHING.into(),
        }
    }

    /// Exact text for programs: all digits, no separators, empty if missing.
    fn exact(&self) -> String {
        match self {
            Cell::Text(words) => words.clone(),
            Cell::Number(value, _) if value.is_finite() => value.to_string(),
            Cell::Whole(count) => count.to_string(),
            Cell::Number(..) | Cell::Missing => String::new(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::Text(words) => json!(words),
            // Infinite values become null, which is what is known about them.
            Cell::Number(value, _) => json!(value),
            Cell::Whole(count) => json!(count),
            Cell::Missing => Value::Null,
        }
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Self {
        Cell::Text(words.into())
    }
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        if value { "yes" } else { "no" }.into()
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Self {
        Cell::Text(words)
    }
}

/// Table with headings and rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    ///
    /// # Panics
    /// If two headings are the same: as keys of JSON they would be one.
    pub fn new<H: Into<String>>(headings: impl IntoIterator<Item = H>) -> Self {
        let headings: Vec<String> = headings.into_iter().map(Into::into).collect();
        let mut seen = HashSet::new();
        assert!(
            headings.iter().all(|words| seen.insert(words)),
            "headings differ"
        );
        Table {
            headings,
            rows: Vec::new(),
        }
    }

    /// An empty table with the given headings, separated by `" | "`.
    pub fn columns(headings: &str) -> Self {
        Self::new(headings.split(" | "))
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not one cell for every heading.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = row.into_iter().collect();
        assert_eq!(
            row.len(),
            self.headings.len(),
            "a row has a cell for every heading"
        );
        self.rows.push(row);
    }

    /// Aligned with spaces, for a terminal.
    pub fn text(&self) -> String {
        let lines = self.shown_lines();
        let widths = self.widths(&lines);
        let mut out = String::new();
        for (index, line) in lines.iter().enumerate() {
            let padded = self.padded(line, &widths);
            out += padded.join("  ").trim_end();
            out.push('\n');
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
                out += &rules.join("  ");
                out.push('\n');
            }
        }
        out
    }

    /// A table of Markdown, aligned in its source, too.
    pub fn markdown(&self) -> String {
        let mut lines = self.shown_lines();
        for cell in lines.iter_mut().flatten() {
            *cell = cell.replace('|', "\\|").replace('\n', " ");
        }
        let widths = self.widths(&lines);
        let mut out = String::new();
        for (index, line) in lines.iter().enumerate() {
            let _ = writeln!(out, "| {} |", self.padded(line, &widths).join(" | "));
            if index == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    let rule = "-".repeat(width.max(2) - 1);
                    let end = if self.is_numeric(column) { ":" } else { "-" };
                    let _ = write!(out, "| {rule}{end} ");
                }
                out += "|\n";
            }
        }
        out
    }

    /// Comma-separated values with a line of headings, numbers in full.
    pub fn csv(&self) -> String {
        let quoted = |field: &str| {
            if field.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field.to_string()
            }
        };
        let headings: Vec<String> = self.headings.iter().map(|words| quoted(words)).collect();
        let mut out = headings.join(",") + "\n";
        for row in &self.rows {
            let fields: Vec<String> = row.iter().map(|cell| quoted(&cell.exact())).collect();
            out += &fields.join(",");
            out.push('\n');
        }
        out
    }

    /// An object for every row, with the headings as keys.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            let fields = self
                .headings
                .iter()
                .cloned()
                .zip(row.iter().map(Cell::json));
            Value::Object(fields.collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }

    /// Headings and rows as people read them.
    fn shown_lines(&self) -> Vec<Vec<String>> {
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::shown).collect());
        std::iter::once(self.headings.clone()).chain(rows).collect()
    }

    fn widths(&self, lines: &[Vec<String>]) -> Vec<usize> {
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
        (0..self.headings.len())
            .map(|column| width(column).unwrap_or(0).max(2))
            .collect()
    }

    /// The cells of a line, numbers to the right and words to the left of their columns.
    fn padded(&self, line: &[String], widths: &[usize]) -> Vec<String> {
        let pad = |(column, words): (usize, &String)| {
            let width = widths[column];
            if self.is_numeric(column) {
                format!("{words:>width$}")
            } else {
                format!("{words:<width$}")
            }
        };
        line.iter().enumerate().map(pad).collect()
    }

    /// Whether a column contains only numbers and missing values.
    fn is_numeric(&self, column: usize) -> bool {
        let is_text = |row: &Vec<Cell>| matches!(row[column], Cell::Text(_));
        !self.rows.is_empty() && !self.rows.iter().any(is_text)
    }
}

/// A count with commas between thousands.
pub fn in_thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(["scene", "CPU s", "cells"]);
        table.push([
            "dam, \"big\"".into(),
            Cell::Number(1.0 / 3.0, 2),
            Cell::Whole(39_123),
        ]);
        table.push(["a|b".into(), Cell::Missing, Cell::Whole(7)]);
        table
    }

    #[test]
    fn text_is_aligned_with_numbers_to_the_right() {
        let expected = "\
scene       CPU s   cells
----------  -----  ------
dam, \"big\"   0.33  39,123
a|b             -       7
";
        assert_eq!(sample().text(), expected);
    }

    #[test]
    fn markdown_escapes_bars_and_says_which_columns_are_numbers() {
        let expected = "\
| scene      | CPU s |  cells |
| ---------- | ----: | -----: |
| dam, \"big\" |  0.33 | 39,123 |
| a\\|b       |     - |      7 |
";
        assert_eq!(sample().markdown(), expected);
    }

    #[test]
    fn csv_keeps_every_digit_and_quotes_what_needs_it() {
        let expected = "\
scene,CPU s,cells
\"dam, \"\"big\"\"\",0.3333333333333333,39123
a|b,,7
";
        assert_eq!(sample().csv(), expected);
    }

    #[test]
    fn json_has_an_object_for_every_row() {
        let json = sample().json();
        assert_eq!(json[0]["cells"], 39_123);
        assert_eq!(json[0]["CPU s"], 1.0 / 3.0);
        assert!(json[1]["CPU s"].is_null());
    }

    #[test]
    fn what_is_not_finite_is_shown_as_missing() {
        let cell = Cell::Number(f64::NAN, 2);
        assert_eq!((cell.shown().as_str(), cell.exact().as_str()), ("-", ""));
        assert!(cell.json().is_null());
    }

    #[test]
    fn a_table_without_rows_has_its_headings() {
        let table = Table::new(["a", "b"]);
        assert_eq!(table.csv(), "a,b\n");
        assert_eq!(table.markdown(), "| a  | b  |\n| -- | -- |\n");
    }

    #[test]
    #[should_panic(expected = "a cell for every heading")]
    fn a_row_of_another_length_is_refused() {
        Table::new(["a", "b"]).push([Cell::Missing]);
    }

    #[test]
    #[should_panic(expected = "headings differ")]
    fn headings_that_are_the_same_are_refused() {
        Table::new(["a", "a"]);
    }

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 999, 1000, 310_000, 1_234_567].map(in_thousands);
        assert_eq!(shown, ["0", "999", "1,000", "310,000", "1,234,567"]);
    }
}
