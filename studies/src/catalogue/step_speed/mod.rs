//! How long a frame takes: CPU time by phase, two threads against one, what empty space costs, and memory.

mod figures;
mod measure;
mod report;
mod stage;

use crate::prelude::*;
use crate::subprocess;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use measure::{Air, Pace, Part, Run, Setup};
use meniscus_liquid::Walls;
use serde::de::DeserializeOwned;
use serde_json::Value;
use stage::Stage;
use std::io::{Write, stderr};

/// Cells along the longest side in the usual run.
const USUAL_RESOLUTION: usize = 128;
/// Frames for which the cost of empty space is measured: it is the same in every step.
const AIR_FRAMES: u32 = 12;
/// Frames for which one thread and two take turns: to the impact and beyond.
const PACE_FRAMES: u32 = 16;
/// More threads than this are a slip of the finger.
const MOST_THREADS: u64 = 1024;

/// The study.
pub struct StepSpeed;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along the side of 2 m
    #[arg(long, value_name = "N", default_value_t = USUAL_RESOLUTION)]
    resolution: usize,
    /// Frames of each run
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = value_parser!(u32).range(1..))]
    frames: u32,
    /// Numbers of threads to compare
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2",
        value_parser = value_parser!(u64).range(1..=MOST_THREADS))]
    threads: Vec<u64>,
    /// Kinds of walls
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "separating,slip",
        value_parser = PossibleValuesParser::new(Walls::WORDS).map(String::from))]
    walls: Vec<String>,
    /// Scenes
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "dam-break,open-cube"
    )]
    scenes: Vec<Stage>,
}

/// A setup and what came out of it.
#[derive(Clone, Debug)]
struct Measured<T> {
    setup: Setup,
    outcome: T,
}

/// All that was measured.
#[derive(Clone, Debug)]
struct Measurements {
    runs: Vec<Measured<Run>>,
    paces: Vec<Measured<Pace>>,
    airs: Vec<Measured<Air>>,
    /// Load of the machine before.
    load: Option<f64>,
}

impl Study for StepSpeed {
    const NAME: &'static str = "step-speed";
    const SUMMARY: &'static str =
        "CPU time and memory of a frame of the dam break, by phase, threads and empty space";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let Plan { runs, paces, airs } = plan(options);
        for setup in &runs {
            setup.scene()?.check()?;
        }
        let load = machine::load();
        let mut progress = Progress {
            done: 0,
            all: runs.len() + paces.len() + airs.len(),
        };
        let runs = measure_all(runs, &mut progress, "", Part::Run)?;
        let paces = measure_all(paces, &mut progress, " and one in turn", Part::Pace)?;
        let with_air = ", with twice the air in turn";
        let airs = measure_all(airs, &mut progress, with_air, Part::Air)?;
        Ok(report::findings(
            options,
            &Measurements {
                runs,
                paces,
                airs,
                load,
            },
        ))
    }

    fn part(part: Value) -> Result<Value, Error> {
        let not_known = |fault| Error::usage(format!("not a part of {}: {fault}", Self::NAME));
        let outcome = match serde_json::from_value(part).map_err(not_known)? {
            Part::Run(setup) => serde_json::to_value(measure::run(&setup)?),
            Part::Pace(setup) => serde_json::to_value(measure::pace(&setup)?),
            Part::Air(setup) => serde_json::to_value(measure::air(&setup)?),
        };
        outcome.map_err(not_known)
    }
}

/// Measures each setup in a subprocess.
fn measure_all<T: DeserializeOwned>(
    setups: Vec<Setup>,
    progress: &mut Progress,
    manner: &str,
    part: fn(Setup) -> Part,
) -> Result<Vec<Measured<T>>, Error> {
    let measured = setups.into_iter().map(|setup| {
        progress.report(&setup, manner);
        let outcome = subprocess::run(StepSpeed::NAME, &part(setup.clone()))?;
        Ok(Measured { setup, outcome })
    });
    measured.collect()
}

/// Planned measurements.
#[derive(Default)]
struct Plan {
    /// Runs of their own.
    runs: Vec<Setup>,
    /// Setups that are compared with one thread.
    paces: Vec<Setup>,
    /// Setups in which the cost of air is measured.
    airs: Vec<Setup>,
}

