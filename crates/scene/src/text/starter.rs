//! A scene to start from: a built-in one, followed by all other keys as comments.

use super::grammar::{Kind, Table};
use super::keys::SCENE;
use super::tree::{Node, parse};
use std::fmt::Write;

/// The text of a new scene file.
pub fn starter(text: &str, name: &str) -> String {
    let mut page = format!("name = \"{name}\"\n\n{}", text.trim_end());
    let (written, _) = parse(text);
    page.push_str(
        "\n\n# All other keys with their defaults. docs/scene.md and `meniscus schema` explain every key;\n\
         # `meniscus check FILE` reports errors and warnings.\n",
    );
    for key in SCENE.keys {
        if let Kind::Table(table) = key.kind {
            rest(&mut page, key.name, table, written.get(key.name));
        }
    }
    page
}

/// The keys of a table that are not written, as comments.
fn rest(page: &mut String, name: &str, table: &Table, written: Option<&Node>) {
    let absent = |key: &str| written.is_none_or(|node| node.get(key).is_none());
    let keys = table.keys.iter().filter(|key| absent(key.name));
    let lines: Vec<String> = keys
        .filter_map(|key| {
            let default = key.default_text(3)?;
            let first = key.about.split(". ").next()?.trim_end_matches('.');
            Some(format!("# {} = {default}    # {first}", key.name))
        })
        .collect();
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(page, "#\n# [{name}]");
    for line in lines {
        let _ = writeln!(page, "{line}");
    }
}
