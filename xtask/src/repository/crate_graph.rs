//! Which crate may depend on which: dependencies point in one direction.

use std::collections::BTreeMap;

use super::Finding;
use crate::tree::Tree;

/// A crate: its folder, and the folders of the crates it may depend on.
type Crate = (&'static str, &'static [&'static str]);

const CRATES: &[Crate] = &[
    ("crates/lcp", &[]),
    ("crates/shapes", &[]),
    ("crates/skin", &[]),
    ("crates/liquid", &["crates/lcp", "crates/shapes"]),
    ("crates/rigid", &["crates/lcp", "crates/shapes"]),
    (
        "crates/coupled",
        &[
            "crates/lcp",
            "crates/shapes",
            "crates/liquid",
            "crates/rigid",
        ],
    ),
    ("crates/projective", &["crates/lcp", "crates/shapes"]),
    ("crates/store", &[]),
    (
        "crates/scene",
        &["crates/shapes", "crates/liquid", "crates/store"],
    ),
    (
        "crates/render",
        &[
            "crates/lcp",
            "crates/shapes",
            "crates/scene",
            "crates/store",
        ],
    ),
    (
        "crates/sim",
        &[
            "crates/lcp",
            "crates/shapes",
            "crates/liquid",
            "crates/rigid",
            "crates/coupled",
            "crates/projective",
        ],
    ),
    (
        "crates/app",
        &[
            "crates/lcp",
            "crates/shapes",
            "crates/skin",
            "crates/liquid",
            "crates/sim",
            "crates/rigid",
            "crates/coupled",
            "crates/projective",
            "crates/store",
            "crates/scene",
            "crates/render",
        ],
    ),
    ("crates/python", &["crates/app", "crates/lcp"]),
    ("web", &["crates/app", "crates/lcp"]),
    (
        "studies",
        &[
            "crates/lcp",
            "crates/shapes",
            "crates/liquid",
            "crates/rigid",
            "crates/coupled",
            "crates/projective",
            "crates/sim",
            "crates/store",
            "crates/scene",
            "crates/render",
            "crates/app",
        ],
    ),
    ("fuzz", &["crates/shapes", "crates/store", "crates/scene"]),
    ("xtask", &[]),
];

/// What a manifest says about its package.
#[derive(Default)]
struct Manifest {
    name: String,
    /// Names of the packages it depends on, with the line where it says so.
    dependencies: Vec<(String, usize)>,
}

/// Checks that every package is listed, has the name of its folder, and depends only on crates it may depend on.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let manifests: BTreeMap<&str, Manifest> = tree
        .texts()
        .filter_map(|(path, text)| Some((path.strip_suffix("/Cargo.toml")?, read_manifest(text))))
        .collect();
    let folder_of = |package: &str| {
        let found = manifests.iter().find(|(_, other)| other.name == package);
        found.map(|(folder, _)| *folder)
    };
    let mut findings = Vec::new();
    for (folder, manifest) in &manifests {
        let path = format!("{folder}/Cargo.toml");
        let Some((_, allowed)) = CRATES.iter().find(|(known, _)| known == folder) else {
            findings.push(Finding::about(
                &path,
                "is not in the crate graph: list in xtask/src/repository/crate_graph.rs what it may depend on",
            ));
            continue;
        };
        let expected = package_name(folder);
        if manifest.name != expected {
            findings.push(Finding::about(
                &path,
                format!(
                    "the package is called `{}`, not `{expected}`",
                    manifest.name
                ),
            ));
        }
        for (dependency, line) in &manifest.dependencies {
            if let Some(used) = folder_of(dependency)
                && !allowed.contains(&used)
            {
                findings.push(Finding::at(
                    &path,
                    *line,
                    format!("{folder} may not depend on {used}"),
                ));
            }
        }
    }
    findings
}

fn package_name(folder: &str) -> String {
    match folder.strip_prefix("crates/").unwrap_or(folder) {
        "xtask" => "xtask".to_owned(),
        name => format!("meniscus-{name}"),
    }
}

/// Reads the two things we need. Dependencies of every kind count, those of tests too; a renamed
/// one counts by its real name.
fn read_manifest(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    let mut section = "";
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_matches(['[', ']']);
            // `[dependencies.NAME]` names its dependency in the header.
            if let Some((table, name)) = section.rsplit_once('.')
                && is_dependency_table(table)
            {
                manifest.dependencies.push((unquoted(name), index + 1));
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key.trim();
        if section == "package" && key == "name" {
            manifest.name = unquoted(value);
        } else if is_dependency_table(section) {
            // `name.workspace = true` and `name = { package = "real-name" }` are both usual.
            let name = key.split('.').next().unwrap_or(key);
            let name = renamed(value).unwrap_or_else(|| unquoted(name));
            manifest.dependencies.push((name, index + 1));
        } else if key == "package"
            && section
                .rsplit_once('.')
                .is_some_and(|(table, _)| is_dependency_table(table))
            && let Some(last) = manifest.dependencies.last_mut()
        {
            last.0 = unquoted(value);
        }
    }
    manifest
}

/// `dependencies`, `dev-dependencies`, `build-dependencies`, also below `target.'...'`.
fn is_dependency_table(section: &str) -> bool {
    let last = section.rsplit('.').next().unwrap_or(section);
    matches!(
        last,
        "dependencies" | "dev-dependencies" | "build-dependencies"
    )
}

fn renamed(value: &str) -> Option<String> {
    let inside = value.trim().strip_prefix('{')?;
    inside.trim_end_matches('}').split(',').find_map(|field| {
        let (key, value) = field.split_once('=')?;
        (key.trim() == "package").then(|| unquoted(value))
    })
}

fn unquoted(value: &str) -> String {
    value.trim().trim_matches(['"', '\'']).to_owned()
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
                found[0].contains("crates/lcp may not depend on crates/liquid"),
                "{found:?}"
            );
        }
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
