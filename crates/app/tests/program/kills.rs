//! `kill -9` at any instant.

use crate::trial::{Trial, assert_intact, assert_same_run};
use meniscus_app::runner::status;
use meniscus_app::runner::status::Activity;
use std::thread::sleep;
use std::time::{Duration, Instant};

const SCENE: &str = "run dam-break-2d --resolution 16 --frames 40 --quiet";
const KILLS: u32 = 50;

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
    let trial = Trial::new();
    let started = Instant::now();
    trial.call_well(&format!("{SCENE} --out whole --threads 1"));
    let whole = trial.path("whole");
    let a_run = started.elapsed();
    let mut dice = Dice(7);
    let (mut kills, mut runs, mut threads) = (0, 0, 1);
    while kills < KILLS {
        runs += 1;
        let folder = format!("killed-{runs}");
        let line = format!("{SCENE} --out {folder} --resume");
        // Short and long waits: the first milliseconds of a run write other files than later ones.
        while kills < KILLS {
            threads = threads % 4 + 1;
            let mut child = trial.start(&format!("{line} --threads {threads}"));
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
        trial.call_well(&format!("{line} --threads 2"));
        assert_same_run(&trial.path(&folder), &whole);
        assert_intact(&trial.path(&folder));
        assert!(runs <= KILLS, "every run must survive some kills");
    }
}
