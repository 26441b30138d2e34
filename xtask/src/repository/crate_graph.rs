//! Which crate may depend on which: dependencies point in one direction.

use super::Finding;
use crate::tree::Tree;

/// Crates by their folders, each with the names of the crates that it may depend on.
const CRATES: &[(&str, &str)] = &[
    ("crates/lcp", ""),
    ("crates/shapes", ""),
    ("crates/skin", ""),
    ("crates/store", ""),
    ("crates/liquid", "lcp shapes"),
    ("crates/rigid", "lcp shapes"),
    ("crates/projective", "lcp shapes"),
    ("crates/coupled", "lcp shapes liquid rigid"),
    ("crates/sim", "lcp shapes liquid rigid coupled projective"),
    (
        "crates/scene",
        "shapes liquid rigid coupled projective store",
    ),
    ("crates/render", "lcp shapes scene store"),
    (
        "crates/app",
        "lcp shapes skin liquid rigid coupled projective sim store scene render",
    ),
    ("crates/python", "app lcp scene sim store"),
    ("web", "app lcp"),
    (
        "studies",
        "lcp shapes liquid rigid coupled projective sim store scene render app",
    ),
    ("studies/rapier", "shapes rigid"),
    ("fuzz", "shapes store scene"),
    ("xtask", ""),
];

/// Checks that every package is listed, is named after its folder, and depends only on crates that it may depend on.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        let Some(folder) = path.strip_suffix("/Cargo.toml") else {
            continue;
        };
        let Some((_, allowed)) = CRATES.iter().find(|(known, _)| *known == folder) else {
            let message = "is not in the crate graph: list in xtask/src/repository/crate_graph.rs what it may depend on";
            findings.push(Finding::about(path, message));
            continue;
        };
        let within = folder.strip_prefix("crates/");
        let within = within.or_else(|| folder.strip_prefix("studies/"));
        let name = match within.unwrap_or(folder) {
            "xtask" => "xtask".to_owned(),
            short => format!("{PREFIX}{short}"),
        };
        if !text.contains(&format!("\nname = \"{name}\"\n")) {
            findings.push(Finding::about(
                path,
                format!("the package is not called `{name}`"),
            ));
        }
        if text.contains("= \"*\"") {
            findings.push(Finding::about(
                path,
                "a dependency names its version, not `*`",
            ));
        }
        for (line, used) in dependencies(text) {
            if !allowed.split(' ').any(|crate_name| crate_name == used) {
                let message = format!("{folder} may not depend on {PREFIX}{used}");
                findings.push(Finding::at(path, line, message));
            }
        }
    }
    findings
}

/// Names of our packages start with it.
const PREFIX: &str = "meniscus-";

/// Packages of ours that a manifest names in a table of dependencies of any kind, each with its line. The name counts
/// wherever it stands: as the key, in the header, or as the `package` of a renamed dependency.
fn dependencies(manifest: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_dependencies = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("");
        if line.starts_with('[') {
            in_dependencies = line.contains("dependencies");
        }
        let words = line.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
        if in_dependencies {
            let ours = words.filter_map(|word| word.strip_prefix(PREFIX));
            found.extend(ours.map(|name| (index + 1, name)));
        }
    }
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    fn manifest(name: &str, rest: &str) -> String {
        format!("[package]\nname = \"{name}\"\n\n{rest}")
    }

    fn found(liquid: &str, lcp: &str) -> Vec<String> {
        let files = [
            (
                "Cargo.toml",
                "[workspace]\n[workspace.dependencies]\nmeniscus-liquid = \"1\"\n",
            ),
            ("crates/lcp/Cargo.toml", &manifest("meniscus-lcp", lcp)),
            (
                "crates/liquid/Cargo.toml",
                &manifest("meniscus-liquid", liquid),
            ),
        ];
        findings_of(check, &files)
    }

    #[test]
    fn a_dependency_in_the_right_direction_passes() {
        let liquid = "[dependencies]\nmeniscus-lcp.workspace = true\nrayon = \"1\"\n";
        assert!(found(liquid, "[dependencies]\nrayon = \"1\"\n").is_empty());
    }

    #[test]
    fn a_dependency_in_the_wrong_direction_fails_however_it_is_written() {
        for lcp in [
            "[dependencies]\nmeniscus-liquid = \"1\"\n",
            "[dependencies]\nmeniscus-liquid.workspace = true\n",
            "[dev-dependencies]\nmeniscus-liquid = { workspace = true }\n",
            "[target.'cfg(unix)'.dependencies]\nmeniscus-liquid = { path = \"../liquid\" }\n",
            "[dependencies]\nwet = { path = \"../liquid\", package = \"meniscus-liquid\" }\n",
            "[dependencies.meniscus-liquid]\npath = \"../liquid\"\n",
            "[dependencies.wet]\npackage = \"meniscus-liquid\"\n",
        ] {
            let found = found("", lcp);
            assert_eq!(found.len(), 1, "{lcp}: {found:?}");
            assert!(
                found[0].contains("crates/lcp may not depend on meniscus-liquid"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_dependency_on_any_version_fails() {
        assert_eq!(found("", "[dependencies]\nrayon = \"*\"\n").len(), 1);
        assert_eq!(
            found("", "[dependencies]\nrayon = { version = \"*\" }\n").len(),
            1
        );
    }

    #[test]
    fn an_unknown_crate_and_a_wrong_name_fail() {
        let text = manifest("meniscus-attic", "");
        assert_eq!(
            findings_of(check, &[("crates/attic/Cargo.toml", &text)]).len(),
            1
        );
        let text = manifest("lcp", "");
        assert_eq!(
            findings_of(check, &[("crates/lcp/Cargo.toml", &text)]).len(),
            1
        );
    }
}
