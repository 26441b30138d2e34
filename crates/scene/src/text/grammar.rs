//! Grammar of scene files, as data.
//!
//! Reading, validation, the JSON schema, the reference in `docs/scene.md`, the comparison of two scenes and the complete
//! `scene.toml` of a run all come from the same tables, so that none of them can know a key that another does not. A key is
//! declared once, with `key!`.

use super::access::Access;
use super::problem::Place;
use super::tree::{Value, parse_value};
use super::write::on_one_line;

/// A table of a scene file and its keys.
#[derive(Debug)]
pub struct Table {
    /// Name in messages and in the reference.
    pub title: &'static str,
    /// Purpose, in complete sentences.
    pub about: &'static str,
    /// Keys, in the order in which they are written.
    pub keys: &'static [Key],
    /// Keys of which exactly one is required.
    pub one_of: &'static [&'static str],
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Name.
    pub name: &'static str,
    /// Type, range and unit of its value.
    pub kind: Kind,
    /// Meaning of its absence, and the part of the scene that it sets.
    pub binding: Binding,
    /// What a change of it affects. That of a table is the effect of its keys.
    pub effect: Effect,
    /// Example of a value, as TOML.
    pub example: &'static str,
    /// Documentation, in complete sentences.
    pub about: &'static str,
}

/// Declares a key: name, kind, binding, effect, example and documentation.
macro_rules! key {
    ($name:literal: $kind:expr, $binding:expr, $effect:ident, $example:expr, $about:expr) => {
        $crate::text::grammar::Key {
            name: $name,
            kind: $kind,
            binding: $binding,
            effect: $crate::text::grammar::Effect::$effect,
            example: $example,
            about: $about,
        }
    };
}
pub(crate) use key;

/// What a change of a key affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The motion of particles and bodies: a run can't be resumed with another value.
    Physics,
    /// What is written and how long a run is.
    Output,
    /// How pictures look.
    Appearance,
}

/// Effect of the key at a path such as `solid[1].shape.sphere.radius`. A key that is not in the grammar counts as
/// physics.
pub fn effect_of(scene: &'static Table, path: &str) -> Effect {
    let mut effect = Effect::Physics;
    let mut table = Some(scene);
    for part in path.split('.') {
        let name = part.split('[').next().unwrap_or(part);
        let Some(key) = table.and_then(|table| table.keys.iter().find(|key| key.name == name))
        else {
            return Effect::Physics;
        };
        effect = key.effect;
        table = key.kind.table();
    }
    effect
}

/// Meaning of a key's absence, and the part of the scene that the key sets.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Meaning of its absence.
    pub absent: Absent,
    /// Part of the scene; `None` for keys that are read with their table.
    pub access: Option<Access>,
}

/// A key that must be written.
pub const REQUIRED: Binding = Binding {
    absent: Absent::Refused,
    access: None,
};

/// A key without a default.
pub const OPTIONAL: Binding = Binding {
    absent: Absent::Nothing,
    access: None,
};

/// A key with a default, as TOML.
pub const fn default(text: &'static str) -> Binding {
    by_dimension(text, text)
}

/// A key with a default in two and one in three dimensions, as TOML.
pub const fn by_dimension(two: &'static str, three: &'static str) -> Binding {
    Binding {
        absent: Absent::Default(two, three),
        access: None,
    }
}

/// A vector whose default is zero.
pub const ZERO: Binding = by_dimension("[0.0, 0.0]", "[0.0, 0.0, 0.0]");

impl Binding {
    /// Of a part of the scene that must be written.
    pub const fn required(mut self) -> Self {
        self.absent = Absent::Refused;
        self
    }
}

/// Meaning of a key's absence.
#[derive(Clone, Copy, Debug)]
pub enum Absent {
    /// It is an error.
    Refused,
    /// There is none of it.
    Nothing,
    /// A value in two and one in three dimensions, as TOML.
    Default(&'static str, &'static str),
    /// The value in [`Scene::new`](crate::Scene::new).
    SceneDefault,
}

