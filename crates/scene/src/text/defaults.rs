//! Completion of a tree with the defaults of the grammar, in its order.

use super::grammar::{Kind, Table};
use super::problem::Place;
use super::tree::{Entry, Node, Value};

/// A valid table with its defaults.
pub fn filled(node: &Node, table: &Table, dimension: usize) -> Node {
    let mut entries = Vec::new();
    for key in table.keys {
        let written = node.get(key.name).cloned();
        let default = || Some(Node::unwritten(key.default_value(dimension)?));
        let Some(found) = written.or_else(default) else {
            continue;
        };
        let whole = match key.kind {
            Kind::Table(inner) => filled(&found, inner, dimension),
            Kind::Tables(inner, _) => Node {
                value: Value::List(
                    found
                        .list()
                        .iter()
                        .map(|part| filled(part, inner, dimension))
                        .collect(),
                ),
                place: found.place,
            },
            // So that 1 and 1.0 are written the same.
            Kind::Number(..) => as_number(found),
            Kind::Color if found.list().is_empty() => found,
            Kind::Spin(_) if found.list().is_empty() => as_number(found),
            Kind::Vector(_) | Kind::Spin(_) | Kind::Pair(_) | Kind::Lengths | Kind::Color => Node {
                value: Value::List(found.list().iter().cloned().map(as_number).collect()),
                place: found.place,
            },
            _ => found,
        };
        entries.push(Entry {
            key: key.name.into(),
            key_place: Place::Nowhere,
            node: whole,
        });
    }
    Node {
        value: Value::Table(entries),
        place: node.place,
    }
}

fn as_number(node: Node) -> Node {
    match node.number() {
        Some(x) => Node {
            value: Value::Number(x),
            place: node.place,
        },
        None => node,
    }
}
