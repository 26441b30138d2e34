//! Extreme scenes: enclosed liquid, compressed liquid, excessive speeds, and no liquid at all.

use crate::trial::{Trial, json, lines, run_alone as run};
use meniscus_liquid::Walls;
use meniscus_scene::{Drain, Emitter, FrameRange, Scene, Volume};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape};
use meniscus_store::cache;
use meniscus_store::error::Kind;

fn block(low: [f64; 2], high: [f64; 2]) -> Shape<2> {
    Shape::Box { low, high }
}

/// A tank of 1 m, 16 cells per side, with water up to `height`.
fn tank(height: f64) -> Scene<2> {
    let mut scene = Scene::<2>::new("tank", "a tank", [1.0, 1.0], 16);
    scene.frames = 3;
    let water = block([0.0, 0.0], [1.0, height]);
    scene.liquids.push(Volume::at_rest(water));
    scene
}

fn number(line: &serde_json::Value, key: &str) -> f64 {
    line[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} in {line}"))
}

#[test]
fn a_tank_without_any_air_stays_at_rest() {
    for walls in [Walls::Slip, Walls::Separating] {
        let trial = Trial::new();
        let mut scene = tank(1.0);
        scene.physics.walls = walls;
        run(scene, &trial).unwrap();
        for line in lines(&trial.path("out/stats.jsonl")) {
            assert_eq!(line["pockets"], 1, "{line}");
            assert!(number(&line, "max_speed") < 0.01, "{line}");
            assert!(number(&line, "lost_volume") < 1e-6, "{line}");
        }
    }
}

#[test]
fn a_piston_on_a_closed_pocket_is_reported_with_its_position() {
    for walls in [Walls::Slip, Walls::Separating] {
        let trial = Trial::new();
        let mut scene = tank(1.0);
        scene.physics.walls = walls;
        // A wall between two full chambers, and a piston that pushes into the right one.
        let wall = block([0.4, -1.0], [0.55, 2.0]);
        scene.solids.push(ScriptedSolid::still("wall", wall));
        let key = |time, x| Keyframe {
            time,
            position: [x, 0.0],
            rotation: Rotation::IDENTITY,
        };
        scene.solids.push(ScriptedSolid {
            name: "piston".into(),
            shape: block([0.95, -1.0], [3.0, 2.0]),
            motion: Motion::Keyframes {
                keys: vec![key(0.0, 0.0), key(0.125, -0.05)],
                ease: Ease::Linear,
            },
        });
        run(scene, &trial).unwrap();
        let lines = lines(&trial.path("out/stats.jsonl"));
        let lost: f64 = lines.iter().map(|line| number(line, "lost_volume")).sum();
        assert!(
            (lost - 0.05).abs() < 0.01,
            "{walls}: {lost} of 0.05 reported"
        );
        for line in &lines {
            assert_eq!(line["pockets"], 2, "{line}");
            let x = line["squeezed"][0].as_f64().unwrap();
            assert!((0.55..0.95).contains(&x), "{line}");
        }
    }
}

#[test]
fn velocities_a_thousand_times_too_high_are_simulated_or_fail_cleanly() {
    let trial = Trial::new();
    let mut scene = tank(0.4);
    scene.frames = 1;
    scene.liquids[0].velocity = [3000.0, 1000.0];
    let end = run(scene, &trial);
    let manifest = json(&trial.path("out/run.json"));
    match end {
        Ok(_) => assert_eq!(manifest["state"], "done"),
        Err(error) => {
            assert_eq!(error.kind(), Kind::Numerical, "{error}");
            assert!(error.to_string().contains("m/s"), "{error}");
            assert_eq!(manifest["state"], "failed");
        }
    }
    let steps = lines(&trial.path("out/stats.jsonl"));
    assert!(steps.len() > 20, "{} steps for one frame", steps.len());
    for line in &steps {
        assert!(number(line, "kinetic_energy").is_finite(), "{line}");
    }
}

#[test]
fn a_tank_that_is_drained_empty_runs_to_its_last_frame() {
    let trial = Trial::new();
    let mut scene = tank(0.4);
    scene.drains.push(Drain {
        name: "all".into(),
        shape: block([-1.0, -1.0], [2.0, 2.0]),
        frames: FrameRange { from: 1, to: None },
    });
    run(scene, &trial).unwrap();
    let out = trial.path("out");
    let particles = |frame| {
        let bytes = std::fs::read(cache::frame_path(&out, frame)).unwrap();
        cache::decode::<2>(&bytes).unwrap().positions().len()
    };
    assert!(particles(1) > 500);
    assert_eq!((particles(2), particles(3)), (0, 0));
    let steps = lines(&out.join("stats.jsonl"));
    let drained: f64 = steps.iter().map(|line| number(line, "drained")).sum();
    assert!((drained - 0.4).abs() < 0.01, "{drained} of 0.4 drained");
    let last = steps.last().unwrap();
    assert_eq!(
        (number(last, "volume"), number(last, "volume_drift")),
        (0.0, 0.0)
    );
    assert_eq!(last["unknowns"], 0);
}

#[test]
fn an_empty_tank_is_filled_with_the_right_volume() {
    let trial = Trial::new();
    let mut scene = tank(0.4);
    scene.liquids.clear();
    scene.frames = 12;
    scene.emitters.push(Emitter {
        name: "tap".into(),
        shape: block([0.3, 0.55], [0.7, 0.7]),
        velocity: [0.0, -1.5],
        rheology: Default::default(),
        frames: FrameRange {
            from: 2,
            to: Some(10),
        },
    });
    run(scene, &trial).unwrap();
    let steps = lines(&trial.path("out/stats.jsonl"));
    let emitted: f64 = steps.iter().map(|line| number(line, "emitted")).sum();
    let due = 0.4 * 1.5 * 8.0 / 24.0;
    assert!((emitted / due - 1.0).abs() < 0.03, "{emitted} of {due}");
    for line in &steps {
        let emits = (3..=10).contains(&line["frame"].as_u64().unwrap());
        assert!(emits || number(line, "emitted") == 0.0, "{line}");
    }
    let last = steps.last().unwrap();
    assert!(number(last, "volume_drift").abs() < 0.1, "{last}");
}

#[test]
fn liquid_that_leaves_through_an_open_side_is_counted() {
    let trial = Trial::new();
    let mut scene = tank(0.4);
    scene.frames = 12;
    scene.open[0][1] = true;
    run(scene, &trial).unwrap();
    let steps = lines(&trial.path("out/stats.jsonl"));
    let drained: f64 = steps.iter().map(|line| number(line, "drained")).sum();
    // 8/27 of depth times the speed of waves in half a second.
    let due = 8.0 / 27.0 * 0.4 * (9.81f64 * 0.4).sqrt() * 0.5;
    assert!((drained / due - 1.0).abs() < 0.25, "{drained} of {due}");
    for line in &steps {
        assert!(number(line, "volume_drift").abs() < 0.05, "{line}");
    }
}
