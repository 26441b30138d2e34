//! `ARCHITECTURE.md` states what always holds, and each statement names the test that shows it.

use std::collections::BTreeSet;

use super::Finding;
use super::markdown::{code_spans, heading, prose_lines};
use super::words::identifiers;
use crate::tree::Tree;

const DOCUMENT: &str = "ARCHITECTURE.md";

/// Rules of the repository that are shown by a check instead of a test.
const CHECKS_FOLDER: &str = "xtask/src/repository/";

/// A name with at least this many underscores is meant as the name of a test.
const TEST_NAME_UNDERSCORES: usize = 3;

/// Every item of the invariants' list names a test, or a check of ours, that exists.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(DOCUMENT) else {
        return Vec::new();
    };
    let items = invariants(text);
    if items.is_empty() {
        let message = "has no list under a heading with the word `Invariants`";
        return vec![Finding::about(DOCUMENT, message)];
    }
    let tests = test_names(tree);
    let mut findings = Vec::new();
    for (line, item) in items {
        let mut shown = false;
        for span in code_spans(&item) {
            let name = span.rsplit("::").next().unwrap_or(span);
            let known = tests.contains(name);
            shown |= known || (span.starts_with(CHECKS_FOLDER) && tree.contains(span));
            if !known && reads_as_test_name(name) {
                findings.push(Finding::at(
                    DOCUMENT,
                    line,
                    format!("no test is called `{name}`"),
                ));
            }
        }
        if !shown {
            let message = "this invariant names no test (in backticks) that shows it";
            findings.push(Finding::at(DOCUMENT, line, message));
        }
    }
    findings
}

/// The items of the lists below a heading that speaks of invariants, each as one line.
fn invariants(text: &str) -> Vec<(usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut section_level = None;
    let mut in_item = false;
    for (number, line) in prose_lines(text) {
        if let Some((level, words)) = heading(line) {
            in_item = false;
            if words.to_lowercase().contains("invariant") {
                section_level = Some(level);
            } else if section_level.is_some_and(|section| level <= section) {
                section_level = None;
            }
        } else if section_level.is_none() || line.trim().is_empty() {
            in_item = false;
        } else if line.trim_start().starts_with(['-', '*']) {
            items.push((number, line.to_owned()));
            in_item = true;
        } else if let (true, Some((_, item))) = (in_item, items.last_mut()) {
            item.push(' ');
            item.push_str(line.trim());
        }
    }
    items
}

fn reads_as_test_name(name: &str) -> bool {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.chars().all(letters) && name.matches('_').count() >= TEST_NAME_UNDERSCORES
}

/// Names of all functions that carry `#[test]`.
fn test_names(tree: &Tree) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (_, text) in tree.texts().filter(|(path, _)| path.ends_with(".rs")) {
        let mut marked = false;
        for line in text.lines().map(str::trim) {
            marked |= line.starts_with("#[test]");
            let mut words = identifiers(line).skip_while(|word| *word != "fn");
            if marked
                && !line.starts_with("//")
                && let (Some(_), Some(name)) = (words.next(), words.next())
            {
                names.insert(name);
                marked = false;
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    const TESTS: &str = "#[test]\n#[ignore = \"long: a minute\"]\nfn still_water_stays_still() {}\n\
                         #[test]\nfn it_works() {}\nfn no_test_at_all() {}\n";

    fn found(document: &str) -> Vec<String> {
        let files = [
            (DOCUMENT, document),
            ("crates/liquid/tests/rest.rs", TESTS),
            ("xtask/src/repository/crate_graph.rs", ""),
        ];
        findings_of(check, &files)
    }

    #[test]
    fn invariants_that_name_their_test_pass() {
        let document = "# House\n- not here\n## Invariants\nSome words.\n\n\
                        - Water at rest stays so:\n  `still_water_stays_still`.\n\
                        - It works (`crates/liquid/tests/rest.rs::it_works`).\n\
                        - Rooms: `xtask/src/repository/crate_graph.rs`.\n## Next\n- nor here\n";
        assert!(found(document).is_empty(), "{:?}", found(document));
    }

    #[test]
    fn an_invariant_without_a_test_fails() {
        assert_eq!(found("## Invariants\n- Water is wet.\n").len(), 1);
        assert_eq!(found("## Invariants\n- Water is `wet`.\n").len(), 1);
        // A function that is no test shows nothing.
        assert_eq!(found("## Invariants\n- See `no_test_at_all`.\n").len(), 2);
    }

    #[test]
    fn a_test_that_is_gone_fails_beside_one_that_is_there() {
        let document =
            "## Invariants\n- Rest: `still_water_stays_still`, `still_oil_stays_still`.\n";
        let lines = found(document);
        assert_eq!(
            lines,
            ["ARCHITECTURE.md:2: no test is called `still_oil_stays_still`"]
        );
    }

    #[test]
    fn a_document_without_invariants_fails() {
        assert_eq!(found("# House\n- a list\n").len(), 1);
    }
}
