//! Code and papers are tied together: every tag in the source has a row in `docs/papers.md`, every
//! row leads to something that exists, and every numbered algorithm, table and figure has a row.

use std::collections::BTreeMap;

use super::Finding;
use super::markdown::code_spans;
use super::paper_item::{Item, KEYS, Kind, parse, parse_number};
use super::paper_table::{Row, Status, read};
use super::paths::reference_problem;
use crate::tree::{Tree, is_source};

/// Where the table is.
pub const TABLE: &str = "docs/papers.md";

/// Folders whose sources carry tags. This one does not: its tests hold tags that lead nowhere.
const TAGGED_FOLDERS: &[&str] = &["crates/", "studies/", "web/"];

/// The word that starts a remark on a departure from a paper.
const DEPARTURE: &str = "DEVIATION";

/// Numbered items of the papers: first and last number of each range.
const NUMBERED: &[(&str, Kind, &str, &str)] = &[
    ("Erl13", Kind::Figure, "1", "6"),
    ("Erl13", Kind::Table, "1", "3"),
    ("ANE17", Kind::Algorithm, "1", "2"),
    ("ANE17", Kind::Listing, "1", "3"),
    ("ANE17", Kind::Figure, "1", "17"),
    ("ANE17", Kind::Table, "1", "1"),
    ("Lai20", Kind::Algorithm, "1", "3"),
    ("Lai20", Kind::Figure, "3.1", "3.2"),
    ("Lai20", Kind::Figure, "4.1", "4.3"),
    ("Lai20", Kind::Figure, "5.1", "5.11"),
    ("Lai20", Kind::Table, "1", "12"),
    ("TB20", Kind::Algorithm, "1", "2"),
    ("TB20", Kind::Figure, "1", "18"),
    ("TB20", Kind::Table, "1", "3"),
    ("WKB16", Kind::Algorithm, "1", "2"),
    ("WKB16", Kind::Figure, "1", "4"),
    ("WKB16", Kind::Table, "1", "1"),
];

/// Commands that show something, and where the word behind them has to occur.
const COMMANDS: &[(&str, &str)] = &[
    ("cargo study ", "studies/"),
    ("meniscus run ", "crates/scene/"),
];

/// Tags, rows and numbers agree.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(TABLE) else {
        return Vec::new();
    };
    let (rows, problems) = read(text);
    let mut findings: Vec<Finding> = problems
        .into_iter()
        .map(|(line, message)| Finding::at(TABLE, line, message))
        .collect();
    for row in &rows {
        let wrong = row_problems(tree, row).into_iter();
        findings.extend(wrong.map(|message| Finding::at(TABLE, row.line, message)));
    }
    findings.extend(repeated_items(&rows));
    findings.extend(
        numbered_items()
            .filter(|item| {
                !rows
                    .iter()
                    .any(|row| row.items.iter().any(|own| own.covers(item)))
            })
            .map(|item| Finding::about(TABLE, format!("{item} has no row"))),
    );
    for (path, source) in tree.texts().filter(|(path, _)| is_tagged(path)) {
        for (index, line) in source.lines().enumerate() {
            let wrong = line_problems(line, &rows).into_iter();
            findings.extend(wrong.map(|message| Finding::at(path, index + 1, message)));
        }
    }
    findings
}

