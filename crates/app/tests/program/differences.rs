//! `meniscus diff` and `meniscus gc`.

use crate::trial::{Trial, assert_contains, assert_intact, names};
use meniscus_store::lock::Lock;
use serde_json::Value;
use std::fs;

#[test]
fn two_runs_of_one_scene_are_equal_for_any_number_of_threads() {
    let trial = Trial::new();
    let line = "run dam-break-2d --resolution 16 --frames 3 --quiet";
    trial.call_well(&format!("{line} --out a --threads 1"));
    trial.call_well(&format!("{line} --out b --threads 2"));
    let outcome = trial.call_well("diff a b");
    assert_contains(&outcome.said, &["equal"]);
    let json: Value = serde_json::from_str(&trial.call_well("diff a b --json").said).unwrap();
    assert_eq!(json["same"], true);
}

#[test]
fn differences_are_listed_by_key_step_and_frame() {
    let trial = Trial::new();
    let line = "run dam-break-2d --resolution 12 --quiet";
    trial.call_well(&format!("{line} --frames 3 --out a"));
    trial.call_well(&format!("{line} --frames 4 --out b --set gravity=[0,-3]"));
    let outcome = trial.fails("diff a b", 1, &[]);
    assert_contains(
        &outcome.said,
        &[
            "gravity",
            "time.frames: 3 and 4",
            "differ from step",
            "only in the second",
        ],
    );
    let outcome = trial.fails("diff a b --json", 1, &[]);
    let json: Value = serde_json::from_str(&outcome.said).unwrap();
    let difference = &json["difference"];
    assert_eq!(json["same"], false);
    assert_eq!(difference["frames_alone"], serde_json::json!([[], [4]]));
    let first = &difference["first_frame"];
    assert_eq!(first["frame"], 1);
    let (near, far) = (
        &first["distance"],
        &difference["farthest_frame"]["distance"],
    );
    assert!(near.as_f64().unwrap() > 0.0);
    assert!(far.as_f64().unwrap() >= near.as_f64().unwrap());
    let fields = difference["first_step"]["fields"].as_array().unwrap();
    let speed = fields.iter().find(|f| f["field"] == "max_speed").unwrap();
    let [a, b] = ["first", "second"].map(|run| speed[run].as_f64().unwrap());
    assert_eq!(speed["by"].as_f64().unwrap(), b - a);
}

#[test]
fn a_damaged_frame_ends_the_comparison_and_is_reported() {
    let trial = Trial::new();
    let line = "run dam-break-2d --resolution 12 --frames 2 --quiet";
    trial.call_well(&format!("{line} --out a"));
    trial.call_well(&format!("{line} --out b"));
    fs::write(trial.path("b/particles/particles_000002.mpc"), b"").unwrap();
    trial.fails("diff a b", 6, &["particles_000002.mpc"]);
}

/// A run with an export, an old failure, an incomplete file, surfaces, and foreign files.
fn littered() -> Trial {
    let trial = Trial::after("run dam-break-2d --resolution 12 --frames 6 --quiet --out run");
    trial.call_well("export run --to ply");
    for folder in ["failed", "surfaces"] {
        fs::create_dir(trial.path(&format!("run/{folder}"))).unwrap();
    }
    for file in [
        "failed/A.mtx",
        "surfaces/surface_000001.ply",
        "surfaces/notes.txt",
        "export/ply/particles/mine.txt",
        "particles/.particles_000007.mpc.unfinished",
        "mine.txt",
    ] {
        fs::write(trial.path(&format!("run/{file}")), "words").unwrap();
    }
    trial
}

#[test]
fn gc_deletes_exactly_what_can_be_regenerated() {
    let trial = littered();
    let run = trial.path("run");
    let kept = names(&run.join("particles"));
    let said = trial.call_well("gc run").said;
    assert_contains(&said, &["--yes"]);
    assert!(run.join("failed/A.mtx").exists() && run.join("state/state_000004.bin").exists());

    let json: Value = serde_json::from_str(&trial.call_well("gc run --json").said).unwrap();
    assert_eq!(json["removed"], false);
    let promised = json["bytes"].as_u64().unwrap();
    let size = |path: &std::path::Path| trial_size(path);
    let before = size(&run);
    trial.call_well("gc run --yes");
    assert_eq!(before - size(&run), promised);

    assert_eq!(names(&run.join("state")), ["state_000006.bin"]);
    assert_eq!(names(&run.join("surfaces")), ["notes.txt"]);
    assert_eq!(names(&run.join("export/ply/particles")), ["mine.txt"]);
    assert!(!run.join("failed").exists() && run.join("mine.txt").exists());
    let frames: Vec<String> = kept
        .into_iter()
        .filter(|name| !name.starts_with('.'))
        .collect();
    assert_eq!(names(&run.join("particles")), frames);
    assert_intact(&run);
    assert!(trial.call_well("gc run --yes").said.contains("nothing"));
    // The run resumes from the rest.
    trial.call_well("run dam-break-2d --resolution 12 --frames 7 --resume --quiet --out run");
    assert_intact(&run);
}

fn trial_size(path: &std::path::Path) -> u64 {
    let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
    entries
        // The lock contains the number of the last process.
        .filter(|entry| entry.file_name() != "lock")
        .map(|entry| match entry.file_type().unwrap() {
            kind if kind.is_dir() => trial_size(&entry.path()),
            _ => entry.metadata().unwrap().len(),
        })
        .sum()
}

#[test]
fn a_damaged_last_checkpoint_keeps_the_one_before_it() {
    let trial = Trial::after("run dam-break-2d --resolution 12 --frames 4 --quiet --out run");
    let state = trial.path("run/state");
    assert_eq!(names(&state).last().unwrap(), "state_000004.bin");
    fs::write(state.join("state_000004.bin"), b"").unwrap();
    trial.call_well("gc run --yes");
    assert_eq!(names(&state), ["state_000003.bin", "state_000004.bin"]);
}

#[test]
fn gc_refuses_a_folder_with_a_run_in_progress() {
    let trial = littered();
    let lock = Lock::take(&trial.path("run")).unwrap();
    for line in ["gc run", "gc run --yes"] {
        trial.fails(line, 6, &["process"]);
    }
    assert!(trial.path("run/failed/A.mtx").exists());
    drop(lock);
    trial.call_well("gc run --yes");
}

#[cfg(unix)]
#[test]
fn gc_neither_follows_nor_removes_links() {
    use std::os::unix::fs::symlink;
    let trial = littered();
    let outside = trial.path("outside");
    fs::create_dir(&outside).unwrap();
    for name in ["surface_000001.ply", "A.mtx", "state_000001.bin"] {
        fs::write(outside.join(name), "precious").unwrap();
    }
    let run = trial.path("run");
    fs::remove_dir_all(run.join("failed")).unwrap();
    fs::remove_dir_all(run.join("surfaces")).unwrap();
    symlink(&outside, run.join("failed")).unwrap();
    symlink(&outside, run.join("surfaces")).unwrap();
    symlink(&outside, run.join("export/deep")).unwrap();
    symlink(
        outside.join("state_000001.bin"),
        run.join("state/state_000000.bin"),
    )
    .unwrap();
    trial.call_well("gc run --yes");
    assert_eq!(
        names(&outside),
        ["A.mtx", "state_000001.bin", "surface_000001.ply"]
    );
    assert!(run.join("failed").is_symlink() && run.join("state/state_000000.bin").is_symlink());
}
