//! Ctrl-C, and resuming after it.

use crate::trial::{
    Trial, assert_contains, assert_intact, assert_same_run, interrupt, json, lines, names,
};
use meniscus_app::runner::status::Activity;
use meniscus_app::runner::{self, Event, Options, Progress, Start, Summary, status};
use meniscus_scene::{AnyScene, Output, Scene, builtin};
use meniscus_store::error::{Error, Kind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A dam break with several steps per frame.
pub fn small_dam_break(frames: u32) -> Scene<2> {
    let AnyScene::Two(mut scene) = builtin::named("dam-break-2d").unwrap() else {
        panic!("the scene is 2D")
    };
    scene.resolution = 16;
    scene.frames = frames;
    scene.frame_rate = 6.0;
    scene.output.preview_side = 48;
    scene
}

/// Stops a run after some steps, and records its events.
struct Watcher<'a> {
    stop: &'a AtomicBool,
    stop_after: Option<u32>,
    steps: u32,
    notices: Vec<String>,
}

impl Progress for Watcher<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Step(_) => {
                self.steps += 1;
                if Some(self.steps) == self.stop_after {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
            Event::Notice(text) => self.notices.push(text.into()),
            _ => {}
        }
    }
}

/// Runs a scene, optionally for some steps only, and returns its notices as well.
pub fn run_it(
    scene: &Scene<2>,
    out: &Path,
    start: Start,
    stop_after: Option<u32>,
) -> (Result<Summary, Error>, Vec<String>) {
    let stop = AtomicBool::new(false);
    let mut watcher = Watcher {
        stop: &stop,
        stop_after,
        steps: 0,
        notices: Vec::new(),
    };
    let options = Options {
        threads: Some(1),
        // Replacing is tested in `replacing.rs`.
        overwrite: true,
        start,
        ..Options::new(out, scene_text(scene), &stop)
    };
    let result = runner::run(&scene.clone().into(), &options, &mut watcher);
    (result, watcher.notices)
}

/// TOML with a key for the physics and one for the number of frames.
fn scene_text(scene: &Scene<2>) -> String {
    let physics = Scene {
        frames: 0,
        output: Output::default(),
        ..scene.clone()
    };
    let frames = scene.frames;
    format!(
        "settings = {:?}\n[time]\nframes = {frames}\n",
        format!("{physics:?}")
    )
}

#[test]
fn a_run_stopped_after_any_step_resumes_to_the_same_bytes() {
    let trial = Trial::new();
    let scene = small_dam_break(5);
    let whole = trial.path("whole");
    run_it(&scene, &whole, Start::Beginning, None).0.unwrap();
    let steps = lines(&whole.join("stats.jsonl")).len() as u32;
    assert!(steps >= 10, "several steps a frame: {steps}");
    for stop_after in 1..steps {
        let out = trial.path(&format!("stopped-{stop_after}"));
        let error = run_it(&scene, &out, Start::Beginning, Some(stop_after))
            .0
            .unwrap_err();
        assert_eq!(error.kind(), Kind::Interrupted);
        assert!(error.to_string().contains("--resume"), "{error}");
        assert_eq!(status(&out).unwrap().state, Activity::Interrupted);
        assert_eq!(lines(&out.join("stats.jsonl")).len() as u32, stop_after);
        assert_intact(&out);
        run_it(&scene, &out, Start::Resume, None).0.unwrap();
        // No step was repeated, and no line of the timings is missing.
        assert_eq!(lines(&out.join("timings.jsonl")).len() as u32, steps);
        assert_same_run(&out, &whole);
        assert_intact(&out);
        assert!(!out.join("state/interrupted.bin").exists());
    }
}

#[test]
fn a_run_stopped_after_every_step_resumes_to_the_same_bytes() {
    let trial = Trial::new();
    let scene = small_dam_break(4);
    let (whole, out) = (trial.path("whole"), trial.path("stopped"));
    run_it(&scene, &whole, Start::Beginning, None).0.unwrap();
    run_it(&scene, &out, Start::Beginning, Some(1))
        .0
        .unwrap_err();
    let mut stops = 1;
    while run_it(&scene, &out, Start::Resume, Some(1)).0.is_err() {
        stops += 1;
        assert!(stops < 200);
    }
    assert!(stops > 5, "{stops}");
    assert_same_run(&out, &whole);
    assert_intact(&out);
}

