//! Restarting from a frame, with a scene that has changed.

use crate::interruptions::{run_it, small_dam_break};
use crate::trial::{Trial, assert_contains, assert_intact, json, lines, names};
use meniscus_app::runner::Start;
use meniscus_liquid::Walls;
use meniscus_store::error::Kind;
use std::fs;

#[test]
fn earlier_frames_are_kept_and_later_ones_follow_the_changed_scene() {
    let trial = Trial::new();
    let out = trial.path("run");
    let scene = small_dam_break(6);
    run_it(&scene, &out, Start::Beginning, None).0.unwrap();
    let frame = |k: u32| fs::read(out.join(format!("particles/particles_{k:06}.mpc"))).unwrap();
    let before: Vec<Vec<u8>> = (1..=6).map(frame).collect();

    let mut changed = scene.clone();
    changed.physics.walls = Walls::Slip;
    changed.physics.gravity = [3.0, -9.81];
    changed.frames = 7;
    let (result, notices) = run_it(&changed, &out, Start::FromFrame(4), None);
    result.unwrap();
    assert!(notices[0].contains("from frame 4"), "{notices:?}");
    for k in 1..=4 {
        assert!(frame(k) == before[k as usize - 1], "frame {k} is kept");
    }
    for k in 5..=6 {
        assert!(frame(k) != before[k as usize - 1], "frame {k} is another");
    }
    assert_eq!(names(&out.join("particles")).len(), 8);
    let text = fs::read_to_string(out.join("scene.toml")).unwrap();
    assert_contains(&text, &["Slip"]);
    for step in lines(&out.join("stats.jsonl")) {
        let slips = step["frame"].as_u64() > Some(4);
        let is_linear = step["solver"] == "cg" || step["solver"] == "mg";
        assert_eq!(is_linear, slips, "{step}");
    }
    assert_intact(&out);

    // The changed run is as good as any: from the same frame it leads to the same bytes again.
    let after: Vec<Vec<u8>> = (1..=7).map(frame).collect();
    run_it(&changed, &out, Start::FromFrame(5), Some(2))
        .0
        .unwrap_err();
    run_it(&changed, &out, Start::Resume, None).0.unwrap();
    assert!((1..=7).all(|k| frame(k) == after[k as usize - 1]));
    assert_intact(&out);
    assert_eq!(
        run_it(&scene, &out, Start::Resume, None)
            .0
            .unwrap_err()
            .kind(),
        Kind::Usage,
        "it is another scene now"
    );
}

#[test]
fn the_latest_earlier_checkpoint_is_used_if_the_frame_has_none() {
    let trial = Trial::new();
    let out = trial.path("run");
    let mut scene = small_dam_break(6);
    scene.output.checkpoint_every = 2;
    scene.output.keep_checkpoints = 3;
    run_it(&scene, &out, Start::Beginning, None).0.unwrap();
    let (result, notices) = run_it(&scene, &out, Start::FromFrame(5), None);
    result.unwrap();
    assert!(
        notices[0].contains("after frame 5") && notices[0].contains("from frame 4"),
        "{notices:?}"
    );
    let (result, _) = run_it(&scene, &out, Start::FromFrame(1), None);
    let error = result.unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.remedy().unwrap().contains("2, 4, 6"), "{error}");
    assert_intact(&out);
    run_it(&scene, &out, Start::FromFrame(0), None).0.unwrap();
    assert_intact(&out);
}

#[test]
fn settings_that_particles_depend_on_can_not_change() {
    let trial = Trial::after("run dam-break-2d --resolution 12 --frames 3 --quiet --out run");
    let before = fs::read(trial.path("run/run.json")).unwrap();
    trial.fails(
        "run dam-break-2d --resolution 14 --frames 3 --quiet --out run --from-frame 2 --overwrite",
        2,
        &["resolution (from 12 to 14)"],
    );
    assert_eq!(fs::read(trial.path("run/run.json")).unwrap(), before);

    let out = trial.path("other");
    let scene = small_dam_break(3);
    run_it(&scene, &out, Start::Beginning, None).0.unwrap();
    let mut wider = scene.clone();
    wider.domain[0] *= 1.5;
    let error = run_it(&wider, &out, Start::FromFrame(2), None)
        .0
        .unwrap_err();
    assert!(error.message().contains("domain"), "{error}");
    assert_eq!(json(&out.join("run.json"))["state"], "done");
    let mut faster = scene;
    faster.frame_rate = 24.0;
    let error = run_it(&faster, &out, Start::FromFrame(2), None)
        .0
        .unwrap_err();
    assert!(error.message().contains("frame_rate"), "{error}");
}

#[test]
fn from_frame_needs_an_existing_run() {
    let trial = Trial::new();
    trial.fails(
        "run dam-break-2d --resolution 12 --out missing --from-frame 2",
        6,
        &[],
    );
    assert!(names(&trial.path("")).is_empty(), "nothing is written");
}
