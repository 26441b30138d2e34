use crate::trial::{Trial, json, names};
use std::fs;

const SMALL: &str = "run dam-break-2d --resolution 12 --frames 2 --quiet";

#[test]
fn overwrite_replaces_a_run_of_the_same_scene_and_keeps_foreign_files() {
    let trial = Trial::after(SMALL);
    let out = trial.path("out/dam-break-2d");
    trial.call_well("export out/dam-break-2d --to ply");
    fs::write(out.join("notes.txt"), "mine").unwrap();
    fs::write(out.join("particles/notes.txt"), "mine").unwrap();
    trial.call_well("run dam-break-2d --resolution 12 --frames 1 --quiet --overwrite");
    assert_eq!(
        names(&out.join("particles")),
        ["notes.txt", "particles_000000.mpc", "particles_000001.mpc"]
    );
    assert!(
        names(&out.join("export/ply/particles")).is_empty(),
        "stale exports are gone"
    );
    assert_eq!(fs::read_to_string(out.join("notes.txt")).unwrap(), "mine");
    assert_eq!(json(&out.join("run.json"))["frames"], 1);
}

#[test]
fn a_folder_with_another_scene_is_refused_and_unchanged() {
    let trial = Trial::after(&format!("{SMALL} --out here"));
    let before = names(&trial.path("here"));
    trial.fails(
        "run circle --resolution 12 --frames 1 --out here",
        2,
        &["dam-break-2d", "--out"],
    );
    assert_eq!(names(&trial.path("here")), before);
    assert_eq!(json(&trial.path("here/run.json"))["scene"], "dam-break-2d");
}

#[test]
fn a_folder_with_foreign_files_is_refused() {
    let trial = Trial::new();
    fs::create_dir(trial.path("photos")).unwrap();
    fs::write(trial.path("photos/cat.jpg"), "cat").unwrap();
    trial.fails(&format!("{SMALL} --out photos"), 2, &[]);
    assert_eq!(names(&trial.path("photos")), ["cat.jpg"]);
    fs::write(trial.path("photos/run.json"), "{\"program\": \"other\"}").unwrap();
    assert_eq!(trial.call(&format!("{SMALL} --out photos")).code, 2);
    fs::write(trial.path("file"), "").unwrap();
    trial.fails(&format!("{SMALL} --out file"), 2, &[]);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    use std::os::unix::fs::symlink;
    let trial = Trial::after(SMALL);
    let out = trial.path("out/dam-break-2d");
    fs::create_dir(trial.path("elsewhere")).unwrap();
    fs::write(trial.path("precious"), "precious").unwrap();

    fs::remove_file(out.join("stats.jsonl")).unwrap();
    symlink(trial.path("precious"), out.join("stats.jsonl")).unwrap();
    trial.call_well(&format!("{SMALL} --overwrite"));
    assert_eq!(
        fs::read_to_string(trial.path("precious")).unwrap(),
        "precious"
    );

    fs::remove_dir_all(out.join("particles")).unwrap();
    symlink(trial.path("elsewhere"), out.join("particles")).unwrap();
    trial.fails(&format!("{SMALL} --overwrite"), 2, &["is not a folder"]);
    assert!(names(&trial.path("elsewhere")).is_empty());
}

#[cfg(unix)]
#[test]
fn a_folder_that_can_not_be_written_is_a_storage_error() {
    let trial = Trial::new();
    // A file in the way works for the superuser as well, whom permissions do not stop.
    fs::write(trial.path("out"), "").unwrap();
    let outcome = trial.call(SMALL);
    assert!([2, 6].contains(&outcome.code), "{}", outcome.errors);
    trial.fails(
        &format!("{SMALL} --out /proc/meniscus"),
        6,
        &["/proc/meniscus"],
    );
}
