//! Identifiers of `crates/lcp` are free of physics: it solves problems of algebra. Documentation may name applications.

use super::Finding;
use super::words::plain_words;
use crate::tree::Tree;

const FOLDER: &str = "crates/lcp/";

/// Words of physics, in the singular and in small letters.
const PHYSICS_WORDS: &[&str] = &[
    "air",
    "buoyancy",
    "fluid",
    "friction",
    "gravity",
    "hydrostatic",
    "incompressible",
    "liquid",
    "particle",
    "pressure",
    "rigid",
    "solid",
    "splash",
    "velocities",
    "velocity",
    "viscosity",
    "viscous",
    "wall",
    "water",
];

/// None of these words is in code or a file name of the crate; comments and documents are free to use them.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.starts_with(FOLDER)) {
        if let Some(word) = physics_word(&path[FOLDER.len()..]) {
            findings.push(Finding::about(path, message(word)));
        }
        if !path.ends_with(".rs") {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if let Some(word) = physics_word(code) {
                findings.push(Finding::at(path, index + 1, message(word)));
            }
        }
    }
    findings
}

fn message(word: &str) -> String {
    format!("`{word}` is a word of physics: crates/lcp speaks of rows, bounds and matrices")
}

fn physics_word(line: &str) -> Option<&'static str> {
    plain_words(line).iter().find_map(|word| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        PHYSICS_WORDS
            .iter()
            .find(|known| *known == word || **known == singular)
            .copied()
    })
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    #[test]
    fn physics_words_fail_in_the_lcp_crate_only() {
        let text = "//! Rows.\nfn wall_rows() {}\nstruct SolidMask;\n// two fluids\n";
        let found = findings_of(check, &[("crates/lcp/src/a.rs", text)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("crates/lcp/src/a.rs:2: `wall`"),
            "{found:?}"
        );
        assert!(findings_of(check, &[("crates/liquid/src/a.rs", text)]).is_empty());
    }

    #[test]
    fn words_that_only_contain_one_pass() {
        let text = "fn consolidated(repair: f64, wallpaper: f64, fairly: f64, aircraft: f64) {}\n";
        assert!(findings_of(check, &[("crates/lcp/src/a.rs", text)]).is_empty());
    }

    #[test]
    fn file_names_count_too() {
        let found = findings_of(check, &[("crates/lcp/src/gallery/walls.rs", "")]);
        assert_eq!(found.len(), 1, "{found:?}");
    }
}
