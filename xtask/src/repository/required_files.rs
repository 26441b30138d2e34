//! Files that every repository has.

use super::Finding;
use crate::tree::Tree;

const EXPECTED: &[&str] = &[
    ".ci/run",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "deny.toml",
    "docs/notation.md",
    "docs/papers.md",
    "rust-toolchain.toml",
];

/// Each of them is there.
pub fn check(tree: &Tree) -> Vec<Finding> {
    EXPECTED
        .iter()
        .filter(|path| !tree.contains(path))
        .map(|path| Finding::about(path, "is missing"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    #[test]
    fn a_missing_file_is_named() {
        let mut files: Vec<(&str, &str)> = EXPECTED.iter().map(|path| (*path, "")).collect();
        assert!(findings_of(check, &files).is_empty());
        files.retain(|(path, _)| *path != "CHANGELOG.md");
        assert_eq!(findings_of(check, &files), ["CHANGELOG.md: is missing"]);
    }
}
