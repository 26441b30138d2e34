//! Licences and sources of the crates that the program is built from, against `deny.toml`.
//!
//! Cargo itself reports both. `cargo deny` reads the same file and checks more, but takes minutes to build.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::steps::{StepResult, cargo};

const FILE: &str = "deny.toml";

/// Checks that every crate comes from an allowed registry under an allowed licence. Crates that only tests use are not
/// distributed: their licence does not matter.
pub fn check(root: &Path) -> StepResult {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|e| format!("{name}: {e}"));
    let (rules, lock) = (read(FILE)?, read("Cargo.lock")?);
    let tree = cargo(root)
        .args([
            "tree",
            "--quiet",
            "--workspace",
            "--all-features",
            "--target",
            "all",
        ])
        .args([
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}|{l}",
        ])
        .output()
        .map_err(|error| format!("cargo tree could not be started: {error}"))?;
    if !tree.status.success() {
        let message = String::from_utf8_lossy(&tree.stderr);
        return Err(format!("cargo tree failed: {}", message.trim()));
    }
    let mut problems = licence_problems(
        &String::from_utf8_lossy(&tree.stdout),
        &list(&rules, "allow"),
    );
    problems.extend(source_problems(&lock, &list(&rules, "allow-registry")));
    for problem in &problems {
        println!("          {problem}");
    }
    match problems.len() {
        0 => Ok(()),
        n => Err(format!("{n} crates that {FILE} does not allow")),
    }
}

/// The strings of a list of `deny.toml`.
fn list<'a>(rules: &'a str, key: &str) -> Vec<&'a str> {
    let start = format!("\n{key} = [");
    let (_, rest) = rules.split_once(&start).unwrap_or_default();
    let (inside, _) = rest.split_once(']').unwrap_or_default();
    inside.split('"').skip(1).step_by(2).collect()
}

/// Crates of `cargo tree` whose licence is not allowed.
fn licence_problems(tree: &str, allowed: &[&str]) -> BTreeSet<String> {
    let crates = tree.lines().filter_map(|line| line.split_once('|'));
    crates
        .filter_map(|(name, licence)| {
            let licence = licence.trim_end_matches("(*)").trim();
            (!permits(licence, allowed)).then(|| format!("{name}: licence `{licence}`"))
        })
        .collect()
}

/// Entries of `Cargo.lock` that come from elsewhere than the allowed registries.
fn source_problems(lock: &str, registries: &[&str]) -> BTreeSet<String> {
    let sources = lock
        .lines()
        .filter_map(|line| line.strip_prefix("source = "));
    let known = |source: &str| {
        let registry = source.trim_matches('"').strip_prefix("registry+");
        registry.is_some_and(|registry| registries.contains(&registry))
    };
    sources
        .filter(|source| !known(source))
        .map(|source| format!("Cargo.lock: source {source}"))
        .collect()
}

/// Whether an SPDX expression is satisfied by the allowed licences. An older spelling has `/` for `OR`.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    either(&mut rest, allowed) == Some(true) && rest.is_empty()
}

/// Alternatives; `None` where the expression is malformed.
fn either(words: &mut &[&str], allowed: &[&str]) -> Option<bool> {
    let mut permitted = both(words, allowed)?;
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        permitted |= both(words, allowed)?;
    }
    Some(permitted)
}

/// Licences that hold together.
fn both(words: &mut &[&str], allowed: &[&str]) -> Option<bool> {
    let mut permitted = single(words, allowed)?;
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        permitted &= single(words, allowed)?;
    }
    Some(permitted)
}

/// One licence, perhaps with an exception, or an expression in parentheses.
fn single(words: &mut &[&str], allowed: &[&str]) -> Option<bool> {
    let (permitted, rest) = match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let permitted = either(words, allowed)?;
            (permitted, words.strip_prefix(&[")"])?)
        }
        [name, "WITH", exception, rest @ ..] => (
            allowed.contains(&format!("{name} WITH {exception}").as_str()),
            rest,
        ),
        [name, rest @ ..] => (allowed.contains(name), rest),
        [] => return None,
    };
    *words = rest;
    Some(permitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: &[&str] = &["MIT", "Apache-2.0", "Unicode-3.0"];

    #[test]
    fn expressions_hold_if_one_alternative_is_allowed_completely() {
        for expression in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(permits(expression, ALLOWED), "{expression}");
        }
        for expression in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "(MIT OR Apache-2.0) AND GPL-3.0",
            "(MIT",
            "MIT MIT",
            "MIT OR",
        ] {
            assert!(!permits(expression, ALLOWED), "{expression}");
        }
    }

    #[test]
    fn crates_with_other_licences_or_sources_are_named() {
        let tree = "a v1.0.0|MIT (*)\n\nb v2.0.0|GPL-3.0\nb v2.0.0|GPL-3.0 (*)\nc v1.0.0|\n";
        let found: Vec<String> = licence_problems(tree, ALLOWED).into_iter().collect();
        assert_eq!(
            found,
            ["b v2.0.0: licence `GPL-3.0`", "c v1.0.0: licence ``"]
        );
        let lock = "source = \"registry+https://here\"\nsource = \"git+https://there\"\n";
        let found: Vec<String> = source_problems(lock, &["https://here"])
            .into_iter()
            .collect();
        assert_eq!(found, ["Cargo.lock: source \"git+https://there\""]);
    }

    #[test]
    fn lists_are_read_from_the_rules() {
        let rules = "[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\",\n]\nallow-git = []\n";
        assert_eq!(list(rules, "allow"), ["MIT", "Zlib"]);
        assert!(list(rules, "allow-git").is_empty() && list(rules, "deny").is_empty());
    }
}
