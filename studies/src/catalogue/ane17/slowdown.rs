//! Cost of separating walls compared with slip walls. [ANE17 table 1]

use super::flat_scene;
use crate::options::hyphenated;
use crate::prelude::*;
use crate::walls::one_thread;
use meniscus_app::runner::Simulation;
use meniscus_liquid::{Solver, Walls};
use meniscus_scene::Scene;
use meniscus_sim::Phases;

/// The study.
pub struct Table1;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side, separated by commas
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = USUAL, value_parser = value_parser!(u32).range(8..=2048))]
    sizes: Vec<u32>,
    /// Scenes, 1 to 5, separated by commas
    #[arg(long, value_name = "K,K", value_delimiter = ',', default_values_t = [1], value_parser = value_parser!(u32).range(1..=5))]
    scenes: Vec<u32>,
    /// Frames of 0.01 s
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(1..=500))]
    frames: u32,
}

const USUAL: [u32; 5] = [64, 128, 256, 512, 1024];

/// Size, and how much longer a solve takes, in per cent.
const PRINTED: [(u32, f64); 5] = [
    (64, 15.0),
    (128, 25.0),
    (256, 15.0),
    (512, 16.0),
    (1024, 5.0),
];

/// Fewer particles than in the paper's pictures: they do not change what a solve takes.
const PER_CELL: usize = 4;

/// CPU seconds of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    steps: usize,
    unknowns: usize,
    inner: usize,
    solve: f64,
    all: f64,
}

/// Times the phases of steps.
#[derive(Default)]
struct Stopwatch {
    running: Option<(bool, Moment)>,
    spent: Spent,
}

impl Phases for Stopwatch {
    fn begin(&mut self, phase: &'static str) {
        let now = Moment::now();
        if let Some((solving, start)) = self.running.take() {
            let cpu = now.since(&start).cpu;
            self.spent.all += cpu;
            if solving {
                self.spent.solve += cpu;
            }
        }
        self.running = (!phase.is_empty()).then_some((phase == "solve", now));
    }
}

impl Study for Table1 {
    const NAME: &'static str = "ane17-table1";
    const SUMMARY: &'static str =
        "how much longer separating walls take by Newton than slip walls by PCG";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut table = Table::columns(
            "scene | size | unknowns | CPU s a solve, PCG | CPU s a solve, Newton | \
            slow-down of a solve, % | slow-down of a step, % | paper, % | inner, PCG | \
            inner, Newton",
        );
        let (mut here, mut whole) = (Vec::new(), Vec::new());
        for &number in &options.scenes {
            for &size in &options.sizes {
                let spent = |walls, solver| {
                    let mut scene = flat_scene(number, size as usize, walls)?;
                    scene.physics.pressure.solver = solver;
                    scene.physics.particles_per_cell = PER_CELL;
                    spend(&scene, options.frames)
                };
                let slip = spent(Walls::Slip, Solver::Cg)?;
                let separating = spent(Walls::Separating, Solver::Newton)?;
                let a_solve = |spent: Spent| spent.solve / spent.steps.max(1) as f64;
                let a_step = |spent: Spent| spent.all / spent.steps.max(1) as f64;
                let more = |of: &dyn Fn(Spent) -> f64| 100.0 * (of(separating) / of(slip) - 1.0);
                let inner = |spent: Spent| spent.inner as f64 / spent.steps.max(1) as f64;
                let printed = PRINTED.iter().find(|row| row.0 == size).map(|row| row.1);
                table.push([
                    Cell::Whole(number.into()),
                    Cell::Whole(size.into()),
                    Cell::Whole(separating.unknowns as u64),
                    Cell::Number(a_solve(slip), 5),
                    Cell::Number(a_solve(separating), 5),
                    Cell::Number(more(&a_solve), 1),
                    Cell::Number(more(&a_step), 1),
                    Cell::maybe(printed, 0),
                    Cell::Number(inner(slip), 1),
                    Cell::Number(inner(separating), 1),
                ]);
                here.push(more(&a_solve));
                whole.push(more(&a_step));
            }
        }
        let scenes = options.scenes.iter();
        let groups = scenes.flat_map(|scene| {
            let sizes = options.sizes.iter();
            sizes.map(move |size| format!("scene {scene}, {size}"))
        });
        let sizes = || options.scenes.iter().flat_map(|_| &options.sizes);
        let printed = |size: &u32| {
            PRINTED
                .iter()
                .find(|row| row.0 == *size)
                .map_or(f64::NAN, |row| row.1)
        };
        let bars = Bars {
            title: "slow-down by separating walls".into(),
            x_label: String::new(),
            y_label: "per cent".into(),
            groups: groups.collect(),
            series: vec![
                ("a solve, here".into(), here.clone()),
                ("a step, here".into(), whole.clone()),
                ("paper".into(), sizes().map(printed).collect()),
            ],
        };
        let largest = |values: &[f64]| values.iter().copied().reduce(f64::max);
        let target =
            |what: &str, measured| Target::new(what, Bound::AtMost(25.0), "%", measured, 1);
        let targets = [
            target(
                "slow-down of a solve, at most (paper: 5 to 25 %)",
                largest(&here),
            ),
            target("slow-down of a whole step, at most", largest(&whole)),
        ];
        Ok(Findings {
            study: Self::NAME,
            variant: (options.sizes != USUAL || options.scenes != [1] || options.frames != 3)
                .then(|| variant(options)),
            setting: vec![
                format!(
                    "The paper compares minimum map Newton for separating walls with PCG for slip walls, on a GPU, in a scene it \
                     does not name. Here: two runs of {} frames of 0.01 s each, one thread, conjugate gradients with MIC(0) in \
                     both, from the pressure of the step before, to a natural residual of 1e-6; {PER_CELL} particles a cell. CPU \
                     seconds; a solve includes its set-up, a step everything.",
                    options.frames
                ),
                machine::sentence(load),
            ],
            pictures: vec![Picture::chart("percent", &bars)],
            sections: paper_sections(
                ["\"Inner\" are iterations of conjugate gradients a step, over all Newton steps."],
                table.clone(),
                &targets,
                &[
                    "The paper's Newton has no preconditioner and its PCG has one, its times are those of a GPU and include \
                         what a GPU needs to be set up, and its tolerances are absolute, 1e-5 for the merit.",
                ],
            ),
            data: table,
        })
    }
}

fn spend(scene: &Scene<2>, frames: u32) -> Result<Spent, Error> {
    let pool = one_thread().map_err(|cause| Error::new(Kind::Resources, cause))?;
    pool.install(|| {
        let mut run = Simulation::new(scene)?;
        let mut watch = Stopwatch::default();
        while run.frame() <= frames {
            let step = run
                .step(&mut watch)
                .map_err(|failure| Error::new(Kind::Numerical, failure.to_string()))?;
            watch.spent.steps += 1;
            if let Some(pressure) = step.report.solve("pressure") {
                watch.spent.inner += pressure.inner_iterations;
                watch.spent.unknowns = pressure.unknowns;
            }
        }
        Ok(watch.spent)
    })
}

fn variant(options: &Options) -> String {
    format!(
        "{}-scene-{}-{}-frames",
        hyphenated(&options.sizes),
        hyphenated(&options.scenes),
        options.frames
    )
}
