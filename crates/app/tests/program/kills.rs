//! `kill -9` at any instant.

use crate::trial::{Trial, assert_intact, assert_same_run, json};
use meniscus_app::runner::status;
use meniscus_app::runner::status::Activity;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A body that leaves the domain, contacts that are not solved to their tolerance, and a joint.
const BODIES: &str = r#"
contact = { tolerance = 1e-15 }
domain = { size = [1, 1], open = ["right"] }
time = { frames = 40, rate = 24 }
output = { preview_side = 64 }

[[body]]
name = "leaver"
shape = { box = { low = [-0.05, -0.05], high = [0.05, 0.05] } }
position = [0.5, 0.05]
velocity = [3, 2]
density = 500
friction = 0.1

[[body]]
name = "low"
shape = { box = { low = [-0.1, -0.1], high = [0.1, 0.1] } }
position = [0.3, 0.11]
density = 500

[[body]]
name = "high"
shape = { box = { low = [-0.1, -0.1], high = [0.1, 0.1] } }
position = [0.25, 0.35]
density = 5000

[[body]]
name = "bob"
shape = { sphere = { radius = 0.05 } }
position = [0.1, 0.8]
mass = 1

[[joint]]
ball = { bodies = ["bob"], point = [0.3, 0.8] }
"#;

/// Liquid with a raft that carries a box, a stone on the floor, and a plank that the liquid carries out of the domain.
const IN_LIQUID: &str = r#"
domain = { size = [1, 0.6], resolution = 20, open = ["right"] }
time = { frames = 20, rate = 24 }
output = { preview_side = 64 }

[[liquid]]
shape = { box = { low = [0, 0], high = [0.7, 0.25] } }

[[body]]
name = "raft"
shape = { box = { low = [-0.12, -0.05], high = [0.12, 0.05] } }
position = [0.2, 0.27]
density = 500

[[body]]
name = "box"
shape = { box = { low = [-0.06, -0.06], high = [0.06, 0.06] } }
position = [0.2, 0.381]
density = 300

[[body]]
name = "stone"
shape = { sphere = { radius = 0.06 } }
position = [0.5, 0.07]
density = 2500

[[body]]
name = "plank"
shape = { box = { low = [-0.1, -0.05], high = [0.1, 0.05] } }
position = [0.85, 0.2]
velocity = [3, 1]
density = 200
"#;

/// Pseudo-random numbers between 0 and 1; the instant of the kill still varies.
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn a_run_killed_at_fifty_instants_and_resumed_equals_an_uninterrupted_one() {
    let scene = "run dam-break-2d --resolution 16 --frames 40 --quiet";
    survives(&Trial::new(), scene, 50);
}

#[test]
fn a_run_of_bodies_killed_at_thirty_instants_and_resumed_equals_an_uninterrupted_one() {
    let trial = Trial::new();
    std::fs::write(trial.path("bodies.toml"), BODIES).unwrap();
    survives(&trial, "run bodies.toml --quiet", 30);
    // What the run reports about its bodies is the same as well.
    let record = |run: &str| {
        let manifest = json(&trial.path(run).join("run.json"));
        (
            manifest["contacts"].clone(),
            manifest["left_domain"].clone(),
        )
    };
    assert_eq!(record("whole"), record("killed-1"));
    let (contacts, left) = record("whole");
    assert!(contacts["steps"].as_u64().unwrap() > 10, "{contacts}");
    assert_eq!(left[0]["name"], "leaver");
}

#[test]
fn a_run_of_bodies_in_liquid_killed_at_twenty_instants_and_resumed_equals_an_uninterrupted_one() {
    let trial = Trial::new();
    std::fs::write(trial.path("wet.toml"), IN_LIQUID).unwrap();
    survives(&trial, "run wet.toml --quiet", 20);
    let manifest = json(&trial.path("whole").join("run.json"));
    assert_eq!(manifest["left_domain"][0]["name"], "plank");
    let table = std::fs::read_to_string(trial.path("whole").join("bodies.csv")).unwrap();
    let touching = |row: &str| row.split(',').nth(37).is_some_and(|n| n != "0");
    assert!(table.lines().skip(2).any(touching));
}

#[test]
fn a_run_of_bodies_in_viscous_liquid_killed_at_ten_instants_and_resumed_equals_an_uninterrupted_one()
 {
    let trial = Trial::new();
    let thick = IN_LIQUID.replace("[[liquid]]\n", "[[liquid]]\nviscosity = 50\n");
    std::fs::write(trial.path("thick.toml"), thick).unwrap();
    survives(&trial, "run thick.toml --quiet", 10);
    let contacts = |run: &str| json(&trial.path(run).join("run.json"))["contacts"].clone();
    assert_eq!(contacts("whole"), contacts("killed-1"));
    let table = std::fs::read_to_string(trial.path("whole").join("bodies.csv")).unwrap();
    let touching = |row: &str| row.split(',').nth(37).is_some_and(|n| n != "0");
    assert!(table.lines().skip(2).any(touching));
}

#[test]
fn a_run_of_bodies_among_particles_killed_at_ten_instants_and_resumed_equals_an_uninterrupted_one()
{
    let trial = Trial::new();
    let particles = IN_LIQUID
        .replace("resolution = 20, ", "")
        .replace("output =", "particles = { spacing = 0.025 }\noutput =");
    let text = format!("method = \"projective\"\n{particles}");
    std::fs::write(trial.path("wet.toml"), text).unwrap();
    survives(&trial, "run wet.toml --quiet", 10);
    let record = |run: &str| {
        let manifest = json(&trial.path(run).join("run.json"));
        (
            manifest["contacts"].clone(),
            manifest["left_domain"].clone(),
        )
    };
    assert_eq!(record("whole"), record("killed-1"));
    assert_eq!(record("whole").1[0]["name"], "plank");
}

/// Kills runs of a scene at random instants, and compares what is left of them once resumed.
fn survives(trial: &Trial, scene: &str, most_kills: u32) {
    let started = Instant::now();
    trial.call_well(&format!("{scene} --out whole --threads 1"));
    let whole = trial.path("whole");
    let a_run = started.elapsed();
    let mut dice = Dice(7);
    let (mut kills, mut runs, mut threads) = (0, 0, 1);
    while kills < most_kills {
        runs += 1;
        let folder = format!("killed-{runs}");
        // A run that was killed before it had a folder has nothing to resume.
        let line = || {
            let resume = if trial.path(&folder).exists() {
                "--resume"
            } else {
                ""
            };
            format!("{scene} --out {folder} {resume}")
        };
        // Short and long waits: the first milliseconds of a run write other files than later ones.
        while kills < most_kills {
            threads = threads % 4 + 1;
            let mut child = trial.start(&format!("{} --threads {threads}", line()));
            sleep(Duration::from_secs_f64(
                a_run.as_secs_f64() * 0.5 * dice.throw().powi(2),
            ));
            let ended_before = child.try_wait().unwrap().is_some();
            child.kill().unwrap();
            child.wait().unwrap();
            if ended_before {
                break;
            }
            kills += 1;
            if let Ok(status) = status(&trial.path(&folder)) {
                let known = [Activity::Killed, Activity::Done];
                assert!(known.contains(&status.state), "{status:?}");
            }
        }
        trial.call_well(&format!("{} --threads 2", line()));
        assert_same_run(&trial.path(&folder), &whole);
        assert_intact(&trial.path(&folder));
        assert!(runs <= most_kills, "every run must survive some kills");
    }
}