fn is_tagged(path: &str) -> bool {
    is_source(path) && TAGGED_FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// Every item that a paper numbers, one by one.
fn numbered_items() -> impl Iterator<Item = Item> {
    NUMBERED.iter().flat_map(|&(key, kind, first, last)| {
        let first = parse_number(first).unwrap_or_default();
        let last = parse_number(last).unwrap_or_default();
        let ends = first.last().copied().zip(last.last().copied());
        ends.into_iter().flat_map(move |(from, to)| {
            let first = first.clone();
            (from..=to).map(move |number| {
                let mut own = first.clone();
                own.pop();
                own.push(number);
                let (first, last) = (own.clone(), own);
                Item {
                    key,
                    kind,
                    first,
                    last,
                }
            })
        })
    })
}

fn repeated_items(rows: &[Row<'_>]) -> Vec<Finding> {
    let mut seen: BTreeMap<&Item, usize> = BTreeMap::new();
    let mut findings = Vec::new();
    for row in rows {
        for item in &row.items {
            if let Some(earlier) = seen.insert(item, row.line) {
                let message = format!("{item} has a row already, at line {earlier}");
                findings.push(Finding::at(TABLE, row.line, message));
            }
        }
    }
    findings
}

/// Errors in a row: broken references, and a status that contradicts its cells.
fn row_problems(tree: &Tree, row: &Row<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    for span in code_spans(row.implemented_by) {
        problems.extend(reference_problem(tree, span));
    }
    for span in code_spans(row.shown_by) {
        problems.extend(evidence_problem(tree, span));
    }
    let implemented = code_spans(row.implemented_by).next().is_some();
    let shown = code_spans(row.shown_by).next().is_some();
    match row.status {
        Status::Done if !implemented || !shown => problems
            .push("`done` needs an implementing item and a test or study, in backticks".to_owned()),
        Status::Partial if !implemented => {
            problems.push("`partial` needs an implementing item, in backticks".to_owned());
        }
        Status::Planned if implemented => {
            problems.push("`planned`, but the row names an implementing item".to_owned());
        }
        _ => {}
    }
    problems
}

/// Evidence is a command, or a file, or a test in a file.
fn evidence_problem(tree: &Tree, span: &str) -> Option<String> {
    for (command, folder) in COMMANDS {
        if let Some(arguments) = span.strip_prefix(command) {
            let name = arguments.split(' ').next().unwrap_or(arguments);
            let quoted = format!("\"{name}\"");
            let mut sources = tree.texts().filter(|(path, _)| path.starts_with(folder));
            let known = sources.any(|(_, text)| text.contains(&quoted));
            return (!known).then(|| format!("`{span}`: nothing in {folder} is called {quoted}"));
        }
    }
    if let Some(problem) = reference_problem(tree, span) {
        return Some(problem);
    }
    let (path, name) = span.split_once("::")?;
    let test = name.rsplit("::").next().unwrap_or(name);
    let text = tree.text(path).unwrap_or("");
    let is_function = [format!("fn {test}("), format!("fn {test}<")]
        .iter()
        .any(|start| text.contains(start.as_str()));
    (!is_function).then(|| format!("`{test}` is no function of {path}"))
}

/// Errors in the tags of a source line.
fn line_problems(line: &str, rows: &[Row<'_>]) -> Vec<String> {
    let mut problems = Vec::new();
    for (start, _) in line.match_indices('[') {
        let inside = &line[start + 1..];
        if !KEYS
            .iter()
            .any(|key| inside.starts_with(&format!("{key} ")))
        {
            continue;
        }
        let Some(end) = inside.find(']') else {
            problems.push("a tag ends on the line where it begins".to_owned());
            continue;
        };
        match parse(&inside[..end]) {
            Some(Ok(items)) => {
                problems.extend(items.iter().filter_map(|item| tag_problem(item, rows)));
            }
            Some(Err(message)) => problems.push(message),
            None => {}
        }
    }
    if let Some((_, rest)) = line.split_once(DEPARTURE) {
        let tag = rest
            .strip_prefix(" [")
            .and_then(|rest| rest.split_once("]: "));
        if !tag.is_some_and(|(tag, reason)| parse(tag).is_some() && !reason.trim().is_empty()) {
            problems.push(format!(
                "a departure is written `{DEPARTURE} [KEY (n)]: reason`"
            ));
        }
    }
    problems
}

fn tag_problem(item: &Item, rows: &[Row<'_>]) -> Option<String> {
    let row = rows
        .iter()
        .find(|row| row.items.iter().any(|own| own.covers(item)));
    match row {
        None => Some(format!("the tag [{item}] has no row in {TABLE}")),
        Some(row) if row.status == Status::Planned => Some(format!(
            "the tag [{item}] is in the source, but {TABLE}:{} says it is planned",
            row.line
        )),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    const SOURCE: &str = "crates/lcp/src/methods/newton.rs";

    /// A table with a row for everything that is numbered, and the given rows above.
    fn table(rows: &str) -> String {
        let header = "| item | what it is | implemented by | shown by | status |\n\
                      | --- | --- | --- | --- | --- |\n";
        let mut text = format!("{header}{rows}");
        for (key, kind, first, last) in NUMBERED {
            let number = |text| parse_number(text).expect("a number");
            let item = Item {
                key,
                kind: *kind,
                first: number(first),
                last: number(last),
            };
            text.push_str(&format!("| {item} | something | | | illustration |\n"));
        }
        text
    }

    fn found(rows: &str, source: &str) -> Vec<String> {
        let table = table(rows);
        let files = [
            (TABLE, table.as_str()),
            (SOURCE, source),
            ("studies/src/main.rs", "match name { \"table-2\" => run() }"),
            ("xtask/src/a.rs", "// [ANE17 (4711)]"),
        ];
        findings_of(check, &files)
    }

    #[test]
    fn a_tag_with_a_row_passes_and_one_without_fails() {
        let row = "| ANE17 (35)-(45) | masks | `crates/lcp/src/methods/newton.rs` | | partial |\n";
        assert!(found(row, "// y = A x [ANE17 (39)], then [ANE17 (42)]\n").is_empty());
        let lines = found(row, "fn a() {}\n// [ANE17 (46)]\n");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].starts_with("crates/lcp/src/methods/newton.rs:2: "),
            "{lines:?}"
        );
    }

    #[test]
    fn a_misspelt_or_unclosed_tag_fails() {
        for line in ["// [ANE17 39]", "// [ANE17 eq. 39]", "// [ANE17 (39),"] {
            assert_eq!(found("", line).len(), 1, "{line}");
        }
        assert!(found("", "let x = y[ANE17]; // [1, 2] and [Other20 (3)]\n").is_empty());
    }

    #[test]
    fn a_departure_names_its_equation_and_gives_a_reason() {
        let row = "| ANE17 (39) | operator | `crates/lcp/src/methods/newton.rs` | | partial |\n";
        let word = DEPARTURE;
        assert!(
            found(
                row,
                &format!("// {word} [ANE17 (39)]: it prints an affine map.\n")
            )
            .is_empty()
        );
        for remark in [
            "ANE17 (39): why",
            "[ANE17 (39)] why",
            "[ANE17 (39)]:",
            ": why",
        ] {
            let lines = found(row, &format!("// {word} {remark}\n"));
            assert_eq!(lines.len(), 1, "{remark}: {lines:?}");
        }
    }

    #[test]
    fn a_row_whose_item_is_gone_fails() {
        let source = "pub fn solve() {}\n#[test]\nfn newton_finds_the_solution() {}\n";
        let row = |item: &str, evidence: &str| {
            let row = format!("| ANE17 (29) | Newton | {item} | {evidence} | done |\n");
            found(&row, source).len()
        };
        let path = "crates/lcp/src/methods/newton.rs";
        let item = format!("`{path}::solve`");
        let test = format!("`{path}::newton_finds_the_solution`");
        assert_eq!(row(&item, &test), 0);
        assert_eq!(row(&item, "`cargo study table-2 --quick`"), 0);
        assert_eq!(row(&format!("`{path}::gone`"), &test), 1);
        assert_eq!(row("`crates/lcp/src/gone.rs`", &test), 1);
        assert_eq!(row(&item, &format!("`{path}::gone`")), 1);
        assert_eq!(row(&item, "`cargo study gone`"), 1);
    }

    #[test]
    fn a_status_that_the_row_denies_fails() {
        let item = "`crates/lcp/src/methods/newton.rs`";
        for row in [
            format!("| ANE17 (29) | Newton | {item} | | done |\n"),
            "| ANE17 (29) | Newton | | | partial |\n".to_owned(),
            format!("| ANE17 (29) | Newton | {item} | | planned |\n"),
        ] {
            assert_eq!(found(&row, "").len(), 1, "{row}");
        }
        let planned = "| ANE17 (29) | Newton | | | planned |\n";
        assert!(found(planned, "").is_empty());
        assert_eq!(found(planned, "// [ANE17 (29)]\n").len(), 1);
    }

    #[test]
    fn a_numbered_item_without_a_row_and_one_with_two_fail() {
        let text = table("").replace("| TB20 alg. 1-2 |", "| TB20 alg. 1 |");
        let lines = findings_of(check, &[(TABLE, &text)]);
        assert_eq!(lines, ["docs/papers.md: TB20 alg. 2 has no row"]);
        let rows = "| ANE17 (29) | a | | | planned |\n| ANE17 (29) | b | | | planned |\n";
        assert_eq!(found(rows, "").len(), 1);
    }
}
