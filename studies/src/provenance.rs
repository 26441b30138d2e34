//! Provenance: commit, date and cost of a result, and whether what it measures has changed since.

use meniscus_store::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Sources that studies measure, by the beginnings of their names; the first that fits counts.
const SUBJECTS: [(&str, &[&str]); 12] = [
    ("erl13-contact", &["crates/lcp/src", "crates/rigid/src"]),
    ("erl13-", &["crates/lcp/src"]),
    ("lcp-speed", &["crates/lcp/src"]),
    ("auto", &["crates/lcp/src"]),
    ("mesh-distance", &["crates/shapes/src"]),
    ("surface-", &["crates/app/src/surface", "crates/skin/src"]),
    (
        "runner-speed",
        &["crates/app/src/runner", "crates/store/src"],
    ),
    ("rigid-speed", &["crates/rigid/src", "crates/lcp/src"]),
    ("pf-", &["crates/projective/src"]),
    ("wkb16-", &["crates/projective/src"]),
    ("tb20-", BODIES_IN_LIQUID),
    ("", LIQUID),
];
const LIQUID: &[&str] = &["crates/liquid/src", "crates/lcp/src", "crates/shapes/src"];
const BODIES_IN_LIQUID: &[&str] = &[
    "crates/coupled/src",
    "crates/liquid/src",
    "crates/rigid/src",
    "crates/lcp/src",
];

/// Folders of the workspace whose sources decide the results of a study.
pub fn subjects(study: &str) -> &'static [&'static str] {
    if ["archimedes", "coupling-speed", "stokes-speed"].contains(&study) {
        return BODIES_IN_LIQUID;
    }
    let own = SUBJECTS.iter().find(|(start, _)| study.starts_with(start));
    own.map_or(LIQUID, |(_, folders)| folders)
}

/// Where a result comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// Abbreviated hash of the commit that was compiled; with a plus sign if files were changed since.
    pub commit: String,
    /// Day of the run, as 2026-11-18.
    pub date: String,
    /// CPU seconds that the study took, parts in subprocesses included.
    pub cpu: f64,
}

impl Provenance {
    /// That of a run that ends now. None outside of a git checkout.
    pub fn of_a_run(root: &Path, cpu: f64) -> Option<Self> {
        let commit = git(root, &["rev-parse", "--short=10", "HEAD"])?;
        let changed = git(
            root,
            &["status", "--porcelain", "--", "crates", "studies/src"],
        )?;
        let changed = if changed.is_empty() { "" } else { "+" };
        Some(Provenance {
            commit: commit + changed,
            date: today(),
            cpu,
        })
    }

    /// The sentence of a document.
    pub fn sentence(&self) -> String {
        let Provenance { commit, date, cpu } = self;
        format!("Made on {date} at commit {commit} in {cpu:.0} CPU s.")
    }

    /// The provenance in a sentence.
    pub fn read(sentence: &str) -> Option<Self> {
        let rest = sentence.strip_prefix("Made on ")?.strip_suffix(" CPU s.")?;
        let (date, rest) = rest.split_once(" at commit ")?;
        let (commit, cpu) = rest.split_once(" in ")?;
        Some(Provenance {
            commit: commit.into(),
            date: date.into(),
            cpu: cpu.parse().ok()?,
        })
    }

    /// That of a document without the sentence: the last commit that changed the file. Its cost is not known.
    pub fn of_a_file(root: &Path, file: &Path) -> Option<Self> {
        let file = file.to_str()?;
        let line = git(
            root,
            &["log", "-1", "--format=%h %cs", "--abbrev=10", "--", file],
        )?;
        let (commit, date) = line.split_once(' ')?;
        Some(Provenance {
            commit: commit.into(),
            date: date.into(),
            cpu: f64::INFINITY,
        })
    }

    /// Commits since then that changed what a study measures. None if the commit is not known here.
    pub fn changes_since(&self, root: &Path, study: &str) -> Option<usize> {
        let range = format!("{}..HEAD", self.commit.trim_end_matches('+'));
        let mut words = vec!["rev-list", "--count", &range, "--"];
        words.extend(subjects(study));
        git(root, &words)?.parse().ok()
    }
}

