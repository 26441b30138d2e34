//! Long source files hide a second idea; big files weigh on every clone for ever.

use super::Finding;
use crate::tree::{Tree, is_source};

/// A source file longer than this fails.
const MAX_LINES: usize = 1000;

/// A source file longer than this is named, so that someone thinks about it.
const LONG_LINES: usize = 400;

/// The largest file of any kind.
const MAX_BYTES: u64 = 2_000_000;

/// No source file is over a thousand lines, no file over two megabytes.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let too_long = source_lines(tree)
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(path, lines)| {
            Finding::about(
                path,
                format!("{lines} lines, at most {MAX_LINES} are allowed"),
            )
        });
    let too_big = tree
        .sizes()
        .filter(|(_, bytes)| *bytes > MAX_BYTES)
        .map(|(path, bytes)| {
            Finding::about(
                path,
                format!("{bytes} bytes, at most {MAX_BYTES} are allowed"),
            )
        });
    too_long.chain(too_big).collect()
}

/// Source files that are allowed but long, with their number of lines.
pub fn long_files(tree: &Tree) -> Vec<(&str, usize)> {
    source_lines(tree)
        .filter(|(_, lines)| (LONG_LINES + 1..=MAX_LINES).contains(lines))
        .collect()
}

fn source_lines(tree: &Tree) -> impl Iterator<Item = (&str, usize)> {
    tree.texts()
        .filter(|(path, _)| is_source(path))
        .map(|(path, text)| (path, text.lines().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_file_over_a_thousand_lines_fails_and_one_over_400_is_listed() {
        let lines = |count: usize| "x\n".repeat(count);
        let (short, long, too_long) = (lines(400), lines(1000), lines(1001));
        let tree = Tree::of(&[
            ("a/short.rs", &short),
            ("a/long.rs", &long),
            ("a/too_long.rs", &too_long),
            ("docs/any.md", &too_long),
        ]);
        let findings = check(&tree);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path, "a/too_long.rs");
        assert_eq!(long_files(&tree), [("a/long.rs", 1000)]);
    }

    #[test]
    fn a_file_over_two_megabytes_fails() {
        let tree = Tree::of(&[]).with_sized("small.gif", MAX_BYTES);
        assert!(check(&tree).is_empty());
        let tree = tree.with_sized("big.gif", MAX_BYTES + 1);
        assert_eq!(check(&tree).len(), 1);
    }
}
