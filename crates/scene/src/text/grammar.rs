//! What may be written in a scene file, as data.
//!
//! Reading, checking, the JSON schema, the reference in `docs/scene.md` and the complete `scene.toml` of a run are all
//! made from the same tables, so that none of them can know a key that another does not.

/// A table of a scene file and the keys it may have.
#[derive(Debug)]
pub struct Table {
    /// For the reference.
    pub title: &'static str,
    /// What it is for, in whole sentences.
    pub about: &'static str,
    /// Its keys, in the order in which they are written.
    pub keys: &'static [Key],
    /// Keys of which exactly one has to be there.
    pub one_of: &'static [&'static str],
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What may follow the equals sign.
    pub kind: Kind,
    /// What it means if it is not there.
    pub absent: Absent,
    /// What it does, in whole sentences.
    pub about: &'static str,
    /// A value somebody might write, as TOML.
    pub example: &'static str,
}

/// What a missing key means.
#[derive(Clone, Copy, Debug)]
pub enum Absent {
    /// It must be there.
    Refused,
    /// There is none of it.
    Nothing,
    /// This value, as TOML.
    Default(&'static str),
    /// These values, as TOML, in the plane and in space.
    ByDimension(&'static str, &'static str),
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// Path of a file, relative to the scene's folder.
    File,
    /// `true` or `false`.
    Switch,
    /// A number within limits, in the given unit.
    Number(Range, &'static str),
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of these words.
    Words(&'static [&'static str]),
    /// A number for every axis, in the given unit.
    Vector(&'static str),
    /// A length for every axis, all positive: two or three of them.
    Lengths,
    /// A colour: a word, `#rrggbb`, or red, green and blue.
    Color,
    /// One table.
    Table(&'static Table),
    /// Any number of tables, at least so many.
    Tables(&'static Table, usize),
}

/// Limits of a number.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// Whether the least itself is refused.
    pub above: bool,
}

impl Range {
    /// Any finite number.
    pub const ANY: Range = Range {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        above: false,
    };
    /// Any number above zero.
    pub const POSITIVE: Range = Range {
        low: 0.0,
        high: f64::INFINITY,
        above: true,
    };
    /// Zero or more.
    pub const NOT_NEGATIVE: Range = Range {
        low: 0.0,
        high: f64::INFINITY,
        above: false,
    };

    /// Above zero and at most `high`.
    pub const fn up_to(high: f64) -> Range {
        Range {
            low: 0.0,
            high,
            above: true,
        }
    }

    /// From `low` to `high`.
    pub const fn between(low: f64, high: f64) -> Range {
        Range {
            low,
            high,
            above: false,
        }
    }

    /// Whether a number is within.
    pub fn holds(&self, x: f64) -> bool {
        x.is_finite() && x <= self.high && (x > self.low || (x == self.low && !self.above))
    }

    /// In words, after "must be".
    pub fn words(&self) -> String {
        let low = match (self.low.is_finite(), self.above) {
            (false, _) => None,
            (true, true) => Some(format!("above {}", self.low)),
            (true, false) => Some(format!("at least {}", self.low)),
        };
        let high = self
            .high
            .is_finite()
            .then(|| format!("at most {}", self.high));
        match (low, high) {
            (Some(low), Some(high)) => format!("{low} and {high}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "finite".into(),
        }
    }
}

impl Key {
    /// What the key stands for if it is not written, as TOML.
    pub fn default_text(&self, dimension: usize) -> Option<&'static str> {
        match self.absent {
            Absent::Refused | Absent::Nothing => None,
            Absent::Default(text) => Some(text),
            Absent::ByDimension(two, three) => Some(if dimension == 2 { two } else { three }),
        }
    }
}

impl Kind {
    /// In words, for the reference and for messages.
    pub fn words(&self) -> String {
        match self {
            Kind::Text => "text in quotes".into(),
            Kind::File => "the path of a file, in quotes".into(),
            Kind::Switch => "true or false".into(),
            Kind::Number(range, unit) => {
                let unit = match *unit {
                    "" => String::new(),
                    unit => format!(" in {unit}"),
                };
                match range.words().as_str() {
                    "finite" => format!("a number{unit}"),
                    limits => format!("a number{unit}, {limits}"),
                }
            }
            Kind::Whole(low, u64::MAX) => format!("a whole number, at least {low}"),
            Kind::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Word(words) => quoted(words),
            Kind::Words(words) => format!("a list of any of {}", quoted(words)),
            Kind::Vector("") => "a list of numbers, one for each axis".into(),
            Kind::Vector(unit) => format!("a list of numbers in {unit}, one for each axis"),
            Kind::Lengths => "a list of two or three positive numbers in m".into(),
            Kind::Color => {
                "a colour: a word such as \"red\", \"#rrggbb\", or [red, green, blue] from 0 to 1"
                    .into()
            }
            Kind::Table(table) => format!("a table: {}", table.title),
            Kind::Tables(table, _) => format!("a list of tables: {}", table.title),
        }
    }
}

/// Words as they are written, with an `or`.
pub fn quoted(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}
