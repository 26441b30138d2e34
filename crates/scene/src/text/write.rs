//! A tree as TOML: the `scene.toml` of a run.

use super::grammar::{Kind, Table};
use super::tree::{Node, Value};
use std::fmt::Write;

/// The text of a complete tree. Equal trees have equal texts.
pub fn write(root: &Node, table: &Table) -> String {
    let mut text = String::new();
    let of_kind = |wanted: fn(&Kind) -> bool| {
        table
            .keys
            .iter()
            .filter(move |key| wanted(&key.kind))
            .filter_map(|key| Some((key.name, root.get(key.name)?)))
    };
    let plain = |kind: &Kind| !matches!(kind, Kind::Table(_) | Kind::Tables(..));
    for (name, node) in of_kind(plain) {
        entry(&mut text, name, node);
    }
    for (name, node) in of_kind(|kind| matches!(kind, Kind::Table(_))) {
        let _ = writeln!(text, "\n[{name}]");
        entries(&mut text, node);
    }
    for (name, node) in of_kind(|kind| matches!(kind, Kind::Tables(..))) {
        for part in node.list() {
            let _ = writeln!(text, "\n[[{name}]]");
            entries(&mut text, part);
        }
    }
    text
}

fn entries(text: &mut String, node: &Node) {
    for inner in node.entries() {
        entry(text, &inner.key, &inner.node);
    }
}

fn entry(text: &mut String, key: &str, node: &Node) {
    let _ = write!(text, "{key} = ");
    // Lists of tables, such as keyframes, are easier to read with one line each.
    let tables = |part: &Node| matches!(part.value, Value::Table(_));
    if !node.list().is_empty() && node.list().iter().all(tables) {
        text.push_str("[\n");
        for part in node.list() {
            text.push_str("    ");
            write_value(text, &part.value);
            text.push_str(",\n");
        }
        text.push(']');
    } else {
        write_value(text, &node.value);
    }
    text.push('\n');
}

/// A value as text on one line.
pub fn on_one_line(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

/// A value on one line.
fn write_value(text: &mut String, value: &Value) {
    let _ = match value {
        Value::Switch(on) => write!(text, "{on}"),
        Value::Whole(n) => write!(text, "{n}"),
        // The shortest digits that read back as the same number.
        Value::Number(x) => write!(text, "{x:?}"),
        Value::Text(words) => write!(text, "{}", quoted(words)),
        Value::Date => Ok(()),
        Value::List(parts) => {
            text.push('[');
            for (i, part) in parts.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { ", " });
                write_value(text, &part.value);
            }
            text.write_str("]")
        }
        Value::Table(entries) => {
            text.push('{');
            for (i, entry) in entries.iter().enumerate() {
                text.push_str(if i == 0 { " " } else { ", " });
                let _ = write!(text, "{} = ", entry.key);
                write_value(text, &entry.node.value);
            }
            text.write_str(" }")
        }
    };
}

/// A basic string of TOML.
fn quoted(words: &str) -> String {
    let mut text = String::from("\"");
    for c in words.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(text, "\\u{:04X}", c as u32);
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
