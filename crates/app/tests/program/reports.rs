//! `meniscus report`: a run in one file.

use crate::trial::{Trial, assert_contains};
use crate::viewing::a_run;
use meniscus_app::viewer::Watched;
use meniscus_app::viewer::report::compose;
use std::fs;

#[test]
fn a_report_is_one_file_below_its_size_limit_and_lists_omissions() {
    let trial = a_run();
    let outcome = trial.call_well("report run");
    assert!(!outcome.said.contains("omitted"), "{}", outcome.said);
    let whole = fs::read_to_string(trial.path("run/report.html")).unwrap();
    assert!(whole.len() < 20_000_000);
    for address in ["/run/0/frame/1", "/run/0/frame/3", "/run/0/solid/0"] {
        assert!(
            whole.contains(&format!("data-address=\"{address}\"")),
            "{address}"
        );
    }
    assert!(!whole.contains("src=\"") && !whole.contains("from \\\"./"));

    // With less space, particles and then frames are omitted, and the limit holds.
    let run = Watched::open(&trial.path("run"), None).unwrap();
    let slack = 4096 + 64 * 3;
    for less in [0, 600, 1500, 2000] {
        let largest = whole.len() + slack - less;
        let (text, written) = compose(&run, largest).unwrap();
        assert!(text.len() <= largest, "{} {largest}", text.len());
        assert_eq!(written.bytes, text.len());
        assert_eq!(written.left_out().is_some(), less > 0, "{written:?}");
    }
    let none = compose(&run, 10_000);
    assert_eq!(none.unwrap_err().kind().exit_code(), 4);
    let path = trial.path("run/particles/particles_000002.mpc");
    fs::write(&path, b"").unwrap();
    let outcome = trial.call_well("report run --out small.html");
    assert_contains(&outcome.said, &["damaged frames (2)"]);
    let text = fs::read_to_string(trial.path("small.html")).unwrap();
    assert!(!text.contains("/run/0/frame/2\""));
    assert!(text.contains("damaged frames (2)"));
}

/// A 3D run of three frames, with surfaces.
fn a_run_with_surfaces() -> Trial {
    Trial::after(
        "run dam-break --resolution 32 --frames 3 --quiet --set output.preview=false \
         --set output.surface=true --out run",
    )
}

#[test]
fn surfaces_of_a_report_are_simplified_to_fit() {
    let trial = a_run_with_surfaces();
    let outcome = trial.call_well("report run");
    assert!(!outcome.said.contains("omitted"), "{}", outcome.said);
    let whole = fs::read_to_string(trial.path("run/report.html")).unwrap();
    assert!(whole.contains("\"surfaces\":[0,1,2,3]"));
    for frame in 0..=3 {
        let block = format!("data-address=\"/run/0/surface/{frame}\" data-packed>");
        assert!(whole.contains(&block), "{frame}");
    }

    // Surfaces get half of the space: coarser ones first, and none where even the coarsest don't fit.
    let run = Watched::open(&trial.path("run"), None).unwrap();
    let start = |address: &str| whole.find(&format!("data-address=\"{address}\"")).unwrap();
    let without = start("/run/0/frame/0") + 4096 + 64 * 4;
    let surfaces = whole.len() - start("/run/0/surface/0");
    let mut spacings = Vec::new();
    for share in [1.0, 0.5, 0.02] {
        let largest = without + (share * surfaces as f64) as usize;
        let (text, written) = compose(&run, largest).unwrap();
        assert!(text.len() <= largest, "{} {largest}", text.len());
        let omitted = written.left_out().unwrap();
        if share > 0.1 {
            assert_eq!(written.surfaces, 4, "{omitted}");
            assert_contains(&omitted, &["details of surfaces below"]);
            spacings.push(written.surface_spacing.unwrap());
        } else {
            assert_eq!(written.surfaces, 0, "{omitted}");
            assert_contains(&omitted, &["4 of 4 surfaces"]);
        }
    }
    assert!(spacings[0] < spacings[1], "{spacings:?}");
}

#[test]
fn a_damaged_surface_is_omitted_from_a_report_and_listed() {
    let trial = a_run_with_surfaces();
    let path = trial.path("run/surfaces/surface_000002.msf");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let outcome = trial.call_well("report run");
    let omitted = "damaged surfaces (2)";
    assert!(outcome.said.contains(omitted), "{}", outcome.said);
    let text = fs::read_to_string(trial.path("run/report.html")).unwrap();
    assert!(text.contains(omitted) && text.contains("\"surfaces\":[0,1,3]"));
    assert!(text.contains("/run/0/frame/2\"") && !text.contains("/run/0/surface/2\""));
}

#[test]
fn mesh_solids_are_read_from_copies_or_else_from_the_assets_folder() {
    let trial = Trial::new();
    fs::create_dir(trial.path("scenes")).unwrap();
    let mesh = "v 0 0 0\nv 0.6 0 0\nv 0 0.6 0\nv 0 0 0.6\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    fs::write(trial.path("scenes/mesh.obj"), mesh).unwrap();
    let scene = "[domain]\nsize = [1, 1, 1]\nresolution = 12\n[time]\nframes = 1\n\
                 [[solid]]\nshape = { mesh = { file = \"mesh.obj\" } }\n\
                 [[liquid]]\nshape = { box = { low = [0.7, 0.7, 0], high = [0.9, 0.9, 0.3] } }\n";
    fs::write(trial.path("scenes/rock.toml"), scene).unwrap();
    trial.call_well("run scenes/rock.toml --quiet --set output.preview=false --out run");
    let solid = "data-address=\"/run/0/solid/0\"";
    trial.call_well("report run --out report.html");
    let text = fs::read_to_string(trial.path("report.html")).unwrap();
    assert!(text.contains(solid), "the run has a copy");
    // As written by an earlier version.
    fs::remove_dir_all(trial.path("run/meshes")).unwrap();
    for (more, shown, omitted) in [
        ("", false, "--assets DIR"),
        ("--assets run", false, "missing from run or were changed"),
        ("--assets scenes", true, ""),
    ] {
        trial.call_well(&format!("report run --out report.html {more}"));
        let text = fs::read_to_string(trial.path("report.html")).unwrap();
        assert_eq!(text.contains(solid), shown, "{more}");
        assert!(text.contains(omitted), "{more}");
    }
}

#[test]
fn a_report_replaces_no_other_file_of_its_run() {
    let trial = a_run();
    let before = fs::read(trial.path("run/run.json")).unwrap();
    trial.fails("report run --out run/run.json", 2, &["run.json"]);
    assert!(fs::read(trial.path("run/run.json")).unwrap() == before);
    // A second report replaces the first.
    trial.call_well("report run");
    trial.call_well("report run");
}
