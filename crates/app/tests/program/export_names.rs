//! Names, numbers and axes of exported files.

use crate::trial::{Trial, assert_contains, json, names};
use std::fs;

/// A run of one frame after the initial state.
fn run() -> Trial {
    Trial::after("run ceiling-ball --resolution 8 --frames 1 --quiet --out run")
}

#[test]
fn files_have_the_requested_names_and_numbers() {
    let trial = run();
    trial.call_well(
        "export run --to obj --first-frame 1001 --name {scene}_{what}.{frame:04} --quiet",
    );
    let folder = trial.path("run/export/obj/surface");
    let expected = [
        "ceiling-ball_surface.1001.obj",
        "ceiling-ball_surface.1002.obj",
    ];
    assert_eq!(names(&folder), [&expected[..], &["exported.json"]].concat());
    trial.call_well("export run --to vtk --first-frame 10 --quiet");
    let folder = trial.path("run/export/vtk/particles");
    let series = json(&folder.join("particles.vtp.series"));
    assert_eq!(series["files"][0]["name"], "particles_000010.vtp");
    assert_eq!(series["files"][0]["time"], 0.0);
    assert_eq!(series["files"].as_array().unwrap().len(), 2);
    trial.call_well("export run --to usd --name {scene} --what surface --quiet");
    assert!(trial.path("run/export/usd/ceiling-ball.usdc").is_file());
}

#[test]
fn an_export_reports_the_files_that_it_replaces() {
    let trial = run();
    let first = trial.call_well("export run --to npz");
    assert!(!first.said.contains("replacing"), "{}", first.said);
    let again = trial.call_well("export run --to npz");
    assert_contains(&again.said, &["replacing 2 files of an earlier export"]);
}

#[test]
fn renamed_exports_are_found_by_gc_and_removed_with_their_run() {
    let trial = run();
    let line = "export run --to ply --name {scene}.{frame} --quiet";
    trial.call_well(line);
    let folder = trial.path("run/export/ply/particles");
    fs::write(folder.join("mine.ply"), "mine").unwrap();
    trial.call_well("run ceiling-ball --resolution 8 --frames 1 --quiet --out run --overwrite");
    assert_eq!(
        names(&folder),
        ["exported.json", "mine.ply"],
        "old frames are gone"
    );
    trial.call_well(line);
    trial.call_well("gc run --yes");
    assert_eq!(names(&folder), ["mine.ply"]);
}

#[test]
fn names_that_escape_the_folder_or_collide_are_refused() {
    let trial = run();
    for (flags, expected) in [
        ("--to obj --name ../{frame}", "--out DIR"),
        ("--to obj --name .{frame}", "begin with a dot"),
        ("--to obj --name {scene}", "needs {frame}"),
        ("--to usd --name {frame}", "contains all frames"),
        ("--to obj --name {fraem}", "unknown field {fraem}"),
        ("--to obj --first-frame 4294967295", "--first-frame"),
    ] {
        trial.fails(&format!("export run {flags}"), 2, &[expected]);
    }
    assert!(!trial.path("run/export").exists());
}

#[test]
fn obj_files_are_y_up_and_every_export_names_its_axis() {
    let trial = run();
    let line = "export run --frames 0 --what surface";
    for (flags, up) in [
        ("--to obj", "Y up"),
        ("--to obj --up z --out turned", "Z up"),
        ("--to ply", "Z up"),
        ("--to usd --up y", "Y up"),
    ] {
        let said = trial.call_well(&format!("{line} {flags}")).said;
        assert_eq!(said.matches(up).count(), 2, "{flags}: {said}");
        assert_contains(&said, &["1 frame,"]);
    }
    let vertices = |file: &str| -> Vec<[f64; 3]> {
        let text = fs::read_to_string(trial.path(file)).unwrap();
        let positions = text.lines().filter_map(|line| line.strip_prefix("v "));
        let numbers = positions.map(|line| {
            let mut numbers = line.split(' ').map(|x| x.parse().unwrap());
            std::array::from_fn(|_| numbers.next().unwrap())
        });
        numbers.collect()
    };
    let usual = vertices("run/export/obj/surface/surface_000000.obj");
    let turned = vertices("turned/surface/surface_000000.obj");
    assert!(usual.len() > 50 && usual.len() == turned.len());
    for ([x, y, z], [a, b, c]) in usual.into_iter().zip(turned) {
        assert_eq!([x, y, z], [a, c, -b]);
    }
}
