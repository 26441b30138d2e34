//! Allowed locations of mesh files.

use crate::trial::{Trial, assert_contains};
use std::fs;

/// A scene with a tetrahedron of water from a mesh file.
fn scene(file: &str) -> String {
    format!(
        "[domain]\nsize = [1, 1, 1]\nresolution = 16\n[time]\nframes = 1\n\
         [[liquid]]\nshape = {{ mesh = {{ file = \"{file}\" }}, moved = [0.2, 0.2, 0.2] }}\n"
    )
}

const TETRAHEDRON: &str =
    "v 0 0 0\nv 0.6 0 0\nv 0 0.6 0\nv 0 0 0.6\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

#[test]
fn meshes_outside_the_folder_of_the_scene_are_refused() {
    let trial = Trial::new();
    let folder = trial.path("scenes");
    fs::create_dir_all(folder.join("inner")).unwrap();
    fs::write(trial.path("outer.obj"), TETRAHEDRON).unwrap();
    fs::write(folder.join("inner/mesh.obj"), TETRAHEDRON).unwrap();
    std::os::unix::fs::symlink(trial.path("outer.obj"), folder.join("link.obj")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(folder.join("pipe.obj"))
        .status();
    assert!(pipe.unwrap().success());
    let absolute = trial.path("outer.obj").display().to_string();
    let check = |file: &str, flags: &str| {
        fs::write(folder.join("scene.toml"), scene(file)).unwrap();
        trial.call(&format!("check scenes/scene.toml {flags}"))
    };
    for inside in ["inner/mesh.obj", "./inner/mesh.obj"] {
        let outcome = check(inside, "");
        assert_eq!(outcome.code, 0, "{}", outcome.errors);
    }
    for (file, what) in [
        ("../outer.obj", "outside the scene's folder"),
        ("inner/../../outer.obj", "outside the scene's folder"),
        (&absolute, "outside the scene's folder"),
        ("link.obj", "outside the scene's folder"),
        ("pipe.obj", "is a device or a pipe"),
        ("inner", "is a folder"),
        ("missing.obj", "could not be read"),
        ("/dev/zero", "outside the scene's folder"),
    ] {
        let outcome = check(file, "");
        assert_eq!(outcome.code, 3, "{file}: {}", outcome.errors);
        assert!(outcome.errors.contains(what), "{file}: {}", outcome.errors);
        assert_contains(&outcome.errors, &["scene.toml:7:"]);
    }
    for file in ["../outer.obj", "link.obj", &absolute] {
        let outcome = check(file, "--allow-outside-files");
        assert_eq!(outcome.code, 0, "{file}: {}", outcome.errors);
    }
}

#[test]
fn a_changed_mesh_is_a_changed_scene() {
    let trial = Trial::new();
    fs::write(trial.path("mesh.obj"), TETRAHEDRON).unwrap();
    fs::write(trial.path("drop.toml"), scene("mesh.obj")).unwrap();
    trial.call_well("run drop.toml --quiet");
    trial.call_well("run drop.toml --resume --frames 2 --quiet");
    fs::write(trial.path("mesh.obj"), TETRAHEDRON.replace("0.6", "0.5")).unwrap();
    trial.fails("run drop.toml --resume --frames 3", 2, &["hash"]);
}

#[test]
fn a_mesh_in_a_2d_scene_is_refused() {
    let trial = Trial::new();
    fs::write(trial.path("mesh.obj"), TETRAHEDRON).unwrap();
    let flat = scene("mesh.obj")
        .replace("[1, 1, 1]", "[1, 1]")
        .replace("[0.2, 0.2, 0.2]", "[0.2, 0.2]");
    fs::write(trial.path("flat.toml"), flat).unwrap();
    trial.fails("check flat.toml", 2, &["three dimensions"]);
}
