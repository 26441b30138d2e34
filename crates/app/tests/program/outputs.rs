use crate::trial::{Trial, json, lines, names};
use meniscus_app::runner::{self, Event, Options, Progress};
use meniscus_scene::builtin;
use meniscus_scene::text::{Override, load};
use meniscus_store::cache::{self, Frame};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

/// Keys that every line of the statistics has, in this order.
const STEP_KEYS: [&str; 18] = [
    "frame",
    "time",
    "dt",
    "particles",
    "unknowns",
    "wall_rows",
    "separated_rows",
    "solver",
    "status",
    "outer_iterations",
    "inner_iterations",
    "residual",
    "volume",
    "volume_drift",
    "emitted",
    "drained",
    "kinetic_energy",
    "max_speed",
];

#[test]
fn a_run_writes_frames_statistics_timings_a_preview_and_its_manifest() {
    let trial = Trial::after("run ceiling-ball --resolution 16 --frames 4 --threads 2 --quiet");
    let out = trial.path("out/ceiling-ball");
    assert_eq!(
        names(&out),
        [
            "lock",
            "particles",
            "preview.gif",
            "run.json",
            "scene.toml",
            "state",
            "stats.jsonl",
            "timings.jsonl"
        ]
    );
    let checkpoints: Vec<String> = (2..=4).map(|k| format!("state_{k:06}.bin")).collect();
    assert_eq!(names(&out.join("state")), checkpoints);
    let frames: Vec<String> = (0..=4).map(|k| format!("particles_{k:06}.mpc")).collect();
    assert_eq!(names(&out.join("particles")), frames);

    let steps = lines(&out.join("stats.jsonl"));
    for step in &steps {
        let step = step.as_object().unwrap();
        let text = std::fs::read_to_string(out.join("stats.jsonl")).unwrap();
        let first = text.lines().next().unwrap();
        let mut from = 0;
        for key in STEP_KEYS {
            assert!(step.contains_key(key), "{key} is missing");
            let place = first.find(&format!("\"{key}\":")).unwrap();
            assert!(place >= from, "{key} is out of order");
            from = place;
        }
        assert_eq!(step["status"], "converged");
    }
    assert!(
        steps
            .iter()
            .map(|s| s["frame"].as_u64().unwrap())
            .is_sorted()
    );
    let last = steps.last().unwrap();
    assert_eq!(last["frame"], 4);
    assert!((last["time"].as_f64().unwrap() - 4.0 / 24.0).abs() < 1e-12);
    let whole: f64 = steps.iter().map(|s| s["dt"].as_f64().unwrap()).sum();
    assert!(
        (whole - 4.0 / 24.0).abs() < 1e-12,
        "the steps make up the time"
    );
    let first_drift = steps[0]["volume_drift"].as_f64().unwrap();
    assert_eq!(
        first_drift, 0.0,
        "nothing has drifted before the first step"
    );

    let timings = lines(&out.join("timings.jsonl"));
    assert_eq!(timings.len(), steps.len());
    for line in &timings {
        let phases = line["phases"].as_object().unwrap();
        assert!(
            phases.contains_key("solve") && phases.contains_key("advect"),
            "{phases:?}"
        );
        assert!(phases.values().all(|s| s.as_f64().unwrap() >= 0.0));
    }

    let manifest = json(&out.join("run.json"));
    assert_eq!(manifest["program"], "meniscus");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["state"], "done");
    assert_eq!(manifest["scene"], "ceiling-ball");
    assert_eq!(
        (&manifest["frames_done"], &manifest["frames"]),
        (&Value::from(4), &Value::from(4))
    );
    assert_eq!(manifest["steps"], steps.len());
    assert_eq!(manifest["settings"]["resolution"], 16);
    assert_eq!(
        manifest["settings"]["physics"]["walls"]["kind"],
        "separating"
    );

    let gif = std::fs::read(out.join("preview.gif")).unwrap();
    assert!(
        gif.starts_with(b"GIF89a") && gif.ends_with(&[0x3b]),
        "a whole GIF"
    );
}

