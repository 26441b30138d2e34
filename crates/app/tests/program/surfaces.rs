//! Surfaces of the liquid, in the folder of a run.

use crate::trial::{Trial, assert_contains, assert_error, assert_intact, lines, names};
use meniscus_app::surface::{self, Surface};
use meniscus_scene::AnyScene;
use meniscus_scene::text::load_run;
use meniscus_store::OpenedRun;
use meniscus_store::cache;
use meniscus_store::layout::surfaces;
use std::fs;
use std::path::Path;

/// Volume of the liquid after a frame, as reported by the run.
fn reported_volume(run: &Path, frame: u32) -> f64 {
    let lines = lines(&run.join("stats.jsonl"));
    let line = lines.iter().rfind(|line| line["frame"] == frame).unwrap();
    line["volume"].as_f64().unwrap()
}

/// Largest depth of a vertex inside solids, in cells.
fn depth_in_solids(run: &Path, frame: u32, surface: &Surface) -> f64 {
    let AnyScene::Three(scene) = load_run(&OpenedRun::open(run).unwrap(), None).unwrap() else {
        panic!("not 3D")
    };
    let solids = scene.solids_and_walls();
    let posed = solids.over_step(scene.time_of_frame(frame), 0.0);
    let depth = |x: &[f32; 3]| -posed.distance(x.map(f64::from)) / scene.dx();
    surface
        .positions
        .iter()
        .map(depth)
        .fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn surfaces_are_closed_outside_of_solids_and_preserve_the_volume() {
    let trial = Trial::new();
    for scene in ["dam-break", "sphere", "thrown-sphere"] {
        let run = trial.path(scene);
        trial.call_well(&format!(
            "run {scene} --resolution 32 --frames 4 --quiet --set output.preview=false --out {scene}"
        ));
        for source in ["level-set", "particles"] {
            trial.call_well(&format!("mesh {scene} --from {source} --quiet"));
            for frame in [1, 4] {
                let surface = surface::read(&run, frame).unwrap();
                let what = format!("{scene} {source} {frame}");
                assert!(surface.triangles.len() > 1000, "{what}");
                assert_eq!(surface.open_edges(), 0, "{what}");
                let share = surface.volume() / reported_volume(&run, frame);
                assert!((share - 1.0).abs() < 0.05, "{what}: {share}");
                let depth = depth_in_solids(&run, frame, &surface);
                assert!(depth < 1e-4, "{what}: {depth} cells");
                // It touches the solids, without a gap.
                assert!(depth > -0.05, "{what}: {depth} cells");
                let unit = |n: &[f32; 3]| (n.iter().map(|c| c * c).sum::<f32>() - 1.0).abs() < 1e-3;
                assert!(surface.normals.iter().all(unit), "{what}");
            }
        }
        assert_intact(&run);
    }
}

#[test]
fn a_sheet_slightly_thicker_than_a_cell_has_no_holes() {
    let trial = Trial::new();
    // 1.4 cells thick, in free flight.
    let sheet = r#"
gravity = [0, 0, 0]
[domain]
size = [1, 1, 1]
resolution = 24
[time]
frames = 1
[[liquid]]
shape = { box = { low = [0.2, 0.2, 0.48], high = [0.8, 0.8, 0.54] } }
"#;
    fs::write(trial.path("sheet.toml"), sheet).unwrap();
    trial.call_well("run sheet.toml --quiet --out run");
    for source in ["level-set", "particles"] {
        trial.call_well(&format!("mesh run --from {source} --quiet"));
        let surface = surface::read(&trial.path("run"), 1).unwrap();
        assert_eq!(surface.open_edges(), 0, "{source}");
        // In one piece and without a hole it is a topological sphere: vertices + faces - edges = 2.
        let (corners, faces) = (surface.positions.len(), surface.triangles.len());
        assert_eq!(corners + faces, faces / 2 * 3 + 2, "{source}");
        let share = surface.area() / (2.0 * 0.6 * 0.6 + 4.0 * 0.6 * 0.06);
        assert!((0.8..1.1).contains(&share), "{source}: {share}");
        let share = surface.volume() / (0.6 * 0.6 * 0.06);
        assert!((0.8..1.2).contains(&share), "{source}: {share}");
    }
}

#[test]
fn a_splash_preserves_its_volume_from_frame_to_frame() {
    let trial = Trial::new();
    // A thick sheet of water hits a ball and breaks up into thin ones.
    let splash = r#"
[domain]
size = [1, 1, 1]
resolution = 24
[time]
frames = 7
[[liquid]]
shape = { box = { low = [0.3, 0.3, 0.5], high = [0.7, 0.7, 0.65] } }
velocity = [0, 0, -2]
[[solid]]
name = "ball"
shape = { sphere = { center = [0.5, 0.5, 0.3], radius = 0.15 } }
"#;
    fs::write(trial.path("splash.toml"), splash).unwrap();
    trial.call_well("run splash.toml --quiet --set output.preview=false --out run");
    for source in ["level-set", "particles"] {
        let said = trial.call_well(&format!("mesh run --from {source}")).said;
        assert_contains(&said, &["volume error at most"]);
        assert_eq!(said.contains("thinner than a cell"), source == "level-set");
        let stats = lines(&trial.path("run/surfaces/stats.jsonl"));
        assert_eq!(stats.len(), 8);
        let mut last: Option<f64> = None;
        let mut thinnest: f64 = 0.0;
        for (line, frame) in stats.iter().zip(0..) {
            assert_eq!(line["frame"], frame);
            let number = |key: &str| line[key].as_f64().unwrap();
            let surface = surface::read(&trial.path("run"), frame).unwrap();
            assert_eq!(surface.open_edges(), 0, "{source} {frame}");
            assert_eq!(line["pieces"], surface.pieces() as u64);
            let volume = surface.volume();
            assert!((volume / number("volume") - 1.0).abs() < 1e-9);
            let share = volume / number("particle_volume");
            assert!((share - 1.0).abs() < 0.05, "{source} {frame}: {share}");
            let change = last.map_or(0.0, |last| volume / last - 1.0);
            assert!(change.abs() < 0.02, "{source} {frame}: {change}");
            last = Some(volume);
            if source == "level-set" {
                thinnest = thinnest.max(number("thin_volume") / number("particle_volume"));
            }
        }
        assert!(source == "particles" || thinnest > 0.3, "{thinnest}");
    }
    assert_intact(&trial.path("run"));
}

#[test]
fn vertices_have_the_velocity_of_the_liquid() {
    let trial = Trial::after("run ceiling-ball --resolution 16 --frames 1 --quiet --out run");
    trial.call_well("mesh run --quiet");
    let run = trial.path("run");
    let surface = surface::read(&run, 1).unwrap();
    let frame = cache::decode::<3>(&fs::read(cache::frame_path(&run, 1)).unwrap()).unwrap();
    let mean = |list: &[[f32; 3]], axis: usize| {
        list.iter().map(|v| f64::from(v[axis])).sum::<f64>() / list.len() as f64
    };
    let (of_liquid, of_surface) = (mean(frame.velocities(), 2), mean(&surface.velocities, 2));
    assert!(of_liquid.abs() > 0.5, "{of_liquid}");
    assert!(
        (of_surface / of_liquid - 1.0).abs() < 0.2,
        "{of_surface} {of_liquid}"
    );
}

#[test]
fn surfaces_are_the_same_bytes_for_any_number_of_threads() {
    let trial = Trial::after("run sphere --resolution 24 --frames 2 --quiet --out run");
    let path = surfaces::path(&trial.path("run"), 2);
    for source in ["level-set", "particles"] {
        let mut first: Option<Vec<u8>> = None;
        for threads in [1, 2, 5] {
            let _ = fs::remove_file(&path);
            trial.call_well(&format!(
                "mesh run --frames 2 --from {source} --threads {threads} --quiet"
            ));
            let bytes = fs::read(&path).unwrap();
            assert!(
                first.get_or_insert(bytes.clone()) == &bytes,
                "{source} {threads}"
            );
        }
    }
}

#[test]
fn only_outdated_surfaces_are_reconstructed() {
    let trial = Trial::after("run dam-break --resolution 12 --frames 3 --quiet --out run");
    let said = trial.call_well("mesh run --frames 2-").said;
    assert!(
        said.contains("2 surfaces, ") && said.contains("of frame 3"),
        "{said}"
    );
    let folder = trial.path("run/surfaces");
    assert_eq!(
        names(&folder),
        [
            "lock",
            "stats.jsonl",
            "surface_000002.msf",
            "surface_000003.msf"
        ]
    );
    let said = trial.call_well("mesh run").said;
    assert_contains(&said, &["4 surfaces (2 up to date)"]);
    let said = trial.call_well("mesh run --resolution 1").said;
    assert_contains(&said, &["4 surfaces, "]);

    // A damaged one is detected, reported and reconstructed.
    let path = surfaces::path(&trial.path("run"), 2);
    let whole = fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    bytes[200] ^= 4;
    fs::write(&path, &bytes).unwrap();
    trial.fails(
        "verify run",
        6,
        &["surface_000002.msf", "meniscus mesh run --frames 2"],
    );
    let said = trial.call_well("mesh run --resolution 1").said;
    assert_contains(&said, &["(3 up to date)"]);
    assert_eq!(fs::read(&path).unwrap(), whole);

    // A run from the beginning removes them.
    trial.call_well("run dam-break --resolution 12 --frames 1 --quiet --out run --overwrite");
    assert_eq!(names(&folder), ["lock"]);
}

#[test]
fn a_run_writes_surfaces_if_its_scene_requests_them() {
    let trial = Trial::new();
    let run = "run dam-break --resolution 12 --frames 2 --quiet --set output.surface=true \
               --set output.surface_smoothing=1 --out run";
    trial.call_well(run);
    let said = trial.call_well("mesh run --smoothing 1").said;
    assert_contains(&said, &["3 surfaces (3 up to date)"]);
    assert_intact(&trial.path("run"));
}

#[test]
fn a_2d_run_has_a_filled_surface() {
    let trial = Trial::after("run dam-break-2d --resolution 32 --frames 4 --quiet --out run");
    trial.call_well("mesh run --quiet");
    let surface = surface::read(&trial.path("run"), 4).unwrap();
    let share = surface.area() / reported_volume(&trial.path("run"), 4);
    assert!((share - 1.0).abs() < 0.05, "{share}");
    assert!(surface.positions.iter().all(|x| x[1] == 0.0 && x[2] >= 0.0));
    assert!(surface.normals.iter().all(|n| *n == [0.0, -1.0, 0.0]));
    trial.fails("export run --to vdb", 2, &["3D"]);
}

#[test]
fn runs_that_can_not_be_meshed_are_reported() {
    let trial = Trial::new();
    trial.fails("mesh nothing", 6, &["run.json"]);
    trial.call_well("run dam-break --resolution 8 --frames 2 --quiet --out run");
    for (flags, word) in [
        ("--frames 5-9", "there are 0 to 2"),
        ("--frames 2-1", "backwards"),
        ("--resolution 9", "--resolution"),
        ("--smoothing 101", "--smoothing"),
        ("--from clouds", "level-set"),
    ] {
        trial.fails(&format!("mesh run {flags}"), 2, &[word]);
    }
}

#[test]
fn damaged_frames_are_reported_and_the_others_get_a_surface() {
    for change in [
        (|bytes: &mut Vec<u8>| bytes.truncate(100)) as fn(&mut Vec<u8>),
        |bytes| bytes.clear(),
        // A future version.
        |bytes| bytes[8] = 9,
        |bytes| bytes[160] ^= 1,
    ] {
        let trial = Trial::after("run dam-break --resolution 8 --frames 3 --quiet --out run");
        let path = cache::frame_path(&trial.path("run"), 2);
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
        for command in [
            "mesh run",
            "export run --to usd",
            "export run --to npz --what all",
        ] {
            let outcome = trial.fails(command, 6, &[]);
            let named = outcome.errors.contains("particles_000002.mpc");
            assert!(
                named && !outcome.errors.contains("panicked"),
                "{}",
                outcome.errors
            );
        }
        let made = surfaces::frames_in(&trial.path("run")).unwrap();
        assert_eq!(made, [0, 1, 3]);
        let exported = names(&trial.path("run/export/npz/surface"));
        let expected = [0, 1, 3].map(|frame| format!("surface_{frame:06}.npz"));
        assert_eq!(exported, expected);
    }
}

#[cfg(unix)]
#[test]
fn a_file_size_limit_leaves_no_partial_surface() {
    let trial = Trial::after("run dam-break --resolution 16 --frames 1 --quiet --out run");
    for command in [
        "mesh run",
        "export run --to vtk --what surface",
        "export run --to usd",
    ] {
        assert_error(&trial.call_with_file_limit(4, command), 6, &["make room"]);
    }
    assert_eq!(names(&trial.path("run/surfaces")), ["lock"]);
    assert!(names(&trial.path("run/export/vtk/surface")).is_empty());
    assert!(names(&trial.path("run/export/usd")).is_empty());
}
