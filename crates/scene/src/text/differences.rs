//! Keys in which two scenes differ.

use super::tree::{Node, Value, parse};
use super::write::on_one_line;
use serde::Serialize;

/// A key in which two scenes differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyDifference {
    /// Its path, as in `solid[1].shape.sphere.radius`.
    pub key: String,
    /// Its value in the first scene, if it has it.
    pub first: Option<String>,
    /// Its value in the second.
    pub second: Option<String>,
}

/// The keys in which two scenes differ, in the order of the first; those that only the second has come last.
pub fn differences(first: &str, second: &str) -> Vec<KeyDifference> {
    let (first, second) = (leaves(first), leaves(second));
    let value_in = |leaves: &[(String, String)], key: &str| {
        let found = leaves.iter().find(|(other, _)| other == key);
        found.map(|(_, value)| value.clone())
    };
    let only_second = second
        .iter()
        .filter(|(key, _)| value_in(&first, key).is_none());
    first
        .iter()
        .chain(only_second)
        .map(|(key, _)| KeyDifference {
            key: key.clone(),
            first: value_in(&first, key),
            second: value_in(&second, key),
        })
        .filter(|difference| difference.first != difference.second)
        .collect()
}

/// Every key that has a value, by its path. A text that is not TOML is one value without a key, so that two of them are the
/// same only if they are the same text.
pub(crate) fn leaves(text: &str) -> Vec<(String, String)> {
    let (root, problems) = parse(text);
    if !problems.is_empty() {
        return vec![(String::new(), text.into())];
    }
    let mut found = Vec::new();
    collect(&root, "", &mut found);
    found
}

fn collect(node: &Node, path: &str, found: &mut Vec<(String, String)>) {
    match &node.value {
        Value::Table(entries) => {
            for entry in entries {
                let inner = match path {
                    "" => entry.key.clone(),
                    path => format!("{path}.{}", entry.key),
                };
                collect(&entry.node, &inner, found);
            }
        }
        Value::List(parts) if parts.iter().any(|p| matches!(p.value, Value::Table(_))) => {
            for (i, part) in parts.iter().enumerate() {
                collect(part, &format!("{path}[{}]", i + 1), found);
            }
        }
        _ => found.push((path.into(), on_one_line(&node.value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_listed_by_key() {
        let first = "a = 1\nb = [1, 2]\n[walls]\nkind = \"slip\"\n[[solid]]\nname = \"x\"\n";
        let second = "a = 1\nb = [1, 3]\n[walls]\nkind = \"separating\"\nseparation_speed = 0.5\n\
                      [[solid]]\nname = \"x\"\n[[solid]]\nname = \"y\"\n";
        let found: Vec<String> = differences(first, second)
            .iter()
            .map(|d| {
                let or_none = |value: &Option<String>| value.clone().unwrap_or("none".into());
                format!("{} {} {}", d.key, or_none(&d.first), or_none(&d.second))
            })
            .collect();
        assert_eq!(
            found,
            [
                "b [1, 2] [1, 3]",
                "walls.kind \"slip\" \"separating\"",
                "walls.separation_speed none 0.5",
                "solid[2].name none \"y\"",
            ]
        );
        assert!(differences(first, first).is_empty());
        assert!(differences("no TOML", "no TOML").is_empty());
        assert_eq!(differences("no TOML", "none either").len(), 1);
    }
}
