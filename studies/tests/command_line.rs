//! The program as people call it.

use std::path::Path;
use std::process::{Command, Output};

fn study(words: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_meniscus-studies");
    Command::new(program)
        .args(words)
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_list_has_a_line_for_every_study() {
    let output = study(&["--list"]);
    assert!(output.status.success());
    let list = text(&output.stdout);
    assert!(
        list.lines().any(|line| line.starts_with("step-speed ")),
        "{list}"
    );
    assert!(
        list.lines().all(|line| line.split_whitespace().count() > 1),
        "{list}"
    );
}

#[test]
fn an_unknown_study_ends_with_2_and_a_guess() {
    let output = study(&["step-sped"]);
    assert_eq!(output.status.code(), Some(2));
    let words = text(&output.stderr);
    assert!(words.contains("did you mean step-speed?"), "{words}");
}

#[test]
fn an_unknown_one_of_several_studies_ends_with_2() {
    let output = study(&["several", "no-such-study"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no-such-study"));
}

#[test]
fn nothing_to_do_is_wrong_usage_with_help() {
    let output = study(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("step-speed"));
}

#[test]
fn a_small_study_prints_its_tables_and_writes_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().to_str().unwrap();
    let quick = [
        "step-speed",
        "--resolution",
        "12",
        "--frames",
        "1",
        "--scenes",
        "dam-break",
    ];
    let output = study(&[&quick[..], &["--walls", "slip", "--results", results]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for heading in ["TARGETS", "RUNS", "PHASES", "EMPTY SPACE"] {
        assert!(shown.contains(heading), "{shown}");
    }
    let document = read(folder.path(), "step-speed-12.md");
    assert!(document.starts_with("# step-speed-12\n"), "{document}");
    // One and two threads, a frame each, and the headings.
    assert_eq!(read(folder.path(), "step-speed-12.csv").lines().count(), 3);
}

#[test]
fn json_is_all_there_is_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().to_str().unwrap();
    let quick = [
        "step-speed",
        "--resolution",
        "12",
        "--frames",
        "1",
        "--scenes",
        "dam-break",
    ];
    let chosen = [
        "--walls",
        "slip",
        "--threads",
        "1",
        "--json",
        "--results",
        results,
    ];
    let output = study(&[&quick[..], &chosen].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["study"], "step-speed");
    assert!(json["data"][0]["cpu_s"].as_f64().unwrap() > 0.0, "{json}");
}

#[test]
fn a_results_folder_that_cannot_be_made_is_told_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let output = study(&["step-speed", "--results", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(6));
    assert!(!text(&output.stderr).contains("[1/"), "nothing was run");
}

#[test]
fn the_page_of_results_is_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("results.md");
    let output = study(&["results", "--output", made.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results.md");
    let page = |path: &Path| without_age(&std::fs::read_to_string(path).unwrap());
    assert!(page(&made) == page(&kept), "run `cargo study results`");
}

/// The page without what every commit changes: the last two columns of the overviews, and the count of old results.
fn without_age(page: &str) -> String {
    let lines = page
        .lines()
        .filter(|line| !line.starts_with("Changes since"));
    let shorter = lines.map(|line| match line.starts_with("| [") {
        true => line.rsplitn(4, '|').last().unwrap_or(line),
        false => line,
    });
    shorter.collect::<Vec<_>>().join("\n")
}

#[test]
fn old_results_are_listed_without_running_them() {
    let output = study(&["refresh", "--dry-run"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let listed = |line: &str| line.contains("since") || line.contains("not known here");
    assert!(said.lines().all(listed), "{said}");
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("the file was written")
}
