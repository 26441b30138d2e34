//! Output settings: which frames are written, and how often.

use crate::interruptions::{run_it, small_dam_break};
use crate::trial::{Trial, assert_intact, assert_same_run, names};
use meniscus_app::runner::Start;
use std::fs;

#[test]
fn a_run_that_writes_some_frames_only_resumes_to_the_same_bytes() {
    let trial = Trial::new();
    let mut scene = small_dam_break(9);
    scene.output.particles_every = 2;
    scene.output.checkpoint_every = 3;
    let (whole, out) = (trial.path("whole"), trial.path("stopped"));
    run_it(&scene, &whole, Start::Beginning, None).0.unwrap();
    let written: Vec<String> = [0, 2, 4, 6, 8]
        .iter()
        .map(|k| format!("particles_{k:06}.mpc"))
        .collect();
    assert_eq!(names(&whole.join("particles")), written);
    let (mut parts, mut start) = (0, Start::Beginning);
    while run_it(&scene, &out, start, Some(4)).0.is_err() {
        start = Start::Resume;
        parts += 1;
        assert_intact(&out);
        assert!(parts < 100);
    }
    assert!(parts > 2);
    assert_same_run(&out, &whole);
    // The particles do not depend on the output settings.
    let all = trial.path("all");
    run_it(&small_dam_break(9), &all, Start::Beginning, None)
        .0
        .unwrap();
    let statistics = |folder: &std::path::Path| fs::read(folder.join("stats.jsonl")).unwrap();
    assert!(statistics(&all) == statistics(&whole));
    assert!(
        fs::read(all.join("particles/particles_000008.mpc")).unwrap()
            == fs::read(whole.join("particles/particles_000008.mpc")).unwrap()
    );
}

#[test]
fn the_output_interval_may_change_on_resume_and_missing_frames_are_detected() {
    let trial = Trial::new();
    let out = trial.path("run");
    let mut scene = small_dam_break(4);
    scene.output.particles_every = 2;
    run_it(&scene, &out, Start::Beginning, None).0.unwrap();
    scene.frames = 7;
    scene.output.particles_every = 1;
    run_it(&scene, &out, Start::Resume, None).0.unwrap();
    assert_eq!(
        names(&out.join("particles")).len(),
        6,
        "0, 2, 4, 5, 6 and 7"
    );
    assert_intact(&out);
    fs::remove_file(out.join("particles/particles_000005.mpc")).unwrap();
    let findings = meniscus_app::runner::verify(&out).unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].file.ends_with("particles_000005.mpc"));
    assert!(findings[0].what.contains("missing"));
}

#[test]
fn the_latest_checkpoints_and_every_25th_are_kept() {
    let trial = Trial::new();
    let out = trial.path("run");
    let mut scene = small_dam_break(9);
    scene.output.keep_checkpoints = 2;
    scene.output.milestone_every = 3;
    scene.output.preview = false;
    run_it(&scene, &out, Start::Beginning, None).0.unwrap();
    let kept: Vec<String> = [3, 6, 8, 9]
        .iter()
        .map(|k| format!("state_{k:06}.bin"))
        .collect();
    assert_eq!(names(&out.join("state")), kept);
    assert!(!out.join("preview.gif").exists());
    assert_intact(&out);
    // A preview requested later is drawn from the frames.
    scene.output.preview = true;
    run_it(&scene, &out, Start::Resume, None).0.unwrap();
    let whole = trial.path("whole");
    run_it(&scene, &whole, Start::Beginning, None).0.unwrap();
    assert_same_run(&out, &whole);
}
