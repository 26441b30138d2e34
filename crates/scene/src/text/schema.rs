//! The grammar as a JSON schema, with which editors complete keys and check values.

use super::grammar::{Absent, Key, Kind, Table};
use super::keys::SCENE;
use super::tree::Value as Toml;
use crate::NAMED_COLORS;
use serde_json::{Map, Value, json};

/// The schema of a scene file, draft 2020-12.
pub fn schema() -> Value {
    let mut tables = Map::new();
    let mut root = object(&SCENE, &mut tables);
    if let Value::Object(fields) = &mut root {
        fields.insert(
            "$schema".into(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        fields.insert("title".into(), json!("Meniscus scene"));
        fields.insert("$defs".into(), Value::Object(tables));
    }
    root
}

fn object(table: &'static Table, tables: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for key in table.keys {
        properties.insert(key.name.into(), property(key, tables));
    }
    let required: Vec<&str> = table
        .keys
        .iter()
        .filter(|key| matches!(key.binding.absent, Absent::Refused))
        .map(|key| key.name)
        .collect();
    let mut object = json!({
        "type": "object",
        "description": table.about,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if !table.one_of.is_empty() {
        let choices: Vec<Value> = table
            .one_of
            .iter()
            .map(|name| json!({ "required": [name] }))
            .collect();
        object["oneOf"] = json!(choices);
    }
    object
}

fn property(key: &'static Key, tables: &mut Map<String, Value>) -> Value {
    let mut property = match key.kind {
        Kind::Text | Kind::File => json!({ "type": "string" }),
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Number(range, _) => {
            let mut number = json!({ "type": "number" });
            if range.low.is_finite() {
                let bound = if range.above {
                    "exclusiveMinimum"
                } else {
                    "minimum"
                };
                number[bound] = json!(range.low);
            }
            if range.high.is_finite() {
                number["maximum"] = json!(range.high);
            }
            number
        }
        Kind::Whole(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Words(words) => json!({ "type": "array", "items": { "enum": words } }),
        Kind::Vector(_) => {
            json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 3 })
        }
        Kind::Spin(_) => {
            let number = json!({ "type": "number" });
            let list = json!({ "type": "array", "items": number, "minItems": 3, "maxItems": 3 });
            json!({ "anyOf": [number, list] })
        }
        Kind::Pair(_) => {
            json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 })
        }
        Kind::Names(least, most) => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": least, "maxItems": most })
        }
        Kind::Lengths => {
            let length = json!({ "type": "number", "exclusiveMinimum": 0 });
            json!({ "type": "array", "items": length, "minItems": 2, "maxItems": 3 })
        }
        Kind::Color => {
            let names: Vec<&str> = NAMED_COLORS.iter().map(|(name, _)| *name).collect();
            let part = json!({ "type": "number", "minimum": 0, "maximum": 1 });
            json!({ "anyOf": [
                { "enum": names },
                { "type": "string", "pattern": "^#[0-9a-fA-F]{6}$" },
                { "type": "array", "items": part, "minItems": 3, "maxItems": 3 },
            ] })
        }
        Kind::Table(table) => reference(table, tables),
        Kind::Tables(table, least) => {
            json!({ "type": "array", "items": reference(table, tables), "minItems": least })
        }
    };
    property["description"] = json!(format!("{} Takes {}.", key.about, key.kind.words()));
    let [two, three] = [2, 3].map(|dimension| key.default_value(dimension));
    if let Some(default) = three.filter(|three| two.as_ref() == Some(three)) {
        property["default"] = plain(&default);
    }
    property
}

/// A reference to a table, which is described once, since shapes contain shapes.
fn reference(table: &'static Table, tables: &mut Map<String, Value>) -> Value {
    let name = table.title.replace(' ', "-");
    if !tables.contains_key(&name) {
        // A placeholder first: a table that refers to itself must find it.
        tables.insert(name.clone(), Value::Null);
        let described = object(table, tables);
        tables.insert(name.clone(), described);
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// A value as JSON.
pub(crate) fn plain(value: &Toml) -> Value {
    match value {
        Toml::Switch(on) => json!(on),
        Toml::Whole(n) => json!(n),
        Toml::Number(x) => json!(x),
        Toml::Text(text) => json!(text),
        Toml::List(parts) => parts.iter().map(|part| plain(&part.value)).collect(),
        Toml::Table(entries) => entries
            .iter()
            .map(|entry| (entry.key.clone(), plain(&entry.node.value)))
            .collect::<Map<_, _>>()
            .into(),
        Toml::Date => Value::Null,
    }
}
