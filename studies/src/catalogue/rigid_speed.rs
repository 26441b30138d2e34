//! Rigid bodies beside rapier: the same scenes, the same measure of position errors, in the same run.

use crate::peer;
use crate::prelude::*;
use std::time::Duration;

/// Times rapier's CPU time per step at its defaults that ours may be.
const MOST_TIME: f64 = 3.0;
/// Times that our position error must be smaller than rapier's at its defaults.
const LEAST_ERROR_RATIO: f64 = 20.0;
/// Rapier's default number of iterations.
const DEFAULT_ITERATIONS: u32 = 4;
/// Residuals at which our quick variants end the solves of large islands, as a share of the speed that gravity gives in a step.
const COARSE: [&str; 2] = ["0.1", "0.3"];

/// Scenes and what they are.
const SCENES: [(&str, &str); 3] = [
    ("pile", "500 boxes in a pile"),
    ("wall", "wall of 200 bricks, hit by a ball"),
    ("bowl", "2,000 balls in a bowl"),
];

/// The study.
pub struct RigidSpeed;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Steps of 1/60 s
    #[arg(long, value_name = "N", default_value_t = 240, value_parser = value_parser!(u32).range(20..=10_000))]
    steps: u32,
    /// Iterations up to which rapier's are doubled
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = value_parser!(u32).range(4..=4096))]
    most_iterations: u32,
    /// Seconds after which a run is ended
    #[arg(long, value_name = "S", default_value_t = 300)]
    patience: u64,
}

/// One run of a scene.
#[derive(Clone, Debug)]
struct Run {
    engine: String,
    /// CPU seconds per step.
    cpu: f64,
    /// The largest position error of a moment, on average over the run, over its last quarter, and at most, in m.
    mean_error: f64,
    late_error: f64,
    largest_error: f64,
    /// Steps with a contact problem that was not solved to its tolerance, and the largest residual in m/s.
    unsolved: Option<u64>,
    residual: Option<f64>,
}

impl Run {
    fn new(scene: &str, words: &[&str], engine: String, options: &Options) -> Result<Self, Error> {
        let steps = options.steps.to_string();
        let arguments = [&[scene, &steps], words].concat();
        let limit = Duration::from_secs(options.patience);
        let answer = peer::crate_of_its_own("rapier", &arguments, limit)
            .map_err(|why| Error::new(Kind::Resources, format!("{scene} by {engine}: {why}")))?;
        let number = |key: &str| answer[key].as_f64();
        let required = |key: &str| number(key).unwrap_or(f64::NAN);
        Ok(Self {
            engine,
            cpu: required("cpu_per_step"),
            mean_error: required("mean_error"),
            late_error: required("late_error"),
            largest_error: required("largest_error"),
            unsolved: answer["unconverged"].as_u64(),
            residual: number("largest_residual"),
        })
    }
}

/// All runs of a scene.
struct Compared {
    title: &'static str,
    ours: Vec<Run>,
    peer: Vec<Run>,
}

