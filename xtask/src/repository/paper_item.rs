//! How an item of a paper is written: `ANE17 (31)`, `Lai20 alg. 1`, `ANE17 (35)-(45), fig. 2`.
//!
//! The same spelling serves in a tag in the source, between brackets, and in the first cell of a
//! row of `docs/papers.md`.

use std::fmt;

/// The papers, by the keys that stand for them.
pub const KEYS: &[&str] = &["Erl13", "ANE17", "Lai20", "TB20", "WKB16"];

/// Kind of a numbered item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Written as the number in parentheses.
    Equation,
    /// `alg.`
    Algorithm,
    /// `fig.`
    Figure,
    /// `table`
    Table,
    /// `listing`
    Listing,
    /// `sec.`, for what a paper describes but does not number.
    Section,
    /// `thm.`
    Theorem,
}

/// The words that announce a number, equations apart.
const WORDS: &[(&str, Kind)] = &[
    ("alg.", Kind::Algorithm),
    ("fig.", Kind::Figure),
    ("table", Kind::Table),
    ("listing", Kind::Listing),
    ("sec.", Kind::Section),
    ("thm.", Kind::Theorem),
];

/// A number such as 3.11. Letters behind it (the b of 10b) name a part and are dropped.
pub type Number = Vec<u32>;

/// A numbered item of a paper, or a run of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// One of [`KEYS`].
    pub key: &'static str,
    /// Kind of item.
    pub kind: Kind,
    /// The first number.
    pub first: Number,
    /// The last number, equal to the first for a single item.
    pub last: Number,
}

impl Item {
    /// Whether everything the other item names is named by this one too.
    pub fn covers(&self, other: &Self) -> bool {
        (self.key, self.kind) == (other.key, other.kind)
            && self.first <= other.first
            && other.last <= self.last
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |number: &Number| {
            let parts: Vec<String> = number.iter().map(ToString::to_string).collect();
            parts.join(".")
        };
        let (first, last) = (number(&self.first), number(&self.last));
        write!(f, "{} ", self.key)?;
        let word = WORDS.iter().find(|(_, kind)| *kind == self.kind);
        match (word, first == last) {
            (None, true) => write!(f, "({first})"),
            (None, false) => write!(f, "({first})-({last})"),
            (Some((word, _)), true) => write!(f, "{word} {first}"),
            (Some((word, _)), false) => write!(f, "{word} {first}-{last}"),
        }
    }
}

/// Reads a list of items of one paper. `None` if the text does not start with a paper's key, or is
/// nothing but the key; an error if what follows the key is not spelt as it should be.
pub fn parse(text: &str) -> Option<Result<Vec<Item>, String>> {
    let key = KEYS.iter().find(|key| text.starts_with(**key))?;
    let rest = text[key.len()..].strip_prefix(' ')?;
    Some(
        rest.split(',')
            .map(|item| parse_one(key, item.trim()))
            .collect(),
    )
}

fn parse_one(key: &'static str, text: &str) -> Result<Item, String> {
    let misspelt = || {
        format!(
            "`{key} {text}` is not spelt as an item of a paper, \
             such as `{key} (3)`, `{key} (3)-(5)`, `{key} alg. 1`, `{key} fig. 2`, `{key} table 4`"
        )
    };
    let word = WORDS
        .iter()
        .find_map(|(word, kind)| Some((*kind, text.strip_prefix(word)?.strip_prefix(' ')?)));
    let (kind, numbers) = word.unwrap_or((Kind::Equation, text));
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let number = |text: &str| {
        let bare = match kind {
            Kind::Equation => text.strip_prefix('(')?.strip_suffix(')')?,
            _ => text,
        };
        parse_number(bare)
    };
    let first = number(first).ok_or_else(misspelt)?;
    let last = number(last).ok_or_else(misspelt)?;
    if first.len() != last.len() || first > last {
        return Err(format!("`{key} {text}` does not run upwards"));
    }
    Ok(Item {
        key,
        kind,
        first,
        last,
    })
}

/// Reads a number such as `3.11` or `35a`.
pub fn parse_number(text: &str) -> Option<Number> {
    let bare = text
        .strip_suffix(|c: char| c.is_ascii_lowercase())
        .unwrap_or(text);
    bare.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<Item> {
        parse(text).expect("a key").expect("well spelt")
    }

    #[test]
    fn items_are_written_as_they_are_read() {
        for text in [
            "ANE17 (31)",
            "ANE17 (35)-(45)",
            "Lai20 (3.11)",
            "Lai20 alg. 1",
            "Lai20 fig. 5.1-5.11",
            "TB20 table 3",
            "ANE17 listing 2",
            "Erl13 sec. 5.1.1",
            "ANE17 thm. 3.2",
        ] {
            let items = items(text);
            assert_eq!(items.len(), 1);
            assert_eq!(items[0].to_string(), text);
        }
        assert_eq!(items("Erl13 (10b)"), items("Erl13 (10)"));
        assert_eq!(items("Erl13 (10), fig. 2").len(), 2);
    }

    #[test]
    fn other_spellings_are_refused_and_other_texts_left_alone() {
        for text in [
            "ANE17 31",
            "ANE17 eq. 31",
            "ANE17 Algorithm 2",
            "ANE17 (9)-(3)",
            "TB20 (x)",
        ] {
            assert!(parse(text).expect("a key").is_err(), "{text}");
        }
        for text in ["ANE17", "see ANE17 (3)", "ANE170 (3)", "1, 2"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_run_covers_what_lies_inside_it() {
        let run = &items("Lai20 (3.8)-(3.12)")[0];
        assert!(run.covers(&items("Lai20 (3.11)")[0]));
        assert!(run.covers(&items("Lai20 (3.8)-(3.9)")[0]));
        assert!(!run.covers(&items("Lai20 (3.13)")[0]));
        assert!(!run.covers(&items("Lai20 (4.9)")[0]));
        assert!(!run.covers(&items("Lai20 fig. 3.9")[0]));
        assert!(!run.covers(&items("ANE17 (9)")[0]));
    }
}
