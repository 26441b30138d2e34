//! Overhead of a run: validation of scenes and writing of files.

use crate::prelude::*;
use meniscus_app::runner::{self, Options as RunOptions};
use meniscus_scene::builtin;
use meniscus_scene::text::{Override, load};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// CPU seconds for checking a scene.
const MOST_CHECK_SECONDS: f64 = 0.2;
/// Share of a run for writing frames, checkpoints and statistics, in per cent.
const MOST_WRITE_SHARE: f64 = 5.0;

/// The study.
pub struct RunnerSpeed;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along the channel of the dam break
    #[arg(long, value_name = "N", default_value_t = 96, value_parser = value_parser!(u32).range(16..=512))]
    resolution: u32,
    /// Frames of it
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = value_parser!(u32).range(2..=1000))]
    frames: u32,
}

impl Study for RunnerSpeed {
    const NAME: &'static str = "runner-speed";
    const SUMMARY: &'static str = "what checking scenes costs, and writing files during a run";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let checks = check_all()?;
        let shares = write_shares(options)?;
        let share = |phase: &str| shares.iter().find(|(name, _)| name == phase).map(|s| s.1);
        let slowest = checks
            .iter()
            .map(|(_, seconds)| *seconds)
            .fold(0.0, f64::max);
        let targets = [
            Target::new(
                "check of the slowest built-in scene, CPU time",
                Bound::AtMost(MOST_CHECK_SECONDS),
                "s",
                Some(slowest),
                3,
            ),
            Target::new(
                "frames, checkpoints and statistics, of a run's time",
                Bound::AtMost(MOST_WRITE_SHARE),
                "%",
                share("write"),
                1,
            ),
        ];
        let mut scenes = Table::columns("scene | CPU s");
        for (name, seconds) in &checks {
            scenes.push([name.as_str().into(), Cell::maybe(Some(*seconds), 4)]);
        }
        let mut phases = Table::columns("phase | % of the run");
        for (phase, percent) in &shares {
            phases.push([phase.as_str().into(), Cell::maybe(Some(*percent), 1)]);
        }
        Ok(Findings {
            study: Self::NAME,
            variant: None,
            setting: vec![
                format!(
                    "Every built-in scene is read, checked and checked for warnings; the dam break at {} \
                     cells is run for {} frames with its usual output and all cores.",
                    options.resolution, options.frames
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::table("Checks", scenes),
                Section::new(
                    "Phases of a run",
                    [
                        "By the clock on the wall; `write` includes waiting for the disk, `preview` is apart.",
                    ],
                    phases.clone(),
                ),
            ],
            data: phases,
        })
    }
}

/// CPU seconds for every built-in scene.
fn check_all() -> Result<Vec<(String, f64)>, Error> {
    builtin::TEXTS
        .iter()
        .map(|(name, _)| {
            let start = Moment::now();
            load(name, &[], false)?.ready()?;
            Ok((name.to_string(), Moment::now().since(&start).cpu))
        })
        .collect()
}

/// Runs the dam break in a folder of its own and returns the share of every phase in per cent.
fn write_shares(options: &Options) -> Result<Vec<(String, f64)>, Error> {
    let changes = [
        Override::short("--resolution", "domain.resolution", options.resolution),
        Override::short("--frames", "time.frames", options.frames),
    ];
    let (scene, scene_text) = load("dam-break", &changes, false)?.ready()?;
    let folder = std::env::temp_dir().join(format!("meniscus-runner-speed-{}", std::process::id()));
    let stop = AtomicBool::new(false);
    let run_options = RunOptions {
        overwrite: true,
        ..RunOptions::new(folder.clone(), scene_text, &stop)
    };
    let shares = runner::run(&scene, &run_options, &mut ())
        .and_then(|_| shares_of(&folder.join("timings.jsonl")));
    // What is left of it is no result.
    let _ = std::fs::remove_dir_all(&folder);
    shares
}

fn shares_of(timings: &Path) -> Result<Vec<(String, f64)>, Error> {
    let text = std::fs::read_to_string(timings).map_err(|e| Error::io("read", timings, &e))?;
    let mut seconds: BTreeMap<String, f64> = BTreeMap::new();
    for line in text.lines() {
        let line: Value =
            serde_json::from_str(line).map_err(|e| Error::io("read", timings, &e.into()))?;
        for (phase, value) in line["phases"].as_object().into_iter().flatten() {
            *seconds.entry(phase.clone()).or_default() += value.as_f64().unwrap_or(0.0);
        }
    }
    let all: f64 = seconds.values().sum();
    Ok(seconds
        .into_iter()
        .map(|(phase, s)| (phase, 100.0 * s / all))
        .collect())
}
