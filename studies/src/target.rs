//! Targets: bounds on measured numbers, with verdicts.

use crate::findings::Section;
use crate::table::{Cell, Table};

/// Bound of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The bound is included.
    AtMost(f64),
    /// The bound is included.
    AtLeast(f64),
}

impl Bound {
    fn holds(self, measured: f64) -> bool {
        match self {
            Bound::AtMost(bound) => measured <= bound,
            Bound::AtLeast(bound) => measured >= bound,
        }
    }

    fn words(self, unit: &str) -> String {
        match self {
            Bound::AtMost(bound) => format!("at most {bound} {unit}"),
            Bound::AtLeast(bound) => format!("at least {bound} {unit}"),
        }
    }
}

/// A bound on something that was measured, or could not be.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Measured quantity.
    pub what: String,
    /// Required bound.
    pub bound: Bound,
    /// Unit of the bound and of what was measured.
    pub unit: &'static str,
    /// Measured value.
    pub measured: Option<f64>,
    /// Significant decimals.
    pub decimals: usize,
}

impl Target {
    /// A target for `measured`, shown with so many decimals.
    pub fn new(
        what: impl Into<String>,
        bound: Bound,
        unit: &'static str,
        measured: Option<f64>,
        decimals: usize,
    ) -> Self {
        Target {
            what: what.into(),
            bound,
            unit,
            measured,
            decimals,
        }
    }

    /// `met`, `missed` or `not measured`, by the numbers as they are and not as they are rounded.
    pub fn verdict(&self) -> &'static str {
        match self.measured {
            None => "not measured",
            Some(value) if self.bound.holds(value) => "met",
            Some(_) => "missed",
        }
    }
}

/// The targets of a study with their verdicts.
pub fn table(targets: &[Target]) -> Table {
    let mut table = Table::columns("what | target | measured | verdict");
    for target in targets {
        table.push([
            target.what.as_str().into(),
            target.bound.words(target.unit).into(),
            Cell::maybe(target.measured, target.decimals),
            target.verdict().into(),
        ]);
    }
    table
}

/// First section of a document: its targets.
pub fn section(words: Vec<String>, targets: &[Target]) -> Section {
    Section::new("Targets", words, table(targets))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(bound: Bound, measured: Option<f64>) -> Target {
        Target {
            what: "speed".into(),
            bound,
            unit: "s",
            measured,
            decimals: 1,
        }
    }

    #[test]
    fn verdicts_follow_the_number_and_not_its_rounding() {
        let verdict = |bound, measured| target(bound, measured).verdict();
        assert_eq!(verdict(Bound::AtMost(5.0), Some(5.0)), "met");
        assert_eq!(verdict(Bound::AtMost(5.0), Some(5.01)), "missed");
        assert_eq!(verdict(Bound::AtLeast(1.6), Some(1.59)), "missed");
        assert_eq!(verdict(Bound::AtLeast(1.6), Some(1.6)), "met");
        assert_eq!(verdict(Bound::AtMost(5.0), Some(f64::NAN)), "missed");
        assert_eq!(verdict(Bound::AtMost(5.0), None), "not measured");
    }

    #[test]
    fn the_table_has_the_bound_in_words() {
        let text = table(&[target(Bound::AtLeast(1.6), Some(1.7))]).text();
        assert!(text.contains("at least 1.6 s"), "{text}");
        assert!(text.contains("met"), "{text}");
    }
}
