//! Keys that had another name in earlier versions: the old name still works and is reported with the new one.

use super::overrides::Override;
use super::problem::{Place, Problem};
use super::tree::{Node, Value};

/// Table, old name and new name.
const RENAMED: [(&str, &str, &str); 1] = [("walls", "kappa", "separation_speed")];

/// Renames the keys of a file.
pub fn rename(root: &mut Node) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (table, old, new) in RENAMED {
        let Value::Table(tables) = &mut root.value else {
            continue;
        };
        let Some(entry) = tables.iter_mut().find(|entry| entry.key == table) else {
            continue;
        };
        let Value::Table(keys) = &mut entry.node.value else {
            continue;
        };
        // If both are written, the old one is an unknown key.
        if keys.iter().any(|entry| entry.key == new) {
            continue;
        }
        if let Some(entry) = keys.iter_mut().find(|entry| entry.key == old) {
            entry.key = new.into();
            problems.push(renamed(entry.key_place, table, old, new));
        }
    }
    problems
}

/// Renames the keys of overrides.
pub fn rename_overrides(overrides: &mut [Override]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (i, change) in overrides.iter_mut().enumerate() {
        for (table, old, new) in RENAMED {
            if change.path == format!("{table}.{old}") {
                change.path = format!("{table}.{new}");
                problems.push(renamed(Place::Override(i), table, old, new));
            }
        }
    }
    problems
}

fn renamed(place: Place, table: &str, old: &str, new: &str) -> Problem {
    let message = format!("`{old}` is now called `{new}`");
    Problem::warning(place, format!("{table}.{new}"), message).with_help(format!("write {new}"))
}
