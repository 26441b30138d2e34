//! The page about the choice of a method says what `auto` does.

use crate::gallery::dense;
use meniscus_lcp::BoxMlcp;
use meniscus_lcp::analysis::{Analysis, Definiteness, analyse};
use meniscus_lcp::registry::{self, Method};

const PAGE: &str = include_str!("../../docs/which-method.md");

/// Whether a problem meets a condition, in the words of the page.
fn meets(seen: &Analysis, condition: &str) -> bool {
    let words: Vec<&str> = condition.split(' ').collect();
    match words[..] {
        ["any"] => true,
        ["no", "bounds"] => seen.bounds.is_linear(),
        ["symmetric"] => seen.symmetric,
        ["not", "symmetric"] => !seen.symmetric,
        ["not", "indefinite"] => seen.definiteness != Definiteness::Indefinite,
        ["monotone"] => seen.definiteness.is_semidefinite(),
        ["no", "positive", "couplings"] => seen.no_positive_couplings,
        ["a", "positive", "coupling"] => !seen.no_positive_couplings,
        ["dominant", "diagonal"] => seen.dominant,
        ["a", "full", "matrix"] => 4 * seen.entries >= seen.rows * seen.rows,
        ["at", "most", rows, "rows"] => seen.rows <= number(rows),
        ["more", "than", rows, "rows"] => seen.rows > number(rows),
        _ => panic!("what is {condition:?}?"),
    }
}

fn number(text: &str) -> usize {
    text.replace(',', "").parse().unwrap()
}

/// Rows of the table under the heading about `auto`: method and conditions.
fn table() -> Vec<(String, Vec<String>)> {
    let section = PAGE
        .split("\n# ")
        .find(|part| part.starts_with("Order of `auto`"));
    let rows = section.expect("the page has the section").lines();
    rows.filter(|line| line.starts_with("| ["))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let method = cells[0].split('`').nth(1).unwrap().replace('_', "-");
            let conditions = cells[1].split(", ").map(String::from).collect();
            (method, conditions)
        })
        .collect()
}

#[test]
fn auto_tries_what_the_page_says_in_that_order() {
    let rows = table();
    assert!(rows.len() > 8, "{rows:?}");
    let matrix = dense([[1.0]]);
    let problem = BoxMlcp::new(&matrix, &[0.0], &[0.0], &[1.0]).unwrap();
    let given = analyse(&problem);
    let mut seen = given;
    let mut different = std::collections::BTreeSet::new();
    for case in 0..1 << 5 {
        seen.symmetric = case & 1 > 0;
        seen.no_positive_couplings = case & 2 > 0;
        seen.dominant = case & 4 > 0;
        seen.bounds = given.bounds;
        if case & 8 > 0 {
            seen.bounds.both = 0;
        }
        for definiteness in [
            Definiteness::Positive,
            Definiteness::Semidefinite,
            Definiteness::Indefinite,
            Definiteness::Unknown,
        ] {
            seen.definiteness = definiteness;
            for n in [
                1, 16, 17, 50, 51, 100, 101, 300, 301, 2_000, 3_000, 3_001, 100_000, 1_000_000,
            ] {
                seen.rows = n;
                seen.entries = if case & 16 > 0 { n * n } else { 3 * n };
                let mut expected: Vec<&str> = Vec::new();
                for (method, conditions) in &rows {
                    let met = conditions.iter().all(|one| match one.as_str() {
                        "not tried before" => !expected.contains(&method.as_str()),
                        one => meets(&seen, one),
                    });
                    if met {
                        expected.push(method);
                    }
                }
                let tried: Vec<&str> = registry::choices(&seen)
                    .iter()
                    .map(|(method, _)| method.name())
                    .collect();
                assert_eq!(tried, expected, "{seen:?}");
                different.insert(tried.join(" "));
            }
        }
    }
    assert!(different.len() > 10, "{different:?}");
}

#[test]
fn every_method_is_on_the_page_with_what_it_guarantees() {
    for method in Method::ALL {
        let module = method.name().replace('-', "_");
        if *method == Method::Auto {
            continue;
        }
        let named = format!("methods::{module}");
        assert!(PAGE.contains(&named), "{method}");
    }
}
