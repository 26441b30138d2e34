//! Estimates compared with measured runs.

use crate::trial::Trial;
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

/// Largest ratio of estimated and peak memory, ...
const MEMORY: f64 = 1.5;
/// ... and of estimated and measured CPU time.
const TIME: f64 = 2.0;

const DROP: &str = r#"
[domain]
size = [0.4, 0.4, 0.4]
resolution = 32
[time]
frames = 36
rate = 48
[[liquid]]
shape = { sphere = { center = [0.2, 0.2, 0.3], radius = 0.05 } }
velocity = [0, 0, -1.5]
[[liquid]]
shape = { box = { low = [0, 0, 0], high = [0.4, 0.4, 0.12] } }
"#;

const GLASS: &str = r#"
[domain]
size = [0.16, 0.16, 0.24]
resolution = 80
open = ["left", "right", "front", "back"]
[time]
frames = 96
[run]
on_drift = "warn"
[[emitter]]
shape = { cylinder = { from = [0.08, 0.08, 0.21], to = [0.08, 0.08, 0.23], radius = 0.008 } }
velocity = [0, 0, -0.8]
to_frame = 72
[[solid]]
material = "glass"
shape = { difference = [
    { cone = { from = [0.08, 0.08, 0.01], to = [0.08, 0.08, 0.15], radius_from = 0.03, radius_to = 0.04 } },
    { cone = { from = [0.08, 0.08, 0.018], to = [0.08, 0.08, 0.15001], radius_from = 0.028, radius_to = 0.038 } },
] }
[[solid]]
shape = { box = { low = [-1, -1, -1], high = [1, 1, 0.01] } }
"#;

const PROW: &str = r#"
[domain]
size = [3, 1, 1]
resolution = 72
[time]
frames = 30
[[liquid]]
shape = { box = { low = [0, 0, 0], high = [3, 1, 0.4] } }
[[solid]]
shape = { intersection = [
    { box = { low = [-0.3, -0.15, -0.2], high = [0.3, 0.15, 0.3] } },
    { half_space = { point = [0.3, 0, 0], normal = [1, 1.2, 0.3] } },
    { half_space = { point = [0.3, 0, 0], normal = [1, -1.2, 0.3] } },
] }
ease = "linear"
keyframes = [
    { time = 0, position = [0.4, 0.5, 0.35] },
    { time = 0.5, position = [2.4, 0.5, 0.35] },
    { time = 0.6, position = [4.5, 0.5, 0.35] },
]
"#;

const BOWL: &str = r#"
[domain]
size = [0.5, 0.5, 0.5]
resolution = 32
[time]
frames = 120
[[liquid]]
shape = { half_space = { point = [0, 0, 0.22], normal = [0, 0, 1] } }
[[solid]]
shape = { sphere = { center = [0.25, 0.25, 0.25], radius = 0.22 }, inverted = true }
"#;

/// Peak memory in bytes and CPU seconds of a process so far, from the system; none once it has ended.
fn usage(pid: u32) -> Option<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in brackets, may contain spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().ok()? + fields[12].parse::<f64>().ok()?;
    Some((1024.0 * kilobytes, ticks / 100.0))
}

#[test]
#[ignore = "long: six whole runs, about eight minutes"]
fn estimates_are_within_their_factors_of_measured_runs() {
    let trial = Trial::new();
    for (name, text) in [
        ("drop", DROP),
        ("glass", GLASS),
        ("prow", PROW),
        ("bowl", BOWL),
    ] {
        fs::write(trial.path(&format!("{name}.toml")), text).unwrap();
    }
    let mut faults = Vec::new();
    for scene in [
        "drop.toml",
        "dam-break",
        "bowl.toml",
        "prow.toml",
        "knot",
        "glass.toml",
    ] {
        let said = trial
            .call_well(&format!("estimate {scene} --threads 2 --json"))
            .said;
        let estimate: Value = serde_json::from_str(&said).unwrap();
        let number = |key: &str| estimate[key].as_f64().unwrap();
        let mut command = trial.command();
        command.args([
            "run",
            scene,
            "--threads",
            "2",
            "--quiet",
            "--out",
            "run",
            "--overwrite",
        ]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut used = (0.0, 0.0);
        let status = loop {
            if let Some(more) = usage(child.id()) {
                used = more;
            }
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        assert!(status.success(), "{scene}");
        let lines = crate::trial::lines(&trial.path("run/stats.jsonl"));
        let particles = lines.iter().map(|line| line["particles"].as_f64().unwrap());
        let particles = particles.fold(0.0, f64::max);
        fs::remove_dir_all(trial.path("run")).unwrap();
        let (memory, cpu) = used;
        let line = format!(
            "{scene}: memory {:.0} MB, estimated {:.0} and at most {:.0}; CPU {cpu:.0} s, estimated {:.0}; \
             {} steps, estimated {}; {particles} particles, estimated {} and at most {}",
            memory / 1e6,
            number("memory") / 1e6,
            number("memory_most") / 1e6,
            number("cpu_seconds"),
            lines.len(),
            number("steps"),
            number("particles"),
            number("particles_most")
        );
        eprintln!("{line}");
        let within = |estimate: f64, actual: f64, factor: f64| {
            (actual / factor..=actual * factor).contains(&estimate)
        };
        let holds = within(number("memory"), memory, MEMORY)
            && within(number("cpu_seconds"), cpu, TIME)
            && memory <= number("memory_most")
            && particles <= number("particles_most");
        if !holds {
            faults.push(line);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
