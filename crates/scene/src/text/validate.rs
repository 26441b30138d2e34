//! Validation against the grammar: every key known, every value of its type and in its range.

use super::bodies::BODY;
use super::grammar::{Absent, Key, Kind, Table, quoted};
use super::objects::SOLID;
use super::problem::{Place, Problem};
use super::tree::{Entry, Node, Value};
use super::values::color;
use crate::suggest::similar;

/// Deepest nesting of shapes.
const DEEPEST: usize = 32;
/// Most tables in a list.
pub const MOST_TABLES: usize = 10_000;

/// Compares a tree with the grammar and collects errors.
pub struct Validator {
    /// 2 or 3.
    pub dimension: usize,
    /// Errors found.
    pub problems: Vec<Problem>,
}

impl Validator {
    /// Checks a table and everything in it. `place` is that of its name, for keys that are missing.
    pub fn table(&mut self, node: &Node, place: Place, table: &Table, path: &str, depth: usize) {
        let Value::Table(entries) = &node.value else {
            let expected = format!("must be a table, this is {}", node.what());
            self.report(node.place, path, expected, table_help(table));
            return;
        };
        if depth > DEEPEST {
            let message = format!("shapes are nested more than {DEEPEST} deep");
            self.problems.push(Problem::error(place, path, message));
            return;
        }
        let mut meant = Vec::new();
        for entry in entries {
            match table.keys.iter().find(|key| key.name == entry.key) {
                Some(key) => self.value(&entry.node, entry.key_place, key, path, depth),
                None => meant.extend(self.unknown(entry, table, path)),
            }
        }
        for key in table.keys {
            // A misspelt key is not missing.
            let written = node.get(key.name).is_some() || meant.contains(&key.name);
            if matches!(key.binding.absent, Absent::Refused) && !written {
                let message = format!("`{}` is missing", key.name);
                let help = match key.example {
                    "" => format!("write [{}]", join(path, key.name)),
                    example => format!("write {} = {example}", key.name),
                };
                self.report(place, path, message, help);
            }
        }
        self.one_of(node, place, table, path);
    }

    fn report(
        &mut self,
        place: Place,
        path: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems
            .push(Problem::error(place, path, message).with_help(help));
    }

    fn one_of(&mut self, node: &Node, place: Place, table: &Table, path: &str) {
        if table.one_of.is_empty() {
            return;
        }
        let chosen: Vec<&Entry> = node
            .entries()
            .iter()
            .filter(|entry| table.one_of.contains(&entry.key.as_str()))
            .collect();
        match chosen[..] {
            [_] => {}
            [] => {
                // A misspelt key has been reported.
                let known = |e: &Entry| table.keys.iter().any(|key| key.name == e.key);
                if node.entries().iter().all(known) {
                    let message = match table.one_of {
                        [one, other] => format!("there is neither `{one}` nor `{other}`"),
                        _ => format!("{} has none of its kinds", table.title),
                    };
                    let help = format!("write one of {}", table.one_of.join(", "));
                    self.report(place, path, message, help);
                }
            }
            [first, second, ..] => {
                let message = format!("both `{}` and `{}` are there", first.key, second.key);
                let help = if table.one_of.contains(&"union") {
                    "keep one, or write union = [{ ... }, { ... }]"
                } else {
                    "keep one of the two"
                };
                self.report(second.key_place, path, message, help);
            }
        }
    }