#[test]
fn a_finished_run_has_nothing_to_do_until_more_frames_are_requested() {
    let trial = Trial::new();
    let (whole, out) = (trial.path("whole"), trial.path("grown"));
    run_it(&small_dam_break(6), &whole, Start::Beginning, None)
        .0
        .unwrap();
    run_it(&small_dam_break(3), &out, Start::Beginning, None)
        .0
        .unwrap();
    let before = std::fs::read(out.join("run.json")).unwrap();
    let (summary, notices) = run_it(&small_dam_break(3), &out, Start::Resume, None);
    assert!(summary.unwrap().nothing_to_do);
    assert!(notices[0].contains("nothing to do"), "{notices:?}");
    assert_eq!(std::fs::read(out.join("run.json")).unwrap(), before);
    let summary = run_it(&small_dam_break(6), &out, Start::Resume, None).0;
    assert_eq!(summary.unwrap().frames, 6);
    assert_intact(&out);
    // Only the number of frames in the scene differs, and that is rewritten.
    assert_same_run(&out, &whole);
}

#[test]
fn emitters_drains_and_moving_solids_resume_to_the_same_bytes() {
    for scene in ["faucet", "paddle"] {
        let trial = Trial::new();
        let line = |frames: u32, rest: &str| {
            format!("run {scene} --resolution 16 --frames {frames} --quiet {rest}")
        };
        trial.call_well(&line(6, "--threads 1 --out whole"));
        trial.call_well(&line(3, "--threads 2 --out cut"));
        trial.call_well(&line(6, "--threads 1 --out cut --resume"));
        assert_same_run(&trial.path("cut"), &trial.path("whole"));
        assert_intact(&trial.path("cut"));
    }
}

#[test]
fn resuming_an_empty_folder_starts_from_the_beginning() {
    let trial = Trial::new();
    let (whole, out) = (trial.path("whole"), trial.path("new"));
    let scene = small_dam_break(2);
    run_it(&scene, &whole, Start::Beginning, None).0.unwrap();
    // As a run leaves it that is killed at once.
    std::fs::create_dir(&out).unwrap();
    let (result, notices) = run_it(&scene, &out, Start::Resume, None);
    result.unwrap();
    assert!(notices[0].contains("from the beginning"), "{notices:?}");
    assert_same_run(&out, &whole);
}

#[test]
fn resuming_in_a_folder_that_does_not_exist_is_refused_and_creates_nothing() {
    let trial = Trial::new();
    let line = "run dam-break-2d --resolution 12 --frames 2 --quiet";
    let words = ["does not exist", "--out DIR", "--resume"];
    trial.fails(&format!("{line} --resume"), 6, &words);
    trial.fails(&format!("{line} --out mispelt --resume"), 6, &words);
    trial.fails(&format!("{line} --out mispelt --from-frame 1"), 6, &[]);
    assert!(names(&trial.path("")).is_empty());
}

#[test]
fn resuming_another_scene_is_refused_with_the_difference() {
    let trial = Trial::new();
    let line = "run dam-break-2d --resolution 12 --frames 2 --quiet --out run";
    trial.call_well(line);
    let before = std::fs::read(trial.path("run/run.json")).unwrap();
    let outcome = trial.fails(&format!("{line} --walls slip --resume"), 2, &[]);
    let shown: Vec<&str> = outcome
        .errors
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with(['-', '+']))
        .collect();
    assert_eq!(shown.len(), 2, "{}", outcome.errors);
    assert!(shown.iter().all(|line| line.contains("walls")), "{shown:?}");
    assert_contains(&outcome.errors, &["--from-frame"]);
    assert_eq!(
        std::fs::read(trial.path("run/run.json")).unwrap(),
        before,
        "nothing is changed"
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_writes_a_checkpoint_and_exits_with_130_and_the_run_resumes_to_the_same_bytes() {
    use std::time::Duration;
    let trial = Trial::new();
    let line = "run dam-break-2d --resolution 64 --frames 24 --quiet";
    trial.call_well(&format!("{line} --out whole"));
    let mut child = trial.start(&format!("{line} --out stopped"));
    let out = trial.path("stopped");
    while !out.join("particles/particles_000003.mpc").exists() {
        std::thread::sleep(Duration::from_millis(1));
        assert!(child.try_wait().unwrap().is_none());
    }
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let manifest = json(&out.join("run.json"));
    assert_eq!(manifest["state"], "interrupted");
    let done = manifest["frames_done"].as_u64().unwrap();
    assert!((3..24).contains(&done), "{done}");
    assert!(!names(&out.join("state")).is_empty());
    assert_intact(&out);
    // Without `--resume` nothing is lost, and the message suggests it.
    let again = trial.call(&format!("{line} --out stopped"));
    assert_eq!(again.code, 2, "{}", again.errors);
    assert_contains(&again.errors, &["--resume"]);
    let beyond = trial.call(&format!("{line} --out stopped --from-frame 23"));
    assert_eq!(beyond.code, 2, "{}", beyond.errors);
    let status = trial.call_well("status stopped --json");
    let status: serde_json::Value = serde_json::from_str(&status.said).unwrap();
    let command = status["resume"].as_str().unwrap();
    let command = command.strip_prefix("meniscus ").unwrap();
    trial.call_well(&format!("{command} --threads 1 --quiet"));
    assert_same_run(&out, &trial.path("whole"));
    assert_intact(&out);
}
