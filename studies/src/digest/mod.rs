//! `docs/results.md`: what the studies found, from the documents in `studies/results/`.

mod document;

use crate::catalogue::STUDIES;
use crate::provenance::{self, Provenance};
use crate::study::Entry;
use document::Document;
use meniscus_store::error::Error;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The command that makes it.
pub const COMMAND: &str = "results";

/// Studies whose names begin alike, and what to say of them.
const GROUPS: [(&str, &str, &str); 6] = [
    (
        "lai20-",
        "Lai et al. (2020)",
        "*Fast and scalable solvers for the fluid pressure equations with separating solid boundary conditions.* The paper's \
         numbers stand above ours.",
    ),
    (
        "ane17-",
        "Andersen, Niebe and Erleben (2017)",
        "*A fast LCP solver for fluid animation using high level algebra interfaces for GPU libraries.*",
    ),
    (
        "erl13-",
        "Erleben (2013)",
        "*Numerical methods for linear complementarity problems in physics-based animation.*",
    ),
    (
        "tb20-",
        "Takahashi and Batty (2020)",
        "*Monolith: a monolithic pressure-viscosity-contact solver for strong two-way rigid-rigid rigid-fluid coupling.*",
    ),
    (
        "wkb16-",
        "Weiler, Koschier and Bender (2016)",
        "*Projective fluids.*",
    ),
    (
        "",
        "Speed",
        "Measurements of this program, beside others where they solve the same.",
    ),
];

/// Lines of a table up to which it is shown here; longer ones are behind the link.
const SHORT: usize = 24;

/// Beginning of the sentence on results that are older than what they measure.
pub const STALE: &str = "Changes since";

/// A study with its results.
pub struct Studied {
    pub entry: &'static Entry,
    /// That of the study, and of the variant if it is one.
    pub name: String,
    document: Document,
    /// Where it comes from, if that is known.
    pub provenance: Option<Provenance>,
    /// Commits since then that changed what it measures, if that is known.
    pub changes: Option<usize>,
}

/// The documents of a study by their names: that of its usual run, then those of others.
fn documents(folder: &Path, study: &str) -> Result<Vec<String>, Error> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io("read", folder, &e))?;
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("read", folder, &e))?;
        let file = entry.file_name();
        let name = file.to_str().and_then(|file| file.strip_suffix(".md"));
        let variant = |name: &str| {
            let rest = name.strip_prefix(study);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
                && (name == study || STUDIES.iter().all(|other| other.name != name))
        };
        names.extend(name.filter(|name| variant(name)).map(String::from));
    }
    names.sort();
    Ok(names)
}

/// The results in a folder.
pub fn results(folder: &Path) -> Result<Vec<Studied>, Error> {
    let root = provenance::root()?;
    let mut results = Vec::new();
    for entry in STUDIES {
        for name in documents(folder, entry.name)? {
            let path = folder.join(format!("{name}.md"));
            let text = std::fs::read_to_string(&path).map_err(|e| Error::io("read", &path, &e))?;
            let document = Document::read(&text);
            let made = document.provenance();
            let made = made.or_else(|| Provenance::of_a_file(&root, &path));
            let changes = made
                .as_ref()
                .and_then(|made| made.changes_since(&root, entry.name));
            results.push(Studied {
                entry,
                name,
                document,
                provenance: made,
                changes,
            });
        }
    }
    Ok(results)
}

/// The document, from a folder of results. Links go out from a folder beside `studies/`.
pub fn compose(folder: &Path) -> Result<String, Error> {
    let results = results(folder)?;
    let mut out = String::from("# Results\n\n");
    let _ = writeln!(
        out,
        "What the studies found: every table and figure of the papers that can be computed, and measurements of speed. This page \
         is made by `cargo study {COMMAND}` from the documents in `studies/results/`, each of which is made by the study it is \
         named after; `cargo study --list` has them all. A target that is missed is shown as missed."
    );
    let _ = write!(out, "\n{}\n", machines(&results));
    let stale = results.iter().filter(|one| one.changes != Some(0)).count();
    let _ = writeln!(
        out,
        "\n{STALE}: commits that changed the sources a study measures, after the one that it ran on, when this page was made. \
         {stale} of {} results have some; `cargo study refresh` runs those studies again.",
        results.len()
    );
    for (index, (prefix, heading, words)) in GROUPS.into_iter().enumerate() {
        let ours = |one: &&Studied| group_of(one.entry.name) == index;
        let group: Vec<&Studied> = results.iter().filter(ours).collect();
        if group.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {heading}\n\n{words}\n\n");
        out += &overview(&group);
        out += &missed(&group);
        if !prefix.is_empty() {
            out += &differences(&group);
        }
        for one in &group {
            out += &details(one);
        }
    }
    Ok(out)
}

fn group_of(study: &str) -> usize {
    let own = GROUPS.iter().position(|group| study.starts_with(group.0));
    own.unwrap_or(GROUPS.len() - 1)
}

