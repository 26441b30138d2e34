//! Finished frames are replaced only with `--overwrite`.

use crate::trial::{Trial, assert_contains, assert_error, json, names};
use std::fs;

const LINE: &str = "run dam-break-2d --resolution 12 --frames 3 --quiet";
const MANIFEST: &str = "out/dam-break-2d/run.json";

#[test]
fn a_finished_run_is_not_replaced_and_the_options_are_listed() {
    let trial = Trial::after(LINE);
    let before = fs::read(trial.path(MANIFEST)).unwrap();
    let outcome = trial.call(LINE);
    let ways = [
        "finished run of 3 frames",
        "--overwrite",
        "--out auto",
        "out/dam-break-2d-2",
    ];
    assert_error(&outcome, 2, &ways);
    assert!(!outcome.errors.contains("--resume"), "{}", outcome.errors);
    assert_eq!(fs::read(trial.path(MANIFEST)).unwrap(), before);
    trial.call_well("run dam-break-2d --resolution 12 --frames 2 --quiet --overwrite");
    assert_eq!(json(&trial.path(MANIFEST))["frames"], 2);
}

#[test]
fn auto_chooses_the_next_free_folder() {
    let trial = Trial::new();
    for folder in ["dam-break-2d", "dam-break-2d-2", "dam-break-2d-3"] {
        trial.call_well(&format!("{LINE} --out auto"));
        assert!(trial.path("out").join(folder).join("preview.gif").exists());
    }
    // An empty folder is free.
    fs::remove_dir_all(trial.path("out/dam-break-2d-2")).unwrap();
    fs::create_dir(trial.path("out/dam-break-2d-2")).unwrap();
    trial.call_well(&format!("{LINE} --out auto"));
    assert_eq!(names(&trial.path("out")).len(), 3);
    // A file in the way is an error, not a reason to search forever.
    let other = Trial::new();
    fs::write(other.path("out"), "").unwrap();
    let outcome = other.call(&format!("{LINE} --out auto"));
    assert!([2, 6].contains(&outcome.code), "{}", outcome.errors);
    trial.fails(&format!("{LINE} --out auto --resume"), 2, &["--out DIR"]);
}

#[test]
fn the_program_without_a_command_never_replaces_a_run() {
    let trial = Trial::new();
    let line = "--resolution 8 --frames 1 --set output.preview=false";
    trial.call_well(line);
    let outcome = trial.call_well(line);
    assert_contains(&outcome.errors, &["out/thrown-sphere-2"]);
    assert_eq!(
        names(&trial.path("out")),
        ["thrown-sphere", "thrown-sphere-2"]
    );
}

#[test]
fn frames_after_from_frame_are_replaced_only_with_overwrite() {
    let trial = Trial::after(LINE);
    let before = fs::read(trial.path(MANIFEST)).unwrap();
    trial.fails(
        &format!("{LINE} --from-frame 2"),
        2,
        &["after frame 2", "--overwrite", "--out auto"],
    );
    trial.fails(
        &format!("{LINE} --from-frame 0"),
        2,
        &["--overwrite", "--out auto"],
    );
    assert_eq!(fs::read(trial.path(MANIFEST)).unwrap(), before);
    trial.call_well(&format!("{LINE} --from-frame 2 --overwrite"));
    // Nothing follows the last frame.
    trial.call_well("run dam-break-2d --resolution 12 --frames 4 --quiet --from-frame 3");
    assert_eq!(json(&trial.path(MANIFEST))["frames_done"], 4);
}

#[test]
fn suggested_commands_work_in_a_shell() {
    let trial = Trial::new();
    fs::create_dir(trial.path("it's a folder")).unwrap();
    let scene = "it's a folder/a scene.toml";
    trial.call_well("init dam-break-2d --out s.toml");
    fs::rename(trial.path("s.toml"), trial.path(scene)).unwrap();
    let run = |out: &str| {
        let mut command = trial.command();
        command.args([
            "run",
            scene,
            "--out",
            out,
            "--resolution",
            "8",
            "--frames",
            "1",
        ]);
        command.args(["--set", "walls.kind=slip", "--set", "solver.method=cg"]);
        command.args(["--set", "gravity=[1, -9]"]);
        command.env_remove("CARGO_MANIFEST_DIR").output().unwrap()
    };
    let said = String::from_utf8(run("an out $folder").stdout).unwrap();
    let next = said.split("Next:").nth(1).expect("what to type next");
    let commands: Vec<&str> = next
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    assert!(commands.len() >= 4, "{said}");
    let program = env!("CARGO_BIN_EXE_meniscus");
    for command in commands.iter().filter(|c| !c.contains(" view ")) {
        let line = command.replacen("meniscus", program, 1);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line]).current_dir(trial.path(""));
        let output = shell.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {errors}");
    }
    assert!(trial.path("an out $folder-separating/preview.gif").exists());
    assert!(
        commands.iter().any(|c| c.contains("view 'an out $folder'")),
        "{said}"
    );
}
