//! Table 1: particles, time and length of steps in five scenes.

use super::runs::{Limits, SCENES, Steps, advance, per_step, percent, scene};
use crate::prelude::*;
use crate::walls::one_thread;
use meniscus_app::runner::Simulation;

/// Cores of the paper's machine.
const PAPER_CORES: f64 = 24.0;
/// CPU time of a step that is allowed, as a share of the paper's wall time on 24 cores.
const MOST: f64 = 0.25;

/// The study.
pub struct Table1;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Particles, as a share of the paper's
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    share: f64,
    /// Simulated seconds of each run
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    time: f64,
    /// CPU seconds of each run at most
    #[arg(long, value_name = "S", default_value_t = 900.0)]
    limit: f64,
}

impl Study for Table1 {
    const NAME: &'static str = "wkb16-table1";
    const SUMMARY: &'static str = "particles, time and length of steps in the paper's five scenes";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let pool = one_thread().map_err(|cause| Error::new(Kind::Resources, cause))?;
        let mut table = Table::columns(
            "scene | particles | paper: particles | CPU s a step | paper: s a step | CPU s a simulated second | step, ms | paper: ms | rounds a step | inner iterations a \
             step | largest error, % (median) | largest error, % (worst) | mean error, % (median) | steps | simulated s | end",
        );
        let mut claims = Vec::new();
        for paper in &SCENES {
            let wanted = options.share * paper.particles;
            let scene = scene(paper.scene, wanted, &[])?;
            let limits = Limits {
                steps: usize::MAX,
                time: options.time,
                cpu: options.limit,
            };
            let steps = pool.install(|| -> Result<Steps, Error> {
                let mut run = Simulation::new(&scene)?;
                Ok(advance(&mut run, scene.frames, limits))
            })?;
            let cpu = Steps::mean(&steps.cpu);
            let length = Steps::mean(&steps.lengths);
            let time: f64 = steps.lengths.iter().sum();
            let end = match &steps.failure {
                Some(failure) => failure.as_str(),
                None if time + 1e-9 < options.time => "stopped at the limit",
                None => "whole",
            };
            table.push([
                paper.label.into(),
                Cell::Whole(steps.particles as u64),
                Cell::Number(paper.particles, 0),
                Cell::maybe(cpu, 3),
                Cell::Number(paper.seconds, 2),
                Cell::maybe(steps.cpu_per_second(), 1),
                Cell::maybe(length.map(|dt| 1e3 * dt), 2),
                Cell::Number(paper.step_ms, 2),
                per_step(steps.rounds, &steps),
                per_step(steps.inner_iterations, &steps),
                percent(Steps::quantile(&steps.largest_error, 0.5)),
                percent(Steps::quantile(&steps.largest_error, 1.0)),
                percent(Steps::quantile(&steps.mean_error, 0.5)),
                Cell::Whole(steps.lengths.len() as u64),
                Cell::Number(time, 3),
                end.into(),
            ]);
            claims.push(Target::new(
                format!("{}: CPU s of a step", paper.label),
                Bound::AtMost(MOST * paper.seconds),
                "s",
                cpu.filter(|_| options.share == 1.0),
                3,
            ));
        }
        let usual = options.share == 1.0 && options.time == 0.5;
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(|| format!("{}-{}", options.share, options.time)),
            setting: vec![
                format!(
                    "{} simulated seconds from the start, or {} CPU seconds, one thread; particles are {} times the paper's, whose \
                     times are wall times on {PAPER_CORES} cores.",
                    options.time, options.limit, options.share
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: paper_sections(NO_WORDS, table.clone(), &claims, &DIFFERENCES),
            data: table,
        })
    }
}

const DIFFERENCES: [&str; 3] = [
    "The paper does not give the geometry of its scenes. Ours have its numbers of particles; three tori stand for its dragons.",
    "The method is the default one, the paper's objective with the constraints' own normals, solved in the dual. `pf-speed` has the \
     printed method beside it.",
    "The inlet fills up: a short run has fewer particles than the paper's scene at its end.",
];
