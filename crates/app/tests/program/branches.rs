//! Branches: new runs that start with the frames of another one.

use crate::trial::{Trial, assert_error, assert_intact, assert_same_run, json, lines, names};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const RUN: &str = "run dam-break-2d --quiet";
const LINE: &str = "run dam-break-2d --quiet --resolution 16 --frames 6";

/// Every file below a folder with its bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            let inner = contents(&path).into_iter();
            all.extend(inner.map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else {
            all.insert(name, fs::read(path).unwrap());
        }
    }
    all
}

#[test]
fn a_branch_shares_the_first_frames_and_continues_with_the_changed_scene() {
    let trial = Trial::after(LINE);
    let source = trial.path("out/dam-break-2d");
    let before = contents(&source);
    let changed = format!("{LINE} --set gravity=[2,-9.81]");
    trial.call_well(&format!("{changed} --from-frame 4 --out new"));
    assert_eq!(contents(&source), before, "the source stays as it is");
    let out = trial.path("new");
    assert_intact(&out);
    let frame =
        |run: &Path, k: u32| fs::read(run.join(format!("particles/particles_{k:06}.mpc"))).unwrap();
    for k in 0..=6 {
        assert_eq!(frame(&out, k) == frame(&source, k), k <= 4, "frame {k}");
    }
    let manifest = json(&out.join("run.json"));
    assert_eq!(manifest["branched_from"]["frame"], 4);
    assert_eq!(manifest["branched_from"]["run"], "out/dam-break-2d");
    let steps = lines(&out.join("stats.jsonl")).len() as u64;
    assert_eq!(manifest["steps"].as_u64(), Some(steps));
    assert!(
        trial
            .call_well("status new")
            .said
            .contains("of out/dam-break-2d, after its frame 4")
    );

    // It is a run like any other.
    trial.call_well("export new --to ply --quiet");
    assert_eq!(names(&trial.path("new/export/ply/particles")).len(), 7);
    trial.call_well("preview new --gif --size 64x48 --quiet");
    let longer = "--resolution 16 --frames 7 --set gravity=[2,-9.81] --out new --resume";
    trial.call_well(&format!("{RUN} {longer}"));
    assert_intact(&out);
    assert_eq!(json(&out.join("run.json"))["branched_from"]["frame"], 4);
    assert_eq!(contents(&source), before, "the source stays as it is");
    // A branch without changes equals its source.
    trial.call_well(&format!("{LINE} --from-frame 5 --out same"));
    assert_same_run(&trial.path("same"), &source);
}

#[test]
fn the_source_of_a_branch_can_be_given_and_auto_chooses_a_folder() {
    let trial = Trial::after(&format!("{LINE} --out mine"));
    let missing = trial.call(&format!("{LINE} --from-frame 5 --out new"));
    assert_error(&missing, 6, &["--branch-from"]);
    assert!(!trial.path("new").exists());
    trial.call_well(&format!("{LINE} --from-frame 5 --branch-from mine"));
    trial.call_well(&format!("{LINE} --from-frame 5 --out auto"));
    assert_eq!(
        names(&trial.path("out")),
        ["dam-break-2d", "dam-break-2d-2"]
    );
    for run in ["out/dam-break-2d", "out/dam-break-2d-2"] {
        assert_same_run(&trial.path(run), &trial.path("mine"));
    }
    for (line, expected) in [
        (
            "--from-frame 5 --branch-from mine --out mine",
            "the same folder",
        ),
        (
            "--from-frame 5 --branch-from mine --out out/dam-break-2d",
            "--out auto",
        ),
        (
            "--from-frame 9 --branch-from mine --out new",
            "there is no frame 9",
        ),
        ("--branch-from mine", "--from-frame"),
    ] {
        assert_error(&trial.call(&format!("{LINE} {line}")), 2, &[expected]);
    }
    let finer = "--resolution 18 --from-frame 5 --branch-from mine --out new";
    let finer = trial.call(&format!("{RUN} {finer}"));
    assert_error(&finer, 2, &["resolution (from 16 to 18)"]);
    assert!(
        !trial.path("new").exists(),
        "nothing is left of what was refused"
    );
}

#[test]
fn an_incomplete_branch_is_not_restarted_from_the_beginning() {
    let trial = Trial::after(LINE);
    trial.call_well(&format!("{LINE} --from-frame 5 --out new"));
    fs::remove_dir_all(trial.path("new/state")).unwrap();
    let longer = "--resolution 16 --frames 7 --out new --resume";
    trial.fails(
        &format!("{RUN} {longer}"),
        6,
        &["out/dam-break-2d", "frame 5"],
    );
    // As if it had been killed while its frames were copied: the same command creates it again.
    fs::remove_dir_all(trial.path("new")).unwrap();
    fs::create_dir_all(trial.path("new/particles")).unwrap();
    fs::create_dir_all(trial.path("new/state")).unwrap();
    trial.call_well(&format!("{LINE} --from-frame 5 --out new"));
    assert_same_run(&trial.path("new"), &trial.path("out/dam-break-2d"));
    // A branch replaces a run only with `--overwrite`.
    let again = format!("{LINE} --from-frame 4 --branch-from out/dam-break-2d --out new");
    assert_error(&trial.call(&again), 2, &["--overwrite"]);
    trial.call_well(&format!("{again} --overwrite"));
    assert_intact(&trial.path("new"));
}