impl Compared {
    fn new((scene, title): (&str, &'static str), options: &Options) -> Result<Self, Error> {
        let mut ours = vec![Run::new(scene, &["meniscus"], "Meniscus".into(), options)?];
        for share in COARSE {
            let name = format!("Meniscus, residual {share} g dt");
            ours.push(Run::new(scene, &["meniscus", share], name, options)?);
        }
        let mut peer: Vec<Run> = Vec::new();
        let mut iterations = DEFAULT_ITERATIONS;
        while iterations <= options.most_iterations {
            let name = format!("rapier, {iterations} iterations");
            let words = ["rapier", &iterations.to_string()];
            peer.push(Run::new(scene, &words, name, options)?);
            let chosen = chosen(&ours, &peer[0]);
            if peer.iter().any(|run| run.mean_error <= chosen.mean_error) {
                break;
            }
            iterations *= 2;
        }
        Ok(Self { title, ours, peer })
    }

    fn targets(&self) -> [Target; 2] {
        let (ours, peer) = (chosen(&self.ours, &self.peer[0]), &self.peer[0]);
        [
            Target::new(
                format!(
                    "{}: CPU time per step beside rapier's at its defaults",
                    self.title
                ),
                Bound::AtMost(MOST_TIME),
                "times",
                Some(ours.cpu / peer.cpu),
                1,
            ),
            Target::new(
                format!("{}: rapier's mean position error beside ours", self.title),
                Bound::AtLeast(LEAST_ERROR_RATIO),
                "times",
                Some(peer.mean_error / ours.mean_error),
                0,
            ),
        ]
    }

    /// What it takes rapier to match our error.
    fn match_of_errors(&self) -> String {
        let ours = chosen(&self.ours, &self.peer[0]);
        let matching = self
            .peer
            .iter()
            .find(|run| run.mean_error <= ours.mean_error);
        match matching {
            Some(run) => format!(
                "{}: {} match our mean error, in {:.1} times our time.",
                self.title,
                run.engine,
                run.cpu / ours.cpu
            ),
            None => {
                let most = &self.peer[self.peer.len() - 1];
                format!(
                    "{}: rapier never matches our mean error of {:.2} mm: with {} it is {:.1} mm, in {:.1} times our time.",
                    self.title,
                    1e3 * ours.mean_error,
                    most.engine.trim_start_matches("rapier, "),
                    1e3 * most.mean_error,
                    most.cpu / ours.cpu
                )
            }
        }
    }
}

/// The run of ours that the targets are about: the quickest with an error small enough, or the one with default settings.
fn chosen<'a>(ours: &'a [Run], peer: &Run) -> &'a Run {
    let enough = |run: &&Run| LEAST_ERROR_RATIO * run.mean_error <= peer.mean_error;
    let quickest = ours.iter().filter(enough);
    quickest
        .min_by(|x, y| x.cpu.total_cmp(&y.cpu))
        .unwrap_or(&ours[0])
}

impl Study for RigidSpeed {
    const NAME: &'static str = "rigid-speed";
    const SUMMARY: &'static str =
        "CPU time and position errors of rigid bodies, beside rapier on the same scenes";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let compared: Vec<Compared> = (SCENES.into_iter())
            .map(|scene| Compared::new(scene, options))
            .collect::<Result<_, _>>()?;
        let targets: Vec<Target> = compared.iter().flat_map(Compared::targets).collect();
        let named = (compared.iter())
            .map(|own| format!("{}: {}", own.title, chosen(&own.ours, &own.peer[0]).engine));
        let mut words = vec![format!(
            "Our time and error are those of our quickest run with at most 1/{LEAST_ERROR_RATIO} of rapier's error at its \
             defaults ({}).",
            named.collect::<Vec<_>>().join("; ")
        )];
        words.extend(compared.iter().map(Compared::match_of_errors));
        let table = table(&compared);
        let usual = options.steps == 240 && options.most_iterations == 512;
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(|| format!("{}-{}", options.steps, options.most_iterations)),
            setting: vec![
                format!(
                    "{} steps of 1/60 s, one thread; no body sleeps. The position error of a moment is the largest amount by \
                     which two bodies are closer than at rest, from the poses of either engine by the same distances \
                     (parry's); it is measured every five steps. Both engines have their default settings except for what \
                     is said; rapier's iterations are doubled until its mean error matches ours.",
                    options.steps
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(words, &targets),
                Section::table("All runs", table.clone()),
            ],
            data: table,
        })
    }
}

fn table(compared: &[Compared]) -> Table {
    let mut table = Table::columns(
        "scene | engine | CPU ms per step | mean error, mm | last quarter, mm | largest, mm | steps not solved | largest residual, m/s",
    );
    for scene in compared {
        for run in scene.ours.iter().chain(&scene.peer) {
            table.push([
                scene.title.into(),
                run.engine.as_str().into(),
                Cell::Number(1e3 * run.cpu, 2),
                Cell::Number(1e3 * run.mean_error, 3),
                Cell::Number(1e3 * run.late_error, 3),
                Cell::Number(1e3 * run.largest_error, 3),
                run.unsolved.map_or("".into(), Cell::Whole),
                run.residual
                    .map_or("".into(), |r| format!("{r:.1e}").into()),
            ]);
        }
    }
    table
}