/// Type, range and unit of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// Path of a file, relative to the scene's folder.
    File,
    /// `true` or `false`.
    Switch,
    /// A number in a range, in the given unit.
    Number(Range, &'static str),
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of these words.
    Words(&'static [&'static str]),
    /// One number per axis, in the given unit.
    Vector(&'static str),
    /// One number per axis of rotation, in the given unit: a list of three in 3D, a number in 2D.
    Spin(&'static str),
    /// Two numbers, in the given unit.
    Pair(&'static str),
    /// From so many to so many names.
    Names(usize, usize),
    /// One positive length per axis: two or three of them.
    Lengths,
    /// A colour: a word, `#rrggbb`, or red, green and blue.
    Color,
    /// A table.
    Table(&'static Table),
    /// A list of tables, at least so many.
    Tables(&'static Table, usize),
}

/// Range of a number.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Whether the lower bound itself is excluded.
    pub above: bool,
    /// Whether infinity is allowed, `inf` in TOML.
    pub infinite: bool,
}

impl Range {
    /// Any finite number.
    pub const ANY: Range = Range {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        above: false,
        infinite: false,
    };
    /// Any number above zero.
    pub const POSITIVE: Range = Range {
        low: 0.0,
        high: f64::INFINITY,
        above: true,
        infinite: false,
    };
    /// Zero or more.
    pub const NOT_NEGATIVE: Range = Range {
        low: 0.0,
        high: f64::INFINITY,
        above: false,
        infinite: false,
    };
    /// Zero or more, infinity included.
    pub const UP_TO_INFINITY: Range = Range {
        infinite: true,
        ..Range::NOT_NEGATIVE
    };

    /// Above zero and at most `high`.
    pub const fn up_to(high: f64) -> Range {
        Range {
            low: 0.0,
            high,
            above: true,
            infinite: false,
        }
    }

    /// From `low` to `high`.
    pub const fn between(low: f64, high: f64) -> Range {
        Range {
            low,
            high,
            above: false,
            infinite: false,
        }
    }

    /// Whether a number is in the range.
    pub fn contains(&self, x: f64) -> bool {
        let allowed = x.is_finite() || (self.infinite && x == f64::INFINITY);
        allowed && x <= self.high && (x > self.low || (x == self.low && !self.above))
    }

    /// Description that follows "must be".
    pub fn words(&self) -> String {
        let low = match (self.low.is_finite(), self.above) {
            (false, _) => None,
            (true, true) => Some(format!("above {}", self.low)),
            (true, false) => Some(format!("at least {}", self.low)),
        };
        let high = match (self.high.is_finite(), self.infinite) {
            (true, _) => Some(format!("at most {}", self.high)),
            (false, true) => Some("`inf` allowed".into()),
            (false, false) => None,
        };
        match (low, high) {
            (Some(low), Some(high)) => format!("{low} and {high}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "finite".into(),
        }
    }
}

impl Key {
    /// Value that the key stands for if it is not written.
    pub fn default_value(&self, dimension: usize) -> Option<Value> {
        match self.binding.absent {
            Absent::Refused | Absent::Nothing => None,
            Absent::Default(two, three) => {
                let text = if dimension == 2 { two } else { three };
                // A test reads them all.
                Some(parse_value(text, Place::Nowhere).ok()?.value)
            }
            Absent::SceneDefault => Some(self.binding.access?.default(dimension)),
        }
    }

    /// The same as TOML.
    pub fn default_text(&self, dimension: usize) -> Option<String> {
        self.default_value(dimension).map(|v| on_one_line(&v))
    }
}

impl Kind {
    /// The table, or the table of a list.
    pub fn table(&self) -> Option<&'static Table> {
        match self {
            Kind::Table(table) | Kind::Tables(table, _) => Some(table),
            _ => None,
        }
    }

    /// Description for the reference and for messages.
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
            Kind::Spin(unit) => format!("a list of three numbers in {unit}; in 2D one number"),
            Kind::Pair(unit) => format!("a list of two numbers in {unit}"),
            Kind::Names(1, _) => "a list of one or two names".into(),
            Kind::Names(..) => "a list of two names".into(),
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

/// Words in quotes, the last after an `or`.
pub fn quoted(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}
