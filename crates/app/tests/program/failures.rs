use crate::trial::{Trial, json, lines, names, run_alone};
use meniscus_app::runner::{self, Event, Options, Progress};
use meniscus_scene::{AnyScene, Scene, builtin};
use meniscus_store::cache;
use meniscus_store::error::Kind;
use std::sync::atomic::AtomicBool;

fn small_dam_break() -> Scene<2> {
    match builtin::named("dam-break-2d").unwrap() {
        AnyScene::Two(scene) => Scene {
            resolution: 16,
            frames: 3,
            ..scene
        },
        AnyScene::Three(_) => panic!("the scene is 2D"),
    }
}

#[test]
fn a_failed_solve_ends_the_run_and_writes_its_problem() {
    let trial = Trial::new();
    let mut scene = small_dam_break();
    scene.physics.pressure.max_iterations = 1;
    let error = run_alone(scene, &trial).unwrap_err();
    assert_eq!(error.kind(), Kind::Numerical);
    assert_eq!(error.kind().exit_code(), 5);
    let out = trial.path("out");
    assert!(
        error
            .to_string()
            .contains(out.join("failed").to_str().unwrap()),
        "{error}"
    );
    assert!(error.remedy().unwrap().contains("--solver"), "{error}");
    assert_eq!(
        names(&out.join("failed")),
        ["A.mtx", "b.mtx", "grid.json", "lower.mtx", "upper.mtx"]
    );
    assert!(
        json(&out.join("failed/grid.json"))["rows"]
            .as_u64()
            .unwrap()
            > 0
    );
    let manifest = json(&out.join("run.json"));
    assert_eq!(
        (&manifest["state"], &manifest["frames_done"]),
        (&"failed".into(), &0.into())
    );
    assert!(manifest["error"].as_str().unwrap().contains("frame 1"));
    assert!(
        out.join("preview.gif").is_file(),
        "what was there to see is kept"
    );

    // A successful run removes an old failure.
    run_alone(small_dam_break(), &trial).unwrap();
    assert!(!out.join("failed").exists());
}

#[test]
fn an_unstable_liquid_fails_cleanly() {
    let trial = Trial::new();
    let mut scene = small_dam_break();
    scene.liquids[0].velocity = [1e30, 0.0];
    let error = run_alone(scene, &trial).unwrap_err();
    assert_eq!(error.kind(), Kind::Numerical, "{error}");
    assert_eq!(json(&trial.path("out/run.json"))["state"], "failed");
    let remedy = error.remedy().unwrap();
    assert!(
        remedy.contains("not physical") && remedy.contains("liquid[1].velocity"),
        "{remedy}"
    );
    assert!(!remedy.contains("--solver"), "{remedy}");
    assert!(
        cache::frames_in(&trial.path("out")).unwrap() == [0],
        "the initial state is kept"
    );
}

/// Reads the folder whenever a frame is complete: the one before is on disk.
struct Witness {
    folder: std::path::PathBuf,
    frames: u32,
}

impl Progress for Witness {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Frame { number, .. } = event {
            let steps = lines(&self.folder.join("stats.jsonl"));
            assert_eq!(
                steps.last().unwrap()["frame"],
                number,
                "statistics can be followed"
            );
            let manifest = json(&self.folder.join("run.json"));
            assert_eq!(manifest["state"], "running");
            let written = manifest["frames_done"].as_u64().unwrap() as u32;
            assert!((number - 1..=number).contains(&written), "{written}");
            for frame in 1..=written {
                let bytes = std::fs::read(cache::frame_path(&self.folder, frame)).unwrap();
                cache::decode::<2>(&bytes).unwrap();
            }
            self.frames += 1;
        }
    }
}

#[test]
fn a_run_in_progress_can_be_followed() {
    let trial = Trial::new();
    let stop = AtomicBool::new(false);
    let out = trial.path("out");
    let options = Options::new(out.clone(), "", &stop);
    let mut witness = Witness {
        folder: out,
        frames: 0,
    };
    runner::run(&small_dam_break().into(), &options, &mut witness).unwrap();
    assert_eq!(witness.frames, 3);
}
