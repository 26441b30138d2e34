//! The project speaks of itself only: not of the machine or the tracker where it was written, and
//! not of what someone meant to do later.

use super::Finding;
use super::words::identifiers;
use crate::tree::{Tree, is_source};

/// Folders at the top of a file system that exist on one machine only.
const MACHINE_FOLDERS: &[&str] = &["work", "home", "root", "farm", "tmp/bash_jobs"];

/// Marks of unfinished work. Written in two parts, so that this file does not hold them.
const UNFINISHED_MARKS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

/// Macros that stand for code which is not there.
const UNFINISHED_MACROS: &[&str] = &[concat!("to", "do!"), concat!("unimple", "mented!")];

/// Words for a period of work with a tool, which mean nothing to a reader.
const WORKPLACE_WORDS: &[&str] = &[concat!("sess", "ion"), concat!("sess", "ions")];

/// Texts that are not written by us, word for word.
const NOT_OURS: &[&str] = &[
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "web/package-lock.json",
    "web/vendor/three.LICENSE",
    "web/vendor/three.min.mjs",
];

/// No line of ours holds any of these.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| !NOT_OURS.contains(path)) {
        for (index, line) in text.lines().enumerate() {
            let prose = if is_source(path) {
                comment(path, line)
            } else {
                line
            };
            let found = [
                machine_path(line),
                unfinished(line),
                workplace_word(line),
                tracker_number(prose),
            ];
            for message in found.into_iter().flatten() {
                findings.push(Finding::at(path, index + 1, message));
            }
        }
    }
    findings
}

/// The part of a source line that is for people.
fn comment<'a>(path: &str, line: &'a str) -> &'a str {
    let mark = if path.ends_with(".py") || path.ends_with(".sh") {
        "#"
    } else {
        "//"
    };
    line.find(mark)
        .map_or("", |start| &line[start + mark.len()..])
}

fn machine_path(line: &str) -> Option<String> {
    MACHINE_FOLDERS.iter().find_map(|folder| {
        let path = format!("/{folder}/");
        line.match_indices(&path)
            .any(|(start, _)| {
                // Behind a name it is a part of a longer, harmless path.
                let before = line[..start].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || "_.-*)}".contains(c))
            })
            .then(|| format!("`{path}` is a path of one machine"))
    })
}

fn unfinished(line: &str) -> Option<String> {
    let mark = identifiers(line).find(|word| UNFINISHED_MARKS.contains(word));
    let stand_in = UNFINISHED_MACROS.iter().find(|name| line.contains(*name));
    mark.or(stand_in.copied())
        .map(|mark| format!("`{mark}` marks something that is not finished"))
}

fn workplace_word(line: &str) -> Option<String> {
    identifiers(line)
        .find(|word| WORKPLACE_WORDS.contains(&word.to_lowercase().as_str()))
        .map(|word| format!("`{word}` speaks of the workplace, not of the project"))
}

/// A number behind a hash, or the tracker's word followed by a number.
fn tracker_number(prose: &str) -> Option<String> {
    let message = |what: &str| format!("`{what}` is a number of a tracker: say what is meant");
    for (start, _) in prose.match_indices('#') {
        let before = prose[..start].chars().next_back();
        let rest = &prose[start + 1..];
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        let after = rest[digits..].chars().next();
        // Longer ones, and those with letters behind, are colours; `&#39;` is a character.
        if (1..=5).contains(&digits)
            && !after.is_some_and(|c| c.is_alphanumeric())
            && !before.is_some_and(|c| c.is_alphanumeric() || c == '&')
        {
            return Some(message(&prose[start..=start + digits]));
        }
    }
    let mut words = identifiers(prose).peekable();
    while let Some(word) = words.next() {
        let number = words.peek().is_some_and(|next| next.parse::<u32>().is_ok());
        if number && matches!(word.to_lowercase().as_str(), "issue" | "issues") {
            return Some(message(word));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    fn found(path: &str, line: &str) -> Vec<String> {
        findings_of(check, &[(path, &format!("first line\n{line}\n"))])
    }

    #[test]
    fn paths_of_one_machine_fail_anywhere() {
        for folder in MACHINE_FOLDERS {
            let line = format!("let path = \"/{folder}/thing\";");
            assert_eq!(found("a.rs", &line).len(), 1, "{line}");
            let line = format!("see crates/{folder}/thing and https://example.org/{folder}/");
            assert!(found("docs/a.md", &line).is_empty(), "{line}");
        }
    }

    #[test]
    fn unfinished_work_fails_anywhere() {
        for mark in UNFINISHED_MARKS.iter().chain(UNFINISHED_MACROS) {
            let lines = found("a.rs", &format!("    {mark}(later)"));
            assert_eq!(lines.len(), 1, "{mark}");
            assert!(lines[0].starts_with("a.rs:2: "), "{lines:?}");
        }
        assert!(found("a.rs", "let todo = list; // a todo list in small letters").is_empty());
    }

    #[test]
    fn words_of_the_workplace_fail_anywhere() {
        let line = format!("left over from the last {}", WORKPLACE_WORDS[0]);
        assert_eq!(found("README.md", &line).len(), 1);
        assert!(found("README.md", "ob\u{73}essions are something else").is_empty());
    }

    #[test]
    fn tracker_numbers_fail_in_prose_only() {
        let number = format!("#{}", 12);
        assert_eq!(
            found("README.md", &format!("as said in {number}.")).len(),
            1
        );
        assert_eq!(
            found("a.rs", &format!("let x = 1; // see {number}")).len(),
            1
        );
        assert_eq!(found("a.py", &format!("x = 1  # see {number}")).len(), 1);
        assert_eq!(
            found("README.md", &format!("as {} {} says", "issue", 12)).len(),
            1
        );
        assert!(found("a.rs", "let pattern = \"{:#02x}\"; let s = r#\"1\"#;").is_empty());
        assert!(found("README.md", "the colour #336699 or #0f0, C#, it&#39;s").is_empty());
    }

    #[test]
    fn texts_of_others_are_left_alone() {
        assert!(found("LICENSE-MIT", UNFINISHED_MARKS[0]).is_empty());
    }
}
