//! Copies of meshes in the folder of a run.

use crate::trial::{Trial, assert_error, assert_intact, json, names};
use std::fs;
use std::path::PathBuf;

const TETRAHEDRON: &str =
    "v 0 0 0\nv 0.6 0 0\nv 0 0.6 0\nv 0 0 0.6\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A run of a scene whose liquid and solid are meshes, with the original files deleted.
fn run_without_its_meshes() -> (Trial, PathBuf) {
    let trial = Trial::new();
    let folder = trial.path("a folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("water.obj"), TETRAHEDRON).unwrap();
    fs::write(folder.join("rock.OBJ"), TETRAHEDRON.replace("0.6", "0.3")).unwrap();
    let scene = "[domain]\nsize = [1, 1, 1]\nresolution = 12\n[time]\nframes = 2\n\
         [[liquid]]\nshape = { mesh = { file = \"water.obj\" }, moved = [0.2, 0.2, 0.4] }\n\
         [[solid]]\nshape = { mesh = { file = \"rock.OBJ\" }, moved = [0.2, 0.2, 0.1] }\n";
    fs::write(folder.join("drop.toml"), scene).unwrap();
    let mut command = trial.command();
    let output = command
        .args(["run", "a folder/drop.toml", "--out", "run", "--quiet"])
        .output();
    assert!(output.unwrap().status.success());
    fs::rename(&folder, trial.path("gone")).unwrap();
    let run = trial.path("run");
    (trial, run)
}

#[test]
fn a_run_is_rendered_exported_and_resumed_without_the_original_meshes() {
    let (trial, run) = run_without_its_meshes();
    assert_eq!(names(&run.join("meshes")).len(), 2);
    assert_eq!(
        json(&run.join("run.json"))["meshes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_intact(&run);
    trial.call_well("preview run --png --size 64x48 --quiet");
    trial.call_well("mesh run --quiet");
    trial.call_well("export run --to usd --quiet");
    trial.call_well("report run");
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("data-address=\"/run/0/solid/0\""));
    let status = trial.call_well("status run --json").said;
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    let resume = status["resume"]
        .as_str()
        .unwrap()
        .strip_prefix("meniscus ")
        .unwrap();
    trial.call_well(&format!("{resume} --frames 3 --quiet"));
    assert_eq!(json(&run.join("run.json"))["frames_done"], 3);
    assert_intact(&run);
}

#[test]
fn a_damaged_mesh_copy_is_reported_and_repaired_from_the_original() {
    let (trial, run) = run_without_its_meshes();
    let name = names(&run.join("meshes")).remove(0);
    let copy = run.join("meshes").join(&name);
    let mut bytes = fs::read(&copy).unwrap();
    bytes[3] ^= 1;
    fs::write(&copy, bytes).unwrap();
    for line in [
        "verify run",
        "preview run --png --quiet",
        "mesh run --quiet",
        "run run/scene.toml --out run --resume --frames 3",
    ] {
        assert_error(&trial.call(line), 6, &[&name]);
    }
    trial.call_well("mesh run --quiet --assets gone");
    trial.call_well("run gone/drop.toml --out run --resume --quiet");
    assert_intact(&run);
    fs::remove_file(&copy).unwrap();
    assert_error(&trial.call("verify run"), 6, &[&name, "missing"]);
    // Runs of earlier versions have no copies.
    assert_error(
        &trial.call("mesh run --quiet --smoothing 1"),
        3,
        &["could not be read"],
    );
    trial.call_well("mesh run --quiet --smoothing 1 --assets gone");
}

#[test]
fn mesh_copies_that_a_changed_scene_does_not_use_are_removed() {
    let (trial, run) = run_without_its_meshes();
    let notes = run.join("meshes/notes.txt");
    fs::write(&notes, "mine").unwrap();
    let changed = fs::read_to_string(trial.path("gone/drop.toml")).unwrap();
    let changed = changed.split("[[solid]]").next().unwrap().to_string();
    fs::write(trial.path("gone/drop.toml"), changed).unwrap();
    trial.call_well("run gone/drop.toml --out run --from-frame 1 --overwrite --quiet");
    assert_eq!(names(&run.join("meshes")).len(), 2, "a copy and the notes");
    assert!(notes.exists());
    assert_intact(&run);
    trial.call_well("run gone/drop.toml --from-frame 1 --branch-from run --out branch --quiet");
    assert_eq!(names(&trial.path("branch/meshes")).len(), 1);
    assert_intact(&trial.path("branch"));
}
