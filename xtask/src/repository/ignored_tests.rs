//! Ignored tests: only long ones, with a reason.

use super::Finding;
use crate::tree::Tree;

/// Every `ignore` attribute gives a reason that starts with `long:`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".rs")) {
        for (index, line) in text.lines().enumerate() {
            let attribute = line.trim_start();
            let ignores = attribute.starts_with("#[ignore")
                || (attribute.starts_with("#[cfg_attr(") && attribute.contains("ignore"));
            if ignores && !attribute.contains("ignore = \"long: ") {
                findings.push(Finding::at(
                    path,
                    index + 1,
                    "an ignored test needs a reason that starts with `long: `",
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    #[test]
    fn only_long_tests_may_be_ignored() {
        let with = |attribute: &str| {
            let text = format!("#[test]\n    {attribute}\nfn a() {{}}\n");
            findings_of(check, &[("a/tests/b.rs", &text)])
        };
        assert!(with("#[ignore = \"long: five simulated seconds\"]").is_empty());
        assert!(with("#[cfg_attr(debug_assertions, ignore = \"long: a minute\")]").is_empty());
        for attribute in [
            "#[ignore]",
            "#[ignore = \"flaky\"]",
            "#[ignore = \"long:\"]",
            "#[cfg_attr(debug_assertions, ignore)]",
        ] {
            let found = with(attribute);
            assert_eq!(found.len(), 1, "{attribute}");
            assert!(found[0].starts_with("a/tests/b.rs:2: "), "{found:?}");
        }
    }
}