#[test]
fn frames_have_the_particles_of_their_time() {
    let trial = Trial::after("run ceiling-ball --resolution 16 --frames 2 --quiet");
    let out = trial.path("out/ceiling-ball");
    assert_eq!(cache::frames_in(&out).unwrap(), [0, 1, 2]);
    let steps = lines(&out.join("stats.jsonl"));
    let initial: Frame<3> =
        cache::decode(&std::fs::read(cache::frame_path(&out, 0)).unwrap()).unwrap();
    assert_eq!((initial.number, initial.time), (0, 0.0));
    assert_eq!(
        initial.positions().len() as u64,
        steps[0]["particles"].as_u64().unwrap()
    );
    for number in [1u32, 2] {
        let bytes = std::fs::read(cache::frame_path(&out, number)).unwrap();
        let frame: Frame<3> = cache::decode(&bytes).unwrap();
        assert_eq!(frame.number, number);
        assert!((frame.time - f64::from(number) / 24.0).abs() < 1e-12);
        let of_frame = steps.iter().rfind(|s| s["frame"] == number).unwrap();
        assert_eq!(
            frame.positions().len() as u64,
            of_frame["particles"].as_u64().unwrap()
        );
        // The ball rises at 6 m/s, decelerated by gravity.
        let heights = frame.positions().iter().map(|x| f64::from(x[2]));
        let mean = heights.sum::<f64>() / frame.positions().len() as f64;
        let rise = 6.0 * frame.time - 0.5 * 9.81 * frame.time * frame.time;
        assert!((mean - 1.0 - rise).abs() < 0.05, "frame {number}: {mean}");
        let each = bytes.len() as f64 / frame.positions().len() as f64;
        assert!(each <= 12.0, "{each} bytes a particle");
    }
}

#[test]
fn flags_override_the_scene() {
    let trial = Trial::after(
        "run sphere --walls slip --solver cg --transfer flip --resolution 12 --frames 1 --out x --quiet",
    );
    let manifest = json(&trial.path("x/run.json"));
    let settings = &manifest["settings"];
    assert_eq!(settings["physics"]["walls"]["kind"], "slip");
    assert_eq!(settings["physics"]["solver"]["method"], "cg");
    assert_eq!(settings["physics"]["particles"]["transfer"], "flip");
    assert_eq!(settings["cells"], serde_json::json!([12, 12, 12]));
    let steps = lines(&trial.path("x/stats.jsonl"));
    assert!(
        steps
            .iter()
            .all(|s| s["separated_rows"] == 0 && s["solver"] == "cg")
    );
}

/// Stops a run after its second frame.
struct Impatient<'a>(&'a AtomicBool);

impl Progress for Impatient<'_> {
    fn event(&mut self, event: Event<'_>) {
        if matches!(event, Event::Frame { number: 2, .. }) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_stopped_run_has_its_frames_and_a_preview() {
    let trial = Trial::new();
    let stop = AtomicBool::new(false);
    let small = [Override::parse("domain.resolution=16").unwrap()];
    let loaded = load("dam-break-2d", &small, false).unwrap();
    let (scene, scene_text) = loaded.ready().unwrap();
    let out = trial.path("stopped");
    let options = Options {
        threads: Some(1),
        ..Options::new(out.clone(), scene_text, &stop)
    };
    let error = runner::run(&scene, &options, &mut Impatient(&stop)).unwrap_err();
    assert_eq!(error.kind().exit_code(), 130);
    assert_eq!(cache::frames_in(&out).unwrap(), [0, 1, 2]);
    assert!(out.join("preview.gif").is_file());
    let manifest = json(&out.join("run.json"));
    assert_eq!(
        (&manifest["state"], &manifest["frames_done"]),
        (&"interrupted".into(), &2.into())
    );
}

#[test]
fn every_built_in_scene_runs() {
    let trial = Trial::new();
    for (name, _) in builtin::TEXTS {
        trial.call_well(&format!("run {name} --resolution 20 --frames 2 --quiet"));
        let steps = lines(&trial.path(&format!("out/{name}/stats.jsonl")));
        assert_eq!(steps.last().unwrap()["frame"], 2, "{name}");
        // Bodies in flight have no contacts.
        let has_liquid = builtin::of_liquid_alone().any(|other| other == *name);
        let has_unknowns = steps.iter().all(|s| s["unknowns"].as_u64() > Some(0));
        assert!(has_unknowns || !has_liquid, "{name}");
    }
}