/// The machines that the documents name.
fn machines(results: &[Studied]) -> String {
    let sentences = || results.iter().filter_map(|one| one.document.machine());
    let kinds: BTreeSet<&str> = sentences().map(|(kind, _)| kind).collect();
    let loads: Vec<f64> = sentences().filter_map(|(_, load)| load).collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let mut words = format!(
        "CPU seconds were taken on: {}.",
        if kinds.is_empty() {
            "no machine that is named".into()
        } else {
            kinds.join("; ")
        }
    );
    if let (Some(least), Some(most)) = (
        loads.iter().copied().reduce(f64::min),
        loads.iter().copied().reduce(f64::max),
    ) {
        let _ = write!(
            words,
            " When studies began, {least:.1} to {most:.1} threads wanted a core, other work included: caches and memory were \
             shared, and times above a load of about 2 are longer than on an idle machine. Ratios within a study suffer less; \
             counts not at all."
        );
    }
    words
}

/// A line for each study.
fn overview(group: &[&Studied]) -> String {
    let mut out = String::from(
        "| study | what | targets met | missed | not measured | made | changes since |\n",
    );
    out += "| --- | --- | ---: | ---: | ---: | --- | ---: |\n";
    for one in group {
        let count = |verdict: &str| {
            let verdicts = one.document.verdicts();
            verdicts
                .iter()
                .filter(|target| target.verdict == verdict)
                .count()
        };
        let name = &one.name;
        let made = one.provenance.as_ref();
        let made = made.map(|made| format!("{} at {}", made.date, made.commit));
        let changes = one.changes.map(|changes| changes.to_string());
        let _ = writeln!(
            out,
            "| [{name}](../studies/results/{name}.md) | {} | {} | {} | {} | {} | {} |",
            one.entry.summary,
            count("met"),
            count("missed"),
            count("not measured"),
            made.as_deref().unwrap_or("-"),
            changes.as_deref().unwrap_or("-")
        );
    }
    out
}

/// The targets that were missed.
fn missed(group: &[&Studied]) -> String {
    let mut rows = String::new();
    for one in group {
        let verdicts = one.document.verdicts();
        for target in verdicts.iter().filter(|target| target.verdict == "missed") {
            let _ = writeln!(
                rows,
                "| {} | {} | {} | {} |",
                one.name, target.what, target.bound, target.measured
            );
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    format!("\nMissed:\n\n| study | what | target | measured |\n| --- | --- | --- | ---: |\n{rows}")
}

/// Differences from the paper, over all studies of a group, without repetition.
fn differences(group: &[&Studied]) -> String {
    let mut said: Vec<&str> = Vec::new();
    let mut out = String::new();
    for one in group {
        let Some(section) = one.document.section("Where we differ") else {
            continue;
        };
        for words in &section.words {
            if !said.contains(&words.as_str()) {
                said.push(words);
            }
        }
    }
    if !said.is_empty() {
        out += "\n### Where we differ, and why\n";
        for words in said {
            let _ = write!(out, "\n- {words}");
        }
        out.push('\n');
    }
    out
}

/// The first plot and the main table of a study; of one that has no paper beside it also what it measured.
fn details(one: &Studied) -> String {
    let name = &one.name;
    let mut out = format!("\n### {name}\n\n{}.\n", capital(one.entry.summary));
    if let Some((caption, file)) = one.document.pictures.first() {
        let _ = write!(out, "\n![{caption}](../studies/results/{file})\n");
    }
    let sections = &one.document.sections;
    let main = match one.document.section("Beside the paper") {
        Some(section) => std::slice::from_ref(section),
        None if group_of(one.entry.name) + 1 == GROUPS.len() => &sections[..sections.len().min(2)],
        None => &sections[..sections.len().min(1)],
    };
    let shown = main.iter().filter(|s| (1..=SHORT).contains(&s.table.len()));
    for section in shown {
        let _ = write!(out, "\n{}\n", section.table.join("\n"));
    }
    out
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// `docs/results.md` of the workspace.
pub fn usual_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_verdicts_differences_and_tables_of_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let text = "# lai20-table1\n\nMachine: 2 cores, x86-64. Load of the machine when it began, other work included: 3.5.\n\n\
            Made on 2026-11-18 at commit ffffffffff in 12 CPU s.\n\n\
            ![here](lai20-table1-here.svg)\n\n## Beside the paper\n\nCounted.\n\n| size |\n| ---: |\n| 32 |\n\n\
            ## What the paper finds, here\n\n| what | target | measured | verdict |\n| --- | --- | --- | --- |\n\
            | growth | at most 2 times | 3.0 | missed |\n\n## Where we differ\n\nUnits.\n";
        std::fs::write(folder.path().join("lai20-table1.md"), text).unwrap();
        let finer = text.replace("| 32 |", "| 128 |");
        std::fs::write(folder.path().join("lai20-table1-128.md"), finer).unwrap();
        let page = compose(folder.path()).unwrap();
        for part in [
            "2 cores, x86-64",
            "3.5 to 3.5 threads",
            "(../studies/results/lai20-table1-here.svg)",
            "| lai20-table1 | growth | at most 2 times | 3.0 |",
            "- Units.",
            "| 0 | 1 | 0 | 2026-11-18 at ffffffffff | - |",
            "2 of 2 results have some",
            "| 32 |",
            "[lai20-table1-128](../studies/results/lai20-table1-128.md)",
            "| 128 |",
        ] {
            assert!(page.contains(part), "{part} is missing in {page}");
        }
        assert!(!page.contains("Erleben (2013)"), "{page}");
    }

    #[test]
    fn every_study_is_in_a_group() {
        assert_eq!(GROUPS[group_of("erl13-fig2")].1, "Erleben (2013)");
        assert_eq!(GROUPS[group_of("step-speed")].1, "Speed");
    }
}
