//! Documents name files that exist.

use super::Finding;
use super::markdown::{code_spans, local_links, prose_lines};
use super::words::identifiers;
use crate::tree::Tree;

/// Folders at the top; whatever starts with one of them is a path of the repository. Others, such
/// as the folders a run writes, are not.
const TOP_FOLDERS: &[&str] = &[".cargo", ".ci", "crates", "docs", "studies", "web", "xtask"];

/// Endings of files we write by hand; a name with one of them has to be a file of the repository.
const OUR_ENDINGS: &[&str] = &[".rs", ".md", ".py", "Cargo.toml"];

/// Every path in backticks and every link leads to something.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_document(path)) {
        for (line_number, line) in prose_lines(text) {
            // The table of papers has a check of its own, with more to say about its references.
            if path != super::papers::TABLE {
                let wrong = code_spans(line).filter_map(|span| wrong_reference(tree, span));
                findings.extend(wrong.map(|message| Finding::at(path, line_number, message)));
            }
            for link in local_links(line).filter(|link| !leads_somewhere(tree, path, link)) {
                let message = format!("the link to `{link}` leads nowhere");
                findings.push(Finding::at(path, line_number, message));
            }
        }
    }
    findings
}

/// The documents that describe the tree as it is now; the change log speaks of the past.
fn is_document(path: &str) -> bool {
    let in_docs = path.starts_with("docs/") && path.ends_with(".md");
    in_docs || matches!(path, "README.md" | "ARCHITECTURE.md" | "CONTRIBUTING.md")
}

fn wrong_reference(tree: &Tree, span: &str) -> Option<String> {
    let looks_like_pattern = span.contains(['*', '<', '{', ' ', '…', '$']) || span.contains("://");
    if looks_like_pattern {
        return None;
    }
    let top = span.split('/').next().unwrap_or(span);
    if span.contains('/') && TOP_FOLDERS.contains(&top) {
        return reference_problem(tree, span);
    }
    let file = span.split("::").next().unwrap_or(span);
    if OUR_ENDINGS.iter().any(|ending| file.ends_with(ending)) {
        // The end of a path is enough: the text around it says in which crate we are.
        let end = format!("/{}", file.trim_start_matches("./"));
        let known = tree
            .paths()
            .any(|path| path == file || path.ends_with(&end));
        return (!known).then(|| format!("`{file}` is no file of the repository"));
    }
    None
}

/// Error in a reference `path` or `path::name`.
pub fn reference_problem(tree: &Tree, reference: &str) -> Option<String> {
    let mut parts = reference.split("::");
    let path = parts.next().unwrap_or(reference);
    if !tree.contains(path) {
        return Some(format!("`{path}` does not exist"));
    }
    for name in parts {
        let text = tree.text(path).unwrap_or("");
        let bare = name.trim_end_matches("()");
        if !identifiers(text).any(|word| word == bare) {
            return Some(format!("`{bare}` does not occur in {path}"));
        }
    }
    None
}

fn leads_somewhere(tree: &Tree, document: &str, link: &str) -> bool {
    let mut place: Vec<&str> = document.split('/').collect();
    place.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                if place.pop().is_none() {
                    return false;
                }
            }
            name => place.push(name),
        }
    }
    tree.contains(&place.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    fn found(line: &str) -> Vec<String> {
        let files = [
            ("ARCHITECTURE.md", line),
            ("docs/notation.md", "see [the house](../ARCHITECTURE.md)"),
            ("crates/lcp/src/methods/newton.rs", "pub fn solve() {}"),
        ];
        findings_of(check, &files)
    }

    #[test]
    fn paths_that_exist_pass() {
        for line in [
            "`crates/lcp`, `crates/lcp/src/`, `crates/lcp/src/methods/newton.rs`",
            "`crates/lcp/src/methods/newton.rs::solve` and `newton.rs::solve()`",
            "`newton.rs`, `methods/newton.rs`, `crates/*/src`, `out/particles/`, `run.json`",
            "[a link](docs/notation.md#signs) and [another](https://example.org/a.md)",
        ] {
            assert!(found(line).is_empty(), "{line}: {:?}", found(line));
        }
    }

    #[test]
    fn paths_that_do_not_exist_fail() {
        for line in [
            "`crates/lcp/src/methods/lemke.rs`",
            "`crates/rigid`",
            "`crates/lcp/src/methods/newton.rs::lemke`",
            "`lemke.rs`",
            "[a link](docs/gone.md)",
            "![a picture](docs/gone.png)",
        ] {
            assert_eq!(found(line).len(), 1, "{line}: {:?}", found(line));
        }
    }

    #[test]
    fn code_blocks_and_the_change_log_are_not_read() {
        assert!(found("```\n`crates/gone`\n```").is_empty());
        assert!(findings_of(check, &[("CHANGELOG.md", "`crates/gone`")]).is_empty());
    }
}