    /// Reports an unknown key and returns the most similar one.
    fn unknown(&mut self, entry: &Entry, table: &Table, path: &str) -> Option<&'static str> {
        let names: Vec<&'static str> = table.keys.iter().map(|key| key.name).collect();
        let shown: String = entry.key.chars().take(60).collect();
        let message = format!("there is no key `{shown}` here");
        let guess = synonym(&entry.key, &names).or_else(|| similar(&entry.key, &names));
        if let Some(help) = foreign_key(&entry.key, table, guess) {
            self.report(entry.key_place, path, message, help);
            return None;
        }
        let help = match guess {
            Some(guess) => format!("did you mean `{guess}`?"),
            None => format!("the keys of {} are {}", table.title, names.join(", ")),
        };
        self.report(entry.key_place, path, message, help);
        guess
    }

    fn value(&mut self, node: &Node, key_place: Place, key: &Key, path: &str, depth: usize) {
        let path = &join(path, key.name);
        match key.kind {
            Kind::Table(table) => self.table(node, key_place, table, path, depth + 1),
            Kind::Tables(table, least) => self.tables(node, key_place, table, least, path, depth),
            _ => {
                if let Err((place, message)) = self.plain(node, key) {
                    let help = format!("write {}, as in {} = {}", key.kind.words(), key.name, {
                        self.example(key)
                    });
                    self.report(place, path, message, help);
                }
            }
        }
    }

    /// An example in the dimension of the scene.
    fn example(&self, key: &Key) -> String {
        if !matches!(key.kind, Kind::Vector(_) | Kind::Spin(_)) || self.dimension == 3 {
            return key.example.into();
        }
        let numbers: Vec<&str> = key.example.trim_matches(['[', ']']).split(", ").collect();
        let last = numbers.last().copied().unwrap_or("0");
        if matches!(key.kind, Kind::Spin(_)) {
            return last.into();
        }
        format!("[{}, {last}]", numbers.first().copied().unwrap_or("0"))
    }

    fn tables(
        &mut self,
        node: &Node,
        key_place: Place,
        table: &Table,
        least: usize,
        path: &str,
        depth: usize,
    ) {
        let Value::List(parts) = &node.value else {
            let message = format!("must be a list of tables, this is {}", node.what());
            let name = path.rsplit('.').next().unwrap_or(path);
            let help = if depth == 0 {
                format!("write [[{name}]] above its keys")
            } else {
                format!("write {name} = [{{ ... }}, {{ ... }}]")
            };
            self.report(node.place, path, message, help);
            return;
        };
        if parts.len() > MOST_TABLES {
            let message = format!(
                "there are {} of them, at most {MOST_TABLES} are allowed",
                parts.len()
            );
            self.report(key_place, path, message, "use a mesh instead");
            return;
        }
        if parts.len() < least {
            let message = format!("needs at least {least} of {}", table.title);
            self.problems
                .push(Problem::error(node.place, path, message));
        }
        for (i, part) in parts.iter().enumerate() {
            let place = match part.place {
                Place::Nowhere => key_place,
                place => place,
            };
            self.table(part, place, table, &format!("{path}[{}]", i + 1), depth + 1);
        }
    }

    /// Checks type and range of a value; the error has a place and a message.
    fn plain(&self, node: &Node, key: &Key) -> Result<(), (Place, String)> {
        let refuse = |message: String| Err((node.place, message));
        let expected = |what: &str| refuse(format!("must be {what}, this is {}", node.what()));
        match key.kind {
            Kind::Text | Kind::File => match &node.value {
                Value::Text(_) => Ok(()),
                _ => expected("text"),
            },
            Kind::Switch => match node.value {
                Value::Switch(_) => Ok(()),
                _ => expected("true or false"),
            },
            Kind::Number(range, _) => match node.number() {
                Some(x) if range.contains(x) => Ok(()),
                Some(x) if !x.is_finite() && !range.infinite => {
                    refuse(format!("is {x}, it must be finite"))
                }
                Some(x) => refuse(format!("is {x}, it must be {}", range.words())),
                None => expected("a number"),
            },
            Kind::Whole(low, high) => match node.value {
                Value::Whole(n) if u64::try_from(n).is_ok_and(|n| (low..=high).contains(&n)) => {
                    Ok(())
                }
                Value::Whole(n) => refuse(format!("is {n}, it must be from {low} to {high}")),
                Value::Number(x) => refuse(format!(
                    "is {x}, it must be a whole number from {low} to {high}"
                )),
                _ => expected("a whole number"),
            },
            Kind::Word(words) => match node.text() {
                Some(word) => known_word(word, words).map_err(|message| (node.place, message)),
                None => expected("a word in quotes"),
            },
            Kind::Words(words) => {
                let Value::List(parts) = &node.value else {
                    return expected("a list of words");
                };
                for part in parts {
                    let Some(word) = part.text() else {
                        return Err((
                            part.place,
                            format!("must be a word, this is {}", part.what()),
                        ));
                    };
                    known_word(word, words).map_err(|message| (part.place, message))?;
                }
                Ok(())
            }
            Kind::Vector(_) => {
                let Value::List(parts) = &node.value else {
                    return expected("a list of numbers");
                };
                if parts.len() != self.dimension {
                    return refuse(format!(
                        "has {}, but the domain has {} sides",
                        counted(parts.len(), "number"),
                        self.dimension
                    ));
                }
                numbers(parts, |x| x.is_finite(), "finite")
            }
            Kind::Spin(_) if self.dimension == 2 => match node.number() {
                Some(x) if x.is_finite() => Ok(()),
                Some(x) => refuse(format!("is {x}, it must be finite")),
                None => expected("a number in 2D"),
            },
            Kind::Spin(_) => self.counted_numbers(node, 3),
            Kind::Pair(_) => self.counted_numbers(node, 2),
            Kind::Names(least, most) => {
                let Value::List(parts) = &node.value else {
                    return expected("a list of names");
                };
                if !(least..=most).contains(&parts.len()) {
                    let wanted = if least == most { "two" } else { "one or two" };
                    let found = counted(parts.len(), "name");
                    return refuse(format!("has {found}, it must have {wanted}"));
                }
                match parts.iter().find(|part| part.text().is_none()) {
                    Some(part) => Err((
                        part.place,
                        format!("must be a name, this is {}", part.what()),
                    )),
                    None => Ok(()),
                }
            }
            Kind::Lengths => {
                let Value::List(parts) = &node.value else {
                    return expected("a list of two or three numbers");
                };
                if !(2..=3).contains(&parts.len()) {
                    return refuse(format!(
                        "has {}, it must have two or three",
                        counted(parts.len(), "number")
                    ));
                }
                numbers(parts, |x| x > 0.0 && x <= 1e9, "above 0 and at most 1e9")
            }
            Kind::Color => color(node).map(|_| ()).or_else(refuse),
            Kind::Table(_) | Kind::Tables(..) => Ok(()),
        }
    }

    /// Checks a list of so many finite numbers.
    fn counted_numbers(&self, node: &Node, wanted: usize) -> Result<(), (Place, String)> {
        let Value::List(parts) = &node.value else {
            let message = format!(
                "must be a list of {wanted} numbers, this is {}",
                node.what()
            );
            return Err((node.place, message));
        };
        if parts.len() != wanted {
            let found = counted(parts.len(), "number");
            return Err((node.place, format!("has {found}, it must have {wanted}")));
        }
        numbers(parts, |x| x.is_finite(), "finite")
    }
}