/// Output of a git command; None if it fails.
fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(words).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// CPU seconds of this process and of the subprocesses that have ended. None where `/proc` does not have them.
pub fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Fields after the name, which is in parentheses and may contain spaces: utime, stime, cutime and cstime are the
    // 12th to the 15th of them, in ticks of 1/100 s.
    let (_, fields) = text.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(4);
    let ticks: Vec<f64> = ticks.map_while(|field| field.parse().ok()).collect();
    (ticks.len() == 4).then(|| ticks.iter().sum::<f64>() / 100.0)
}

/// The root of the workspace.
pub fn root() -> Result<std::path::PathBuf, Error> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    folder
        .canonicalize()
        .map_err(|cause| Error::io("find", &folder, &cause))
}

/// The current day in UTC.
fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    day(now.map_or(0, |since| since.as_secs() / 86_400))
}

/// A day by its number since 1970-01-01, in the Gregorian calendar.
fn day(number: u64) -> String {
    let divides = |number: u64, year: u64| year.is_multiple_of(number);
    let leap = |year| divides(4, year) && (!divides(100, year) || divides(400, year));
    let (mut year, mut left) = (1970, number);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::STUDIES;

    #[test]
    fn days_have_their_dates() {
        for (number, date) in [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (20_453, "2025-12-31"),
            (20_775, "2026-11-18"),
        ] {
            assert_eq!(day(number), date);
        }
    }

    #[test]
    fn the_sentence_of_a_document_is_read_again() {
        let made = Provenance {
            commit: "0123456789+".into(),
            date: "2026-11-18".into(),
            cpu: 131.0,
        };
        assert_eq!(Provenance::read(&made.sentence()), Some(made));
        assert_eq!(Provenance::read("Done once."), None);
    }

    #[test]
    fn every_study_measures_folders_that_exist() {
        let root = root().unwrap();
        for study in STUDIES {
            for folder in subjects(study.name) {
                assert!(root.join(folder).is_dir(), "{}: {folder}", study.name);
            }
        }
        assert_eq!(subjects("erl13-table2"), ["crates/lcp/src"]);
        assert!(subjects("lai20-table1").contains(&"crates/liquid/src"));
    }

    #[test]
    fn changes_are_counted_in_what_a_study_measures_alone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let commit = |file: &str, text: &str| {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
            git(root, &["add", "-A"]).unwrap();
            let name = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
            git(root, &[&name[..], &["commit", "-qm", text]].concat()).unwrap();
        };
        git(root, &["init", "-q"]).unwrap();
        commit("crates/lcp/src/lib.rs", "one");
        let made = Provenance::of_a_run(root, 1.0).unwrap();
        assert_eq!(made.changes_since(root, "erl13-fig1"), Some(0));
        commit("crates/liquid/src/lib.rs", "two");
        assert_eq!(made.changes_since(root, "erl13-fig1"), Some(0));
        assert_eq!(made.changes_since(root, "lai20-table1"), Some(1));
        commit("crates/lcp/src/lib.rs", "three");
        assert_eq!(made.changes_since(root, "erl13-fig1"), Some(1));
        let of_file = Provenance::of_a_file(root, Path::new("crates/lcp/src/lib.rs")).unwrap();
        assert_eq!(of_file.changes_since(root, "erl13-fig1"), Some(0));
        std::fs::write(root.join("crates/lcp/src/lib.rs"), "four").unwrap();
        let changed = Provenance::of_a_run(root, 1.0).unwrap();
        assert!(changed.commit.ends_with('+'));
        assert_eq!(changed.changes_since(root, "erl13-fig1"), Some(0));
        let unknown = Provenance {
            commit: "f".repeat(10),
            ..changed
        };
        assert_eq!(unknown.changes_since(root, "erl13-fig1"), None);
    }
}
