//! Overrides from the command line: `--set key.path=value` and its shortcuts.

use super::problem::{Place, Problem};
use super::tree::{Entry, Node, Value, parse_value};
use std::ops::Range;

/// A new value of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// As it was typed, for messages.
    pub typed: String,
    /// Path of the key, as in `solid[1].shape.sphere.radius`.
    pub path: String,
    /// The value, as TOML; a word needs no quotes.
    pub value: String,
}

impl Override {
    /// Parses the argument of `--set`.
    ///
    /// # Errors
    /// If there is no equals sign.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (path, value) = text
            .split_once('=')
            .ok_or("write key=value, as in domain.resolution=96")?;
        let (path, value) = (path.trim(), value.trim());
        if path.is_empty() || value.is_empty() {
            return Err("write key=value, as in domain.resolution=96".into());
        }
        Ok(Override {
            typed: format!("--set {text}"),
            path: path.into(),
            value: value.into(),
        })
    }

    /// The flag that it was typed with: `--set`, `--resolution`.
    pub fn flag(&self) -> &str {
        self.typed
            .split_once(' ')
            .map_or(&self.typed, |(flag, _)| flag)
    }

    /// The argument of the flag.
    pub fn argument(&self) -> &str {
        self.typed
            .split_once(' ')
            .map_or("", |(_, argument)| argument)
    }

    /// Range of the value in the argument.
    pub fn value_span(&self) -> Range<usize> {
        let argument = self.argument();
        let from = argument.find('=').map_or(0, |equals| equals + 1);
        let blank = argument[from..].len() - argument[from..].trim_start().len();
        from + blank..argument.trim_end().len().max(from + blank)
    }

    /// Range of the key in the argument, or of the value if there is no key.
    pub fn key_span(&self) -> Range<usize> {
        match self.argument().find('=') {
            Some(equals) => 0..equals,
            None => self.value_span(),
        }
    }

    /// The override of a flag with a key of its own.
    pub fn short(flag: &str, path: &str, value: impl std::fmt::Display) -> Self {
        Override {
            typed: format!("{flag} {value}"),
            path: path.into(),
            value: value.to_string(),
        }
    }
}

/// A part of a path: a key and an index.
struct Part<'a> {
    key: &'a str,
    index: Option<usize>,
}

/// Applies overrides to a tree, in order.
pub fn apply(root: &mut Node, overrides: &[Override]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (i, change) in overrides.iter().enumerate() {
        let place = Place::Override(i);
        // A value that is not TOML is a word.
        let node = parse_value(&change.value, place).unwrap_or_else(|_| Node {
            value: Value::Text(change.value.clone()),
            place,
        });
        let done = parts(&change.path).and_then(|parts| put(root, &parts, node, place));
        if let Err(message) = done {
            problems.push(
                Problem::error(place, &change.path, message)
                    .with_help("write a key as it is in messages: walls.kind, solid[1].name"),
            );
        }
    }
    problems
}

fn parts(path: &str) -> Result<Vec<Part<'_>>, String> {
    path.split('.')
        .map(|part| {
            let (key, index) = match part.split_once('[') {
                None => (part, None),
                Some((key, rest)) => {
                    let index: usize = rest
                        .strip_suffix(']')
                        .and_then(|digits| digits.parse().ok())
                        .filter(|&index| index > 0)
                        .ok_or("a list is counted from 1, as in solid[1]")?;
                    (key, Some(index - 1))
                }
            };
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if key.is_empty() || !key.chars().all(plain) {
                return Err(format!("`{key}` is not a key"));
            }
            Ok(Part { key, index })
        })
        .collect()
}

fn put(node: &mut Node, parts: &[Part<'_>], value: Node, place: Place) -> Result<(), String> {
    let Some((part, rest)) = parts.split_first() else {
        *node = value;
        return Ok(());
    };
    let Value::Table(entries) = &mut node.value else {
        return Err(format!("`{}` is not in a table", part.key));
    };
    let at = match entries.iter().position(|entry| entry.key == part.key) {
        Some(at) => at,
        None => {
            let empty = Value::Table(Vec::new());
            entries.push(Entry {
                key: part.key.into(),
                key_place: place,
                node: Node {
                    value: empty,
                    place,
                },
            });
            entries.len() - 1
        }
    };
    let inner = &mut entries[at].node;
    match part.index {
        None => put(inner, rest, value, place),
        Some(index) => {
            let Value::List(list) = &mut inner.value else {
                return Err(format!("`{}` is not a list", part.key));
            };
            let count = list.len();
            let Some(inner) = list.get_mut(index) else {
                return Err(format!("there are only {count} of `{}`", part.key));
            };
            put(inner, rest, value, place)
        }
    }
}
