//! The grammar as a page for people: `docs/scene.md`.

use super::grammar::{Absent, Key, Kind, Table};
use super::keys::SCENE;
use std::fmt::Write;

const OPENING: &str = "\
# Scene files

A scene is a TOML file. This page lists every key, what it takes, what it means when it is not written, and an
example; it is made by `meniscus schema --markdown` from the tables that the program itself reads by.

`meniscus init faucet` writes a scene with comments to start from, `meniscus check FILE` says what is wrong with one,
and `meniscus schema` prints a JSON schema with which editors complete keys and check values (for editors that know
Taplo, put `#:schema scene.schema.json` into the first line of the file).

```toml
[domain]
size = [1, 1, 1]        # three numbers: a scene in space
resolution = 64

[[liquid]]
shape = { sphere = { center = [0.5, 0.5, 0.7], radius = 0.2 } }
velocity = [0, 0, -2]

[[solid]]
name = \"plate\"
shape = { cylinder = { from = [0.5, 0.5, 0.2], to = [0.5, 0.5, 0.25], radius = 0.3 } }
```

Any key can be changed for one run: `--set solid[1].shape.cylinder.radius=0.4`. Tables may be written in any order, and
inline tables `{ ... }` may go over several lines.
";

/// The page.
pub fn markdown() -> String {
    let mut page = String::from(OPENING);
    let mut told: Vec<*const Table> = Vec::new();
    section(&mut page, &SCENE, "The file", &mut told);
    page
}

fn section(page: &mut String, table: &'static Table, heading: &str, told: &mut Vec<*const Table>) {
    told.push(table);
    let _ = write!(page, "\n## {heading}\n\n{}\n\n", table.about);
    for key in table.keys {
        item(page, key);
    }
    for key in table.keys {
        let (inner, heading) = match key.kind {
            Kind::Table(inner) if is_top(table) => (inner, format!("`[{}]`", key.name)),
            Kind::Tables(inner, _) if is_top(table) => (inner, format!("`[[{}]]`", key.name)),
            Kind::Table(inner) | Kind::Tables(inner, _) => {
                (inner, format!("`{}`: {}", names(table, inner), inner.title))
            }
            _ => continue,
        };
        if !told.contains(&std::ptr::from_ref(inner)) {
            section(page, inner, &heading, told);
        }
    }
}

fn is_top(table: &Table) -> bool {
    std::ptr::eq(table, &SCENE)
}

/// All keys of a table that take the same inner one.
fn names(table: &Table, wanted: &Table) -> String {
    let same = |key: &&Key| match key.kind {
        Kind::Table(inner) | Kind::Tables(inner, _) => std::ptr::eq(inner, wanted),
        _ => false,
    };
    let names: Vec<&str> = table.keys.iter().filter(same).map(|key| key.name).collect();
    names.join("`, `")
}

fn item(page: &mut String, key: &Key) {
    let [two, three] = [2, 3].map(|dimension| key.default_text(dimension).unwrap_or_default());
    let absent = match (key.binding.absent, two.as_str()) {
        (Absent::Refused, _) => "; required".to_string(),
        (_, "" | "{ }" | "\"\"") => String::new(),
        _ if two == three => format!("; default `{two}`"),
        _ => format!("; default `{two}` in 2D and `{three}` in 3D"),
    };
    let written = match (key.example, key.kind) {
        ("", Kind::Tables(..)) => format!("[[{}]]", key.name),
        ("", _) => format!("[{}]", key.name),
        (example, _) => format!("{} = {example}", key.name),
    };
    let _ = writeln!(
        page,
        "- `{written}`: {}{absent}. {}",
        key.kind.words(),
        key.about
    );
}