/// Words of other programs for keys.
const SYNONYMS: [(&str, &str); 16] = [
    ("mu", "friction"),
    ("dynamicfriction", "friction"),
    ("staticfriction", "friction"),
    ("bounce", "restitution"),
    ("bounciness", "restitution"),
    ("elasticity", "restitution"),
    ("rho", "density"),
    ("weight", "mass"),
    ("diagonalinertia", "inertia"),
    ("fps", "rate"),
    ("location", "position"),
    ("spin", "angular_velocity"),
    ("anchor", "point"),
    ("collisionenabled", "collide"),
    ("walls", "wall_kind"),
    ("suction", "adhesion"),
];

/// Key of a table that another program calls by this word.
fn synonym(word: &str, names: &[&'static str]) -> Option<&'static str> {
    let plain = word.to_lowercase().replace('_', "");
    let (_, key) = SYNONYMS.iter().find(|(other, _)| *other == plain)?;
    names.iter().copied().find(|name| name == key)
}

/// Explanation for a key that no key of the table stands for, but another part of the scene does.
fn foreign_key(word: &str, table: &Table, guess: Option<&str>) -> Option<String> {
    let plain = word.to_lowercase().replace('_', "");
    let is = |other: &Table| std::ptr::eq(table, other);
    match plain.as_str() {
        "kinematic" | "kinematicenabled" | "isdynamic" | "dynamic" if is(&BODY) || is(&SOLID) => {
            let help = "forces move a [[body]]; a [[solid]] is fixed or moves by keyframes";
            Some(help.into())
        }
        "units" | "unit" if guess.is_none() => {
            Some("all numbers are in SI units: metres, seconds, kilograms".into())
        }
        _ if is(&SOLID) && BODY.keys.iter().any(|key| key.name == word) => Some(format!(
            "only a [[body]] has `{word}`: forces move it; a [[solid]] is fixed or moves by keyframes"
        )),
        _ => None,
    }
}

fn numbers(parts: &[Node], holds: impl Fn(f64) -> bool, must: &str) -> Result<(), (Place, String)> {
    for part in parts {
        match part.number() {
            Some(x) if holds(x) => {}
            Some(x) => return Err((part.place, format!("has {x}, it must be {must}"))),
            None => {
                return Err((
                    part.place,
                    format!("must be numbers, this is {}", part.what()),
                ));
            }
        }
    }
    Ok(())
}

fn known_word(word: &str, words: &[&str]) -> Result<(), String> {
    if words.contains(&word) {
        return Ok(());
    }
    let shown: String = word.chars().take(60).collect();
    Err(match similar(word, words) {
        Some(guess) => format!("there is no \"{shown}\"; did you mean \"{guess}\"?"),
        None => format!("is \"{shown}\", it must be {}", quoted(words)),
    })
}

fn counted(n: usize, thing: &str) -> String {
    match n {
        1 => format!("1 {thing}"),
        _ => format!("{n} {thing}s"),
    }
}

fn table_help(table: &Table) -> String {
    let names: Vec<&str> = table.keys.iter().map(|key| key.name).take(6).collect();
    format!("write {{ ... }} with keys such as {}", names.join(", "))
}

/// The path of a key in a table.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.into()
    } else {
        format!("{path}.{key}")
    }
}