fn plan(options: &Options) -> Plan {
    let Plan {
        mut runs,
        mut paces,
        mut airs,
    } = Plan::default();
    let one_and_two = [1, 2].iter().all(|t| options.threads.contains(t));
    for &stage in &without_repeats(&options.scenes) {
        let setup = |walls: &String, threads: usize, frames: u32| Setup {
            stage,
            walls: walls.clone(),
            resolution: options.resolution,
            frames,
            threads,
        };
        let walls = without_repeats(&options.walls);
        for walls in &walls {
            for &threads in &without_repeats(&options.threads) {
                runs.push(setup(walls, threads as usize, options.frames));
            }
        }
        let first = || walls.first();
        if one_and_two {
            let frames = options.frames.min(PACE_FRAMES);
            paces.extend(first().map(|walls| setup(walls, 2, frames)));
        }
        // The walls do not matter to the air; one thread is the least disturbed by others.
        airs.extend(first().map(|walls| setup(walls, 1, options.frames.min(AIR_FRAMES))));
    }
    Plan { runs, paces, airs }
}

fn without_repeats<T: Clone + PartialEq>(list: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for item in list {
        if !kept.contains(item) {
            kept.push(item.clone());
        }
    }
    kept
}

/// Says on standard error what is being done, for whoever waits.
struct Progress {
    done: usize,
    all: usize,
}

impl Progress {
    fn report(&mut self, setup: &Setup, manner: &str) {
        self.done += 1;
        let Setup {
            stage,
            walls,
            resolution,
            frames,
            threads,
        } = setup;
        let _ = writeln!(
            stderr().lock(),
            "[{}/{}] {stage}, {walls} walls, {resolution} cells, {frames} frames, {threads} thread{}{manner}",
            self.done,
            self.all,
            if *threads == 1 { "" } else { "s" },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn options(words: &[&str]) -> Result<Options, clap::Error> {
        let line = ["step-speed"].iter().chain(words);
        Line::try_parse_from(line).map(|line| line.options)
    }

    #[test]
    fn the_usual_run_has_both_walls_one_and_two_threads_in_both_scenes() {
        let Plan { runs, paces, airs } = plan(&options(&[]).unwrap());
        assert_eq!((runs.len(), paces.len(), airs.len()), (8, 2, 2));
        assert!(
            runs.iter()
                .all(|run| run.resolution == 128 && run.frames == 24)
        );
        assert!(
            airs.iter()
                .all(|air| air.threads == 1 && air.walls == "separating")
        );
    }

    #[test]
    fn lists_choose_what_is_run_and_repeats_are_run_once() {
        let line = [
            "--threads",
            "2,2",
            "--walls",
            "slip",
            "--scenes",
            "open-cube",
            "--frames",
            "3",
        ];
        let Plan { runs, paces, airs } = plan(&options(&line).unwrap());
        assert_eq!((runs.len(), paces.len(), airs.len()), (1, 0, 1));
        assert_eq!((runs[0].threads, runs[0].stage), (2, Stage::OpenCube));
        assert_eq!((runs[0].walls.as_str(), airs[0].frames), ("slip", 3));
    }

    #[test]
    fn what_makes_no_sense_is_wrong_usage() {
        for line in [
            ["--threads", "0"],
            ["--frames", "0"],
            ["--walls", "sticky"],
            ["--scenes", "circle"],
            ["--resolution", "many"],
        ] {
            assert_eq!(options(&line).unwrap_err().exit_code(), 2, "{line:?}");
        }
        let none = options(&["--resolution", "0"]).unwrap();
        assert_eq!(StepSpeed::run(&none).unwrap_err().kind().exit_code(), 2);
    }

    #[test]
    fn a_part_is_done_and_a_strange_one_is_refused() {
        let setup = Setup {
            stage: Stage::DamBreak,
            walls: "slip".into(),
            resolution: 12,
            frames: 1,
            threads: 2,
        };
        let part = serde_json::to_value(Part::Run(setup)).unwrap();
        let run: Run = serde_json::from_value(StepSpeed::part(part).unwrap()).unwrap();
        assert_eq!(run.frames.len(), 1);
        assert!(StepSpeed::part(Value::from("nonsense")).is_err());
    }
}
