//! File names say what is inside, and no file has a twin for the other dimension.

use super::Finding;
use crate::tree::{Tree, is_source};

/// Names that say nothing: whatever has no better place ends up there.
const EMPTY_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "manager", "managers"];

/// No empty names, no twins.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in tree.paths().filter(|path| is_source(path)) {
        if let Some(name) = empty_name(path) {
            findings.push(Finding::about(
                path,
                format!("`{name}` says nothing about what is inside"),
            ));
        }
        if let Some(twin) = twin_paths(path)
            .into_iter()
            .find(|twin| tree.contains(twin))
        {
            findings.push(Finding::about(
                path,
                format!("has a twin, {twin}: write one that is generic in the dimension"),
            ));
        }
    }
    findings
}

fn empty_name(path: &str) -> Option<&'static str> {
    let words = path.split(['/', '_', '-', '.']);
    words
        .filter_map(|word| {
            EMPTY_NAMES
                .iter()
                .find(|name| word.eq_ignore_ascii_case(name))
        })
        .copied()
        .next()
}

/// Where the three-dimensional copy would be, if one part of the path is about two dimensions.
fn twin_paths(path: &str) -> Vec<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let mut twins = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let stem_length = part.find('.').unwrap_or(part.len());
        let (stem, extension) = part.split_at(stem_length);
        let Some(twin_stem) = three_dimensional(stem) else {
            continue;
        };
        let mut twin: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        twin[place] = format!("{twin_stem}{extension}");
        twins.push(twin.join("/"));
    }
    twins
}

fn three_dimensional(stem: &str) -> Option<String> {
    if let Some(rest) = stem.strip_suffix("2d") {
        Some(format!("{rest}3d"))
    } else if let Some(rest) = stem.strip_suffix('2') {
        Some(format!("{rest}3"))
    } else {
        stem.strip_prefix("2d").map(|rest| format!("3d{rest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings_of;
    use super::*;

    #[test]
    fn names_that_say_nothing_fail() {
        for path in [
            "a/utils.rs",
            "a/grid_helpers.rs",
            "b/manager/mod.rs",
            "c/util.py",
        ] {
            assert_eq!(findings_of(check, &[(path, "")]).len(), 1, "{path}");
        }
        for path in ["a/utility_function.rs", "a/managed.rs", "docs/utils.md"] {
            assert!(findings_of(check, &[(path, "")]).is_empty(), "{path}");
        }
    }

    #[test]
    fn twins_fail_once() {
        let pairs = [
            ("a/grid2.rs", "a/grid3.rs"),
            ("a/grid_2d.rs", "a/grid_3d.rs"),
            ("a/dim2/grid.rs", "a/dim3/grid.rs"),
            ("a/2d_grid.rs", "a/3d_grid.rs"),
        ];
        for (two, three) in pairs {
            let found = findings_of(check, &[(two, ""), (three, "")]);
            assert_eq!(found.len(), 1, "{two}");
            assert!(found[0].contains(three), "{found:?}");
        }
    }

    #[test]
    fn a_name_with_a_dimension_but_no_twin_passes() {
        let files = [
            ("a/extruded_2d.rs", ""),
            ("a/equals_3d.rs", ""),
            ("a/rk3.rs", ""),
        ];
        assert!(findings_of(check, &files).is_empty());
    }
}
