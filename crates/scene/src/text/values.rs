//! Values of a complete tree. Values of a wrong type have been reported: they read as NaN, zero or empty.

use super::tree::{Node, Value};
use crate::Color;
use meniscus_shapes::{Generator, Rotation};
use std::array::from_fn;

/// A number.
pub fn number(table: &Node, key: &str) -> f64 {
    table.get(key).and_then(Node::number).unwrap_or(f64::NAN)
}

/// A number, if there is one.
pub fn written_number(table: &Node, key: &str) -> Option<f64> {
    table.get(key).and_then(Node::number)
}

/// A list of words.
pub fn words(table: &Node, key: &str) -> Vec<String> {
    let parts = table.get(key).map_or(&[][..], Node::list);
    let texts = parts.iter().filter_map(Node::text);
    texts.map(str::to_string).collect()
}

/// The three numbers of a list; in 2D one number, as the last of three.
pub fn spin(node: &Node) -> [f64; 3] {
    match node.number() {
        Some(x) => [0.0, 0.0, x],
        None => components(node),
    }
}

/// A whole number.
pub fn whole(table: &Node, key: &str) -> u64 {
    written_whole(table, key).unwrap_or(0)
}

/// A whole number, if there is one.
pub fn written_whole(table: &Node, key: &str) -> Option<u64> {
    match table.get(key)?.value {
        Value::Whole(n) => u64::try_from(n).ok(),
        _ => None,
    }
}

/// A switch.
pub fn switch(table: &Node, key: &str) -> bool {
    matches!(
        table.get(key).map(|node| &node.value),
        Some(Value::Switch(true))
    )
}

/// Text; empty if there is none.
pub fn text<'a>(table: &'a Node, key: &str) -> &'a str {
    table.get(key).and_then(Node::text).unwrap_or("")
}

/// A vector.
pub fn vector<const D: usize>(table: &Node, key: &str) -> [f64; D] {
    table.get(key).map_or([f64::NAN; D], components)
}

/// The numbers of a list.
pub fn components<const D: usize>(node: &Node) -> [f64; D] {
    let parts = node.list();
    from_fn(|axis| parts.get(axis).and_then(Node::number).unwrap_or(f64::NAN))
}

/// A colour.
///
/// # Errors
/// Why it is not a colour, in words that follow its key.
pub fn color(node: &Node) -> Result<Color, String> {
    match &node.value {
        Value::Text(text) => text.parse(),
        Value::List(parts) if parts.len() == 3 => {
            let parts: [Option<f64>; 3] = from_fn(|i| parts[i].number());
            match parts {
                [Some(r), Some(g), Some(b)] => Color::from_parts([r, g, b]),
                _ => Err("must be three numbers".into()),
            }
        }
        _ => Err(format!("must be a colour, this is {}", node.what())),
    }
}

/// The rotation that a table describes.
///
/// # Errors
/// If the axis is missing in 3D, or has no length.
pub fn rotation<const D: usize>(table: &Node) -> Result<Rotation<D>, &'static str> {
    let angle = number(table, "degrees").to_radians();
    let mut generator: Generator<D> = [[0.0; D]; D];
    if D == 2 {
        if table.get("axis").is_some() {
            return Err("a rotation in 2D has no axis");
        }
        generator[0][1] = -angle;
        generator[1][0] = angle;
        return Ok(Rotation::exp(&generator));
    }
    let axis: [f64; D] = match table.get("axis") {
        Some(axis) => components(axis),
        None => return Err("`axis` is missing"),
    };
    let length = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
    if length == 0.0 || !length.is_finite() {
        return Err("the axis has no direction");
    }
    for i in 0..D {
        let (j, k) = ((i + 1) % D, (i + 2) % D);
        generator[k][j] = axis[i] / length * angle;
        generator[j][k] = -generator[k][j];
    }
    Ok(Rotation::exp(&generator))
}
