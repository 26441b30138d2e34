//! Scene text as a tree of values with their places.

use super::problem::{Place, Problem};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Value.
    pub value: Value,
    /// Place.
    pub place: Place,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Switch(bool),
    /// A number without a point.
    Whole(i64),
    /// A number with one, or one too large to be a whole number.
    Number(f64),
    /// Text in quotes.
    Text(String),
    /// `[...]`, or tables of the same name.
    List(Vec<Node>),
    /// `{...}`, or a table of its own.
    Table(Vec<Entry>),
    /// A date or time, which no key takes.
    Date,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Place of the key.
    pub key_place: Place,
    /// The value.
    pub node: Node,
}

impl Node {
    /// A value without a place.
    pub fn unwritten(value: Value) -> Self {
        Node {
            value,
            place: Place::Nowhere,
        }
    }

    /// The value of a key, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Value::Table(entries) = &self.value else {
            return None;
        };
        entries.iter().find(|e| e.key == key).map(|e| &e.node)
    }

    /// The entries, if this is a table.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The parts, if this is a list.
    pub fn list(&self) -> &[Node] {
        match &self.value {
            Value::List(nodes) => nodes,
            _ => &[],
        }
    }

    /// The number, with or without a point.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Whole(n) => Some(n as f64),
            Value::Number(x) => Some(x),
            _ => None,
        }
    }

    /// The text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Name of its type, for messages.
    pub fn what(&self) -> &'static str {
        match self.value {
            Value::Switch(_) => "true or false",
            Value::Whole(_) => "a whole number",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Date => "a date",
        }
    }
}

/// Parses a file; parts with syntax errors are left out and reported.
pub fn parse(text: &str) -> (Node, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let problems = errors
        .into_iter()
        .map(|error| {
            let place = error.span().map_or(Place::Nowhere, |span| {
                Place::File(span.start.min(text.len()), span.end.min(text.len()))
            });
            let message = error.message().trim_end_matches('.').replace('\n', ", ");
            Problem::error(place, "", format!("this is not TOML: {message}"))
        })
        .collect();
    let place = |span: Range<usize>| Place::File(span.start, span.end);
    let root = Node {
        value: table_value(table.get_ref(), &place),
        place: Place::Nowhere,
    };
    (root, problems)
}

/// Parses a single value, such as that of `--set`. All of it gets the same place.
pub fn parse_value(text: &str, place: Place) -> Result<Node, String> {
    let value = DeValue::parse(text).map_err(|error| error.message().to_string())?;
    Ok(node(&value, &|_| place))
}

type Placing<'a> = &'a dyn Fn(Range<usize>) -> Place;

fn node(spanned: &Spanned<DeValue<'_>>, place: Placing<'_>) -> Node {
    let value = match spanned.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(whole) => Value::Whole(whole),
            Err(_) => Value::Number(digits.as_str().parse().unwrap_or(f64::NAN)),
        },
        DeValue::Float(digits) => Value::Number(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(switch) => Value::Switch(*switch),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(parts) => Value::List(parts.iter().map(|part| node(part, place)).collect()),
        DeValue::Table(table) => table_value(table, place),
    };
    Node {
        value,
        place: place(spanned.span()),
    }
}

fn table_value(table: &DeTable<'_>, place: Placing<'_>) -> Value {
    let entries = table.iter().map(|(key, value)| Entry {
        key: key.get_ref().to_string(),
        key_place: place(key.span()),
        node: node(value, place),
    });
    Value::Table(entries.collect())
}

/// Inserts a text as the first key of a table, or replaces it.
pub fn put_first(table: &mut Node, key: &str, text: &str) {
    let Value::Table(entries) = &mut table.value else {
        return;
    };
    entries.retain(|entry| entry.key != key);
    let entry = Entry {
        key: key.into(),
        key_place: Place::Nowhere,
        node: Node::unwritten(Value::Text(text.into())),
    };
    entries.insert(0, entry);
}

/// Adds an empty table.
pub fn put_table(table: &mut Node, key: &str) {
    if let Value::Table(entries) = &mut table.value {
        entries.push(Entry {
            key: key.into(),
            key_place: Place::Nowhere,
            node: Node::unwritten(Value::Table(Vec::new())),
        });
    }
}
