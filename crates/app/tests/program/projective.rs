//! Scenes of the particle method.

use crate::trial::{Trial, assert_same_run};
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

const DAM: &str = r#"
method = "projective"
domain = { size = [1, 0.6], open = ["right"] }
time = { frames = 12, rate = 24 }
particles = { spacing = 0.02 }
output = { attributes = true, preview_side = 64 }

[[liquid]]
shape = { box = { low = [0, 0], high = [0.3, 0.4] } }

[[emitter]]
shape = { box = { low = [0.1, 0.5], high = [0.2, 0.55] } }
velocity = [0, -1]

[[solid]]
shape = { sphere = { center = [0.6, 0], radius = 0.1 } }
"#;

fn scene(text: &str) -> Trial {
    let trial = Trial::new();
    fs::write(trial.path("dam.toml"), text).unwrap();
    trial
}

#[test]
fn runs_are_the_same_bytes_for_any_threads_and_after_a_kill() {
    // Enough particles for a run that does not end before the kill.
    let trial = scene(&DAM.replace("spacing = 0.02", "spacing = 0.008"));
    trial.call_well("run dam.toml --out one --threads 1");
    trial.call_well("run dam.toml --out two --threads 2");
    assert_same_run(&trial.path("one"), &trial.path("two"));
    let mut killed = trial.start("run dam.toml --out killed");
    let frames = || fs::read_dir(trial.path("killed/particles")).map_or(0, Iterator::count);
    let start = Instant::now();
    while frames() < 3 && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(2));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!((3..13).contains(&frames()), "it was killed in the middle");
    trial.call_well("run dam.toml --out killed --resume");
    assert_same_run(&trial.path("one"), &trial.path("killed"));
    // The scene that the run keeps makes the same run again.
    trial.call_well("run one/scene.toml --out again");
    let (one, again) = (
        trial.path("one/stats.jsonl"),
        trial.path("again/stats.jsonl"),
    );
    assert_eq!(fs::read(one).unwrap(), fs::read(again).unwrap());
}

#[test]
fn particles_meet_their_density_leave_through_open_sides_and_can_be_exported() {
    let trial = scene(DAM);
    trial.call_well("run dam.toml --out run");
    let stats = fs::read_to_string(trial.path("run/stats.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = (stats.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let solved = lines
        .iter()
        .filter(|line| line["status"] == "converged")
        .count();
    assert!(
        solved * 100 >= 95 * lines.len(),
        "{solved} of {}",
        lines.len()
    );
    let total = |key: &str| {
        lines
            .iter()
            .map(|line| line[key].as_f64().unwrap())
            .sum::<f64>()
    };
    assert!(total("emitted") > 0.03 && total("drained") > 0.0);
    for format in ["ply", "vtk", "npz"] {
        trial.call_well(&format!("export run --to {format} --frames 12"));
    }
    trial.call_well("mesh run --frames 12");
}

#[test]
fn keys_of_the_grid_method_are_errors_with_a_hint() {
    let cases = [
        ("walls = { kind = \"slip\" }", "walls"),
        ("solver = { method = \"cg\" }", "write [projective]"),
    ];
    for (line, expected) in cases {
        let outcome = scene(&format!("{line}\n{DAM}")).call("check dam.toml");
        assert_eq!(outcome.code, 2, "{line}");
        assert!(outcome.errors.contains(expected), "{}", outcome.errors);
    }
    let twice = DAM.replace("spacing = 0.02", "spacing = 0.02, count = 100");
    assert!(
        scene(&twice)
            .call("check dam.toml")
            .errors
            .contains("remove one of")
    );
    let both = format!("projective = {{ weight = 1e6, bulk_modulus = 1e8 }}\n{DAM}");
    let errors = scene(&both).call("check dam.toml").errors;
    assert!(
        errors.contains("remove one of `weight` and `bulk_modulus`"),
        "{errors}"
    );
    let grid = DAM.replace("method = \"projective\"\n", "");
    let outcome = scene(&grid).call("check dam.toml");
    assert!(outcome.errors.contains("method = \"projective\""));
}

#[test]
fn a_number_of_particles_sets_their_spacing() {
    let trial = Trial::new();
    let outcome = trial.call_well("run pf-double-dam --particles 4000 --frames 1 --out run -q");
    assert_eq!(outcome.code, 0);
    let stats = fs::read_to_string(trial.path("run/stats.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(stats.lines().next().unwrap()).unwrap();
    let particles = first["particles"].as_f64().unwrap();
    assert!((particles / 4000.0 - 1.0).abs() < 0.15, "{particles}");
}

#[test]
fn the_weight_of_the_paper_is_a_bulk_modulus() {
    let compressed = |line: &str| {
        let trial = scene(&format!("{line}\n{DAM}"));
        trial.call_well("run dam.toml --frames 2 --out run -q");
        // The scene that the run keeps is valid and makes the same run.
        trial.call_well("run run/scene.toml --out again -q");
        let stats = |run: &str| fs::read(trial.path(run).join("stats.jsonl")).unwrap();
        assert_eq!(stats("run"), stats("again"));
        stats("run")
    };
    let by_weight = compressed("projective = { weight = 1e3 }");
    assert_eq!(by_weight, compressed("projective = { weight = 1000 }"));
    assert_ne!(by_weight, compressed("projective = { weight = 1e5 }"));
    assert_ne!(by_weight, compressed(""));
}
